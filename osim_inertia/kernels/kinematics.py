"""The forward sweep: poses, twists and joint axes of all bodies, in ground.

With H the joint axes of a body (per unit u, at its origin, in ground) and r from the inboard to the outboard origin

    ω_out = ω_in + H_ω u              v_out = v_in + ω_in × r + H_v u
    ω̇_out = ω̇_in + H_ω u̇ + Ḣ_ω u      v̇_out = v̇_in + ω̇_in × r + ω_in × (v_out − v_in) + H_v u̇ + Ḣ_v u     theory.md (1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.jit import inlined, kernel, lean, shared
from osim_inertia.kernels.joints import ORIGIN, joint_motion, joint_pose
from osim_inertia.kernels.rotation import IDENTITY, matrix, product, push, put, put_matrix, row, times, transposed
from osim_inertia.kernels.vec3 import add, cross, scaled, sub


class Motion(NamedTuple):
    """One instant of the tree, in ground, and room for evaluating joints."""

    R: ndarray  # (nb, 3, 3) body axes
    p: ndarray  # (nb, 3) body origin
    w: ndarray  # (nb, 3) angular velocity
    v: ndarray  # (nb, 3) velocity of the origin
    Hw: ndarray  # (n, 3) angular velocity of the outboard body per unit u
    Hv: ndarray  # (n, 3) velocity of the outboard origin per unit u, inboard body at rest
    dHw: ndarray  # (n, 3) rates of both
    dHv: ndarray  # (n, 3)
    arguments: ndarray  # (6,) room
    gradient: ndarray  # (6,)
    hessian: ndarray  # (6, 6)
    turn: ndarray  # (3, 12)


@kernel
def new_motion(A):
    """Room for one instant."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    return Motion(
        np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)),
        np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
        np.empty(6), np.empty(6), np.empty((6, 6)), np.empty((3, 12)),
    )


@shared
def move(A, q, u, X):
    """Fill the motion X of the tree A at q, u (n,)."""
    for body in range(A.parent.shape[0]):
        parent = A.parent[body]
        R, p = joint_motion(A, body, q, u, X)
        R_in, p_in, w_in, v_in = IDENTITY, ORIGIN, ORIGIN, ORIGIN
        if parent >= 0:
            R_in, p_in, w_in, v_in = matrix(X.R, parent), row(X.p, parent), row(X.w, parent), row(X.v, parent)
        # both joint frames in ground; a reversed joint has M on the inboard body and F on the outboard one
        sign = -1.0 if A.reversed[body] else 1.0
        R_1, p_1 = product(R_in, matrix(A.in_R, body)), add(p_in, times(R_in, row(A.in_p, body)))
        if sign > 0.0:
            R_F = R_1
            R_2, p_2 = product(R_1, R), add(p_1, times(R_1, p))
            p_M = p_2
        else:
            R_2 = product(R_1, transposed(R))
            R_F, p_2, p_M = R_2, sub(p_1, times(R_2, p)), p_1
        origin = add(p_2, times(R_2, row(A.out_p, body)))
        put_matrix(X.R, body, product(R_2, matrix(A.out_R, body)))
        put(X.p, body, origin)
        _turn_axes(A, body, u, sign, R_F, origin, p_M, p_in, w_in, v_in, X)


@lean
def pose(A, q, X):
    """Fill only the poses of X: what lengths need, at a third of the cost of `move`."""
    for body in range(A.parent.shape[0]):
        parent = A.parent[body]
        R, p = joint_pose(A, body, q, X)
        R_1, p_1 = matrix(A.in_R, body), row(A.in_p, body)
        if parent >= 0:
            R_in = matrix(X.R, parent)
            R_1, p_1 = product(R_in, R_1), add(row(X.p, parent), times(R_in, p_1))
        if A.reversed[body]:
            R = transposed(R)
            p = scaled(-1.0, times(R, p))
        R_2, p_2 = product(R_1, R), add(p_1, times(R_1, p))
        put_matrix(X.R, body, product(R_2, matrix(A.out_R, body)))
        put(X.p, body, add(p_2, times(R_2, row(A.out_p, body))))


@inlined
def _turn_axes(A, body, u, sign, R_F, origin, p_M, p_in, w_in, v_in, X):
    """Joint axes and their rates from F to ground, referred to the body's origin; velocities of the body."""
    first, last = A.first[body], A.first[body] + A.dofs[body]
    arm = sub(origin, p_M)
    w, v = w_in, add(v_in, cross(w_in, sub(origin, p_in)))
    for c in range(first, last):
        Hw = scaled(sign, times(R_F, row(X.Hw, c)))
        at_M = scaled(sign, times(R_F, row(X.Hv, c)))
        Hv = add(at_M, cross(Hw, arm))
        w, v = add(w, scaled(u[c], Hw)), add(v, scaled(u[c], Hv))
        put(X.Hw, c, Hw)
        put(X.Hv, c, Hv)
    put(X.w, body, w)
    put(X.v, body, v)
    # F turns with the body it is fixed in, and M's origin moves with the other
    if sign > 0.0:
        w_F, drift = w_in, cross(w, arm)
    else:
        w_F, drift = w, sub(sub(v, v_in), cross(w_in, sub(p_M, p_in)))
    for c in range(first, last):
        Hw = row(X.Hw, c)
        at_M = sub(row(X.Hv, c), cross(Hw, arm))
        dHw = add(scaled(sign, times(R_F, row(X.dHw, c))), cross(w_F, Hw))
        dHv = add(scaled(sign, times(R_F, row(X.dHv, c))), cross(w_F, at_M))
        put(X.dHw, c, dHw)
        put(X.dHv, c, add(dHv, add(cross(dHw, arm), cross(Hw, drift))))


@lean
def accelerate(A, X, u, udot, base, dw, dv):
    """Accelerations of all body origins: dw, dv (nb, 3), with the ground accelerating by base (3,)."""
    for body in range(A.parent.shape[0]):
        parent = A.parent[body]
        alpha, a = ORIGIN, (base[0], base[1], base[2])
        if parent >= 0:
            alpha = row(dw, parent)
            a = add(row(dv, parent), cross(alpha, sub(row(X.p, body), row(X.p, parent))))
            a = add(a, cross(row(X.w, parent), sub(row(X.v, body), row(X.v, parent))))
        for c in range(A.first[body], A.first[body] + A.dofs[body]):
            alpha = add(alpha, add(scaled(udot[c], row(X.Hw, c)), scaled(u[c], row(X.dHw, c))))
            a = add(a, add(scaled(udot[c], row(X.Hv, c)), scaled(u[c], row(X.dHv, c))))
        put(dw, body, alpha)
        put(dv, body, a)


@lean
def jacobian(A, X, body, point, J):
    """Velocity of a point (ground) fixed in a body, per unit u: J (n, 2, 3), angular and linear."""
    J[:] = 0.0
    while body >= 0:
        r = sub(point, row(X.p, body))
        for c in range(A.first[body], A.first[body] + A.dofs[body]):
            put(J[c], 0, row(X.Hw, c))
            put(J[c], 1, add(row(X.Hv, c), cross(row(X.Hw, c), r)))
        body = A.parent[body]


@lean
def jacobian_rate(A, X, body, point, velocity, J):
    """Rate of `jacobian` along the motion: J̇ (n, 2, 3), for a point with that velocity."""
    J[:] = 0.0
    while body >= 0:
        r, s = sub(point, row(X.p, body)), sub(velocity, row(X.v, body))
        for c in range(A.first[body], A.first[body] + A.dofs[body]):
            put(J[c], 0, row(X.dHw, c))
            put(J[c], 1, add(row(X.dHv, c), cross(row(X.dHw, c), r)))
            push(J[c], 1, cross(row(X.Hw, c), s))
        body = A.parent[body]
