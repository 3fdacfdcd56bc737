"""Forward dynamics in O(n): articulated-body inertias, swept inwards and back out [Featherstone2008, ch. 7]."""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.dynamics import body_inertia, inertia_wrench
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.joints import ORIGIN
from osim_inertia.kernels.rotation import matrix, row, times
from osim_inertia.kernels.vec3 import add, cross, scaled, sub

SINGULAR = 1e-14  # of the joint's own inertia, relative to the largest of its directions


@kernel
def forward_dynamics(A, X, u, tau, udot):
    """udot (n,) that tau (n,) produces. Returns -1, or the body whose joint meets no inertia.

    Spatial vectors are (angular, linear) at the body's origin, in ground. With I the articulated inertia, b its bias
    force, U = I H and D = Hᵀ U, a joint hands I − U D⁻¹ Uᵀ on to its parent: theory.md (4).
    """
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    I, b, K = np.empty((nb, 6, 6)), np.empty((nb, 6)), np.empty((nb, 6))
    U, D, H = np.empty((n, 6)), np.empty((nb, 6, 6)), np.empty((n, 6))
    rest, room = np.empty(n), np.empty((6, 12))
    for body in range(nb):
        _rigid_body(A, X, body, I, b)
        _bias_acceleration(A, X, body, u, K)
    for c in range(n):
        for j in range(3):
            H[c, j] = X.Hw[c, j]
            H[c, 3 + j] = X.Hv[c, j]
    for body in range(nb - 1, -1, -1):
        first, k = A.first[body], A.dofs[body]
        if not _joint_inertia(H, first, k, I[body], U, D[body], room):
            return body
        for c in range(first, first + k):
            rest[c] = tau[c]
            for j in range(6):
                rest[c] -= H[c, j] * b[body, j] + U[c, j] * K[body, j]
        if A.parent[body] >= 0:
            _hand_on(A, X, body, I, b, U, D[body], rest, K, room)
    a = np.zeros((nb, 6))
    for body in range(nb):
        first, k, parent = A.first[body], A.dofs[body], A.parent[body]
        if parent >= 0:
            alpha = (a[parent, 0], a[parent, 1], a[parent, 2])
            swing = cross(alpha, sub(row(X.p, body), row(X.p, parent)))
            for j in range(3):
                a[body, j] = alpha[j]
                a[body, 3 + j] = a[parent, 3 + j] + swing[j]
        for m in range(k):
            s = 0.0
            for l in range(k):
                t = rest[first + l]
                for j in range(6):
                    t -= U[first + l, j] * a[body, j]
                s += D[body, m, l] * t
            udot[first + m] = s
        for j in range(6):
            a[body, j] += K[body, j]
            for c in range(first, first + k):
                a[body, j] += H[c, j] * udot[c]
    return -1


@lean
def _rigid_body(A, X, body, I, b):
    """Spatial inertia (6, 6) of one body about its origin, and the wrench of its weight and its spinning."""
    m = A.mass[body]
    h, second = body_inertia(A, X, body)
    for i in range(3):
        for j in range(3):
            I[body, i, j] = second[3 * i + j]
            I[body, 3 + i, 3 + j] = m if i == j else 0.0
    skew = (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0)
    for i in range(3):
        for j in range(3):
            I[body, i, 3 + j] = skew[3 * i + j]
            I[body, 3 + j, i] = skew[3 * i + j]
    moment, force = inertia_wrench(A, X, body, ORIGIN, ORIGIN)
    weight = scaled(-m, (A.gravity[0], A.gravity[1], A.gravity[2]))
    moment = add(moment, cross(times(matrix(X.R, body), row(A.com, body)), weight))
    force = add(force, weight)
    for j in range(3):
        b[body, j] = moment[j]
        b[body, 3 + j] = force[j]


@lean
def _bias_acceleration(A, X, body, u, K):
    """Acceleration of the body's origin relative to its parent with u̇ = 0."""
    parent, alpha, a = A.parent[body], ORIGIN, ORIGIN
    if parent >= 0:
        a = cross(row(X.w, parent), sub(row(X.v, body), row(X.v, parent)))
    for c in range(A.first[body], A.first[body] + A.dofs[body]):
        alpha = add(alpha, scaled(u[c], row(X.dHw, c)))
        a = add(a, scaled(u[c], row(X.dHv, c)))
    for j in range(3):
        K[body, j] = alpha[j]
        K[body, 3 + j] = a[j]


@lean
def _joint_inertia(H, first, k, I, U, D, W):
    """U = I H (rows of the joint) and D = (Hᵀ I H)⁻¹. False if the joint meets no inertia."""
    scale = 0.0
    for c in range(first, first + k):
        for i in range(6):
            s = 0.0
            for j in range(6):
                s += I[i, j] * H[c, j]
            U[c, i] = s
    for m in range(k):
        for l in range(k):
            s = 0.0
            for j in range(6):
                s += H[first + m, j] * U[first + l, j]
            W[m, l] = s
            W[m, k + l] = 1.0 if m == l else 0.0
        scale = max(scale, W[m, m])
    for m in range(k):  # Gauss-Jordan; the matrix is positive definite, so no pivoting
        pivot = W[m, m]
        if not pivot > SINGULAR * scale:
            return False
        for l in range(2 * k):
            W[m, l] /= pivot
        for o in range(k):
            factor = W[o, m]
            for l in range(2 * k):
                W[o, l] -= factor * W[m, l] if o != m else 0.0
    for m in range(k):
        for l in range(k):
            D[m, l] = W[m, k + l]
    return True


@lean
def _hand_on(A, X, body, I, b, U, D, rest, K, P):
    """Add what the parent feels of this body, moved to the parent's origin. Columns 0–5 of P: inertia, 6: force."""
    first, k, parent = A.first[body], A.dofs[body], A.parent[body]
    for i in range(6):
        P[i, 6] = b[body, i]
        for j in range(6):
            P[i, j] = I[body, i, j]
            P[i, 6] += I[body, i, j] * K[body, j]
        for m in range(k):
            for l in range(k):
                UD = U[first + m, i] * D[m, l]
                P[i, 6] += UD * rest[first + l]
                for j in range(6):
                    P[i, j] -= UD * U[first + l, j]
    x, y, z = sub(row(X.p, body), row(X.p, parent))
    for j in range(7):  # rows, then columns: T P Tᵀ with T = [1 r×; 0 1]
        P[0, j] += y * P[5, j] - z * P[4, j]
        P[1, j] += z * P[3, j] - x * P[5, j]
        P[2, j] += x * P[4, j] - y * P[3, j]
    for i in range(6):
        P[i, 0] += y * P[i, 5] - z * P[i, 4]
        P[i, 1] += z * P[i, 3] - x * P[i, 5]
        P[i, 2] += x * P[i, 4] - y * P[i, 3]
        b[parent, i] += P[i, 6]
        for j in range(6):
            I[parent, i, j] += P[i, j]
