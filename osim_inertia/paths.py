"""Lengths, speeds and moment arms of all paths, over frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.compiled.paths import compile_paths
from osim_inertia.kernels.kinematics import move, new_motion
from osim_inertia.kernels.opensim_path import opensim_path_length, path_arc_points, path_positions
from osim_inertia.kernels.paths import new_opensim_room, opensim_lengths, place_nodes, place_objects
from osim_inertia.kernels.tension import unit_tension

if TYPE_CHECKING:
    from osim_inertia.system import System

Array = NDArray[np.float64]
SOLVERS = ("opensim", "shortest")
ARC_POINTS = 24  # drawn along each arc


class PathSet:
    """The paths of a system: muscles and every other force that acts along a line."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.names = tuple(force.name for force in system.model.path_forces)
        self.arrays = compile_paths(system.model, system.compiled)

    def lengths(self, q: ArrayLike, solver: str = "opensim") -> Array:
        """(F, P) in m."""
        return self._evaluate(q, solver, False)[0]

    def slopes(self, q: ArrayLike, solver: str = "opensim") -> Array:
        """dL/du (F, P, n)."""
        return self._evaluate(q, solver, True)[1]

    def _evaluate(self, q: ArrayLike, solver: str, with_slopes: bool) -> tuple[Array, Array]:
        if solver not in SOLVERS:
            raise ValueError(f"paths is {solver!r}; expected one of {', '.join(SOLVERS)}.")
        (q,) = self._system.frames(q=q)
        length = np.empty((len(q), len(self.names)))
        slope = np.empty((len(q), len(self.names), q.shape[1]) if with_slopes else (0, 0, 0))
        A, P = self._system.arrays, self.arrays
        self._system.run(
            len(q), lambda i, j: opensim_lengths(A, P, q, i, j, with_slopes, *new_opensim_room(P), length, slope)
        )
        return length, slope

    def tension_forces(self, q: ArrayLike) -> Array:
        """Generalized forces (F, P, n) of a unit tension as OpenSim applies it; 0 for function-based paths."""
        (q,) = self._system.frames(q=q)
        A, P = self._system.arrays, self.arrays
        force = np.empty((len(q), len(self.names), q.shape[1]))

        def kernel(i: int, j: int) -> None:
            nodes, path = new_opensim_room(P)
            room = np.empty((len(path.entry), 3)), np.empty((len(path.entry), 3))
            unit_tension(A, P, q, i, j, nodes, path, *room, force)

        self._system.run(len(q), kernel)
        return force

    def points(self, q: ArrayLike, name: str) -> list[Array]:
        """For each frame the path as a polyline (k, 3) in ground, arcs included, as OpenSim builds it."""
        if name not in self.names:
            raise KeyError(f"The model has no path '{name}'.")
        (q,) = self._system.frames(q=q)
        i, A, P = self.names.index(name), self._system.arrays, self.arrays
        nodes, path = new_opensim_room(P)
        first = P.wrap_first[i]
        X, rest = new_motion(A), np.zeros(q.shape[1])
        latest, cached, arc = (np.empty((len(path.entry), 3)) for _ in range(3))
        arc = np.empty((ARC_POINTS, 3))
        frames = []
        for pose in q:
            move(A, pose, rest, X)
            place_objects(P, X, nodes)
            n = place_nodes(P, X, i, pose, nodes)
            count = P.wrap_first[i + 1] - first
            _, size = opensim_path_length(
                nodes.x, nodes.index, n, P.objects, nodes.R, nodes.p, P.wraps, first, count, path
            )
            path_positions(nodes.x, size, path, latest, cached)
            line: list[Array] = []
            for k in range(size):
                line.append(latest[k].copy())
                entry = path.entry[k]
                if entry < 0 and (-1 - entry) % 2 == 0:  # the first of two tangent points
                    path_arc_points((-1 - entry) // 2, P.objects, nodes.R, nodes.p, P.wraps, first, path, arc)
                    line += [point.copy() for point in arc[1:-1]]
            frames.append(np.array(line))
        return frames
