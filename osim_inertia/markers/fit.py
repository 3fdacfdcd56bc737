"""Inverse kinematics: the motion of a model that fits measured markers best.

    .trc, .c3d --markers--> MarkerData --fit--> Table of coordinates --tables--> .mot
                                         ^ here
"""

from __future__ import annotations

import difflib
import re
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.errors import FileError, ModelError
from osim_inertia.filters import uneven_steps
from osim_inertia.kernels.ik import marker_places
from osim_inertia.markers.data import MarkerData, read_markers
from osim_inertia.markers.problem import Problem, build_problem
from osim_inertia.markers.solve import Solver
from osim_inertia.markers.tasks import FROM_FILE, MANUAL_VALUE, CoordinateTask, TaskSet, read_tasks
from osim_inertia.model.joints import ROTATIONAL
from osim_inertia.model.model import Model
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
LARGEST_RATIO = 10.0  # of the sizes of the measured and the model's marker cloud
SATISFIED = 1e-7  # m or rad: what may be left of a constraint


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """The motion found, and how well it fits."""

    coordinates: Table  # (F, n) in the model's order; rotational coordinates in degrees
    marker_errors: Table  # total_squared_error (m²), marker_error_RMS and marker_error_max (m), as OpenSim reports them
    markers: tuple[str, ...]  # tracked, M of them
    distances: Array  # (F, M) m between each marker and its measurement; NaN where it is missing
    model_markers: Array  # (F, M, 3) m in ground
    q: Array  # (F, n) in the order of System.coordinate_names, radians and metres
    cost: Array  # (F,) m²: ½ Σ w |e|² / Σ w, plus the share of the coordinate tasks
    iterations: NDArray[np.int64]  # (F,) negative where the best pose could not be found to the accuracy asked for
    notes: tuple[str, ...]
    seconds: float  # spent on the fit

    @property
    def marker_locations(self) -> Table:
        """The model's markers as OpenSim reports them: columns NAME_tx, NAME_ty, NAME_tz (m)."""
        names = tuple(f"{name}_{axis}" for name in self.markers for axis in ("tx", "ty", "tz"))
        values = self.model_markers.reshape(len(self.q), len(names))
        return Table(names, self.coordinates.time, values, metadata={"name": "Model Marker Locations from IK"})

    @property
    def rms(self) -> float:
        """Root mean square of all marker distances (m)."""
        return float(np.sqrt(np.nanmean(self.distances**2))) if np.isfinite(self.distances).any() else 0.0


def inverse_kinematics(
    model: System | Model,
    markers: MarkerData | str | Path,
    *,
    weights: Mapping[str, float] | None = None,
    tasks: TaskSet | str | Path | None = None,
    coordinate_tasks: Iterable[CoordinateTask] = (),
    coordinate_file: Table | None = None,
    time_range: tuple[float, float] | None = None,
    hold_missing: float = 0.0,
    accuracy: float = 1e-8,
    progress: Callable[[int, int], object] | None = None,
) -> InverseKinematics:
    """Fit the coordinates of a model to markers, frame by frame: OpenSim's cost, solved to its minimum.

    Minimised is ½ Σ w |x − m|² / Σ w over the markers present in a frame, plus ½ w (q − q_ref)² of each coordinate task
    (rad, m). Locked and prescribed coordinates stay, clamped ones keep to their range, couplers and other constraints
    hold exactly. A coordinate that no marker determines keeps the value of the frame before.

    weights         by marker name; with it (or with marker tasks) only the markers named are tracked, else all with 1
    tasks           an IKTaskSet, or a file with one; `weights` and `coordinate_tasks` come on top
    coordinate_file values for the coordinate tasks of type from_file
    time_range      first and last time (s)
    hold_missing    0 leaves missing markers out, as OpenSim does: a limb that lost some may turn as the errors of the
                    rest happen to ask for. A little (0.01 to 0.1) holds it at the frame before instead.
    accuracy        largest change (rad, m) of the last iteration
    progress        called with the number of frames done, and of all
    """
    began = clock.perf_counter()
    system = model if isinstance(model, System) else System(model)
    data = markers if isinstance(markers, MarkerData) else read_markers(markers)
    task_set = read_tasks(tasks) if isinstance(tasks, (str, Path)) else tasks or TaskSet()
    if time_range is not None:
        data = data.between(*time_range)
    if not len(data):
        raise FileError("There are no frames.", file=data.file)
    if not accuracy > 0.0:
        raise ValueError(f"accuracy is {accuracy}; expected a number above 0.")
    if not 0.0 <= hold_missing < np.inf:
        raise ValueError(f"hold_missing is {hold_missing}; expected 0 or more.")
    names, share, notes = _tracked(system, data, weights, task_set)
    data = data.select(names)
    pulls, reference = _references(system, [*task_set.coordinates, *coordinate_tasks], coordinate_file, data.time)
    problem = build_problem(system, names, data.positions, share, data.time, pulls, reference, hold_missing)
    _check_size(problem, data)
    solver = Solver(problem, accuracy)
    solver.run(progress)
    _check_constraints(problem, solver.q)
    notes += [*data.notes, *uneven_steps(data.time), *task_set.notes, *_unseen(problem, data.time),
              *_failures(solver, data.time)]  # fmt: skip
    return _result(problem, solver, data, tuple(notes), began)


def _tracked(
    system: System, data: MarkerData, weights: Mapping[str, float] | None, tasks: TaskSet
) -> tuple[tuple[str, ...], Array, list[str]]:
    """Markers to track in the order of the file, their weights, and a word on those that are left out."""
    asked = {task.name: task.weight for task in tasks.markers if task.apply}
    for name, weight in (weights or {}).items():
        if not 0.0 <= weight < np.inf:
            raise ValueError(f"The weight of marker '{name}' is {weight}; expected 0 or more.")
        asked[name] = weight
    chosen = asked or dict.fromkeys(data.names, 1.0)
    known = set(system.marker_names)
    names = tuple(name for name in data.names if name in chosen and name in known)
    notes = []
    for place, have in (("the model", known), ("the marker file", set(data.names))):
        lost = [name for name in chosen if name not in have]
        if lost and names:
            unused = sorted(have - set(chosen))
            notes.append(f"Not in {place}, and left out: {', '.join(lost)}.{_look_alikes(lost, unused, place)}")
    if not names or not any(chosen[name] > 0.0 for name in names):
        _refuse_names(system, data, list(chosen))
    return names, np.array([chosen[name] for name in names]), notes


def _look_alikes(lost: Sequence[str], unused: Sequence[str], place: str) -> str:
    """Whether names that were not found are only spelt differently: case, blanks and signs count for nothing."""
    bare = {re.sub(r"[\W_]", "", name).lower(): name for name in unused}
    pairs = [(name, bare.get(re.sub(r"[\W_]", "", name).lower())) for name in lost]
    same = [f"'{name}' and '{other}'" for name, other in pairs if other]
    return f" Spelt differently in {place}: {', '.join(same[:4])}{' …' if len(same) > 4 else ''}?" if same else ""


def _unseen(problem: Problem, time: Array) -> list[str]:
    """A word on frames without any marker."""
    blind = np.flatnonzero(~(problem.weight > 0.0).any(axis=1))
    if not len(blind):
        return []
    return [f"{len(blind)} frames have no marker, the first at {time[blind[0]]:g} s; they keep the pose of the frame "
            "before them."]  # fmt: skip


def _refuse_names(system: System, data: MarkerData, asked: Sequence[str]) -> None:
    if not system.marker_names:
        raise ModelError("The model has no markers; add a MarkerSet to it.")
    lower = {name.lower(): name for name in system.marker_names}
    pairs = [(name, lower.get(name.lower()) or next(iter(difflib.get_close_matches(name, system.marker_names, 1)), ""))
             for name in data.names]  # fmt: skip
    hint = "; ".join(f"'{name}' may be the model's '{other}'" for name, other in pairs[:40] if other)
    raise FileError("No marker can be tracked: the names in the file, in the model and in the tasks do not match.",
                    file=data.file, found=", ".join(data.names[:8]) + (" …" if len(data.names) > 8 else ""),
                    expected="markers of the model: " + ", ".join(system.marker_names[:8]),
                    to_do=(hint[:400] or "use the names of the model in the marker file")
                    if len(asked) else "name the markers to track")  # fmt: skip


def _references(
    system: System, tasks: Sequence[CoordinateTask], file: Table | None, time: Array
) -> tuple[list[CoordinateTask], Array]:
    """The tasks that pull, and their targets (F, nt)."""
    pulls, columns = [], []
    coordinates = {c.name: c for c in system.model.coordinates}
    for task in tasks:
        if not task.apply or task.weight == 0.0:
            continue
        if task.name not in coordinates:
            close = difflib.get_close_matches(task.name, coordinates, 1)
            raise ModelError(f"A task names the coordinate '{task.name}', which the model does not have"
                             + (f"; the closest is '{close[0]}'." if close else "."))  # fmt: skip
        coordinate = coordinates[task.name]
        if task.value_type == FROM_FILE:
            columns.append(_from_file(task.name, coordinate.motion_type == ROTATIONAL, file, time))
        else:
            value = task.value if task.value_type == MANUAL_VALUE else coordinate.default_value
            columns.append(np.full(len(time), value))
        pulls.append(task)
    return pulls, np.array(columns).T.reshape(len(time), len(pulls))


def _from_file(name: str, is_angle: bool, file: Table | None, time: Array) -> ArrayLike:
    """A column at the times of the frames, by OpenSim's natural quintic spline, in radians or metres."""
    from scipy.interpolate import make_interp_spline

    if file is None or file.find(name) is None:
        where = "no coordinate file is given" if file is None else "the coordinate file has no such column"
        raise ModelError(f"The task of coordinate '{name}' takes its value from a file, and {where}.")
    column = file.column(name) * (np.pi / 180.0 if is_angle and file.in_degrees else 1.0)
    if len(column) < 6:
        return np.interp(time, file.time, column)
    ends = [(3, 0.0), (4, 0.0)]
    spline = make_interp_spline(file.time, column, k=5, bc_type=(ends, ends))
    return np.asarray(spline(np.clip(time, file.time[0], file.time[-1])))


def _check_size(problem: Problem, data: MarkerData) -> None:
    """Refuse markers that are many times larger or smaller than the model: a wrong unit."""
    present = problem.weight > 0.0
    full = int(present.sum(axis=1).argmax())
    if present[full].sum() < 2:
        return
    places = np.empty((1, *problem.target.shape[1:]))
    marker_places(problem.system.arrays, problem.fit, problem.start[full : full + 1], 0, 1, places)
    measured, model = (float(cloud[present[full]].std(axis=0).max()) for cloud in (problem.target[full], places[0]))
    if model > 0.0 and not 1.0 / LARGEST_RATIO < measured / model < LARGEST_RATIO:
        raise FileError(f"The measured markers span {measured / model:.3g} times the size of the model.",
                        file=data.file, found=f"unit '{data.units}' in the file",
                        expected="markers of a body of the model's size",
                        to_do="correct the unit of the marker file (mm, cm or m), or scale the model")


def _check_constraints(problem: Problem, q: Array) -> None:
    if problem.rows is None:
        return
    left = np.abs(problem.system.constraints.errors(q)[:, problem.rows])
    if left.max() > SATISFIED:
        frame, row = np.unravel_index(left.argmax(), left.shape)
        raise ModelError(f"The constraint '{problem.constraint_names[row]}' cannot be satisfied in frame {frame}: "
                         f"{left.max():.2g} is left of it.")  # fmt: skip


def _failures(solver: Solver, time: Array) -> list[str]:
    bad = np.flatnonzero(solver.iterations < 0)
    if not len(bad):
        return []
    return [f"{len(bad)} frames could not be fitted to the accuracy asked for; the first is at {time[bad[0]]:g} s."]


def _result(
    problem: Problem, solver: Solver, data: MarkerData, notes: tuple[str, ...], began: float
) -> InverseKinematics:
    system, q = problem.system, solver.q
    places = np.empty(problem.target.shape)
    system.run(len(q), lambda i, j: marker_places(system.arrays, problem.fit, q, i, j, places))
    distances = np.sqrt(((places - data.positions) ** 2).sum(axis=2))
    known = np.nan_to_num(distances)
    total = (known**2).sum(axis=1)
    errors = np.column_stack([total, np.sqrt(total / len(data.names)), known.max(axis=1)])
    columns = ("total_squared_error", "marker_error_RMS", "marker_error_max")
    place = {name: i for i, name in enumerate(system.coordinate_names)}
    motion = np.empty((len(q), len(system.model.coordinates)))
    for column, c in enumerate(system.model.coordinates):  # a joint that the system leaves out stays at its defaults
        value = q[:, place[c.name]] if c.name in place else c.default_value
        motion[:, column] = value * (180.0 / np.pi if c.motion_type == ROTATIONAL else 1.0)
    names = tuple(c.name for c in system.model.coordinates)
    return InverseKinematics(
        coordinates=Table(names, data.time, motion, True, {"name": "Coordinates"}),
        marker_errors=Table(columns, data.time, errors, False, {"name": "Model Marker Errors from IK"}),
        markers=data.names,
        distances=distances,
        model_markers=places,
        q=q,
        cost=solver.cost,
        iterations=solver.iterations,
        notes=notes,
        seconds=clock.perf_counter() - began,
    )
