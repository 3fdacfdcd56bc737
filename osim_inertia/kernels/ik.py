"""Inverse kinematics: the pose of each frame that fits its markers best.

Newton's method on φ (ik_cost) with the bounds of clamped coordinates as an active set (ik_step); where the curvature is
not positive, Gauss and Newton's matrix; where a step does not help, damping (Levenberg and Marquardt). Unknowns that no
marker determines are held by a pull of weight PRIOR to the frame before, too weak to be seen in the others.
"""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.constraints import COUPLER, constraint_errors
from osim_inertia.kernels.ik_cost import couple, evaluate_fit, gather, new_slopes, place
from osim_inertia.kernels.ik_step import bounded_step, new_step
from osim_inertia.kernels.kinematics import new_motion
from osim_inertia.kernels.rotation import matrix, put, row, times
from osim_inertia.kernels.speeds import turns_by_angular_velocity
from osim_inertia.kernels.vec3 import add, kernel

PRIOR = 1e-10  # of the pull to the frame before (m² per rad², or no unit): a marker 0.01 mm off the axis weighs as much
LONGEST_TURN = 0.7  # rad in one step
FIRST_DAMPING, LAST_DAMPING = 1e-3, 1e10
ROUNDING = 1e-13  # relative change of φ that says nothing
WORSE, WORSE_BY = 4.0, 1e-4  # m²: a frame whose φ exceeds 4 φ of the last one + 1e-4 is looked at again


@kernel
def fit_pose(A, P, q, previous, target, weight, reference, lower, upper, tolerance, limit, X, S, B, W):
    """Fit one frame, from q (n,) in place; previous (nz,) holds what is undetermined. (φ, iterations), negative if stuck.

    lower, upper (nz,): bounds; an unknown with equal bounds stays | tolerance: largest change of the last step
    """
    nz, m = P.free.shape[0], P.rows.shape[0]
    trial = np.empty(q.shape[0])
    for i in range(nz):
        q[P.free[i]] = min(max(q[P.free[i]], lower[i]), upper[i])
        W.side[i] = -1 if lower[i] == upper[i] else 0
    couple(P, q, X, S)
    cost = evaluate_fit(A, P, q, target, weight, reference, X, S)
    errors = _constrain(A, P, q, S, W) if m else 0.0
    damping, fresh, merit = 0.0, True, 0.0
    for iteration in range(1, limit + 1):
        if fresh:
            gather(P, S, True, B, W.H, W.g)
        for i in range(nz):
            c = P.free[i]
            W.low[i], W.high[i] = lower[i] - q[c], upper[i] - q[c]
            if fresh:
                W.g[i] += PRIOR * (q[c] - previous[i])
        if not bounded_step(W, damping, PRIOR):
            if not fresh:
                couple(P, q, X, S)
                evaluate_fit(A, P, q, target, weight, reference, X, S)
            gather(P, S, False, B, W.H, W.g)
            for i in range(nz):
                W.g[i] += PRIOR * (q[P.free[i]] - previous[i])
            damping = max(damping, FIRST_DAMPING)
            if not bounded_step(W, damping, PRIOR):
                return cost, -iteration
        size = _shorten(P, W)
        for c in range(q.shape[0]):
            trial[c] = q[c]
        for i in range(nz):
            trial[P.free[i]] = min(max(trial[P.free[i]] + W.d[i], lower[i]), upper[i])
        couple(P, trial, X, S)
        if size < tolerance and damping == 0.0:
            for c in range(q.shape[0]):
                q[c] = trial[c]
            return cost, iteration
        stiffness = 0.0
        for r in range(m):
            stiffness = max(stiffness, 2.0 * abs(W.force[r]))
        merit = cost + _pull(P, q, previous) + stiffness * errors
        new_cost = evaluate_fit(A, P, trial, target, weight, reference, X, S)
        new_errors = _constrain(A, P, trial, S, W) if m else 0.0
        new_merit = new_cost + _pull(P, trial, previous) + stiffness * new_errors
        fresh = new_merit <= merit * (1.0 + ROUNDING)
        if fresh:
            for c in range(q.shape[0]):
                q[c] = trial[c]
            cost, errors = new_cost, new_errors
            damping = 0.0 if damping <= FIRST_DAMPING else 0.1 * damping
        else:
            damping = max(FIRST_DAMPING, 10.0 * damping)
            if damping > LAST_DAMPING:
                return cost, -iteration
            if m:
                couple(P, q, X, S)
                _constrain(A, P, q, S, W)
    return cost, -limit


@kernel
def _pull(P, q, previous):
    """½ PRIOR |z − z of the frame before|²."""
    total = 0.0
    for i in range(P.free.shape[0]):
        total += (q[P.free[i]] - previous[i]) ** 2
    return 0.5 * PRIOR * total


@kernel
def _shorten(P, W):
    """Keep the largest turn of the step below LONGEST_TURN; the largest change in it."""
    size, turn = 0.0, 0.0
    for i in range(P.free.shape[0]):
        size = max(size, abs(W.d[i]))
        if P.turns[i]:
            turn = max(turn, abs(W.d[i]))
    if turn > LONGEST_TURN:
        for i in range(P.free.shape[0]):
            W.d[i] *= LONGEST_TURN / turn
    return size


@kernel
def _constrain(A, P, q, S, W):
    """Errors and Jacobian of the constraints that stay, by unknown, into W.k and W.K; the sum of the errors' sizes."""
    C, n = P.constraints, q.shape[0]
    equations = 0
    for k in range(C.kind.shape[0]):
        equations = max(equations, C.row[k] + (6, 3, 1, 2, 6)[C.kind[k]])
    pose, error, J = q.copy().reshape(1, n), np.empty((1, equations)), np.empty((1, equations, n))
    constraint_errors(A, C, pose, 0, 1, error, J)
    by_angle = J[0].copy()
    for body in range(A.kind.shape[0]):
        if turns_by_angular_velocity(A.kind[body]):
            i = A.first[body]
            sx, cx, sy, cy = np.sin(q[i]), np.cos(q[i]), np.sin(q[i + 1]), np.cos(q[i + 1])
            for r in range(equations):
                x, y, z = J[0, r, i], J[0, r, i + 1], J[0, r, i + 2]
                by_angle[r, i + 1] = cx * y + sx * z
                by_angle[r, i + 2] = sy * x - sx * cy * y + cx * cy * z
    for k in range(C.kind.shape[0]):
        if C.kind[k] == COUPLER:  # differentiated by the coordinates already
            by_angle[C.row[k]] = J[0, C.row[k]]
    total = 0.0
    for r in range(P.rows.shape[0]):
        line = by_angle[P.rows[r]]
        for i in range(P.couplers.shape[0] - 1, -1, -1):
            k = P.couplers[i]
            for j in range(C.n_args[k]):
                line[C.args[k, j]] += S.slope[i, j] * line[C.dependent[k]]
        W.k[r] = error[0, P.rows[r]]
        total += abs(W.k[r])
        for i in range(P.free.shape[0]):
            W.K[r, i] = line[P.free[i]]
    return total


@kernel
def fit_frames(A, P, q, target, weight, reference, tolerance, limit, start, stop, step, origin, cost, iterations):
    """Fit frames start, start + step … below stop, each from the ones before it, q[origin] being the first known.

    q (F, n): fixed coordinates are filled in, the others are found | target (F, nm, 3) | weight (F, nm) | reference (F, nt)
    cost (F,), iterations (F,): filled. Returns the first frame that fits far worse than the one before, or stop.
    """
    n, nz = q.shape[1], P.free.shape[0]
    X, S = new_motion(A), new_slopes(A, P)
    B, W, previous = np.zeros((n, n)), new_step(nz, P.rows.shape[0]), np.empty(nz)
    for f in range(start, stop, step):
        last, before = f - step, f - 2 * step
        for i in range(nz):
            c = P.free[i]
            previous[i] = q[last, c]
            q[f, c] = 2.0 * q[last, c] - q[before, c] if before >= origin else q[last, c]
        cost[f], iterations[f] = fit_pose(
            A, P, q[f], previous, target[f], weight[f], reference[f], P.lower, P.upper, tolerance, limit, X, S, B, W
        )
        if cost[f] > WORSE * cost[last] + WORSE_BY or iterations[f] < 0:
            return f
    return stop


@kernel
def fit_single(A, P, q, previous, target, weight, reference, lower, upper, tolerance, limit):
    """`fit_pose` with room of its own."""
    W = new_step(P.free.shape[0], P.rows.shape[0])
    B = np.zeros((q.shape[0], q.shape[0]))
    return fit_pose(
        A, P, q, previous, target, weight, reference, lower, upper, tolerance, limit, new_motion(A), new_slopes(A, P), B, W
    )


@kernel
def marker_places(A, P, q, start, stop, position):
    """Markers of the model in ground: position (F, nm, 3)."""
    X, S = new_motion(A), new_slopes(A, P)
    for f in range(start, stop):
        place(A, P.bodies, q[f], X, S)
        for k in range(P.marker_body.shape[0]):
            b, x = P.marker_body[k], row(P.marker_point, k)
            put(position[f], k, x if b < 0 else add(row(X.p, b), times(matrix(X.R, b), x)))
