"""The muscles of a system that have mass: their inertia, energy and matter, over frames.

Imported only by models that have such muscles, so that the others do not wait for these kernels to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from osim_inertia.compiled.muscle_mass import compile_muscles
from osim_inertia.errors import ModelError
from osim_inertia.kernels import muscle_batch
from osim_inertia.kernels.kinematics import new_motion, pose

if TYPE_CHECKING:
    from osim_inertia.system import System

Array = NDArray[np.float64]


class MassiveMuscles:
    """Skeleton and muscles together."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.arrays = compile_muscles(system.model)
        self.names = tuple(system.path_names[i] for i in self.arrays.path)
        self.mass = float(self.arrays.material[:, 4].sum())

    def inverse_dynamics(self, q: Array, u: Array, udot: Array, base: Array) -> Array:
        """Generalized forces (F, n), with the ground accelerating by base (3,)."""
        return self._inverse_dynamics(q, u, udot, base)

    def _inverse_dynamics(
        self, q: Array, u: Array, udot: Array, base: Array, wrenches: tuple[Array, Array] | None = None
    ) -> Array:
        """Generalized forces (F, n); `wrenches` are filled if given."""
        A, P, muscles = self._system.arrays, self._system.paths.arrays, self.arrays
        tau, failed = np.empty_like(q), np.empty(len(q), dtype=np.int64)

        def kernel(i: int, j: int) -> None:
            room = muscle_batch.new_room(P, muscles)
            moments, forces = wrenches or (np.empty((1, len(A.parent), 3)), np.empty((1, len(A.parent), 3)))
            muscle_batch.inverse_dynamics_with_muscles(
                A, P, muscles, q, u, udot, base, i, j, *room, moments, forces, tau, failed
            )

        self._system.run(len(q), kernel)
        self._refuse_vanished_bellies(failed)
        return tau

    def joint_wrenches(self, q: Array, u: Array, udot: Array, base: Array) -> tuple[Array, Array]:
        """What each joint transmits to its outboard body: moments about its origin and forces, (F, nb, 3), ground."""
        wrenches = tuple(np.empty((len(q), len(self._system.arrays.parent), 3)) for _ in range(2))
        self._inverse_dynamics(q, u, udot, base, (wrenches[0], wrenches[1]))
        return wrenches[0], wrenches[1]

    def whole_body(self, q: Array, u: Array) -> Array:
        """(F, 12): see kernels.dynamics.totals."""
        A, P, muscles = self._system.arrays, self._system.paths.arrays, self.arrays
        out, failed = np.empty((len(q), 12)), np.empty(len(q), dtype=np.int64)

        def kernel(i: int, j: int) -> None:
            room = muscle_batch.new_room(P, muscles)
            muscle_batch.whole_body_with_muscles(A, P, muscles, q, u, i, j, *room, out, failed)

        self._system.run(len(q), kernel)
        self._refuse_vanished_bellies(failed)
        return out

    def matter(self, q: Array, name: str) -> tuple[Array, Array]:
        """Points of matter (k, 3) of one muscle at a pose (n,), and their masses (k,)."""
        if name not in self.names:
            raise KeyError(f"'{name}' is no muscle with mass.")
        A, P = self._system.arrays, self._system.paths.arrays
        room, motion = muscle_batch.new_room(P, self.arrays), new_motion(A)
        pose(A, q, motion)
        motion.w[:], motion.v[:] = 0.0, 0.0
        muscle_batch.matter_of_muscle(P, self.arrays, self.names.index(name), motion, q, *room)
        k = room[2].number[0]
        return room[2].x[:k].copy(), room[2].mass[:k].copy()

    def _refuse_vanished_bellies(self, failed: NDArray[np.int64]) -> None:
        if (failed >= 0).any():
            frame = int(np.argmax(failed >= 0))
            raise ModelError(f"In frame {frame} the path of '{self.names[failed[frame]]}' is shorter than its tendons, "
                             "so that nothing is left for the belly; use map='uniform' for such a motion.")
