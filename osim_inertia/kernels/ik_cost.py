"""How far a pose is from the measured markers, with slopes and curvature by every coordinate.

    φ(q) = ½ Σ w_i |e_i|² + ½ Σ w_c (q_c − q_ref)²          e_i = x_i(q) − m_i, marker weights of a frame add up to 1

JᵀWJ of all markers is the mass matrix of a tree that carries point masses w_i at the markers, and Jᵀ W e is what it
takes to hold forces w_i e_i there, so both come from one backward sweep of sums over subtrees. With r from the body's
origin, these sums are

    m = Σ w    h = Σ w r    I = Σ w r rᵀ    F = Σ w e    D = Σ w r eᵀ

The second derivative of a point, by a coordinate a and a coordinate c further out, is ω_a × ∂x/∂q_c; its product with
the residuals needs only F and D. It makes Newton's method out of Gauss and Newton's. (Within a joint whose functions
are curved it is approximate; that costs iterations, not accuracy.)
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np

from osim_inertia.kernels.constraints import Constraints
from osim_inertia.kernels.functions import evaluate_many
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.joints import ORIGIN, joint_motion
from osim_inertia.kernels.rotation import IDENTITY, matrix, product, put, put_matrix, row, times, transposed
from osim_inertia.kernels.speeds import turns_by_angular_velocity
from osim_inertia.kernels.vec3 import add, cross, dot3, scaled, sub

SUMS = 22  # m, h (3), I (xx yy zz xy xz yz), F (3), D (9, row by row)


class Fit(NamedTuple):
    """What is fitted, the same in all frames. nm markers, nz unknowns, nt coordinate tasks."""

    bodies: np.ndarray  # (k,) int: bodies that carry markers and those between them and ground, parents first
    marker_body: np.ndarray  # (nm,) int: -1 is ground
    marker_point: np.ndarray  # (nm, 3) in the body
    free: np.ndarray  # (nz,) int: coordinate of each unknown
    lower: np.ndarray  # (nz,) bounds of the unknowns
    upper: np.ndarray  # (nz,)
    turns: np.ndarray  # (nz,) bool: an angle
    task: np.ndarray  # (nt,) int: coordinates with a target of their own
    task_weight: np.ndarray  # (nt,)
    couplers: np.ndarray  # (nk,) int: constraints solved for their dependent coordinate, in order
    constraints: Constraints
    equations: int  # of all constraints


class Slopes(NamedTuple):
    """One pose's sums, gradient and curvature, by coordinate."""

    arm: np.ndarray  # (nb, 3) from the joint to the body's origin
    sums: np.ndarray  # (nb, SUMS) over the body and all beyond it
    gradient: np.ndarray  # (n,)
    normal: np.ndarray  # (n, n) JᵀWJ, lower triangle
    bend: np.ndarray  # (n, n) residuals times second derivatives, lower triangle
    slope: np.ndarray  # (nk, 6) of each coupler
    curve: np.ndarray  # (nk, 6, 6)
    rest: np.ndarray  # (n,) zeros


@kernel
def new_slopes(A, P):
    """Room for one pose."""
    nb, n, nk = A.parent.shape[0], A.body_of.shape[0], P.couplers.shape[0]
    return Slopes(
        np.zeros((nb, 3)), np.zeros((nb, SUMS)), np.zeros(n), np.zeros((n, n)), np.zeros((n, n)),
        np.zeros((nk, 6)), np.zeros((nk, 6, 6)), np.zeros(n),
    )


@lean
def couple(P, q, X, S):
    """Set the dependent coordinates of q (n,), and remember how they follow the others."""
    C = P.constraints
    for i in range(P.couplers.shape[0]):
        k = P.couplers[i]
        n = C.n_args[k]
        for j in range(n):
            X.arguments[j] = q[C.args[k, j]]
        q[C.dependent[k]] = evaluate_many(C.functions, C.function[k], X.arguments, n, S.slope[i], S.curve[i])


@lean
def place(A, bodies, q, X, S):
    """Poses and joint axes of some bodies, per unit of coordinate (not of speed): rows of X.R, X.p, X.Hw, X.Hv."""
    for b in range(bodies.shape[0]):
        body = bodies[b]
        parent = A.parent[body]
        R, p = joint_motion(A, body, q, S.rest, X)
        first, last = A.first[body], A.first[body] + A.dofs[body]
        if turns_by_angular_velocity(A.kind[body]):
            _per_angle(q, first, X.Hw)
            _per_angle(q, first, X.Hv)
        R_in, p_in = IDENTITY, ORIGIN
        if parent >= 0:
            R_in, p_in = matrix(X.R, parent), row(X.p, parent)
        R_1, p_1 = product(R_in, matrix(A.in_R, body)), add(p_in, times(R_in, row(A.in_p, body)))
        if A.reversed[body]:  # M is on the inboard body and F on the outboard one
            sign, R_2 = -1.0, product(R_1, transposed(R))
            R_F, p_M, p_2 = R_2, p_1, sub(p_1, times(R_2, p))
        else:
            sign, R_F, R_2 = 1.0, R_1, product(R_1, R)
            p_2 = add(p_1, times(R_1, p))
            p_M = p_2
        origin = add(p_2, times(R_2, row(A.out_p, body)))
        arm = sub(origin, p_M)
        put_matrix(X.R, body, product(R_2, matrix(A.out_R, body)))
        put(X.p, body, origin)
        put(S.arm, body, arm)
        for c in range(first, last):
            Hw = scaled(sign, times(R_F, row(X.Hw, c)))
            put(X.Hv, c, add(scaled(sign, times(R_F, row(X.Hv, c))), cross(Hw, arm)))
            put(X.Hw, c, Hw)


@lean
def _per_angle(q, i, H):
    """Rows i … i+2 from per unit of angular velocity to per unit of body-fixed X-Y-Z angle (kernels.speeds)."""
    sx, cx, sy, cy = sin(q[i]), cos(q[i]), sin(q[i + 1]), cos(q[i + 1])
    x, y, z = row(H, i), row(H, i + 1), row(H, i + 2)
    put(H, i + 1, add(scaled(cx, y), scaled(sx, z)))
    put(H, i + 2, add(scaled(sy, x), add(scaled(-sx * cy, y), scaled(cx * cy, z))))


@lean
def evaluate_fit(A, P, q, target, weight, reference, X, S):
    """φ at q (n,); gradient, normal and bend of S are filled.

    target (nm, 3) m in ground | weight (nm,): 0 if missing, else its share | reference (nt,)
    """
    place(A, P.bodies, q, X, S)
    for b in range(P.bodies.shape[0]):
        for j in range(SUMS):
            S.sums[P.bodies[b], j] = 0.0
    cost = 0.0
    for k in range(weight.shape[0]):
        w = weight[k]
        if w > 0.0:
            cost += _add_marker(P.marker_body[k], row(P.marker_point, k), row(target, k), w, X.R, X.p, S.sums)
    for c in range(S.gradient.shape[0]):
        S.gradient[c] = 0.0
    for b in range(P.bodies.shape[0] - 1, -1, -1):
        body = P.bodies[b]
        for c in range(A.first[body], A.first[body] + A.dofs[body]):
            _slopes_of(A.parent, A.first, A.dofs, body, c, X.p, X.Hw, X.Hv, S.arm, S.sums, S.gradient, S.normal, S.bend)
        if A.parent[body] >= 0:
            _add_to_parent(S.sums[body], S.sums[A.parent[body]], sub(row(X.p, body), row(X.p, A.parent[body])))
    for t in range(P.task.shape[0]):
        c, w = P.task[t], P.task_weight[t]
        off = q[c] - reference[t]
        cost += 0.5 * w * off * off
        S.gradient[c] += w * off
    return cost


@lean
def _add_marker(body, point, target, w, R, p, sums):
    """Enter one marker into the sums of its body; ½ w |e|²."""
    if body < 0:
        e = sub(point, target)
        return 0.5 * w * dot3(e, e)
    r = times(matrix(R, body), point)
    e = sub(add(row(p, body), r), target)
    s = sums[body]
    s[0] += w
    for i in range(3):
        s[1 + i] += w * r[i]
        s[4 + i] += w * r[i] * r[i]
        s[10 + i] += w * e[i]
        for j in range(3):
            s[13 + 3 * i + j] += w * r[i] * e[j]
    s[7] += w * r[0] * r[1]
    s[8] += w * r[0] * r[2]
    s[9] += w * r[1] * r[2]
    return 0.5 * w * dot3(e, e)


@lean
def _add_to_parent(s, t, d):
    """Add sums s to the sums t of a body whose origin lies −d away."""
    m = s[0]
    t[0] += m
    for i in range(3):
        t[1 + i] += s[1 + i] + m * d[i]
        t[4 + i] += s[4 + i] + d[i] * (2.0 * s[1 + i] + m * d[i])
        t[10 + i] += s[10 + i]
        for j in range(3):
            t[13 + 3 * i + j] += s[13 + 3 * i + j] + d[i] * s[10 + j]
    t[7] += s[7] + s[1] * d[1] + d[0] * s[2] + m * d[0] * d[1]
    t[8] += s[8] + s[1] * d[2] + d[0] * s[3] + m * d[0] * d[2]
    t[9] += s[9] + s[2] * d[2] + d[1] * s[3] + m * d[1] * d[2]


@lean
def _slopes_of(parent, first, dofs, body, c, p, all_w, all_v, arm, sums, gradient, normal, bend):
    """Row c of gradient, normal and bend: the body's own coordinates up to c, then those of its ancestors."""
    s = sums[body]
    w, v = row(all_w, c), row(all_v, c)
    h, F = (s[1], s[2], s[3]), (s[10], s[11], s[12])
    D = (s[13], s[14], s[15], s[16], s[17], s[18], s[19], s[20], s[21])
    inertia = (s[4], s[7], s[8], s[7], s[5], s[9], s[8], s[9], s[6])
    gradient[c] += dot3(v, F) + dot3(w, (D[5] - D[7], D[6] - D[2], D[1] - D[3]))
    P = add(scaled(s[0], v), cross(w, h))  # momentum of the point masses as q_c moves, and its moment about the origin
    L = add(cross(h, v), sub(scaled(s[4] + s[5] + s[6], w), times(inertia, w)))
    turned = sub(times(D, w), scaled(D[0] + D[4] + D[8], w))
    within = add(turned, cross(cross(w, row(arm, body)), F))  # a joint's own translations do not turn with it
    beyond = add(turned, cross(v, F))
    for a in range(first[body], c + 1):
        normal[c, a] = dot3(row(all_v, a), P) + dot3(row(all_w, a), L)
        bend[c, a] = dot3(row(all_w, a), within)
    origin, near = row(p, body), parent[body]
    while near >= 0:
        about = add(L, cross(sub(origin, row(p, near)), P))
        for a in range(first[near], first[near] + dofs[near]):
            normal[c, a] = dot3(row(all_v, a), P) + dot3(row(all_w, a), about)
            bend[c, a] = dot3(row(all_w, a), beyond)
        near = parent[near]


@lean
def gather(P, S, newton, B, H, g):
    """Curvature H (nz, nz) and gradient g (nz,) by unknown, coupled coordinates following. B (n, n) is room.

    newton: with the second derivatives, else Gauss and Newton's matrix.
    """
    gradient, normal, bend, slope, curve = S.gradient, S.normal, S.bend, S.slope, S.curve
    free, couplers, task, C = P.free, P.couplers, P.task, P.constraints
    dependent, n_args, args = C.dependent, C.n_args, C.args
    n, nz = gradient.shape[0], free.shape[0]
    for c in range(n):
        for a in range(c + 1):
            B[c, a] = normal[c, a] + bend[c, a] if newton else normal[c, a]
            B[a, c] = B[c, a]
    for t in range(task.shape[0]):
        B[task[t], task[t]] += P.task_weight[t]
    for i in range(couplers.shape[0] - 1, -1, -1):
        k = couplers[i]
        d, count = dependent[k], n_args[k]
        for j in range(count):
            a = args[k, j]
            gradient[a] += slope[i, j] * gradient[d]
            for c in range(n):
                B[c, a] += slope[i, j] * B[c, d]
        for j in range(count):
            a = args[k, j]
            for c in range(n):
                B[a, c] += slope[i, j] * B[d, c]
            for l in range(count):
                if newton:
                    B[a, args[k, l]] += gradient[d] * curve[i, j, l]
        gradient[d] = 0.0  # passed on: a second call must not count it again
    for i in range(nz):
        g[i] = gradient[free[i]]
        for j in range(nz):
            H[i, j] = B[free[i], free[j]]
