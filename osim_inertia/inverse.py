"""Inverse dynamics of a recorded motion: what OpenSim's Inverse Dynamics tool computes (OPENSIM_SEMANTICS.md §6).

    motion (Table) --filter, spline--> q, u, udot --System, ExternalLoads--> generalized forces (Table)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import OsimInertiaError
from osim_inertia.filters import (
    FEWEST_TO_DIFFERENTIATE,
    derivatives,
    low_pass,
    low_pass_like_opensim,
    uneven_steps,
)
from osim_inertia.loads import FARTHEST, ExternalLoads, LoadsInTime, read_external_loads
from osim_inertia.model.joints import ROTATIONAL
from osim_inertia.model.model import Model
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
Progress = Callable[[int, int], object]  # frames done, frames in all
TITLE = "Inverse Dynamics Generalized Forces"
FRAMES_AT_ONCE = 8192  # bounds the working memory of long motions
NUMBERS_AT_ONCE = 6_000_000  # of a group of columns that is filtered together
LARGEST_RADIANS = 2.2 * math.pi  # angles of a whole motion below it look like radians, above twice it like degrees


class MotionError(OsimInertiaError):
    """A motion that cannot be used with the model."""


@dataclass
class Kinematics:
    """A motion of a system: time (F,), q, u, udot (F, n), and what the user should know about it."""

    time: Array
    q: Array
    u: Array
    udot: Array
    notes: list[str] = field(default_factory=list)


def inverse_dynamics_of(
    system: System | Model,
    motion: Table,
    *,
    external_loads: ExternalLoads | str | Path | None = None,
    lowpass: float | None = None,
    time_range: tuple[float, float] | None = None,
    like_opensim: bool = True,
    progress: Progress | None = None,
) -> Table:
    """Generalized forces that produce a motion: a table with <coordinate>_moment and _force columns, N m and N.

    `motion` has the coordinates as columns; missing ones stay at their default value. `lowpass` is the cutoff in Hz of
    OpenSim's filter, None for no filter; `time_range` in s. Forces of muscles, ligaments, springs and contacts are not
    part of the answer.

    By default every row and number is that of OpenSim's Inverse Dynamics tool, also where the tool is questionable: for
    Ball, Free and Ellipsoid joints it takes rates of angles for angular velocities; it adds rows before and after the
    record when it filters; it knows coordinates by their bare name only. `like_opensim=False` does these as mechanics
    and the record have it, and finds columns like /jointset/knee_r/knee_angle_r/value, too.
    `notes` of the result tells what was noticed on the way.
    """
    if isinstance(system, Model):
        system = System(system, like_opensim=like_opensim)
    moved = kinematics_of(system, motion, lowpass=lowpass, time_range=time_range, like_opensim=like_opensim)
    return forces_of(system, moved, loads_at(system, external_loads, moved), progress)


def forces_of(
    system: System, moved: Kinematics, loads: LoadsInTime | None = None, progress: Progress | None = None
) -> Table:
    """The same for a motion that is already differentiated, chunk by chunk."""
    tau = np.empty_like(moved.q)
    for start in range(0, len(tau), FRAMES_AT_ONCE):
        rows = slice(start, min(start + FRAMES_AT_ONCE, len(tau)))
        tau[rows] = system.inverse_dynamics(moved.q[rows], moved.u[rows], moved.udot[rows])
        if loads is not None:
            tau[rows] -= loads.generalized(system, moved.q[rows], start)
        if progress is not None:
            progress(rows.stop, len(tau))
    return Table(force_names(system), moved.time, tau, False, {"name": TITLE}, tuple(moved.notes))


def force_names(system: System) -> tuple[str, ...]:
    """<coordinate>_moment for rotations, <coordinate>_force for all others, in the order of u."""
    rotates = {c.name: c.motion_type == ROTATIONAL for c in system.model.coordinates}
    return tuple(f"{name}_{'moment' if rotates[name] else 'force'}" for name in system.coordinate_names)


def loads_at(
    system: System, external_loads: ExternalLoads | str | Path | None, moved: Kinematics
) -> LoadsInTime | None:
    """The external loads at the times of a motion; a path is read first."""
    if external_loads is None:
        return None
    if not isinstance(external_loads, ExternalLoads):
        external_loads = read_external_loads(external_loads)
    moved.notes += external_loads.notes
    return external_loads.at(system, moved.time, moved.notes.append)


# ---- the motion -----------------------------------------------------------------------------------------------------
def kinematics_of(
    system: System,
    motion: Table,
    *,
    lowpass: float | None = None,
    time_range: tuple[float, float] | None = None,
    like_opensim: bool = True,
) -> Kinematics:
    """Coordinates, speeds and accelerations of a recorded motion, filtered and differentiated as OpenSim does."""
    if lowpass is not None and not 0.0 < lowpass < math.inf:
        raise ValueError(f"lowpass is {lowpass} Hz; expected more than zero, or None for no filter.")
    notes: list[str] = []
    columns = _columns(system, motion, like_opensim, notes)
    _check_values(system, motion, columns, notes)
    present = [c for c, place in enumerate(columns) if place >= 0]
    group = max(1, NUMBERS_AT_ONCE // max(1, 2 * len(motion)))
    moved: Kinematics | None = None
    rows = slice(0, 0)
    for start in range(0, len(present), group):
        chosen = present[start : start + group]
        values = np.ascontiguousarray(motion.values[:, [columns[c] for c in chosen]])
        time, values = _filtered(system, motion.time, values, lowpass, like_opensim, notes)
        if len(time) < FEWEST_TO_DIFFERENTIATE:
            raise MotionError(f"The motion has {len(motion)} rows; accelerations need at least "
                              f"{FEWEST_TO_DIFFERENTIATE}.")  # fmt: skip
        if moved is None:
            rows = _rows(time, motion.time, time_range, notes)
            moved = _at_rest(system, time[rows], notes)
        _differentiate(system, motion, chosen, time, values, rows, moved)
    assert moved is not None  # _columns refuses a motion without any coordinate
    if not like_opensim and system.has_angular_speeds:
        moved.u, moved.udot = system.speeds(moved.q, moved.u, moved.udot)
    return moved


def coordinates_of(system: System, motion: Table, notes: list[str]) -> Array:
    """q (F, n) of a recorded motion as it stands, in radians and metres; missing coordinates are at their default."""
    columns = _columns(system, motion, False, notes)
    _check_values(system, motion, columns, notes)
    q = _at_rest(system, motion.time, notes).q
    for c, place in enumerate(columns):
        if place >= 0:
            q[:, c] = motion.values[:, place] * _unit(system, motion, c)
    return q


def _columns(system: System, motion: Table, like_opensim: bool, notes: list[str]) -> list[int]:
    """Where each coordinate is in the motion; -1 if it is not there."""
    joint_of = {c.name: joint.name for joint in system.model.joints for c in joint.coordinates}
    columns: list[int] = []
    for name in system.coordinate_names:
        labels = [name]
        if not like_opensim:
            labels += [f"/jointset/{joint_of[name]}/{name}/value", f"{joint_of[name]}/{name}/value", f"{name}/value"]
        columns.append(next((motion.names.index(label) for label in labels if label in motion.names), -1))
    missing = [name for name, place in zip(system.coordinate_names, columns) if place < 0]
    states = any(label.endswith("/value") for label in motion.names)
    advice = " Its columns have names of OpenSim 4 states, which OpenSim's tool does not know; --exact " \
             "(like_opensim=False) does." if states and like_opensim else ""  # fmt: skip
    if len(missing) == system.n:
        raise MotionError("The motion has none of the model's coordinates.\n"
                          f"  found     {', '.join(motion.names[:6])} …\n"
                          f"  expected  {', '.join(system.coordinate_names[:6])} …\n"
                          f"  to do     give the motion that belongs to this model.{advice}")  # fmt: skip
    if missing:
        notes.append(f"The motion lacks {len(missing)} of {system.n} coordinates, which stay at their default value, "
                     f"as in OpenSim: {', '.join(missing)}.{advice}")  # fmt: skip
    return columns


def _check_values(system: System, motion: Table, columns: list[int], notes: list[str]) -> None:
    """Refuse NaN; say so when angles or lengths look as if they were in the other unit, or frames are missing."""
    largest = 0.0
    far: dict[str, float] = {}
    notes += uneven_steps(motion.time)
    for name, place in zip(system.coordinate_names, columns):
        if place < 0:
            continue
        values = motion.values[:, place]
        size = float(np.abs(values).max(initial=0.0))
        if not math.isfinite(size):
            row = int(np.argmin(np.isfinite(values)))
            raise MotionError(f"'{name}' is {values[row]} at {motion.time[row]:g} s of the motion.")
        if system.model.coordinate(name).motion_type == ROTATIONAL:
            largest = max(largest, size)
        elif size > FARTHEST:
            far[name] = size
    if far:
        notes.append(f"{', '.join(far)} reach {max(far.values()):.4g} m: are they in millimetres? Translations should "
                     "be in metres.")  # fmt: skip
    if motion.in_degrees and 0.0 < largest < LARGEST_RADIANS:
        notes.append(f"The motion says it is in degrees, but no angle in it exceeds {largest:.3g}: is it in radians? "
                     "Then its header should say inDegrees=no.")  # fmt: skip
    if not motion.in_degrees and largest > 2.0 * LARGEST_RADIANS:
        notes.append(f"The motion says it is in radians, but an angle in it reaches {largest:.4g}: is it in degrees? "
                     "Then its header should say inDegrees=yes.")  # fmt: skip


def _filtered(
    system: System, time: Array, values: Array, lowpass: float | None, like_opensim: bool, notes: list[str]
) -> tuple[Array, Array]:
    def note(text: str) -> None:
        if text not in notes:  # columns are filtered in groups
            notes.append(text)

    if lowpass is None:
        return time, values
    if like_opensim:
        return low_pass_like_opensim(time, values, lowpass, system.run, note)
    if len(time) < FEWEST_TO_DIFFERENTIATE:
        return time, values
    return time, low_pass(time, values, lowpass, system.run, note)


def _rows(time: Array, recorded: Array, time_range: tuple[float, float] | None, notes: list[str]) -> slice:
    """The rows of a time range, by the last sample at or before each end."""
    first, last = time_range or (-math.inf, math.inf)
    slack = 0.5 * (recorded[-1] - recorded[0]) / (len(recorded) - 1)
    span = f"{recorded[0]:g} to {recorded[-1]:g} s"
    if math.isnan(first) or math.isnan(last) or first > last:
        raise MotionError(f"The time range is {first:g} to {last:g} s; expected the earlier time first.")
    if first > recorded[-1] + slack or last < recorded[0] - slack:
        raise MotionError(f"The time range {first:g} to {last:g} s lies outside the motion, which covers {span}.")
    if -math.inf < first < recorded[0] - slack or recorded[-1] + slack < last < math.inf:
        notes.append(f"The time range {first:g} to {last:g} s reaches beyond the motion, which covers {span}.")
    start = max(int(np.searchsorted(time, max(first, time[0]), "right")) - 1, 0)
    stop = int(np.searchsorted(time, min(last, time[-1]), "right"))
    if time[start] < recorded[0] - slack or time[stop - 1] > recorded[-1] + slack:
        notes.append(f"Rows before {recorded[0]:g} s and after {recorded[-1]:g} s come from the mirrored record that "
                     "the filter adds, as in OpenSim; a time range leaves them out.")  # fmt: skip
    return slice(start, stop)


def _at_rest(system: System, time: Array, notes: list[str]) -> Kinematics:
    shape = (len(time), system.n)
    q = np.empty(shape)
    q[:] = system.default_pose()
    return Kinematics(np.ascontiguousarray(time), q, np.zeros(shape), np.zeros(shape), notes)


def _differentiate(
    system: System, motion: Table, chosen: list[int], time: Array, values: Array, rows: slice, moved: Kinematics
) -> None:
    first, second = derivatives(time, values, system.run)
    for k, c in enumerate(chosen):
        scale = _unit(system, motion, c)
        moved.q[:, c] = values[rows, k] * scale
        moved.u[:, c] = first[rows, k] * scale
        moved.udot[:, c] = second[rows, k] * scale


def _unit(system: System, motion: Table, c: int) -> float:
    """What the values of coordinate c in the motion are multiplied by."""
    rotates = system.model.coordinate(system.coordinate_names[c]).motion_type == ROTATIONAL
    return math.pi / 180.0 if motion.in_degrees and rotates else 1.0
