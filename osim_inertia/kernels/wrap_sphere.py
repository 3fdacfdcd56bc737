"""OpenSim's path over a sphere, in the frame of the sphere.

    path points --> [one segment, one wrap object] --> tangent points, arc --> opensim_path
                              ^ here
What OpenSim 4.6 computes: the great circle in the plane of the two ends and the centre, with its flaws. A constrained
wrap that goes the long way round has a *negative* arc, -r (2 pi - angle); a line through the centre gives NaN.
Codes as in `wrap_cylinder`.
"""

from math import acos, asin, cos, pi, sin, sqrt

from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.vec3 import (
    add,
    along,
    component,
    cross,
    dot3,
    load,
    norm,
    on_side,
    scaled,
    store,
    sub,
    unit_or_zero,
)
from osim_inertia.kernels.wrap_cylinder import INSIDE, MANDATORY, NO_WRAP, WRAPPED

THROUGH_CENTRE = 1e-5  # sine of the angle at the second end below which OpenSim finds no plane
NAN = float("nan")


@kernel
def sphere_wrap(p1, p2, radius, axis, sign, r1, r2):
    """Wrap the segment p1-p2 over the sphere: (code, arc), tangent points written to r1, r2.

    p1, p2, r1, r2 (3,) in the wrap frame | axis -1 = any side, else 0, 1, 2 with sign +1 or -1. r1, r2 and arc mean
    something only for WRAPPED and MANDATORY, and are NaN for a line through the centre.
    """
    a, b = load(p1), load(p2)
    if norm(a) < radius or norm(b) < radius:
        return INSIDE, 0.0
    if not _cuts_sphere(a, b, radius):
        return NO_WRAP, 0.0
    direction = unit_or_zero(sub(a, b))
    normal = cross(direction, unit_or_zero(b))
    if norm(normal) < THROUGH_CENTRE:
        store(r1, (NAN, NAN, NAN))
        store(r2, (NAN, NAN, NAN))
        return WRAPPED, NAN
    normal = unit_or_zero(normal)
    a1, b1 = _tangents(a, normal, radius)
    a2, b2 = _tangents(b, normal, radius)
    code, far = WRAPPED, False
    use_a1, use_a2 = _nearest_pair(a1, b1, a2, b2)
    if axis >= 0:
        a_in, b_in = on_side(component(a, axis), sign), on_side(component(b, axis), sign)
        if a_in or b_in:
            code = _contact_on_side(a, direction, radius, axis, sign, a_in != b_in)
            if code == NO_WRAP:
                return NO_WRAP, 0.0
        if not (a_in and b_in):
            use_a1, use_a2 = _pair_on_side(a, b, a1, b1, a2, b2, axis, sign)
            far = _goes_long_way(a, b, a1 if use_a1 else b1, a2 if use_a2 else b2)
    t1 = a1 if use_a1 else b1
    t2 = a2 if use_a2 else b2
    store(r1, t1)
    store(r2, t2)
    angle = acos(dot3(unit_or_zero(t1), unit_or_zero(t2)))
    if far:
        angle = -(2.0 * pi - angle)
    return code, radius * angle


@kernel
def sphere_arc_points(r1, r2, radius, arc, out):
    """Fill out (n, 3) with points along the great circle from r1 to r2; a negative arc goes the long way."""
    a = load(r1)
    axis = unit_or_zero(cross(a, load(r2)))
    across = cross(axis, a)
    n = out.shape[0]
    for i in range(n):
        angle = arc / radius * i / (n - 1.0)
        store(out[i], along(scaled(cos(angle), a), sin(angle), across))


@kernel
def _cuts_sphere(a, b, radius):
    """Whether both intersections of the line a-b with the sphere lie strictly between a and b."""
    d = sub(a, b)
    c2 = dot3(d, d)
    c1 = 2.0 * dot3(b, d)
    c0 = dot3(b, b) - radius * radius
    discriminant = c1 * c1 - 4.0 * c2 * c0
    if discriminant < 0.0:
        return False
    root = sqrt(discriminant)
    s, t = (-c1 + root) / (2.0 * c2), (-c1 - root) / (2.0 * c2)
    return 0.0 < s < 1.0 and 0.0 < t < 1.0


@kernel
def _tangents(p, normal, radius):
    """The two tangent points from p in the plane through the centre with this normal."""
    d = norm(p)
    y = unit_or_zero((-p[0], -p[1], -p[2]))
    z = cross(normal, y)
    half = asin(radius / d)
    c, s = cos(half), sin(half)
    reach = d * c
    foot = along(p, reach * c, y)
    return along(foot, -reach * s, z), along(foot, reach * s, z)


@kernel
def _nearest_pair(a1, b1, a2, b2):
    """(take a1 rather than b1, take a2 rather than b2) for the pair with the smallest angle between them."""
    ua1, ub1, ua2, ub2 = unit_or_zero(a1), unit_or_zero(b1), unit_or_zero(a2), unit_or_zero(b2)
    aa, ab, ba, bb = dot3(ua1, ua2), dot3(ua1, ub2), dot3(ub1, ua2), dot3(ub1, ub2)
    if aa > ab and aa > ba and aa > bb:
        return True, True
    if ab > ba and ab > bb:
        return True, False
    return False, ba > bb


@kernel
def _contact_on_side(a, direction, radius, axis, sign, straddles):
    """Code of a constrained wrap with an end on the active side. direction: unit vector from b to a."""
    s = -dot3(a, direction)
    middle = along(a, s, direction)
    # OpenSim compares metres from a, not a fraction of the segment, with 1
    if dot3(middle, middle) < radius * radius and 0.0 < -s < 1.0:
        return MANDATORY
    if straddles and not on_side(component(middle, axis), sign):
        return WRAPPED
    return NO_WRAP


@kernel
def _pair_on_side(a, b, a1, b1, a2, b2, axis, sign):
    """Constrained choice of the pair when an end is off the active side."""
    inward = unit_or_zero((-a[0] - b[0], -a[1] - b[1], -a[2] - b[2]))
    use_a1 = dot3(unit_or_zero(a1), inward) > dot3(unit_or_zero(b1), inward)
    use_a2 = dot3(unit_or_zero(a2), inward) > dot3(unit_or_zero(b2), inward)
    t1 = a1 if use_a1 else b1
    t2 = a2 if use_a2 else b2
    pull = unit_or_zero(add(sub(t1, a), sub(t2, b)))
    if component(pull, axis) * sign < 0.0:
        return not use_a1, not use_a2
    return use_a1, use_a2


@kernel
def _goes_long_way(a, b, t1, t2):
    """Whether the lines leave the sphere on the far side of the tangent points."""
    return dot3(add(t1, t2), add(sub(t1, a), sub(t2, b))) < 0.0
