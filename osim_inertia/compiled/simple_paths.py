"""What never changes about a path, found once: kernels.opensim_lengths then does only the rest at each pose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels.opensim_path import CYLINDER
from osim_inertia.kernels.paths import FIXED, Paths, SimplePaths

NEAR = 1e-9  # share of a radius within which rounding may decide whether a segment meets a cylinder
_NONE = np.empty(0, dtype=np.uint32)
NO_SIMPLE_PATHS = SimplePaths(np.empty(0), _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, np.empty(0, dtype=np.int64))


def simple_paths(paths: Paths) -> SimplePaths:
    """Paths of fixed points without a wrap or with one on a cylinder, taken apart into segments."""
    rest = np.zeros(len(paths.moves))
    open_segments: list[tuple[int, int]] = []
    near: list[tuple[int, int, int]] = []
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
                open_segments.append((k, i))
            near += [(k, i, o) for o in objects if _may_meet(paths, k, k - first, w, o)]
    open_rows = np.array(open_segments, dtype=np.uint32).reshape(-1, 2)
    near_rows = np.array(near, dtype=np.uint32).reshape(-1, 3)
    open_segment, open_path = np.ascontiguousarray(open_rows.T)
    near_segment, near_path, near_object = np.ascontiguousarray(near_rows.T)
    return SimplePaths(
        rest=rest,
        open_segment=open_segment,
        open_path=open_path,
        near_segment=near_segment,
        near_path=near_path,
        near_object=near_object,
        cylinder=np.unique(near_object),
        other=np.array(other, dtype=np.int64),
    )


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
