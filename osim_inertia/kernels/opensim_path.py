"""One muscle path as OpenSim 4.6 builds it: active points, wrapped over several objects in passes.

    poses --> path points in ground --> [path with tangent points, its length] --> moment arms, tables
                                                   ^ here
OpenSim lets each wrap object in turn replace one segment of the path and repeats this up to eight times. It remembers
the ground position of a tangent point from the first time somebody asks for it and does not forget it when a later pass
moves the point. Lengths and directions use this *cached* position, wrapping and force application the *latest* one;
both are returned. With one PathWrap they agree.

Many paths share one set of flat arrays: `WrapObjects` has a row per object of the model, `PathWraps` a row per PathWrap
of all paths, and a path owns the rows first ... first + count - 1. Entries of a path are coded in one integer: a node
is its row in `nodes` (>= 0), a tangent point of the path's k-th PathWrap is -1 - 2k (first) or -2 - 2k (second).

Where OpenSim itself depends on rounding, so does this, and the last digit of a pose may decide: two PathWraps on one
object (the second meets tangents of the first), refinements that run away to many metres, an ellipsoid constrained
along the axis of its `axial` plane.
"""

from math import inf, isnan, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels.jit import inlined, lean
from osim_inertia.kernels.rotation import matrix, row, times, times_t
from osim_inertia.kernels.vec3 import add, component, distance, from_frame, load, store, sub, to_frame
from osim_inertia.kernels.wrap_cylinder import (
    INSIDE,
    MANDATORY,
    NO_WRAP,
    WRAPPED,
    cylinder_arc_points,
    cylinder_wrap_between,
)
from osim_inertia.kernels.wrap_ellipsoid import ellipsoid_arc_points, ellipsoid_wrap
from osim_inertia.kernels.wrap_sphere import sphere_arc_points, sphere_wrap
from osim_inertia.kernels.wrap_torus import torus_arc_points, torus_wrap

CYLINDER = 0
SPHERE = 1
ELLIPSOID = 2
TORUS = 3

MAX_PASSES = 8
SETTLED = 5e-4  # m; passes end when the length changes by less
MEMOS = 2  # segments per wrap whose last answer is kept: later passes often ask the same again
MEMO = 19


class WrapObjects(NamedTuple):
    """Wrap objects of a model, constant. n objects."""

    kind: NDArray[np.int64]  # (n,) CYLINDER, SPHERE, ELLIPSOID or TORUS
    params: NDArray[np.float64]  # (n, 3) m: radius, length | radius | three radii | tube radius, ring radius
    axis: NDArray[np.int64]  # (n,) -1: any side; 0, 1, 2: constrained to one half along this axis
    sign: NDArray[np.int64]  # (n,) +1 or -1: which half
    active: NDArray[np.bool_]  # (n,)


class PathWraps(NamedTuple):
    """PathWraps of all paths, constant; in file order within a path. n of them."""

    wrap_object: NDArray[np.int64]  # (n,) row in WrapObjects
    method: NDArray[np.int64]  # (n,) ellipsoids: 0 hybrid, 1 midpoint, 2 axial
    range_start: NDArray[np.int64]  # (n,) 1-based index in the PathPointSet, below 1: from the first point
    range_end: NDArray[np.int64]  # (n,) likewise, below 1: to the last point


class PathResult(NamedTuple):
    """Path of one muscle at one pose, filled by `opensim_path_length`; also its working memory. Ground frame."""

    entry: NDArray[np.int64]  # (max nodes + 2 max wraps,) the path in order, coded as the module says
    latest: NDArray[np.float64]  # (max wraps, 2, 3) m: tangent points, where forces act
    cached: NDArray[np.float64]  # (max wraps, 2, 3) m: tangent points, for lengths and directions
    is_cached: NDArray[np.bool_]  # (max wraps, 2)
    arc: NDArray[np.float64]  # (max wraps,) m
    shape: NDArray[np.float64]  # (max wraps, 5) plane of an ellipsoid's arc, ring point of a torus: for drawing
    order: NDArray[np.int64]  # (max wraps,) order of the wraps in the present pass
    code: NDArray[np.int64]  # (max wraps,) answer of the last segment tested, in that order
    scratch: NDArray[np.float64]  # (4, 3) ends and tangent points in the wrap frame
    memo: NDArray[np.float64]  # (max wraps, MEMOS, MEMO) answers at this pose: ends, tangents, code, arc, shape
    scratch_shape: NDArray[np.float64]  # (5,)


def new_path_result(max_nodes: int, max_wraps: int) -> PathResult:
    """Memory for paths of at most so many active points and PathWraps."""
    return PathResult(
        entry=np.zeros(max_nodes + 2 * max_wraps, np.int64),
        latest=np.zeros((max_wraps, 2, 3)),
        cached=np.zeros((max_wraps, 2, 3)),
        is_cached=np.zeros((max_wraps, 2), np.bool_),
        arc=np.zeros(max_wraps),
        shape=np.zeros((max_wraps, 5)),
        order=np.zeros(max_wraps, np.int64),
        code=np.zeros(max_wraps, np.int64),
        scratch=np.zeros((4, 3)),
        memo=np.zeros((max_wraps, MEMOS, MEMO)),
        scratch_shape=np.zeros(5),
    )


@lean
def opensim_path_length(nodes, node_index, n_active, objects, R_GW, p_GW, wraps, first, count, path):
    """(length, number of entries) of one path; everything else is in `path`.

    nodes (>= n_active, 3) active path points in ground | node_index (>= n_active,) their 0-based places in the full
    PathPointSet, increasing | objects WrapObjects | R_GW (n, 3, 3), p_GW (n, 3) poses of the objects in ground | wraps
    PathWraps, of which this path has rows first ... first + count - 1 | path PathResult, overwritten.
    """
    size = n_active
    for i in range(n_active):
        path.entry[i] = i
    for k in range(count):
        path.order[k] = k
        path.is_cached[k, 0] = path.is_cached[k, 1] = False
        for m in range(MEMOS):
            path.memo[k, m, 0] = nan  # the answers at another pose
    last_length = inf
    length = _length(nodes, size, wraps, first, path) if count == 0 else 0.0
    for sweep in range(MAX_PASSES if count > 1 else count):
        for i in range(count):
            w = path.order[i]
            size = _remove(path.entry, w, size)
            path.code[i] = NO_WRAP
            if objects.active[wraps.wrap_object[first + w]]:
                lo, hi = _range(wraps, first + w, node_index, n_active)
                if lo > hi:  # no active point in the range: OpenSim drops all remaining wrapping
                    return _length(nodes, size, wraps, first, path), size
                place = _best_segment(nodes, lo, hi, size, objects, R_GW, p_GW, wraps, first, w, i, count > 1, path)
                if place >= 0:
                    size = _insert(path.entry, w, place, size)
        length = _length(nodes, size, wraps, first, path)
        if abs(length - last_length) < SETTLED:
            break
        last_length = length
        if sweep == 0 and count > 1 and path.code[0] == NO_WRAP and path.code[1] == INSIDE:
            w = path.order[0]  # the first PathWrap: pass 1 runs in file order
            path.order[0], path.order[1] = path.order[1], w
            size = _remove(path.entry, w, size)
    return length, size


@lean
def path_positions(nodes, size, path, latest, cached):
    """Write the path's points in order, ground frame: latest and cached positions, both (>= size, 3)."""
    for i in range(size):
        store(latest[i], _latest(path.entry[i], nodes, path.latest))
        store(cached[i], _cached(path.entry[i], nodes, path.latest, path.cached, path.is_cached))


@lean
def path_arc_points(w, objects, R_GW, p_GW, wraps, first, path, out):
    """Fill out (n, 3) with points in ground along the arc of the path's w-th PathWrap, which must be in the path."""
    o = wraps.wrap_object[first + w]
    r1, r2 = path.scratch[2], path.scratch[3]
    store(r1, to_frame(R_GW[o], p_GW[o], load(path.latest[w, 0])))
    store(r2, to_frame(R_GW[o], p_GW[o], load(path.latest[w, 1])))
    params, arc, kind = objects.params[o], path.arc[w], objects.kind[o]
    if kind == CYLINDER:
        cylinder_arc_points(r1, r2, params[0], arc, out)
    elif kind == SPHERE:
        sphere_arc_points(r1, r2, params[0], arc, out)
    elif kind == ELLIPSOID:
        ellipsoid_arc_points(r1, r2, params, path.shape[w], out)
    else:
        torus_arc_points(r1, r2, params[0], arc, path.shape[w], out)
    for i in range(out.shape[0]):
        store(out[i], from_frame(R_GW[o], p_GW[o], load(out[i])))


@inlined
def _wrap_of(entry):
    """PathWrap an entry belongs to, -1 for a node."""
    return (-1 - entry) // 2 if entry < 0 else -1


@inlined
def _latest(entry, nodes, latest):
    """Present position of an entry."""
    if entry >= 0:
        return row(nodes, entry)
    w = _wrap_of(entry)
    side = -1 - entry - 2 * w
    return latest[w, side, 0], latest[w, side, 1], latest[w, side, 2]


@inlined
def _cached(entry, nodes, latest, cached, is_cached):
    """Position of an entry for lengths; the first question about a tangent point fixes the answer."""
    if entry >= 0:
        return row(nodes, entry)
    w = _wrap_of(entry)
    side = -1 - entry - 2 * w
    if not is_cached[w, side]:
        is_cached[w, side] = True
        for c in range(3):
            cached[w, side, c] = latest[w, side, c]
    return cached[w, side, 0], cached[w, side, 1], cached[w, side, 2]


@inlined
def _same_object(e1, e2, wrap_object, first):
    """Whether two entries are tangent points on one wrap object (perhaps of two PathWraps)."""
    if e1 >= 0 or e2 >= 0:
        return False
    return wrap_object[first + _wrap_of(e1)] == wrap_object[first + _wrap_of(e2)]


@inlined
def _length(nodes, size, wraps, first, path):
    """Straight parts between cached positions plus arcs."""
    total = 0.0
    before = _cached(path.entry[0], nodes, path.latest, path.cached, path.is_cached)
    for i in range(1, size):
        entry = path.entry[i]
        here = _cached(entry, nodes, path.latest, path.cached, path.is_cached)
        if _same_object(path.entry[i - 1], entry, wraps.wrap_object, first):
            if (-1 - entry) % 2 == 1:  # a first tangent point carries no arc
                total += path.arc[_wrap_of(entry)]
        else:
            total += distance(before, here)
        before = here
    return total


@inlined
def _remove(entry, w, size):
    """Take the two tangent points of PathWrap w out of the path; new size."""
    for i in range(size):
        if entry[i] == -1 - 2 * w:
            for j in range(i, size - 2):
                entry[j] = entry[j + 2]
            return size - 2
    return size


@inlined
def _insert(entry, w, place, size):
    """Put the two tangent points of PathWrap w after the entry at `place`; new size."""
    for j in range(size - 1, place, -1):
        entry[j + 2] = entry[j]
    entry[place + 1] = -1 - 2 * w
    entry[place + 2] = -2 - 2 * w
    return size + 2


@inlined
def _range(wraps, row, node_index, n_active):
    """First and last node (rows of `nodes`) between which a PathWrap may act; first > last if there is none."""
    lo = 0
    if wraps.range_start[row] >= 1:
        while lo < n_active and node_index[lo] < wraps.range_start[row] - 1:
            lo += 1
    hi = n_active - 1
    if wraps.range_end[row] >= 1:
        while hi >= 0 and node_index[hi] > wraps.range_end[row] - 1:
            hi -= 1
    return lo, hi


@inlined
def _best_segment(nodes, lo, hi, size, objects, R_GW, p_GW, wraps, first, w, turn, several, path):
    """Place of the segment that PathWrap w takes, -1 for none; its tangent points and arc go to `path`.

    A segment that cuts the object is taken at once, otherwise the one that lengthens the path least.
    """
    o = wraps.wrap_object[first + w]
    R, p = matrix(R_GW, o), row(p_GW, o)
    best, place = inf, -1
    inside = False
    tried = 0
    for i in range(size - 1):
        e1, e2 = path.entry[i], path.entry[i + 1]
        inside = (inside or e1 == lo) and e1 != hi
        if not inside or _same_object(e1, e2, wraps.wrap_object, first):
            continue
        p1 = times_t(R, sub(_latest(e1, nodes, path.latest), p))
        p2 = times_t(R, sub(_latest(e2, nodes, path.latest), p))
        slot = min(tried, MEMOS - 1)
        tried += 1
        if several and _remembered(path.memo, w, slot, p1, p2):
            code, arc, r1, r2 = _recall(path.memo, w, slot, path.scratch_shape)
        else:
            code, arc, r1, r2 = _wrap_segment(objects, o, wraps.method[first + w], several, p1, p2, path)
            if several:
                _memorize(path.memo, w, slot, p1, p2, code, arc, r1, r2, path.scratch_shape)
        path.code[turn] = code
        if code != WRAPPED and code != MANDATORY:
            continue
        q1, q2 = add(p, times(R, r1)), add(p, times(R, r2))
        if code == MANDATORY:
            # tangent points that did not converge (NaN) end the search without a wrap
            place = -1 if isnan(q1[0]) or isnan(q2[0]) else i
        else:
            g1, g2 = (
                _cached(e1, nodes, path.latest, path.cached, path.is_cached),
                _cached(e2, nodes, path.latest, path.cached, path.is_cached),
            )
            change = distance(g1, q1) + arc + distance(g2, q2) - distance(g1, g2)
            if not change < best:
                continue
            best, place = change, i
        for c in range(3):
            path.latest[w, 0, c], path.latest[w, 1, c] = component(q1, c), component(q2, c)
        path.arc[w] = arc
        for j in range(5):
            path.shape[w, j] = path.scratch_shape[j]
        if code == MANDATORY:
            break
    return place


@inlined
def _remembered(memo, w, slot, p1, p2):
    """Whether memo[w, slot] holds the answer for these ends."""
    return (
        memo[w, slot, 0] == p1[0] and memo[w, slot, 1] == p1[1] and memo[w, slot, 2] == p1[2]
        and memo[w, slot, 3] == p2[0] and memo[w, slot, 4] == p2[1] and memo[w, slot, 5] == p2[2]
    )  # fmt: skip


@inlined
def _memorize(memo, w, slot, p1, p2, code, arc, r1, r2, shape):
    """Keep ends, tangent points, code, arc and shape."""
    for c in range(3):
        memo[w, slot, c], memo[w, slot, 3 + c] = component(p1, c), component(p2, c)
        memo[w, slot, 6 + c], memo[w, slot, 9 + c] = component(r1, c), component(r2, c)
    memo[w, slot, 12], memo[w, slot, 13] = code, arc
    for j in range(5):
        memo[w, slot, 14 + j] = shape[j]


@inlined
def _recall(memo, w, slot, shape):
    """(code, arc, first and second tangent point) from the memo; the shape goes to its place."""
    for j in range(5):
        shape[j] = memo[w, slot, 14 + j]
    r1 = (memo[w, slot, 6], memo[w, slot, 7], memo[w, slot, 8])
    return int(memo[w, slot, 12]), memo[w, slot, 13], r1, (memo[w, slot, 9], memo[w, slot, 10], memo[w, slot, 11])


@inlined
def _wrap_segment(objects, o, method, several, p1, p2, path):
    """(code, arc, first and second tangent point) of one segment over one object, all in the wrap frame."""
    kind, axis, sign = objects.kind[o], objects.axis[o], objects.sign[o]
    if kind == CYLINDER:
        return cylinder_wrap_between(p1, p2, objects.params[o, 0], objects.params[o, 1], axis, sign, several)
    params, shape = objects.params[o], path.scratch_shape
    a, b, r1, r2 = path.scratch[0], path.scratch[1], path.scratch[2], path.scratch[3]
    store(a, p1)
    store(b, p2)
    if kind == SPHERE:
        code, arc = sphere_wrap(a, b, params[0], axis, sign, r1, r2)
    elif kind == ELLIPSOID:
        code, arc = ellipsoid_wrap(a, b, params, axis, sign, method, r1, r2, shape)
    else:
        code, arc = torus_wrap(a, b, params[0], params[1], axis, sign, several, r1, r2, shape)
    return code, arc, load(r1), load(r2)
