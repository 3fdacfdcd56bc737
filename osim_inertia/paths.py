"""Lengths, speeds and moment arms of all paths, over frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.compiled.paths import compile_paths
from osim_inertia.kernels.kinematics import new_motion, pose
from osim_inertia.kernels.opensim_path import path_arc_points, path_positions
from osim_inertia.kernels.paths import (
    new_opensim_room,
    opensim_length,
    opensim_lengths,
    opensim_slopes,
    place_paths,
    take_path,
)
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
        _check(solver)
        (q,) = self._system.frames(q=q)
        out = np.empty((len(q), len(self.names)))
        A, P = self._system.arrays, self.arrays
        self._system.run(len(q), lambda i, j: opensim_lengths(A, P, q, i, j, *new_opensim_room(P), out))
        return out

    def slopes(self, q: ArrayLike, solver: str = "opensim") -> Array:
        """dL/du (F, P, n)."""
        _check(solver)
        (q,) = self._system.frames(q=q)
        out = np.empty((len(q), len(self.names), q.shape[1]))
        A, P = self._system.arrays, self.arrays
        self._system.run(len(q), lambda i, j: opensim_slopes(A, P, q, i, j, *new_opensim_room(P), out))
        return out

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
        X = new_motion(A)
        latest, cached = (np.empty((len(path.entry), 3)) for _ in range(2))
        arc, first = np.empty((ARC_POINTS, 3)), P.wrap_first[i]
        frames = []
        for instant in q:
            pose(A, instant, X)
            place_paths(P, X, instant, nodes)
            n = take_path(P, i, nodes)
            _, size = opensim_length(P, i, nodes, n, path)
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


def _check(solver: str) -> None:
    if solver not in SOLVERS:
        raise ValueError(f"paths is {solver!r}; expected one of {', '.join(SOLVERS)}.")
