"""Inverse kinematics: the pose of each frame that fits its markers best.

Newton's method on φ (ik_cost) with the bounds of clamped coordinates as an active set (ik_step); where the curvature
is not positive, Gauss and Newton's matrix; where a step does not help, a part of it, and damping of the next one
(Levenberg and Marquardt). Unknowns that no marker determines are held by a pull to the frame before, too weak to be
seen in the others.

Every large function is called from one place only: the compiler copies it into each, and compile time is what a user
waits for first. Constraints that are not couplers cost compile time, too, so that `rows` is None without them.
"""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.constraints import COUPLER, constraint_errors
from osim_inertia.kernels.ik_cost import couple, evaluate_fit, gather, new_slopes, place
from osim_inertia.kernels.ik_step import bounded_step, new_step, stiffen
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import new_motion
from osim_inertia.kernels.rotation import matrix, put, row, times
from osim_inertia.kernels.speeds import turns_by_angular_velocity
from osim_inertia.kernels.vec3 import add

LONGEST_TURN = 0.7  # rad in one step
FIRST_DAMPING, LAST_DAMPING, MORE = 1e-10, 1e4, 100.0  # of the diagonal (m²)
LESS, LEAST = 0.3, 1e-7  # shares of a step that did not help
ROUNDING = 1e-13  # relative change of φ that says nothing
WORSE, WORSE_BY = 1.5, 2e-5  # m²: a frame whose φ exceeds 1.5 φ of the last one + 2e-5 is looked at again
JUMP = 0  # step of fit_frames for frames that start from where q is


@kernel
def fit_frames(
    A, P, rows, q, target, weight, reference, hold, lower, upper, tolerance, limit, start, stop, step, origin,
    cost, iterations
):
    """Fit frames start, start + step … below stop, each from the ones before it, q[origin] being the first known.

    q (F, n): fixed coordinates are filled in, the others are found | target (F, nm, 3) | weight (F, nm)
    reference (F, nt) | hold (F, nz) weight of the pull to the frame before
    lower, upper (nz,): bounds; an unknown with equal bounds stays
    rows (m,) int or None: equations of the constraints other than P.couplers
    tolerance: largest change in the last step | limit: of steps; with 0 only φ is evaluated
    step JUMP: frame `start` alone, from q[start] instead of an extrapolation
    cost (F,) φ and iterations (F,), negative if stuck, are filled. Returns the first frame that is stuck or fits far
    worse than the one before, or stop.
    """
    n, nz, m = q.shape[1], P.free.shape[0], 0
    if rows is not None:
        m = rows.shape[0]
    X, S, W = new_motion(A), new_slopes(A, P), new_step(nz, m)
    B, previous, trial = np.zeros((n, n)), np.empty(nz), np.empty(n)
    stride = step if step > 0 else 1
    for f in range(start, stop, stride):
        last, before = f - stride, f - 2 * stride
        for i in range(nz):
            c = P.free[i]
            previous[i] = q[last, c]
            if step > 0:
                guess = 2.0 * q[last, c] - q[before, c] if before >= origin else q[last, c]
                q[f, c] = min(max(guess, lower[i]), upper[i])
        cost[f], iterations[f] = _fit_pose(
            A, P, rows, q[f], previous, target[f], weight[f], reference[f], hold[f], lower, upper, tolerance, limit,
            trial, X, S, B, W,
        )
        if step > 0 and (cost[f] > WORSE * cost[last] + WORSE_BY or iterations[f] < 0):
            return f
    return stop


@lean
def _fit_pose(
    A, P, rows, q, previous, target, weight, reference, hold, lower, upper, tolerance, limit, trial, X, S, B, W
):
    """Fit one frame from q (n,) in place; previous (nz,) holds what is undetermined. (φ, steps taken)."""
    free, d, side = P.free, W.d, W.side
    n, nz = q.shape[0], free.shape[0]
    for c in range(n):
        trial[c] = q[c]
    for i in range(nz):
        side[i] = -1 if lower[i] == upper[i] else 0
    cost = errors = damping = 0.0
    share, small = 1.0, False
    for iteration in range(limit + 1):
        couple(P, trial, X, S)
        if small:
            for c in range(n):
                q[c] = trial[c]
            return cost, iteration
        new_cost = evaluate_fit(A, P, trial, target, weight, reference, X, S)
        new_errors, stiffness = 0.0, 0.0
        if rows is not None:
            new_errors = _constrain(A, P, rows, trial, S, W)
            for r in range(rows.shape[0]):
                stiffness = max(stiffness, 2.0 * abs(W.force[r]))
        merit = cost + _pull(free, q, previous, hold) + stiffness * errors
        new_merit = new_cost + _pull(free, trial, previous, hold) + stiffness * new_errors
        if iteration == 0 or new_merit <= merit * (1.0 + ROUNDING):
            for c in range(n):
                q[c] = trial[c]
            cost, errors = new_cost, new_errors
            if rows is not None:
                _keep_constraints(W)
            damping = _damping_after(share, damping, W.g, d)
            if not _next_step(P, q, previous, hold, lower, upper, damping, S, B, W):
                return cost, -max(iteration, 1)
            share, small = 1.0, _shorten(P.turns, d) < tolerance and damping == 0.0
        else:  # a descent direction: less of it is better
            share *= LESS
            if share < LEAST:
                return cost, -max(iteration, 1)
        for c in range(n):
            trial[c] = q[c]
        for i in range(nz):
            trial[free[i]] = min(max(q[free[i]] + share * d[i], lower[i]), upper[i])
    return cost, -limit


@lean
def _damping_after(share, damping, g, d):
    """Damping for the next step: if only a share of the last one helped, what would have made it that long."""
    if share == 1.0:
        return 0.1 * damping if damping > FIRST_DAMPING else 0.0
    gain, length = 0.0, 0.0
    for i in range(d.shape[0]):
        gain -= g[i] * d[i]
        length += d[i] * d[i]
    return max(damping, gain / max(share * share * length, 1e-300))


@lean
def _next_step(P, q, previous, hold, lower, upper, damping, S, B, W):
    """Fill W.d with Newton's step, or Gauss and Newton's if the curvature is not positive, damped until it is."""
    free, g, low, high = P.free, W.g, W.low, W.high
    newton = True
    for i in range(free.shape[0]):
        low[i], high[i] = lower[i] - q[free[i]], upper[i] - q[free[i]]
    while damping <= LAST_DAMPING:
        gather(P, S, newton, B, W.H, g)
        for i in range(free.shape[0]):
            g[i] += hold[i] * (q[free[i]] - previous[i])
        stiffen(W)
        if bounded_step(W, damping, hold):
            return True
        if not newton:
            damping = max(FIRST_DAMPING, MORE * damping)
        newton = False
    return False


@lean
def _pull(free, q, previous, hold):
    """½ Σ hold (z − z of the frame before)²."""
    total = 0.0
    for i in range(free.shape[0]):
        total += hold[i] * (q[free[i]] - previous[i]) ** 2
    return 0.5 * total


@lean
def _shorten(turns, d):
    """Keep the largest turn of the step d below LONGEST_TURN; the largest change there was in it."""
    size, turn = 0.0, 0.0
    for i in range(d.shape[0]):
        size = max(size, abs(d[i]))
        if turns[i]:
            turn = max(turn, abs(d[i]))
    if turn > LONGEST_TURN:
        for i in range(d.shape[0]):
            d[i] *= LONGEST_TURN / turn
    return size


@lean
def _keep_constraints(W):
    """The trial was taken: its errors and Jacobian count from now on."""
    for r in range(W.k.shape[0]):
        W.k[r] = W.new_k[r]
        for i in range(W.d.shape[0]):
            W.K[r, i] = W.new_K[r, i]


@kernel
def _constrain(A, P, rows, q, S, W):
    """Errors and Jacobian of the equations `rows`, by unknown, into W.new_k and W.new_K; the sum of the errors."""
    C, n, m = P.constraints, q.shape[0], P.equations
    pose, error, J = np.empty((1, n)), np.empty((1, m)), np.empty((1, m, n))
    for c in range(n):
        pose[0, c] = q[c]
    constraint_errors(A, C, pose, 0, 1, error, J)
    for k in range(C.kind.shape[0]):
        if C.kind[k] != COUPLER:  # couplers are differentiated by the coordinates already
            last = C.row[k + 1] if k + 1 < C.kind.shape[0] else m
            for r in range(C.row[k], last):
                _row_per_angle(A, q, J[0, r])
    total = 0.0
    for r in range(rows.shape[0]):
        line = J[0, rows[r]]
        for i in range(P.couplers.shape[0] - 1, -1, -1):
            k = P.couplers[i]
            for j in range(C.n_args[k]):
                line[C.args[k, j]] += S.slope[i, j] * line[C.dependent[k]]
        W.new_k[r] = error[0, rows[r]]
        total += abs(W.new_k[r])
        for i in range(P.free.shape[0]):
            W.new_K[r, i] = line[P.free[i]]
    return total


@lean
def _row_per_angle(A, q, line):
    """A row per unit u to one per unit q̇ (kernels.speeds)."""
    for body in range(A.kind.shape[0]):
        if turns_by_angular_velocity(A.kind[body]):
            i = A.first[body]
            sx, cx, sy, cy = np.sin(q[i]), np.cos(q[i]), np.sin(q[i + 1]), np.cos(q[i + 1])
            x, y, z = line[i], line[i + 1], line[i + 2]
            line[i + 1] = cx * y + sx * z
            line[i + 2] = sy * x - sx * cy * y + cx * cy * z


@kernel
def marker_places(A, P, q, start, stop, position):
    """Markers of the model in ground: position (F, nm, 3)."""
    X, S = new_motion(A), new_slopes(A, P)
    for f in range(start, stop):
        place(A, P.bodies, q[f], X, S)
        for k in range(P.marker_body.shape[0]):
            b, x = P.marker_body[k], row(P.marker_point, k)
            put(position[f], k, x if b < 0 else add(row(X.p, b), times(matrix(X.R, b), x)))
