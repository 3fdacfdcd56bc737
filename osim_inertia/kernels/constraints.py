"""Errors of the constraints and their Jacobians. Rows are in file order; each kind has its own count.

    coupler        q_d − f(q_1 …)                                                     1
    point          x_1 − x_2, in ground                                               3
    distance       |x_1 − x_2| − d                                                    1
    point on line  parts of x_2 − x_1 across the line, along two axes of its body     2
    weld           ½ Σ a_k × b_k of the two frames' axes, then x_1 − x_2, in ground   6
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from osim_inertia.kernels.functions import Functions, evaluate_many
from osim_inertia.kernels.kinematics import jacobian, move, new_motion
from osim_inertia.kernels.spatial import cross, dot3, matmul, matvec

COUPLER, POINT, DISTANCE, POINT_ON_LINE, WELD = range(5)


class Constraints(NamedTuple):
    """All enforced constraints. nc of them, m equations."""

    kind: np.ndarray  # (nc,) int
    row: np.ndarray  # (nc,) int: first equation
    body: np.ndarray  # (nc, 2) int: -1 is ground
    point: np.ndarray  # (nc, 2, 3) in the bodies
    axes: np.ndarray  # (nc, 2, 3, 3) frames in the bodies; the columns 0 and 1 span the plane across a line
    distance: np.ndarray  # (nc,) m
    dependent: np.ndarray  # (nc,) int: coordinate
    n_args: np.ndarray  # (nc,) int
    args: np.ndarray  # (nc, 6) int: coordinates
    function: np.ndarray  # (nc,) int
    functions: Functions


@njit(cache=True, nogil=True)
def constraint_errors(A, C, q, start, stop, error, J):
    """error (F, m) and J (F, m, n): rate of the errors per unit u, or per unit q̇ for couplers (see System)."""
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    X, rest = new_motion(nb, n), np.zeros(n)
    J1, J2 = np.zeros((6, n)), np.zeros((6, n))
    x1, x2, d, e = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    R1, R2 = np.empty((3, 3)), np.empty((3, 3))
    args, gradient, hessian = np.empty(6), np.empty(6), np.empty((6, 6))
    for f in range(start, stop):
        move(A, q[f], rest, X)
        J[f] = 0.0
        for k in range(C.kind.shape[0]):
            kind, r = C.kind[k], C.row[k]
            if kind == COUPLER:
                for i in range(C.n_args[k]):
                    args[i] = q[f, C.args[k, i]]
                value = evaluate_many(C.functions, C.function[k], args, C.n_args[k], gradient, hessian)
                error[f, r] = q[f, C.dependent[k]] - value
                J[f, r, C.dependent[k]] += 1.0
                for i in range(C.n_args[k]):
                    J[f, r, C.args[k, i]] -= gradient[i]
                continue
            _locate(X, C.body[k, 0], C.point[k, 0], C.axes[k, 0], x1, R1)
            _locate(X, C.body[k, 1], C.point[k, 1], C.axes[k, 1], x2, R2)
            jacobian(A, X, C.body[k, 0], x1, J1)
            jacobian(A, X, C.body[k, 1], x2, J2)
            for j in range(3):
                d[j] = x1[j] - x2[j]
            if kind == DISTANCE:
                length = np.sqrt(dot3(d, d))
                error[f, r] = length - C.distance[k]
                for c in range(n):
                    for j in range(3):
                        J[f, r, c] += d[j] / length * (J1[3 + j, c] - J2[3 + j, c])
            elif kind == POINT_ON_LINE:
                for i in range(2):
                    for j in range(3):
                        e[j] = R1[j, i]
                    error[f, r + i] = -dot3(e, d)
                    cross(d, e, args[:3])  # the line turns with its body: −(ω × e)·d = −ω·(e × d)
                    for c in range(n):
                        for j in range(3):
                            J[f, r + i, c] += e[j] * (J2[3 + j, c] - J1[3 + j, c]) + args[j] * J1[j, c]
            else:
                at = r
                if kind == WELD:
                    _weld_rotation(R1, R2, J1, J2, n, error[f, r : r + 3], J[f, r : r + 3])
                    at = r + 3
                for j in range(3):
                    error[f, at + j] = d[j]
                    for c in range(n):
                        J[f, at + j, c] = J1[3 + j, c] - J2[3 + j, c]


@njit(cache=True, nogil=True)
def _locate(X, body, point, axes, x, R):
    """Point and frame of a body, in ground."""
    if body < 0:
        for i in range(3):
            x[i] = point[i]
            for j in range(3):
                R[i, j] = axes[i, j]
        return
    matvec(X.R[body], point, x)
    for i in range(3):
        x[i] += X.p[body, i]
    matmul(X.R[body], axes, R)


@njit(cache=True, nogil=True)
def _weld_rotation(R1, R2, J1, J2, n, error, J):
    """½ Σ a × b, and its rate  ½ Σ [a (b·ω1) − (a·b) ω1 + (a·b) ω2 − b (a·ω2)]."""
    P1, P2 = np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(3):
        error[i] = 0.0
    for k in range(3):
        ab = R1[0, k] * R2[0, k] + R1[1, k] * R2[1, k] + R1[2, k] * R2[2, k]
        error[0] += 0.5 * (R1[1, k] * R2[2, k] - R1[2, k] * R2[1, k])
        error[1] += 0.5 * (R1[2, k] * R2[0, k] - R1[0, k] * R2[2, k])
        error[2] += 0.5 * (R1[0, k] * R2[1, k] - R1[1, k] * R2[0, k])
        for i in range(3):
            P1[i, i] -= 0.5 * ab
            P2[i, i] += 0.5 * ab
            for j in range(3):
                P1[i, j] += 0.5 * R1[i, k] * R2[j, k]
                P2[i, j] -= 0.5 * R2[i, k] * R1[j, k]
    for c in range(n):
        for i in range(3):
            J[i, c] = 0.0
            for j in range(3):
                J[i, c] += P1[i, j] * J1[j, c] + P2[i, j] * J2[j, c]
