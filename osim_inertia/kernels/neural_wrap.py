"""One interval that a network bends round a cylinder: canonical numbers, base curve, lengths, rates, transposes.

    ends in the frame of the cylinder --> [canonical numbers, base curve, features] --> network --> [point, its motion]
                                                        ^ here                                            ^ and here
In units of the radius, mirrored so that the path turns counter-clockwise, and with the contacts of the tangents at the
angles α₁ and α₂, the path depends on four numbers: tangent lengths a and b, the angle θ = α₂ − α₁ of the arc (negative
while the chord passes by), and the label η. The height is linear in η, so the fifth, the rise, is exact. A point is

    x = (1 − η) p + η s + C(a, b, ϑ, η)       ϑ = δ ln(1 + exp(θ/δ))       δ = (a + b)/500         theory.md (12)

with C in the frame that halves α₁ and α₂: a base curve in closed form, two tangents joined by a hyperbola, plus what
the network adds. C vanishes at both ends and with ϑ, so that ends and paths without contact are exact. ϑ is a smooth
ramp in place of max(θ, 0); a wrapped share of 1 %, the papers' threshold, is about five δ.
"""

from math import asinh, cos, exp, log1p, sin, sqrt, tanh

import numpy as np

from osim_inertia.kernels.geodesic_cylinder import HALF_TURN, arc_angle, tangent_normal
from osim_inertia.kernels.jit import lean

RAMP = 0.002  # δ over a + b: a fifth of the papers' wrapped share of 1 %
NEAR_END = 0.3  # radii: how far the base curve is bent to meet the end of the path
SHARPEST = 1e-18  # keeps the corner of a path without contact from dividing by zero
FEATURES = 7  # inputs of the network
JET = 7  # value, derivatives by a, b, ϑ, η, rate along the motion, second derivative along it
NO_CONTACT = -40.0  # θ/δ below which C is smaller than rounding

# places in the record of the ends, radii unless said; three numbers are a value and its two rates
E_A = np.int64(0)
E_B = np.int64(3)
E_T = np.int64(6)  # ϑ
E_THETA = np.int64(9)
E_TURN = np.int64(10)  # rate and second rate of the middle angle
E_N1 = np.int64(12)  # normals at the contacts, (x, y) mirrored
E_N2 = np.int64(14)
E_M = np.int64(16)  # middle of the two
E_SLOPE = np.int64(18)  # dϑ/dθ, dϑ/da = dϑ/db
E_LENGTH = np.int64(20)  # m
E_DP = np.int64(23)  # gradient of the length by p and s, frame of the cylinder
E_DS = np.int64(26)
E_SENSE = np.int64(29)
E_RADIUS = np.int64(30)  # m
ENDS = 31


# ---- jets -----------------------------------------------------------------------------------------------------------
@lean
def _add(x, y):
    return (x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5], x[6] + y[6])


@lean
def _line(c, k, x):
    """c + k x for numbers c and k."""
    return (c + k * x[0], k * x[1], k * x[2], k * x[3], k * x[4], k * x[5], k * x[6])


@lean
def _sub(x, y):
    return _add(x, _line(0.0, -1.0, y))


@lean
def _mul(x, y):
    v, w = x[0], y[0]
    return (
        v * w, v * y[1] + w * x[1], v * y[2] + w * x[2], v * y[3] + w * x[3], v * y[4] + w * x[4],
        v * y[5] + w * x[5], v * y[6] + w * x[6] + 2.0 * x[5] * y[5],
    )


@lean
def _chain(x, f, f1, f2):
    """f(x), given f and its two derivatives there."""
    return (f, f1 * x[1], f1 * x[2], f1 * x[3], f1 * x[4], f1 * x[5], f1 * x[6] + f2 * x[5] * x[5])


@lean
def _sqrt(x):
    f = sqrt(x[0])
    return _chain(x, f, 0.5 / f, -0.25 / (f * x[0]))


@lean
def _inverse(x):
    f = 1.0 / x[0]
    return _chain(x, f, -f * f, 2.0 * f * f * f)


@lean
def _tanh(x):
    f = tanh(x[0])
    g = 1.0 - f * f
    return _chain(x, f, g, -2.0 * f * g)


@lean
def _asinh(x):
    g = 1.0 / sqrt(1.0 + x[0] * x[0])
    return _chain(x, asinh(x[0]), g, -x[0] * g * g * g)


@lean
def _store(out, x):
    for j in range(JET):
        out[j] = x[j]


# ---- what the network sees and adds to -----------------------------------------------------------------------------
@lean
def _curve(psi, w2, sine, cosine, top, side):
    """Base curve at the distance psi from the middle of the arc: (along the middle normal, along the path)."""
    h = _sqrt(_add(_mul(psi, psi), w2))
    return _sub(top, _mul(sine, h)), _add(_mul(cosine, psi), _mul(side, _mul(psi, _inverse(h))))


@lean
def canonical_jets(a, b, t, eta, rates, features, base, scale):
    """Features (FEATURES, JET) of the network, base curve (2, JET) and the factor (JET,) of what the network answers.

    a, b, t = ϑ, eta: numbers | rates (4,) theirs along the motion
    """
    ja = (a, 1.0, 0.0, 0.0, 0.0, rates[0], 0.0)
    jb = (b, 0.0, 1.0, 0.0, 0.0, rates[1], 0.0)
    jt = (t, 0.0, 0.0, 1.0, 0.0, rates[2], 0.0)
    je = (eta, 0.0, 0.0, 0.0, 1.0, rates[3], 0.0)
    half, rest = _line(0.0, 0.5, jt), _line(1.0, -1.0, je)
    length = _add(_add(ja, jb), jt)
    from_p, from_s = _mul(je, length), _mul(rest, length)
    start, stop = _line(0.0, -1.0, _add(ja, half)), _add(jb, half)
    psi = _add(from_p, start)
    s, c = sin(half[0]), cos(half[0])
    sine, cosine = _chain(half, s, c, -s), _chain(half, c, -s, -c)
    top, side = _add(cosine, _mul(half, sine)), _sub(sine, _mul(half, cosine))
    w2 = _line(SHARPEST, 0.0625, _mul(jt, jt))
    p_up, p_on = _add(top, _mul(sine, start)), _sub(_mul(cosine, start), side)
    s_up, s_on = _sub(top, _mul(sine, stop)), _add(_mul(cosine, stop), side)
    at_p, at_s = _inverse(_line(NEAR_END, 1.0, from_p)), _inverse(_line(NEAR_END, 1.0, from_s))
    near_p, near_s = _line(0.0, NEAR_END, _mul(rest, at_p)), _line(0.0, NEAR_END, _mul(je, at_s))
    up, on = _curve(psi, w2, sine, cosine, top, side)
    up_0, on_0 = _curve(start, w2, sine, cosine, top, side)
    up_1, on_1 = _curve(stop, w2, sine, cosine, top, side)
    up = _add(up, _add(_mul(near_p, _sub(p_up, up_0)), _mul(near_s, _sub(s_up, up_1))))
    on = _add(on, _add(_mul(near_p, _sub(p_on, on_0)), _mul(near_s, _sub(s_on, on_1))))
    _store(base[0], _sub(up, _add(_mul(rest, p_up), _mul(je, s_up))))
    _store(base[1], _sub(on, _add(_mul(rest, p_on), _mul(je, s_on))))
    u, v = _mul(from_p, at_p), _mul(from_s, at_s)
    _store(scale, _mul(_mul(_mul(jt, jt), _inverse(_line(1.0, 1.0, jt))), _mul(u, v)))
    _store(features[0], _asinh(psi))
    _store(features[1], _tanh(psi))
    _store(features[2], _line(-1.5, 1.0, jt))
    _store(features[3], _line(-1.0, 2.0, u))
    _store(features[4], _line(-1.0, 2.0, v))
    _store(features[5], _tanh(_sub(psi, half)))
    _store(features[6], _tanh(_add(psi, half)))


@lean
def _excess(a, b, t, rates):
    """Jet of how much longer than its chord a path round the cylinder is, in the cross-section."""
    ja = (a, 1.0, 0.0, 0.0, 0.0, rates[0], 0.0)
    jb = (b, 0.0, 1.0, 0.0, 0.0, rates[1], 0.0)
    jt = (t, 0.0, 0.0, 1.0, 0.0, rates[2], 0.0)
    half = _line(0.0, 0.5, jt)
    s, c = sin(half[0]), cos(half[0])
    sine, cosine = _chain(half, s, c, -s), _chain(half, c, -s, -c)
    across = _mul(sine, _sub(ja, jb))
    both = _add(ja, jb)
    ahead = _add(_mul(cosine, both), _line(0.0, 2.0, sine))
    return _sub(_add(both, jt), _sqrt(_add(_mul(across, across), _mul(ahead, ahead))))


# ---- the ends -------------------------------------------------------------------------------------------------------
@lean
def softplus(z):
    """(ln(1 + e^z), its derivative), for any z."""
    if z > 0.0:
        small = exp(-z)
        return z + log1p(small), 1.0 / (1.0 + small)
    small = exp(z)
    return log1p(small), small / (1.0 + small)


@lean
def angle_of_arc(p, s, radius, sense, attached):
    """(a, b, θ) in radii, for ends p, s (tuples) in the frame of the cylinder; θ is within half a turn of 0 or π."""
    x, y, v, w = p[0] / radius, sense * p[1] / radius, s[0] / radius, sense * s[1] / radius
    a, n1x, n1y = tangent_normal((x, y), 1.0, 1.0)
    b, n2x, n2y = tangent_normal((v, w), 1.0, -1.0)
    return a, b, arc_angle(n1x * n2y - n1y * n2x, n1x * n2x + n1y * n2y, HALF_TURN if attached else 0.0)


@lean
def set_ends(p, pdot, pddot, s, sdot, sddot, radius, sense, attached, E):
    """Record of the ends E (ENDS,) for their positions and motion (tuples), in the frame of the cylinder."""
    k = 1.0 / radius
    px, py, vx, vy, ax, ay = (
        k * p[0], sense * k * p[1], k * pdot[0], sense * k * pdot[1], k * pddot[0], sense * k * pddot[1],
    )
    sx, sy, ux, uy, bx, by = (
        k * s[0], sense * k * s[1], k * sdot[0], sense * k * sdot[1], k * sddot[0], sense * k * sddot[1],
    )
    a, n1x, n1y = tangent_normal((px, py), 1.0, 1.0)
    b, n2x, n2y = tangent_normal((sx, sy), 1.0, -1.0)
    theta = arc_angle(n1x * n2y - n1y * n2x, n1x * n2x + n1y * n2y, HALF_TURN if attached else 0.0)
    across_p, along_p = n1x * vx + n1y * vy, n1x * vy - n1y * vx
    across_s, along_s = n2x * ux + n2y * uy, n2x * uy - n2y * ux
    turn1, turn2 = across_p / a, -across_s / b
    adot, bdot = turn1 - along_p, along_s - turn2
    turn1dot = (n1x * ax + n1y * ay + turn1 * (along_p - adot)) / a
    turn2dot = (-(n2x * bx + n2y * by) - turn2 * (along_s + bdot)) / b
    addot = turn1dot - (n1x * ay - n1y * ax) + turn1 * across_p
    bddot = (n2x * by - n2y * bx) - turn2 * across_s - turn2dot
    d, ddot = RAMP * (a + b), RAMP * (adot + bdot)
    z = theta / d
    soft, slope = softplus(z)
    by_d = soft - z * slope
    swing = (turn2 - turn1) - z * ddot
    E[E_A], E[E_A + 1], E[E_A + 2] = a, adot, addot
    E[E_B], E[E_B + 1], E[E_B + 2] = b, bdot, bddot
    E[E_T], E[E_T + 1] = d * soft, slope * (turn2 - turn1) + by_d * ddot
    E[E_T + 2] = (
        slope * (turn2dot - turn1dot) + by_d * RAMP * (addot + bddot) + slope * (1.0 - slope) / d * swing * swing
    )
    E[E_THETA], E[E_TURN], E[E_TURN + 1] = theta, 0.5 * (turn1 + turn2), 0.5 * (turn1dot + turn2dot)
    E[E_N1], E[E_N1 + 1], E[E_N2], E[E_N2 + 1] = n1x, n1y, n2x, n2y
    c, h = cos(0.5 * theta), sin(0.5 * theta)
    E[E_M], E[E_M + 1] = c * n1x - h * n1y, c * n1y + h * n1x
    E[E_SLOPE], E[E_SLOPE + 1] = slope, RAMP * by_d
    E[E_SENSE], E[E_RADIUS] = sense, radius
    _set_length((sx - px, sy - py), (ux - vx, uy - vy), (bx - ax, by - ay),
                (k * (s[2] - p[2]), k * (sdot[2] - pdot[2]), k * (sddot[2] - pddot[2])), E)


@lean
def _set_length(d, v, acc, rise, E):
    """Length of the interval with its rates and gradients, from its chord in the cross-section and its rise."""
    radius, sense = E[E_RADIUS], E[E_SENSE]
    x = _excess(E[E_A], E[E_B], E[E_T], (E[E_A + 1], E[E_B + 1], E[E_T + 1]))
    chord = max(sqrt(d[0] * d[0] + d[1] * d[1]), 1e-12)  # the ends may lie on one line along the axis
    ex, ey = d[0] / chord, d[1] / chord
    rate = ex * v[0] + ey * v[1]
    second = (v[0] * v[0] + v[1] * v[1] - rate * rate) / chord + ex * acc[0] + ey * acc[1]
    planar, rate = chord + x[0], rate + x[5]
    second += x[6] + x[1] * E[E_A + 2] + x[2] * E[E_B + 2] + x[3] * E[E_T + 2]
    length = sqrt(planar * planar + rise[0] * rise[0])
    c, z = planar / length, rise[0] / length
    lrate = c * rate + z * rise[1]
    lsecond = (rate * rate + rise[1] * rise[1] - lrate * lrate) / length + c * second + z * rise[2]
    E[E_LENGTH], E[E_LENGTH + 1], E[E_LENGTH + 2] = radius * length, radius * lrate, radius * lsecond
    gp, gs = _to_ends(x[1], x[2], x[3], 0.0, E)
    E[E_DP], E[E_DP + 1], E[E_DP + 2] = c * (gp[0] - ex), sense * c * (gp[1] - ey), -z
    E[E_DS], E[E_DS + 1], E[E_DS + 2] = c * (gs[0] + ex), sense * c * (gs[1] + ey), z


@lean
def _to_ends(on_a, on_b, on_t, on_turn, E):
    """What multiplies da, db, dϑ and the turn of the middle, as (mirrored) vectors at p and at s."""
    n1x, n1y, n2x, n2y = E[E_N1], E[E_N1 + 1], E[E_N2], E[E_N2 + 1]
    a, b = E[E_A], E[E_B]
    on_a, on_b = on_a + on_t * E[E_SLOPE + 1], on_b + on_t * E[E_SLOPE + 1]
    on_theta = on_t * E[E_SLOPE]
    across_p = (on_a - on_theta + 0.5 * on_turn) / a
    across_s = (on_b - on_theta - 0.5 * on_turn) / b
    gp = across_p * n1x + on_a * n1y, across_p * n1y - on_a * n1x
    gs = across_s * n2x - on_b * n2y, across_s * n2y + on_b * n2x
    return gp, gs


# ---- points ---------------------------------------------------------------------------------------------------------
@lean
def bent_point(p, pdot, pddot, s, sdot, sddot, eta, C, E):
    """(position, rate, second rate, derivative by η) of a point, in the frame of the cylinder.

    eta (3,) label and rates | C (2, JET) what stands beside the chord, in radii
    """
    e, e1, e2 = eta[0], eta[1], eta[2]
    turn, turn1 = E[E_TURN], E[E_TURN + 1]
    up, on = C[0], C[1]
    up2 = up[6] + up[1] * E[E_A + 2] + up[2] * E[E_B + 2] + up[3] * E[E_T + 2] + up[4] * e2
    on2 = on[6] + on[1] * E[E_A + 2] + on[2] * E[E_B + 2] + on[3] * E[E_T + 2] + on[4] * e2
    x, y = _unturned(up[0], on[0], E)
    vx, vy = _unturned(up[5] - turn * on[0], on[5] + turn * up[0], E)
    ax, ay = _unturned(
        up2 - 2.0 * turn * on[5] - turn1 * on[0] - turn * turn * up[0],
        on2 + 2.0 * turn * up[5] + turn1 * up[0] - turn * turn * on[0], E,
    )
    dx, dy = _unturned(up[4], on[4], E)
    d, v = (s[0] - p[0], s[1] - p[1], s[2] - p[2]), (sdot[0] - pdot[0], sdot[1] - pdot[1], sdot[2] - pdot[2])
    position = p[0] + e * d[0] + x, p[1] + e * d[1] + y, p[2] + e * d[2]
    rate = (
        pdot[0] + e * v[0] + e1 * d[0] + vx, pdot[1] + e * v[1] + e1 * d[1] + vy, pdot[2] + e * v[2] + e1 * d[2],
    )
    second = (
        pddot[0] + e * (sddot[0] - pddot[0]) + 2.0 * e1 * v[0] + e2 * d[0] + ax,
        pddot[1] + e * (sddot[1] - pddot[1]) + 2.0 * e1 * v[1] + e2 * d[1] + ay,
        pddot[2] + e * (sddot[2] - pddot[2]) + 2.0 * e1 * v[2] + e2 * d[2],
    )
    return position, rate, second, (d[0] + dx, d[1] + dy, d[2])


@lean
def _unturned(up, on, E):
    """From the frame of the middle, in radii, to the frame of the cylinder, in m."""
    k, mx, my = E[E_RADIUS], E[E_M], E[E_M + 1]
    return k * (up * mx - on * my), k * E[E_SENSE] * (up * my + on * mx)


@lean
def bent_transpose(f, eta, C, E):
    """A force on a point at a fixed label, pulled back to the two ends, in the frame of the cylinder."""
    sense, mx, my = E[E_SENSE], E[E_M], E[E_M + 1]
    fx, fy = f[0], sense * f[1]
    f_up, f_on = fx * mx + fy * my, fy * mx - fx * my
    up, on = C[0], C[1]
    gp, gs = _to_ends(
        f_up * up[1] + f_on * on[1], f_up * up[2] + f_on * on[2], f_up * up[3] + f_on * on[3],
        f_on * up[0] - f_up * on[0], E,
    )
    r = 1.0 - eta
    return (
        (r * f[0] + gp[0], r * f[1] + sense * gp[1], r * f[2]),
        (eta * f[0] + gs[0], eta * f[1] + sense * gs[1], eta * f[2]),
    )


@lean
def exact_beside_chord(a, b, theta, eta, out):
    """What the shortest path has in place of C: out (2,); zero without contact."""
    out[0] = out[1] = 0.0
    if theta <= 0.0:
        return
    half = 0.5 * theta
    psi = eta * (a + b + theta) - a - half
    s, c = sin(half), cos(half)
    top, side = c + half * s, s - half * c
    if abs(psi) < half:
        out[0], out[1] = cos(psi), sin(psi)
    else:
        out[0], out[1] = top - s * abs(psi), c * psi + (side if psi > 0.0 else -side)
    out[0] -= (1.0 - eta) * (top - s * (a + half)) + eta * (top - s * (b + half))
    out[1] -= eta * (c * (b + half) + side) - (1.0 - eta) * (c * (a + half) + side)


@lean
def fill_canonical(a, b, theta, eta, features, base, scale, target, F, S):
    """For training: features (N, FEATURES), base and target (N, 2), scale (N,) of samples; F, S are room."""
    rates = (0.0, 0.0, 0.0, 0.0)
    for i in range(a.shape[0]):
        d = RAMP * (a[i] + b[i])
        soft, _ = softplus(theta[i] / d)
        C = S[1:3]
        canonical_jets(a[i], b[i], d * soft, eta[i], rates, F, C, S[0])
        for j in range(FEATURES):
            features[i, j] = F[j, 0]
        base[i, 0], base[i, 1], scale[i] = C[0, 0], C[1, 0], S[0, 0]
        exact_beside_chord(a[i], b[i], theta[i], eta[i], target[i])


