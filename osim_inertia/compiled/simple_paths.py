"""What never changes about a path, found once: kernels.opensim_lengths then does only the rest at each pose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels.opensim_path import CYLINDER
from osim_inertia.kernels.paths import FIXED, Paths, SimplePaths

NEAR = 1e-9  # share of a radius within which rounding may decide whether a segment meets a cylinder
NO_SIMPLE_PATHS = SimplePaths(
    rest=np.empty(0), pair=np.empty((0, 2), dtype=np.int64), open=np.empty((0, 3), dtype=np.uint32),
    local=np.empty((0, 3)), moving=np.empty((0, 4), dtype=np.uint32), near=np.empty((0, 4), dtype=np.uint32),
    other=np.empty(0, dtype=np.int64),
)  # fmt: skip


def simple_paths(paths: Paths) -> SimplePaths:
    """Paths of fixed points without a wrap or with one on a cylinder, taken apart into segments."""
    rest, taken = np.zeros(len(paths.moves)), _Taken(paths)
    other = []
    for i in range(len(rest)):
        w, last_wrap = paths.wrap_first[i : i + 2]
        objects = paths.wraps.wrap_object[w:last_wrap]
        first, last = paths.first[i : i + 2]
        fixed = (paths.kind[first:last] == FIXED).all() and paths.length_function[i] < 0
        if not fixed or len(objects) > 1 or (paths.objects.kind[objects] != CYLINDER).any():
            other.append(i)
            continue
        for k in range(first, last - 1):
            if paths.body[k] == paths.body[k + 1]:
                rest[i] += np.linalg.norm(paths.location[k + 1] - paths.location[k])
            else:
                taken.open.append((k, i, taken.pair_of(paths.body[k], paths.body[k + 1])))
            for o in objects:
                if _may_meet(paths, k, k - first, w, o):
                    taken.near.append((taken.end_of(k, o), taken.end_of(k + 1, o), i, o))
    return SimplePaths(
        rest=rest,
        pair=np.array(list(taken.pairs), dtype=np.int64).reshape(-1, 2),
        open=np.array(taken.open, dtype=np.uint32).reshape(-1, 3),
        local=np.array(taken.local).reshape(-1, 3),
        moving=np.array(taken.moving, dtype=np.uint32).reshape(-1, 4),
        near=np.array(taken.near, dtype=np.uint32).reshape(-1, 4),
        other=np.array(other, dtype=np.int64),
    )


class _Taken:
    """Rows of SimplePaths while they are collected; pairs of bodies and ends of segments are there once each."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.pairs: dict[tuple[int, int], int] = {}
        self._ends: dict[tuple[int, int], int] = {}
        self.open: list[tuple[int, int, int]] = []
        self.near: list[tuple[int, int, int, int]] = []
        self.moving: list[tuple[int, int, int, int]] = []
        self.local: list[NDArray[np.float64]] = []

    def pair_of(self, body: int, other: int) -> int:
        """The place of a pair of bodies."""
        return self.pairs.setdefault((int(body), int(other)), len(self.pairs))

    def end_of(self, k: int, o: int) -> int:
        """The place of path point k, seen from cylinder o."""
        if (k, o) not in self._ends:
            row, paths = len(self.local), self._paths
            self._ends[k, o] = row
            self.local.append((paths.location[k] - paths.object_p[o]) @ paths.object_R[o])
            if paths.body[k] != paths.object_body[o]:
                self.moving.append((row, k, self.pair_of(paths.body[k], paths.object_body[o]), o))
        return self._ends[k, o]


def _may_meet(paths: Paths, k: int, place: int, w: int, o: int) -> bool:
    """Whether PathWrap w on the cylinder o can, at some pose, act on the segment at point k, the path's place-th."""
    start, end = paths.wraps.range_start[w], paths.wraps.range_end[w]
    if not paths.objects.active[o] or place < start - 1 or (end >= 1 and place + 1 > end - 1):
        return False
    carried = paths.body[k] == paths.body[k + 1] == paths.object_body[o]
    return not (carried and _passes(paths, o, paths.location[k : k + 2]))


def _passes(paths: Paths, o: int, ends: NDArray[np.float64]) -> bool:
    """Whether a segment with these ends (2, 3) in the body of a cylinder that may be wrapped on any side misses it."""
    if paths.objects.axis[o] >= 0:
        return False
    a, b = ((ends - paths.object_p[o]) @ paths.object_R[o])[:, :2]
    across = b - a
    s = np.clip(-(a @ across) / max(across @ across, np.finfo(float).tiny), 0.0, 1.0)
    return bool(np.linalg.norm(a + s * across) > paths.objects.params[o, 0] * (1.0 + NEAR))
