"""Lengths alone of all paths as OpenSim builds them, frame by frame: the fastest way to them.

    q --> [poses of the bodies that carry paths --> lengths of simple paths, then of the others]
                                            ^ here
The same numbers as `paths.opensim_length`. Paths of fixed points without a wrap or with one on a cylinder, the most
common kinds, are taken apart (SimplePaths): what lies in one body is measured once for all, points are brought
from body to body rather than to ground, segments that may meet a cylinder are sifted by a cheap test first, and none
of the bookkeeping of `opensim_path` is needed.
"""

from __future__ import annotations

from math import inf, isnan
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.jit import inlined, kernel, lean
from osim_inertia.kernels.kinematics import new_motion
from osim_inertia.kernels.opensim_path import opensim_path_length
from osim_inertia.kernels.path_pose import pose_carriers
from osim_inertia.kernels.paths import CONDITION_SLACK, CONDITIONAL, MOVING, length_by_function, moving_location
from osim_inertia.kernels.rotation import IDENTITY, matrix, product, put, put_matrix, row, times, times_t, transposed
from osim_inertia.kernels.vec3 import add, distance, sub
from osim_inertia.kernels.wrap_cylinder import MANDATORY, WRAPPED, cylinder_wrap_between

ORIGIN = (0.0, 0.0, 0.0)
SLACK = 1e-9  # of squares and shares: the sieve must let everything pass that the exact test may take


class Room(NamedTuple):
    """Working memory for simple paths."""

    R: ndarray  # (n, 3, 3) of each pair of bodies, the first one seen from the second
    p: ndarray  # (n, 3)
    local: ndarray  # (e, 3) ends of segments in the frames of cylinders
    found: ndarray  # (m + 1,) uint: rows of `near` that are not sifted out


@kernel
def opensim_lengths(A, P, q, start, stop, N, path, length):
    """length (F, np) of paths as OpenSim builds them."""
    S = P.simple
    room = Room(np.empty((S.pair.shape[0], 3, 3)), np.empty((S.pair.shape[0], 3)), S.local.copy(),
                np.empty(S.near.shape[0] + 1, np.uint32))
    _lengths_of_frames(A, P, q, start, stop, new_motion(A), N, path, room, np.empty(q.shape[1]), length)


@lean
def _lengths_of_frames(A, P, q, start, stop, X, N, path, room, unused, length):
    """As `opensim_lengths`, with its room: all in one function, because a call would copy all these structures."""
    for f in range(start, stop):
        pose_carriers(A, P, q[f], X)
        _relate_bodies(P, X, room)
        _straight_lengths(P, room, length[f])
        _add_wrapping(P, _sift(P, room), room, length[f])
        for j in range(P.simple.other.shape[0]):
            i = P.simple.other[j]
            if P.length_function[i] >= 0:
                length[f, i] = length_by_function(P, i, q[f], X, unused)
                continue
            n = _take_points(P, i, X, q[f], N)
            w, last = P.wrap_first[i], P.wrap_first[i + 1]
            for v in range(w, last):
                _place_object(P, P.wraps.wrap_object[v], X, N)
            length[f, i], _ = opensim_path_length(
                N.x, N.index, n, P.objects, N.R, N.p, P.wraps, w, last - w, path
            )


@inlined
def _to_ground(X, body, x):
    """A point of a body (-1: of ground) in ground."""
    return add(row(X.p, body), times(matrix(X.R, body), x)) if body >= 0 else x


@inlined
def _place_object(P, o, X, N):
    """Pose of a wrap object in ground, to N.R and N.p."""
    body, R = P.object_body[o], matrix(P.object_R, o)
    put_matrix(N.R, o, product(matrix(X.R, body), R) if body >= 0 else R)
    put(N.p, o, _to_ground(X, body, row(P.object_p, o)))


@inlined
def _take_points(P, i, X, q, N):
    """Active points of path i in ground to N.x, their places in the path to N.index; their number is returned."""
    n, first = 0, P.first[i]
    for k in range(first, P.first[i + 1]):
        x, c = row(P.location, k), P.coordinate[k]
        if P.kind[k] == CONDITIONAL:
            if not P.low[k] - CONDITION_SLACK <= q[c] <= P.high[k] + CONDITION_SLACK:
                continue
        elif P.kind[k] == MOVING:
            x, _ = moving_location(P, k, q[c])
        put(N.x, n, _to_ground(X, P.body[k], x))
        N.index[n] = k - first
        n += 1
    return n


@inlined
def _relate_bodies(P, X, room):
    """Pose of the first body of each pair in the frame of the second."""
    S = P.simple
    for j in range(S.pair.shape[0]):
        body, other = S.pair[j, 0], S.pair[j, 1]
        R, p = IDENTITY, ORIGIN
        if body >= 0:
            R, p = matrix(X.R, body), row(X.p, body)
        if other >= 0:
            R_out = transposed(matrix(X.R, other))
            R, p = product(R_out, R), times(R_out, sub(p, row(X.p, other)))
        put_matrix(room.R, j, R)
        put(room.p, j, p)


@inlined
def _straight_lengths(P, room, length):
    """Lengths (np,) of the simple paths as if nothing were in their way."""
    S = P.simple
    for i in range(S.rest.shape[0]):
        length[i] = S.rest[i]
    for j in range(S.open.shape[0]):
        k, pair = np.int64(S.open[j, 0]), np.int64(S.open[j, 2])
        x = add(row(room.p, pair), times(matrix(room.R, pair), row(P.location, k)))
        length[S.open[j, 1]] += distance(x, row(P.location, k + 1))


@inlined
def _sift(P, room):
    """Which segments may meet their cylinder: rows of `near` go to room.found, their number is returned."""
    S, n = P.simple, 0
    for j in range(S.moving.shape[0]):
        k, pair, o = np.int64(S.moving[j, 1]), np.int64(S.moving[j, 2]), np.int64(S.moving[j, 3])
        x = add(row(room.p, pair), times(matrix(room.R, pair), row(P.location, k)))
        put(room.local, np.int64(S.moving[j, 0]), times_t(matrix(P.object_R, o), sub(x, row(P.object_p, o))))
    for j in range(S.near.shape[0]):
        a, b = row(room.local, np.int64(S.near[j, 0])), row(room.local, np.int64(S.near[j, 1]))
        o = np.int64(S.near[j, 3])
        radius = P.objects.params[o, 0]
        room.found[n] = j
        # closest approach to the axis at the share s of the segment, all multiplied by across or its square
        x, y = b[0] - a[0], b[1] - a[1]
        across, s, area = x * x + y * y, -(a[0] * x + a[1] * y), a[0] * y - a[1] * x
        apart = (s < -SLACK * across) | (s > (1.0 + SLACK) * across)
        apart = apart | (area * area > (1.0 + SLACK) * (radius * radius) * across)
        n += 0 if apart & (P.objects.axis[o] < 0) else 1
    return n


@inlined
def _add_wrapping(P, count, room, length):
    """Add to length (np,) what wrapping changes, by the first `count` segments found.

    As OpenSim chooses: the first segment that cuts the cylinder, else the one that lengthens the path least.
    """
    S, before = P.simple, -1
    best, added, searching = inf, 0.0, True
    for h in range(count):
        j = room.found[h]
        i, o = np.int64(S.near[j, 2]), np.int64(S.near[j, 3])
        if i != before:
            before, best, added, searching = i, inf, 0.0, True
        if not searching:
            continue
        a, b = row(room.local, np.int64(S.near[j, 0])), row(room.local, np.int64(S.near[j, 1]))
        code, arc, t1, t2 = cylinder_wrap_between(
            a, b, P.objects.params[o, 0], P.objects.params[o, 1], P.objects.axis[o], P.objects.sign[o], False
        )
        if code < WRAPPED:
            continue
        change = distance(a, t1) + arc + distance(t2, b) - distance(a, b)
        if code == MANDATORY:
            searching = False
            change = 0.0 if isnan(change) else change  # tangents that did not converge: no wrap
        elif change < best:
            best = change
        else:
            continue
        length[i] += change - added
        added = change
