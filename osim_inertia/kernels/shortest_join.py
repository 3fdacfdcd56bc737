"""Several wraps on one interval: the virtual nodes between them, and how these move.

    wraps chosen on an interval --> [virtual nodes] --> pieces with one wrap each --> wrapped_interval
                                          ^ here
A virtual node Q lies on the straight piece between two surfaces. It may move in the plane across that piece, and the whole length
is stationary in it: the directions on both sides agree. With y the coordinates of all virtual nodes of the interval,
H the Hessian of the length in y and r = (e2 of the piece before) - (e1 of the piece after), projected:

    Newton    H dy = -r
    motion    H y' = -r' at resting y      H y'' = -r'' at y' and no y''
    forces    lambda = -H^-1 g for forces g on the virtual nodes; they reach everything else as the gradient of lambda.r

Where Q sits along the straight piece does not matter: labels are fractions of the whole interval.
"""

from osim_inertia.kernels.geodesic_common import (
    G_B,
    G_B1,
    G_B2,
    G_D,
    G_E,
    G_E1,
    G_E2,
    G_A,
    G_N1,
    G_N2,
    G_PHI,
    G_Q1,
    G_Q2,
    get3,
)
from osim_inertia.kernels.shortest_segment import follow
from osim_inertia.kernels.vec3 import along, cross, dot3, from_frame, kernel, load, norm, scaled, store, sub, to_frame

STEPS = 40
SETTLED = 1e-14  # m; Newton's method ends when no virtual node moves farther
ROUNDING = 1e-12  # kinks below this may grow
NEARLY = 1e-12  # m; or when it no longer improves below this


@kernel
def turned(R, v):
    """Vector v of a frame with rotation R (3, 3), in ground."""
    return (
        R[0, 0] * v[0] + R[0, 1] * v[1] + R[0, 2] * v[2],
        R[1, 0] * v[0] + R[1, 1] * v[1] + R[1, 2] * v[2],
        R[2, 0] * v[0] + R[2, 1] * v[1] + R[2, 2] * v[2],
    )


@kernel
def turned_back(R, v):
    """Ground vector v in the frame with rotation R (3, 3)."""
    return (
        R[0, 0] * v[0] + R[1, 0] * v[1] + R[2, 0] * v[2],
        R[0, 1] * v[0] + R[1, 1] * v[1] + R[2, 1] * v[2],
        R[0, 2] * v[0] + R[1, 2] * v[1] + R[2, 2] * v[2],
    )


@kernel
def join_wraps(i, j, R_GW, p_GW, wraps, first, path):
    """Make the pieces chain[i:j] of one interval tangent to each other: whether it worked. Fills records, contacts and ends."""
    if not follow_all(i, j, R_GW, p_GW, wraps, first, path):
        return False
    last_far = 1e300
    kink = largest_kink(i, j, R_GW, wraps, first, path)
    for _ in range(STEPS):
        set_basis(i, j, R_GW, wraps, first, path)
        far, minimum = _newton_step(i, j, R_GW, wraps, first, path)
        if not minimum:
            return False
        share, old_kink = 1.0, kink
        _shift(i, j, share, path)
        while True:  # shorter steps while an end would go inside a surface or a kink would grow
            if follow_all(i, j, R_GW, p_GW, wraps, first, path):
                kink = largest_kink(i, j, R_GW, wraps, first, path)
                if kink <= max(old_kink, ROUNDING):
                    break
            if share < 1e-2:
                return False
            _shift(i, j, -0.6 * share, path)
            share *= 0.4
        if far < SETTLED or (far < NEARLY and far >= last_far):
            _centre(i, j, path)
            return follow_all(i, j, R_GW, p_GW, wraps, first, path)
        last_far = far
    return False


@kernel
def largest_kink(i, j, R_GW, wraps, first, path):
    """Largest |e2 - e1| at a virtual node."""
    kink = 0.0
    for c in range(i, j - 1):
        k, m = path.chain[c], path.chain[c + 1]
        e2 = turned(R_GW[wraps.wrap_object[first + k]], get3(path.geo[k], G_E2))
        e1 = turned(R_GW[wraps.wrap_object[first + m]], get3(path.geo[m], G_E1))
        kink = max(kink, norm(sub(e2, e1)))
    return kink


@kernel
def follow_all(i, j, R_GW, p_GW, wraps, first, path):
    """Re-solve the pieces for their present ends: whether all could be."""
    for c in range(i, j):
        k = path.chain[c]
        o = wraps.wrap_object[first + k]
        p, s = to_frame(R_GW[o], p_GW[o], load(path.ends[k, 0])), to_frame(R_GW[o], p_GW[o], load(path.ends[k, 1]))
        if not follow(path.geo[k], p, s, path.arc):
            return False
        store(path.contact[k, 0], from_frame(R_GW[o], p_GW[o], get3(path.geo[k], G_Q1)))
        store(path.contact[k, 1], from_frame(R_GW[o], p_GW[o], get3(path.geo[k], G_Q2)))
    return True


@kernel
def _shift(i, j, share, path):
    """Move the virtual nodes by a share of the solution in path.side."""
    for c in range(i, j - 1):
        y = 2 * (c - i)
        for x in range(3):
            d = share * (path.side[y] * path.basis[c, 0, x] + path.side[y + 1] * path.basis[c, 1, x])
            path.ends[path.chain[c], 1, x] += d
            path.ends[path.chain[c + 1], 0, x] += d


@kernel
def _centre(i, j, path):
    """Put each virtual node in the middle of its straight piece."""
    for c in range(i, j - 1):
        k, m = path.chain[c], path.chain[c + 1]
        for x in range(3):
            middle = 0.5 * (path.contact[k, 1, x] + path.contact[m, 0, x])
            path.ends[k, 1, x] = path.ends[m, 0, x] = middle


@kernel
def set_basis(i, j, R_GW, wraps, first, path):
    """Two unit vectors across each straight piece between surfaces, into path.basis."""
    for c in range(i, j - 1):
        k = path.chain[c]
        e = turned(R_GW[wraps.wrap_object[first + k]], get3(path.geo[k], G_E2))
        x, y, z = abs(e[0]), abs(e[1]), abs(e[2])
        axis = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
        u = cross(e, axis)
        u = scaled(1.0 / norm(u), u)
        store(path.basis[c, 0], u)
        store(path.basis[c, 1], cross(e, u))


@kernel
def mismatch(i, j, R_GW, wraps, first, path):
    """r of every virtual node into path.side."""
    for c in range(i, j - 1):
        k, m = path.chain[c], path.chain[c + 1]
        e2 = turned(R_GW[wraps.wrap_object[first + k]], get3(path.geo[k], G_E2))
        e1 = turned(R_GW[wraps.wrap_object[first + m]], get3(path.geo[m], G_E1))
        put_projected(i, c, sub(e2, e1), path)


@kernel
def put_projected(i, c, v, path):
    """Store the components of v across the straight piece after chain[c]."""
    path.side[2 * (c - i)] = dot3(load(path.basis[c, 0]), v)
    path.side[2 * (c - i) + 1] = dot3(load(path.basis[c, 1]), v)


@kernel
def _newton_step(i, j, R_GW, wraps, first, path):
    """Solution of H dy = -r in path.side: its largest component, and whether the length has a minimum there."""
    mismatch(i, j, R_GW, wraps, first, path)
    build_hessian(i, j, R_GW, wraps, first, path)
    n = 2 * (j - i - 1)
    minimum = solve(n, path.matrix, path.side)
    far = 0.0
    for y in range(n):
        path.side[y] = -path.side[y]
        far = max(far, abs(path.side[y]))
    return far, minimum


@kernel
def build_hessian(i, j, R_GW, wraps, first, path):
    """Hessian of the length of chain[i:j] in the coordinates of its virtual nodes, into path.matrix."""
    n = 2 * (j - i - 1)
    for r in range(n):
        for c in range(n):
            path.matrix[r, c] = 0.0
    for c in range(i, j):
        k = path.chain[c]
        geo, R = path.geo[k], R_GW[wraps.wrap_object[first + k]]
        n1, b1 = turned(R, get3(geo, G_N1)), turned(R, get3(geo, G_B1))
        n2, b2 = turned(R, get3(geo, G_N2)), turned(R, get3(geo, G_B2))
        before, after = 2 * (c - i - 1), 2 * (c - i)
        for r in range(2):
            for s in range(2):
                if c > i:
                    u, v = load(path.basis[c - 1, r]), load(path.basis[c - 1, s])
                    path.matrix[before + r, before + s] += (
                        dot3(n1, u) * dot3(n1, v) / geo[G_A] + dot3(b1, u) * dot3(b1, v) * geo[G_E] / geo[G_D]
                    )
                if c < j - 1:
                    u, v = load(path.basis[c, r]), load(path.basis[c, s])
                    path.matrix[after + r, after + s] += (
                        dot3(n2, u) * dot3(n2, v) / geo[G_B] + dot3(b2, u) * dot3(b2, v) * geo[G_PHI] / geo[G_D]
                    )
                if i < c < j - 1:
                    cross_term = -dot3(b1, load(path.basis[c - 1, r])) * dot3(b2, load(path.basis[c, s])) / geo[G_D]
                    path.matrix[before + r, after + s] += cross_term
                    path.matrix[after + s, before + r] += cross_term


@kernel
def solve(n, A, b):
    """Solve A x = b for symmetric A (>= n, >= n), destroyed; x replaces b. Returns whether A is positive definite."""
    minimum = True
    for c in range(n):
        minimum = minimum and A[c, c] > 0.0
        for r in range(c + 1, n):
            f = A[r, c] / A[c, c]
            for x in range(c + 1, n):
                A[r, x] -= f * A[c, x]
            b[r] -= f * b[c]
    for c in range(n - 1, -1, -1):
        for x in range(c + 1, n):
            b[c] -= A[c, x] * b[x]
        b[c] /= A[c, c]
    return minimum
