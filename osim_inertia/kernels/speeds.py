"""Between the rates of q and the speeds u: they differ where u is an angular velocity (OPENSIM_SEMANTICS.md §2.2).

For Ball, Free, Ellipsoid and Scapulothoracic joints  ω = E(q) q̇  with columns (1,0,0), (0,cx,sx), (sy,−sx cy,cx cy).
"""

from __future__ import annotations

from math import cos, sin

from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.joints import BALL, ELLIPSOID, FREE, SCAPULOTHORACIC


@kernel
def turns_by_angular_velocity(kind):
    """True for joints whose first three speeds are an angular velocity."""
    return kind in (BALL, FREE, ELLIPSOID, SCAPULOTHORACIC)


@kernel
def qdot_from_u(A, q, u, start, stop, qdot):
    """Rates of the coordinates, (F, n)."""
    for f in range(start, stop):
        for c in range(q.shape[1]):
            qdot[f, c] = u[f, c]
        for body in range(A.kind.shape[0]):
            if turns_by_angular_velocity(A.kind[body]):
                i = A.first[body]
                sx, cx, sy, cy = sin(q[f, i]), cos(q[f, i]), sin(q[f, i + 1]), cos(q[f, i + 1])
                turn = (cx * u[f, i + 2] - sx * u[f, i + 1]) / cy
                qdot[f, i] = u[f, i] - sy * turn
                qdot[f, i + 1] = cx * u[f, i + 1] + sx * u[f, i + 2]
                qdot[f, i + 2] = turn


@kernel
def u_from_qdot(A, q, qdot, qddot, start, stop, u, udot):
    """Speeds and their rates from the first and second rates of the coordinates, all (F, n)."""
    for f in range(start, stop):
        for c in range(q.shape[1]):
            u[f, c] = qdot[f, c]
            udot[f, c] = qddot[f, c]
        for body in range(A.kind.shape[0]):
            if turns_by_angular_velocity(A.kind[body]):
                i = A.first[body]
                x, y, z = qdot[f, i], qdot[f, i + 1], qdot[f, i + 2]
                ax, ay, az = qddot[f, i], qddot[f, i + 1], qddot[f, i + 2]
                sx, cx, sy, cy = sin(q[f, i]), cos(q[f, i]), sin(q[f, i + 1]), cos(q[f, i + 1])
                u[f, i] = x + sy * z
                u[f, i + 1] = cx * y - sx * cy * z
                u[f, i + 2] = sx * y + cx * cy * z
                udot[f, i] = ax + sy * az + cy * y * z
                udot[f, i + 1] = cx * ay - sx * cy * az - sx * x * y - (cx * cy * x - sx * sy * y) * z
                udot[f, i + 2] = sx * ay + cx * cy * az + cx * x * y - (sx * cy * x + cx * sy * y) * z
