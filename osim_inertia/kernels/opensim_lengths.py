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
from osim_inertia.kernels.paths import CONDITIONAL, CONDITION_SLACK, FIXED, length_by_function, moving_location
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
            if P.length_function[i] >= 0:
                length[f, i] = length_by_function(P, i, q[f], X, unused)
                continue
            n = _take_points(P, i, X, q[f], N)
            w, last = P.wrap_first[i], P.wrap_first[i + 1]
            if w == last:
                total = 0.0
                for k in range(n - 1):
                    total += distance(row(N.x, k), row(N.x, k + 1))
                length[f, i] = total
                continue
            o = P.wraps.wrap_object[w]
            if last - w == 1 and P.objects.kind[o] == CYLINDER and P.objects.active[o]:
                R, p = _object_pose(P, o, X)
                length[f, i] = _cylinder_path_length(
                    N.x, N.index, n, P.wraps.range_start[w], P.wraps.range_end[w], R, p,
                    P.objects.params[o, 0], P.objects.params[o, 1], P.objects.axis[o], P.objects.sign[o],
                )  # fmt: skip
                continue
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
        b, x = P.body[k], row(P.location, k)
        if P.kind[k] != FIXED:
            c = P.coordinate[k]
            if P.kind[k] == CONDITIONAL:
                if not P.low[k] - CONDITION_SLACK <= q[c] <= P.high[k] + CONDITION_SLACK:
                    continue
            else:
                x, _ = moving_location(P, k, q[c])
        if b >= 0:
            x = add(row(X.p, b), times(matrix(X.R, b), x))
        put(N.x, n, x)
        N.index[n] = k - first
        n += 1
    return n


@inlined
def _object_pose(P, o, X):
    """(R, p) of a wrap object in ground."""
    b, R, p = P.object_body[o], matrix(P.object_R, o), row(P.object_p, o)
    if b < 0:
        return R, p
    R_b = matrix(X.R, b)
    return product(R_b, R), add(row(X.p, b), times(R_b, p))


@inlined
def _cylinder_path_length(nodes, node_index, n_active, range_start, range_end, R, p, radius, length, axis, sign):
    """Length of a path whose only PathWrap is on a cylinder with pose R (9-tuple), p (tuple).

    The same as `opensim_path_length` for this most common case, without its bookkeeping.
    """
    total, best, extra = 0.0, inf, 0.0
    searching = True
    before = row(nodes, 0)
    before_W = times_t(R, sub(before, p))
    for i in range(n_active - 1):
        here = row(nodes, i + 1)
        here_W = times_t(R, sub(here, p))
        straight = distance(before, here)
        total += straight
        inside = node_index[i] >= range_start - 1 and (range_end < 1 or node_index[i + 1] <= range_end - 1)
        if inside and searching:
            code, arc, t1, t2 = cylinder_wrap_between(before_W, here_W, radius, length, axis, sign, False)
            if code >= WRAPPED:
                change = distance(before_W, t1) + arc + distance(t2, here_W) - straight
                if code == MANDATORY:
                    searching = False
                    extra = 0.0 if isnan(change) else change
                elif change < best:
                    best = extra = change
        before, before_W = here, here_W
    return total + extra
