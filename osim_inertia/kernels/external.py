"""Generalized forces of loads that act on bodies from outside: force plates, exotendons, a hand on the back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.dynamics import forces_to_coordinates, inertia_wrench
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import accelerate, move, new_motion
from osim_inertia.kernels.rotation import matrix, push, put, row, times
from osim_inertia.kernels.vec3 import add, cross, sub


class Loads(NamedTuple):
    """Where k loads act and in which frames they are given. Bodies are counted in the tree, ground is -1."""

    body: ndarray  # (k,) int: the body pushed
    origin: ndarray  # (k, 3) where the force acts if no point is given: in that body
    force_body: ndarray  # (k,) int: the body in whose frame force and torque are given
    force_R: ndarray  # (k, 3, 3) that frame in its body
    has_point: ndarray  # (k,) bool
    point_body: ndarray  # (k,) int
    point_R: ndarray  # (k, 3, 3)
    point_p: ndarray  # (k, 3)


@lean
def _to_ground(X, body, vector):
    return times(matrix(X.R, body), vector) if body >= 0 else vector


@lean
def load_wrench(L, X, k, values):
    """Moment about the body's origin and force in ground; values (9,): force, point, torque in their frames."""
    force = _to_ground(X, L.force_body[k], times(matrix(L.force_R, k), (values[0], values[1], values[2])))
    torque = _to_ground(X, L.force_body[k], times(matrix(L.force_R, k), (values[6], values[7], values[8])))
    body = L.body[k]
    if L.has_point[k]:
        frame = L.point_body[k]
        in_body = add(row(L.point_p, k), times(matrix(L.point_R, k), (values[3], values[4], values[5])))
        point = add(row(X.p, frame), _to_ground(X, frame, in_body)) if frame >= 0 else in_body
        arm = sub(point, row(X.p, body))
    else:
        arm = _to_ground(X, body, row(L.origin, k))
    return add(torque, cross(arm, force)), force


@lean
def add_load_wrenches(L, X, values, sign, moment, force):
    """Add sign × all loads, values (k, 9), to the wrenches at the body origins, both (nb, 3)."""
    for k in range(L.body.shape[0]):
        if L.body[k] >= 0:  # a push on the ground moves nothing
            m, f = load_wrench(L, X, k, values[k])
            push(moment, L.body[k], (sign * m[0], sign * m[1], sign * m[2]))
            push(force, L.body[k], (sign * f[0], sign * f[1], sign * f[2]))


@kernel
def generalized_loads(A, L, values, q, start, stop, out):
    """Jᵀ of the loads, (F, n), for poses q (F, n) and values (F, k, 9)."""
    nb = A.parent.shape[0]
    X, rest = new_motion(A), np.zeros(A.body_of.shape[0])
    moment, force = np.empty((nb, 3)), np.empty((nb, 3))
    for f in range(start, stop):
        move(A, q[f], rest, X)
        moment[:] = 0.0
        force[:] = 0.0
        add_load_wrenches(L, X, values[f], 1.0, moment, force)
        forces_to_coordinates(A, X, moment, force, out[f])


@kernel
def joint_wrenches(A, L, values, q, u, udot, base, start, stop, moment, force):
    """What each joint transmits to its outboard body: moment about that body's origin and force, (F, nb, 3), in ground.

    base (3,) is the acceleration of the ground, −gravity; values (F, k, 9) as above.
    """
    nb = A.parent.shape[0]
    X, tau = new_motion(A), np.empty(A.body_of.shape[0])
    dw, dv = np.empty((nb, 3)), np.empty((nb, 3))
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        accelerate(A, X, u[f], udot[f], base, dw, dv)
        for body in range(nb):
            m, push_needed = inertia_wrench(A, X, body, row(dw, body), row(dv, body))
            put(moment[f], body, m)
            put(force[f], body, push_needed)
        add_load_wrenches(L, X, values[f], -1.0, moment[f], force[f])
        forces_to_coordinates(A, X, moment[f], force[f], tau)
