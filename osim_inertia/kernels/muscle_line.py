"""The line a muscle's mass rides on: nodes, intervals, lengths and their rates at one instant.

    body motion --> [nodes, intervals, blended lengths] --> muscle_inertia: points of matter, forces
                                 ^ here
A line has rows: row k is node k and the interval from node k to node k + 1. An interval is straight, wrapped, or, while
the wrapped share l/L of the path is below BLEND, a mixture of the two (METHOD.md §4):

    X = (1 − w) X_straight + w X_wrapped      ℓ = (1 − w) ℓ_straight + w ℓ_wrapped      w = S(l/(εL))     theory.md (8)

with S the quintic smooth step, l the length on wrap surfaces and L the length of the unblended path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.functions import evaluate
from osim_inertia.kernels.geodesic_common import (
    A_KAPPA,
    A_TAU,
    G_A,
    G_ARC,
    G_B,
    G_B1,
    G_B2,
    G_N1,
    G_N2,
    G_P,
    G_S,
    GEO,
    M_PDDOT,
    M_PDOT,
    M_SDDOT,
    M_SDOT,
    get3,
    sideways_weights,
    sum3,
)
from osim_inertia.kernels.geodesic_points import arc_state
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.paths import CONDITION_SLACK, CONDITIONAL, MOVING
from osim_inertia.kernels.rotation import matrix, row, times
from osim_inertia.kernels.shortest_path import shortest_path
from osim_inertia.kernels.shortest_record import CHAIN, OBJECT, W_MOT, WHERE, interval_end
from osim_inertia.kernels.shortest_segment import follow
from osim_inertia.kernels.vec3 import add, along, cross, dot3, norm, scaled, sub
from osim_inertia.kernels.wrapped_interval import object_motion, wrapped_length, wrapped_motion

# Columns of a line's rows of floats; three numbers are a vector, or a value and its two rates. They are NumPy integers
# because Numba compiles a function anew for every plain constant it is called with.
X = np.int64(0)  # node: position
V = np.int64(3)  # velocity
ACC = np.int64(6)  # acceleration
PULL = np.int64(9)  # force pulled back to it
LENGTH = np.int64(12)  # interval: length
START = np.int64(15)  # path length up to its first node
STRAIGHT = np.int64(18)  # its two lengths
WRAPPED = np.int64(21)
MIX = np.int64(24)  # weight of the wrapped geometry
LENGTH_PULL = np.int64(27)  # what multiplies the variation of its length
MIX_PULL = np.int64(28)  # and of its weight
SLIDE = np.int64(29)  # node: rate by its coordinate, if it is a moving point
LINE_COLUMNS = 32
# columns of a line's rows of integers
POINT = np.int64(0)  # path point
BODY = np.int64(1)
FIRST_WRAP = np.int64(2)  # pieces of the wrapped chain
LAST_WRAP = np.int64(3)

START_OF_CHAIN = np.int64(0)
ARC_STEP = 1e-4  # of the unit of time, for the second rate of an arc's length while it is blended


class Line(NamedTuple):
    """Working memory for one muscle at one instant."""

    rows: ndarray  # (nodes, LINE_COLUMNS)
    ints: ndarray  # (nodes, 4)
    nodes: ndarray  # (nodes, 3) positions, as the path solver wants them
    rates: ndarray  # (nodes, 3)
    accels: ndarray  # (nodes, 3)
    places: ndarray  # (nodes,) int: of the nodes in the path's own list of points
    total: ndarray  # (3,) length of the path and its rates
    unblended: ndarray  # (3,) the same with every wrap fully counted
    object_R: ndarray  # (objects, 3, 3) wrap objects in ground
    object_p: ndarray  # (objects, 3)
    object_motion: ndarray  # (objects, 4, 3) velocity, angular velocity, acceleration, angular acceleration
    geo: ndarray  # (GEO,) scratch


def new_line(nodes: int, objects: int) -> Line:
    """Room for a path of so many points, and for all wrap objects."""
    return Line(
        rows=np.zeros((nodes, LINE_COLUMNS)),
        ints=np.zeros((nodes, 4), np.int64),
        nodes=np.zeros((nodes, 3)),
        rates=np.zeros((nodes, 3)),
        accels=np.zeros((nodes, 3)),
        places=np.zeros(nodes, np.int64),
        total=np.zeros(3),
        unblended=np.zeros(3),
        object_R=np.zeros((objects, 3, 3)),
        object_p=np.zeros((objects, 3)),
        object_motion=np.zeros((objects, 4, 3)),
        geo=np.zeros(GEO),
    )


@lean
def vec(rows, k, at):
    """Three numbers of row k from column `at`."""
    return rows[k, at], rows[k, at + 1], rows[k, at + 2]


@lean
def set_vec(rows, k, at, v):
    """Write three numbers into row k from column `at`."""
    rows[k, at] = v[0]
    rows[k, at + 1] = v[1]
    rows[k, at + 2] = v[2]


@lean
def add_vec(rows, k, at, v):
    """Add three numbers to row k from column `at`."""
    rows[k, at] += v[0]
    rows[k, at + 1] += v[1]
    rows[k, at + 2] += v[2]


@lean
def move_objects(P, S, dw, dv, base, line):
    """Pose and motion in ground of all wrap objects; S is the motion of the bodies."""
    for o in range(P.object_body.shape[0]):
        b = P.object_body[o]
        at, axes = row(P.object_p, o), matrix(P.object_R, o)
        v = w = al = (0.0, 0.0, 0.0)
        a = (base[0], base[1], base[2])
        R = axes
        if b >= 0:
            R_b = matrix(S.R, b)
            r, w, al = times(R_b, at), row(S.w, b), row(dw, b)
            turn = cross(w, r)
            at, v = add(row(S.p, b), r), add(row(S.v, b), turn)
            a = add(row(dv, b), add(cross(al, r), cross(w, turn)))
            x, y, z = times(R_b, (axes[0], axes[3], axes[6])), times(R_b, (axes[1], axes[4], axes[7])), times(
                R_b, (axes[2], axes[5], axes[8])
            )
            R = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
        for j in range(3):
            line.object_p[o, j] = at[j]
            line.object_motion[o, 0, j] = v[j]
            line.object_motion[o, 1, j] = w[j]
            line.object_motion[o, 2, j] = a[j]
            line.object_motion[o, 3, j] = al[j]
            for k in range(3):
                line.object_R[o, j, k] = R[3 * j + k]


@lean
def move_nodes(P, i, S, q, u, udot, dw, dv, base, switch, value, line):
    """Active points of path i with velocity and acceleration; their number is returned.

    Conditional points look at `value` instead of q for the coordinate `switch` (-1: at q always).
    """
    n = 0
    for k in range(P.first[i], P.first[i + 1]):
        c, b, x = P.coordinate[k], P.body[k], row(P.location, k)
        own_v = own_a = slide = (0.0, 0.0, 0.0)
        if P.kind[k] == CONDITIONAL:
            seen = value if c == switch else q[c]
            if not P.low[k] - CONDITION_SLACK <= seen <= P.high[k] + CONDITION_SLACK:
                continue
        elif P.kind[k] == MOVING:
            inside = min(max(q[c], P.low[k]), P.high[k])
            fx, dx, ddx = evaluate(P.functions, P.function[k, 0], inside)
            fy, dy, ddy = evaluate(P.functions, P.function[k, 1], inside)
            fz, dz, ddz = evaluate(P.functions, P.function[k, 2], inside)
            axes = matrix(P.axes, k)
            x = add(x, times(axes, (fx, fy, fz)))
            if inside == q[c]:
                slide = times(axes, (dx, dy, dz))
                own_v = scaled(u[c], slide)
                own_a = add(scaled(udot[c], slide), scaled(u[c] * u[c], times(axes, (ddx, ddy, ddz))))
        v, a = (0.0, 0.0, 0.0), (base[0], base[1], base[2])
        if b >= 0:
            R, w, al = matrix(S.R, b), row(S.w, b), row(dw, b)
            r, slide, own_v = times(R, x), times(R, slide), times(R, own_v)
            turn = cross(w, r)
            x, v = add(row(S.p, b), r), add(add(row(S.v, b), turn), own_v)
            a = add(row(dv, b), add(cross(al, r), cross(w, turn)))
            a = add(a, add(times(R, own_a), scaled(2.0, cross(w, own_v))))
        set_vec(line.rows, n, X, x)
        set_vec(line.rows, n, V, v)
        set_vec(line.rows, n, ACC, a)
        set_vec(line.rows, n, SLIDE, slide)
        for j in range(3):
            line.nodes[n, j], line.rates[n, j], line.accels[n, j] = x[j], v[j], a[j]
        line.places[n] = k - P.first[i]
        line.ints[n, POINT], line.ints[n, BODY] = k, b
        n += 1
    return n


@lean
def smooth_step(r):
    """Quintic step from 0 to 1 on 0 … 1 and its two derivatives."""
    if r >= 1.0:
        return 1.0, 0.0, 0.0
    if r <= 0.0:
        return 0.0, 0.0, 0.0
    f = r * r * r * (10.0 + r * (-15.0 + 6.0 * r))
    return f, 30.0 * r * r * (1.0 + r * (r - 2.0)), r * (60.0 + r * (-180.0 + 120.0 * r))


@lean
def arc_gradient(geo, arc):
    """(dl/dp, dl/ds) of the length on the surface: how far the two contacts slide along the path.

    A contact slides by α along and β across the path when e·N = 0 is kept: κ α + τ β = n·dp/a at the first contact and
    −n·ds/b at the second.
    """
    n1, b1, n2, b2 = get3(geo, G_N1), get3(geo, G_B1), get3(geo, G_N2), get3(geo, G_B2)
    arc_state(geo, 0.0, arc)
    kappa, tau = arc[A_KAPPA], arc[A_TAU]
    cp, cs, _, _ = sideways_weights(geo, arc)
    first_p = sum3(1.0 / (max(geo[G_A], 1e-14) * kappa), n1, -tau / kappa * cp, b1, 0.0, b1)
    first_s = scaled(-tau / kappa * cs, b2)
    arc_state(geo, geo[G_ARC], arc)
    kappa, tau = arc[A_KAPPA], arc[A_TAU]
    cp, cs, _, _ = sideways_weights(geo, arc)
    last_p = scaled(-tau / kappa * cp, b1)
    last_s = sum3(-1.0 / (max(geo[G_B], 1e-14) * kappa), n2, -tau / kappa * cs, b2, 0.0, b2)
    return sub(last_p, first_p), sub(last_s, first_s)


@lean
def _arc_rates(record, arc, geo):
    """Length on the surface of one wrapped piece, its rate and second rate (this one by differences in time)."""
    mot = record[W_MOT:]
    pdot, pddot, sdot, sddot = get3(mot, M_PDOT), get3(mot, M_PDDOT), get3(mot, M_SDOT), get3(mot, M_SDDOT)
    on_p, on_s = arc_gradient(record, arc)
    rate = dot3(on_p, pdot) + dot3(on_s, sdot)
    p, s, h = get3(record, G_P), get3(record, G_S), ARC_STEP
    second = -2.0 * record[G_ARC]
    for side in (-1.0, 1.0):
        for j in range(GEO):
            geo[j] = record[j]
        p_moved = sum3(1.0, p, side * h, pdot, 0.5 * h * h, pddot)
        s_moved = sum3(1.0, s, side * h, sdot, 0.5 * h * h, sddot)
        if not follow(geo, p_moved, s_moved, arc):
            return record[G_ARC], rate, 0.0
        second += geo[G_ARC]
    return record[G_ARC], rate, second / (h * h)


@lean
def chord_length(line, k):
    """Length of the chord of interval k and its rates."""
    d = sub(vec(line.rows, k + 1, X), vec(line.rows, k, X))
    v = sub(vec(line.rows, k + 1, V), vec(line.rows, k, V))
    a = sub(vec(line.rows, k + 1, ACC), vec(line.rows, k, ACC))
    length = max(norm(d), 1e-12)  # two path points may coincide; the direction divides by their distance
    rate = dot3(d, v) / length
    return length, rate, (dot3(d, a) + dot3(v, v) - rate * rate) / length


@lean
def find_wraps(P, i, n, line, path):
    """How many wraps act on path i over its n active nodes; which, is in `path`."""
    first = P.wrap_first[i]
    count = P.wrap_first[i + 1] - first
    if count == 0:
        return 0
    _, size, _ = shortest_path(
        line.nodes, line.places, n, P.objects, line.object_R, line.object_p, P.wraps, first, count, path
    )
    return size


@lean
def build_line(n, size, blend, line, path):
    """Intervals over n active nodes with `size` wraps found: weights, lengths and their rates."""
    for k in range(n):
        line.ints[k, FIRST_WRAP] = line.ints[k, LAST_WRAP] = 0
    at = START_OF_CHAIN
    while at < size:
        stop = interval_end(at, size, path)
        k = path.ints[WHERE, path.ints[CHAIN, at]]
        line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP] = at, stop
        for c in range(at, stop):
            wrap = path.ints[CHAIN, c]
            m = line.object_motion[path.ints[OBJECT, wrap]]
            object_motion(wrap, m[0], m[1], m[2], m[3], path)
        wrapped_motion(at, stop, line.rates, line.accels, path)
        at = stop
    for j in range(3):
        line.unblended[j] = 0.0
    for k in range(n - 1):
        straight = chord_length(line, k)
        set_vec(line.rows, k, STRAIGHT, straight)
        whole = straight
        if line.ints[k, LAST_WRAP] > line.ints[k, FIRST_WRAP]:
            whole = wrapped_length(line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP], path)
        set_vec(line.rows, k, WRAPPED, whole)
        for j in range(3):
            line.unblended[j] += whole[j]
    total = (0.0, 0.0, 0.0)
    for k in range(n - 1):
        length = vec(line.rows, k, WRAPPED)
        set_vec(line.rows, k, MIX, (1.0, 0.0, 0.0))
        if line.ints[k, LAST_WRAP] > line.ints[k, FIRST_WRAP] and blend > 0.0:
            w = _mix(line, k, blend, path)
            set_vec(line.rows, k, MIX, w)
            if w[0] < 1.0:
                s = vec(line.rows, k, STRAIGHT)
                d = sub(length, s)
                length = (
                    s[0] + w[0] * d[0],
                    s[1] + w[0] * d[1] + w[1] * d[0],
                    s[2] + w[0] * d[2] + 2.0 * w[1] * d[1] + w[2] * d[0],
                )
        set_vec(line.rows, k, LENGTH, length)
        set_vec(line.rows, k, START, total)
        total = add(total, length)
    for j in range(3):
        line.total[j] = total[j]


@lean
def _mix(line, k, blend, path):
    """Weight of the wrapped geometry of interval k and its rates."""
    arc = 0.0
    for c in range(line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP]):
        arc += path.rows[path.ints[CHAIN, c], G_ARC]
    L, L1, L2 = line.unblended[0], line.unblended[1], line.unblended[2]
    r = arc / (L * blend)
    if r >= 1.0:
        return 1.0, 0.0, 0.0
    l0 = l1 = l2 = 0.0
    for c in range(line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP]):
        a0, a1, a2 = _arc_rates(path.rows[path.ints[CHAIN, c]], path.arc, line.geo)
        l0, l1, l2 = l0 + a0, l1 + a1, l2 + a2
    f, f1, f2 = smooth_step(r)
    r1 = (l1 / blend - r * L1) / L
    r2 = (l2 / blend - 2.0 * r1 * L1 - r * L2) / L
    return f, f1 * r1, f2 * r1 * r1 + f1 * r2


@lean
def lengthwise(line, k, e, pull):
    """Add pull times the gradient of the chord of interval k to its two nodes."""
    add_vec(line.rows, k, PULL, scaled(-pull, e))
    add_vec(line.rows, k + 1, PULL, scaled(pull, e))


@lean
def chord(line, k):
    """Unit direction of the chord of interval k."""
    d = sub(vec(line.rows, k + 1, X), vec(line.rows, k, X))
    return scaled(1.0 / max(norm(d), 1e-12), d)


@lean
def on_chord(line, k, at, eta):
    """Fraction eta between the two nodes of interval k, of positions, velocities or accelerations."""
    a = vec(line.rows, k, at)
    return along(a, eta, sub(vec(line.rows, k + 1, at), a))
