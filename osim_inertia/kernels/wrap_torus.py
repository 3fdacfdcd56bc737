"""OpenSim's path through a torus (ring in the plane z = 0), in the frame of the torus.

    path points --> [one segment, one wrap object] --> tangent points, arc --> opensim_path
                              ^ here
What OpenSim 4.6 computes: it looks for the point of the ring nearest to the segment, replaces the torus there by a very
long cylinder of the tube's radius along the ring's tangent, and wraps over the inner side of that. The nearest point
comes from a least-squares solver stopped at 1e-4 on a residual whose ring term is twice the true derivative, so the
answer depends on the solver's steps; `_minimise` therefore takes the steps of MINPACK's lmdif with OpenSim's constants.
"""

from math import sqrt

import numpy as np

from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.vec3 import (
    add,
    along,
    component,
    dot3,
    load,
    norm,
    on_side,
    store,
    sub,
    unit_or_zero,
)
from osim_inertia.kernels.wrap_cylinder import MANDATORY, NO_WRAP, WRAPPED, cylinder_arc_points, cylinder_wrap

CYLINDER_LENGTH = 1e4  # m
TOLERANCE = 1e-4  # ftol and xtol of lmdif
STEP_FACTOR = 0.2  # first step bound
MAX_EVALUATIONS = 500
DIFFERENCE = 1e-5  # m; OpenSim's lmdif differentiates with a fixed forward step
MACHINE_EPS = 1.2e-16  # lmdif's own figure
DWARF = 1e-38
NAN = float("nan")


@kernel
def torus_wrap(p1, p2, inner, outer, axis, sign, refine, r1, r2, centre):
    """Wrap the segment p1-p2 through the torus: (code, arc), tangent points written to r1, r2.

    p1, p2, r1, r2 (3,) in the wrap frame | inner: radius of the tube, outer: radius of the ring | axis -1 = any side,
    else 0, 1, 2 with sign +1 or -1 | refine as in `cylinder_wrap` | centre (>= 3,) receives the point of the ring used.
    The code is NO_WRAP or WRAPPED; WRAPPED with NaN means that the cylinder gave nothing, as OpenSim reports it, too.
    """
    a, b = load(p1), load(p2)
    near = _point_near_ring(a, b, outer)
    near_back = _point_near_ring(b, a, outer)
    forward_better = _distance_to_ring(near, outer) < _distance_to_ring(near_back, outer)
    if axis >= 0:
        first, second = on_side(component(near, axis), sign), on_side(component(near_back, axis), sign)
        if not (first or second):
            return NO_WRAP, 0.0
        forward_better = first and (forward_better or not second)
    near = near if forward_better else near_back
    rho = sqrt(near[0] * near[0] + near[1] * near[1])
    c = (near[0] * outer / rho, near[1] * outer / rho, 0.0)
    store(centre, c)
    store(r1, _to_cylinder(a, c))
    store(r2, _to_cylinder(b, c))
    # r1 and r2 serve as ends and results: the cylinder reads its ends before it writes
    # (typed zeros: a literal would make the compiler build a second cylinder kernel for the constant)
    code, arc = cylinder_wrap(r1, r2, inner, CYLINDER_LENGTH, np.int64(0), np.int64(1), refine, r1, r2)
    if code != WRAPPED and code != MANDATORY:
        store(r1, (NAN, NAN, NAN))
        store(r2, (NAN, NAN, NAN))
        return WRAPPED, NAN
    store(r1, _from_cylinder(load(r1), c))
    store(r2, _from_cylinder(load(r2), c))
    return WRAPPED, arc


@kernel
def torus_arc_points(r1, r2, inner, arc, centre, out):
    """Fill out (n, 3) with points along the arc from r1 to r2; centre (3,) as returned by `torus_wrap`."""
    c = load(centre)
    n = out.shape[0]
    store(out[0], _to_cylinder(load(r1), c))
    store(out[n - 1], _to_cylinder(load(r2), c))
    cylinder_arc_points(out[0], out[n - 1], inner, arc, out)
    for i in range(n):
        store(out[i], _from_cylinder(load(out[i]), c))


@kernel
def _to_cylinder(p, c):
    """Torus frame -> frame of the cylinder at c: x toward the torus centre, y = -z of the torus."""
    x = unit_or_zero((-c[0], -c[1], 0.0))
    d = sub(p, c)
    return dot3(x, d), -d[2], dot3((-x[1], x[0], 0.0), d)


@kernel
def _from_cylinder(p, c):
    """Frame of the cylinder at c -> torus frame."""
    x = unit_or_zero((-c[0], -c[1], 0.0))
    return add(c, (x[0] * p[0] - x[1] * p[2], x[1] * p[0] + x[0] * p[2], -p[1]))


@kernel
def _distance_to_ring(p, outer):
    """Distance of p from the ring."""
    return sqrt(dot3(p, p) + outer * outer - 2.0 * outer * sqrt(p[0] * p[0] + p[1] * p[1]))


@kernel
def _point_near_ring(start, end, outer):
    """Point of the line through start and end, found from start, at which the residual is least."""
    d = sub(end, start)
    length = norm(d)
    direction = (d[0] / length, d[1] / length, d[2] / length)
    c2 = 2.0 * dot3(start, direction)
    c3 = start[0] * direction[0] + start[1] * direction[1]
    c4 = direction[0] * direction[0] + direction[1] * direction[1]
    c5 = start[0] * start[0] + start[1] * start[1]
    return along(start, _minimise(c2, c3, c4, c5, outer), direction)


@kernel
def _residual(u, c2, c3, c4, c5, outer):
    """OpenSim's residual at the distance u along the line."""
    return c2 + 2.0 * u - 2.0 * outer * (2.0 * c4 * u + 2.0 * c3) / sqrt(u * u * c4 + 2.0 * c3 * u + c5)


@kernel
def _minimise(c2, c3, c4, c5, outer):
    """Levenberg-Marquardt for one unknown, from u = 0, with MINPACK's scaling, step bound and stopping rules."""
    u, par, scale, bound, u_norm = 0.0, 0.0, 0.0, STEP_FACTOR, 0.0
    f = _residual(u, c2, c3, c4, c5, outer)
    evaluations, first, done = 1, True, False
    while not done:
        slope = (_residual(u + DIFFERENCE, c2, c3, c4, c5, outer) - f) / DIFFERENCE
        if f == 0.0 or slope == 0.0:
            break
        scale = max(scale, abs(slope))
        accepted = False
        while not (accepted or done):
            step, par = _bounded_step(f, slope, scale, bound, par)
            size = abs(scale * step)
            if first:
                bound = min(bound, size)
            f_new = _residual(u + step, c2, c3, c4, c5, outer)
            evaluations += 1
            actual, predicted, descent = _reductions(f, f_new, slope * step, par, size)
            ratio = actual / predicted if predicted != 0.0 else 0.0
            if ratio <= 0.25:
                shrink = 0.5 if actual >= 0.0 else 0.5 * descent / (descent + 0.5 * actual)
                if 0.1 * abs(f_new) >= abs(f) or shrink < 0.1:
                    shrink = 0.1
                bound = shrink * min(bound, size / 0.1)
                par = par / shrink
            elif par == 0.0 or ratio >= 0.75:
                bound = size / 0.5
                par = 0.5 * par
            if ratio >= 1e-4:
                accepted, first = True, False
                u, f = u + step, f_new
                u_norm = abs(scale * u)
            done = (
                (abs(actual) <= TOLERANCE and predicted <= TOLERANCE and 0.5 * ratio <= 1.0)
                or bound <= TOLERANCE * u_norm
                or evaluations >= MAX_EVALUATIONS
                or (abs(actual) <= MACHINE_EPS and predicted <= MACHINE_EPS and 0.5 * ratio <= 1.0)
            )
            if ratio != ratio:
                done = True
    return u


@kernel
def _reductions(f, f_new, linear, par, size):
    """(actual, predicted) relative reduction of f squared by a step, and the slope along it. linear: slope x step."""
    actual = -1.0
    if 0.1 * abs(f_new) < abs(f):
        actual = 1.0 - (f_new / f) * (f_new / f)
    model = abs(linear) / abs(f)
    damping = sqrt(par) * size / abs(f)
    return actual, model * model + damping * damping / 0.5, -(model * model + damping * damping)


@kernel
def _bounded_step(f, slope, scale, bound, par):
    """(step, par): damped step with |scale x step| within 10 % of the bound, or the full step if that is shorter."""
    step = -f / slope
    size = abs(scale * step)
    excess = size - bound
    if excess <= 0.1 * bound:
        return step, 0.0
    stretch = scale / abs(slope)
    low = excess / bound / stretch / stretch
    gradient = abs(slope * f) / scale
    high = gradient / bound
    if high == 0.0:
        high = DWARF / min(bound, 0.1)
    par = min(max(par, low), high)
    if par == 0.0:
        par = gradient / size
    for iteration in range(1, 11):
        if par == 0.0:
            par = max(DWARF, 0.001 * high)
        damped = slope * slope + par * scale * scale
        step = -slope * f / damped
        size = abs(scale * step)
        before, excess = excess, size - bound
        if abs(excess) <= 0.1 * bound or (low == 0.0 and excess <= before and before < 0.0) or iteration == 10:
            break
        stretch = scale / sqrt(damped)
        if excess > 0.0:
            low = max(low, par)
        par_change = excess / bound / stretch / stretch
        par = max(low, par + par_change)
    return step, par
