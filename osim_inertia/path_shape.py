"""The course of one path in space: points, contacts, arcs.

    System --> paths.PathSet (all paths, numbers) --> [one path: polyline and contacts per frame]
                                                                ^ here
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import ModelError
from osim_inertia.kernels.geodesic_common import G_ARC
from osim_inertia.kernels.kinematics import new_motion, pose
from osim_inertia.kernels.opensim_path import path_arc_points
from osim_inertia.kernels.paths import Paths, new_opensim_room, opensim_length, place_paths, take_path
from osim_inertia.kernels.shortest_batch import new_shortest_room, piece_arc_points, shortest_length
from osim_inertia.kernels.shortest_record import CHAIN, W_CONTACT, WHERE
from osim_inertia.model.paths import FunctionBasedPath, GeometryPath

if TYPE_CHECKING:
    from osim_inertia.system import System

Array = NDArray[np.float64]
ARC_POINTS = 24  # drawn along each arc


@dataclass(frozen=True, eq=False)
class PathContacts:
    """Where one path lies at one pose. k active points, w active wraps; positions in ground."""

    length: float  # m
    nodes: Array  # (k, 3) m: active path points
    node_names: tuple[str, ...]  # k
    wraps: tuple[str, ...]  # w: wrap objects in contact, in path order
    after: tuple[int, ...]  # w: the wrap lies between nodes[after] and nodes[after + 1]
    points: Array  # (w, 2, 3) m: where the path meets and leaves each object
    arcs: Array  # (w,) m: length on each object, as the solver counts it
    arc_points: tuple[Array, ...]  # w of (ARC_POINTS, 3) m: along each arc, contacts included

    @property
    def wrapped_share(self) -> float:
        """l/L: the fraction of the path that lies on wrap objects."""
        return float(self.arcs.sum()) / self.length if self.length else 0.0

    def polyline(self) -> Array:
        """(m, 3): all points in order, arcs included."""
        line: list[Array] = []
        for k in range(len(self.nodes)):
            line.append(self.nodes[k : k + 1])
            line += [points for points, where in zip(self.arc_points, self.after) if where == k]
        return np.concatenate(line)


def contacts(system: System, P: Paths, q: Array, i: int, solver: str) -> list[PathContacts]:
    """Path number i in every frame of q (F, n)."""
    force = system.model.path_forces[i]
    if isinstance(force.geometry, FunctionBasedPath):
        raise ModelError(f"The path of '{force.name}' is given by a function of coordinates: it has no points.")
    found = _opensim(system, P, q, i) if solver == "opensim" else _shortest(system, P, q, i)
    return list(found)


def _frames(system: System, P: Paths, q: Array, i: int, nodes: Any) -> Iterator[tuple[int, Array, tuple[str, ...]]]:
    """Number, positions and names of the active points at each frame; `nodes` is filled."""
    geometry = system.model.path_forces[i].geometry
    assert isinstance(geometry, GeometryPath)  # `contacts` has refused all others
    names = tuple(point.name for point in geometry.points)
    X = new_motion.py_func(system.arrays)  # plain arrays: no compiled code has to be loaded for them
    for instant in q:
        pose(system.arrays, instant, X)
        place_paths(P, X, instant, nodes)
        n = take_path(P, i, nodes)
        yield n, nodes.x[:n].copy(), tuple(names[k] for k in nodes.index[:n])


def _object_name(system: System, P: Paths, i: int, wrap: int) -> str:
    return system.model.wrap_objects[P.wraps.wrap_object[P.wrap_first[i] + wrap]].name


def _opensim(system: System, P: Paths, q: Array, i: int) -> Iterator[PathContacts]:
    nodes, path = new_opensim_room(P)
    for n, x, names in _frames(system, P, q, i, nodes):
        length, size = opensim_length(P, i, nodes, n, path)
        chain, after, node = [], [], -1
        for entry in path.entry[:size]:
            if entry >= 0:
                node = int(entry)
            elif (-1 - entry) % 2 == 0:  # the first of two tangent points
                chain.append(int(-1 - entry) // 2)
                after.append(node)
        arcs = []
        for k in chain:
            drawn = np.empty((ARC_POINTS, 3))
            path_arc_points(k, P.objects, nodes.R, nodes.p, P.wraps, P.wrap_first[i], path, drawn)
            arcs.append(drawn)
        yield PathContacts(length, x, names, tuple(_object_name(system, P, i, k) for k in chain), tuple(after),
                           path.latest[chain].copy(), path.arc[chain].copy(), tuple(arcs))  # fmt: skip


def _shortest(system: System, P: Paths, q: Array, i: int) -> Iterator[PathContacts]:
    nodes, path = new_shortest_room(P)
    for n, x, names in _frames(system, P, q, i, nodes):
        length, size = shortest_length(P, i, nodes, n, path)
        chain = [int(k) for k in path.ints[CHAIN, :size]]
        arcs = []
        for k in chain:
            drawn = np.empty((ARC_POINTS, 3))
            piece_arc_points(k, path, drawn)
            arcs.append(drawn)
        yield PathContacts(length, x, names, tuple(_object_name(system, P, i, k) for k in chain),
                           tuple(int(path.ints[WHERE, k]) for k in chain),
                           path.rows[chain, W_CONTACT : W_CONTACT + 6].reshape(-1, 2, 3).copy(),
                           path.rows[chain, G_ARC].copy(), tuple(arcs))  # fmt: skip
