"""Lengths alone of all paths as OpenSim builds them, frame by frame: the fastest way to them.

    q --> [poses of the bodies that carry paths --> lengths of simple paths, then of the others]
                                            ^ here
The same numbers as `paths.opensim_length`. Paths of fixed points without a wrap or with one on a cylinder, the most
common kinds, are taken apart (SimplePaths): what lies in one body is measured once for all, segments that may meet a
cylinder are sifted by a cheap test first, and none of the bookkeeping of `opensim_path` is needed.
"""

from __future__ import annotations

from math import inf, isnan

import numpy as np

from osim_inertia.kernels.jit import inlined, kernel, lean
from osim_inertia.kernels.kinematics import new_motion
from osim_inertia.kernels.opensim_path import opensim_path_length
from osim_inertia.kernels.path_pose import pose_carriers
from osim_inertia.kernels.paths import CONDITION_SLACK, CONDITIONAL, MOVING, length_by_function, moving_location
from osim_inertia.kernels.rotation import matrix, product, put, put_matrix, row, times, times_t
from osim_inertia.kernels.vec3 import add, distance, sub
from osim_inertia.kernels.wrap_cylinder import MANDATORY, WRAPPED, cylinder_wrap_between

SLACK = 1e-9  # of squares and shares: the sieve must let everything pass that the exact test may take


@kernel
def opensim_lengths(A, P, q, start, stop, N, path, length):
    """length (F, np) of paths as OpenSim builds them."""
    count = P.simple.near_segment.shape[0]
    ends, found = np.empty((2 * count + 2, 3)), np.empty(count + 1, np.uint32)
    _lengths_of_frames(A, P, q, start, stop, new_motion(A), N, path, ends, found, np.empty(q.shape[1]), length)


@lean
def _lengths_of_frames(A, P, q, start, stop, X, N, path, ends, found, unused, length):
    """As `opensim_lengths`, with its room: all in one function, because a call would copy all these structures."""
    for f in range(start, stop):
        pose_carriers(A, P, q[f], X)
        _straight_lengths(P, X, length[f])
        _add_wrapping(P, _sift(P, X, N, ends, found), ends, found, length[f])
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
def _in_ground(P, X, k):
    """Fixed point k in ground."""
    return _to_ground(X, P.body[k], row(P.location, k))


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
def _straight_lengths(P, X, length):
    """Lengths (np,) of the simple paths as if nothing were in their way."""
    S = P.simple
    for i in range(S.rest.shape[0]):
        length[i] = S.rest[i]
    for j in range(S.open_segment.shape[0]):
        k = np.int64(S.open_segment[j])
        length[S.open_path[j]] += distance(_in_ground(P, X, k), _in_ground(P, X, k + 1))


@inlined
def _sift(P, X, N, ends, found):
    """Which segments may meet their cylinder: rows of near_segment go to `found`, their number is returned.

    ends (2 rows a segment, 3) receives both ends in the frame of the cylinder.
    """
    S, n = P.simple, 0
    for j in range(S.cylinder.shape[0]):
        _place_object(P, np.int64(S.cylinder[j]), X, N)
    for j in range(S.near_segment.shape[0]):
        k, o = np.int64(S.near_segment[j]), np.int64(S.near_object[j])
        R, p, radius = matrix(N.R, o), row(N.p, o), P.objects.params[o, 0]
        a = times_t(R, sub(_in_ground(P, X, k), p))
        b = times_t(R, sub(_in_ground(P, X, k + 1), p))
        put(ends, 2 * n, a)
        put(ends, 2 * n + 1, b)
        found[n] = j
        # closest approach to the axis at the share s of the segment, all multiplied by across or its square
        x, y = b[0] - a[0], b[1] - a[1]
        across, s, area = x * x + y * y, -(a[0] * x + a[1] * y), a[0] * y - a[1] * x
        apart = (s < -SLACK * across) | (s > (1.0 + SLACK) * across)
        apart = apart | (area * area > (1.0 + SLACK) * (radius * radius) * across)
        n += 0 if apart & (P.objects.axis[o] < 0) else 1
    return n


@inlined
def _add_wrapping(P, count, ends, found, length):
    """Add to length (np,) what wrapping changes, by the first `count` segments found.

    As OpenSim chooses: the first segment that cuts the cylinder, else the one that lengthens the path least.
    """
    S, before = P.simple, -1
    best, added, searching = inf, 0.0, True
    for h in range(count):
        j = found[h]
        i, o = np.int64(S.near_path[j]), np.int64(S.near_object[j])
        if i != before:
            before, best, added, searching = i, inf, 0.0, True
        if not searching:
            continue
        a, b = row(ends, 2 * h), row(ends, 2 * h + 1)
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
