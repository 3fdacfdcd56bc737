"""One step of a fit: the minimum of a quadratic within bounds, optionally on linear constraints.

    minimise  ½ dᵀ H d + gᵀ d     with  low ≤ d ≤ high  and  K d = −k

Active sets: unknowns at a bound are held there, the others are solved for, and the sets are corrected until they agree
with the signs of the multipliers (a primal-dual active-set method; with the right guess one solve is enough).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from osim_inertia.kernels.jit import kernel, lean

MAX_CORRECTIONS = 40
REDUNDANT = 1e-12  # share of the diagonal that keeps redundant constraints solvable
CORRECTIONS = 2


class Step(NamedTuple):
    """Room for a step. nz unknowns, m constraints."""

    H: np.ndarray  # (nz, nz)
    g: np.ndarray  # (nz,)
    d: np.ndarray  # (nz,) the step
    low: np.ndarray  # (nz,)
    high: np.ndarray  # (nz,)
    side: np.ndarray  # (nz,) int: -1 held at low, 1 at high, 0 free
    factor: np.ndarray  # (nz, nz)
    rhs: np.ndarray  # (nz,)
    K: np.ndarray  # (m, nz)
    k: np.ndarray  # (m,)
    new_K: np.ndarray  # (m, nz) of the pose on trial
    new_k: np.ndarray  # (m,)
    force: np.ndarray  # (m,) multipliers of the constraints
    miss: np.ndarray  # (m,)
    Y: np.ndarray  # (m, nz) H⁻¹ Kᵀ, transposed
    schur: np.ndarray  # (m, m)


@kernel
def new_step(nz, m):
    """Room for nz unknowns and m constraints."""
    return Step(
        np.zeros((nz, nz)), np.zeros(nz), np.zeros(nz), np.zeros(nz), np.zeros(nz), np.zeros(nz, dtype=np.int64),
        np.zeros((nz, nz)), np.zeros(nz), np.zeros((m, nz)), np.zeros(m),
        np.zeros((m, nz)), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, nz)), np.zeros((m, m)),
    )


@lean
def factorize(L):
    """L (n, n), lower triangle: A = LᵀL in place, from the last row up; False unless A is positive definite.

    Last to first is leaves to root: where two branches of the tree do not touch, A has zeros, and they stay.
    """
    for k in range(L.shape[0] - 1, -1, -1):
        if not L[k, k] > 0.0:
            return False
        pivot = np.sqrt(L[k, k])
        L[k, k] = pivot
        for i in range(k):
            L[k, i] /= pivot
        for i in range(k):
            l = L[k, i]
            if l != 0.0:
                for j in range(i + 1):
                    L[i, j] -= l * L[k, j]
    return True


@lean
def solve_factored(L, x):
    """x (n,) := (LᵀL)⁻¹ x."""
    n = L.shape[0]
    for k in range(n - 1, -1, -1):
        x[k] /= L[k, k]
        for i in range(k):
            x[i] -= L[k, i] * x[k]
    for k in range(n):
        s = x[k]
        for i in range(k):
            s -= L[k, i] * x[i]
        x[k] = s / L[k, k]


@lean
def bounded_step(W, damping, hold):
    """Fill W.d and W.force; False if the matrix is not positive definite, or so ill that the sets go in circles.

    The diagonal grows by damping and hold (nz,). W.side comes in as a guess and goes out as found.
    """
    H, g, d, low, high, side, K, force = W.H, W.g, W.d, W.low, W.high, W.side, W.K, W.force
    nz, m = g.shape[0], force.shape[0]
    for _ in range(MAX_CORRECTIONS):
        if not _solve_with_sides(W, damping, hold):
            return False
        changed = False
        for i in range(nz):
            if side[i] == 0:
                if d[i] < low[i]:
                    side[i] = -1
                    changed = True
                elif d[i] > high[i]:
                    side[i] = 1
                    changed = True
            elif low[i] < high[i]:
                pull = g[i] + (damping + hold[i]) * d[i]
                for j in range(nz):
                    pull += H[i, j] * d[j]
                for r in range(m):
                    pull += K[r, i] * force[r]
                if pull * side[i] > 0.0:
                    side[i] = 0
                    changed = True
        if not changed:
            return True
    return False


@lean
def stiffen(W):
    """H + KᵀK and g + Kᵀk: the same step, since K d = −k, from a matrix that is firm where only constraints hold."""
    H, g, K, k = W.H, W.g, W.K, W.k
    nz = g.shape[0]
    for r in range(k.shape[0]):
        for i in range(nz):
            g[i] += K[r, i] * k[r]
            for j in range(nz):
                H[i, j] += K[r, i] * K[r, j]


@lean
def _solve_with_sides(W, damping, hold):
    """The step for the present sides."""
    H, g, d, low, high, side = W.H, W.g, W.d, W.low, W.high, W.side
    nz, L, x = g.shape[0], W.factor, W.rhs
    for i in range(nz):
        held = side[i] != 0
        x[i] = -g[i]
        if held:
            x[i] = low[i] if side[i] < 0 else high[i]
        for j in range(i + 1):
            L[i, j] = 0.0 if held or side[j] != 0 else H[i, j]
        L[i, i] = 1.0 if held else H[i, i] + damping + hold[i]
    for j in range(nz):
        if side[j] != 0 and x[j] != 0.0:
            for i in range(nz):
                if side[i] == 0:
                    x[i] -= H[i, j] * x[j]
    if not factorize(L):
        return False
    solve_factored(L, x)
    for i in range(nz):
        d[i] = x[i]
    return W.k.shape[0] == 0 or _onto_constraints(W)


@lean
def _onto_constraints(W):
    """Correct the step so that K d = −k: multipliers from the Schur complement K H⁻¹ Kᵀ.

    What keeps redundant equations solvable makes the others inexact; repeating the correction makes up for it.
    """
    d, side, K, k, force, miss, Y, schur = W.d, W.side, W.K, W.k, W.force, W.miss, W.Y, W.schur
    nz, m, largest = d.shape[0], k.shape[0], 0.0
    for r in range(m):
        force[r] = 0.0
        for i in range(nz):
            Y[r, i] = K[r, i] if side[i] == 0 else 0.0
        solve_factored(W.factor, Y[r])
    for r in range(m):
        for s in range(r + 1):
            schur[r, s] = 0.0
            for i in range(nz):
                if side[i] == 0:
                    schur[r, s] += K[r, i] * Y[s, i]
        largest = max(largest, schur[r, r])
    for r in range(m):
        schur[r, r] += REDUNDANT * largest
        if schur[r, r] <= 0.0:  # nothing that may move changes any equation
            schur[r, r] = 1.0
    if not factorize(schur):
        return False
    for _ in range(CORRECTIONS):
        for r in range(m):
            miss[r] = k[r]
            for i in range(nz):
                miss[r] += K[r, i] * d[i]
        solve_factored(schur, miss)
        for r in range(m):
            force[r] += miss[r]
            for i in range(nz):
                d[i] -= miss[r] * Y[r, i]
    return True
