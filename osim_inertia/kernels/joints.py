"""What each joint does: pose of frame M in frame F, and its velocity per unit u (OPENSIM_SEMANTICS.md §2.2–2.3).

A joint with coordinates first … first + k returns (R, p), the pose of M in F, and fills its rows of the motion X, in
axes of F:
    Hw, Hv        angular velocity of M and velocity of its origin, per unit u
    dHw, dHv      their rates along u
For Ball, Free, Ellipsoid and the first three of Scapulothoracic, u is an angular velocity, not the rate of q.
"""

from __future__ import annotations

from math import cos, sin

from osim_inertia.kernels.functions import evaluate, evaluate_many
from osim_inertia.kernels.jit import inlined, lean
from osim_inertia.kernels.rotation import IDENTITY, axis_rotation, product, push, put, row, times, xyz_rotation
from osim_inertia.kernels.vec3 import add, cross, scaled, sub

WELD, PIN, SLIDER, UNIVERSAL, GIMBAL, PLANAR, BALL, FREE, ELLIPSOID, SCAPULOTHORACIC, CUSTOM = range(11)

ORIGIN = (0.0, 0.0, 0.0)
AXIS_X, AXIS_Y, AXIS_Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@inlined
def joint_motion(A, body, q, u, X):
    """(R, p) of the joint that carries a body; its rows of X are filled. q, u (n,)."""
    kind, i, k = A.kind[body], A.first[body], A.dofs[body]
    for c in range(i, i + k):
        put(X.Hw, c, ORIGIN)
        put(X.Hv, c, ORIGIN)
        put(X.dHw, c, ORIGIN)
        put(X.dHv, c, ORIGIN)
    if kind == CUSTOM:
        return _custom(A, body, q, u, X)
    if kind == PIN:
        put(X.Hw, i, AXIS_Z)
        return axis_rotation(AXIS_Z, q[i]), ORIGIN
    if kind == WELD:
        return IDENTITY, ORIGIN
    if kind == SLIDER:
        put(X.Hv, i, AXIS_X)
        return IDENTITY, (q[i], 0.0, 0.0)
    if kind == PLANAR:
        put(X.Hw, i, AXIS_Z)
        put(X.Hv, i + 1, AXIS_X)
        put(X.Hv, i + 2, AXIS_Y)
        return axis_rotation(AXIS_Z, q[i]), (q[i + 1], q[i + 2], 0.0)
    if kind == UNIVERSAL:
        _successive_axes(q, u, i, 2, X)
        return xyz_rotation(q[i], q[i + 1], 0.0), ORIGIN
    R = xyz_rotation(q[i], q[i + 1], q[i + 2])
    if kind == GIMBAL:
        _successive_axes(q, u, i, 3, X)
        return R, ORIGIN
    put(X.Hw, i, AXIS_X)
    put(X.Hw, i + 1, AXIS_Y)
    put(X.Hw, i + 2, AXIS_Z)
    if kind == FREE:
        put(X.Hv, i + 3, AXIS_X)
        put(X.Hv, i + 4, AXIS_Y)
        put(X.Hv, i + 5, AXIS_Z)
        return R, (q[i + 3], q[i + 4], q[i + 5])
    radii = row(A.params, body)
    if kind == ELLIPSOID:
        return R, _on_ellipsoid(radii, R, u, i, X)
    if kind == SCAPULOTHORACIC:
        p = _on_ellipsoid((radii[1], radii[0], radii[2]), R, u, i, X)
        return _scapulothoracic(A, body, R, p, q, u, i, X)
    return R, ORIGIN


@lean
def _rare_joint_pose(A, body, q, X):
    """As `joint_pose`, for kinds that are not worth their space in its loop."""
    return joint_motion(A, body, q, q, X)


@inlined
def joint_pose(A, body, q, X):
    """(R, p) of the joint that carries a body, without its velocities."""
    kind, i = A.kind[body], A.first[body]
    if kind == PIN:
        return axis_rotation(AXIS_Z, q[i]), ORIGIN
    if kind == WELD:
        return IDENTITY, ORIGIN
    if kind != CUSTOM:
        return _rare_joint_pose(A, body, q, X)
    R, p = IDENTITY, ORIGIN
    for m in range(A.axis_first[body], A.axis_last[body]):
        n, axis = A.axis_n_args[m], row(A.axis, m)
        if n == 1:
            f, _, _ = evaluate(A.functions, A.axis_function[m], q[i + A.axis_args[m, 0]])
        else:
            for j in range(n):
                X.arguments[j] = q[i + A.axis_args[m, j]]
            f = evaluate_many(A.functions, A.axis_function[m], X.arguments, n, X.gradient, X.hessian)
        if A.axis_slot[m] < 3:
            R = product(R, axis_rotation(axis, f))
        else:
            p = add(p, scaled(f, axis))
    return R, p


@lean
def _successive_axes(q, u, i, n, X):
    """Axes of Rx(q0) Ry(q1) Rz(q2) in F and their rates."""
    c0, s0 = cos(q[i]), sin(q[i])
    put(X.Hw, i, AXIS_X)
    put(X.Hw, i + 1, (0.0, c0, s0))
    put(X.dHw, i + 1, (0.0, -s0 * u[i], c0 * u[i]))
    if n == 3:
        c1, s1 = cos(q[i + 1]), sin(q[i + 1])
        put(X.Hw, i + 2, (s1, -s0 * c1, c0 * c1))
        turn = add((u[i], 0.0, 0.0), scaled(u[i + 1], row(X.Hw, i + 1)))
        put(X.dHw, i + 2, cross(turn, row(X.Hw, i + 2)))


@lean
def _on_ellipsoid(radii, R, u, i, X):
    """The origin sits where the third axis n of R points: p = (a n_x, b n_y, c n_z)."""
    a, b, c = radii
    n = (R[2], R[5], R[8])
    d = cross((u[i], u[i + 1], u[i + 2]), n)
    put(X.Hv, i, (0.0, -b * n[2], c * n[1]))
    put(X.Hv, i + 1, (a * n[2], 0.0, -c * n[0]))
    put(X.Hv, i + 2, (-a * n[1], b * n[0], 0.0))
    put(X.dHv, i, (0.0, -b * d[2], c * d[1]))
    put(X.dHv, i + 1, (a * d[2], 0.0, -c * d[0]))
    put(X.dHv, i + 2, (-a * d[1], b * d[0], 0.0))
    return a * n[0], b * n[1], c * n[2]


@lean
def _quarter_turn(a):
    """Rz(π/2) a."""
    return -a[1], a[0], a[2]


@lean
def _scapulothoracic(A, body, Re, p, q, u, i, X):
    """Rz(π/2) · ellipsoid(r_y, r_x, r_z) · Rz(−π/2) · T · Rot(d, q3) · T⁻¹, given the ellipsoid's Re, p and rows."""
    p = _quarter_turn(p)
    w1 = ORIGIN
    for c in range(i, i + 3):  # the ellipsoid's own frame, seen from F
        put(X.Hw, c, _quarter_turn(row(X.Hw, c)))
        put(X.Hv, c, _quarter_turn(row(X.Hv, c)))
        put(X.dHv, c, _quarter_turn(row(X.dHv, c)))
        w1 = add(w1, scaled(u[c], row(X.Hw, c)))
    R1 = (Re[4], -Re[3], -Re[5], -Re[1], Re[0], Re[2], -Re[7], Re[6], Re[8])  # C Re Cᵀ with C = Rz(π/2)
    origin = (A.params[body, 3], A.params[body, 4], 0.0)
    direction = (-sin(A.params[body, 5]), cos(A.params[body, 5]), 0.0)
    R = product(R1, axis_rotation(direction, q[i + 3]))
    arm, rest = times(R1, origin), times(R, origin)  # to the winging axis: from the ellipsoid point, from M's origin
    wing = times(R1, direction)
    w = add(w1, scaled(u[i + 3], wing))
    shift, d_rest = sub(arm, rest), cross(w, rest)
    d_shift = sub(cross(w1, arm), d_rest)
    for c in range(i, i + 3):
        push(X.Hv, c, cross(row(X.Hw, c), shift))
        push(X.dHv, c, cross(row(X.Hw, c), d_shift))
    d_wing = cross(w1, wing)
    put(X.Hw, i + 3, wing)
    put(X.dHw, i + 3, d_wing)
    put(X.Hv, i + 3, cross(rest, wing))
    put(X.dHv, i + 3, add(cross(d_rest, wing), cross(rest, d_wing)))
    return R, add(p, shift)


@inlined
def _custom(A, body, q, u, X):
    """The active axes in turn: rotations compose, translations add up in F."""
    i, k = A.first[body], A.dofs[body]
    g, h, turn = X.gradient, X.hessian, X.turn
    like_opensim = A.like_opensim[body]
    if like_opensim:
        turn[:] = 0.0
    R, p, w = IDENTITY, ORIGIN, ORIGIN
    for m in range(A.axis_first[body], A.axis_last[body]):
        n, slot = A.axis_n_args[m], A.axis_slot[m]
        if n == 1:
            f, g[0], h[0, 0] = evaluate(A.functions, A.axis_function[m], q[i + A.axis_args[m, 0]])
        else:
            for j in range(n):
                X.arguments[j] = q[i + A.axis_args[m, j]]
            f = evaluate_many(A.functions, A.axis_function[m], X.arguments, n, g, h)
        axis = row(A.axis, m)
        rate = 0.0
        if slot >= 3:
            p = add(p, scaled(f, axis))
        else:
            a = times(R, axis)
            w_cross_a = cross(w, a)
        for j in range(n):
            c = i + A.axis_args[m, j]
            rate += g[j] * u[c]
            g_rate = 0.0
            for l in range(n):
                g_rate += h[j, l] * u[i + A.axis_args[m, l]]
            if slot >= 3:
                push(X.Hv, c, scaled(g[j], axis))
                push(X.dHv, c, scaled(g_rate, axis))
            else:
                push(X.Hw, c, scaled(g[j], a))
                push(X.dHw, c, add(scaled(g_rate, a), scaled(g[j], w_cross_a)))
                turn[slot, 6 + c - i] = g[j]
        if slot < 3:
            for j in range(3):
                turn[slot, j] = a[j]
                turn[slot, 3 + j] = w[j]
            w = add(w, scaled(rate, a))
            R = product(R, axis_rotation(axis, f))
    if like_opensim:
        _opensim_axis_rates(turn, u, i, k, X)
    return R, p


@lean
def _opensim_axis_rates(turn, u, i, k, X):
    """Replace the rates of the second and third rotation axis by OpenSim's.

    An axis turns with the rotations before it. OpenSim (Simbody's function-based mobilizer) takes instead all that
    coordinate 0 does for the second axis, and all but coordinate 2 for the third. That is the same when every rotation
    has a coordinate of its own, and slightly wrong when one coordinate drives several, as in the Rajagopal knee.
    turn (3, 12): for each rotation the axis, the angular velocity before it, and its slope by each coordinate
    """
    for slot in range(1, 3):
        used = ORIGIN
        for c in range(k):
            if (slot == 1 and c == 0) or (slot == 2 and c != 2):
                used = add(used, scaled(u[i + c], row(X.Hw, i + c)))
        right = (turn[slot, 3], turn[slot, 4], turn[slot, 5])
        excess = cross(sub(used, right), row(turn, slot))
        for c in range(k):
            push(X.dHw, i + c, scaled(turn[slot, 6 + c], excess))
