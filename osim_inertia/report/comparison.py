"""OpenSim's moments and forces beside ours at 0 % muscle: the error table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
LIMIT = 1e-6  # relative RMS difference up to which two results are called the same


@dataclass(frozen=True)
class ColumnError:
    """How far one column of ours is from OpenSim's."""

    column: str
    unit: str  # N m or N
    size: float  # RMS of OpenSim's
    rms: float  # RMS of the difference
    largest: float  # largest difference
    relative: float  # rms / size; of a column that is zero throughout: rms / size of the largest column


def unit_of(column: str) -> str:
    """Of a column of inverse dynamics: moments in N m, the rest in N."""
    return "N m" if column.endswith("_moment") else "N"


def compare(ours: Table, theirs: Table) -> tuple[ColumnError, ...]:
    """All columns of OpenSim's table, the largest relative error first. Rows are matched by time if they differ."""
    difference, reference = _matched(ours, theirs)
    size, rms = (np.sqrt((values**2).mean(axis=0)) for values in (reference, difference))
    largest = np.abs(difference).max(axis=0)
    scale = np.where(size > 0.0, size, size.max(initial=0.0) or 1.0)
    rows = [ColumnError(name, unit_of(name), float(size[i]), float(rms[i]), float(largest[i]), float(rms[i] / scale[i]))
            for i, name in enumerate(theirs.names)]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: -row.relative))


def _matched(ours: Table, theirs: Table) -> tuple[Array, Array]:
    """Differences (F, c) and OpenSim's values (F, c) at the times both have."""
    values = ours.select(theirs.names).values
    if len(ours) == len(theirs):
        return values - theirs.values, theirs.values
    inside = (theirs.time >= ours.time[0] - 1e-6) & (theirs.time <= ours.time[-1] + 1e-6)
    at = theirs.time[inside]
    there = np.column_stack([np.interp(at, ours.time, column) for column in values.T])
    return there - theirs.values[inside], theirs.values[inside]
