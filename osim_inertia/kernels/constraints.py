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

from osim_inertia.kernels.functions import Functions, evaluate_many
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import jacobian, move, new_motion
from osim_inertia.kernels.rotation import matrix, product, row, times
from osim_inertia.kernels.vec3 import add, cross, dot3, norm, scaled, sub

COUPLER, POINT, DISTANCE, POINT_ON_LINE, WELD = range(5)
TINY = 1e-300


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


@kernel
def constraint_errors(A, C, q, start, stop, error, J):
    """error (F, m) and J (F, m, n): rate of the errors per unit u, or per unit q̇ for couplers (see ConstraintSet)."""
    n = A.body_of.shape[0]
    X, rest = new_motion(A), np.zeros(n)
    J1, J2 = np.empty((n, 2, 3)), np.empty((n, 2, 3))
    for f in range(start, stop):
        move(A, q[f], rest, X)
        J[f] = 0.0
        for k in range(C.kind.shape[0]):
            kind, r = C.kind[k], C.row[k]
            if kind == COUPLER:
                _coupler(C, k, q[f], X, error[f], J[f])
                continue
            x1, R1 = _locate(X, C.body[k, 0], row(C.point[k], 0), matrix(C.axes[k], 0))
            x2, R2 = _locate(X, C.body[k, 1], row(C.point[k], 1), matrix(C.axes[k], 1))
            jacobian(A, X, C.body[k, 0], x1, J1)
            jacobian(A, X, C.body[k, 1], x2, J2)
            d = sub(x1, x2)
            if kind == DISTANCE:
                length = norm(d)
                error[f, r] = length - C.distance[k]
                for c in range(n):
                    # two points on one spot have no direction; any error there is the whole distance
                    J[f, r, c] = dot3(d, sub(row(J1[c], 1), row(J2[c], 1))) / max(length, TINY)
            elif kind == POINT_ON_LINE:
                _point_on_line(d, R1, J1, J2, error[f, r : r + 2], J[f, r : r + 2])
            else:
                if kind == WELD:
                    _weld_rotation(R1, R2, J1, J2, error[f, r : r + 3], J[f, r : r + 3])
                    r += 3
                for j in range(3):
                    error[f, r + j] = d[j]
                    for c in range(n):
                        J[f, r + j, c] = J1[c, 1, j] - J2[c, 1, j]


@lean
def _coupler(C, k, q, X, error, J):
    r, n = C.row[k], C.n_args[k]
    for i in range(n):
        X.arguments[i] = q[C.args[k, i]]
    value = evaluate_many(C.functions, C.function[k], X.arguments, n, X.gradient, X.hessian)
    error[r] = q[C.dependent[k]] - value
    J[r, C.dependent[k]] += 1.0
    for i in range(n):
        J[r, C.args[k, i]] -= X.gradient[i]


@lean
def _locate(X, body, point, axes):
    """Point and frame of a body, in ground."""
    if body < 0:
        return point, axes
    R = matrix(X.R, body)
    return add(row(X.p, body), times(R, point)), product(R, axes)


@lean
def _point_on_line(d, R1, J1, J2, error, J):
    """The axes e across the line turn with its body: the rate of −e·d is e·(v2 − v1) − (ω × e)·d."""
    for i in range(2):
        e = (R1[i], R1[3 + i], R1[6 + i])
        turn = cross(d, e)
        error[i] = -dot3(e, d)
        for c in range(J1.shape[0]):
            J[i, c] = dot3(e, sub(row(J2[c], 1), row(J1[c], 1))) + dot3(turn, row(J1[c], 0))


@lean
def _weld_rotation(R1, R2, J1, J2, error, J):
    """½ Σ a × b, and its rate  ½ Σ [a (b·ω1) − (a·b) ω1 + (a·b) ω2 − b (a·ω2)]."""
    for i in range(3):
        error[i] = 0.0
    for k in range(3):
        a, b = (R1[k], R1[3 + k], R1[6 + k]), (R2[k], R2[3 + k], R2[6 + k])
        half, ab = cross(a, b), dot3(a, b)
        for i in range(3):
            error[i] += 0.5 * half[i]
        for c in range(J1.shape[0]):
            w1, w2 = row(J1[c], 0), row(J2[c], 0)
            rate = add(scaled(dot3(b, w1), a), sub(scaled(ab, sub(w2, w1)), scaled(dot3(a, w2), b)))
            for i in range(3):
                J[i, c] += 0.5 * rate[i]
