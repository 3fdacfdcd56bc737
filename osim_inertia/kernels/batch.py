"""Loops over frames. Each fills rows start..stop of its outputs, so that threads can share the frames.

q, u, udot, tau (F, n) | A: compiled.layout.Arrays
"""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.articulated import forward_dynamics
from osim_inertia.kernels.dynamics import inverse_dynamics, mass_matrix, totals
from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.kinematics import accelerate, jacobian, jacobian_rate, move, new_motion
from osim_inertia.kernels.rotation import matrix, put, row, times
from osim_inertia.kernels.vec3 import add, cross


@kernel
def body_motion(A, q, u, start, stop, pose, twist):
    """pose (F, nb, 4, 4) and twist (F, nb, 6): angular then linear velocity of the origin, in ground."""
    X = new_motion(A)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        for b in range(A.parent.shape[0]):
            pose[f, b, 3, 3] = 1.0
            for i in range(3):
                for j in range(3):
                    pose[f, b, i, j] = X.R[b, i, j]
                pose[f, b, i, 3] = X.p[b, i]
                pose[f, b, 3, i] = 0.0
                twist[f, b, i] = X.w[b, i]
                twist[f, b, 3 + i] = X.v[b, i]


@kernel
def body_accelerations(A, q, u, udot, start, stop, angular, linear):
    """Angular acceleration and acceleration of the origin of every body, both (F, nb, 3), in ground."""
    X, base = new_motion(A), np.zeros(3)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        accelerate(A, X, u[f], udot[f], base, angular[f], linear[f])


@kernel
def point_motion(A, body, location, q, u, udot, start, stop, position, velocity, acceleration):
    """Points (np, 3) fixed in bodies (np,); the outputs are (F, np, 3), in ground. Body -1 is ground."""
    nb = A.parent.shape[0]
    X, base = new_motion(A), np.zeros(3)
    dw, dv = np.empty((nb, 3)), np.empty((nb, 3))
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        accelerate(A, X, u[f], udot[f], base, dw, dv)
        for k in range(body.shape[0]):
            b, x = body[k], row(location, k)
            v, a = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if b >= 0:
                w, r = row(X.w, b), times(matrix(X.R, b), x)
                turn = cross(w, r)
                x, v = add(row(X.p, b), r), add(row(X.v, b), turn)
                a = add(row(dv, b), add(cross(row(dw, b), r), cross(w, turn)))
            put(position[f], k, x)
            put(velocity[f], k, v)
            put(acceleration[f], k, a)


@kernel
def mass_matrices(A, q, start, stop, M):
    """M (F, n, n)."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X, rest = new_motion(A), np.zeros(n)
    mass, first, second = np.empty(nb), np.empty((nb, 3)), np.empty((nb, 3, 3))
    for f in range(start, stop):
        move(A, q[f], rest, X)
        mass_matrix(A, X, mass, first, second, M[f])


@kernel
def inverse_dynamics_of_frames(A, q, u, udot, base, start, stop, tau):
    """tau (F, n) with the ground accelerating by base (3,): −gravity for the usual answer."""
    nb = A.parent.shape[0]
    X = new_motion(A)
    dw, dv, moment, force = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        inverse_dynamics(A, X, u[f], udot[f], base, dw, dv, moment, force, tau[f])


@kernel
def forward_dynamics_of_frames(A, q, u, tau, start, stop, udot, stuck):
    """udot (F, n); stuck (F,): the body whose joint meets no inertia, or -1."""
    X = new_motion(A)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        stuck[f] = forward_dynamics(A, X, u[f], tau[f], udot[f])


@kernel
def whole_body(A, q, u, start, stop, out):
    """out (F, 12): see kernels.dynamics.totals."""
    X = new_motion(A)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        totals(A, X, out[f])


@kernel
def body_jacobians(A, q, u, start, stop, J, dJ):
    """Dense J_mr (F, nb, n, 2, 3) of the papers and its rate, at the body origins, in ground: angular, then linear."""
    X = new_motion(A)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        for b in range(A.parent.shape[0]):
            jacobian(A, X, b, row(X.p, b), J[f, b])
            jacobian_rate(A, X, b, row(X.p, b), row(X.v, b), dJ[f, b])
