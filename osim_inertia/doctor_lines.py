"""Lines of poses for the wrap doctor: along one coordinate, between random poses, along a motion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from osim_inertia.inverse import kinematics_of
from osim_inertia.model.joints import ROTATIONAL
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
STEPS = 60  # along a coordinate
RANDOM_LINES = 40
RANDOM_STEPS = 30  # along a line between two random poses
WIDEST = {True: 0.5 * math.pi, False: 0.5}  # rad, m: a range that goes farther from the default is cut to this
MARGIN = 1e-3  # of a range is left out at either end: defects at the very end of a range are out of reach in use


@dataclass(frozen=True, eq=False)
class Line:
    """Poses q (k, n) joined by straight lines; a place on it is a number from 0 to k − 1."""

    q: Array
    label: str  # coordinate, "time" or "random"
    values: Array  # (k,) what the places are called: value of the coordinate, s, or the place itself

    def poses(self, at: Array) -> Array:
        """(m, n) poses at places (m,); beyond the ends the line goes straight on."""
        row = np.clip(np.floor(at).astype(int), 0, len(self.q) - 2)
        part = (at - row)[:, None]
        return (1.0 - part) * self.q[row] + part * self.q[row + 1]

    def _step(self, at: float) -> Array:
        row = min(max(int(at), 0), len(self.q) - 2)
        return np.asarray(self.q[row + 1] - self.q[row])

    def speed(self, at: float) -> float:
        """How far apart neighbouring poses are: rad or m per unit of place."""
        return float(np.linalg.norm(self._step(at)))

    def direction(self, at: float) -> Array:
        """(n,) of length 1: where the line goes; zero where it stands."""
        return self._step(at) / (self.speed(at) or 1.0)

    def name(self, at: float) -> str:
        """A place in words."""
        value = float(np.interp(at, np.arange(len(self.q)), self.values))
        if self.label == "time":
            return f"{value:.4f} s"
        return "a random pose" if self.label == "random" else f"{self.label} = {value:.4f}"


def lines_over_ranges(system: System, *, steps: int = STEPS, random_lines: int = RANDOM_LINES) -> list[Line]:
    """Each coordinate that moves a path alone over its range, then straight lines between random poses."""
    start = system.constraints.project_q(system.default_pose())[0]
    free = [int(c) for c in np.flatnonzero(system.paths.arrays.moves.any(axis=0))
            if not (system.constraints.locked[c] or system.constraints.dependent[c])]
    low, high = _ranges(system, start)
    return [*_along_coordinates(system, start, free, low, high, steps),
            *_between_random_poses(system, start, free, low, high, random_lines)]


def line_of_motion(system: System, motion: Table) -> Line:
    """The poses of a motion, frame by frame."""
    moved = kinematics_of(system, motion, like_opensim=False)
    return Line(moved.q, "time", moved.time)


def _ranges(system: System, start: Array) -> tuple[Array, Array]:
    low, high = start.copy(), start.copy()
    for c, name in enumerate(system.coordinate_names):
        coordinate = system.model.coordinate(name)
        widest = WIDEST[coordinate.motion_type == ROTATIONAL]
        a, b = coordinate.range
        low[c] = a if math.isfinite(a) and start[c] - a < 2.0 * math.pi else start[c] - widest
        high[c] = b if math.isfinite(b) and b - start[c] < 2.0 * math.pi else start[c] + widest
        inset = MARGIN * (high[c] - low[c])
        low[c], high[c] = low[c] + inset, high[c] - inset
    return low, high


def _along_coordinates(
    system: System, start: Array, free: list[int], low: Array, high: Array, steps: int
) -> Iterator[Line]:
    for c in free:
        q = np.tile(start, (steps + 1, 1))
        q[:, c] = np.linspace(low[c], high[c], steps + 1)
        q = system.constraints.project_q(q)
        yield Line(q, system.coordinate_names[c], q[:, c])


def _between_random_poses(
    system: System, start: Array, free: list[int], low: Array, high: Array, count: int
) -> Iterator[Line]:
    rng = np.random.default_rng(0)  # the same poses every time
    for _ in range(count if len(free) > 1 else 0):
        ends = np.tile(start, (2, 1))
        ends[:, free] = rng.uniform(low[free], high[free], (2, len(free)))
        part = np.linspace(0.0, 1.0, RANDOM_STEPS + 1)[:, None]
        q = system.constraints.project_q((1.0 - part) * ends[0] + part * ends[1])
        yield Line(q, "random", np.arange(len(q), dtype=float))
