"""What each joint does: pose of frame M in frame F, and its velocity per unit u (OPENSIM_SEMANTICS.md §2.2–2.3).

A joint of k coordinates fills, in axes of F:
    R (3, 3), p (3,)        pose of M in F
    Hw, Hv (k, 3)           angular velocity of M and velocity of its origin, per unit u
    dHw, dHv (k, 3)         their rates along u
For Ball, Free, Ellipsoid and the first three of Scapulothoracic, u is an angular velocity, not the rate of q.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np
from numba import njit

from osim_inertia.kernels.functions import evaluate, evaluate_many
from osim_inertia.kernels.spatial import cross, matmul, matvec, rotation_about, rotation_xyz

class CustomRoom(NamedTuple):
    """Room a custom joint needs while it is evaluated."""

    a: np.ndarray  # (3,)
    w: np.ndarray  # (3,)
    Rk: np.ndarray  # (3, 3)
    Rn: np.ndarray  # (3, 3)
    x: np.ndarray  # (6,)
    g: np.ndarray  # (6,)
    h: np.ndarray  # (6, 6)
    turn: np.ndarray  # (3, 12)


@njit(cache=True, nogil=True)
def new_custom_room():
    """Room for `custom_joint_motion`."""
    return CustomRoom(
        np.empty(3), np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.empty(6), np.empty(6), np.empty((6, 6)),
        np.empty((3, 12)),
    )  # fmt: skip


WELD, PIN, SLIDER, UNIVERSAL, GIMBAL, PLANAR, BALL, FREE, ELLIPSOID, SCAPULOTHORACIC, CUSTOM = range(11)


@njit(cache=True, nogil=True)
def joint_motion(kind, q, u, k, params, R, p, Hw, Hv, dHw, dHv):
    """Fill the motion of any joint but a custom one. q, u (k,) | params: radii, then winging origin and angle."""
    for i in range(3):
        p[i] = 0.0
        for j in range(3):
            R[i, j] = 1.0 if i == j else 0.0
    for i in range(k):
        for j in range(3):
            Hw[i, j] = Hv[i, j] = dHw[i, j] = dHv[i, j] = 0.0
    if kind == PIN or kind == PLANAR:
        c, s = cos(q[0]), sin(q[0])
        R[0, 0], R[0, 1], R[1, 0], R[1, 1] = c, -s, s, c
        Hw[0, 2] = 1.0
        if kind == PLANAR:
            p[0], p[1] = q[1], q[2]
            Hv[1, 0] = Hv[2, 1] = 1.0
    elif kind == SLIDER:
        p[0] = q[0]
        Hv[0, 0] = 1.0
    elif kind == UNIVERSAL:
        rotation_xyz(q[0], q[1], 0.0, R)
        _successive_axes(q, u, 2, Hw, dHw)
    elif kind == GIMBAL:
        rotation_xyz(q[0], q[1], q[2], R)
        _successive_axes(q, u, 3, Hw, dHw)
    elif kind == BALL or kind == FREE:
        rotation_xyz(q[0], q[1], q[2], R)
        for i in range(3):
            Hw[i, i] = 1.0
            if kind == FREE:
                p[i] = q[3 + i]
                Hv[3 + i, i] = 1.0
    elif kind == ELLIPSOID:
        _ellipsoid(q, u, params, R, p, Hw, Hv, dHv)
    elif kind == SCAPULOTHORACIC:
        _scapulothoracic(q, u, params, R, p, Hw, Hv, dHw, dHv)


@njit(cache=True, nogil=True)
def _successive_axes(q, u, n, Hw, dHw):
    """Axes of Rx(q0) Ry(q1) Rz(q2) in F and their rates."""
    c0, s0 = cos(q[0]), sin(q[0])
    Hw[0, 0] = 1.0
    Hw[1, 1], Hw[1, 2] = c0, s0
    dHw[1, 1], dHw[1, 2] = -s0 * u[0], c0 * u[0]
    if n == 3:
        c1, s1 = cos(q[1]), sin(q[1])
        Hw[2, 0], Hw[2, 1], Hw[2, 2] = s1, -s0 * c1, c0 * c1
        dHw[2, 0] = c1 * u[1]
        dHw[2, 1] = -c0 * c1 * u[0] + s0 * s1 * u[1]
        dHw[2, 2] = -s0 * c1 * u[0] - c0 * s1 * u[1]


@njit(cache=True, nogil=True)
def _ellipsoid(q, u, radii, R, p, Hw, Hv, dHv):
    """The origin sits where the third axis n of R points: p = (a n_x, b n_y, c n_z)."""
    rotation_xyz(q[0], q[1], q[2], R)
    n0, n1, n2 = R[0, 2], R[1, 2], R[2, 2]
    d0 = u[1] * n2 - u[2] * n1  # rate of n
    d1 = u[2] * n0 - u[0] * n2
    d2 = u[0] * n1 - u[1] * n0
    a, b, c = radii[0], radii[1], radii[2]
    p[0], p[1], p[2] = a * n0, b * n1, c * n2
    for i in range(3):
        Hw[i, i] = 1.0
    Hv[0, 1], Hv[0, 2] = -b * n2, c * n1
    Hv[1, 0], Hv[1, 2] = a * n2, -c * n0
    Hv[2, 0], Hv[2, 1] = -a * n1, b * n0
    dHv[0, 1], dHv[0, 2] = -b * d2, c * d1
    dHv[1, 0], dHv[1, 2] = a * d2, -c * d0
    dHv[2, 0], dHv[2, 1] = -a * d1, b * d0


@njit(cache=True, nogil=True)
def _quarter_turn(a):
    """Rz(π/2) applied in place."""
    a[0], a[1] = -a[1], a[0]


@njit(cache=True, nogil=True)
def _scapulothoracic(q, u, params, R, p, Hw, Hv, dHw, dHv):
    """Rz(π/2) · ellipsoid(r_y, r_x, r_z) · Rz(−π/2) · T · Rot(d, q3) · T⁻¹.

    params: r_x, r_y, r_z, winging origin x, y, winging angle
    """
    Re, Rd, R1, spare = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((4, 3))
    radii = spare[0]
    radii[0], radii[1], radii[2] = params[1], params[0], params[2]
    _ellipsoid(q, u, radii, Re, p, Hw, Hv, dHv)
    _quarter_turn(p)
    for i in range(3):  # columns of the ellipsoid's own frame, seen from F
        _quarter_turn(Hw[i])
        _quarter_turn(Hv[i])
        _quarter_turn(dHv[i])
    for i in range(3):  # R1 = C Re Cᵀ with C = Rz(π/2)
        row0, row1 = -Re[1, i], Re[0, i]
        Re[0, i], Re[1, i] = row0, row1
    for i in range(3):
        R1[i, 0], R1[i, 1], R1[i, 2] = -Re[i, 1], Re[i, 0], Re[i, 2]
    axis, t, arm, rest = spare[0], spare[1], spare[2], spare[3]
    axis[0], axis[1], axis[2] = -sin(params[5]), cos(params[5]), 0.0
    t[0], t[1], t[2] = params[3], params[4], 0.0
    rotation_about(axis, q[3], Rd)
    matmul(R1, Rd, R)
    matvec(R1, t, arm)  # from the ellipsoid point to the winging axis, in F
    matvec(R, t, rest)  # from M's origin to the winging axis, in F
    w1, shift, wing = t, Re[0], Re[1]
    for i in range(3):
        w1[i] = Hw[0, i] * u[0] + Hw[1, i] * u[1] + Hw[2, i] * u[2]
    matvec(R1, axis, wing)
    for i in range(3):
        shift[i] = arm[i] - rest[i]  # M's origin from the ellipsoid point
        Hw[3, i] = wing[i]
    cross(w1, wing, dHw[3])
    w, d_arm, d_rest, d_shift = R1[0], R1[1], R1[2], Re[2]
    for i in range(3):
        w[i] = w1[i] + wing[i] * u[3]
    cross(w1, arm, d_arm)
    cross(w, rest, d_rest)
    for i in range(3):
        d_shift[i] = d_arm[i] - d_rest[i]
        p[i] += shift[i]
    a, b = Rd[0], Rd[1]
    for i in range(3):
        cross(Hw[i], shift, a)
        cross(Hw[i], d_shift, b)
        for j in range(3):
            Hv[i, j] += a[j]
            dHv[i, j] += b[j]
    cross(rest, wing, Hv[3])  # wing × (−rest)
    cross(d_rest, wing, a)
    cross(rest, dHw[3], b)
    for j in range(3):
        dHv[3, j] = a[j] + b[j]


@njit(cache=True, nogil=True)
def custom_joint_motion(
    F, first, last, slot, axis, fun, n_args, args, like_opensim, q, u, k, R, p, Hw, Hv, dHw, dHv, room
):  # fmt: skip
    """Fill the motion of a custom joint from its active axes first..last.

    slot (na,) 0–2 rotations, 3–5 translations | axis (na, 3) unit | fun, n_args (na,) | args (na, 6) local coordinates
    | like_opensim: see `_opensim_axis_rates`
    """
    a, w, Rk, Rn, x, g, h, turn = room.a, room.w, room.Rk, room.Rn, room.x, room.g, room.h, room.turn
    turn[:] = 0.0
    for i in range(3):
        p[i] = w[i] = 0.0
        for j in range(3):
            R[i, j] = 1.0 if i == j else 0.0
    for i in range(k):
        for j in range(3):
            Hw[i, j] = Hv[i, j] = dHw[i, j] = dHv[i, j] = 0.0
    for m in range(first, last):
        n = n_args[m]
        if n == 1:
            c = args[m, 0]
            f, g[0], h[0, 0] = evaluate(F, fun[m], q[c])
        else:
            for i in range(n):
                x[i] = q[args[m, i]]
            f = evaluate_many(F, fun[m], x, n, g, h)
        rotates = slot[m] < 3
        if rotates:
            matvec(R, axis[m], a)
        else:
            for j in range(3):
                a[j] = axis[m, j]
                p[j] += f * a[j]
        rate = 0.0
        s0 = w[1] * a[2] - w[2] * a[1]
        s1 = w[2] * a[0] - w[0] * a[2]
        s2 = w[0] * a[1] - w[1] * a[0]
        for i in range(n):
            c = args[m, i]
            rate += g[i] * u[c]
            g_rate = 0.0
            for j in range(n):
                g_rate += h[i, j] * u[args[m, j]]
            if rotates:
                for j in range(3):
                    Hw[c, j] += g[i] * a[j]
                    dHw[c, j] += g_rate * a[j]
                dHw[c, 0] += g[i] * s0
                dHw[c, 1] += g[i] * s1
                dHw[c, 2] += g[i] * s2
                turn[slot[m], 6 + c] = g[i]
            else:
                for j in range(3):
                    Hv[c, j] += g[i] * a[j]
                    dHv[c, j] += g_rate * a[j]
        if rotates:
            for j in range(3):
                turn[slot[m], j] = a[j]
                turn[slot[m], 3 + j] = w[j]
                w[j] += rate * a[j]
            rotation_about(axis[m], f, Rk)
            matmul(R, Rk, Rn)
            for i in range(3):
                for j in range(3):
                    R[i, j] = Rn[i, j]
    if like_opensim:
        _opensim_axis_rates(turn, u, k, Hw, dHw)


@njit(cache=True, nogil=True)
def _opensim_axis_rates(turn, u, k, Hw, dHw):
    """Replace the rates of the second and third rotation axis by OpenSim's.

    An axis turns with the rotations before it. OpenSim (Simbody's function-based mobilizer) takes instead all that
    coordinate 0 does for the second axis, and all but coordinate 2 for the third. That is the same when every rotation
    has a coordinate of its own, and slightly wrong when one coordinate drives several, as in the Rajagopal knee.
    turn (3, 12): for each rotation the axis, the angular velocity before it, and its slope by each coordinate
    """
    for slot in range(1, 3):
        d = turn[slot, 3:6]
        for j in range(3):
            used = 0.0
            for c in range(k):
                if (slot == 1 and c == 0) or (slot == 2 and c != 2):
                    used += Hw[c, j] * u[c]
            d[j] = used - d[j]
        a = turn[slot, :3]
        for c in range(k):
            g = turn[slot, 6 + c]
            dHw[c, 0] += g * (d[1] * a[2] - d[2] * a[1])
            dHw[c, 1] += g * (d[2] * a[0] - d[0] * a[2])
            dHw[c, 2] += g * (d[0] * a[1] - d[1] * a[0])
