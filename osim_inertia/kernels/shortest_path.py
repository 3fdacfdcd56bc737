"""One muscle path as the true shortest path over its wrap objects, tangent at every contact.

    poses --> path points in ground --> [which wraps act, contact points, length] --> wrapped_interval, muscle inertia
                                                   ^ here
Which segment a wrap takes, when it acts and which way round it goes follow OpenSim's rules (passes over the wraps, each
tried on the present path without it). Once OpenSim would be content, wraps that share one interval between path points are
joined by Newton's method (shortest_join), and the passes repeat until one changes nothing: no contact moves by more than
1e-12 m. Surfaces that overlap, or sides that contradict each other, may never come to rest; then the last choice is kept.

Inputs have the layout of opensim_path: a path owns the rows first ... first + count - 1 of PathWraps, and "wrap k" below is its k-th.
A path's wrapped pieces, in order, are chain[0 : size]; the piece of wrap k runs from ends[k, 0] to ends[k, 1], which are
path points or, between two wraps on one interval, a *virtual node* in the middle of the straight piece between them.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels.geodesic_common import (
    ARC_RECORD,
    G_ARC,
    G_LENGTH,
    G_Q1,
    G_Q2,
    GEO,
    INSIDE,
    MANDATORY,
    MOT,
    NO_WRAP,
    WRAPPED,
    get3,
)
from osim_inertia.kernels.shortest_join import follow_all, join_wraps
from osim_inertia.kernels.shortest_segment import wrap_segment
from osim_inertia.kernels.vec3 import distance, from_frame, kernel, load, store, to_frame

OPENSIM_PASSES = 8  # after so many passes, or when the length changes by less than this many metres, OpenSim is content
OPENSIM_SETTLED = 5e-4
MAX_PASSES = 30
SETTLED = 1e-12  # m; passes end when no contact moves farther


class ShortestPath(NamedTuple):
    """Path of one muscle at one pose, filled by `shortest_path`; also its working memory. Ground frame, W = most wraps of a path."""

    chain: NDArray[np.int64]  # (W,) wraps in path order
    where: NDArray[np.int64]  # (W,) row in nodes of the path point before wrap k
    ends: NDArray[np.float64]  # (W, 2, 3) m: ends of the piece of wrap k, path points or virtual nodes
    contact: NDArray[np.float64]  # (W, 2, 3) m: where it meets and leaves the surface
    geo: NDArray[np.float64]  # (W + 1, GEO) geodesic records in the frames of the objects; the last row is scratch
    before: NDArray[np.float64]  # (W, 2, 3) contacts of the previous pass
    chain_before: NDArray[np.int64]  # (W,)
    order: NDArray[np.int64]  # (W,) order of the wraps in a pass
    code: NDArray[np.int64]  # (W,) answer of the last segment tested
    arc: NDArray[np.float64]  # (ARC_RECORD,)
    basis: NDArray[np.float64]  # (W, 2, 3) directions in which the virtual node after chain[i] may move
    matrix: NDArray[np.float64]  # (2 W, 2 W) Hessian of the length for these, factored in place
    side: NDArray[np.float64]  # (2 W,) right-hand side, then solution
    mot: NDArray[np.float64]  # (W, MOT) motion records, by wrapped_interval
    end_rate: NDArray[np.float64]  # (W, 2, 3) m/s: of the ends
    end_accel: NDArray[np.float64]  # (W, 2, 3) m/s^2
    end_force: NDArray[np.float64]  # (W, 2, 3) N: pulled back to the ends


def new_shortest_path(max_wraps: int) -> ShortestPath:
    """Memory for paths of at most so many PathWraps."""
    w = max(max_wraps, 1)
    return ShortestPath(
        chain=np.zeros(w, np.int64),
        where=np.zeros(w, np.int64),
        ends=np.zeros((w, 2, 3)),
        contact=np.zeros((w, 2, 3)),
        geo=np.zeros((w + 1, GEO)),
        before=np.zeros((w, 2, 3)),
        chain_before=np.zeros(w, np.int64),
        order=np.zeros(w, np.int64),
        code=np.zeros(w, np.int64),
        arc=np.zeros(ARC_RECORD),
        basis=np.zeros((w, 2, 3)),
        matrix=np.zeros((2 * w, 2 * w)),
        side=np.zeros(2 * w),
        mot=np.zeros((w, MOT)),
        end_rate=np.zeros((w, 2, 3)),
        end_accel=np.zeros((w, 2, 3)),
        end_force=np.zeros((w, 2, 3)),
    )


@kernel
def shortest_path(nodes, node_index, n_active, objects, R_GW, p_GW, wraps, first, count, path):
    """(length, size of the chain, passes) of one path; passes is MAX_PASSES + 1 if the wraps never came to rest.

    nodes (>= n_active, 3) active path points in ground | node_index (>= n_active,) their 0-based places in the full PathPointSet |
    objects WrapObjects | R_GW (n, 3, 3), p_GW (n, 3) poses of the objects in ground | wraps PathWraps | path ShortestPath, overwritten.
    """
    size, passes = 0, 0
    for k in range(count):
        path.order[k] = k
    length, moved = inf, inf
    joining = False
    while passes < MAX_PASSES and moved > SETTLED:
        old_size, old_length = size, length
        for i in range(size):
            path.chain_before[i] = path.chain[i]
        for k in range(count):
            _copy_contacts(path.contact, path.before, k)
        for i in range(count):
            k = path.order[i]
            size = _remove(k, size, path)
            path.code[i] = NO_WRAP
            if objects.active[wraps.wrap_object[first + k]]:
                lo, hi = _range(wraps, first + k, node_index, n_active)
                place = _best_segment(nodes, lo, hi, size, objects, R_GW, p_GW, wraps, first, k, i, path)
                if place >= 0:
                    size = _insert(k, place, size, path)
        if passes == 0 and count > 1 and path.code[0] == NO_WRAP and path.code[1] == INSIDE:
            path.order[0], path.order[1] = 1, 0
            size = _remove(0, size, path)
        passes += 1
        if count == 1:
            break
        moved = _movement(old_size, size, path)
        length = _contact_length(nodes, n_active, size, path)
        joining = joining or passes == OPENSIM_PASSES or abs(length - old_length) < OPENSIM_SETTLED
        if joining:
            _join_intervals(nodes, size, R_GW, p_GW, wraps, first, path)
    if count == 1:
        _set_ends(0, size, nodes, size, path)
    elif moved > SETTLED:
        passes = MAX_PASSES + 1
        size = _make_consistent(nodes, size, R_GW, p_GW, wraps, first, path)
    return path_length(nodes, n_active, size, path), size, passes


@kernel
def _make_consistent(nodes, size, R_GW, p_GW, wraps, first, path):
    """For wraps that never came to rest: tangent paths over the last choice, without wraps that do not press; new size."""
    again = True
    while again:
        again = False
        _set_ends(0, size, nodes, size, path)
        follow_all(0, size, R_GW, p_GW, wraps, first, path)
        _join_intervals(nodes, size, R_GW, p_GW, wraps, first, path)
        for i in range(size):
            if path.geo[path.chain[i], G_ARC] < 0.0:
                size = _remove(path.chain[i], size, path)
                again = True
                break
    return size


@kernel
def _contact_length(nodes, n_active, size, path):
    """Length of the path through the present contacts, tangent or not."""
    total = 0.0
    i = 0
    for row in range(n_active - 1):
        here = load(nodes[row])
        while i < size and path.where[path.chain[i]] == row:
            k = path.chain[i]
            total += distance(here, load(path.contact[k, 0])) + path.geo[k, G_ARC]
            here = load(path.contact[k, 1])
            i += 1
        total += distance(here, load(nodes[row + 1]))
    return total


@kernel
def path_length(nodes, n_active, size, path):
    """Straight intervals plus wrapped pieces."""
    total = 0.0
    i = 0
    for row in range(n_active - 1):
        if i < size and path.where[path.chain[i]] == row:
            while i < size and path.where[path.chain[i]] == row:
                total += path.geo[path.chain[i], G_LENGTH]
                i += 1
        else:
            total += distance(load(nodes[row]), load(nodes[row + 1]))
    return total


@kernel
def wrapped_share(size, length, path):
    """Fraction of the path that lies on surfaces."""
    total = 0.0
    for i in range(size):
        total += path.geo[path.chain[i], G_ARC]
    return total / length


@kernel
def interval_end(i, size, path):
    """One past the last place in the chain on the same interval as place i."""
    j = i + 1
    while j < size and path.where[path.chain[j]] == path.where[path.chain[i]]:
        j += 1
    return j


@kernel
def _join_intervals(nodes, size, R_GW, p_GW, wraps, first, path):
    """Set the ends of all pieces and join the wraps of every interval that has several."""
    _set_ends(0, size, nodes, size, path)
    i = 0
    while i < size:
        j = interval_end(i, size, path)
        if j > i + 1:
            for c in range(i, j):
                _copy_contacts(path.contact, path.before, path.chain[c])
            if not join_wraps(i, j, R_GW, p_GW, wraps, first, path):  # leave it to the passes
                for c in range(i, j):
                    _copy_contacts(path.before, path.contact, path.chain[c])
                _set_ends(i, j, nodes, size, path)
                follow_all(i, j, R_GW, p_GW, wraps, first, path)
        i = j


@kernel
def _copy_contacts(source, target, k):
    """Copy the contacts of wrap k."""
    for end in range(2):
        store(target[k, end], load(source[k, end]))


@kernel
def _movement(old_size, size, path):
    """Largest move of a contact in this pass; infinite when the chain changed."""
    if old_size != size:
        return inf
    far = 0.0
    for i in range(size):
        k = path.chain[i]
        if k != path.chain_before[i]:
            return inf
        for end in range(2):
            far = max(far, distance(load(path.contact[k, end]), load(path.before[k, end])))
    return far


@kernel
def _set_ends(start, stop, nodes, size, path):
    """Ends of the pieces chain[start:stop] from the present contacts: path points, or the middle of the gap to the neighbour."""
    for i in range(start, stop):
        k = path.chain[i]
        row = path.where[k]
        for c in range(3):
            path.ends[k, 0, c] = nodes[row, c]
            path.ends[k, 1, c] = nodes[row + 1, c]
            if i > 0 and path.where[path.chain[i - 1]] == row:
                path.ends[k, 0, c] = 0.5 * (path.contact[path.chain[i - 1], 1, c] + path.contact[k, 0, c])
            if i + 1 < size and path.where[path.chain[i + 1]] == row:
                path.ends[k, 1, c] = 0.5 * (path.contact[path.chain[i + 1], 0, c] + path.contact[k, 1, c])


@kernel
def _remove(k, size, path):
    """Take wrap k out of the chain; new size."""
    for i in range(size):
        if path.chain[i] == k:
            for j in range(i, size - 1):
                path.chain[j] = path.chain[j + 1]
            return size - 1
    return size


@kernel
def _insert(k, place, size, path):
    """Put wrap k at `place` in the chain; new size."""
    for j in range(size, place, -1):
        path.chain[j] = path.chain[j - 1]
    path.chain[place] = k
    return size + 1


@kernel
def _range(wraps, row, node_index, n_active):
    """First and last node (rows of `nodes`) between which a PathWrap may act."""
    lo, hi = 0, n_active - 1
    if wraps.range_start[row] >= 1:
        while lo < n_active and node_index[lo] < wraps.range_start[row] - 1:
            lo += 1
    if wraps.range_end[row] >= 1:
        while hi >= 0 and node_index[hi] > wraps.range_end[row] - 1:
            hi -= 1
    return lo, hi


@kernel
def _best_segment(nodes, lo, hi, size, objects, R_GW, p_GW, wraps, first, k, turn, path):
    """Place in the chain that wrap k takes, -1 for none; its record, contacts and interval go to `path`.

    A segment that cuts the object is taken at once, otherwise the one that lengthens the path least.
    """
    o = wraps.wrap_object[first + k]
    best, place = inf, -1
    scratch = path.geo[path.geo.shape[0] - 1]
    i = 0
    while i < size and path.where[path.chain[i]] < lo:
        i += 1
    for row in range(lo, hi):
        start, start_object = load(nodes[row]), -1
        more = True
        while more:
            more = i < size and path.where[path.chain[i]] == row
            stop, stop_object = load(nodes[row + 1]), -2
            if more:
                stop, stop_object = load(path.contact[path.chain[i], 0]), wraps.wrap_object[first + path.chain[i]]
            if start_object != stop_object:
                p, s = to_frame(R_GW[o], p_GW[o], start), to_frame(R_GW[o], p_GW[o], stop)
                code = wrap_segment(
                    objects.kind[o], objects.params[o], objects.axis[o], objects.sign[o], p, s, scratch, path.arc
                )
                path.code[turn] = code
                extra = scratch[G_LENGTH] - distance(p, s)
                if code == MANDATORY or (code == WRAPPED and extra < best):
                    best, place = extra, i
                    _accept(k, row, R_GW[o], p_GW[o], path)
                if code == MANDATORY:
                    return place
            if more:
                start, start_object = load(path.contact[path.chain[i], 1]), stop_object
                i += 1
    return place


@kernel
def _accept(k, row, R, origin, path):
    """Give wrap k the path in the scratch record."""
    last = path.geo.shape[0] - 1
    for c in range(GEO):
        path.geo[k, c] = path.geo[last, c]
    path.where[k] = row
    store(path.contact[k, 0], from_frame(R, origin, get3(path.geo[k], G_Q1)))
    store(path.contact[k, 1], from_frame(R, origin, get3(path.geo[k], G_Q2)))
