"""System, markers and tasks to the arrays of kernels.ik_cost: what is unknown, bounded, fixed or coupled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from osim_inertia.compiled.constraints import EQUATIONS, compile_constraints
from osim_inertia.compiled.functions import FunctionTable
from osim_inertia.kernels.constraints import COUPLER, Constraints
from osim_inertia.kernels.functions import evaluate
from osim_inertia.kernels.ik_cost import Fit
from osim_inertia.markers.tasks import CoordinateTask
from osim_inertia.model.joints import TRANSLATIONAL, Coordinate
from osim_inertia.system import System

Array = NDArray[np.float64]
# Weight of the pull to the frame before (m² per rad², or no unit): a marker 0.03 mm off the axis would weigh as much.
HOLD = 1e-9
ARM = 0.1  # m: distance from a joint at which a missing marker counts, where missing markers hold


@dataclass(frozen=True)
class Problem:
    """What every frame has in common, and the data of each."""

    system: System
    fit: Fit
    rows: NDArray[np.int64] | None  # equations that are not solved for a coordinate
    constraint_names: tuple[str, ...]  # of rows
    target: Array  # (F, nm, 3) m, 0 where missing
    weight: Array  # (F, nm): share of each marker in its frame, 0 where missing
    reference: Array  # (F, nt) rad or m
    hold: Array  # (F, nz) weight of the pull of each unknown to the frame before
    fixed: NDArray[np.bool_]  # (n,) coordinates that are locked or prescribed
    start: Array  # (F, n): fixed coordinates as they have to be, the others at their defaults


def build_problem(
    system: System, markers: Sequence[str], positions: Array, weights: Array, time: Array,
    tasks: Sequence[CoordinateTask], reference: Array, hold_missing: float,
) -> Problem:  # fmt: skip
    """positions (F, nm, 3) with NaN | weights (nm,) | time (F,) | reference (F, nt), one column per task.

    hold_missing: share of the weight of a missing marker that holds the coordinates moving it at the frame before
    """
    coordinates = {c.name: c for c in system.model.coordinates}
    ordered = [coordinates[name] for name in system.coordinate_names]
    names, constraints = compile_constraints(system.model, system.compiled)
    fixed = np.array([c.locked or _is_prescribed(c) for c in ordered], dtype=bool)
    couplers, rows = _eliminated(constraints, ordered, fixed)
    unknown = ~fixed
    unknown[constraints.dependent[couplers]] = False
    free = np.flatnonzero(unknown)
    body, point = _placed(system, markers)
    tracked = [system.coordinate_names.index(task.name) for task in tasks]
    fit = Fit(
        bodies=_needed_bodies(system, body),
        marker_body=body,
        marker_point=point,
        free=free,
        lower=np.array([ordered[i].range[0] if ordered[i].clamped else -np.inf for i in free]),
        upper=np.array([ordered[i].range[1] if ordered[i].clamped else np.inf for i in free]),
        turns=np.array([ordered[i].motion_type != TRANSLATIONAL for i in free], dtype=np.bool_),
        task=np.array(tracked, dtype=np.int64),
        task_weight=np.array([task.weight for task in tasks], dtype=np.float64),
        couplers=couplers,
        constraints=constraints,
        equations=len(names),
    )
    present = np.asarray(np.isfinite(positions).all(axis=2))
    share = np.where(present, weights, 0.0)
    total = share.sum(axis=1, keepdims=True)
    return Problem(
        system=system,
        fit=fit,
        rows=rows if len(rows) else None,
        constraint_names=tuple(names[row] for row in rows),
        target=np.ascontiguousarray(np.where(present[..., None], positions, 0.0)),  # one layout: compiled once
        weight=np.ascontiguousarray(np.divide(share, total, out=np.zeros(share.shape), where=total > 0.0)),
        reference=np.ascontiguousarray(reference, dtype=np.float64).reshape(len(time), len(tasks)),
        hold=HOLD + hold_missing * _hold_of_missing(system, fit, np.where(present, 0.0, weights / weights.sum())),
        fixed=fixed,
        start=_start(system, ordered, time),
    )


def _is_prescribed(coordinate: Coordinate) -> bool:
    return coordinate.prescribed and not coordinate.locked and coordinate.prescribed_function is not None


def _start(system: System, ordered: Sequence[Coordinate], time: Array) -> Array:
    q = np.tile(system.default_pose(), (len(time), 1))
    for i, coordinate in enumerate(ordered):
        function = coordinate.prescribed_function
        if function is not None and _is_prescribed(coordinate):
            table = FunctionTable()
            index = table.add(function)
            arrays = table.arrays()
            q[:, i] = [evaluate(arrays, index, t)[0] for t in time]
    return q


def _eliminated(
    C: Constraints, ordered: Sequence[Coordinate], fixed: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Couplers that can be solved for their dependent coordinate, in order of evaluation; equations that cannot.

    A coupler stays an equation if its dependent coordinate is fixed, clamped, given twice, or goes in circles.
    """
    waiting = []
    taken: set[int] = set()
    for k in (int(place) for place in np.flatnonzero(C.kind == COUPLER)):
        dependent = int(C.dependent[k])
        if not fixed[dependent] and not ordered[dependent].clamped and dependent not in taken:
            taken.add(dependent)
            waiting.append(k)
    order: list[int] = []
    progress = True
    while waiting and progress:
        progress = False
        pending = {int(C.dependent[k]) for k in waiting}
        for k in list(waiting):
            if not pending & {int(c) for c in C.args[k, : C.n_args[k]]}:
                order.append(k)
                waiting.remove(k)
                progress = True
    rows = [C.row[k] + i for k in range(len(C.kind)) if k not in order for i in range(EQUATIONS[int(C.kind[k])])]
    return np.array(order, dtype=np.int64), np.array(rows, dtype=np.int64)


def _placed(system: System, markers: Sequence[str]) -> tuple[NDArray[np.int64], Array]:
    places = [system.compiled.placements.point(f"/markerset/{name}") for name in markers]
    body = np.array([system.compiled.body_index[path] for path, _ in places], dtype=np.int64)
    return body, np.array([point for _, point in places], dtype=np.float64).reshape(len(places), 3)


def _needed_bodies(system: System, marker_body: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bodies that carry markers, and all between them and ground."""
    needed = set()
    for body in marker_body:
        while body >= 0 and body not in needed:
            needed.add(int(body))
            body = system.arrays.parent[body]
    return np.array(sorted(needed), dtype=np.int64)


def _hold_of_missing(system: System, fit: Fit, missing: Array) -> Array:
    """(F, nz): what missing markers, given by their weights (F, nm), leave to the unknowns that move them."""
    moves = np.zeros((len(fit.marker_body), len(fit.free)))
    for k, body in enumerate(fit.marker_body):
        while body >= 0:
            moves[k, system.arrays.body_of[fit.free] == body] = 1.0
            body = system.arrays.parent[body]
    return np.ascontiguousarray((missing @ moves) * np.where(fit.turns, ARM**2, 1.0))
