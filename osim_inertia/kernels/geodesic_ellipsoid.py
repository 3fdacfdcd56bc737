"""Shortest path over an ellipsoid, in its frame: the start of the shooting, and when the surface acts.

    path segment --> [start] --> geodesic_surface --> geodesic record --> geodesic_points, shortest_path
                        ^ here
Scaling by the half axes turns the ellipsoid into the unit sphere and keeps tangents tangent. The start is the shortest
of a fan of plane sections through both ends. With a constrained quadrant the section goes over a guide point on the
active side: if the surface point nearest to the chord lies on the other side, its mirror image, as OpenSim does.
"""

from math import cos, pi, sin, sqrt

from osim_inertia.kernels.geodesic_common import (
    ELLIPSOID,
    G_ARC,
    G_KIND,
    G_P,
    G_Q1,
    G_S,
    G_SIZE,
    INSIDE,
    MANDATORY,
    NO_WRAP,
    put3,
    sum3,
)
from osim_inertia.kernels.geodesic_cylinder import HALF_TURN, arc_angle
from osim_inertia.kernels.geodesic_surface import surface_geodesic
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import (
    add,
    along,
    component,
    cross,
    distance,
    dot3,
    norm,
    on_side,
    scaled,
    sub,
    with_component,
)

SAME_DIRECTION = 1e-4  # 1 - cosine of the angle between the ends below which OpenSim does not wrap
CHORDS = 12  # of a section, to measure it
FAN = 12  # sections tried about the chord


@lean
def stretched(x, size):
    """Ellipsoid coordinates to those of the unit sphere."""
    return x[0] / size[0], x[1] / size[1], x[2] / size[2]


@lean
def shrunk(x, size):
    """Unit sphere coordinates back to the ellipsoid's."""
    return x[0] * size[0], x[1] * size[1], x[2] * size[2]


@lean
def ellipsoid_rule(p, s, size, axis, sign):
    """(code, guide point): whether the segment p-s is wrapped, and the surface point the start goes over."""
    u, v = stretched(p, size), stretched(s, size)
    if dot3(u, u) < 1.0 or dot3(v, v) < 1.0:
        return INSIDE, p
    if abs(dot3(p, s) / (norm(p) * norm(s)) - 1.0) < SAME_DIRECTION:
        return NO_WRAP, p
    d = sub(v, u)
    where = -dot3(u, d) / dot3(d, d)
    near = along(u, where, d)
    if dot3(near, near) >= 1.0 or where <= 0.0 or where >= 1.0:
        return NO_WRAP, p
    return MANDATORY, _best_guide(p, s, size, shrunk(near, size), axis, sign)


@lean
def _best_guide(p, s, size, m, axis, sign):
    """Surface point, seen from the middle m of the chord across it, over which the section through p and s is shortest.

    Constrained: only points on the active side; when OpenSim's own guide, the point nearest to m, is on the other
    side, its mirror image.
    """
    guide = nearest_on_ellipsoid(m, size)
    if axis >= 0 and not on_side(component(guide, axis), sign):
        return with_component(guide, axis, -component(guide, axis))
    d = sub(s, p)
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    u = cross(d, (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0)))
    u = scaled(1.0 / norm(u), u)
    v = cross(scaled(1.0 / norm(d), d), u)
    best = _section_length(p, s, size, guide)
    for i in range(FAN):
        angle = 2.0 * pi * i / FAN
        c = _hit(m, sum3(cos(angle), u, sin(angle), v, 0.0, v), size)
        if axis >= 0 and not on_side(component(c, axis), sign):
            continue
        length = _section_length(p, s, size, c)
        if length < best:
            best, guide = length, c
    return guide


@lean
def _hit(m, direction, size):
    """Where the ray from m (inside) meets the ellipsoid."""
    a, b = stretched(m, size), stretched(direction, size)
    bb, ab, c = dot3(b, b), dot3(a, b), 1.0 - dot3(a, a)
    return along(m, (sqrt(ab * ab + bb * c) - ab) / bb, direction)


@lean
def _section_length(p, s, size, guide):
    """Length of the section path over the guide point."""
    _, q1, q2, arc = _section(p, s, size, guide)
    return distance(p, q1) + arc + distance(q2, s)


@lean
def nearest_on_ellipsoid(m, size):
    """Point of the surface nearest to a point m inside; good enough for a start when m lies on a symmetry plane.

    x_i = a_i^2 m_i/(a_i^2 + t) with t the root of sum (a_i m_i/(a_i^2 + t))^2 = 1 above -min a^2, by bisection.
    """
    least = min(size[0], min(size[1], size[2]))
    low, high = -least * least, 0.0
    for _ in range(60):
        t = 0.5 * (low + high)
        x = _at(m, size, t)
        u = stretched(x, size)
        if dot3(u, u) > 1.0:
            low = t
        else:
            high = t
    x = _at(m, size, high)
    u = stretched(x, size)
    k = 0 if size[0] == least else (1 if size[1] == least else 2)
    short = 1.0 - dot3(u, u)
    if short > 0.0:  # m is so near the middle that the root lies at the pole: fill up along the shortest axis
        c = component(u, k)
        lift = sqrt(c * c + short)
        u = with_component(u, k, lift if c >= 0.0 else -lift)
    return shrunk(u, size)


@lean
def _at(m, size, t):
    """a^2 m/(a^2 + t), component by component."""
    a, b, c = size[0] * size[0], size[1] * size[1], size[2] * size[2]
    return a * m[0] / (a + t), b * m[1] / (b + t), c * m[2] / (c + t)


@lean
def ellipsoid_geodesic(p, s, size, guide, geo, arc):
    """Path from p to s over the side of the guide point, into geo (GEO,): whether the shooting converged."""
    geo[G_KIND] = ELLIPSOID
    put3(geo, G_SIZE, size)
    put3(geo, G_P, p)
    put3(geo, G_S, s)
    found, start, _, length = _section(p, s, size, guide)
    if not found:
        return False
    put3(geo, G_Q1, start)
    geo[G_ARC] = length
    return surface_geodesic(geo, arc)


@lean
def _section(p, s, size, guide):
    """(found, first contact, last contact, arc length) of the section by the plane through p, s and the guide point,
    over it.
    """
    u, v, c = stretched(p, size), stretched(s, size), stretched(guide, size)
    w = cross(sub(c, u), sub(v, u))
    if norm(w) < 1e-12:
        return False, p, s, 0.0
    w = scaled(1.0 / norm(w), w)
    centre = scaled(dot3(w, u), w)
    radius = sqrt(max(1.0 - dot3(centre, centre), 0.0))
    u, v = sub(u, centre), sub(v, centre)
    n1, n2 = _section_contact(u, radius, w, 1.0), _section_contact(v, radius, w, -1.0)
    theta = arc_angle(dot3(cross(n1, n2), w), dot3(n1, n2), HALF_TURN)
    start = shrunk(add(centre, scaled(radius, n1)), size)
    length, last = 0.0, start
    t1 = cross(w, n1)
    for i in range(CHORDS):
        psi = theta * (i + 1) / CHORDS
        n = sum3(cos(psi), n1, sin(psi), t1, 0.0, t1)
        x = shrunk(add(centre, scaled(radius, n)), size)
        length += distance(x, last)
        last = x
    half = 0.5 * theta / CHORDS
    return True, start, last, length * (half / sin(half) if half > 1e-6 else 1.0)


@lean
def _section_contact(u, radius, w, turn):
    """Normal at the contact of the tangent from u to the section circle about the origin; w is the plane's normal."""
    d2 = dot3(u, u)
    a = sqrt(max(d2 - radius * radius, 0.0))
    return sum3(radius / d2, u, turn * a / d2, cross(w, u), 0.0, u)
