"""Shortest path over a sphere, in its frame: closed form, exact to rounding.

    path segment --> [one surface] --> geodesic record --> geodesic_points, shortest_path
                          ^ here
The path lies in the plane of both ends and the centre, where it is the cylinder's tangent - arc - tangent. When the
ends move the plane turns about an axis omega that lies in it; seen from the plane the ends move by their in-plane
components, so the planar closed form holds there, and omega adds the usual terms of a rotating frame. When the ends
are opposite each other there are infinitely many shortest paths: any is taken, the length is right, the rates are not
defined.
"""

from math import cos, sin, sqrt

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
    G_A,
    G_ARC,
    G_B,
    G_B1,
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
    M_E1DDOT,
    M_E2DDOT,
    M_OWN,
    M_RATE,
    MANDATORY,
    NO_WRAP,
    SPHERE,
    WRAPPED,
    get3,
    put3,
    set_ends,
    set_jacobi,
    start_motion,
    sum3,
)
from osim_inertia.kernels.geodesic_cylinder import arc_angle
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import add, along, component, cross, dot3, norm, on_side, scaled, sub

COLLINEAR = 1e-12  # sine of the angle at the centre below which the plane of the path is arbitrary
REACH = 1.0  # m; OpenSim compares a distance with 1 where a fraction was meant

# the sphere's own motion numbers
S_SLIDE = M_OWN  # t1.p'
S_SLIDE_DOT = M_OWN + 1
S_OMEGA = M_OWN + 2
S_ALPHA = M_OWN + 5


@lean
def plane_normal(p, s):
    """Unit normal of the plane of p, s and the centre, turning from p to s the shorter way; any when collinear."""
    w = cross(p, s)
    size = norm(w)
    if size > COLLINEAR * norm(p) * norm(s):
        return scaled(1.0 / size, w)
    w = cross(p, (1.0, 0.0, 0.0)) if abs(p[0]) <= min(abs(p[1]), abs(p[2])) else cross(p, (0.0, 1.0, 0.0))
    if abs(p[2]) < min(abs(p[0]), abs(p[1])):
        w = cross(p, (0.0, 0.0, 1.0))
    return scaled(1.0 / norm(w), w)


@lean
def sphere_contact(p, radius, w, turn):
    """(tangent length, normal at the contact) of the tangent from p in the plane with normal w; turn as for the
    cylinder.
    """
    d2 = dot3(p, p)
    a = sqrt(max(d2 - radius * radius, 0.0))
    return a, sum3(radius / d2, p, turn * a / d2, cross(w, p), 0.0, p)


@lean
def sphere_geodesic(p, s, radius, sense, middle, geo):
    """Path from p to s the shorter (sense +1) or the longer (-1) way round, into geo (GEO,); middle as for the
    cylinder.
    """
    w = scaled(sense, plane_normal(p, s))
    a, n1 = sphere_contact(p, radius, w, 1.0)
    b, n2 = sphere_contact(s, radius, w, -1.0)
    theta = arc_angle(dot3(cross(n1, n2), w), dot3(n1, n2), middle)
    geo[G_KIND] = SPHERE
    geo[G_SIZE] = radius
    geo[G_SENSE] = sense
    geo[G_THETA] = theta
    geo[G_LENGTH] = geo[G_PLANAR] = a + radius * theta + b
    geo[G_A], geo[G_ARC], geo[G_B] = a, radius * theta, b
    put3(geo, G_P, p)
    put3(geo, G_S, s)
    set_ends(geo, cross(w, n1), n1, cross(w, n2), n2)
    put3(geo, G_Q1, scaled(radius, n1))
    put3(geo, G_Q2, scaled(radius, n2))
    c, si = cos(theta), sin(theta)
    set_jacobi(geo, c, -si / radius, radius * si, c)


@lean
def sphere_arc(geo, way, arc):
    """State of the arc's point at arc length `way` from the first contact, into arc (ARC_STATE,)."""
    radius = geo[G_SIZE]
    n1, t1 = get3(geo, G_N1), get3(geo, G_E1)
    c, s = cos(way / radius), sin(way / radius)
    n = sum3(c, n1, s, t1, 0.0, t1)
    put3(arc, A_X, scaled(radius, n))
    put3(arc, A_T, sum3(c, t1, -s, n1, 0.0, t1))
    put3(arc, A_N, n)
    put3(arc, A_B, get3(geo, G_B1))
    arc[A_Y1], arc[A_Y1P], arc[A_Y2], arc[A_Y2P] = c, -s / radius, radius * s, c
    arc[A_KAPPA], arc[A_TAU] = 1.0 / radius, 0.0


@lean
def _plane_turn(p, s, w, up, us):
    """Vector v in the plane with (v x p).w = up and (v x s).w = us."""
    size = dot3(cross(p, s), w)
    if abs(size) < COLLINEAR * norm(p) * norm(s):
        return 0.0, 0.0, 0.0
    # v = x p + y s gives (v x p).w = -y size and (v x s).w = x size
    return sum3(us / size, p, -up / size, s, 0.0, s)


@lean
def sphere_motion(geo, pdot, pddot, sdot, sddot, mot):
    """Rates of length and directions for a motion of the ends, into mot (MOT,)."""
    start_motion(geo, pdot, pddot, sdot, sddot, mot)
    p, s = get3(geo, G_P), get3(geo, G_S)
    n1, n2, t1, t2 = get3(geo, G_N1), get3(geo, G_N2), get3(geo, G_E1), get3(geo, G_E2)
    w = cross(n1, t1)
    omega = _plane_turn(p, s, w, dot3(pdot, w), dot3(sdot, w))
    vp, vs = sub(pdot, cross(omega, p)), sub(sdot, cross(omega, s))  # seen from the plane, as are ap, as_
    alpha = _plane_turn(
        p, s, w, dot3(pddot, w) - 2.0 * dot3(cross(omega, vp), w), dot3(sddot, w) - 2.0 * dot3(cross(omega, vs), w)
    )
    ap = sub(sub(pddot, cross(omega, cross(omega, p))), add(cross(alpha, p), scaled(2.0, cross(omega, vp))))
    as_ = sub(sub(sddot, cross(omega, cross(omega, s))), add(cross(alpha, s), scaled(2.0, cross(omega, vs))))
    radius, a, b = geo[G_SIZE], max(geo[G_A], 1e-14), max(geo[G_B], 1e-14)
    u1, u2 = dot3(n1, vp) / a, -dot3(n2, vs) / b  # rates of the contact angles in the plane
    slide, push = dot3(t1, vp), dot3(t2, vs)
    u1dot = (dot3(n1, ap) + slide * u1 - (radius * u1 - slide) * u1) / a
    u2dot = (-dot3(n2, as_) - push * u2 - (push - radius * u2) * u2) / b
    mot[S_SLIDE] = slide
    mot[S_SLIDE_DOT] = dot3(t1, ap) - a * u1 * u1
    put3(mot, S_OMEGA, omega)
    put3(mot, S_ALPHA, alpha)
    _direction_second(mot, M_E1DDOT, t1, n1, u1, u1dot, omega, alpha)
    _direction_second(mot, M_E2DDOT, t2, n2, u2, u2dot, omega, alpha)


@lean
def _direction_second(mot, k, t, n, u, udot, omega, alpha):
    """Second rate of a tangent direction that turns by u in a plane that turns by omega."""
    own = sum3(-udot, n, -u * u, t, 0.0, t)
    put3(mot, k, add(own, _frame_second(t, scaled(-u, n), omega, alpha)))


@lean
def _frame_second(x, v, omega, alpha):
    """alpha x x + omega x (omega x x) + 2 omega x v."""
    return add(cross(alpha, x), add(cross(omega, cross(omega, x)), scaled(2.0, cross(omega, v))))


@lean
def sphere_arc_second(geo, mot, arc, eta):
    """Second rate of the arc's point at fixed eta."""
    x, t, n = get3(arc, A_X), get3(arc, A_T), get3(arc, A_N)
    v = mot[S_SLIDE] + eta * mot[M_RATE]
    w = mot[S_SLIDE_DOT] + eta * mot[M_ACCEL]
    own = sum3(w, t, -v * v / geo[G_SIZE], n, 0.0, n)
    return add(own, _frame_second(x, scaled(v, t), get3(mot, S_OMEGA), get3(mot, S_ALPHA)))


@lean
def sphere_rule(p, s, radius, axis, sign):
    """(code, sense) of the segment p-s: when OpenSim wraps it, and whether the shorter (+1) or the longer (-1) way
    round.
    """
    limit = radius * radius
    if dot3(p, p) < limit or dot3(s, s) < limit:
        return INSIDE, 1.0
    d = sub(s, p)
    span2 = dot3(d, d)
    if span2 == 0.0:
        return NO_WRAP, 1.0
    where = -dot3(p, d) / span2
    near = along(p, where, d)
    # both ends are outside, so the two intersections lie between them when the nearest point does
    if dot3(near, near) >= limit or where <= 0.0 or where >= 1.0:
        return NO_WRAP, 1.0
    if axis < 0:
        return WRAPPED, 1.0
    p_in, s_in = on_side(component(p, axis), sign), on_side(component(s, axis), sign)
    code = WRAPPED
    if p_in or s_in:
        if where * sqrt(span2) < REACH:
            code = MANDATORY
        elif p_in == s_in or on_side(component(near, axis), sign):
            return NO_WRAP, 1.0
    if p_in and s_in:
        return code, 1.0
    # first the way round that stays away from the ends, the longer one, unless it leaves them against the active side
    w = scaled(-1.0, plane_normal(p, s))
    _, n1 = sphere_contact(p, radius, w, 1.0)
    _, n2 = sphere_contact(s, radius, w, -1.0)
    leave = sub(scaled(radius, add(n1, n2)), add(p, s))
    return code, (1.0 if component(leave, axis) * sign < 0.0 else -1.0)
