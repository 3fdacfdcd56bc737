"""Several wraps on one interval: the virtual nodes between them.

    wraps chosen on an interval --> [virtual nodes] --> pieces with one wrap each --> wrapped_interval
                                          ^ here
A virtual node Q lies on the straight piece between two surfaces. It may move in the plane across that piece, and the
whole length is stationary in it: the directions on both sides agree. With y the coordinates of all virtual nodes of
the interval, H the Hessian of the length in y and r = (e2 of the piece before) - (e1 of the piece after), projected:

    Newton    H dy = -r
    motion    H y' = -r' at resting y      H y'' = -r'' at y' and no y''
    forces    lambda = -H^-1 g for forces g on the virtual nodes; they reach everything else as the gradient of lambda.r

Where Q sits along the straight piece does not matter: labels are fractions of the whole interval.
"""

from osim_inertia.kernels.geodesic_common import (
    G_A,
    G_B,
    G_B1,
    G_B2,
    G_D,
    G_E,
    G_E1,
    G_E2,
    G_N1,
    G_N2,
    G_PHI,
    G_Q1,
    G_Q2,
    get3,
    put3,
    sum3,
)
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.shortest_record import CHAIN, SECOND, W_BASIS, W_CONTACT, W_END, W_P, turned, turned_back
from osim_inertia.kernels.shortest_segment import follow
from osim_inertia.kernels.vec3 import add, along, cross, dot3, norm, scaled, sub

STEPS = 40
SETTLED = 1e-14  # m; Newton's method ends when no virtual node moves farther
NEARLY = 1e-12  # m; or when it no longer improves below this
ROUNDING = 1e-12  # kinks below this may grow


@lean
def join_wraps(i, j, path):
    """Make the pieces chain[i:j] of one interval tangent to each other: whether it worked. Fills records, contacts
    and ends.
    """
    if not follow_all(i, j, path):
        return False
    last_far = 1e300
    kink = largest_kink(i, j, path)
    for _ in range(STEPS):
        set_basis(i, j, path)
        far, minimum = _newton_step(i, j, path)
        if not minimum:
            return False
        share, old_kink = 1.0, kink
        _shift(i, j, share, path)
        while True:  # shorter steps while an end would go inside a surface or a kink would grow
            if follow_all(i, j, path):
                kink = largest_kink(i, j, path)
                if kink <= max(old_kink, ROUNDING):
                    break
            if share < 1e-2:
                return False
            _shift(i, j, -0.6 * share, path)
            share *= 0.4
        if far < SETTLED or (far < NEARLY and far >= last_far):
            break
        last_far = far
    else:
        return False
    for c in range(i, j - 1):  # each virtual node to the middle of its straight piece
        row, other = path.rows[path.ints[CHAIN, c]], path.rows[path.ints[CHAIN, c + 1]]
        middle = scaled(0.5, add(get3(row, W_CONTACT + SECOND), get3(other, W_CONTACT)))
        put3(row, W_END + SECOND, middle)
        put3(other, W_END, middle)
    return follow_all(i, j, path)


@lean
def follow_all(i, j, path):
    """Re-solve the pieces for their present ends: whether all could be."""
    for c in range(i, j):
        row = path.rows[path.ints[CHAIN, c]]
        origin = get3(row, W_P)
        p = turned_back(row, sub(get3(row, W_END), origin))
        s = turned_back(row, sub(get3(row, W_END + SECOND), origin))
        if not follow(row, p, s, path.arc):
            return False
        put3(row, W_CONTACT, add(origin, turned(row, get3(row, G_Q1))))
        put3(row, W_CONTACT + SECOND, add(origin, turned(row, get3(row, G_Q2))))
    return True


@lean
def largest_kink(i, j, path):
    """Largest |e2 - e1| at a virtual node."""
    kink = 0.0
    for c in range(i, j - 1):
        row, other = path.rows[path.ints[CHAIN, c]], path.rows[path.ints[CHAIN, c + 1]]
        kink = max(kink, norm(sub(turned(row, get3(row, G_E2)), turned(other, get3(other, G_E1)))))
    return kink


@lean
def solution(i, c, path):
    """Move of the virtual node after chain[c] from the solved right-hand side."""
    row = path.rows[path.ints[CHAIN, c]]
    y, last = 2 * (c - i), path.matrix.shape[1] - 1
    u, v = get3(row, W_BASIS), get3(row, W_BASIS + SECOND)
    return sum3(path.matrix[y, last], u, path.matrix[y + 1, last], v, 0.0, u)


@lean
def _shift(i, j, share, path):
    """Move the virtual nodes by a share of Newton's step."""
    for c in range(i, j - 1):
        row, other = path.rows[path.ints[CHAIN, c]], path.rows[path.ints[CHAIN, c + 1]]
        move = solution(i, c, path)
        put3(row, W_END + SECOND, along(get3(row, W_END + SECOND), share, move))
        put3(other, W_END, along(get3(other, W_END), share, move))


@lean
def set_basis(i, j, path):
    """Two unit vectors across each straight piece between surfaces."""
    for c in range(i, j - 1):
        row = path.rows[path.ints[CHAIN, c]]
        e = turned(row, get3(row, G_E2))
        x, y, z = abs(e[0]), abs(e[1]), abs(e[2])
        axis = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
        u = cross(e, axis)
        u = scaled(1.0 / norm(u), u)
        put3(row, W_BASIS, u)
        put3(row, W_BASIS + SECOND, cross(e, u))


@lean
def put_projected(i, c, v, path):
    """Make the components of v across the straight piece after chain[c] its part of the right-hand side, sign
    changed.
    """
    row = path.rows[path.ints[CHAIN, c]]
    y, last = 2 * (c - i), path.matrix.shape[1] - 1
    path.matrix[y, last] = -dot3(get3(row, W_BASIS), v)
    path.matrix[y + 1, last] = -dot3(get3(row, W_BASIS + SECOND), v)


@lean
def _newton_step(i, j, path):
    """Solve H dy = -r: its largest component, and whether the length has a minimum there."""
    for c in range(i, j - 1):
        row, other = path.rows[path.ints[CHAIN, c]], path.rows[path.ints[CHAIN, c + 1]]
        put_projected(i, c, sub(turned(row, get3(row, G_E2)), turned(other, get3(other, G_E1))), path)
    minimum = solve_virtual(i, j, path)
    far = 0.0
    for y in range(2 * (j - i - 1)):
        far = max(far, abs(path.matrix[y, path.matrix.shape[1] - 1]))
    return far, minimum


@lean
def solve_virtual(i, j, path):
    """Solve with the Hessian of the length of chain[i:j] for the right-hand side in place; whether it is positive
    definite.
    """
    A, n, last = path.matrix, 2 * (j - i - 1), path.matrix.shape[1] - 1
    _build_hessian(i, j, n, path)
    minimum = True
    for c in range(n):
        minimum = minimum and A[c, c] > 0.0
        for r in range(c + 1, n):
            f = A[r, c] / A[c, c]
            for x in range(c + 1, n):
                A[r, x] -= f * A[c, x]
            A[r, last] -= f * A[c, last]
    for c in range(n - 1, -1, -1):
        for x in range(c + 1, n):
            A[c, last] -= A[c, x] * A[x, last]
        A[c, last] /= A[c, c]
    return minimum


@lean
def _build_hessian(i, j, n, path):
    """Hessian of the length of chain[i:j] in the n coordinates of its virtual nodes."""
    for r in range(n):
        for c in range(n):
            path.matrix[r, c] = 0.0
    for c in range(i, j):
        row = path.rows[path.ints[CHAIN, c]]
        D, before, after = row[G_D], 2 * (c - i - 1), 2 * (c - i)
        n1, b1 = turned(row, get3(row, G_N1)), turned(row, get3(row, G_B1))
        n2, b2 = turned(row, get3(row, G_N2)), turned(row, get3(row, G_B2))
        earlier = path.rows[path.ints[CHAIN, c - 1]] if c > i else row
        for r in range(2):
            u, w = get3(earlier, W_BASIS + r * SECOND), get3(row, W_BASIS + r * SECOND)
            for s in range(2):
                v, x = get3(earlier, W_BASIS + s * SECOND), get3(row, W_BASIS + s * SECOND)
                if c > i:
                    side = dot3(b1, u) * dot3(b1, v) * row[G_E] / D
                    path.matrix[before + r, before + s] += dot3(n1, u) * dot3(n1, v) / row[G_A] + side
                if c < j - 1:
                    side = dot3(b2, w) * dot3(b2, x) * row[G_PHI] / D
                    path.matrix[after + r, after + s] += dot3(n2, w) * dot3(n2, x) / row[G_B] + side
                if i < c < j - 1:
                    path.matrix[before + r, after + s] -= dot3(b1, u) * dot3(b2, x) / D
                    path.matrix[after + s, before + r] -= dot3(b1, u) * dot3(b2, x) / D
