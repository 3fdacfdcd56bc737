"""Lengths alone of all paths as OpenSim builds them, frame by frame: the fastest way to them.

    q --> [poses of the bodies that carry paths --> points --> lengths of all paths]
                                            ^ here
The same numbers as `paths.opensim_length`, in one loop that keeps nothing it does not need: points go straight from
their bodies into their path, and a path over one cylinder, the most common kind, needs none of the bookkeeping of
`opensim_path`.
"""

from __future__ import annotations

from math import inf, isnan

import numpy as np

from osim_inertia.kernels.kinematics import new_motion
from osim_inertia.kernels.opensim_path import CYLINDER, opensim_path_length
from osim_inertia.kernels.path_pose import pose_carriers
from osim_inertia.kernels.paths import CONDITIONAL, CONDITION_SLACK, MOVING, length_by_function, moving_location
from osim_inertia.kernels.rotation import matrix, product, put, put_matrix, row, times, times_t
from osim_inertia.kernels.vec3 import add, distance, inlined, kernel, lean, sub
from osim_inertia.kernels.wrap_cylinder import MANDATORY, WRAPPED, cylinder_wrap_between


@kernel
def opensim_lengths(A, P, q, start, stop, N, path, length):
    """length (F, np) of paths as OpenSim builds them."""
    _lengths_of_frames(A, P, q, start, stop, new_motion(A), N, path, np.empty(q.shape[1]), length)


@lean
def _lengths_of_frames(A, P, q, start, stop, X, N, path, unused, length):
    """As `opensim_lengths`, with its room: all in one function, because a call would copy all these structures."""
    for f in range(start, stop):
        pose_carriers(A, P, q[f], X)
        for i in range(P.moves.shape[0]):
            w, last = P.wrap_first[i], P.wrap_first[i + 1]
            if P.length_function[i] >= 0:
                length[f, i] = length_by_function(P, i, q[f], X, unused)
            elif P.steady[i] and w == last:
                length[f, i] = _polyline_length(P, i, X)
            elif P.steady[i] and last - w == 1 and P.objects.kind[P.wraps.wrap_object[w]] == CYLINDER:
                length[f, i] = _cylinder_path_length(P, i, P.wraps.wrap_object[w], X)
            else:
                n = _take_points(P, i, X, q[f], N)
                for v in range(w, last):
                    o = P.wraps.wrap_object[v]
                    R, p = _object_pose(P, o, X)
                    put_matrix(N.R, o, R)
                    put(N.p, o, p)
                length[f, i], _ = opensim_path_length(
                    N.x, N.index, n, P.objects, N.R, N.p, P.wraps, w, last - w, path
                )


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
        put(N.x, n, _in_ground(X, P.body[k], x))
        N.index[n] = k - first
        n += 1
    return n


@inlined
def _in_ground(X, body, x):
    """A point of a body (-1: of ground) in ground."""
    return add(row(X.p, body), times(matrix(X.R, body), x)) if body >= 0 else x


@inlined
def _object_pose(P, o, X):
    """(R, p) of a wrap object in ground."""
    body, R = P.object_body[o], matrix(P.object_R, o)
    return (product(matrix(X.R, body), R) if body >= 0 else R), _in_ground(X, body, row(P.object_p, o))


@inlined
def _polyline_length(P, i, X):
    """Length of a path of fixed points without wraps."""
    total = 0.0
    for k in range(P.first[i], P.first[i + 1] - 1):
        if P.rigid[k] >= 0.0:
            total += P.rigid[k]
        else:
            here = _in_ground(X, P.body[k], row(P.location, k))
            total += distance(here, _in_ground(X, P.body[k + 1], row(P.location, k + 1)))
    return total


@inlined
def _cylinder_path_length(P, i, o, X):
    """Length of a path of fixed points whose only PathWrap is on a cylinder, object o.

    The same as `opensim_path_length` for this most common case, without its bookkeeping.
    """
    R, p = _object_pose(P, o, X)
    total, best, extra = 0.0, inf, 0.0
    placed, searching = -1, True
    before = before_W = (0.0, 0.0, 0.0)
    for k in range(P.first[i], P.first[i + 1] - 1):
        straight = P.rigid[k]
        idle = P.clear[k] or not searching
        if not (idle and straight >= 0.0):
            if placed != k:
                before = _in_ground(X, P.body[k], row(P.location, k))
                before_W = times_t(R, sub(before, p))
            here = _in_ground(X, P.body[k + 1], row(P.location, k + 1))
            here_W = times_t(R, sub(here, p))
            if straight < 0.0:
                straight = distance(before, here)
            if not idle:
                code, arc, t1, t2 = cylinder_wrap_between(
                    before_W, here_W, P.objects.params[o, 0], P.objects.params[o, 1], P.objects.axis[o],
                    P.objects.sign[o], False,
                )  # fmt: skip
                if code >= WRAPPED:
                    change = distance(before_W, t1) + arc + distance(t2, here_W) - straight
                    if code == MANDATORY:
                        searching = False
                        extra = 0.0 if isnan(change) else change
                    elif change < best:
                        best = extra = change
            before, before_W, placed = here, here_W, k + 1
        total += straight
    return total + extra
