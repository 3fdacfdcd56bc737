"""Constraints of the model to arrays (kernels.constraints)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from osim_inertia.compiled.build import Compiled
from osim_inertia.compiled.functions import FunctionTable
from osim_inertia.kernels import constraints as k
from osim_inertia.model import constraints as c
from osim_inertia.model.functions import MultiplierFunction
from osim_inertia.model.model import Model

EQUATIONS = {k.COUPLER: 1, k.POINT: 3, k.DISTANCE: 1, k.POINT_ON_LINE: 2, k.WELD: 6}


def compile_constraints(model: Model, compiled: Compiled) -> tuple[tuple[str, ...], k.Constraints]:
    """Name of each equation, and the arrays. Closed loops add a weld each; constraints not enforced are left out."""
    table, coordinate = FunctionTable(), {name: i for i, name in enumerate(compiled.coordinate_names)}
    rows = [_row(item, compiled, coordinate, table) for item in model.constraints if item.enforced]
    names = [item.name for item in model.constraints if item.enforced]
    for loop in compiled.loops:
        rows.append(_blank(k.WELD) | {"body": [loop.master, loop.slave]})
        names.append(loop.name)
    first = np.cumsum([0] + [EQUATIONS[row["kind"]] for row in rows])
    labels = [name if EQUATIONS[row["kind"]] == 1 else f"{name}[{i}]"
              for name, row in zip(names, rows) for i in range(EQUATIONS[row["kind"]])]

    def column(key: str, dtype: type, shape: tuple[int, ...] = ()) -> NDArray:
        return np.array([row[key] for row in rows], dtype=dtype).reshape(len(rows), *shape)

    return tuple(labels), k.Constraints(
        kind=column("kind", np.int64),
        row=first[:-1].astype(np.int64),
        body=column("body", np.int64, (2,)),
        point=column("point", np.float64, (2, 3)),
        axes=column("axes", np.float64, (2, 3, 3)),
        distance=column("distance", np.float64),
        dependent=column("dependent", np.int64),
        n_args=column("n_args", np.int64),
        args=column("args", np.int64, (6,)),
        function=column("function", np.int64),
        functions=table.arrays(),
    )


def _blank(kind: int) -> dict:
    return {
        "kind": kind,
        "body": [-1, -1],
        "point": np.zeros((2, 3)),
        "axes": [np.eye(3), np.eye(3)],
        "distance": 0.0,
        "dependent": 0,
        "n_args": 0,
        "args": [0] * 6,
        "function": 0,
    }


def _row(item: c.Constraint, compiled: Compiled, coordinate: Mapping[str, int], table: FunctionTable) -> dict:
    if isinstance(item, c.CoordinateCoupler):
        args = [coordinate[name] for name in item.independent]
        function = table.add(MultiplierFunction(function=item.function, scale=item.scale_factor))
        return _blank(k.COUPLER) | {"dependent": coordinate[item.dependent], "n_args": len(args),
                                    "args": args + [0] * (6 - len(args)), "function": function}
    if isinstance(item, c.WeldConstraint):
        return _blank(k.WELD) | _frames(compiled, (item.frame_1, item.frame_2), ((0.0,) * 3, (0.0,) * 3))
    if isinstance(item, c.PointOnLineConstraint):
        row = _frames(compiled, (item.line_frame, item.follower_frame), (item.point_on_line, item.point_on_follower))
        row["axes"][0] = row["axes"][0] @ _across(np.array(item.line_direction))
        return _blank(k.POINT_ON_LINE) | row
    row = _frames(compiled, (item.frame_1, item.frame_2), (item.location_1, item.location_2))
    if isinstance(item, c.ConstantDistanceConstraint):
        return _blank(k.DISTANCE) | row | {"distance": item.distance}
    return _blank(k.POINT) | row


def _frames(compiled: Compiled, frames: Sequence[str], points: Sequence[tuple[float, ...]]) -> dict:
    placed = [compiled.placements[frame] for frame in frames]
    return {
        "body": [compiled.body_index[placement.body] for placement in placed],
        "point": np.array([placement.point(point) for placement, point in zip(placed, points)]),
        "axes": [placement.R for placement in placed],
    }


def _across(direction: NDArray) -> NDArray:
    """Right-handed axes whose third is the direction."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
