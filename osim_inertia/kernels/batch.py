"""Loops over frames. Each fills rows start..stop of its outputs, so that threads can share the frames.

q, u, udot, tau (F, n) | A: compiled.layout.Arrays
"""

from __future__ import annotations

import numpy as np
from numba import njit

from osim_inertia.kernels.articulated import forward_dynamics
from osim_inertia.kernels.dynamics import inverse_dynamics, mass_matrix, totals
from osim_inertia.kernels.kinematics import accelerate, jacobian, jacobian_rate, move, new_motion
from osim_inertia.kernels.spatial import add_cross, cross, matvec


@njit(cache=True, nogil=True)
def body_motion(A, q, u, start, stop, pose, twist):
    """pose (F, nb, 4, 4) and twist (F, nb, 6): angular then linear velocity of the origin, in ground."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X = new_motion(nb, n)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        for b in range(nb):
            pose[f, b, 3, 3] = 1.0
            for i in range(3):
                for j in range(3):
                    pose[f, b, i, j] = X.R[b, i, j]
                pose[f, b, i, 3] = X.p[b, i]
                pose[f, b, 3, i] = 0.0
                twist[f, b, i] = X.w[b, i]
                twist[f, b, 3 + i] = X.v[b, i]


@njit(cache=True, nogil=True)
def body_accelerations(A, q, u, udot, start, stop, out):
    """out (F, nb, 6): angular acceleration and acceleration of the origin, in ground."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X, base = new_motion(nb, n), np.zeros(3)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        accelerate(A, X, u[f], udot[f], base, out[f, :, :3], out[f, :, 3:])


@njit(cache=True, nogil=True)
def point_motion(A, body, location, q, u, udot, start, stop, position, velocity, acceleration):
    """Points (np, 3) fixed in bodies (np,); the outputs are (F, np, 3), in ground. Body -1 is ground."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X, base = new_motion(nb, n), np.zeros(3)
    dw, dv, r, s = np.empty((nb, 3)), np.empty((nb, 3)), np.empty(3), np.empty(3)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        accelerate(A, X, u[f], udot[f], base, dw, dv)
        for k in range(body.shape[0]):
            b = body[k]
            if b < 0:
                for j in range(3):
                    position[f, k, j] = location[k, j]
                    velocity[f, k, j] = acceleration[f, k, j] = 0.0
                continue
            matvec(X.R[b], location[k], r)
            cross(X.w[b], r, s)
            for j in range(3):
                position[f, k, j] = X.p[b, j] + r[j]
                velocity[f, k, j] = X.v[b, j] + s[j]
                acceleration[f, k, j] = dv[b, j]
            add_cross(dw[b], r, acceleration[f, k])
            add_cross(X.w[b], s, acceleration[f, k])


@njit(cache=True, nogil=True)
def mass_matrices(A, q, start, stop, M):
    """M (F, n, n)."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X, rest = new_motion(nb, n), np.zeros(n)
    mass, first, second = np.empty(nb), np.empty((nb, 3)), np.empty((nb, 3, 3))
    for f in range(start, stop):
        move(A, q[f], rest, X)
        mass_matrix(A, X, mass, first, second, M[f])


@njit(cache=True, nogil=True)
def inverse_dynamics_of_frames(A, q, u, udot, base, start, stop, tau):
    """tau (F, n) with the ground accelerating by base (3,): −gravity for the usual answer."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X = new_motion(nb, n)
    dw, dv, moment, force = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        inverse_dynamics(A, X, u[f], udot[f], base, dw, dv, moment, force, tau[f])


@njit(cache=True, nogil=True)
def forward_dynamics_of_frames(A, q, u, tau, start, stop, udot, stuck):
    """udot (F, n); stuck (F,): the body whose joint meets no inertia, or -1."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X = new_motion(nb, n)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        stuck[f] = forward_dynamics(A, X, u[f], tau[f], udot[f])


@njit(cache=True, nogil=True)
def whole_body(A, q, u, start, stop, out):
    """out (F, 12): see kernels.dynamics.totals."""
    X = new_motion(A.parent.shape[0], A.body_of.shape[0])
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        totals(A, X, out[f])


@njit(cache=True, nogil=True)
def body_jacobians(A, q, u, start, stop, J, dJ):
    """Dense J_mr (F, nb, 6, n) of the papers and its rate, at the body origins, in ground."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X = new_motion(nb, n)
    for f in range(start, stop):
        move(A, q[f], u[f], X)
        for b in range(nb):
            jacobian(A, X, b, X.p[b], J[f, b])
            jacobian_rate(A, X, b, X.p[b], X.v[b], dJ[f, b])
