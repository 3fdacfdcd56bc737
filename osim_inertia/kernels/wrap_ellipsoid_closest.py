"""Closest points of an ellipsoid, as OpenSim's ellipsoid wrap finds them.

    wrap_ellipsoid: ends --> guide point --> [closest point of the surface] --> plane, tangent points, arc
                                                        ^ here
Newton's method on Eberly's polynomial (Graphics Gems IV), stopped at |f| < 1e-9 and not polished, because the wrap must
end where OpenSim's does. Points on a coordinate plane are treated in the ellipse of that plane.
All lengths here are scaled (mean radius 1).
"""

from math import sqrt

from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.vec3 import largest

ON_PLANE = 2e-13  # a coordinate this small is zero
RESIDUAL = 1e-9
ITERATIONS = 64


@kernel
def closest_on_ellipsoid(radii, p, previous):
    """Point of the ellipsoid closest to p; `previous` when the iteration fails (OpenSim then keeps its old value)."""
    if abs(p[0]) <= ON_PLANE or abs(p[1]) <= ON_PLANE or abs(p[2]) <= ON_PLANE:
        return closest_in_plane(radii, p, _narrowest_plane(radii, p))
    t = 0.0
    if (p[0] / radii[0]) ** 2 + (p[1] / radii[1]) ** 2 + (p[2] / radii[2]) ** 2 >= 1.0:
        t = max(radii[0], radii[1], radii[2]) * sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
    a2, b2, c2 = radii[0] * radii[0], radii[1] * radii[1], radii[2] * radii[2]
    au, bv, cw = a2 * (p[0] * p[0]), b2 * (p[1] * p[1]), c2 * (p[2] * p[2])
    for _ in range(ITERATIONS):
        P, Q, R = t + a2, t + b2, t + c2
        P2, Q2, R2 = P * P, Q * Q, R * R
        f = P2 * Q2 * R2 - au * Q2 * R2 - bv * P2 * R2 - cw * P2 * Q2
        if abs(f) < RESIDUAL:
            return a2 * p[0] / P, b2 * p[1] / Q, c2 * p[2] / R
        PQ, PR, QR = P * Q, P * R, Q * R
        slope = 2.0 * (P * Q * R * (QR + PR + PQ) - au * QR * (Q + R) - bv * PR * (P + R) - cw * PQ * (P + Q))
        t -= f / slope
    return previous


@kernel
def _narrowest_plane(radii, p):
    """Of the coordinate planes p lies on, the one with the smallest ellipse: normal to the longest radius."""
    x = radii[0] if abs(p[0]) <= ON_PLANE else 0.0
    y = radii[1] if abs(p[1]) <= ON_PLANE else 0.0
    z = radii[2] if abs(p[2]) <= ON_PLANE else 0.0
    return largest((x, y, z))


@kernel
def closest_in_plane(radii, p, k):
    """Point of the ellipse in the plane normal to axis k that is closest to p; coordinate k of p is kept."""
    if k == 0:
        y, z = _closest_on_ellipse(radii[1], radii[2], p[1], p[2])
        return p[0], y, z
    if k == 1:
        z, x = _closest_on_ellipse(radii[2], radii[0], p[2], p[0])
        return x, p[1], z
    x, y = _closest_on_ellipse(radii[0], radii[1], p[0], p[1])
    return x, y, p[2]


@kernel
def _closest_on_ellipse(a, b, u, v):
    """Closest point of the ellipse (x/a)^2 + (y/b)^2 = 1 to (u, v)."""
    at_x, at_y = abs(u) <= ON_PLANE, abs(v) <= ON_PLANE
    if at_x and at_y:
        if a < b:
            return (-a if u < 0.0 else a), v
        return u, (-b if v < 0.0 else b)
    if at_x:
        return _closest_on_axis(a, b, u, v)
    if at_y:
        y, x = _closest_on_axis(b, a, v, u)
        return x, y
    t = 0.0
    if (u / a) * (u / a) + (v / b) * (v / b) >= 1.0:
        t = max(a, b) * sqrt(u * u + v * v)
    a2, b2 = a * a, b * b
    au, bv = a2 * (u * u), b2 * (v * v)
    P, Q = t + a2, t + b2
    for _ in range(ITERATIONS):
        P, Q = t + a2, t + b2
        f = P * P * (Q * Q) - au * (Q * Q) - bv * (P * P)
        if abs(f) < RESIDUAL:
            break
        t -= f / (2.0 * (P * Q * (P + Q) - au * Q - bv * P))
    return a2 * u / P, b2 * v / Q


@kernel
def _closest_on_axis(a, b, u, v):
    """Closest point to (u, v) with u = 0: the vertex, or a point beside the axis when v is within the evolute."""
    if a >= b or abs(v) >= b - a * a / b:
        return u, (b if v >= 0.0 else -b)
    y = b * b * v / (b * b - a * a)
    return a * sqrt(abs(1.0 - (y / b) * (y / b))), y
