"""Inertia of a muscle whose line has no active wrap: the common case, in one pass over its nodes.

The same sums as muscle_inertia for straight intervals only, on the rows of a line (muscle_line). On piece k, with chord
d = x_{k+1} − x_k, a point at the fraction η moves with

    ẍ = (1 − η) ẍ_k + η ẍ_{k+1} + 2 η̇ ḋ + η̈ d                                                        theory.md (9)
"""

from __future__ import annotations

from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.muscle_line import ACC, LENGTH, LENGTH_PULL, MIX_PULL, PULL, START, V, X, add_vec, vec
from osim_inertia.kernels.vec3 import add, dot3, norm, scaled, sub

OWN, PASSED = LENGTH_PULL, MIX_PULL  # a straight line has no weights to pull back
GAUSS_2 = 0.5773502691896257  # 1/√3
SHORTEST = 1e-12  # m: two path points may coincide; the direction divides by their distance


@lean
def straight_lengths(rows, n):
    """Lengths of all intervals and their starts, with rates, into the rows; the whole length with its rates."""
    total, rate, accel = 0.0, 0.0, 0.0
    for k in range(n - 1):
        d = sub(vec(rows, k + 1, X), vec(rows, k, X))
        v = sub(vec(rows, k + 1, V), vec(rows, k, V))
        a = sub(vec(rows, k + 1, ACC), vec(rows, k, ACC))
        length = max(norm(d), SHORTEST)
        l1 = dot3(d, v) / length
        l2 = (dot3(d, a) + dot3(v, v) - l1 * l1) / length
        rows[k, LENGTH], rows[k, LENGTH + 1], rows[k, LENGTH + 2] = length, l1, l2
        rows[k, START], rows[k, START + 1], rows[k, START + 2] = total, rate, accel
        total, rate, accel = total + length, rate + l1, accel + l2
    return total, rate, accel


@lean
def straight_muscle(rows, n, muscle):
    """Inertia forces of a continuum muscle (a0, a1, ξ0, ξ1, mass, 0) on its nodes, into PULL; False without a belly."""
    a0, a1, first, last, mass, _ = muscle
    total, rate, accel = straight_lengths(rows, n)
    stretch = a1 + total
    if stretch <= 0.0:
        return False
    for k in range(n):
        rows[k, PULL] = rows[k, PULL + 1] = rows[k, PULL + 2] = 0.0
        rows[k, OWN] = rows[k, PASSED] = 0.0
    density = mass / (last - first)
    low, high = a0 + first * stretch, a0 + last * stretch
    everywhere, e_before = 0.0, (0.0, 0.0, 0.0)
    for k in range(n - 1):
        l0, l1, l2 = vec(rows, k, LENGTH)
        c0, c1, c2 = vec(rows, k, START)
        d = sub(vec(rows, k + 1, X), vec(rows, k, X))
        e = scaled(1.0 / l0, d)
        if k > 0 and low < c0 < high:  # matter flows round the corner at node k: theory.md (10)
            xi = (c0 - a0) / stretch
            flow = (c1 - xi * rate) / stretch
            bend = scaled(density * flow * flow * stretch, sub(e, e_before))
            add_vec(rows, k, PULL, bend)
            t1, t2 = 0.5 * dot3(bend, e_before), 0.5 * dot3(bend, e)
            everywhere += (t1 + t2) * xi
            rows[k - 1, OWN] -= t1
            rows[k - 1, PASSED] += t1
            rows[k, PASSED] += t2
        e_before = e
        start, end = max(low, c0), min(high, c0 + l0) if k < n - 2 else high
        if end <= start:
            continue
        dv = sub(vec(rows, k + 1, V), vec(rows, k, V))
        A, dA = vec(rows, k, ACC), sub(vec(rows, k + 1, ACC), vec(rows, k, ACC))
        m = 0.5 * density * (end - start) / stretch
        on_first, on_second = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        own = passed = 0.0
        for side in range(2):
            s = 0.5 * (start + end) + (side - 0.5) * GAUSS_2 * (end - start)
            eta, xi = (s - c0) / l0, (s - a0) / stretch
            eta1 = (xi * rate - c1 - eta * l1) / l0
            eta2 = (xi * accel - c2 - eta * l2 - 2.0 * eta1 * l1) / l0
            f = add(add(A, scaled(eta, dA)), add(scaled(2.0 * eta1, dv), scaled(eta2, d)))
            f = scaled(m, f)
            t = dot3(f, e)
            everywhere += t * xi
            own -= t * eta
            passed += t
            on_second = add(on_second, scaled(eta, f))
            on_first = add(on_first, scaled(1.0 - eta, f))
        rows[k, OWN] += own
        rows[k, PASSED] += passed
        add_vec(rows, k, PULL, on_first)
        add_vec(rows, k + 1, PULL, on_second)
    _pull_lengths(rows, n, everywhere)
    return True


@lean
def _pull_lengths(rows, n, everywhere):
    """A force t along the path at label ξ of piece k pulls on the length of piece j by t (ξ − [j < k] − η [j = k])."""
    beyond = 0.0  # sum of t over the pieces after this one
    for k in range(n - 2, -1, -1):
        d = sub(vec(rows, k + 1, X), vec(rows, k, X))
        pull = scaled((everywhere + rows[k, OWN] - beyond) / rows[k, LENGTH], d)
        add_vec(rows, k + 1, PULL, pull)
        add_vec(rows, k, PULL, scaled(-1.0, pull))
        beyond += rows[k, PASSED]
