"""OpenSim's path over a cylinder (axis z), in the frame of the cylinder.

    path points --> [one segment, one wrap object] --> tangent points, arc --> opensim_path
                              ^ here
This is what OpenSim 4.6 computes, not the shortest path: tangents are found in the cross-section, their heights from a
plane through an apex of the cylinder, and the arc of a long wrap (more than half a turn) that turns positively about z
is counted as 4 pi minus the true angle. (`paths="shortest"` has its own kernels.)

Codes: NO_WRAP the segment passes; INSIDE an end is inside the surface; WRAPPED the segment may go round the object;
MANDATORY the straight segment cuts the object.
"""

from math import acos, atan2, cos, pi, sin, sqrt, tan

from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.vec3 import (
    EPS,
    along,
    component,
    cross,
    dot3,
    load,
    on_side,
    store,
    sub,
)

NO_WRAP = 0
INSIDE = 1
WRAPPED = 2
MANDATORY = 3

PARALLEL = 2e-13  # sin^2 of the angle between lines that OpenSim calls parallel
SLIDE_REACH = 10.0  # m; a tangent point slides along the axis at most this far
PLANE_EPS = 1e-5  # OpenSim's tolerance when it intersects a line with a plane
CLEAR = 1e-9  # cosines of angles that differ by more need no arc cosine to be compared
KINK = tan(0.1 * pi / 180.0)  # kink below which refinement stops
REFINEMENTS = 100
ARC_STEP = 0.002  # m; the helix point next to a tangent point lies about this far along the arc


@kernel
def cylinder_wrap(p1, p2, radius, length, axis, sign, refine, r1, r2):
    """Wrap the segment p1-p2 over the cylinder: (code, arc), tangent points written to r1, r2.

    p1, p2, r1, r2 (3,) in the wrap frame | axis -1 = any side, else 0, 1, 2 with sign +1 or -1 | refine: True when the
    path has two or more PathWraps. r1, r2 and arc mean something only for WRAPPED and MANDATORY.
    """
    code, arc, t1, t2 = cylinder_wrap_between(load(p1), load(p2), radius, length, axis, sign, refine)
    if code >= WRAPPED:
        store(r1, t1)
        store(r2, t2)
    return code, arc


@kernel
def cylinder_wrap_between(a, b, radius, length, axis, sign, refine):
    """(code, arc, first and second tangent point) for ends a, b given as tuples; otherwise as `cylinder_wrap`."""
    if a[0] * a[0] + a[1] * a[1] < radius * radius or b[0] * b[0] + b[1] * b[1] < radius * radius:
        return INSIDE, 0.0, a, b
    code = _contact(a, b, radius, length, axis, sign)
    if code == NO_WRAP:
        return NO_WRAP, 0.0, a, b
    if axis < 0:
        t1, t2 = _nearest_tangents(a, b, radius)
        far, long = False, False
    else:
        t1, t2, far, long = _tangents_on_side(a, b, radius, axis, sign)
    t1, t2 = _slide_to_apex_plane(a, b, t1, t2, radius, far)
    half = 0.5 * length
    if (t1[2] < -half or t1[2] > half) and (t2[2] < -half or t2[2] > half):
        return NO_WRAP, 0.0, a, b
    theta = _turn(t1, t2)
    if refine:
        t1, t2 = _refine_tangency(a, b, t1, t2, radius, theta - 2.0 * pi if long else theta)
    return code, _helix_length(radius, 2.0 * pi - theta if long else theta, t2[2] - t1[2]), t1, t2


@kernel
def cylinder_arc_points(r1, r2, radius, arc, out):
    """Fill out (n, 3) with points along the helix from r1 to r2 whose length OpenSim counted as `arc`."""
    a, b = load(r1), load(r2)
    theta, rise = _turn(a, b), b[2] - a[2]
    if arc > _helix_length(radius, theta, rise) * (1.0 + 1e-12):  # longer than the short way: the long way
        theta = theta - 2.0 * pi
    n = out.shape[0]
    for i in range(n):
        store(out[i], _helix_point(a, theta, rise, i / (n - 1.0)))


@kernel
def _contact(a, b, radius, length, axis, sign):
    """Code from the closest approach of the line a-b to the axis; NO_WRAP, WRAPPED or MANDATORY."""
    d = sub(b, a)
    across = d[0] * d[0] + d[1] * d[1]
    hit = False
    near = a  # OpenSim leaves this undefined for a line parallel to the axis; only a z quadrant would read it
    if across > PARALLEL * (across + d[2] * d[2]) and length >= EPS:
        s = -(a[0] * d[0] + a[1] * d[1]) / across
        near = along(a, s, d)
        hit = near[0] * near[0] + near[1] * near[1] < radius * radius and 0.0 < s < 1.0
    if axis < 0:
        return MANDATORY if hit else NO_WRAP
    a_in, b_in = on_side(component(a, axis), sign), on_side(component(b, axis), sign)
    if not (a_in or b_in):
        return WRAPPED  # goes round even without contact
    if hit:
        return MANDATORY
    if a_in != b_in and not on_side(component(near, axis), sign):
        return WRAPPED
    return NO_WRAP


@kernel
def _tangents(p, radius):
    """The two points where lines from p touch the circle at its height: first the one on its left."""
    d = sqrt(p[0] * p[0] + p[1] * p[1])
    x, y = p[0] / d, p[1] / d
    foot = radius * (radius / d)
    h = sqrt(radius * radius - foot * foot)
    return (foot * x - h * y, foot * y + h * x, p[2]), (foot * x + h * y, foot * y - h * x, p[2])


@kernel
def _radial_dot(u, v):
    """Cosine-like measure of the angle between two tangent points about the axis."""
    return u[0] * v[0] + u[1] * v[1]


@kernel
def _wider(u, v, w, x):
    """Whether the angle between u and v about the axis is larger than that between w and x.

    As in OpenSim, an angle whose cosine rounding takes beyond 1 is NaN, and nothing is larger or smaller than that;
    this and the arc cosine matter only for nearly equal or vanishing angles.
    """
    size = u[0] * u[0] + u[1] * u[1]
    c, d = _radial_dot(u, v), _radial_dot(w, x)
    if abs(c - d) > CLEAR * size and max(abs(c), abs(d)) < (1.0 - CLEAR) * size:
        return c < d
    return _radial_angle(u, v) > _radial_angle(w, x)


@kernel
def _radial_angle(u, v):
    """Angle between two tangent points about the axis; NaN when rounding takes the cosine beyond 1, as in OpenSim."""
    size = sqrt(u[0] * u[0] + u[1] * u[1]) * sqrt(v[0] * v[0] + v[1] * v[1])
    return acos(_radial_dot(u, v) / size)


@kernel
def _nearest_tangents(a, b, radius):
    """Unconstrained choice: the pair of tangent points with the smallest angle between them."""
    a1, b1 = _tangents(a, radius)
    a2, b2 = _tangents(b, radius)
    aa, ab, ba, bb = _radial_dot(a1, a2), _radial_dot(a1, b2), _radial_dot(b1, a2), _radial_dot(b1, b2)
    # without branches: which pair it is changes from segment to segment, and a wrong guess of the processor costs more
    is_aa = (aa > ab) & (aa > ba) & (aa > bb)
    is_ab = (ab > ba) & (ab > bb)
    from_a1 = is_aa | is_ab
    to_a2 = is_aa | ((not is_ab) & (ba > bb))
    return (a1 if from_a1 else b1), (a2 if to_a2 else b2)


@kernel
def _tangents_on_side(a, b, radius, axis, sign):
    """Constrained choice: tangent points on the active half, and the flags (far apex, more than half a turn)."""
    a1, b1 = _tangents(a, radius)
    a2, b2 = _tangents(b, radius)
    wide_ab = _wider(a1, b2, b1, a2)
    a1_in, b1_in = on_side(component(a1, axis), sign), on_side(component(b1, axis), sign)
    a2_in, b2_in = on_side(component(a2, axis), sign), on_side(component(b2, axis), sign)
    nothing_active = False
    if a1_in and b1_in:
        use_ab = not a2_in
    elif a1_in != b1_in:
        use_ab = a1_in
    elif a2_in:
        use_ab = False
    elif b2_in:
        use_ab = True
    else:
        use_ab, nothing_active = wide_ab, True
    far = nothing_active or (wide_ab == use_ab)
    t1 = a1 if use_ab else b1
    t2 = b2 if use_ab else a2
    radial = (t1[0] + t2[0], t1[1] + t2[1], 0.0)
    pull = ((t1[0] - a[0]) + (t2[0] - b[0]), (t1[1] - a[1]) + (t2[1] - b[1]), 0.0)
    return t1, t2, far, dot3(radial, pull) < 0.0


@kernel
def _slide_to_apex_plane(a, b, t1, t2, radius, far):
    """Move the tangent points along z into the plane of a, b and the apex of the cylinder between them."""
    d1, d2 = sqrt(a[0] * a[0] + a[1] * a[1]), sqrt(b[0] * b[0] + b[1] * b[1])
    middle = along(a, d1 / (d1 + d2), sub(b, a))
    up = _level_normal(a, b, middle[2])
    reach = -radius if (middle[0] * up[0] + middle[1] * up[1] > 0.0) == far else radius
    apex = (reach * up[0], reach * up[1], middle[2])
    plane = cross(sub(a, apex), sub(b, apex))
    offset, size = dot3(a, plane), dot3(plane, plane)
    found1, z1 = _height_in_plane(t1, plane, offset, size)
    found2, z2 = _height_in_plane(t2, plane, offset, size)
    span = (a[2] - b[2]) * (a[2] - b[2])
    # OpenSim projects on the direction of (0, 0, b_z), which does not exist for b_z = 0: both heights become a_z
    flat = abs(b[2]) < EPS
    h1, h2 = (a[2], a[2]) if flat else (z1, z2)
    if found1 and (h1 - b[2]) * (h1 - b[2]) < span:
        t1 = (t1[0], t1[1], z1)
    if found2 and (h2 - a[2]) * (h2 - a[2]) < span:
        t2 = (t2[0], t2[1], z2)
    return t1, t2


@kernel
def _level_normal(a, b, height):
    """Horizontal unit vector across the plane of a, b and the axis point at that height; zero if the plane is level."""
    normal = cross((a[0], a[1], a[2] - height), (b[0], b[1], b[2] - height))
    level = normal[0] * normal[0] + normal[1] * normal[1]
    if not level > EPS * EPS * (level + normal[2] * normal[2]):
        return 0.0, 0.0, 0.0
    scale = 1.0 / sqrt(level)
    return -scale * normal[1], scale * normal[0], 0.0


@kernel
def _height_in_plane(t, plane, offset, size):
    """(whether the vertical line through t meets the plane within reach, height where it does).

    The plane has the normal `plane`, of squared length `size`, and plane . x = offset.
    """
    if 4.0 * SLIDE_REACH * SLIDE_REACH * plane[2] * plane[2] < PLANE_EPS * PLANE_EPS * size:
        return False, 0.0
    height = (offset - plane[0] * t[0] - plane[1] * t[1]) / plane[2]  # NaN when a, b and the apex are in line
    return not abs(height - t[2]) > SLIDE_REACH * (1.0 + 2.0 * PLANE_EPS), height


@kernel
def _turn(t1, t2):
    """Angle from t1 to t2 about z, in (-pi, pi]. OpenSim counts 2 pi minus this for a long wrap and turns backwards."""
    return atan2(t1[0] * t2[1] - t1[1] * t2[0], t1[0] * t2[0] + t1[1] * t2[1])


@kernel
def _helix_length(radius, theta, rise):
    """Length of the helix with turn theta and rise along z."""
    return sqrt(radius * theta * (radius * theta) + rise * rise)


@kernel
def _helix_point(t1, turn, rise, s):
    """Point at the fraction s of the helix that starts at t1."""
    c, d = cos(s * turn), sin(s * turn)
    return c * t1[0] - d * t1[1], d * t1[0] + c * t1[1], t1[2] + s * rise


@kernel
def _refine_tangency(a, b, t1, t2, radius, turn):
    """Slide the tangent points along z until lines and helix meet without a kink (paths with several wraps only).

    Only heights change, so everything seen from above (turn, distances, ratios k) is computed once per step count. A
    step is linear in the two heights: its coefficients keep the loop, most of the cost of such paths, short.
    """
    around = radius * turn * (radius * turn)
    z1, z2 = t1[2], t2[2]
    least = most = 0.0  # square of the helix length between which the number of its steps stays the same
    in1, in2 = _flat_distance(a, t1), _flat_distance(b, t2)
    s = rest = out = k2 = c1 = c2 = c21 = m11 = m12 = m21 = m22 = base1 = base2 = 0.0
    for _ in range(REFINEMENTS):
        rise = z2 - z1
        square = around + rise * rise
        if not least <= square < most:
            steps = sqrt(square) / ARC_STEP
            if not steps >= 2.0:
                break
            n = int(steps)
            s, least, most = 1.0 / n, (n * ARC_STEP) ** 2, ((n + 1) * ARC_STEP) ** 2
            rest = 1.0 - s
            w1, w2 = _neighbours(t1, t2, s * turn)
            out = _flat_distance(t1, w1)
            k1, k2 = 1.5 * _passing(a, t1, w1), 1.5 * _passing(b, t2, w2)
            c1, c2 = (1.5 - k1) * a[2], (1.5 - k2) * b[2]
            m12 = k1 * s
            m11 = k1 - 0.5 - m12
            c21, m21, m22 = c2 + k2 * c1, k2 * (m11 - rest), k2 * (m12 + rest) - 0.5
            base1, base2 = KINK * (in1 * out), KINK * (in2 * out)
        if _kinked(in1, z1 - a[2], out, s * rise, base1):
            moved = c1 + m11 * z1 + m12 * z2
            # the helix now starts at the moved point but keeps its old turn and rise
            if _kinked(in2, z2 - b[2], out, moved + rest * rise - z2, base2):
                z2 = c21 + m21 * z1 + m22 * z2
            z1 = moved
        else:
            high = z1 + rest * rise
            if not _kinked(in2, z2 - b[2], out, high - z2, base2):
                break
            z2 = c2 - 0.5 * z2 + k2 * high
    return (t1[0], t1[1], z1), (t2[0], t2[1], z2)


@kernel
def _neighbours(t1, t2, angle):
    """t1 turned by this angle about z and t2 turned back by it, seen from above."""
    c, d = cos(angle), sin(angle)
    return (c * t1[0] - d * t1[1], d * t1[0] + c * t1[1]), (c * t2[0] + d * t2[1], c * t2[1] - d * t2[0])


@kernel
def _flat_distance(u, v):
    """Distance seen along the axis."""
    return sqrt((u[0] - v[0]) * (u[0] - v[0]) + (u[1] - v[1]) * (u[1] - v[1]))


@kernel
def _passing(p, t, w):
    """How far along the line p-w, seen from above, it passes closest to t: 0 at p, 1 at w."""
    x, y = w[0] - p[0], w[1] - p[1]
    return ((t[0] - p[0]) * x + (t[1] - p[1]) * y) / (x * x + y * y)


@kernel
def _kinked(run1, rise1, run2, rise2, base):
    """Whether two slopes differ by more than KINK; base is KINK run1 run2."""
    return not abs(run1 * rise2 - run2 * rise1) <= base + KINK * rise1 * rise2
