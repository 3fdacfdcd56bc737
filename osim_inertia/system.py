"""System: a model compiled to arrays, and the computations on it, batched over frames and spread over threads."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.compiled.build import compile_model
from osim_inertia.constraints import ConstraintSet
from osim_inertia.errors import ModelError
from osim_inertia.kernels import batch, speeds
from osim_inertia.kernels.speeds import turns_by_angular_velocity
from osim_inertia.model.model import Model

if TYPE_CHECKING:
    from osim_inertia.massive import MassiveMuscles
    from osim_inertia.path_shape import PathContacts
    from osim_inertia.paths import PathSet

Array = NDArray[np.float64]
FRAMES_PER_THREAD = 16  # fewer are not worth a thread


class System:
    """The mechanics of a model.

    Coordinates are in the order of `coordinate_names` (OpenSim's order of generalized speeds): radians and metres.
    q, u, udot and tau may be (n,) for one frame or (F, n) for many; results always have the frame axis first.
    u is the rate of q except for the rotations of Ball, Free, Ellipsoid and Scapulothoracic joints, where it is the
    angular velocity of the child in the parent's joint frame, as in OpenSim.

    By default every number is OpenSim's, also where OpenSim departs from mechanics: accelerations of custom joints in
    which one coordinate drives several rotations, and second derivatives of MultivariatePolynomialFunction. Joints
    this concerns are named in `warnings`; `like_opensim=False` gives exact mechanics instead.
    `threads` is the number of threads over frames; by default one per processor.
    """

    def __init__(self, model: Model, *, like_opensim: bool = True, threads: int | None = None) -> None:
        self.model = model
        self.compiled = compile_model(model, like_opensim)
        self.arrays = self.compiled.arrays
        self.coordinate_names = self.compiled.coordinate_names
        self.body_names = tuple(body.name for body in model.bodies)
        self.marker_names = tuple(marker.name for marker in model.markers)
        self.warnings = self.compiled.warnings
        self.threads = threads or os.cpu_count() or 1
        self._bodies = np.array([self.compiled.body_index[body.path] for body in model.bodies], dtype=np.int64)

    @cached_property
    def constraints(self) -> ConstraintSet:
        """Errors, Jacobians and projections of the model's constraints."""
        return ConstraintSet(self)

    @property
    def has_angular_speeds(self) -> bool:
        """True if some u is an angular velocity rather than the rate of a coordinate."""
        return any(turns_by_angular_velocity.py_func(kind) for kind in self.arrays.kind)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    def default_pose(self) -> Array:
        """q (n,) with every coordinate at its default value; constraints are not enforced."""
        default = {c.name: c.default_value for c in self.model.coordinates}
        return np.array([default[name] for name in self.coordinate_names])

    # ---- motion ---------------------------------------------------------------------------------------------------
    def body_poses(self, q: ArrayLike) -> Array:
        """Pose of every body frame in ground: (F, B, 4, 4), bodies as in `body_names`."""
        return self._body_motion(q, None)[0]

    def body_velocities(self, q: ArrayLike, u: ArrayLike) -> Array:
        """Twist of every body: (F, B, 6), angular velocity, then velocity of the body origin, in ground."""
        return self._body_motion(q, u)[1]

    def _body_motion(self, q: ArrayLike, u: ArrayLike | None) -> tuple[Array, Array]:
        q, u = self.frames(q=q, u=u)
        frames, nb = len(q), len(self.arrays.parent)
        pose, twist = np.empty((frames, nb, 4, 4)), np.empty((frames, nb, 6))
        self.run(frames, lambda i, j: batch.body_motion(self.arrays, q, u, i, j, pose, twist))
        return pose[:, self._bodies], twist[:, self._bodies]

    def body_accelerations(self, q: ArrayLike, u: ArrayLike, udot: ArrayLike) -> Array:
        """(F, B, 6): angular acceleration, then acceleration of the body origin, in ground."""
        q, u, udot = self.frames(q=q, u=u, udot=udot)
        w, v = (np.empty((len(q), len(self.arrays.parent), 3)) for _ in range(2))
        self.run(len(q), lambda i, j: batch.body_accelerations(self.arrays, q, u, udot, i, j, w, v))
        return np.concatenate([w, v], axis=2)[:, self._bodies]

    def point_motion(
        self, frame: str, location: ArrayLike, q: ArrayLike, u: ArrayLike | None = None, udot: ArrayLike | None = None
    ) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (F, 3) of a point of a frame, e.g. `"/bodyset/tibia_r"`, in ground."""
        placement = self.compiled.placements[frame]
        point = np.asarray(location, dtype=np.float64)
        if point.shape != (3,):
            raise ValueError(f"location has shape {point.shape}; expected (3,).")
        body = np.array([self.compiled.body_index[placement.body]], dtype=np.int64)
        x, v, a = self._point_motion(body, placement.point(tuple(point))[None], q, u, udot)
        return x[:, 0], v[:, 0], a[:, 0]

    def marker_positions(self, q: ArrayLike) -> Array:
        """(F, markers, 3) in ground, markers as in `marker_names`."""
        return self.marker_motion(q)[0]

    def marker_motion(
        self, q: ArrayLike, u: ArrayLike | None = None, udot: ArrayLike | None = None
    ) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations (F, markers, 3) in ground."""
        placed = [self.compiled.placements.point(f"/markerset/{name}") for name in self.marker_names]
        body = np.array([self.compiled.body_index[path] for path, _ in placed], dtype=np.int64)
        location = np.array([point for _, point in placed]).reshape(len(placed), 3)
        return self._point_motion(body, location, q, u, udot)

    def _point_motion(
        self, body: NDArray, location: Array, q: ArrayLike, u: ArrayLike | None, udot: ArrayLike | None
    ) -> tuple[Array, Array, Array]:
        q, u, udot = self.frames(q=q, u=u, udot=udot)
        x, v, a = (np.empty((len(q), len(body), 3)) for _ in range(3))
        self.run(len(q), lambda i, j: batch.point_motion(self.arrays, body, location, q, u, udot, i, j, x, v, a))
        return x, v, a

    def body_jacobians(self, q: ArrayLike, u: ArrayLike | None = None) -> tuple[Array, Array]:
        """Dense J_mr of the papers and its rate along u: both (F, B, 6, n), twist of each body = J_mr u."""
        q, u = self.frames(q=q, u=u)
        frames, nb = len(q), len(self.arrays.parent)
        J, dJ = (np.empty((frames, nb, self.n, 2, 3)) for _ in range(2))
        self.run(frames, lambda i, j: batch.body_jacobians(self.arrays, q, u, i, j, J, dJ))
        by_body = (frames, len(self._bodies), self.n, 6)
        return tuple(x[:, self._bodies].reshape(by_body).swapaxes(2, 3) for x in (J, dJ))

    def qdot(self, q: ArrayLike, u: ArrayLike) -> Array:
        """Rates of the coordinates (F, n); they differ from u only where u is an angular velocity."""
        q, u = self.frames(q=q, u=u)
        out = np.empty_like(q)
        self.run(len(q), lambda i, j: speeds.qdot_from_u(self.arrays, q, u, i, j, out))
        return out

    def speeds(self, q: ArrayLike, qdot: ArrayLike, qddot: ArrayLike | None = None) -> tuple[Array, Array]:
        """u and udot (F, n) of a motion given by its coordinates and their rates."""
        q, qdot, qddot = self.frames(q=q, qdot=qdot, qddot=qddot)
        u, udot = np.empty_like(q), np.empty_like(q)
        self.run(len(q), lambda i, j: speeds.u_from_qdot(self.arrays, q, qdot, qddot, i, j, u, udot))
        return u, udot

    # ---- forces ---------------------------------------------------------------------------------------------------
    def mass_matrix(self, q: ArrayLike) -> Array:
        """(F, n, n), conjugate to u."""
        (q,) = self.frames(q=q)
        M = np.empty((len(q), self.n, self.n))
        if self.muscles is None:
            self.run(len(q), lambda i, j: batch.mass_matrices(self.arrays, q, i, j, M))
            return M
        for c in range(self.n):  # forces of unit accelerations
            udot = np.zeros_like(q)
            udot[:, c] = 1.0
            M[:, :, c] = self._inverse_dynamics(q, None, udot, np.zeros(3))
        return M

    def inverse_dynamics(self, q: ArrayLike, u: ArrayLike, udot: ArrayLike) -> Array:
        """Generalized forces (F, n) that produce the motion against gravity. Constraints are ignored, as in OpenSim."""
        return self._inverse_dynamics(q, u, udot, -self.arrays.gravity)

    def bias_forces(self, q: ArrayLike, u: ArrayLike) -> Array:
        """(F, n): gravity, Coriolis and centrifugal forces; inverse dynamics with udot = 0."""
        return self._inverse_dynamics(q, u, None, -self.arrays.gravity)

    def gravity_forces(self, q: ArrayLike) -> Array:
        """(F, n): what it takes to hold the pose."""
        return self._inverse_dynamics(q, None, None, -self.arrays.gravity)

    def _inverse_dynamics(self, q: ArrayLike, u: ArrayLike | None, udot: ArrayLike | None, base: Array) -> Array:
        q, u, udot = self.frames(q=q, u=u, udot=udot)
        tau = np.empty((len(q), self.n))
        if self.muscles is not None:
            return self.muscles.inverse_dynamics(q, u, udot, base)
        A = self.arrays
        self.run(len(q), lambda i, j: batch.inverse_dynamics_of_frames(A, q, u, udot, base, i, j, tau))
        return tau

    def forward_dynamics(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike, *, method: str = "articulated") -> Array:
        """Accelerations udot (F, n) that generalized forces tau produce under gravity; constraints are ignored.

        method "articulated" takes O(n) operations; "dense" solves with the mass matrix.
        """
        if method not in ("articulated", "dense"):
            raise ValueError(f"method is {method!r}; expected 'articulated' or 'dense'.")
        if method == "dense" or self.muscles is not None:
            q, u, tau = self.frames(q=q, u=u, tau=tau)
            try:
                udot = np.linalg.solve(self.mass_matrix(q), (tau - self.bias_forces(q, u))[..., None])[..., 0]
                return np.asarray(udot, dtype=np.float64)
            except np.linalg.LinAlgError:
                raise ModelError("The mass matrix is singular: some coordinate moves no mass.") from None
        q, u, tau = self.frames(q=q, u=u, tau=tau)
        udot, stuck = np.empty((len(q), self.n)), np.empty(len(q), dtype=np.int64)
        A = self.arrays
        self.run(len(q), lambda i, j: batch.forward_dynamics_of_frames(A, q, u, tau, i, j, udot, stuck))
        if (stuck >= 0).any():
            first = self.arrays.first[stuck.max()]
            raise ModelError(f"Coordinate '{self.coordinate_names[first]}' moves no mass, so its acceleration is "
                             "undetermined; give the bodies it moves some mass.")
        return udot

    # ---- paths ----------------------------------------------------------------------------------------------------
    @cached_property
    def paths(self) -> PathSet:
        """Geometry of muscles and of other forces along a path."""
        from osim_inertia.paths import PathSet

        return PathSet(self)

    @property
    def path_names(self) -> tuple[str, ...]:
        """Names of all forces along a path, muscles first to last as in the file."""
        return tuple(force.name for force in self.model.path_forces)

    def path_lengths(self, q: ArrayLike, *, paths: str = "opensim") -> Array:
        """(F, P) in m. paths "opensim" follows OpenSim's construction; "shortest" is the true shortest path."""
        return self.paths.lengths(q, paths)

    def path_speeds(self, q: ArrayLike, u: ArrayLike, *, paths: str = "opensim") -> Array:
        """(F, P) in m/s: the rate of `path_lengths` along u."""
        q, u = self.frames(q=q, u=u)
        return np.einsum("fpn,fn->fp", self.paths.slopes(q, paths), u)

    def moment_arms(self, q: ArrayLike, *, paths: str = "opensim", couplers: bool = False) -> Array:
        """(F, P, n) in m (rotations) or 1 (translations): −dL/dq, every coordinate on its own.

        With `couplers` the coordinates that a constraint moves along are included, as in OpenSim's moment arms.
        """
        (q,) = self.frames(q=q)
        slope = self.paths.slopes(q, paths)
        if couplers:
            return -self.constraints.coupled(q, slope)
        return -self.constraints.by_coordinate(q, slope)

    def opensim_moment_arms(self, q: ArrayLike) -> Array:
        """(F, P, n): what OpenSim's computeMomentArm answers, couplers included; on wraps it is not −dL/dq."""
        (q,) = self.frames(q=q)
        return self.constraints.coupled(q, self.paths.tension_forces(q))

    def path_points(self, q: ArrayLike, name: str, *, paths: str = "opensim") -> list[Array]:
        """For each frame the path of that name as a polyline (k, 3) in ground, arcs included."""
        return [contact.polyline() for contact in self.path_contacts(q, name, paths=paths)]

    def path_contacts(self, q: ArrayLike, name: str, *, paths: str = "opensim") -> list[PathContacts]:
        """For each frame: active points and wraps of the path, contact points, arcs, wrapped share l/L."""
        return self.paths.contacts(q, name, paths)

    # ---- muscles with mass ----------------------------------------------------------------------------------------
    @cached_property
    def muscles(self) -> MassiveMuscles | None:
        """The muscles that have mass; None where there are none, so that the skeleton's own code runs, bit for bit."""
        spec = self.model.muscle_mass
        if spec is None or not any(muscle.mass > 0.0 for muscle in spec.muscles):
            return None
        if spec.wrap == "neural":
            from osim_inertia.neural_muscles import NeuralMuscles

            return NeuralMuscles(self)
        from osim_inertia.massive import MassiveMuscles

        return MassiveMuscles(self)

    def muscle_mass_table(self) -> list[dict[str, object]]:
        """Rows: muscle, body its mass was taken from, kg, belly start and end as shares of the path."""
        spec = self.model.muscle_mass
        return [
            {"muscle": m.name, "body": body, "kg": kg, "belly_start": m.belly[0], "belly_end": m.belly[1]}
            for m in (spec.muscles if spec else ())
            for body, kg in m.taken_from
        ]

    def muscle_matter(self, q: ArrayLike, name: str) -> tuple[Array, Array]:
        """Points of matter (k, 3) in ground and their masses (k,) of one muscle at one pose: Gauss points or beads."""
        (q,) = self.frames(q=q)
        if self.muscles is None:
            raise KeyError(f"'{name}' is no muscle with mass: this model has none.")
        return self.muscles.matter(q[0], name)

    # ---- the whole body -------------------------------------------------------------------------------------------
    def center_of_mass(self, q: ArrayLike) -> Array:
        """(F, 3) in ground."""
        return self._whole_body(q, None)[:, :3]

    def center_of_mass_velocity(self, q: ArrayLike, u: ArrayLike) -> Array:
        """(F, 3) in ground."""
        return self.momentum(q, u)[:, 3:] / max(self.mass, np.finfo(float).tiny)

    def momentum(self, q: ArrayLike, u: ArrayLike) -> Array:
        """(F, 6): angular momentum about the ground origin, then linear momentum."""
        return self._whole_body(q, u)[:, [6, 7, 8, 3, 4, 5]]

    def kinetic_energy(self, q: ArrayLike, u: ArrayLike) -> Array:
        """(F,) in J."""
        return self._whole_body(q, u)[:, 9]

    def potential_energy(self, q: ArrayLike) -> Array:
        """(F,) in J, zero with all mass at the ground origin."""
        return self._whole_body(q, None)[:, 10]

    @property
    def mass(self) -> float:
        """Total mass in kg, muscles included."""
        return float(self.arrays.mass.sum()) + (0.0 if self.muscles is None else self.muscles.mass)

    def _whole_body(self, q: ArrayLike, u: ArrayLike | None) -> Array:
        q, u = self.frames(q=q, u=u)
        out = np.empty((len(q), 12))
        if self.muscles is not None:
            return self.muscles.whole_body(q, u)
        self.run(len(q), lambda i, j: batch.whole_body(self.arrays, q, u, i, j, out))
        return out

    # ---- checks and threads ---------------------------------------------------------------------------------------
    def frames(self, **given: ArrayLike | None) -> tuple[Array, ...]:
        """The arguments as (F, n) arrays; None is zeros. Wrong shapes and NaN are refused by name."""
        arrays: dict[str, Array | None] = {}
        for name, value in given.items():
            if value is None:
                arrays[name] = None
                continue
            array = np.ascontiguousarray(value, dtype=np.float64)
            if array.ndim == 1:
                array = array[None]
            if array.ndim != 2 or array.shape[1] != self.n:
                raise ValueError(f"{name} has shape {np.shape(value)}; expected ({self.n},) or (frames, {self.n}).")
            bad = ~np.isfinite(array)
            if bad.any():
                frame, column = np.argwhere(bad)[0]
                raise ValueError(f"{name} is {array[frame, column]} in frame {frame}, "
                                 f"coordinate '{self.coordinate_names[column]}'.")
            arrays[name] = array
        counts = {name: len(array) for name, array in arrays.items() if array is not None}
        frames = max(counts.values())
        for name, count in counts.items():
            if count not in (1, frames):
                raise ValueError(f"{name} has {count} frames; expected 1 or {frames}.")
        shape = (frames, self.n)
        return tuple(np.zeros(shape) if a is None else _writeable(a, shape) for a in arrays.values())

    def run(self, frames: int, kernel: Callable[[int, int], object]) -> None:
        """Call kernel(start, stop) over all frames, on several threads when there are enough."""
        workers = min(self.threads, max(1, frames // FRAMES_PER_THREAD))
        if workers == 1:
            kernel(0, frames)
            return
        edges = np.linspace(0, frames, workers + 1).astype(int)
        with ThreadPoolExecutor(workers) as pool:
            for result in [pool.submit(kernel, int(a), int(b)) for a, b in itertools.pairwise(edges)]:
                result.result()


def _writeable(array: Array, shape: tuple[int, int]) -> Array:
    """The array in that shape, in rows, never read-only: Numba would compile every kernel once more for others."""
    if array.shape != shape or not array.flags.writeable:
        return np.array(np.broadcast_to(array, shape), order="C")
    return array
