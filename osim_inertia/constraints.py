"""Keeping a motion on the model's constraints: errors, Jacobians and projections, over frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.compiled.constraints import compile_constraints
from osim_inertia.compiled.functions import FunctionTable
from osim_inertia.errors import ModelError
from osim_inertia.kernels.constraints import COUPLER, constraint_errors
from osim_inertia.kernels.functions import evaluate
from osim_inertia.kernels.speeds import qdot_from_u
from osim_inertia.model.constraints import CoordinateCoupler

if TYPE_CHECKING:
    from osim_inertia.system import System

Array = NDArray[np.float64]
FREE_WEIGHT = 1e-9  # of a dependent coordinate in the projection; OpenSim has 0, which would leave it undetermined
MAX_ITERATIONS = 100


class ConstraintSet:
    """The enforced constraints of a system, closed loops and coordinate couplers included."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.names, self._rows = compile_constraints(system.model, system.compiled)
        coordinates = {c.name: c for c in system.model.coordinates}
        ordered = [coordinates[name] for name in system.coordinate_names]
        couplers = {c.dependent for c in system.model.constraints if isinstance(c, CoordinateCoupler) and c.enforced}
        self.dependent = np.array([c.is_free_to_satisfy_constraints or c.name in couplers for c in ordered], dtype=bool)
        self.locked = np.array([c.locked for c in ordered], dtype=bool)
        self._prescribed = {i: c.prescribed_function for i, c in enumerate(ordered)
                            if c.prescribed and not c.locked and c.prescribed_function}

    def errors(self, q: ArrayLike) -> Array:
        """(F, m): how far each equation is from holding, in m or rad."""
        return self._evaluate(q)[0]

    def jacobian(self, q: ArrayLike) -> Array:
        """(F, m, n): rate of the errors per unit u."""
        q, (_, J) = self._system.frames(q=q)[0], self._evaluate(q)
        return self._per_u(q, J)

    def _evaluate(self, q: ArrayLike) -> tuple[Array, Array]:
        (q,) = self._system.frames(q=q)
        error, J = np.empty((len(q), len(self.names))), np.empty((len(q), len(self.names), q.shape[1]))
        arrays = self._system.arrays
        self._system.run(len(q), lambda i, j: constraint_errors(arrays, self._rows, q, i, j, error, J))
        return error, J

    def _rates(self, q: Array) -> Array:
        """N (F, n, n): q̇ = N u."""
        n = q.shape[1]
        N = np.empty((len(q), n, n))
        column = np.empty_like(q)
        for i in range(n):
            u = np.zeros_like(q)
            u[:, i] = 1.0
            qdot_from_u(self._system.arrays, q, u, 0, len(q), column)
            N[:, :, i] = column
        return N

    def _per_u(self, q: Array, J: Array) -> Array:
        """Couplers are differentiated by q; turn their rows to u where the two differ."""
        couplers = self._rows.row[self._rows.kind == COUPLER]
        if len(couplers) and self._system.has_angular_speeds:
            J = J.copy()
            J[:, couplers] = J[:, couplers] @ self._rates(q)
        return J

    def _per_q(self, q: Array, J: Array) -> Array:
        """All rows per unit q̇."""
        if not self._system.has_angular_speeds:
            return J
        bodies = np.ones(len(self.names), dtype=bool)
        bodies[self._rows.row[self._rows.kind == COUPLER]] = False
        J = J.copy()
        J[:, bodies] = J[:, bodies] @ np.linalg.inv(self._rates(q))
        return J

    def by_coordinate(self, q: Array, slope: Array) -> Array:
        """Slopes (F, k, n) by u turned to slopes by q; they differ only where u is an angular velocity."""
        return slope @ np.linalg.inv(self._rates(q)) if self._system.has_angular_speeds else slope

    def coupled(self, q: Array, slope: Array) -> Array:
        """Slopes (F, k, n) by u when the constraints make other coordinates move along: each per unit of its own u."""
        if not self.names:
            return slope
        J = self.jacobian(q)
        allowed = np.eye(q.shape[1]) - np.linalg.pinv(J) @ J
        own = np.einsum("fii->fi", allowed)[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.abs(own) > 1e-12, (slope @ allowed) / own, 0.0)

    def project_q(self, q: ArrayLike, *, time: ArrayLike | None = None, tolerance: float = 1e-12) -> Array:
        """The nearest poses (F, n) that satisfy the constraints.

        As OpenSim assembles: locked coordinates stay, prescribed ones take their value at `time` (F,), dependent ones
        are free, and the others move as little as possible (least squares).
        """
        (target,) = self._system.frames(q=q)
        target = target.copy()
        fixed = self.locked.copy()
        for i, function in self._prescribed.items():
            table = FunctionTable()
            index = table.add(function)
            arrays = table.arrays()
            times = np.broadcast_to(0.0 if time is None else np.asarray(time, float), len(target))
            target[:, i] = [evaluate(arrays, index, t)[0] for t in times]
            fixed[i] = True
        if not self.names:
            return target
        weight = np.where(self.dependent, FREE_WEIGHT, 1.0)
        mobility = np.where(fixed, 0.0, 1.0 / weight)
        pose = target.copy()
        for _ in range(MAX_ITERATIONS):
            error, J = self._evaluate(pose)
            J = self._per_q(pose, J)
            JW = J * mobility
            pull = np.where(fixed, 0.0, pose - target)
            inverse = np.linalg.pinv(JW @ J.transpose(0, 2, 1), rcond=1e-13, hermitian=True)
            force = inverse @ (np.einsum("fmn,fn->fm", J, pull) - error)[..., None]
            step = (JW.transpose(0, 2, 1) @ force)[..., 0] - pull
            longest = np.abs(step).max(axis=1, keepdims=True)
            pose = pose + step * np.minimum(1.0, 0.5 / np.maximum(longest, 1e-300))  # half a radian at most
            if longest.max() < tolerance:
                break
        worst = np.abs(self.errors(pose))
        if not worst.max() < max(1e-9, tolerance):
            frame, row = np.unravel_index(worst.argmax(), worst.shape)
            raise ModelError(f"The constraint '{self.names[row]}' cannot be satisfied in frame {frame}: "
                             f"{worst.max():.2g} is left of it after {MAX_ITERATIONS} steps.")
        return pose

    def project_u(self, q: ArrayLike, u: ArrayLike) -> Array:
        """The nearest speeds (F, n) that keep the constraints: J u = 0, locked coordinates at rest."""
        q, u = self._system.frames(q=q, u=u)
        u = np.where(self.locked, 0.0, u)
        if not self.names:
            return u
        J = np.where(self.locked, 0.0, self.jacobian(q))
        return u - np.einsum("fnm,fm->fn", np.linalg.pinv(J), np.einsum("fmn,fn->fm", J, u))
