"""Functions of coordinates with first and second derivatives, from one flat table.

Function k has a kind, a place `start` in `data`, two sizes and, for piecewise polynomials, an extension degree: outside
its knots it goes on as the Taylor polynomial of that degree at the end (OPENSIM_SEMANTICS.md §3). A scale factor
(MultiplierFunction) is already inside the coefficients.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

from numpy import ndarray

from osim_inertia.kernels.jit import inlined, lean

CONSTANT, LINEAR, POLYNOMIAL, PIECEWISE, STAIRS, STEP, SINE, MULTIVARIATE, MULTIVARIATE_OPENSIM = range(9)


class Functions(NamedTuple):
    """All functions of a model. nf of them."""

    kind: ndarray  # (nf,) int
    start: ndarray  # (nf,) int, into data
    size: ndarray  # (nf,) int: coefficients, intervals or terms
    degree: ndarray  # (nf,) int: of piecewise polynomials; number of arguments otherwise
    extension: ndarray  # (nf,) int: degree outside the knots
    data: ndarray  # float


@lean
def _horner(data, at, degree, x):
    """Value and two derivatives of a polynomial with ascending coefficients data[at : at + degree + 1]."""
    f = f1 = f2 = 0.0
    for i in range(degree, -1, -1):
        f2 = f2 * x + 2.0 * f1
        f1 = f1 * x + f
        f = f * x + data[at + i]
    return f, f1, f2


@lean
def _piecewise(data, start, n, degree, extension, x):
    """Layout: n + 1 knots, n × (degree + 1) coefficients, extension + 1 Taylor coefficients at the last knot."""
    first, last = data[start], data[start + n]
    at = start + n + 1
    if x < first:
        return _horner(data, at, extension, x - first)
    if x > last:
        return _horner(data, at + n * (degree + 1), extension, x - last)
    low, count = 0, n
    while count > 1:  # which half it is cannot be foretold: a choice of numbers, not of ways
        half = count >> 1
        low += half if x >= data[start + low + half] else 0
        count -= half
    return _horner(data, at + low * (degree + 1), degree, x - data[start + low])


@lean
def _stairs(data, start, n, x):
    """y of the knot to the left, held outside."""
    k = 0
    while k + 1 < n and x >= data[start + k + 1]:
        k += 1
    return data[start + n + k], 0.0, 0.0


@lean
def _step(data, start, x):
    x0, x1, y0, y1 = data[start], data[start + 1], data[start + 2], data[start + 3]
    if x <= x0:
        return y0, 0.0, 0.0
    if x >= x1:
        return y1, 0.0, 0.0
    h, dy = x1 - x0, y1 - y0
    z = (x - x0) / h
    f = z * z * z * (10.0 + z * (-15.0 + 6.0 * z))
    f1 = 30.0 * z * z * (1.0 + z * (z - 2.0))
    f2 = z * (60.0 + z * (-180.0 + 120.0 * z))
    return y0 + dy * f, dy * f1 / h, dy * f2 / (h * h)


@inlined
def evaluate(F, k, x):
    """f, df/dx, d²f/dx² of a function of one argument."""
    kind, start, n, data = F.kind[k], F.start[k], F.size[k], F.data
    if kind == PIECEWISE:
        return _piecewise(data, start, n, F.degree[k], F.extension[k], x)
    if kind == LINEAR:
        return data[start] * x + data[start + n - 1], data[start], 0.0
    if kind == CONSTANT:
        return data[start], 0.0, 0.0
    if kind == POLYNOMIAL:
        return _horner(data, start, n - 1, x)
    if kind == STEP:
        return _step(data, start, x)
    if kind == STAIRS:
        return _stairs(data, start, n, x)
    if kind == SINE:
        a, om, phase = data[start], data[start + 1], data[start + 2]
        s, c = sin(om * x + phase), cos(om * x + phase)
        return a * s + data[start + 3], a * om * c, -a * om * om * s
    f = f1 = f2 = 0.0  # a multivariate polynomial of one variable: terms (coefficient, exponent)
    for t in range(n):
        c, e = data[start + 2 * t], int(data[start + 2 * t + 1])
        f += c * x**e
        f1 += c * e * x ** (e - 1) if e > 0 else 0.0
        f2 += c * e * (e - 1) * x ** (e - 2) if e > 1 else 0.0
    return f, f1, f1 if kind == MULTIVARIATE_OPENSIM else f2


@lean
def evaluate_many(F, k, args, n_args, gradient, hessian):
    """Value of a function of several arguments; gradient (n,) and hessian (n, n) are filled."""
    kind, start, n, data = F.kind[k], F.start[k], F.size[k], F.data
    for i in range(n_args):
        gradient[i] = 0.0
        for j in range(n_args):
            hessian[i, j] = 0.0
    if n_args == 1:
        f, gradient[0], hessian[0, 0] = evaluate(F, k, args[0])
        return f
    if kind == CONSTANT:
        return data[start]
    if kind == LINEAR:
        f = data[start + n - 1]
        for i in range(n_args):
            gradient[i] = data[start + i]
            f += data[start + i] * args[i]
        return f
    f = 0.0
    stride = n_args + 1
    for t in range(n):  # terms (coefficient, exponents)
        at = start + t * stride
        f += _monomial(data, at, args, n_args, -1, -1)
        for i in range(n_args):
            gradient[i] += _monomial(data, at, args, n_args, i, -1)
            for j in range(n_args):
                hessian[i, j] += _monomial(data, at, args, n_args, i, j)
    if kind == MULTIVARIATE_OPENSIM:  # OpenSim answers a request for ∂²/∂x_i∂x_j with ∂/∂x_i
        for i in range(n_args):
            for j in range(n_args):
                hessian[i, j] = gradient[i]
    return f


@lean
def _monomial(data, at, args, n_args, i, j):
    """c Π x^e, differentiated by argument i and then j (−1: not at all)."""
    value = data[at]
    for m in range(n_args):
        e = int(data[at + 1 + m])
        for d in (i, j):
            if d == m:
                value *= e
                e -= 1
        if e < 0:
            return 0.0
        value *= args[m] ** e
    return value
