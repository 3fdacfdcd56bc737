"""Loops over frames for models in which muscles have mass: both in one forward and one backward sweep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.dynamics import forces_to_coordinates, inertia_wrench, totals
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import accelerate, move, new_motion
from osim_inertia.kernels.muscle_inertia import (
    Room,
    add_bends,
    new_matter,
    nodes_to_bodies,
    objects_to_bodies,
    place_matter,
    pull_back,
)
from osim_inertia.kernels.muscle_line import build_line, find_wraps, move_nodes, move_objects, new_line
from osim_inertia.kernels.muscle_straight import straight_muscle
from osim_inertia.kernels.muscle_switch import (
    NO_SWITCH,
    mix_matter,
    near_switch,
    place_on_both,
    switch_weight,
    switching_muscle,
)
from osim_inertia.kernels.paths import Paths
from osim_inertia.kernels.rotation import put, row
from osim_inertia.kernels.shortest_record import new_shortest_path
from osim_inertia.kernels.vec3 import add, cross, dot3, load, scaled, store


class Muscles(NamedTuple):
    """The muscles that have mass. nm of them."""

    path: ndarray  # (nm,) int: row in Paths
    material: ndarray  # (nm, 6) a0, a1 (m), ξ0, ξ1, mass (kg), beads (0: a continuum)
    blend: float  # wrapped share below which wrapped and straight geometry are mixed
    window: float  # rad or m: half the window over which the switch of a conditional point is spread


def new_room(P: Paths, muscles: Muscles) -> Room:
    """Working memory, one per thread: two lines, for muscles between two, that share the wrap objects."""
    nodes = max(int(np.diff(P.first).max(initial=2)), 2)
    wraps = max(int(np.diff(P.wrap_first).max(initial=1)), 1)
    objects = len(P.object_body)
    most = max(16 * (nodes + 2 * wraps), int(muscles.material[:, 5].max(initial=0.0))) + 16
    line = new_line(nodes, objects)
    other = new_line(nodes, objects)._replace(
        object_R=line.object_R, object_p=line.object_p, object_motion=line.object_motion
    )
    matter = new_matter(most, objects)
    twin = new_matter(most, objects)._replace(on_object=matter.on_object, about_object=matter.about_object)
    return line, new_shortest_path(wraps), matter, other, new_shortest_path(wraps), twin


@lean
def muscle_at(muscles, k):
    """Material numbers of muscle k."""
    m = muscles.material[k]
    return m[0], m[1], m[2], m[3], m[4], m[5]


@lean
def wrapped_muscle(n, size, blend, muscle, line, path, M):
    """Inertia forces of a muscle with wraps, or of beads, on nodes and wrap objects; False without a belly."""
    build_line(n, size, blend, line, path)
    if not place_matter(line, n, path, muscle, M):
        return False
    for m in range(M.number[0]):
        store(M.force[m], scaled(M.mass[m], load(M.a[m])))
    add_bends(line, n, path, muscle, M)
    pull_back(line, n, blend, path, M)
    return True


@lean
def add_muscles(P, muscles, S, q, u, udot, dw, dv, base, line, path, M, line2, path2, M2, moment, force, tau):
    """Add the inertia of all muscles to body wrenches and coordinates; -1, or the muscle whose belly has no length."""
    move_objects(P, S, dw, dv, base, line)
    for k in range(muscles.path.shape[0]):
        muscle, i = muscle_at(muscles, k), muscles.path[k]
        c, switch = near_switch(P, i, q, muscles.window)
        value = switch - muscles.window
        n = move_nodes(P, i, S, q, u, udot, dw, dv, base, c, value, line)
        size = find_wraps(P, i, n, line, path)
        if c >= 0:
            n2 = move_nodes(P, i, S, q, u, udot, dw, dv, base, c, switch + muscles.window, line2)
            size2 = find_wraps(P, i, n2, line2, path2)
            w, slope, curve = switch_weight(q[c], switch, muscles.window)
            ok, on_coordinate = switching_muscle(
                n, size, line, path, M, n2, size2, line2, path2, M2, muscles.blend, muscle, w, slope,
                slope * u[c], slope * udot[c] + curve * u[c] * u[c],
            )
            if not ok:
                return k
            tau[c] += on_coordinate
            nodes_to_bodies(P, S, line2, n2, moment, force, tau)
        elif size == 0 and muscle[5] == 0.0:
            if not straight_muscle(line.rows, n, muscle):
                return k
        elif not wrapped_muscle(n, size, muscles.blend, muscle, line, path, M):
            return k
        nodes_to_bodies(P, S, line, n, moment, force, tau)
    objects_to_bodies(P, S, line, M, moment, force)
    return -1


@lean
def place_muscle(P, muscles, k, S, q, u, udot, dw, dv, base, line, path, M, line2, path2, M2):
    """Points of matter of muscle k with their motion, into M; False without a belly. The objects are in place."""
    muscle, i = muscle_at(muscles, k), muscles.path[k]
    c, switch = near_switch(P, i, q, muscles.window)
    n = move_nodes(P, i, S, q, u, udot, dw, dv, base, c, switch - muscles.window, line)
    build_line(n, find_wraps(P, i, n, line, path), muscles.blend, line, path)
    if c < 0:
        return place_matter(line, n, path, muscle, M)
    n2 = move_nodes(P, i, S, q, u, udot, dw, dv, base, c, switch + muscles.window, line2)
    build_line(n2, find_wraps(P, i, n2, line2, path2), muscles.blend, line2, path2)
    if not place_on_both(n, line, path, M, n2, line2, path2, M2, muscle):
        return False
    w, slope, curve = switch_weight(q[c], switch, muscles.window)
    mix_matter(M, M2, w, slope * u[c], slope * udot[c] + curve * u[c] * u[c])
    return True


@kernel
def inverse_dynamics_with_muscles(
    A, P, muscles, q, u, udot, base, start, stop, line, path, M, line2, path2, M2, moments, forces, tau, failed
):
    """tau (F, n) of skeleton and muscles; failed (F,): muscle whose belly has no length, or -1.

    moments, forces (F or 1, nb, 3): what each joint transmits to its outboard body, at that body's origin, in ground,
    in every frame or only the last.
    """
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    S, extra = new_motion(A), np.empty(n)
    dw, dv = np.empty((nb, 3)), np.empty((nb, 3))
    for f in range(start, stop):
        moment, force = moments[f % moments.shape[0]], forces[f % moments.shape[0]]
        move(A, q[f], u[f], S)
        accelerate(A, S, u[f], udot[f], base, dw, dv)
        for body in range(nb):
            m, g = inertia_wrench(A, S, body, row(dw, body), row(dv, body))
            put(moment, body, m)
            put(force, body, g)
        extra[:] = 0.0
        failed[f] = add_muscles(
            P, muscles, S, q[f], u[f], udot[f], dw, dv, base, line, path, M, line2, path2, M2, moment, force, extra
        )
        forces_to_coordinates(A, S, moment, force, tau[f])
        for c in range(n):
            tau[f, c] += extra[c]


@kernel
def whole_body_with_muscles(A, P, muscles, q, u, start, stop, line, path, M, line2, path2, M2, out, failed):
    """out (F, 12) as kernels.dynamics.totals, muscles included."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    S, rest, base = new_motion(A), np.zeros(n), np.zeros(3)
    dw, dv = np.zeros((nb, 3)), np.zeros((nb, 3))
    gravity = (A.gravity[0], A.gravity[1], A.gravity[2])
    for f in range(start, stop):
        move(A, q[f], u[f], S)
        totals(A, S, out[f])
        move_objects(P, S, dw, dv, base, line)
        bones, failed[f] = out[f, 11], -1
        center = scaled(bones, (out[f, 0], out[f, 1], out[f, 2]))
        linear, angular = (out[f, 3], out[f, 4], out[f, 5]), (out[f, 6], out[f, 7], out[f, 8])
        for k in range(muscles.path.shape[0]):
            if not place_muscle(
                P, muscles, k, S, q[f], u[f], rest, dw, dv, base, line, path, M, line2, path2, M2
            ):
                failed[f] = k
                break
            for m in range(M.number[0]):
                mass, x, v = M.mass[m], load(M.x[m]), load(M.v[m])
                center, linear = add(center, scaled(mass, x)), add(linear, scaled(mass, v))
                angular = add(angular, scaled(mass, cross(x, v)))
                out[f, 9] += 0.5 * mass * dot3(v, v)
                out[f, 10] -= mass * dot3(gravity, x)
                out[f, 11] += mass
        for j in range(3):
            out[f, j] = center[j] / out[f, 11]
            out[f, 3 + j] = linear[j]
            out[f, 6 + j] = angular[j]


@kernel
def matter_of_muscle(P, muscles, k, S, q, line, path, M, line2, path2, M2):
    """Points of matter of muscle k, with velocity and acceleration, into M while the bodies have the constant twists S.

    The number of its nodes and of the wraps in contact.
    """
    still, rest, base = np.zeros(S.w.shape), np.zeros(q.shape[0]), np.zeros(3)
    move_objects(P, S, still, still, base, line)
    place_muscle(P, muscles, k, S, q, rest, rest, still, still, base, line, path, M, line2, path2, M2)
    nodes = move_nodes(P, muscles.path[k], S, q, rest, rest, still, still, base, NO_SWITCH, 0.0, line)
    return nodes, find_wraps(P, muscles.path[k], nodes, line, path)
