"""Shortest path over a cylinder (axis z), in its frame: closed form, exact to rounding.

    path segment --> [one surface] --> geodesic record --> geodesic_points, shortest_path
                          ^ here
Unrolled, the path is a straight line: in the cross-section it is tangent - arc - tangent, and the height rises evenly
along it. With n, t the radial and tangential unit vectors at the contact angles alpha (turning the way the path
goes):

    p = r n1 - a t1     s = r n2 + b t2     planar length Lam = a + r theta + b     l = sqrt(Lam^2 + h^2)
    a alpha1' = n1.p'   b alpha2' = -n2.s'  Lam' = t2.s' - t1.p'                    (' = rate)
"""

from math import atan2, cos, floor, pi, sin, sqrt

from osim_inertia.kernels.geodesic_common import (
    A_B,
    A_KAPPA,
    A_N,
    A_T,
    A_TAU,
    A_X,
    A_Y1,
    A_Y1P,
    A_Y2,
    A_Y2P,
    CYLINDER,
    G_A,
    G_ARC,
    G_B,
    G_E1,
    G_E2,
    G_KIND,
    G_LENGTH,
    G_N1,
    G_N2,
    G_P,
    G_PLANAR,
    G_Q1,
    G_Q2,
    G_S,
    G_SENSE,
    G_SIZE,
    G_THETA,
    INSIDE,
    M_ACCEL,
    M_E1DOT,
    M_E2DOT,
    M_OWN,
    M_PDDOT,
    M_RATE,
    M_SDDOT,
    MANDATORY,
    NO_WRAP,
    WRAPPED,
    get3,
    put3,
    set_ends,
    set_jacobi,
    start_motion,
    sum3,
)
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import along, component, cross, dot3, on_side, sub

HALF_TURN = pi - 1e-9  # middle of all arcs: one that rounding has made slightly negative is no full turn
PARALLEL = 2e-13  # sin^2 of the angle to the axis below which a segment cannot hit the cylinder, as in OpenSim

# the cylinder's own motion numbers
C_SLIDE = M_OWN  # t1.p'
C_SLIDE_DOT = M_OWN + 1
C_PLANAR_DOT = M_OWN + 2
C_PLANAR_DDOT = M_OWN + 3


@lean
def tangent_normal(p, radius, turn):
    """(tangent length, nx, ny): normal at the contact of the tangent from p; turn +1 is the contact ahead counter-
    clockwise.
    """
    d2 = p[0] * p[0] + p[1] * p[1]
    a = sqrt(max(d2 - radius * radius, 0.0))
    return a, (radius * p[0] - turn * a * p[1]) / d2, (radius * p[1] + turn * a * p[0]) / d2


@lean
def arc_angle(sine, cosine, middle):
    """Angle of an arc from its sine and cosine, within half a turn of `middle`."""
    theta = atan2(sine, cosine)
    return theta + 2.0 * pi * floor((middle - theta) / (2.0 * pi) + 0.5)


@lean
def cylinder_geodesic(p, s, radius, sense, middle, geo):
    """Path from p to s turning about +z (sense +1) or -z (-1), into geo (GEO,). p, s tuples outside the cylinder.

    The arc's angle is taken within half a turn of `middle`: HALF_TURN for any path, the old angle to follow a known
    one.
    """
    a, n1x, n1y = tangent_normal(p, radius, sense)
    b, n2x, n2y = tangent_normal(s, radius, -sense)
    theta = arc_angle(sense * (n1x * n2y - n1y * n2x), n1x * n2x + n1y * n2y, middle)
    planar = a + radius * theta + b
    rise = s[2] - p[2]
    length = sqrt(planar * planar + rise * rise)
    c, z = planar / length, rise / length
    stretch = length / planar
    geo[G_KIND] = CYLINDER
    geo[G_SIZE] = radius
    geo[G_SENSE] = sense
    geo[G_THETA] = theta
    geo[G_PLANAR] = planar
    geo[G_LENGTH] = length
    geo[G_A], geo[G_ARC], geo[G_B] = a * stretch, radius * theta * stretch, b * stretch
    put3(geo, G_P, p)
    put3(geo, G_S, s)
    set_ends(
        geo,
        (-sense * n1y * c, sense * n1x * c, z),
        (n1x, n1y, 0.0),
        (-sense * n2y * c, sense * n2x * c, z),
        (n2x, n2y, 0.0),
    )
    put3(geo, G_Q1, (radius * n1x, radius * n1y, p[2] + rise * a / planar))
    put3(geo, G_Q2, (radius * n2x, radius * n2y, s[2] - rise * b / planar))
    set_jacobi(geo, 1.0, 0.0, geo[G_ARC], 1.0)


@lean
def _tangents(geo):
    """Planar unit tangents t1, t2 in the direction of travel."""
    c = geo[G_LENGTH] / geo[G_PLANAR]
    return (c * geo[G_E1], c * geo[G_E1 + 1], 0.0), (c * geo[G_E2], c * geo[G_E2 + 1], 0.0)


@lean
def cylinder_arc(geo, way, arc):
    """State of the arc's point at arc length `way` from the first contact, into arc (ARC_STATE,)."""
    radius, slope = geo[G_SIZE], geo[G_PLANAR] / geo[G_LENGTH]
    n1 = get3(geo, G_N1)
    t1, _ = _tangents(geo)
    psi = way * slope / radius
    c, s = cos(psi), sin(psi)
    n = sum3(c, n1, s, t1, 0.0, t1)
    tx, ty = c * t1[0] - s * n1[0], c * t1[1] - s * n1[1]
    z = (geo[G_S + 2] - geo[G_P + 2]) / geo[G_LENGTH]
    t = (slope * tx, slope * ty, z)
    b = cross(t, n)
    put3(arc, A_X, (radius * n[0], radius * n[1], geo[G_Q1 + 2] + z * way))
    put3(arc, A_T, t)
    put3(arc, A_N, n)
    put3(arc, A_B, b)
    arc[A_Y1], arc[A_Y1P], arc[A_Y2], arc[A_Y2P] = 1.0, 0.0, way, 1.0
    arc[A_KAPPA] = slope * slope / radius
    arc[A_TAU] = slope / radius * (tx * b[0] + ty * b[1])


@lean
def cylinder_motion(geo, pdot, pddot, sdot, sddot, mot):
    """Rates of length and directions for a motion of the ends, into mot (MOT,)."""
    start_motion(geo, pdot, pddot, sdot, sddot, mot)
    n1, n2 = get3(geo, G_N1), get3(geo, G_N2)
    t1, t2 = _tangents(geo)
    stretch = geo[G_PLANAR] / geo[G_LENGTH]
    a, b = max(geo[G_A] * stretch, 1e-14), max(geo[G_B] * stretch, 1e-14)
    u1, u2 = dot3(n1, pdot) / a, -dot3(n2, sdot) / b  # rates of the contact angles
    slide, push = dot3(t1, pdot), dot3(t2, sdot)
    slide_dot = dot3(t1, pddot) - a * u1 * u1
    push_dot = dot3(t2, sddot) + b * u2 * u2
    u1dot = (dot3(n1, pddot) + slide * u1 - (geo[G_SIZE] * u1 - slide) * u1) / a
    u2dot = (-dot3(n2, sddot) - push * u2 - (push - geo[G_SIZE] * u2) * u2) / b
    planar, rate, accel = geo[G_PLANAR], push - slide, push_dot - slide_dot
    mot[C_SLIDE], mot[C_SLIDE_DOT], mot[C_PLANAR_DOT], mot[C_PLANAR_DDOT] = slide, slide_dot, rate, accel
    rise_ddot = sddot[2] - pddot[2]
    c1 = sum3(accel - planar * u1 * u1, t1, -2.0 * rate * u1 - planar * u1dot, n1, 0.0, t1)
    c2 = sum3(accel - planar * u2 * u2, t2, -2.0 * rate * u2 - planar * u2dot, n2, 0.0, t2)
    _unit_second_rate(geo, mot, G_E1, M_E1DOT, (c1[0], c1[1], rise_ddot))
    _unit_second_rate(geo, mot, G_E2, M_E2DOT, (c2[0], c2[1], rise_ddot))


@lean
def _unit_second_rate(geo, mot, at, at_rate, lddot):
    """Second rate of the direction e stored at `at` in geo (its rate at `at_rate` in mot) from the second rate of l
    e.
    """
    length = geo[G_LENGTH]
    e, edot = get3(geo, at), get3(mot, at_rate)
    eddot = sum3(1.0 / length, lddot, -mot[M_ACCEL] / length, e, -2.0 * mot[M_RATE] / length, edot)
    put3(mot, at_rate + 3, eddot)


@lean
def cylinder_arc_second(geo, mot, arc, eta):
    """Second rate of the arc's point at fixed eta: r n moves by r psi' t in the cross-section, evenly in height."""
    n = get3(arc, A_N)
    t = get3(arc, A_T)
    slope = geo[G_PLANAR] / geo[G_LENGTH]
    v = mot[C_SLIDE] + eta * mot[C_PLANAR_DOT]
    w = (mot[C_SLIDE_DOT] + eta * mot[C_PLANAR_DDOT]) / slope
    c = v * v / geo[G_SIZE]
    z = (1.0 - eta) * mot[M_PDDOT + 2] + eta * mot[M_SDDOT + 2]
    return w * t[0] - c * n[0], w * t[1] - c * n[1], z


@lean
def cylinder_rule(p, s, radius, axis, sign):
    """(code, sense) of the segment p-s: when OpenSim wraps it, and which way round.

    axis -1 = any side, else 0, 1, 2 with sign +1 or -1. Not yet tried: the ends of a finite cylinder.
    """
    limit = radius * radius
    if p[0] * p[0] + p[1] * p[1] < limit or s[0] * s[0] + s[1] * s[1] < limit:
        return INSIDE, 1.0
    d = sub(s, p)
    across = d[0] * d[0] + d[1] * d[1]
    hit, near = False, p
    if across > PARALLEL * (across + d[2] * d[2]):
        along_way = -(p[0] * d[0] + p[1] * d[1]) / across
        near = along(p, along_way, d)
        hit = near[0] * near[0] + near[1] * near[1] < limit and 0.0 < along_way < 1.0
    if axis < 0:
        shorter = 1.0 if p[0] * s[1] - p[1] * s[0] >= 0.0 else -1.0
        return (MANDATORY if hit else NO_WRAP), shorter
    p_in, s_in = on_side(component(p, axis), sign), on_side(component(s, axis), sign)
    if not (p_in or s_in):
        code = WRAPPED  # goes round even without contact
    elif hit:
        code = MANDATORY
    elif p_in != s_in and not on_side(component(near, axis), sign):
        code = WRAPPED
    else:
        return NO_WRAP, 1.0
    return code, _sense_on_side(p, s, radius, axis, sign)


@lean
def _sense_on_side(p, s, radius, axis, sign):
    """+1 or -1: the way round that OpenSim takes when the quadrant is constrained."""
    _, x, y = tangent_normal(p, radius, 1.0)
    p_ahead = (x, y, p[2])
    _, x, y = tangent_normal(p, radius, -1.0)
    p_behind = (x, y, p[2])
    _, x, y = tangent_normal(s, radius, 1.0)
    s_ahead = (x, y, s[2])
    _, x, y = tangent_normal(s, radius, -1.0)
    s_behind = (x, y, s[2])
    ahead_in = on_side(component(p_ahead, axis), sign)
    if ahead_in != on_side(component(p_behind, axis), sign):
        return 1.0 if ahead_in else -1.0
    if on_side(component(s_ahead, axis), sign):
        return -1.0
    if ahead_in or on_side(component(s_behind, axis), sign):
        return 1.0
    forward = p_ahead[0] * s_behind[0] + p_ahead[1] * s_behind[1]
    backward = p_behind[0] * s_ahead[0] + p_behind[1] * s_ahead[1]
    return 1.0 if forward < backward else -1.0  # nothing on the active side: the larger angle


@lean
def beyond_ends(geo, length):
    """Whether both contacts lie beyond the ends of a cylinder of this length: then OpenSim lets the segment pass."""
    return abs(geo[G_Q1 + 2]) > 0.5 * length and abs(geo[G_Q2 + 2]) > 0.5 * length
