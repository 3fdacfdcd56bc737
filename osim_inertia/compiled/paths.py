"""Paths and wrap objects of the model to arrays (kernels.paths)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osim_inertia.compiled.build import Compiled
from osim_inertia.compiled.frames import rotation_xyz
from osim_inertia.compiled.functions import FunctionTable
from osim_inertia.compiled.simple_paths import NO_SIMPLE_PATHS, simple_paths
from osim_inertia.kernels import opensim_path as k
from osim_inertia.kernels.paths import CONDITIONAL, FIXED, MOVING, Paths
from osim_inertia.model import paths as p
from osim_inertia.model.model import Model

METHODS = {"hybrid": 0, "midpoint": 1, "axial": 2}
NO_LIMIT = 1e300


def compile_paths(model: Model, compiled: Compiled) -> Paths:
    """All path forces with a GeometryPath or a FunctionBasedPath, in file order."""
    table = FunctionTable()
    coordinate = {name: i for i, name in enumerate(compiled.coordinate_names)}
    limits = {c.name: c.range for c in model.coordinates}
    objects: dict[str, int] = {}
    for index, item in enumerate(model.wrap_objects):
        objects.setdefault(item.name, index)
    first, wrap_first = [], []
    points: list[tuple] = []
    wraps: list[tuple] = []
    by_function: list[tuple[int, int, list[int], list[int]]] = []
    for force in model.path_forces:
        first.append(len(points))
        wrap_first.append(len(wraps))
        path = force.geometry
        if isinstance(path, p.FunctionBasedPath):
            args = [coordinate[name] for name in path.coordinates]
            arms = [table.add(function) for function in path.moment_arm_functions]
            by_function.append((table.add(path.length_function), len(args), _six(args, 0), _six(arms, -1)))
            continue
        by_function.append((-1, 0, [0] * 6, [-1] * 6))
        points += [_point(point, compiled, coordinate, limits, table) for point in path.points]
        wraps += [(objects[w.wrap_object], METHODS[w.method], *w.range) for w in path.wraps]
    first.append(len(points))
    wrap_first.append(len(wraps))
    outboard = _outboard(compiled)
    placed = [_wrap_place(item, compiled) for item in model.wrap_objects]
    body = np.array([point[1] for point in points], dtype=np.int64)
    wrap_rows = np.array(wraps, dtype=np.int64).reshape(-1, 4)
    n = len(compiled.coordinate_names)
    moves = np.zeros((len(model.path_forces), n), dtype=np.bool_)
    for i in range(len(moves)):
        mine = list(body[first[i] : first[i + 1]])
        mine += [placed[o][0] for o in wrap_rows[wrap_first[i] : wrap_first[i + 1], 0]]
        if mine:
            moves[i] = outboard[mine].any(axis=0) & ~outboard[mine].all(axis=0)
        for point in points[first[i] : first[i + 1]]:
            if point[0] == MOVING:
                moves[i, point[4]] = True
        moves[i, by_function[i][2][: by_function[i][1]]] = True

    def column(i: int, dtype: type, shape: tuple[int, ...] = ()) -> NDArray:
        return np.array([point[i] for point in points], dtype=dtype).reshape(len(points), *shape)

    paths = Paths(
        first=np.array(first, dtype=np.int64),
        kind=column(0, np.int64),
        body=body.reshape(len(points)),
        location=column(2, np.float64, (3,)),
        axes=column(3, np.float64, (3, 3)),
        coordinate=column(4, np.int64),
        low=column(5, np.float64),
        high=column(6, np.float64),
        function=column(7, np.int64, (3,)),
        functions=table.arrays(),
        wrap_first=np.array(wrap_first, dtype=np.int64),
        wraps=k.PathWraps(*(np.ascontiguousarray(column) for column in wrap_rows.T)),
        objects=_objects(model),
        object_body=np.array([b for b, _, _ in placed], dtype=np.int64),
        object_R=np.array([R for _, R, _ in placed]).reshape(-1, 3, 3),
        object_p=np.array([x for _, _, x in placed]).reshape(-1, 3),
        outboard=outboard,
        moves=moves,
        length_function=np.array([row[0] for row in by_function], dtype=np.int64),
        n_args=np.array([row[1] for row in by_function], dtype=np.int64),
        args=np.array([row[2] for row in by_function], dtype=np.int64).reshape(-1, 6),
        arm_function=np.array([row[3] for row in by_function], dtype=np.int64).reshape(-1, 6),
        carriers=_carriers(compiled, {*body, *(placed[o][0] for o in wrap_rows[:, 0])}),
        turned_in=(compiled.arrays.in_R != np.eye(3)).any(axis=(1, 2)),
        placed_out=(compiled.arrays.out_R != np.eye(3)).any(axis=(1, 2)) | (compiled.arrays.out_p != 0.0).any(axis=1),
        simple=NO_SIMPLE_PATHS,
    )
    return paths._replace(simple=simple_paths(paths))


def _six(values: list[int], filler: int) -> list[int]:
    return values + [filler] * (6 - len(values))


def _carriers(compiled: Compiled, bodies: set[int]) -> NDArray[np.int64]:
    """These bodies and all inboard of them, inboard first."""
    needed = np.zeros(len(compiled.arrays.parent) + 1, dtype=np.bool_)
    for body in bodies:
        while body >= 0 and not needed[body]:
            needed[body] = True
            body = int(compiled.arrays.parent[body])
    return np.flatnonzero(needed[:-1])


def _point(point: p.AnyPathPoint, compiled: Compiled, coordinate: dict, limits: dict, table: FunctionTable) -> tuple:
    """Kind, body, location in the body, axes of its frame, coordinate, range, functions."""
    frame = compiled.placements[point.frame]
    body = compiled.body_index[frame.body]
    if isinstance(point, p.MovingPathPoint):
        low, high = (max(-NO_LIMIT, min(NO_LIMIT, x)) for x in limits[point.coordinate])
        functions = [table.add(f) for f in (point.x, point.y, point.z)]
        return MOVING, body, frame.p, frame.R, coordinate[point.coordinate], low, high, functions
    location = frame.point(point.location)
    if isinstance(point, p.ConditionalPathPoint):
        return CONDITIONAL, body, location, frame.R, coordinate[point.coordinate], *point.range, [0] * 3
    return FIXED, body, location, frame.R, 0, 0.0, 0.0, [0] * 3


def _wrap_place(item: p.WrapObject, compiled: Compiled) -> tuple[int, NDArray, NDArray]:
    frame = compiled.placements[item.frame]
    return compiled.body_index[frame.body], frame.R @ rotation_xyz(item.rotation), frame.point(item.translation)


def _objects(model: Model) -> k.WrapObjects:
    rows = []
    for item in model.wrap_objects:
        side = item.quadrant
        axis = -1 if side == "all" else "xyz".index(side[-1])
        if isinstance(item, p.WrapCylinder):
            kind, params = k.CYLINDER, (item.radius, item.length, 0.0)
        elif isinstance(item, p.WrapSphere):
            kind, params = k.SPHERE, (item.radius, 0.0, 0.0)
        elif isinstance(item, p.WrapEllipsoid):
            kind, params = k.ELLIPSOID, item.dimensions
        else:
            kind, params = k.TORUS, (item.inner_radius, item.outer_radius, 0.0)
        rows.append((kind, params, axis, -1 if side[0] == "-" else 1, item.active))
    return k.WrapObjects(
        kind=np.array([row[0] for row in rows], dtype=np.int64),
        params=np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, 3),
        axis=np.array([row[2] for row in rows], dtype=np.int64),
        sign=np.array([row[3] for row in rows], dtype=np.int64),
        active=np.array([row[4] for row in rows], dtype=np.bool_),
    )


def _outboard(compiled: Compiled) -> NDArray[np.bool_]:
    """(nb + 1, n): whether a coordinate moves a body; the last row, which index -1 reaches, is ground."""
    A = compiled.arrays
    outboard = np.zeros((len(A.parent) + 1, len(compiled.coordinate_names)), dtype=np.bool_)
    for body, parent in enumerate(A.parent):
        outboard[body] = outboard[parent]
        outboard[body, A.first[body] : A.first[body] + A.dofs[body]] = True
    return outboard
