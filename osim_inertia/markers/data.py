"""Marker trajectories, and read_markers(path) for every kind of file that holds them.

    .trc, .c3d --markers--> MarkerData --fit--> Table of coordinates --tables--> .mot
                  ^ here
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import FileError
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MarkerData:
    """Positions of markers over time, in metres. A missing marker is NaN in all three coordinates."""

    names: tuple[str, ...]  # M
    time: Array  # (F,) s, increasing
    positions: Array  # (F, M, 3) m
    rate: float  # Hz, as the file says
    units: str = "m"  # of the file
    file: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.time), len(self.names), 3)
        if self.positions.shape != shape:
            raise ValueError(f"positions has shape {self.positions.shape}; expected {shape} for these times and names.")

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        return f"MarkerData({len(self)} frames, {len(self.names)} markers{span})"

    def select(self, names: Iterable[str]) -> MarkerData:
        """Some markers, in the order given."""
        names = tuple(names)
        return replace(self, names=names, positions=self.positions[:, [self.names.index(name) for name in names]])

    def between(self, start: float, end: float) -> MarkerData:
        """The frames from the one nearest to `start` to the one nearest to `end`, as OpenSim chooses them."""
        if not len(self) or end < start or start > self.time[-1] or end < self.time[0]:
            have = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "no frames"
            raise FileError("The time range has no frames.", file=self.file, found=f"{start:g} to {end:g} s asked for",
                            expected=f"a part of {have}")
        earliest, latest = float(self.time[0]), float(self.time[-1])
        first, last = (int(np.abs(self.time - min(max(t, earliest), latest)).argmin()) for t in (start, end))
        chosen, slack = self.rows(first, last + 1), 1.0 / self.rate if self.rate > 0.0 else 0.0
        if -np.inf < start < earliest - slack or latest + slack < end < np.inf:
            note = (f"The time range {start:g} to {end:g} s reaches beyond the markers, which cover {earliest:g} to "
                    f"{latest:g} s.")  # fmt: skip
            chosen = replace(chosen, notes=(*self.notes, note))
        return chosen

    def rows(self, first: int, last: int) -> MarkerData:
        """Frames first … last − 1."""
        return replace(self, time=self.time[first:last], positions=self.positions[first:last])


def read_markers(path: str | Path) -> MarkerData:
    """Read marker trajectories from a .trc or .c3d file."""
    return read_markers_and_forces(path)[0]


def read_markers_and_forces(path: str | Path) -> tuple[MarkerData, Table | None]:
    """The same, and the ground reaction forces if the file is a .c3d file with force plates."""
    path = Path(path)
    if path.suffix.lower() == ".c3d":
        from osim_inertia.markers.c3d import read_c3d

        recording = read_c3d(path)
        return recording.markers, recording.forces
    from osim_inertia.markers.trc import read_trc

    return read_trc(path), None
