"""Shortest path over a smooth surface without closed form (ellipsoid, torus), in its frame: shooting.

    path segment --> start (ellipsoid, torus) --> [shoot: tangent from p, geodesic, tangent to s] --> geodesic record
                                                        ^ here
The geodesic x'' = -kappa N and its two Jacobi solutions y'' = -K y are integrated together by extrapolated midpoint
steps (order 12). Newton's method finds two unknowns: the direction in which the tangent leaves p, and the arc length
l. With the ray that leaves the surface missing s by r_N along N2 and r_B along B2, the corrections are r_B/D and
-r_N/(kappa b): r_B does not depend on l, so both converge quadratically.

Lengths are exact to about 1e-12, first rates are exact (geodesic_common); second rates are fourth-order central
differences of the first rates along the motion, each side of a contact continued on its own.
"""

from math import sqrt

import numpy as np

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
    ARC_STATE,
    ELLIPSOID,
    G_A,
    G_ARC,
    G_B,
    G_B1,
    G_D,
    G_E1,
    G_KIND,
    G_LENGTH,
    G_N1,
    G_P,
    G_PLANAR,
    G_Q1,
    G_Q2,
    G_S,
    G_SIZE,
    G_THETA,
    GEO,
    M_E1DDOT,
    M_E2DDOT,
    M_OWN,
    M_PDDOT,
    M_PDOT,
    M_SDDOT,
    M_SDOT,
    arc_rate,
    direction_rates,
    get3,
    put3,
    set_ends,
    set_jacobi,
    start_motion,
    sum3,
)
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import add, along, cross, dot3, norm, scaled, sub

STEP = 0.3  # integration step in radii of curvature; 0.6 costs four digits of the length
LEVELS = 6  # of the extrapolation: order 12
ODE = 10  # x, t, y1, y1', y2, y2'
W_X = np.int64(0)
W_T = np.int64(3)
SHOTS = 60
MISS = 1e-13  # how closely the last ray meets s, in sizes of the surface
TURN_LIMIT = 0.3  # rad; longest step in direction
HALF = 4  # displaced geodesics of the central differences

# the surface's own motion numbers: step of the differences, speed of the ends, then the displaced geodesics
U_STEP = M_OWN
U_SPEED = M_OWN + 1
U_GEO = M_OWN + 2
U_WORK = U_GEO + 4 * GEO


@lean
def gradient(kind, size, x):
    """Gradient of the surface's function (zero on the surface, positive outside)."""
    if kind == ELLIPSOID:
        return x[0] / (size[0] * size[0]), x[1] / (size[1] * size[1]), x[2] / (size[2] * size[2])
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    c = (rho - size[1]) / rho
    return c * x[0], c * x[1], x[2]


@lean
def gradient_rate(kind, size, x, v):
    """Rate of the gradient when x moves with v (the Hessian times v)."""
    if kind == ELLIPSOID:
        return v[0] / (size[0] * size[0]), v[1] / (size[1] * size[1]), v[2] / (size[2] * size[2])
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    c = (rho - size[1]) / rho
    out = size[1] * (x[0] * v[0] + x[1] * v[1]) / (rho * rho * rho)
    return c * v[0] + out * x[0], c * v[1] + out * x[1], v[2]


@lean
def height(kind, size, x):
    """The surface's function: half of (sum of squares - 1) for the ellipsoid, half of (distance^2 - tube^2) for the
    torus.
    """
    if kind == ELLIPSOID:
        g = gradient(kind, size, x)
        return 0.5 * (dot3(g, x) - 1.0)
    rho = sqrt(x[0] * x[0] + x[1] * x[1]) - size[1]
    return 0.5 * (rho * rho + x[2] * x[2] - size[0] * size[0])


@lean
def _curvature(kind, size, x, g2):
    """Gaussian curvature; g2 is the squared gradient."""
    if kind == ELLIPSOID:
        volume = size[0] * size[1] * size[2] * g2
        return 1.0 / (volume * volume)
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    return (rho - size[1]) / (size[0] * size[0] * rho)


@lean
def _step_length(kind, size, g2):
    """Step suited to the surface's sharpest curvature here."""
    if kind == ELLIPSOID:
        least = min(size[0], min(size[1], size[2]))
        return STEP * least * least * sqrt(g2)
    return STEP * min(size[0], size[1] - size[0])


@lean
def _rates(kind, size, w, i, o):
    """Right-hand side: rates of the state stored at i, written at o."""
    x, t = get3(w, i), get3(w, i + 3)
    g = gradient(kind, size, x)
    g2 = dot3(g, g)
    bend = -dot3(gradient_rate(kind, size, x, t), t) / g2
    put3(w, o, t)
    put3(w, o + 3, scaled(bend, g))
    K = _curvature(kind, size, x, g2)
    w[o + 6] = w[i + 7]
    w[o + 7] = -K * w[i + 6]
    w[o + 8] = w[i + 9]
    w[o + 9] = -K * w[i + 8]


@lean
def _leap(kind, size, w, start, H):
    """Advance the state at `start` by H: modified midpoint with 2, 4, ... 12 substeps, extrapolated to none."""
    rate, old, new, table = start + ODE, start + 2 * ODE, start + 3 * ODE, start + 4 * ODE
    for level in range(LEVELS):
        n = 2 * (level + 1)
        h = H / n
        _rates(kind, size, w, start, rate)
        for k in range(ODE):
            w[old + k] = w[start + k]
            w[new + k] = w[start + k] + h * w[rate + k]
        for _ in range(n - 1):
            _rates(kind, size, w, new, rate)
            for k in range(ODE):
                later = w[old + k] + 2.0 * h * w[rate + k]
                w[old + k] = w[new + k]
                w[new + k] = later
        _rates(kind, size, w, new, rate)
        for k in range(ODE):
            value = 0.5 * (w[old + k] + w[new + k] + h * w[rate + k])
            for column in range(level):  # Aitken and Neville, in place: row j holds the newest value of column j
                ratio = n / (2.0 * (level - column))
                previous = w[table + column * ODE + k]
                w[table + column * ODE + k] = value
                value += (value - previous) / (ratio * ratio - 1.0)
            w[table + level * ODE + k] = value
    for k in range(ODE):
        w[start + k] = w[table + (LEVELS - 1) * ODE + k]


@lean
def surface_arc(geo, way, arc):
    """State of the geodesic at arc length `way` from the first contact, into arc (ARC_STATE + working memory)."""
    kind, size = geo[G_KIND], get3(geo, G_SIZE)
    w = arc[ARC_STATE:]
    put3(w, W_X, get3(geo, G_Q1))
    put3(w, W_T, get3(geo, G_E1))
    w[6], w[7], w[8], w[9] = 1.0, 0.0, 0.0, 1.0
    done = 0.0
    while abs(way - done) > 0.0:
        g = gradient(kind, size, get3(w, W_X))
        H = min(abs(way - done), _step_length(kind, size, dot3(g, g)))
        last = abs(way - done) == H
        _leap(kind, size, w, W_X, H if way > 0.0 else -H)
        if last:
            break
        done += H if way > 0.0 else -H
    x, t = get3(w, W_X), get3(w, W_T)
    g = gradient(kind, size, x)
    steep = norm(g)
    n = scaled(1.0 / steep, g)
    b = cross(t, n)
    turn = gradient_rate(kind, size, x, t)
    put3(arc, A_X, x)
    put3(arc, A_T, t)
    put3(arc, A_N, n)
    put3(arc, A_B, b)
    arc[A_Y1], arc[A_Y1P], arc[A_Y2], arc[A_Y2P] = w[6], w[7], w[8], w[9]
    arc[A_KAPPA], arc[A_TAU] = dot3(turn, t) / steep, dot3(turn, b) / steep


@lean
def touch(kind, size, p, across, q):
    """(found, contact): the tangent from p that stays in the plane through p with normal `across`, near q."""
    for _ in range(30):
        g = gradient(kind, size, q)
        d = sub(q, p)
        g2 = add(g, gradient_rate(kind, size, q, d))
        r0, r1, r2 = height(kind, size, q), dot3(g, d), dot3(across, d)
        c12, c20, c01 = cross(g2, across), cross(across, g), cross(g, g2)
        det = dot3(g, c12)
        if det == 0.0:
            return False, q
        move = sum3(-r0 / det, c12, -r1 / det, c20, -r2 / det, c01)
        far = norm(move)
        limit = 0.5 * min(size[0], min(size[1], size[2])) if kind == ELLIPSOID else 0.5 * size[0]
        if not far < 1e6:
            return False, q
        q = along(q, min(1.0, limit / max(far, 1e-300)), move)
        if far < 1e-15 * limit or (far < 1e-9 * limit and abs(r0) + abs(r1) < 1e-15):
            return True, q
    return far < 1e-12 * limit, q


@lean
def _leave(geo, q):
    """Make q the first contact: a, e1 and N1."""
    p = get3(geo, G_P)
    d = sub(q, p)
    a = norm(d)
    n = gradient(geo[G_KIND], get3(geo, G_SIZE), q)
    n = scaled(1.0 / norm(n), n)
    e = scaled(1.0 / a, d)
    geo[G_A] = a
    put3(geo, G_Q1, q)
    put3(geo, G_E1, e)
    put3(geo, G_N1, n)
    put3(geo, G_B1, cross(e, n))


@lean
def _stretch(b, drop):
    """Change of arc length that makes the last ray meet s, were the surface a circle: b - sqrt(b^2 + drop)."""
    root = sqrt(max(b * b + drop, 0.0))
    return -drop / (b + root) if b > 0.0 and b * b + drop > 0.0 else b - root


@lean
def surface_geodesic(geo, arc):
    """Solve for the path between geo's p and s from the first contact and arc length stored there: whether it
    converged.

    arc (ARC_STATE + working memory). On entry geo holds kind, size, p, s, Q1 (a contact of a tangent from p) and l.
    """
    kind, size = geo[G_KIND], get3(geo, G_SIZE)
    scale = min(size[0], min(size[1], size[2])) if kind == ELLIPSOID else size[0]
    s = get3(geo, G_S)
    _leave(geo, get3(geo, G_Q1))
    best = 1e300
    for shot in range(SHOTS):
        surface_arc(geo, geo[G_ARC], arc)
        x, t, n, bi = get3(arc, A_X), get3(arc, A_T), get3(arc, A_N), get3(arc, A_B)
        rest = sub(s, x)
        b, r_n, r_b = dot3(rest, t), dot3(rest, n), dot3(rest, bi)
        geo[G_B] = b
        geo[G_LENGTH] = geo[G_A] + geo[G_ARC] + abs(b)
        set_jacobi(geo, arc[A_Y1], arc[A_Y1P], arc[A_Y2], arc[A_Y2P])
        miss = abs(r_n) + abs(r_b)
        if miss < MISS * scale or (shot > 8 and miss < 1e3 * MISS * scale and miss >= best):
            break
        best = min(best, miss)
        bend = max(arc[A_KAPPA], 0.1 / scale)
        stretch, limit = _stretch(b, 2.0 * r_n / bend), 0.5 / bend
        turn = min(max(r_b / geo[G_D], -TURN_LIMIT), TURN_LIMIT)
        found, q = touch(kind, size, get3(geo, G_P), along(get3(geo, G_B1), -turn, get3(geo, G_E1)), get3(geo, G_Q1))
        if not found:
            return False
        _leave(geo, q)
        geo[G_ARC] = max(geo[G_ARC] + min(max(stretch, -limit), limit), -1e-9 * scale)
    else:
        return False
    if b < 0.0:
        return False
    set_ends(geo, get3(geo, G_E1), get3(geo, G_N1), scaled(1.0 / b, rest), n)
    put3(geo, G_Q2, x)
    geo[G_THETA] = 0.0
    geo[G_PLANAR] = geo[G_LENGTH]
    return True


@lean
def _clearance(kind, size, geo, at):
    """Height of an end above the surface, roughly, as a length: the scale on which the path bends with the end."""
    x = get3(geo, at)
    return height(kind, size, x) / norm(gradient(kind, size, x))


@lean
def surface_motion(geo, pdot, pddot, sdot, sddot, mot):
    """Rates of length and directions for a motion of the ends, into mot (MOT,), with the displaced geodesics."""
    start_motion(geo, pdot, pddot, sdot, sddot, mot)
    kind, size = geo[G_KIND], get3(geo, G_SIZE)
    speed = sqrt(dot3(pdot, pdot) + dot3(sdot, sdot))
    d1, d2 = direction_rates(geo, pddot, sddot)
    put3(mot, M_E1DDOT, d1)
    put3(mot, M_E2DDOT, d2)
    mot[U_SPEED] = speed
    if speed == 0.0:
        return True
    scale = min(size[0], min(size[1], size[2])) if kind == ELLIPSOID else size[0]
    room = min(_clearance(kind, size, geo, G_P), _clearance(kind, size, geo, G_S))
    h = min(max(0.005 * room, 1e-5 * scale), 1e-3 * scale)
    mot[U_STEP] = h
    up, us = scaled(1.0 / speed, pdot), scaled(1.0 / speed, sdot)
    solved = True
    for i in range(HALF):
        other = mot[U_GEO + i * GEO : U_GEO + (i + 1) * GEO]
        solved = _displaced(geo, other, _offset(i) * h, up, us, mot) and solved
        c = speed * speed * _weight(i) / h
        d1, d2 = direction_rates(other, up, us)
        put3(mot, M_E1DDOT, along(get3(mot, M_E1DDOT), c, d1))
        put3(mot, M_E2DDOT, along(get3(mot, M_E2DDOT), c, d2))
    return solved


@lean
def _offset(i):
    """Where the displaced geodesics stand: -2, -1, 1, 2 steps."""
    return i - 2.0 if i < 2 else i - 1.0


@lean
def _weight(i):
    """Weights of the fourth-order first difference at those places."""
    w = 1.0 / 12.0 if i == 0 or i == 3 else 8.0 / 12.0
    return w if i == 0 or i == 2 else -w


@lean
def _displaced(geo, other, way, up, us, mot):
    """Geodesic with both ends moved by `way` along (up, us), into other (GEO,): whether it converged."""
    for k in range(GEO):
        other[k] = geo[k]
    put3(other, G_P, along(get3(geo, G_P), way, up))
    put3(other, G_S, along(get3(geo, G_S), way, us))
    kind, size = geo[G_KIND], get3(geo, G_SIZE)
    found, q = touch(kind, size, get3(other, G_P), get3(geo, G_B1), get3(geo, G_Q1))
    put3(other, G_Q1, q)
    return found and surface_geodesic(other, mot[U_WORK:])


@lean
def surface_arc_second(geo, mot, arc, eta):
    """Second rate of the arc's point at fixed eta. Overwrites arc."""
    second, _ = arc_rate(geo, arc, eta, get3(mot, M_PDDOT), get3(mot, M_SDDOT))
    speed = mot[U_SPEED]
    if speed == 0.0:
        return second
    up, us = scaled(1.0 / speed, get3(mot, M_PDOT)), scaled(1.0 / speed, get3(mot, M_SDOT))
    for i in range(HALF):
        other = mot[U_GEO + i * GEO : U_GEO + (i + 1) * GEO]
        surface_arc(other, eta * other[G_LENGTH] - other[G_A], arc)
        rate, _ = arc_rate(other, arc, eta, up, us)
        second = along(second, speed * speed * _weight(i) / mot[U_STEP], rate)
    return second
