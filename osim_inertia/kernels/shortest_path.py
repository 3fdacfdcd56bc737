"""One muscle path as the true shortest path over its wrap objects, tangent at every contact.

    poses --> path points in ground --> [which wraps act, contact points, length] --> wrapped_interval, muscle inertia
                                                   ^ here
Which segment a wrap takes, when it acts and which way round it goes follow OpenSim's rules (passes over the wraps, each
tried on the present path without it). Once OpenSim would be content, wraps that share one interval between path
points are joined by Newton's method (shortest_join), and the passes repeat until one changes nothing: no contact
moves by more than 1e-12 m. Surfaces that overlap, or sides that contradict each other, may never come to rest; then
the last choice is kept.

Inputs have the layout of opensim_path: a path owns the rows first ... first + count - 1 of PathWraps. The result is a
ShortestPath.
"""

from math import inf

import numpy as np

from osim_inertia.kernels.geodesic_common import (
    G_ARC,
    G_LENGTH,
    G_Q1,
    G_Q2,
    GEO,
    INSIDE,
    MANDATORY,
    NO_WRAP,
    WRAPPED,
    get3,
    put3,
)
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.shortest_join import follow_all, join_wraps
from osim_inertia.kernels.shortest_record import (
    CHAIN,
    CHAIN_BEFORE,
    CODE,
    OBJECT,
    ORDER,
    SECOND,
    W_BEFORE,
    W_CONTACT,
    W_END,
    W_P,
    W_R,
    WHERE,
    interval_end,
    turned,
    turned_back,
)
from osim_inertia.kernels.shortest_segment import wrap_segment
from osim_inertia.kernels.vec3 import add, distance, load, scaled, sub

OPENSIM_PASSES = 8  # after so many passes, or when the length changes by less than this many metres, OpenSim is content
OPENSIM_SETTLED = 5e-4
MAX_PASSES = 30
SETTLED = 1e-12  # m; passes end when no contact moves farther
START = np.int64(0)


@lean
def shortest_path(nodes, node_index, n_active, objects, R_GW, p_GW, wraps, first, count, path):
    """(length, size of the chain, passes) of one path; passes is MAX_PASSES + 1 if the wraps never came to rest.

    nodes (>= n_active, 3) active path points in ground | node_index (>= n_active,) their 0-based places in the full
    PathPointSet | objects WrapObjects | R_GW (n, 3, 3), p_GW (n, 3) poses of the objects in ground | wraps PathWraps |
    path ShortestPath, overwritten.
    """
    size, passes = START, 0
    for k in range(count):
        path.ints[ORDER, k] = k
        _place_object(R_GW, p_GW, wraps.wrap_object[first + k], k, path)
    length, moved, joining = inf, inf, False
    while passes < MAX_PASSES and moved > SETTLED:
        old_size, old_length = size, length
        _remember(size, count, path)
        for i in range(count):
            k = path.ints[ORDER, i]
            o = path.ints[OBJECT, k]
            size = _remove(k, size, path)
            path.ints[CODE, i] = NO_WRAP
            if objects.active[o]:
                lo, hi = _range(wraps.range_start[first + k], wraps.range_end[first + k], node_index, n_active)
                kind, params, axis, sign = objects.kind[o], objects.params[o], objects.axis[o], objects.sign[o]
                place = _best_segment(nodes, lo, hi, size, kind, params, axis, sign, k, i, path)
                if place >= 0:
                    size = _insert(k, place, size, path)
        if passes == 0 and count > 1 and path.ints[CODE, 0] == NO_WRAP and path.ints[CODE, 1] == INSIDE:
            path.ints[ORDER, 0], path.ints[ORDER, 1] = 1, 0
            size = _remove(START, size, path)
        passes += 1
        if count == 1:
            break
        moved = _movement(old_size, size, path)
        length = _contact_length(nodes, n_active, size, path)
        joining = joining or passes == OPENSIM_PASSES or abs(length - old_length) < OPENSIM_SETTLED
        if joining:
            _join_intervals(nodes, size, path)
    if count == 1:
        _set_ends(START, size, nodes, size, path)
    elif moved > SETTLED:
        passes = MAX_PASSES + 1
        size = _make_consistent(nodes, size, path)
    return path_length(nodes, n_active, size, path), size, passes


@lean
def _place_object(R_GW, p_GW, o, k, path):
    """Copy the pose of the object of wrap k to its row."""
    row = path.rows[k]
    path.ints[OBJECT, k] = o
    for r in range(3):
        row[W_P + r] = p_GW[o, r]
        for c in range(3):
            row[W_R + 3 * r + c] = R_GW[o, r, c]


@lean
def _remember(size, count, path):
    """Keep the chain and all contacts, to see what the next pass moves."""
    for i in range(size):
        path.ints[CHAIN_BEFORE, i] = path.ints[CHAIN, i]
    for k in range(count):
        _copy_contacts(W_CONTACT, W_BEFORE, path.rows[k])


@lean
def path_length(nodes, n_active, size, path):
    """Straight intervals plus wrapped pieces."""
    total = 0.0
    i = 0
    for here in range(n_active - 1):
        if i < size and path.ints[WHERE, path.ints[CHAIN, i]] == here:
            while i < size and path.ints[WHERE, path.ints[CHAIN, i]] == here:
                total += path.rows[path.ints[CHAIN, i], G_LENGTH]
                i += 1
        else:
            total += distance(load(nodes[here]), load(nodes[here + 1]))
    return total


@lean
def wrapped_share(size, length, path):
    """Fraction of the path that lies on surfaces."""
    total = 0.0
    for i in range(size):
        total += path.rows[path.ints[CHAIN, i], G_ARC]
    return total / length


@lean
def _contact_length(nodes, n_active, size, path):
    """Length of the path through the present contacts, tangent or not."""
    total = 0.0
    i = 0
    for node in range(n_active - 1):
        here = load(nodes[node])
        while i < size and path.ints[WHERE, path.ints[CHAIN, i]] == node:
            row = path.rows[path.ints[CHAIN, i]]
            total += distance(here, get3(row, W_CONTACT)) + row[G_ARC]
            here = get3(row, W_CONTACT + SECOND)
            i += 1
        total += distance(here, load(nodes[node + 1]))
    return total


@lean
def _make_consistent(nodes, size, path):
    """For wraps that never came to rest: tangent paths over the last choice, without wraps that do not press; new
    size.
    """
    again = True
    while again:
        again = False
        _set_ends(START, size, nodes, size, path)
        follow_all(START, size, path)
        _join_intervals(nodes, size, path)
        for i in range(size):
            if path.rows[path.ints[CHAIN, i], G_ARC] < 0.0:
                size = _remove(path.ints[CHAIN, i], size, path)
                again = True
                break
    return size


@lean
def _join_intervals(nodes, size, path):
    """Set the ends of all pieces and join the wraps of every interval that has several."""
    _set_ends(START, size, nodes, size, path)
    i = START
    while i < size:
        j = interval_end(i, size, path)
        if j > i + 1:
            for c in range(i, j):
                _copy_contacts(W_CONTACT, W_BEFORE, path.rows[path.ints[CHAIN, c]])
            if not join_wraps(i, j, path):  # leave it to the passes
                for c in range(i, j):
                    _copy_contacts(W_BEFORE, W_CONTACT, path.rows[path.ints[CHAIN, c]])
                _set_ends(i, j, nodes, size, path)
                follow_all(i, j, path)
        i = j


@lean
def _copy_contacts(source, target, row):
    """Copy the two contacts within a row."""
    for x in range(6):
        row[target + x] = row[source + x]


@lean
def _movement(old_size, size, path):
    """Largest move of a contact in this pass; infinite when the chain changed."""
    if old_size != size:
        return inf
    far = 0.0
    for i in range(size):
        k = path.ints[CHAIN, i]
        if k != path.ints[CHAIN_BEFORE, i]:
            return inf
        row = path.rows[k]
        far = max(far, distance(get3(row, W_CONTACT), get3(row, W_BEFORE)))
        far = max(far, distance(get3(row, W_CONTACT + SECOND), get3(row, W_BEFORE + SECOND)))
    return far


@lean
def _set_ends(start, stop, nodes, size, path):
    """Ends of the pieces chain[start:stop] from the present contacts: path points, or the middle of the gap to the
    neighbour.
    """
    for i in range(start, stop):
        k = path.ints[CHAIN, i]
        here = path.ints[WHERE, k]
        row = path.rows[k]
        put3(row, W_END, load(nodes[here]))
        put3(row, W_END + SECOND, load(nodes[here + 1]))
        if i > 0 and path.ints[WHERE, path.ints[CHAIN, i - 1]] == here:
            other = get3(path.rows[path.ints[CHAIN, i - 1]], W_CONTACT + SECOND)
            put3(row, W_END, scaled(0.5, add(other, get3(row, W_CONTACT))))
        if i + 1 < size and path.ints[WHERE, path.ints[CHAIN, i + 1]] == here:
            other = get3(path.rows[path.ints[CHAIN, i + 1]], W_CONTACT)
            put3(row, W_END + SECOND, scaled(0.5, add(other, get3(row, W_CONTACT + SECOND))))


@lean
def _remove(k, size, path):
    """Take wrap k out of the chain; new size."""
    for i in range(size):
        if path.ints[CHAIN, i] == k:
            for j in range(i, size - 1):
                path.ints[CHAIN, j] = path.ints[CHAIN, j + 1]
            return size - 1
    return size


@lean
def _insert(k, place, size, path):
    """Put wrap k at `place` in the chain; new size."""
    for j in range(size, place, -1):
        path.ints[CHAIN, j] = path.ints[CHAIN, j - 1]
    path.ints[CHAIN, place] = k
    return size + 1


@lean
def _range(range_start, range_end, node_index, n_active):
    """First and last node (rows of `nodes`) between which a PathWrap may act."""
    lo, hi = 0, n_active - 1
    if range_start >= 1:
        while lo < n_active and node_index[lo] < range_start - 1:
            lo += 1
    if range_end >= 1:
        while hi >= 0 and node_index[hi] > range_end - 1:
            hi -= 1
    return lo, hi


@lean
def _best_segment(nodes, lo, hi, size, kind, params, axis, sign, k, turn, path):
    """Place in the chain that wrap k takes, -1 for none; its record, contacts and interval go to `path`.

    A segment that cuts the object is taken at once, otherwise the one that lengthens the path least.
    """
    ints, row = path.ints, path.rows[k]
    best, place = inf, -1
    scratch = path.rows[path.rows.shape[0] - 1]
    origin = get3(row, W_P)
    i = 0
    while i < size and ints[WHERE, ints[CHAIN, i]] < lo:
        i += 1
    for node in range(lo, hi):
        start, start_object = load(nodes[node]), -1
        more = True
        while more:
            more = i < size and ints[WHERE, ints[CHAIN, i]] == node
            stop, stop_object = load(nodes[node + 1]), -2
            if more:
                stop, stop_object = get3(path.rows[ints[CHAIN, i]], W_CONTACT), ints[OBJECT, ints[CHAIN, i]]
            if start_object != stop_object:
                p, s = turned_back(row, sub(start, origin)), turned_back(row, sub(stop, origin))
                code = wrap_segment(kind, params, axis, sign, p, s, scratch, path.arc)
                ints[CODE, turn] = code
                extra = scratch[G_LENGTH] - distance(p, s)
                if code == MANDATORY or (code == WRAPPED and extra < best):
                    best, place = extra, i
                    ints[WHERE, k] = node
                    _accept(scratch, row)
                if code == MANDATORY:
                    return place
            if more:
                start, start_object = get3(path.rows[ints[CHAIN, i]], W_CONTACT + SECOND), stop_object
                i += 1
    return place


@lean
def _accept(scratch, row):
    """Give a wrap the geodesic in the scratch row."""
    for c in range(GEO):
        row[c] = scratch[c]
    origin = get3(row, W_P)
    put3(row, W_CONTACT, add(origin, turned(row, get3(row, G_Q1))))
    put3(row, W_CONTACT + SECOND, add(origin, turned(row, get3(row, G_Q2))))
