"""The wrap doctor: where do paths of a model jump, flip, or start inside the objects they should wrap over?

    System --> lines of poses (doctor_lines) --> [suspects --> refined --> findings] --> cli, plots
                                                                ^ here
A jump between two neighbouring poses is a suspicion only: the line between them is divided again and again around the
largest change. What is left of the change when the poses are as good as equal is a jump; a steep slope leaves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from osim_inertia.doctor_lines import Line
from osim_inertia.kernels.paths import new_nodes, new_opensim_room
from osim_inertia.kernels.shortest_batch import new_shortest_room
from osim_inertia.kernels.wrap_states import opensim_turns, point_depths, shortest_turns
from osim_inertia.model import paths as p
from osim_inertia.model.joints import TRANSLATIONAL
from osim_inertia.path_shape import PathContacts
from osim_inertia.paths import SOLVERS
from osim_inertia.system import System

Array = NDArray[np.float64]
Progress = Callable[[int, int], object]
PARTS = 8  # a suspected interval is divided into so many
SUSPECTS = 3  # of a path on a line, the worst ones
LENGTH_WIDTH = 1e-9  # rad or m: two poses as good as equal, for lengths
ARM_WIDTH = 1e-4  # the same for moment arms, which are differences themselves
APART = np.array([1e-4, 2e-4, 3.5e-4, 5e-4, 7e-4])  # rad or m: from a jump to where moment arms are taken
LEVER = 0.05  # m: a moment arm about a translation (a cosine) times this compares with one about a rotation
HALF_TURN = np.pi * (1.0 + 1e-9)
DETOUR = 0.03  # of the length: so much longer than without its quadrants a path must be to be on the wrong side
KINDS = ("length jumps", "moment arm jumps", "flips side", "wrong side", "point inside", "more than half a turn",
         "no length")


@dataclass(frozen=True)
class Limits:
    """From what size on something is told."""

    length: float = 1e-4  # m
    arm: float = 1e-3  # m (rotations), 1 (translations)
    depth: float = 1e-5  # m


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with one path; the worst of `count` such places."""

    kind: str  # one of KINDS
    path: str
    size: float  # m: of the jump, depth under the surface; rad: angle round the object
    pose: dict[str, float]  # coordinates that matter to the path
    where: str  # coordinate and value, or time
    coordinate: str  # about which the moment arm changes most; "" if none does
    before: tuple[float, float]  # length, moment arm
    after: tuple[float, float]
    cause: str  # in words: what switches
    line: int  # number of the line of poses it was found on
    at: float  # place on that line
    count: int = 1

    def words(self) -> str:
        """One sentence."""
        if self.kind == "point inside":
            return f"{self.cause}, {1e3 * self.size:.3g} mm deep at {self.where}"
        if self.kind == "more than half a turn":
            return f"{self.cause}, {np.degrees(self.size):.0f}° at {self.where}"
        if self.kind == "wrong side":
            return f"{self.cause}, {1e3 * self.size:.3g} mm longer than without it at {self.where}"
        if self.kind == "no length":
            return f"OpenSim's construction gives no number at {self.where}"
        length = f"length {1e3 * self.before[0]:.2f} to {1e3 * self.after[0]:.2f} mm"
        arm = f", moment arm about {self.coordinate} {1e3 * self.before[1]:.2f} to {1e3 * self.after[1]:.2f} mm"
        return f"{length}{arm if self.coordinate else ''} at {self.where}: {self.cause}"


def examine(
    system: System,
    lines: Sequence[Line],
    *,
    paths: str = "opensim",
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """All findings on lines of poses, each kind once per path and cause, the largest first."""
    limits = limits or Limits()
    found: list[Finding] = []
    for number, line in enumerate(lines):
        doctor = _Examination(system, line, number, paths, limits)
        found += doctor.jumps() + doctor.inside() + doctor.long_ways() + doctor.detours()
        if progress is not None:
            progress(number + 1, len(lines))
    return _worst(found)


def _worst(found: list[Finding]) -> list[Finding]:
    """The largest finding of each kind, path and cause, with the number of places it stands for."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for item in found:
        groups.setdefault((item.kind, item.path, item.cause), []).append(item)
    worst = [replace(max(group, key=lambda item: item.size), count=len(group)) for group in groups.values()]
    return sorted(worst, key=lambda item: (KINDS.index(item.kind), -item.size))


class _Examination:
    """One line of poses."""

    def __init__(self, system: System, line: Line, number: int, paths: str, limits: Limits) -> None:
        self.system, self.line, self.number, self.paths, self.limits = system, line, number, paths, limits
        self.moved = system.paths.arrays.moves
        coordinates = [system.model.coordinate(name) for name in system.coordinate_names]
        self.rotates = np.array([coordinate.motion_type != TRANSLATIONAL for coordinate in coordinates], dtype=bool)

    def lengths(self, at: Array) -> Array:
        """(k, P) lengths at places of the line."""
        return self.system.path_lengths(self.line.poses(at), paths=self.paths)

    def arms(self, q: Array) -> Array:
        """(k, P, n) moment arms at poses, those about translations as if they had a lever of LEVER."""
        arms = self.system.moment_arms(q, paths=self.paths) * np.where(self.rotates, 1.0, LEVER)
        return np.where(self.moved, arms, 0.0)

    # ---- jumps --------------------------------------------------------------------------------------------------
    def jumps(self) -> list[Finding]:
        """Jumps of lengths and moment arms, and lengths that are no numbers."""
        places = np.arange(len(self.line.q), dtype=float)
        length = self.lengths(places)
        found = [self._no_length(int(path), int(np.isnan(length[:, path]).argmax()))
                 for path in np.flatnonzero(np.isnan(length).any(axis=0))]
        if len(places) < 3:
            return found
        for suspect in _suspects(length, 0.5 * self.limits.length):
            found += self._length_jump(*suspect)
        jumps = [(item.path, item.at) for item in found]
        for suspect in _suspects(self.arms(self.line.q), 0.5 * self.limits.arm):
            found += [item for item in self._arm_jump(*suspect) if not self._told(item, jumps)]
        return found

    def _told(self, item: Finding, jumps: list[tuple[str, float]]) -> bool:
        """Whether a moment arm changes only because the length jumps right there."""
        near = 3.0 * APART[-1]
        return any(item.path == path and abs(item.at - at) * self.line.speed(at) < near for path, at in jumps)

    def _no_length(self, path: int, row: int) -> Finding:
        return self._at_row("no length", path, row, np.inf, "")

    def _narrowed(
        self, path: int, row: int, width: float, limit: float, values: Callable[[Array], Array]
    ) -> tuple[float, float] | None:
        """The interval after row `row` narrowed around the largest change of values (k, P, …) of a path.

        None as soon as nothing in it changes by more than the limit: a slope, not a jump.
        """
        low, high = float(row), float(row + 1)
        while (high - low) * self.line.speed(low) > width:
            at = np.linspace(low, high, PARTS + 1)
            change = np.nan_to_num(np.diff(values(at)[:, path].reshape(len(at), -1), axis=0))
            if np.abs(change).max() < limit:
                return None
            worst = np.abs(change - np.median(change, axis=0)).max(axis=1).argmax()
            low, high = at[worst], at[worst + 1]
        return low, high

    def _length_jump(self, path: int, row: int) -> list[Finding]:
        place = self._narrowed(path, row, LENGTH_WIDTH, self.limits.length, self.lengths)
        if place is None:
            return []
        jump = abs(float(np.diff(self.lengths(np.array(place))[:, path])[0]))
        return self._findings(path, *place, jump) if jump > self.limits.length else []

    def _arm_jump(self, path: int, row: int) -> list[Finding]:
        place = self._narrowed(path, row, ARM_WIDTH, self.limits.arm, lambda at: self.arms(self.line.poses(at)))
        return [] if place is None else self._findings(path, *place, 0.0)

    def _sides(self, path: int, low: float, high: float) -> tuple[Array, Array, Array, Array]:
        """Poses (2, n), lengths (2,) and moment arms (2, n) a little before and after a jump, and the jump of the arms.

        Moment arms are differences over a small step. Far enough off the jump hardly any of them straddles it; medians
        over several distances take care of the rest. A steep slope grows with the distance, a jump does not.
        """
        way = self.line.direction(low)
        ends = self.line.poses(np.array([low, high]))
        q = np.concatenate([ends[0] - APART[:, None] * way, ends[1] + APART[:, None] * way])
        arms = self.arms(q)[:, path].reshape(2, len(APART), -1)
        distance = 2.0 * APART + (high - low) * self.line.speed(low)
        near = q[[0, len(APART)]]
        length = self.system.path_lengths(near, paths=self.paths)[:, path]
        return near, length, np.median(arms, axis=1), _at_no_distance(distance, arms[1] - arms[0])

    def _findings(self, path: int, low: float, high: float, jump: float) -> list[Finding]:
        """What happens between two nearly equal places; nothing if it is below the limits."""
        q, length, arms, arm_jump = self._sides(path, low, high)
        if jump:
            length = self.lengths(np.array([low, high]))[:, path]
        elif abs(length[1] - length[0]) > 0.5 * self.limits.length:
            return []  # a jump of the length, told as such
        change = np.abs(arm_jump)
        about = int(change.argmax())
        if not (jump or change[about] > self.limits.arm):
            return []
        name = self.system.path_names[path]
        before, after = self.system.path_contacts(q, name, paths=self.paths)
        flipped, cause = _cause(self.system, before, after)
        arms = arms[:, about] / (1.0 if self.rotates[about] else LEVER)
        coordinate = self.system.coordinate_names[about] if change[about] > 0.1 * self.limits.arm else ""
        return [Finding(
            "flips side" if flipped else KINDS[0] if jump else KINDS[1], name, jump or float(change[about]),
            self._pose(low, path), self.line.name(low), coordinate, (float(length[0]), float(arms[0])),
            (float(length[1]), float(arms[1])), cause, self.number, low,
        )]  # fmt: skip

    def _pose(self, at: float, path: int) -> dict[str, float]:
        q = self.line.poses(np.array([at]))[0]
        return {name: float(q[c]) for c, name in enumerate(self.system.coordinate_names) if self.moved[path, c]}

    # ---- wrap objects -------------------------------------------------------------------------------------------
    def inside(self) -> list[Finding]:
        """Path points under the surface of an object that the path wraps over."""
        A, P, q = self.system.arrays, self.system.paths.arrays, self.line.q
        depth, point = np.empty((len(q), len(P.wraps.method))), np.empty((len(q), len(P.wraps.method)), np.int64)
        self.system.run(len(q), lambda i, j: point_depths(A, P, q, i, j, new_nodes(P), depth, point))

        def cause(path: int, row: int, wrap: int) -> str:
            geometry = self.system.model.path_forces[path].geometry
            assert isinstance(geometry, p.GeometryPath)
            return f"point {geometry.points[point[row, wrap]].name} is inside {self._object(wrap)}"

        return self._of_wraps("point inside", depth, self.limits.depth, cause)

    def long_ways(self) -> list[Finding]:
        """Paths that go round a cylinder or sphere by more than half a turn."""
        A, P, q = self.system.arrays, self.system.paths.arrays, self.line.q
        turn = np.zeros((len(q), len(P.wraps.method)))
        if self.paths == "opensim":
            self.system.run(len(q), lambda i, j: opensim_turns(A, P, q, i, j, *new_opensim_room(P), turn))
        else:
            self.system.run(len(q), lambda i, j: shortest_turns(A, P, q, i, j, *new_shortest_room(P), turn))
        return self._of_wraps("more than half a turn", turn, HALF_TURN,
                              lambda path, row, wrap: f"goes round {self._object(wrap)}")

    def detours(self) -> list[Finding]:
        """Paths that a quadrant makes longer in most poses: what holds a muscle in place does so in some."""
        A, P, q = self.system.arrays, self.system.paths.arrays, self.line.q
        free = P._replace(objects=P.objects._replace(axis=np.full_like(P.objects.axis, -1)))
        room, kernel, _ = SOLVERS[self.paths]
        without = np.empty((len(q), len(self.system.path_names)))
        self.system.run(len(q), lambda i, j: kernel(A, free, q, i, j, *room(free), without))
        detour = np.nan_to_num(self.lengths(np.arange(len(q), dtype=float)) - without)
        found = []
        far = detour > DETOUR * without
        for path in np.flatnonzero(far.mean(axis=0) > 0.5):
            row, name = int(detour[:, path].argmax()), self.system.path_names[path]
            active = self.system.path_contacts(q[row], name, paths=self.paths)[0].wraps
            held = [item.name for item in self.system.model.wrap_objects if item.name in active
                    and item.quadrant != "all"]
            worst = self._at_row("wrong side", int(path), row, float(detour[row, path]),
                                 f"held by the quadrant of {', '.join(held)}")
            found += [worst] * int(far[:, path].sum())
        return found

    def _at_row(self, kind: str, path: int, row: int, size: float, cause: str) -> Finding:
        length = float(self.lengths(np.array([float(row)]))[0, path])
        return Finding(kind, self.system.path_names[path], size, self._pose(row, path), self.line.name(row), "",
                       (length, np.nan), (length, np.nan), cause, self.number, float(row))

    def _object(self, wrap: int) -> str:
        return self.system.model.wrap_objects[self.system.paths.arrays.wraps.wrap_object[wrap]].name

    def _of_wraps(self, kind: str, size: Array, limit: float, cause: Callable[[int, int, int], str]) -> list[Finding]:
        found = []
        first = self.system.paths.arrays.wrap_first
        for wrap in np.flatnonzero((size > limit).any(axis=0)):
            path, row = int(np.searchsorted(first, wrap, "right")) - 1, int(size[:, wrap].argmax())
            worst = self._at_row(kind, path, row, float(size[row, wrap]), cause(path, row, int(wrap)))
            found += [worst] * int((size[:, wrap] > limit).sum())
        return found


def _suspects(values: Array, limit: float) -> list[tuple[int, int]]:
    """(path, row) of intervals in which values (k, P, …) change otherwise than in the intervals before and after."""
    change = np.diff(np.nan_to_num(values.reshape(len(values), values.shape[1], -1)), axis=0)
    around = np.concatenate([change[1:2], 0.5 * (change[:-2] + change[2:]), change[-2:-1]])
    apart = np.abs(change - around).max(axis=2)
    edge = np.zeros((1, apart.shape[1]))
    peak = (apart >= np.vstack([edge, apart[:-1]])) & (apart >= np.vstack([apart[1:], edge])) & (apart > limit)
    found = []
    for path in np.flatnonzero(peak.any(axis=0)):
        rows = np.flatnonzero(peak[:, path])
        found += [(int(path), int(row)) for row in rows[np.argsort(-apart[rows, path])[:SUSPECTS]]]
    return found


def _at_no_distance(distance: Array, change: Array) -> Array:
    """What changes (k, n) measured over distances (k,) come to over none: the median of lines through pairs of them."""
    i, j = np.triu_indices(len(distance), 1)
    slope = (change[j] - change[i]) / (distance[j] - distance[i])[:, None]
    return np.asarray(np.median(change[i] - slope * distance[i, None], axis=0))


def _cause(system: System, before: PathContacts, after: PathContacts) -> tuple[bool, str]:
    """(whether the path changes side on an object, what changes in words)."""
    causes = []
    for name in dict.fromkeys((*before.node_names, *after.node_names)):
        if (name in before.node_names) != (name in after.node_names):
            causes.append(f"point {name} comes or goes")
    flipped = False
    for name in dict.fromkeys((*before.wraps, *after.wraps)):
        if (name in before.wraps) != (name in after.wraps):
            causes.append(f"contact with {name} comes or goes")
            continue
        i, j = before.wraps.index(name), after.wraps.index(name)
        middle = len(before.arc_points[i]) // 2
        move = float(np.linalg.norm(before.arc_points[i][middle] - after.arc_points[j][middle]))
        if move > 0.5 * _smallest_radius(system, name):
            flipped = True
            causes.append(f"changes side on {name}")
        elif before.after[i] != after.after[j]:
            causes.append(f"{name} takes another segment")
    return flipped, ", ".join(causes) or "points and wraps stay the same"


def _smallest_radius(system: System, name: str) -> float:
    item = next(item for item in system.model.wrap_objects if item.name == name)
    if isinstance(item, p.WrapEllipsoid):
        return min(item.dimensions)
    return item.inner_radius if isinstance(item, p.WrapTorus) else item.radius
