"""The line of a muscle with one bent interval: lengths, matter, its motion, and forces pulled back to the bodies.

    neural_batch --> [lengths and labels] --> network --> [positions, rates] --> [node and body forces] --> neural_batch
Labels, lengths and corners as in muscle_line and muscle_inertia; the rows of a Line are used with their columns.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.muscle_inertia import NONE, nodes_to_bodies
from osim_inertia.kernels.muscle_line import (
    ACC,
    LENGTH,
    LENGTH_PULL,
    PULL,
    START,
    V,
    X,
    add_vec,
    chord_length,
    set_vec,
    vec,
)
from osim_inertia.kernels.neural_wrap import E_A, E_DP, E_DS, E_LENGTH, E_T, bent_point, bent_transpose, set_ends
from osim_inertia.kernels.rotation import matrix, push, row, times, times_t
from osim_inertia.kernels.vec3 import add, along, cross, dot3, load, scaled, store, sub

LABELS = 5  # η and its two rates, ξ, mass
ON_TANGENT = 6  # Gauss points on each tangent of the bent interval: near the contacts the network bends it, too
ON_ARC = 4  # and on its arc
POINTS = 2 * ON_TANGENT + ON_ARC + 2  # most on a bent interval, with two corners
GAUSS = np.zeros((9, 2, 9))  # nodes and weights by their number
for _n in range(1, 9):
    GAUSS[_n, :, :_n] = np.polynomial.legendre.leggauss(_n)
ZERO = (0.0, 0.0, 0.0)


class Room(NamedTuple):
    """Points of matter of one muscle at one instant, in order along the line; corners have mass 0."""

    number: ndarray  # (1,) int
    interval: ndarray  # (most,) int
    label: ndarray  # (most, LABELS)
    x: ndarray  # (most, 3) m, ground
    v: ndarray  # (most, 3) m/s
    a: ndarray  # (most, 3) m/s²
    slope: ndarray  # (most, 3) dx/dσ


def new_points(nodes: int, beads: int) -> Room:
    """Room for paths of so many points."""
    most = max(4 * nodes + POINTS, beads + 2 * nodes)
    return Room(np.zeros(1, np.int64), np.zeros(most, np.int64), np.zeros((most, LABELS)),
                *(np.zeros((most, 3)) for _ in range(4)))


# ---- lengths --------------------------------------------------------------------------------------------------------
@lean
def frame_of(line, o, k):
    """The two ends of interval k in the frame of object o."""
    R, origin = matrix(line.object_R, o), row(line.object_p, o)
    return times_t(R, sub(vec(line.rows, k, X), origin)), times_t(R, sub(vec(line.rows, k + 1, X), origin))


@lean
def _seen(line, o, k):
    """(rate, second rate) of node k, seen from object o."""
    R, w, al = matrix(line.object_R, o), load(line.object_motion[o, 1]), load(line.object_motion[o, 3])
    d = sub(vec(line.rows, k, X), row(line.object_p, o))
    rate = sub(sub(vec(line.rows, k, V), load(line.object_motion[o, 0])), cross(w, d))
    spin = add(cross(al, d), add(cross(w, cross(w, d)), scaled(2.0, cross(w, rate))))
    return times_t(R, rate), times_t(R, sub(sub(vec(line.rows, k, ACC), load(line.object_motion[o, 2])), spin))


@lean
def fill_line(P, i, n, bent, sense, attached, line, E):
    """Lengths of all intervals with their rates, interval `bent` (-1: none) round the cylinder; the record of its ends
    goes to E.
    """
    total = ZERO
    for k in range(n - 1):
        if k == bent:
            o = P.wraps.wrap_object[P.wrap_first[i]]
            p, s = frame_of(line, o, k)
            pdot, pddot = _seen(line, o, k)
            sdot, sddot = _seen(line, o, k + 1)
            set_ends(p, pdot, pddot, s, sdot, sddot, P.objects.params[o, 0], sense, attached, E)
            length = (E[E_LENGTH], E[E_LENGTH + 1], E[E_LENGTH + 2])
        else:
            length = chord_length(line, k)
        set_vec(line.rows, k, LENGTH, length)
        set_vec(line.rows, k, START, total)
        total = add(total, length)
    for j in range(3):
        line.total[j] = total[j]


# ---- labels ---------------------------------------------------------------------------------------------------------
@lean
def _add_point(line, room, k, s, xi, mass):
    """A point at path length s of interval k, with the rates of its label there."""
    j = room.number[0]
    l0, l1, l2 = vec(line.rows, k, LENGTH)
    c0, c1, c2 = vec(line.rows, k, START)
    eta = min(max((s - c0) / l0, 0.0), 1.0)
    rate = (xi * line.total[1] - c1 - eta * l1) / l0
    label = room.label[j]
    label[0], label[1], label[2] = eta, rate, (xi * line.total[2] - c2 - eta * l2 - 2.0 * rate * l1) / l0
    label[3], label[4] = xi, mass
    room.interval[j] = k
    room.number[0] = j + 1


@lean
def _add_piece(line, room, k, low, high, points, a0, stretch, density):
    """Gauss points on path length low … high of interval k."""
    if high - low < NONE:
        return
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    mass = density * half / stretch
    for j in range(points):
        s = middle + GAUSS[points, 0, j] * half
        _add_point(line, room, k, s, (s - a0) / stretch, GAUSS[points, 1, j] * mass)


@lean
def spread_points(muscle, n, bent, line, E, room):
    """Labels of all points of a muscle (a0, a1, ξ0, ξ1, mass, beads), corners last; False without a belly."""
    a0, a1, first, last, mass, beads = muscle[0], muscle[1], muscle[2], muscle[3], muscle[4], muscle[5]
    stretch = a1 + line.total[0]
    room.number[0] = 0
    if stretch <= 0.0:
        return False
    if beads > 0:
        for j in range(int(beads)):
            xi = first + (last - first) * (j + 0.5) / beads
            s, k = a0 + xi * stretch, 0
            while k < n - 2 and s > line.rows[k + 1, START]:
                k += 1
            _add_point(line, room, k, s, xi, mass / beads)
        return True
    density = mass / (last - first)
    low, high = a0 + first * stretch, a0 + last * stretch
    for k in range(n - 1):
        start, length = line.rows[k, START], line.rows[k, LENGTH]
        edge, end = max(low, start), min(high, start + length) if k < n - 2 else high
        if k != bent:
            _add_piece(line, room, k, edge, end, 2, a0, stretch, density)
            continue
        scale = length / (E[E_A] + E[E_A + 3] + E[E_T])
        meet, leave = start + scale * E[E_A], start + scale * (E[E_A] + E[E_T])
        _add_piece(line, room, k, edge, min(end, meet), ON_TANGENT, a0, stretch, density)
        _add_piece(line, room, k, max(edge, meet), min(end, leave), ON_ARC, a0, stretch, density)
        _add_piece(line, room, k, max(edge, leave), end, ON_TANGENT, a0, stretch, density)
    for k in range(1, n - 1):
        s = line.rows[k, START]
        xi = (s - a0) / stretch
        if first < xi < last:
            _add_point(line, room, k - 1, s, xi, 0.0)
            _add_point(line, room, k, s, xi, 0.0)
    return True


# ---- motion ---------------------------------------------------------------------------------------------------------
@lean
def place_points(P, i, bent, line, E, beside, first, room):
    """Position, velocity, acceleration in ground and slope of all points; C of the bent ones is beside[first:]."""
    at = first
    for j in range(room.number[0]):
        k, label = room.interval[j], room.label[j]
        if k == bent:
            o = P.wraps.wrap_object[P.wrap_first[i]]
            R, w, al = matrix(line.object_R, o), load(line.object_motion[o, 1]), load(line.object_motion[o, 3])
            p, s = frame_of(line, o, k)
            pdot, pddot = _seen(line, o, k)
            sdot, sddot = _seen(line, o, k + 1)
            x, v, a, dx = bent_point(p, pdot, pddot, s, sdot, sddot, label, beside[at], E)
            at += 1
            r, v, dx = times(R, x), times(R, v), times(R, dx)
            a = add(times(R, a), add(cross(al, r), add(cross(w, cross(w, r)), scaled(2.0, cross(w, v)))))
            x = add(row(line.object_p, o), r)
            v = add(load(line.object_motion[o, 0]), add(cross(w, r), v))
            a = add(load(line.object_motion[o, 2]), a)
        else:
            eta, rate, second = label[0], label[1], label[2]
            dx = sub(vec(line.rows, k + 1, X), vec(line.rows, k, X))
            dv = sub(vec(line.rows, k + 1, V), vec(line.rows, k, V))
            da = sub(vec(line.rows, k + 1, ACC), vec(line.rows, k, ACC))
            x = along(vec(line.rows, k, X), eta, dx)
            v = add(along(vec(line.rows, k, V), eta, dv), scaled(rate, dx))
            a = add(along(vec(line.rows, k, ACC), eta, da), add(scaled(2.0 * rate, dv), scaled(second, dx)))
        store(room.x[j], x)
        store(room.v[j], v)
        store(room.a[j], a)
        store(room.slope[j], scaled(1.0 / line.rows[k, LENGTH], dx))


# ---- forces ---------------------------------------------------------------------------------------------------------
@lean
def _force(muscle, line, room, j):
    """Inertia force of a point; at a corner, half of the force that turns the matter flowing round it."""
    if room.label[j, 4] > 0.0 or muscle[5] > 0.0:
        return scaled(room.label[j, 4], load(room.a[j]))
    before = j if room.label[j, 0] > 0.5 else j - 1
    stretch = muscle[1] + line.total[0]
    k = room.interval[before] + 1
    flow = (line.rows[k, START + 1] - room.label[j, 3] * line.total[1]) / stretch
    density = muscle[4] / (muscle[3] - muscle[2])
    return scaled(0.5 * density * flow * flow * stretch, sub(load(room.slope[before + 1]), load(room.slope[before])))


@lean
def pull_points(P, muscles, m, n, bent, S, beside, first, line, E, room, moment, force, tau):
    """Inertia forces of muscle m back to its nodes, to the cylinder, and on to body wrenches (nb, 3) and tau (n,)."""
    rows, i, muscle = line.rows, muscles.path[m], muscles.material[m]
    o = P.wraps.wrap_object[P.wrap_first[i]]
    R, origin = matrix(line.object_R, o), row(line.object_p, o)
    for k in range(n):
        set_vec(rows, k, PULL, ZERO)
        rows[k, LENGTH_PULL] = 0.0
    everywhere, at = 0.0, first
    on_object = about = on_p = on_s = ZERO
    for j in range(room.number[0]):
        k, f, eta = room.interval[j], _force(muscle, line, room, j), room.label[j, 0]
        t = dot3(f, load(room.slope[j]))
        everywhere += t * room.label[j, 3]
        rows[k, LENGTH_PULL] -= t * eta
        for before in range(k):
            rows[before, LENGTH_PULL] -= t
        if k == bent:
            g_p, g_s = bent_transpose(times_t(R, f), eta, beside[at], E)
            on_p, on_s, on_object = add(on_p, g_p), add(on_s, g_s), add(on_object, f)
            about = add(about, cross(sub(load(room.x[j]), origin), f))
            at += 1
        else:
            add_vec(rows, k, PULL, scaled(1.0 - eta, f))
            add_vec(rows, k + 1, PULL, scaled(eta, f))
    for k in range(n - 1):
        pull = rows[k, LENGTH_PULL] + everywhere
        if k != bent:
            d = sub(vec(rows, k + 1, X), vec(rows, k, X))
            tension = scaled(pull / rows[k, LENGTH], d)
            add_vec(rows, k, PULL, scaled(-1.0, tension))
            add_vec(rows, k + 1, PULL, tension)
            continue
        g_p = times(R, along(on_p, pull, (E[E_DP], E[E_DP + 1], E[E_DP + 2])))
        g_s = times(R, along(on_s, pull, (E[E_DS], E[E_DS + 1], E[E_DS + 2])))
        add_vec(rows, k, PULL, g_p)
        add_vec(rows, k + 1, PULL, g_s)
        on_object = sub(on_object, add(g_p, g_s))
        turn = add(cross(sub(vec(rows, k, X), origin), g_p), cross(sub(vec(rows, k + 1, X), origin), g_s))
        about, b = sub(about, turn), P.object_body[o]
        if b >= 0:
            push(force, b, on_object)
            push(moment, b, add(about, cross(sub(origin, row(S.p, b)), on_object)))
    nodes_to_bodies(P, S, line, n, moment, force, tau)
