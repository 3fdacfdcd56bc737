"""OpenSim's path over an ellipsoid, in the frame of the ellipsoid.

    path points --> [one segment, one wrap object] --> tangent points, arc --> opensim_path
                              ^ here
What OpenSim 4.6 computes is a plane section, not a geodesic: a guide point on the segment gives a point c of the
surface, c and the two ends span a plane, the tangent points and the arc are found in that plane. The tangent solver
stops at a loose tolerance, so it takes OpenSim's own steps here. Inside `ellipsoid_wrap` everything is scaled to a mean
radius of 1. Codes as in `wrap_cylinder`.
"""

from math import acos, cos, inf, pi, sin, sqrt

import numpy as np

from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.vec3 import (
    add,
    along,
    component,
    cross,
    distance,
    dot3,
    largest,
    load,
    on_side,
    scaled,
    store,
    sub,
    unit_or_zero,
    with_component,
)
from osim_inertia.kernels.wrap_cylinder import INSIDE, MANDATORY, NO_WRAP
from osim_inertia.kernels.wrap_ellipsoid_closest import closest_in_plane, closest_on_ellipsoid

HYBRID = 0
MIDPOINT = 1
AXIAL = 2

ON_SURFACE = 1e-4  # tolerance of the ellipsoid's equation, and of 1 - cos for ends in one direction
ALL_FAN = 0.7073  # share of the main axis in the direction of the segment below which only the fan counts
ALL_AXIAL = 0.9  # ... and from which on only the axial guide point counts
FADE = 0.3  # axial guide points this near to an end of the inner segment fade out
FAN_SAMPLES = 300
SEGMENT = 0.001  # m; chord length aimed at along the arc
MAX_SEGMENTS = 499
TANGENT_RESIDUAL = 1e-8
OUTER_ITERATIONS = 50
INNER_ITERATIONS = 1000


@kernel
def ellipsoid_wrap(p1, p2, dims, axis, sign, method, r1, r2, plane):
    """Wrap the segment p1-p2 over the ellipsoid: (code, arc), tangent points written to r1, r2.

    p1, p2, r1, r2 (3,) in the wrap frame | dims (3,) radii | axis -1 = any side, else 0, 1, 2 with sign +1 or -1 |
    method HYBRID, MIDPOINT or AXIAL | plane (5,) receives the wrapping plane for `ellipsoid_arc_points`: normal, offset
    (m), 1.0 if the arc goes the long way. r1, r2, plane and arc mean something only for MANDATORY; the arc can be NaN.
    """
    factor = 3.0 / (dims[0] + dims[1] + dims[2])
    radii = scaled(factor, load(dims))
    a, b = scaled(factor, load(p1)), scaled(factor, load(p2))
    ea, eb = _level(a, radii), _level(b, radii)
    if ea < -ON_SURFACE or eb < -ON_SURFACE:
        return INSIDE, 0.0
    if abs(dot3(unit_or_zero(a), unit_or_zero(b)) - 1.0) < ON_SURFACE:
        return NO_WRAP, 0.0
    cuts, i1, i2 = _intersections(a, b, radii)
    if not cuts:
        return NO_WRAP, 0.0
    c, fan_weight, use_c = _guide(a, b, i1, i2, radii, method)
    t1 = c if use_c else i1
    t2 = c if use_c else i2
    if axis >= 0 and not on_side(component(c, axis), sign):
        c = with_component(c, axis, -component(c, axis))
        t1 = t2 = c
        if fan_weight > 0.0:
            pulled = with_component(c, axis, component(c, axis) * (1.0 - fan_weight))
            c = closest_on_ellipsoid(radii, pulled, pulled)
    normal = unit_or_zero(cross(sub(a, b), sub(a, c)))
    offset = -dot3(normal, c)
    t1 = a if abs(ea) < ON_SURFACE else _tangent_point(t1, a, radii, normal, offset)
    t2 = b if abs(eb) < ON_SURFACE else _tangent_point(t2, b, radii, normal, offset)
    arc, far = 0.0, 0.0
    for attempt in range(2):
        far = float(attempt)
        arc, w1, w2, segments = _arc_length(t1, t2, radii, normal, offset, far, factor)
        if axis < 0 or segments < 2 or not _leaves_backwards(a, b, t1, t2, w1, w2):
            break  # otherwise once more, the long way
    store(r1, (t1[0] / factor, t1[1] / factor, t1[2] / factor))
    store(r2, (t2[0] / factor, t2[1] / factor, t2[2] / factor))
    store(plane, normal)
    plane[3] = offset / factor
    plane[4] = far
    return MANDATORY, arc / factor


@kernel
def ellipsoid_arc_points(r1, r2, dims, plane, out):
    """Fill out (n, 3) with points of the plane section from r1 to r2; plane (5,) as returned by `ellipsoid_wrap`."""
    t1, t2, radii = load(r1), load(r2), load(dims)
    n = out.shape[0]
    centre, x, y, turn = _section(t1, t2, load(plane), plane[3], plane[4])
    for i in range(1, n - 1):
        store(out[i], _on_section(centre, x, y, turn * i / (n - 1.0), radii))
    store(out[0], t1)
    store(out[n - 1], t2)


@kernel
def _level(p, radii):
    """Sum (p/a)^2 - 1: negative inside."""
    x, y, z = p[0] / radii[0], p[1] / radii[1], p[2] / radii[2]
    return -1.0 + x * x + y * y + z * z


@kernel
def _intersections(a, b, radii):
    """(whether the segment a-b cuts the surface twice, the cut near a, the cut near b)."""
    d = sub(a, b)
    f = (d[0] / radii[0], d[1] / radii[1], d[2] / radii[2])
    g = (b[0] / radii[0], b[1] / radii[1], b[2] / radii[2])
    c2, c1, c0 = dot3(f, f), 2.0 * dot3(f, g), dot3(g, g) - 1.0
    discriminant = c1 * c1 - 4.0 * c2 * c0
    if discriminant < 0.0:
        return False, a, b
    root = sqrt(discriminant)
    s, t = (-c1 + root) / (2.0 * c2), (-c1 - root) / (2.0 * c2)
    return (0.0 < s < 1.0 and 0.0 < t < 1.0), along(b, s, d), along(b, t, d)


@kernel
def _guide(a, b, i1, i2, radii, method):
    """(c, weight of the fan in it or -inf, whether the tangent search starts at c rather than at the cuts)."""
    inner = sub(i2, i1)
    if method == MIDPOINT:
        middle = along(i1, 0.5, inner)
        return closest_on_ellipsoid(radii, middle, middle), -inf, True
    d = unit_or_zero(sub(a, b))
    k = largest(d)
    main = abs(component(d, k))
    t = -component(i1, k) / component(inner, k)
    axial = closest_in_plane(radii, along(i1, t, inner), k)
    if method == AXIAL:
        return axial, -inf, 0.0 < t < 1.0
    if main > ALL_FAN:
        fade = 1.0
        if t < 0.0 or t > 1.0:
            fade = 0.0
        elif t < FADE:
            fade = t / FADE
        elif t > 1.0 - FADE:
            fade = (1.0 - t) / FADE
        if fade < 1.0:
            main = ALL_FAN + fade * (main - ALL_FAN)
    if main >= ALL_AXIAL:
        return axial, -inf, True
    tip = _fan_tip(i1, inner, radii)
    if main <= ALL_FAN:
        return closest_on_ellipsoid(radii, tip, tip), 1.0, True
    w = (main - ALL_FAN) / (ALL_AXIAL - ALL_FAN)
    blend = add(scaled(w, axial), scaled(1.0 - w, closest_on_ellipsoid(radii, tip, tip)))
    return closest_on_ellipsoid(radii, blend, axial), 1.0 - w, True


@kernel
def _fan_tip(i1, inner, radii):
    """Point one unit from the middle of the inner segment in the mean direction to the surface."""
    total = (0.0, 0.0, 0.0)
    c = i1
    for i in range(1, FAN_SAMPLES - 1):
        s = along(i1, i / FAN_SAMPLES, inner)
        c = closest_on_ellipsoid(radii, s, c)
        total = add(total, unit_or_zero(sub(c, s)))
    return add(along(i1, 0.5, inner), unit_or_zero(total))


@kernel
def _tangent_errors(r, d, p, radii, normal, offset):
    """Residuals {r in the plane, r on the surface, tangent plane (n, d) through r, through p} and their squared sum."""
    n = (
        2.0 * r[0] / (radii[0] * radii[0]),
        2.0 * r[1] / (radii[1] * radii[1]),
        2.0 * r[2] / (radii[2] * radii[2]),
    )
    e = (dot3(normal, r) + offset, _level(r, radii), dot3(n, r) + d, dot3(n, p) + d)
    return e, e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]


@kernel
def _tangent_point(r, p, radii, normal, offset):
    """Move r to where a line from p touches the section; damped Gauss-Newton in (r, d) with OpenSim's schedule."""
    J = np.empty((4, 4))  # J[i, j]: derivative of residual j by unknown i
    system = np.empty((4, 5))
    d = 2.0 * (-1.0 - _level(r, radii))
    e, ssq = _tangent_errors(r, d, p, radii, normal, offset)
    before = ssq
    damping = 0.01
    outer = 0
    while ssq > TANGENT_RESIDUAL and outer < OUTER_ITERATIONS:
        outer += 1
        _tangent_jacobian(r, p, radii, normal, J)
        cosine = dot3(unit_or_zero(sub(p, r)), unit_or_zero(p))
        share = (1.0 - cosine**100 if cosine > 0.1 else 1.0) / 16.0
        e_start = e
        step, step_d = (0.0, 0.0, 0.0), 0.0
        tries = 0
        while ssq >= before and tries < INNER_ITERATIONS:
            # the step is added to the last one, the gradient stays that of the start: as in OpenSim
            step, step_d = _damped_step(J, e_start, damping, share, system)
            r, d = add(r, step), d + step_d
            before = ssq
            e, ssq = _tangent_errors(r, d, p, radii, normal, offset)
            damping *= 4.0
            tries += 1
        damping /= 8.0
        multiple = 0.5
        tries = 0
        while ssq <= before and tries < INNER_ITERATIONS:
            multiple *= 2.0
            r, d = along(r, multiple, step), d + multiple * step_d
            before = ssq
            e, ssq = _tangent_errors(r, d, p, radii, normal, offset)
            tries += 1
        r, d = along(r, -multiple, step), d - multiple * step_d
        e, ssq = _tangent_errors(r, d, p, radii, normal, offset)
        before = ssq
    return r


@kernel
def _tangent_jacobian(r, p, radii, normal, J):
    """Derivatives of the residuals of `_tangent_errors` by r and d."""
    for i in range(3):
        w = 2.0 / (radii[i] * radii[i])
        J[i, 0] = normal[i]
        J[i, 1] = w * r[i]
        J[i, 2] = 2.0 * w * r[i]
        J[i, 3] = w * p[i]
    J[3, 0] = J[3, 1] = 0.0
    J[3, 2] = J[3, 3] = 1.0


@kernel
def _damped_step(J, e, damping, share, system):
    """share x the solution of (J J' with its diagonal times 1 + damping) x = -J e. system (4, 5) is scratch."""
    for i in range(4):
        for j in range(4):
            s = 0.0
            for k in range(4):
                s += J[i, k] * J[j, k]
            system[i, j] = s * (1.0 + damping) if i == j else s
        system[i, 4] = -(J[i, 0] * e[0] + J[i, 1] * e[1] + J[i, 2] * e[2] + J[i, 3] * e[3])
    for k in range(4):  # positive definite: no pivoting needed
        for i in range(k + 1, 4):
            m = system[i, k] / system[k, k]
            for j in range(k, 5):
                system[i, j] -= m * system[k, j]
    for k in range(3, -1, -1):
        for j in range(k + 1, 4):
            system[k, 4] -= system[k, j] * system[j, 4]
        system[k, 4] /= system[k, k]
    return (share * system[0, 4], share * system[1, 4], share * system[2, 4]), share * system[3, 4]


@kernel
def _section(t1, t2, normal, offset, far):
    """Polar frame of the section: centre on a coordinate axis, x toward t1, y, and the turn from t1 to t2.

    far 1.0: the long way, 0.0: the short way.
    """
    k = largest(normal)
    centre = with_component((0.0, 0.0, 0.0), k, -offset / component(normal, k))
    x, toward = unit_or_zero(sub(t1, centre)), unit_or_zero(sub(t2, centre))
    turn = acos(dot3(x, toward))
    turn = turn - far * 2.0 * pi
    return centre, x, cross(unit_or_zero(cross(x, toward)), x), turn


@kernel
def _on_section(centre, x, y, angle, radii):
    """Surface point seen from the centre of the section at this angle; NaN if the ray misses the ellipsoid."""
    ray = along(scaled(cos(angle), x), sin(angle), y)
    f = (ray[0] / radii[0], ray[1] / radii[1], ray[2] / radii[2])
    g = (centre[0] / radii[0], centre[1] / radii[1], centre[2] / radii[2])
    c2, c1, c0 = dot3(f, f), 2.0 * dot3(f, g), dot3(g, g) - 1.0
    return along(centre, (-c1 + sqrt(c1 * c1 - 4.0 * c2 * c0)) / (2.0 * c2), ray)


@kernel
def _arc_length(t1, t2, radii, normal, offset, far, factor):
    """(sum of chords, second point, last point but one, number of chords) along the section from t1 to t2."""
    chord = distance(t1, t2)
    if chord / factor < SEGMENT:
        return chord, t2, t1, 1
    ratio = chord / factor / SEGMENT
    segments = int(ratio) if ratio < MAX_SEGMENTS else MAX_SEGMENTS
    centre, x, y, turn = _section(t1, t2, normal, offset, far)
    previous, total = t1, 0.0
    w1, w2 = t2, t1
    for i in range(1, segments):
        w2 = _on_section(centre, x, y, i * (turn / segments), radii)
        if i == 1:
            w1 = w2
        total += distance(w2, previous)
        previous = w2
    return total + distance(t2, previous), w1, w2, segments


@kernel
def _leaves_backwards(a, b, t1, t2, w1, w2):
    """Whether the first chord points toward a or the last one toward b: the arc must go the other way round."""
    return (
        dot3(unit_or_zero(sub(a, t1)), unit_or_zero(sub(w1, t1))) > 0.0
        or dot3(unit_or_zero(sub(b, t2)), unit_or_zero(sub(w2, t2))) > 0.0
    )
