"""Forces from motion: inverse dynamics (recursive Newton-Euler), mass matrix (composite bodies), energy, momentum."""

from __future__ import annotations

from osim_inertia.kernels.jit import inlined, lean
from osim_inertia.kernels.kinematics import accelerate
from osim_inertia.kernels.rotation import matrix, product, push, put, put_matrix, row, times, times_t, transposed
from osim_inertia.kernels.vec3 import add, cross, dot3, scaled, sub


@inlined
def inertia_wrench(A, X, body, dw, dv):
    """Moment about the body's origin and force that give a body its acceleration: theory.md (2)."""
    R, w = matrix(X.R, body), row(X.w, body)
    c = times(R, row(A.com, body))
    force = scaled(A.mass[body], add(dv, add(cross(dw, c), cross(w, cross(w, c)))))
    wb, I = times_t(R, w), matrix(A.inertia, body)
    moment = times(R, add(times(I, times_t(R, dw)), cross(wb, times(I, wb))))
    return add(moment, cross(c, force)), force


@lean
def forces_to_coordinates(A, X, moment, force, tau):
    """Backward sweep: wrenches at body origins (nb, 3), which are summed up in place, to generalized forces (n,)."""
    for body in range(A.parent.shape[0] - 1, -1, -1):
        m, f, parent = row(moment, body), row(force, body), A.parent[body]
        for c in range(A.first[body], A.first[body] + A.dofs[body]):
            tau[c] = dot3(row(X.Hw, c), m) + dot3(row(X.Hv, c), f)
        if parent >= 0:
            push(moment, parent, add(m, cross(sub(row(X.p, body), row(X.p, parent)), f)))
            push(force, parent, f)


@lean
def inverse_dynamics(A, X, u, udot, base, dw, dv, moment, force, tau):
    """tau (n,) = M u̇ + bias. base = −gravity puts weight in; base = 0 leaves it out. The others are room (nb, 3)."""
    accelerate(A, X, u, udot, base, dw, dv)
    for body in range(A.parent.shape[0]):
        m, f = inertia_wrench(A, X, body, row(dw, body), row(dv, body))
        put(moment, body, m)
        put(force, body, f)
    forces_to_coordinates(A, X, moment, force, tau)


@lean
def about_another_point(mass, first, second, r):
    """Inertia `second` of a body with that first moment, referred to a point from which the old one is at r."""
    d = mass * dot3(r, r) + 2.0 * dot3(r, first)
    x, y, z = r
    hx, hy, hz = first
    xy = -mass * x * y - x * hy - hx * y
    xz = -mass * x * z - x * hz - hx * z
    yz = -mass * y * z - y * hz - hy * z
    return (
        second[0] + d - mass * x * x - 2.0 * x * hx, second[1] + xy, second[2] + xz,
        second[3] + xy, second[4] + d - mass * y * y - 2.0 * y * hy, second[5] + yz,
        second[6] + xz, second[7] + yz, second[8] + d - mass * z * z - 2.0 * z * hz,
    )


@lean
def body_inertia(A, X, body):
    """First moment and inertia of one body about its origin, in ground axes."""
    R = matrix(X.R, body)
    c = times(R, row(A.com, body))
    central = product(product(R, matrix(A.inertia, body)), transposed(R))
    return scaled(A.mass[body], c), about_another_point(A.mass[body], (0.0, 0.0, 0.0), central, c)


@lean
def composite_inertias(A, X, mass, first, second):
    """Mass (nb,), first moment (nb, 3) and inertia about the origin (nb, 3, 3) of each body with all it carries."""
    nb = A.parent.shape[0]
    for body in range(nb):
        h, I = body_inertia(A, X, body)
        mass[body] = A.mass[body]
        put(first, body, h)
        put_matrix(second, body, I)
    for body in range(nb - 1, -1, -1):
        parent = A.parent[body]
        if parent < 0:
            continue
        m, h, r = mass[body], row(first, body), sub(row(X.p, body), row(X.p, parent))
        I = about_another_point(m, h, matrix(second, body), r)
        mass[parent] += m
        push(first, parent, add(h, scaled(m, r)))
        for i in range(3):
            for j in range(3):
                second[parent, i, j] += I[3 * i + j]


@lean
def mass_matrix(A, X, mass, first, second, M):
    """M (n, n), both halves. The others are room for `composite_inertias`."""
    composite_inertias(A, X, mass, first, second)
    M[:] = 0.0
    for body in range(A.parent.shape[0]):
        h, m, I = row(first, body), mass[body], matrix(second, body)
        for c in range(A.first[body], A.first[body] + A.dofs[body]):
            # momentum of all the body carries, for unit u_c: theory.md (3)
            Hw, Hv = row(X.Hw, c), row(X.Hv, c)
            moment = add(times(I, Hw), cross(h, Hv))
            force = add(cross(Hw, h), scaled(m, Hv))
            at = body
            while at >= 0:
                for d in range(A.first[at], A.first[at] + A.dofs[at]):
                    M[c, d] = dot3(row(X.Hw, d), moment) + dot3(row(X.Hv, d), force)
                    M[d, c] = M[c, d]
                parent = A.parent[at]
                if parent >= 0:
                    moment = add(moment, cross(sub(row(X.p, at), row(X.p, parent)), force))
                at = parent


@lean
def totals(A, X, out):
    """Whole body: out (12,) = centre of mass, linear momentum, angular momentum about the ground origin, T, V, mass."""
    gravity = (A.gravity[0], A.gravity[1], A.gravity[2])
    center, linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    kinetic, potential, mass = 0.0, 0.0, 0.0
    for body in range(A.parent.shape[0]):
        m, R, w = A.mass[body], matrix(X.R, body), row(X.w, body)
        arm = times(R, row(A.com, body))
        c, vc = add(row(X.p, body), arm), add(row(X.v, body), cross(w, arm))
        wb = times_t(R, w)
        spin = times(matrix(A.inertia, body), wb)
        center, linear = add(center, scaled(m, c)), add(linear, scaled(m, vc))
        angular = add(angular, add(times(R, spin), scaled(m, cross(c, vc))))
        kinetic += 0.5 * (m * dot3(vc, vc) + dot3(wb, spin))
        potential -= m * dot3(gravity, c)
        mass += m
    for j in range(3):
        out[j] = center[j] / mass if mass > 0.0 else 0.0
        out[3 + j] = linear[j]
        out[6 + j] = angular[j]
    out[9], out[10], out[11] = kinetic, potential, mass
