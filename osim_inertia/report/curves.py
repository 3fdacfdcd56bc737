"""Curves of a report: each joint's moment as muscle mass grows, as mean ± SD over strides and over the whole trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import OsimInertiaError
from osim_inertia.inverse import force_names
from osim_inertia.model.constraints import CoordinateCoupler
from osim_inertia.model.frames import GROUND
from osim_inertia.model.joints import ROTATIONAL
from osim_inertia.model.model import Model
from osim_inertia.model.tree import spanning_tree
from osim_inertia.report.comparison import unit_of
from osim_inertia.report.strides import Strides, side_of
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
STEPS = 101  # points of the stride, 0 … 100 %
MOST_CURVES = 12
NEGLIGIBLE = 0.01  # of the largest change of any joint
FEWEST_ROWS = 10
SUDDEN, UNUSUAL = 0.5, 20.0  # second difference: share of the largest change, and multiple of its own median


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One coordinate. Arrays over the trial are (F,), those over the stride (STEPS,)."""

    coordinate: str
    column: str
    time: Array  # s
    forces: Mapping[int, Array]  # N m or N, by percent of muscle
    opensim: Array | None  # at 0 %, at the same times
    strides: Strides | None  # None: not gait

    @property
    def unit(self) -> str:
        """N m or N."""
        return unit_of(self.column)

    def over_strides(self, values: Array) -> Array:
        """(s, STEPS) values of every stride."""
        assert self.strides is not None
        at = [np.linspace(start, end, STEPS) for start, _, end in self.strides.times]
        return np.array([np.interp(times, self.time, values) for times in at])

    def mean(self, percent: int) -> Array:
        """Over the strides."""
        return np.asarray(self.over_strides(self.forces[percent]).mean(axis=0))

    def deviation(self, percent: int) -> Array | None:
        """Standard deviation over the strides; None for a single one."""
        values = self.over_strides(self.forces[percent])
        return np.asarray(values.std(axis=0, ddof=1)) if len(values) > 1 else None

    def opensim_mean(self) -> Array | None:
        """OpenSim's, over the strides."""
        return None if self.opensim is None else np.asarray(self.over_strides(self.opensim).mean(axis=0))

    def counted(self) -> dict[int, Array]:
        """What changes are measured on: the mean curve in swing; without strides the whole trial."""
        if self.strides is None:
            return dict(self.forces)
        swing = np.linspace(0.0, 100.0, STEPS) >= self.strides.toe_off
        return {percent: self.mean(percent)[swing] for percent in self.forces}

    def change(self, percent: int) -> tuple[float, float]:
        """Largest change against 0 %: in N m or N, and as a share of the largest value at 0 %."""
        curves = self.counted()
        largest = float(np.abs(curves[percent] - curves[0]).max())
        scale = float(np.abs(curves[0]).max())
        return largest, largest / scale if scale > 0.0 else 0.0

    def rms_change(self, percent: int) -> float:
        """RMS of the change against 0 %, as a share of the RMS at 0 %."""
        curves = self.counted()
        change, scale = (float(np.sqrt((x**2).mean())) for x in (curves[percent] - curves[0], curves[0]))
        return change / scale if scale > 0.0 else 0.0

    def sudden_peak(self) -> float | None:
        """When the change at the largest percent has a peak of one or two samples; None if it has none.

        Such peaks come from paths that switch: a wrap object or a conditional point comes in or goes out.
        """
        change = self.forces[max(self.forces)] - self.forces[0]
        if len(change) < FEWEST_ROWS or not change.any():
            return None
        bend = np.abs(np.diff(change, 2))
        at = int(bend.argmax())
        sudden = bend[at] > SUDDEN * np.abs(change).max() and bend[at] > UNUSUAL * np.median(bend)
        return float(self.time[at + 1]) if sudden else None


def curves_of(
    system: System,
    forces: Mapping[int, Table],
    opensim: Table | None,
    strides: Sequence[Strides],
    chosen: Sequence[str] | None = None,
) -> tuple[Curve, ...]:
    """The curves to show: of the coordinates asked for, or of those that change most."""
    columns = dict(zip(system.coordinate_names, force_names(system)))
    unknown = [name for name in chosen or () if name not in columns]
    if unknown:
        raise OsimInertiaError(f"The model has no coordinate '{unknown[0]}'; it has {', '.join(columns)}.")
    names = chosen or _candidates(system.model, system.coordinate_names)
    curves = [_curve(name, columns[name], forces, opensim, strides) for name in names]
    return tuple(curves) if chosen else tuple(_most_changed(curves))


def _curve(
    name: str, column: str, forces: Mapping[int, Table], opensim: Table | None, strides: Sequence[Strides]
) -> Curve:
    time = forces[0].time
    theirs = None
    if opensim is not None and column in opensim.names:
        values = opensim.column(column)
        theirs = values if len(values) == len(time) else np.interp(time, opensim.time, values)
    ours = {percent: table.column(column) for percent, table in forces.items()}
    return Curve(coordinate=name, column=column, time=time, forces=ours, opensim=theirs,
                 strides=_strides_of(name, strides))  # fmt: skip


def _strides_of(coordinate: str, strides: Sequence[Strides]) -> Strides | None:
    """Those of the foot on the coordinate's side; of the first foot for the trunk, or if its own has none."""
    side = side_of(coordinate)
    same = (item for item in strides if item.side == side)
    return next(same, strides[0] if strides else None)


def _candidates(model: Model, names: Sequence[str]) -> list[str]:
    """Joint angles that are free: not those by which the model floats, nor locked, nor driven by others."""
    driven = {c.dependent for c in model.constraints if isinstance(c, CoordinateCoupler) and c.enforced}
    floating = {c.name for m in spanning_tree(model) if m.inboard == GROUND for c in m.joint.coordinates
                if any(other.motion_type != ROTATIONAL for other in m.joint.coordinates)}  # fmt: skip
    free = [name for name in names if name not in driven | floating and not model.coordinate(name).locked]
    angles = [name for name in free if model.coordinate(name).motion_type == ROTATIONAL]
    return angles or free or list(names)


def _most_changed(curves: list[Curve]) -> list[Curve]:
    most = max(curves[0].forces)
    if most == 0:  # no muscle mass: the largest moments instead
        return sorted(curves, key=lambda curve: -float(np.abs(curve.forces[0]).max()))[:MOST_CURVES]
    changes = {curve.coordinate: curve.change(most) for curve in curves}
    largest = max(change for change, _ in changes.values())
    shown = [curve for curve in curves if changes[curve.coordinate][0] > NEGLIGIBLE * largest] or curves[:1]
    return sorted(shown, key=lambda curve: -curve.rms_change(most))[:MOST_CURVES]


def most_changed(curves: Sequence[Curve]) -> Curve:
    """The one whose largest change is the largest share; one with sudden peaks only if all have them."""
    steady = [curve for curve in curves if curve.sudden_peak() is None] or curves
    return max(steady, key=lambda curve: curve.change(max(curve.forces))[1])
