"""The forward sweep: poses, twists and joint axes of all bodies, in ground.

With H the joint axes of a body (per unit u, at the body's origin, in ground) and r from the inboard to the outboard origin

    ω_out = ω_in + H_ω u              v_out = v_in + ω_in × r + H_v u
    ω̇_out = ω̇_in + H_ω u̇ + Ḣ_ω u      v̇_out = v̇_in + ω̇_in × r + ω_in × (v_out − v_in) + H_v u̇ + Ḣ_v u     theory.md (1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy import ndarray

from osim_inertia.kernels.joints import CUSTOM, custom_joint_motion, joint_motion, new_custom_room
from osim_inertia.kernels.spatial import add_cross, cross, matmul, matmul_nt, matvec


class Motion(NamedTuple):
    """One instant of the tree, in ground."""

    R: ndarray  # (nb, 3, 3) body axes
    p: ndarray  # (nb, 3) body origin
    w: ndarray  # (nb, 3) angular velocity
    v: ndarray  # (nb, 3) velocity of the origin
    Hw: ndarray  # (n, 3) angular velocity of the outboard body per unit u
    Hv: ndarray  # (n, 3) velocity of the outboard origin per unit u, inboard body at rest
    dHw: ndarray  # (n, 3) rates of both
    dHv: ndarray  # (n, 3)


@njit(cache=True, nogil=True)
def new_motion(nb, n):
    """Room for one instant."""
    return Motion(
        np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)),
        np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def move(A, q, u, X):
    """Fill the motion X of the tree A at q, u (n,)."""
    nb = A.parent.shape[0]
    R, R_GF, R_GM = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    p, p_GF, p_GM, a, b, drift = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    Hw, Hv, dHw, dHv = np.empty((6, 3)), np.empty((6, 3)), np.empty((6, 3)), np.empty((6, 3))
    room = new_custom_room()
    ground_R, ground_p = np.eye(3), np.zeros(3)
    for body in range(nb):
        i, k, parent = A.first[body], A.count[body], A.parent[body]
        # the joint in its own frame F
        if A.kind[body] == CUSTOM:
            custom_joint_motion(
                A.functions, A.axis_first[body], A.axis_last[body], A.axis_slot, A.axis, A.axis_function,
                A.axis_n_args, A.axis_args, A.like_opensim[body], q[i : i + k], u[i : i + k], k, R, p,
                Hw, Hv, dHw, dHv, room,
            )  # fmt: skip
        else:
            joint_motion(A.kind[body], q[i : i + k], u[i : i + k], k, A.params[body], R, p, Hw, Hv, dHw, dHv)
        # both joint frames in ground; a reversed joint has M on the inboard body and F on the outboard one
        if parent < 0:
            R_in, p_in, w_in, v_in = ground_R, ground_p, ground_p, ground_p
        else:
            R_in, p_in, w_in, v_in = X.R[parent], X.p[parent], X.w[parent], X.v[parent]
        sign = 1.0
        if A.reversed[body]:
            sign = -1.0
            _place(R_in, p_in, A.in_R[body], A.in_p[body], R_GM, p_GM)
            matmul_nt(R_GM, R, R_GF)
            matvec(R_GF, p, a)
            for j in range(3):
                p_GF[j] = p_GM[j] - a[j]
            _place(R_GF, p_GF, A.out_R[body], A.out_p[body], X.R[body], X.p[body])
        else:
            _place(R_in, p_in, A.in_R[body], A.in_p[body], R_GF, p_GF)
            _place(R_GF, p_GF, R, p, R_GM, p_GM)
            _place(R_GM, p_GM, A.out_R[body], A.out_p[body], X.R[body], X.p[body])
        # axes and velocities, in ground
        w, v = X.w[body], X.v[body]
        for j in range(3):
            w[j] = w_in[j]
            a[j] = X.p[body, j] - p_in[j]
            b[j] = X.p[body, j] - p_GM[j]
        cross(w_in, a, v)
        for j in range(3):
            v[j] += v_in[j]
        for m in range(k):
            c = i + m
            _turned(R_GF, Hw[m], sign, X.Hw[c])
            _turned(R_GF, Hv[m], sign, X.Hv[c])
            for j in range(3):
                X.dHv[c, j] = X.Hv[c, j]  # the part that turns with F, needed below
                w[j] += X.Hw[c, j] * u[c]
            add_cross(X.Hw[c], b, X.Hv[c])
            for j in range(3):
                v[j] += X.Hv[c, j] * u[c]
        # rates of the axes: F turns with the body it is fixed in, and M's origin moves with the other
        if sign > 0.0:
            w_F = w_in
            cross(w, b, drift)
        else:
            w_F = w
            for j in range(3):
                a[j] = p_GM[j] - p_in[j]
            cross(w_in, a, drift)
            for j in range(3):
                drift[j] = v[j] - v_in[j] - drift[j]
        for m in range(k):
            c = i + m
            _turned(R_GF, dHw[m], sign, X.dHw[c])
            add_cross(w_F, X.Hw[c], X.dHw[c])
            _turned(R_GF, dHv[m], sign, a)
            add_cross(w_F, X.dHv[c], a)
            add_cross(X.dHw[c], b, a)
            add_cross(X.Hw[c], drift, a)
            for j in range(3):
                X.dHv[c, j] = a[j]


@njit(cache=True, nogil=True)
def _place(R_A, p_A, R_B, p_B, R, p):
    """Pose (R, p) = (R_A, p_A) · (R_B, p_B)."""
    matmul(R_A, R_B, R)
    for j in range(3):
        p[j] = p_A[j] + R_A[j, 0] * p_B[0] + R_A[j, 1] * p_B[1] + R_A[j, 2] * p_B[2]


@njit(cache=True, nogil=True)
def _turned(R, a, sign, out):
    """out = sign · R a."""
    for j in range(3):
        out[j] = sign * (R[j, 0] * a[0] + R[j, 1] * a[1] + R[j, 2] * a[2])


@njit(cache=True, nogil=True)
def accelerate(A, X, u, udot, base, dw, dv):
    """Accelerations of all body origins: dw, dv (nb, 3), with the ground accelerating by base (3,)."""
    r = np.empty(3)
    for body in range(A.parent.shape[0]):
        parent = A.parent[body]
        if parent < 0:
            for j in range(3):
                dw[body, j] = 0.0
                dv[body, j] = base[j]
        else:
            for j in range(3):
                dw[body, j] = dw[parent, j]
                dv[body, j] = dv[parent, j]
                r[j] = X.p[body, j] - X.p[parent, j]
            add_cross(dw[parent], r, dv[body])
            for j in range(3):
                r[j] = X.v[body, j] - X.v[parent, j]
            add_cross(X.w[parent], r, dv[body])
        for c in range(A.first[body], A.first[body] + A.count[body]):
            for j in range(3):
                dw[body, j] += X.Hw[c, j] * udot[c] + X.dHw[c, j] * u[c]
                dv[body, j] += X.Hv[c, j] * udot[c] + X.dHv[c, j] * u[c]


@njit(cache=True, nogil=True)
def jacobian(A, X, body, point, J):
    """Velocity of a point (ground) fixed in a body, per unit u: J (6, n), angular then linear."""
    J[:] = 0.0
    r = np.empty(3)
    while body >= 0:
        for j in range(3):
            r[j] = point[j] - X.p[body, j]
        for c in range(A.first[body], A.first[body] + A.count[body]):
            for j in range(3):
                J[j, c] = X.Hw[c, j]
                J[3 + j, c] = X.Hv[c, j]
            J[3, c] += X.Hw[c, 1] * r[2] - X.Hw[c, 2] * r[1]
            J[4, c] += X.Hw[c, 2] * r[0] - X.Hw[c, 0] * r[2]
            J[5, c] += X.Hw[c, 0] * r[1] - X.Hw[c, 1] * r[0]
        body = A.parent[body]


@njit(cache=True, nogil=True)
def jacobian_rate(A, X, body, point, velocity, J):
    """Rate of `jacobian` along the motion: J̇ (6, n), for a point with that velocity."""
    J[:] = 0.0
    r, s = np.empty(3), np.empty(3)
    column = np.empty(3)
    while body >= 0:
        for j in range(3):
            r[j] = point[j] - X.p[body, j]
            s[j] = velocity[j] - X.v[body, j]
        for c in range(A.first[body], A.first[body] + A.count[body]):
            for j in range(3):
                column[j] = X.dHv[c, j]
                J[j, c] = X.dHw[c, j]
            add_cross(X.dHw[c], r, column)
            add_cross(X.Hw[c], s, column)
            for j in range(3):
                J[3 + j, c] = column[j]
        body = A.parent[body]
