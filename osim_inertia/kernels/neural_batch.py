"""Muscles that a network bends round a cylinder, over frames: what the network is asked, and what follows from it.

    q, u, udot --> [find_questions] --> features --> network --> C of every point --> [answer] --> forces, totals
                          ^ here                                                           ^ and here
A muscle's path has one wrap, on a cylinder; in one instant at most one interval is bent (neural_wrap), the others are
straight. The bent interval is split at its two contacts and has Gauss points on all three pieces, contact or not, so
that nothing jumps at touch-down. Matter, corners and the pull-back of forces are those of muscle_inertia.
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.dynamics import forces_to_coordinates
from osim_inertia.kernels.geodesic_common import G_SENSE
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import accelerate, move, new_motion
from osim_inertia.kernels.muscle_line import find_wraps, move_nodes, move_objects
from osim_inertia.kernels.neural_line import (
    LABELS,
    fill_line,
    frame_of,
    place_points,
    pull_points,
    spread_points,
)
from osim_inertia.kernels.neural_wrap import NO_CONTACT, RAMP, angle_of_arc, canonical_jets
from osim_inertia.kernels.shortest_record import CHAIN, WHERE
from osim_inertia.kernels.vec3 import cross, dot3, load

# columns of `bends`: what is bent in one frame of one muscle
FIRST = 0  # its first point among all questions
COUNT = 1  # how many it has
INTERVAL = 2  # -1: the whole path is straight
SENSE = 3
ATTACHED = 4
OUTSIDE = 5  # 1: beyond what the network was trained for
BEND = 6


class Questions(NamedTuple):
    """Points the network is asked about, in frames and muscles one after the other. N at most."""

    label: ndarray  # (N, LABELS) η and its two rates, ξ, mass
    features: ndarray  # (N, FEATURES, JET)
    beside: ndarray  # (N, 2, JET) base curve; with what the network adds, C
    scale: ndarray  # (N, JET) factor of the network's answer


@lean
def _choose(P, i, n, line, path, reach):
    """(interval, sense, attached, outside) of path i with its one wrap; interval -1 where it is straight.

    reach (3,): shortest and longest distance of an end from the axis, in radii, and widest arc the network knows
    """
    first = P.wrap_first[i]
    o = P.wraps.wrap_object[first]
    if find_wraps(P, i, n, line, path) == 1:
        k = path.ints[WHERE, path.ints[CHAIN, 0]]
        sense = path.rows[path.ints[CHAIN, 0], G_SENSE]
        return k, sense, 1, _outside(P, o, k, sense, 1, line, reach)
    if not P.objects.active[o]:
        return -1, 1.0, 0, 0
    best, chosen, way = NO_CONTACT, -1, 1.0
    for k in range(n - 1):  # the interval closest to touching
        if P.wraps.range_start[first] >= 1 and line.places[k] < P.wraps.range_start[first] - 1:
            continue
        if P.wraps.range_end[first] >= 1 and line.places[k + 1] > P.wraps.range_end[first] - 1:
            continue
        p, s = frame_of(line, o, k)
        radius = P.objects.params[o, 0]
        if min(p[0] * p[0] + p[1] * p[1], s[0] * s[0] + s[1] * s[1]) <= radius * radius:
            continue
        sense = 1.0 if p[0] * s[1] - p[1] * s[0] >= 0.0 else -1.0
        a, b, theta = angle_of_arc(p, s, radius, sense, 0)
        if theta < 0.0 and theta / (RAMP * (a + b)) > best:
            best, chosen, way = theta / (RAMP * (a + b)), k, sense
    if chosen < 0:
        return -1, 1.0, 0, 0
    return chosen, way, 0, _outside(P, o, chosen, way, 0, line, reach)


@lean
def _outside(P, o, k, sense, attached, line, reach):
    """1 if the interval is beyond what the network was trained for."""
    p, s = frame_of(line, o, k)
    radius = P.objects.params[o, 0]
    a, b, theta = angle_of_arc(p, s, radius, sense, attached)
    least, most = reach[0] * reach[0] - 1.0, reach[1] * reach[1] - 1.0
    inside = least <= min(a, b) * min(a, b) and max(a, b) * max(a, b) <= most and theta <= reach[2]
    return 0 if inside else 1


@kernel
def find_questions(A, P, muscles, q, u, udot, base, start, stop, reach, use, room, line, path, E, bends, ask):
    """Fill bends (F, nm, BEND) and the questions for frames start … stop − 1; their number, and the first (frame,
    muscle) whose belly has no length, or -1, -1. Muscles with use (nm,) False are left out.
    """
    nb = A.parent.shape[0]
    S, dw, dv = new_motion(A), np.empty((nb, 3)), np.empty((nb, 3))
    total = 0
    for f in range(start, stop):
        move(A, q[f], u[f], S)
        accelerate(A, S, u[f], udot[f], base, dw, dv)
        move_objects(P, S, dw, dv, base, line)
        for m in range(muscles.path.shape[0]):
            bend = bends[f, m]
            bend[:] = 0
            bend[FIRST], bend[INTERVAL] = total, -1
            if not use[m]:
                continue
            i = muscles.path[m]
            n = move_nodes(P, i, S, q[f], u[f], udot[f], dw, dv, base, -1, 0.0, line)
            k, sense, attached, outside = _choose(P, i, n, line, path, reach)
            bend[INTERVAL], bend[SENSE], bend[ATTACHED], bend[OUTSIDE] = k, int(sense), attached, outside
            if outside:
                bend[INTERVAL] = -1
                continue
            fill_line(P, i, n, bend[INTERVAL], sense, attached, line, E)
            if not spread_points(muscles.material[m], n, k, line, E, room):
                return total, f, m
            for j in range(room.number[0]):
                if room.interval[j] == k:
                    _ask(room, j, E, ask, total)
                    total += 1
            bend[COUNT] = total - bend[FIRST]
    return total, -1, -1


@lean
def _ask(room, j, E, ask, at):
    """Copy point j of the room to the questions."""
    for c in range(LABELS):
        ask.label[at, c] = room.label[j, c]
    rates = (E[1], E[4], E[7], room.label[j, 1])
    canonical_jets(E[0], E[3], E[6], room.label[j, 0], rates, ask.features[at], ask.beside[at], ask.scale[at])


@kernel
def answer(A, P, muscles, q, u, udot, base, start, stop, use, bends, beside, room, line, E, tau, out):
    """What follows for frames start … stop − 1, of these muscles alone: tau (F, n), the generalized forces of their
    inertia, and out (F, 12), Σ m x, linear momentum, angular momentum, T, V, mass. The room keeps the matter of the
    last muscle.
    """
    nb, nu = A.parent.shape[0], A.body_of.shape[0]
    S, extra = new_motion(A), np.empty(nu)
    dw, dv, moment, force = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    gravity = (A.gravity[0], A.gravity[1], A.gravity[2])
    for f in range(start, stop):
        move(A, q[f], u[f], S)
        accelerate(A, S, u[f], udot[f], base, dw, dv)
        move_objects(P, S, dw, dv, base, line)
        moment[:] = 0.0
        force[:] = 0.0
        extra[:] = 0.0
        out[f, :] = 0.0
        for m in range(muscles.path.shape[0]):
            if not use[m]:
                continue
            bend, i = bends[f, m], muscles.path[m]
            k, first = bend[INTERVAL], bend[FIRST]
            n = move_nodes(P, i, S, q[f], u[f], udot[f], dw, dv, base, -1, 0.0, line)
            fill_line(P, i, n, k, float(bend[SENSE]), bend[ATTACHED], line, E)
            spread_points(muscles.material[m], n, k, line, E, room)
            place_points(P, i, k, line, E, beside, first, room)
            pull_points(P, muscles, m, n, k, S, beside, first, line, E, room, moment, force, extra)
            _add_totals(room, gravity, out[f])
        forces_to_coordinates(A, S, moment, force, tau[f])
        for c in range(nu):
            tau[f, c] += extra[c]


@lean
def _add_totals(room, gravity, out):
    """Add the matter in the room to out (12,)."""
    for j in range(room.number[0]):
        mass, x, v = room.label[j, 4], load(room.x[j]), load(room.v[j])
        spin = cross(x, v)
        for c in range(3):
            out[c] += mass * x[c]
            out[3 + c] += mass * v[c]
            out[6 + c] += mass * spin[c]
        out[9] += 0.5 * mass * dot3(v, v)
        out[10] -= mass * dot3(gravity, x)
        out[11] += mass
