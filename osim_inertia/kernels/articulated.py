"""Forward dynamics in O(n): articulated-body inertias, swept inwards and back out [Featherstone2008, ch. 7]."""

from __future__ import annotations

import numpy as np
from numba import njit

from osim_inertia.kernels.dynamics import inertia_wrench
from osim_inertia.kernels.spatial import add_cross, matvec

SINGULAR = 1e-14  # of the joint's own inertia, relative to the body's


@njit(cache=True, nogil=True)
def forward_dynamics(A, X, u, tau, udot):
    """udot (n,) that tau (n,) produces. Returns -1, or the body whose joint meets no inertia.

    Spatial vectors are (angular, linear) at the body's origin, in ground. With I the articulated inertia, b its bias
    force, U = I H and D = Hᵀ U, a joint hands I − U D⁻¹ Uᵀ on to its parent: theory.md (4).
    """
    nb, n = A.parent.shape[0], A.body_of.shape[0]
    I, b = np.zeros((nb, 6, 6)), np.zeros((nb, 6))
    U, D = np.empty((n, 6)), np.empty((nb, 6, 6))
    rest, zero, c, K = np.empty(n), np.zeros(3), np.empty(3), np.empty((nb, 6))
    g = np.empty(3)
    for body in range(nb):
        _rigid_inertia(A, X, body, I[body], c)
        inertia_wrench(A, X, body, zero, zero, b[body, :3], b[body, 3:])
        for j in range(3):  # weight
            g[j] = -A.mass[body] * A.gravity[j]
            b[body, 3 + j] += g[j]
        matvec(X.R[body], A.com[body], c)
        add_cross(c, g, b[body, :3])
        _bias_acceleration(A, X, body, u, K[body])
    for body in range(nb - 1, -1, -1):
        first, k, parent = A.first[body], A.count[body], A.parent[body]
        if not _joint_inertia(X, first, k, I[body], U, D[body]):
            return body
        for m in range(k):
            rest[first + m] = tau[first + m]
            for j in range(3):
                rest[first + m] -= X.Hw[first + m, j] * b[body, j] + X.Hv[first + m, j] * b[body, 3 + j]
            for j in range(6):
                rest[first + m] -= U[first + m, j] * K[body, j]
        if parent >= 0:
            _hand_on(A, X, body, parent, first, k, I, b, U, D[body], rest, K[body])
    a = np.zeros((nb, 6))
    r = np.empty(3)
    for body in range(nb):
        first, k, parent = A.first[body], A.count[body], A.parent[body]
        if parent >= 0:
            for j in range(6):
                a[body, j] = a[parent, j]
            for j in range(3):
                r[j] = X.p[body, j] - X.p[parent, j]
            add_cross(a[parent, :3], r, a[body, 3:])
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
        for m in range(k):
            for j in range(3):
                a[body, j] += X.Hw[first + m, j] * udot[first + m]
                a[body, 3 + j] += X.Hv[first + m, j] * udot[first + m]
    return -1


@njit(cache=True, nogil=True)
def _rigid_inertia(A, X, body, I, c):
    """Spatial inertia (6, 6) of one body about its origin."""
    R, m = X.R[body], A.mass[body]
    matvec(R, A.com[body], c)
    cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
    for i in range(3):
        I[3 + i, 3 + i] = m
        for j in range(3):
            s = m * ((cc if i == j else 0.0) - c[i] * c[j])
            for k in range(3):
                for l in range(3):
                    s += R[i, k] * A.inertia[body, k, l] * R[j, l]
            I[i, j] = s
    I[0, 4], I[0, 5], I[1, 3] = -m * c[2], m * c[1], m * c[2]
    I[1, 5], I[2, 3], I[2, 4] = -m * c[0], -m * c[1], m * c[0]
    for i in range(3):
        for j in range(3):
            I[3 + j, i] = I[i, 3 + j]


@njit(cache=True, nogil=True)
def _bias_acceleration(A, X, body, u, K):
    """Acceleration of the body's origin relative to its parent with u̇ = 0."""
    K[:] = 0.0
    parent = A.parent[body]
    if parent >= 0:
        r = np.empty(3)
        for j in range(3):
            r[j] = X.v[body, j] - X.v[parent, j]
        add_cross(X.w[parent], r, K[3:])
    for c in range(A.first[body], A.first[body] + A.count[body]):
        for j in range(3):
            K[j] += X.dHw[c, j] * u[c]
            K[3 + j] += X.dHv[c, j] * u[c]


@njit(cache=True, nogil=True)
def _joint_inertia(X, first, k, I, U, D):
    """U = I H (rows of the joint) and D = (Hᵀ I H)⁻¹. False if the joint meets no inertia."""
    for m in range(k):
        c = first + m
        for i in range(6):
            s = 0.0
            for j in range(3):
                s += I[i, j] * X.Hw[c, j] + I[i, 3 + j] * X.Hv[c, j]
            U[c, i] = s
    W = np.empty((k, 2 * k))
    scale = 0.0
    for m in range(k):
        for l in range(k):
            s = 0.0
            for j in range(3):
                s += X.Hw[first + m, j] * U[first + l, j] + X.Hv[first + m, j] * U[first + l, 3 + j]
            W[m, l] = s
            W[m, k + l] = 1.0 if m == l else 0.0
        scale = max(scale, W[m, m])
    for m in range(k):  # Gauss-Jordan; D is positive definite, so no pivoting
        pivot = W[m, m]
        if not pivot > SINGULAR * scale:
            return False
        for l in range(2 * k):
            W[m, l] /= pivot
        for o in range(k):
            if o != m:
                factor = W[o, m]
                for l in range(2 * k):
                    W[o, l] -= factor * W[m, l]
    for m in range(k):
        for l in range(k):
            D[m, l] = W[m, k + l]
    return True


@njit(cache=True, nogil=True)
def _hand_on(A, X, body, parent, first, k, I, b, U, D, rest, K):
    """Add what the parent feels of this body, moved to the parent's origin."""
    P, f = np.empty((6, 6)), np.empty(6)
    for i in range(6):
        f[i] = b[body, i]
        for j in range(6):
            P[i, j] = I[body, i, j]
            f[i] += I[body, i, j] * K[j]
    for m in range(k):
        for l in range(k):
            for i in range(6):
                f[i] += U[first + m, i] * D[m, l] * rest[first + l]
                for j in range(6):
                    P[i, j] -= U[first + m, i] * D[m, l] * U[first + l, j]
    r0 = X.p[body, 0] - X.p[parent, 0]
    r1 = X.p[body, 1] - X.p[parent, 1]
    r2 = X.p[body, 2] - X.p[parent, 2]
    for i in range(6):
        b[parent, i] += f[i]
    b[parent, 0] += r1 * f[5] - r2 * f[4]
    b[parent, 1] += r2 * f[3] - r0 * f[5]
    b[parent, 2] += r0 * f[4] - r1 * f[3]
    # P → T P Tᵀ with T = [1 r×; 0 1]
    for j in range(6):
        P[0, j] += r1 * P[5, j] - r2 * P[4, j]
        P[1, j] += r2 * P[3, j] - r0 * P[5, j]
        P[2, j] += r0 * P[4, j] - r1 * P[3, j]
    for i in range(6):
        P[i, 0] += r1 * P[i, 5] - r2 * P[i, 4]
        P[i, 1] += r2 * P[i, 3] - r0 * P[i, 5]
        P[i, 2] += r0 * P[i, 4] - r1 * P[i, 3]
    for i in range(6):
        for j in range(6):
            I[parent, i, j] += P[i, j]
