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
        first, last = (int(np.abs(self.time - min(max(t, self.time[0]), self.time[-1])).argmin()) for t in (start, end))
        return self.rows(first, last + 1)

    def rows(self, first: int, last: int) -> MarkerData:
        """Frames first … last − 1."""
        return replace(self, time=self.time[first:last], positions=self.positions[first:last])


def read_markers(path: str | Path) -> MarkerData:
    """Read marker trajectories from a .trc or .c3d file."""
    path = Path(path)
    if path.suffix.lower() == ".c3d":
        from osim_inertia.markers.c3d import read_c3d

        return read_c3d(path).markers
    from osim_inertia.markers.trc import read_trc

    return read_trc(path)
