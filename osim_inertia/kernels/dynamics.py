"""Forces from motion: inverse dynamics (recursive Newton-Euler), mass matrix (composite bodies), energy, momentum."""

from __future__ import annotations

import numpy as np
from numba import njit

from osim_inertia.kernels.kinematics import accelerate
from osim_inertia.kernels.spatial import add_cross, cross, dot3, matvec, matvec_t


@njit(cache=True, nogil=True)
def inertia_wrench(A, X, body, dw, dv, moment, force):
    """Moment about the body's origin and force that give a body its acceleration: theory.md (2)."""
    c, wb, db, Iw, Id, nb = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    R, w, m = X.R[body], X.w[body], A.mass[body]
    matvec(R, A.com[body], c)
    cross(w, c, wb)
    for j in range(3):
        force[j] = dv[j]
    add_cross(dw, c, force)
    add_cross(w, wb, force)
    for j in range(3):
        force[j] *= m
    matvec_t(R, w, wb)
    matvec_t(R, dw, db)
    matvec(A.inertia[body], wb, Iw)
    matvec(A.inertia[body], db, Id)
    cross(wb, Iw, nb)
    for j in range(3):
        nb[j] += Id[j]
    matvec(R, nb, moment)
    add_cross(c, force, moment)


@njit(cache=True, nogil=True)
def forces_to_coordinates(A, X, moment, force, tau):
    """Backward sweep: wrenches at body origins (nb, 3), which are summed up in place, to generalized forces (n,)."""
    r = np.empty(3)
    for body in range(A.parent.shape[0] - 1, -1, -1):
        for c in range(A.first[body], A.first[body] + A.count[body]):
            tau[c] = dot3(X.Hw[c], moment[body]) + dot3(X.Hv[c], force[body])
        parent = A.parent[body]
        if parent >= 0:
            for j in range(3):
                r[j] = X.p[body, j] - X.p[parent, j]
                moment[parent, j] += moment[body, j]
                force[parent, j] += force[body, j]
            add_cross(r, force[body], moment[parent])


@njit(cache=True, nogil=True)
def inverse_dynamics(A, X, u, udot, base, dw, dv, moment, force, tau):
    """tau (n,) = M u̇ + bias. base = −gravity puts weight in; base = 0 leaves it out. The others are room (nb, 3)."""
    accelerate(A, X, u, udot, base, dw, dv)
    for body in range(A.parent.shape[0]):
        inertia_wrench(A, X, body, dw[body], dv[body], moment[body], force[body])
    forces_to_coordinates(A, X, moment, force, tau)


@njit(cache=True, nogil=True)
def composite_inertias(A, X, mass, first, second):
    """Mass (nb,), first moment (nb, 3) and inertia about the origin (nb, 3, 3) of each body with all it carries."""
    nb = A.parent.shape[0]
    c, row, r = np.empty(3), np.empty((3, 3)), np.empty(3)
    for body in range(nb):
        R, m = X.R[body], A.mass[body]
        matvec(R, A.com[body], c)
        cc = dot3(c, c)
        mass[body] = m
        for i in range(3):
            first[body, i] = m * c[i]
            for j in range(3):
                row[i, j] = 0.0
                for k in range(3):
                    row[i, j] += R[i, k] * A.inertia[body, k, j]
        for i in range(3):
            for j in range(3):
                s = -m * c[i] * c[j]
                for k in range(3):
                    s += row[i, k] * R[j, k]
                second[body, i, j] = s + (m * cc if i == j else 0.0)
    for body in range(nb - 1, -1, -1):
        parent = A.parent[body]
        if parent < 0:
            continue
        m, h = mass[body], first[body]
        for j in range(3):
            r[j] = X.p[body, j] - X.p[parent, j]
        diagonal = m * dot3(r, r) + 2.0 * dot3(r, h)
        mass[parent] += m
        for i in range(3):
            first[parent, i] += h[i] + m * r[i]
            for j in range(3):
                shift = -m * r[i] * r[j] - r[i] * h[j] - h[i] * r[j]
                second[parent, i, j] += second[body, i, j] + shift + (diagonal if i == j else 0.0)


@njit(cache=True, nogil=True)
def mass_matrix(A, X, mass, first, second, M):
    """M (n, n), both halves. The others are room for `composite_inertias`."""
    composite_inertias(A, X, mass, first, second)
    moment, force, r = np.empty(3), np.empty(3), np.empty(3)
    M[:] = 0.0
    for body in range(A.parent.shape[0]):
        h, m = first[body], mass[body]
        for c in range(A.first[body], A.first[body] + A.count[body]):
            # momentum of all the body carries, for unit u_c: theory.md (3)
            matvec(second[body], X.Hw[c], moment)
            add_cross(h, X.Hv[c], moment)
            cross(X.Hw[c], h, force)
            for j in range(3):
                force[j] += m * X.Hv[c, j]
            at = body
            while at >= 0:
                for d in range(A.first[at], A.first[at] + A.count[at]):
                    M[c, d] = dot3(X.Hw[d], moment) + dot3(X.Hv[d], force)
                    M[d, c] = M[c, d]
                parent = A.parent[at]
                if parent >= 0:
                    for j in range(3):
                        r[j] = X.p[at, j] - X.p[parent, j]
                    add_cross(r, force, moment)
                at = parent


@njit(cache=True, nogil=True)
def totals(A, X, out):
    """Whole body: out (12,) = centre of mass, linear momentum, angular momentum about the ground origin, T, V, mass."""
    c, vc, wb, Iw, Lc = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    out[:] = 0.0
    for body in range(A.parent.shape[0]):
        m, R = A.mass[body], X.R[body]
        matvec(R, A.com[body], c)
        cross(X.w[body], c, vc)
        matvec_t(R, X.w[body], wb)
        matvec(A.inertia[body], wb, Iw)
        matvec(R, Iw, Lc)
        for j in range(3):
            c[j] += X.p[body, j]
            vc[j] += X.v[body, j]
        for j in range(3):
            out[j] += m * c[j]
            out[3 + j] += m * vc[j]
            out[6 + j] += Lc[j]
            out[10] -= m * A.gravity[j] * c[j]
        out[6] += m * (c[1] * vc[2] - c[2] * vc[1])
        out[7] += m * (c[2] * vc[0] - c[0] * vc[2])
        out[8] += m * (c[0] * vc[1] - c[1] * vc[0])
        out[9] += 0.5 * (m * dot3(vc, vc) + dot3(wb, Iw))
        out[11] += m
    if out[11] > 0.0:
        for j in range(3):
            out[j] /= out[11]
