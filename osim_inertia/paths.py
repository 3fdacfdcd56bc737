"""Lengths, speeds and moment arms of all paths, over frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.compiled.paths import compile_paths
from osim_inertia.kernels.opensim_lengths import opensim_lengths
from osim_inertia.kernels.path_lines import path_lines
from osim_inertia.kernels.paths import new_opensim_room, opensim_slopes
from osim_inertia.kernels.shortest_batch import new_shortest_room, shortest_lengths, shortest_slopes
from osim_inertia.kernels.tension import unit_tension
from osim_inertia.path_shape import PathContacts, contacts

if TYPE_CHECKING:
    from osim_inertia.system import System

Array = NDArray[np.float64]
SOLVERS = {
    "opensim": (new_opensim_room, opensim_lengths, opensim_slopes),
    "shortest": (new_shortest_room, shortest_lengths, shortest_slopes),
}


class PathSet:
    """The paths of a system: muscles and every other force that acts along a line."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.names = tuple(force.name for force in system.model.path_forces)
        self.arrays = compile_paths(system.model, system.compiled)

    def lengths(self, q: ArrayLike, solver: str = "opensim") -> Array:
        """(F, P) in m."""
        room, kernel, _ = SOLVERS[_checked(solver)]
        (q,) = self._system.frames(q=q)
        out = np.empty((len(q), len(self.names)))
        A, P = self._system.arrays, self.arrays
        self._system.run(len(q), lambda i, j: kernel(A, P, q, i, j, *room(P), out))
        return out

    def slopes(self, q: ArrayLike, solver: str = "opensim") -> Array:
        """dL/du (F, P, n): of the shortest path exactly, of OpenSim's wrapped ones by central differences."""
        room, _, kernel = SOLVERS[_checked(solver)]
        (q,) = self._system.frames(q=q)
        out = np.empty((len(q), len(self.names), q.shape[1]))
        A, P = self._system.arrays, self.arrays
        self._system.run(len(q), lambda i, j: kernel(A, P, q, i, j, *room(P), out))
        return out

    def polylines(self, q: Array, on_arc: int) -> tuple[Array, NDArray[np.int64]]:
        """All paths as points (F, P, most, 3), with `on_arc` on each arc, and how many of the points count (F, P)."""
        A, P = self._system.arrays, self.arrays
        most = int(np.diff(P.first).max(initial=0) + on_arc * np.diff(P.wrap_first).max(initial=0))
        points = np.empty((len(q), len(self.names), most, 3))
        counts = np.zeros(points.shape[:2], dtype=np.int64)
        self._system.run(len(q), lambda i, j: path_lines(A, P, q, i, j, *new_opensim_room(P), on_arc, counts, points))
        return points, counts

    def tension_forces(self, q: ArrayLike) -> Array:
        """Generalized forces (F, P, n) of a unit tension as OpenSim applies it."""
        (q,) = self._system.frames(q=q)
        A, P = self._system.arrays, self.arrays
        force = np.empty((len(q), len(self.names), q.shape[1]))

        def kernel(i: int, j: int) -> None:
            nodes, path = new_opensim_room(P)
            room = np.empty((len(path.entry), 3)), np.empty((len(path.entry), 3))
            unit_tension(A, P, q, i, j, nodes, path, *room, force)

        self._system.run(len(q), kernel)
        return force

    def contacts(self, q: ArrayLike, name: str, solver: str = "opensim") -> list[PathContacts]:
        """For each frame the points of one path, the wraps in contact and their arcs."""
        _checked(solver)
        if name not in self.names:
            raise KeyError(f"The model has no path '{name}'.")
        (q,) = self._system.frames(q=q)
        return contacts(self._system, self.arrays, q, self.names.index(name), solver)


def _checked(solver: str) -> str:
    if solver not in SOLVERS:
        raise ValueError(f"paths is {solver!r}; expected one of {', '.join(SOLVERS)}.")
    return solver
