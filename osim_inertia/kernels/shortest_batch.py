"""Shortest paths of all muscles over many frames: lengths, and their slopes by the coordinates.

    poses --> path points in ground --> shortest_path --> [lengths, slopes of all paths, frame by frame]
                                                                        ^ here
The slope of a shortest path is exact and needs no derivative of its contacts: at the shortest length they do not count.
A unit tension pulls each path point along the two directions that leave it, and each wrap object along the first
direction of its piece at the first contact, against the last direction at the second.
"""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.geodesic_common import A_X, G_ARC, G_E1, G_E2, get3
from osim_inertia.kernels.geodesic_points import arc_state
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import move, new_motion
from osim_inertia.kernels.path_pose import pose_carriers
from osim_inertia.kernels.paths import (
    MOVING,
    Nodes,
    Paths,
    length_by_function,
    new_nodes,
    place_paths,
    push_node,
    straight_length,
    take_path,
)
from osim_inertia.kernels.rotation import put, row
from osim_inertia.kernels.shortest_path import shortest_path
from osim_inertia.kernels.shortest_record import (
    CHAIN,
    OBJECT,
    SECOND,
    W_CONTACT,
    W_P,
    WHERE,
    ShortestPath,
    interval_end,
    new_shortest_path,
    turned,
)
from osim_inertia.kernels.vec3 import add, dot3, norm, scaled, sub

NOTHING = (0.0, 0.0, 0.0)


def new_shortest_room(P: Paths) -> tuple[Nodes, ShortestPath]:
    """Working memory for shortest paths, one per thread."""
    return new_nodes(P), new_shortest_path(int(np.diff(P.wrap_first).max(initial=0)))


@lean
def shortest_length(P, i, N, n, path):
    """(length, size of the chain) of path i through its n active points."""
    first = P.wrap_first[i]
    count = P.wrap_first[i + 1] - first
    if count == 0:
        return straight_length(N.x, n), np.int64(0)
    length, size, _ = shortest_path(N.x, N.index, n, P.objects, N.R, N.p, P.wraps, first, count, path)
    return length, size


@kernel
def shortest_lengths(A, P, q, start, stop, N, path, length):
    """length (F, np) of shortest paths."""
    X = new_motion(A)
    unused = np.empty(q.shape[1])
    for f in range(start, stop):
        pose_carriers(A, P, q[f], X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            if P.length_function[i] >= 0:
                length[f, i] = length_by_function(P, i, q[f], X, unused)
            else:
                length[f, i], _ = shortest_length(P, i, N, take_path(P, i, N), path)


@kernel
def shortest_slopes(A, P, q, start, stop, N, path, slope):
    """slope (F, np, n) = dL/du of shortest paths."""
    X, rest = new_motion(A), np.zeros(q.shape[1])
    for f in range(start, stop):
        move(A, q[f], rest, X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            if P.length_function[i] >= 0:
                length_by_function(P, i, q[f], X, slope[f, i])
                continue
            n = take_path(P, i, N)
            _, size = shortest_length(P, i, N, n, path)
            _contact_slopes(A, P, X, i, N, n, size, path, slope[f, i])


@lean
def _contact_slopes(A, P, X, i, N, n, size, path, out):
    """dL/du (n_coordinates,) of one path from the directions at its points and contacts."""
    out[:] = 0.0
    before, c = NOTHING, np.int64(0)
    for k in range(n):
        x, after, next_before = row(N.x, k), NOTHING, NOTHING
        if c < size and path.ints[WHERE, path.ints[CHAIN, c]] == k:
            end = interval_end(c, size, path)
            last = path.rows[path.ints[CHAIN, end - 1]]
            after = turned(path.rows[path.ints[CHAIN, c]], get3(path.rows[path.ints[CHAIN, c]], G_E1))
            next_before = turned(last, get3(last, G_E2))
            while c < end:
                _pull_object(A, P, X, path.ints[CHAIN, c], path, out)
                c += 1
        elif k + 1 < n:
            d = sub(row(N.x, k + 1), x)
            length = norm(d)
            if length > 0.0:
                after = scaled(1.0 / length, d)
            next_before = after
        pull = sub(before, after)
        push_node(A, X, N.body[k], x, pull, out)
        at = P.first[i] + N.index[k]
        if P.kind[at] == MOVING:
            out[P.coordinate[at]] += dot3(row(N.slides, at), pull)
        before = next_before


@lean
def _pull_object(A, P, X, k, path, out):
    """Add what the pull of both contacts of wrap k does to the coordinates that move its object."""
    record = path.rows[k]
    body = P.object_body[path.ints[OBJECT, k]]
    push_node(A, X, body, get3(record, W_CONTACT), turned(record, get3(record, G_E1)), out)
    push_node(A, X, body, get3(record, W_CONTACT + SECOND), scaled(-1.0, turned(record, get3(record, G_E2))), out)


@lean
def piece_arc_points(k, path, out):
    """Fill out (m, 3) with points in ground along the arc of wrap k, from contact to contact."""
    record = path.rows[k]
    for j in range(out.shape[0]):
        arc_state(record, record[G_ARC] * j / (out.shape[0] - 1), path.arc)
        put(out, j, add(get3(record, W_P), turned(record, get3(path.arc, A_X))))
