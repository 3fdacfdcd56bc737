"""Functions of the model to one flat table (kernels.functions)."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels import functions as k
from osim_inertia.model import functions as f

SMALLEST_SPACING = 1e-7  # OpenSim takes closer knots as this far apart (OPENSIM_SEMANTICS.md §3.1)


class FunctionTable:
    """Collects functions; `arrays()` is what kernels take."""

    def __init__(self, like_opensim: bool = False) -> None:
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._data: list[float] = []
        self._multivariate = k.MULTIVARIATE_OPENSIM if like_opensim else k.MULTIVARIATE
        self._known: dict[f.Function, int] = {}

    def add(self, function: f.Function) -> int:
        """Index of the function; equal functions share one."""
        if function not in self._known:
            self._known[function] = len(self._rows)
            self._append(function, 1.0)
        return self._known[function]

    def arrays(self) -> k.Functions:
        """The table."""
        rows = np.array(self._rows or [(k.CONSTANT, 0, 1, 0, 0)], dtype=np.int64)
        data = np.array(self._data or [0.0])
        kind, start, size, degree, extension = (np.ascontiguousarray(column) for column in rows.T)
        return k.Functions(kind, start, size, degree, extension, data)

    def _append(self, function: f.Function, scale: float) -> None:
        while isinstance(function, f.MultiplierFunction):
            scale *= function.scale
            function = function.function
        start = len(self._data)
        kind, size, degree, extension, data = self._compile(function)
        if kind == k.PIECEWISE:
            data[size + 1 :] = [scale * value for value in data[size + 1 :]]
        elif kind == k.STAIRS:
            data[size:] = [scale * value for value in data[size:]]
        elif kind == k.STEP:
            data[2:] = [scale * value for value in data[2:]]
        elif kind == k.SINE:
            data[0], data[3] = scale * data[0], scale * data[3]
        elif kind in (k.MULTIVARIATE, k.MULTIVARIATE_OPENSIM):
            data[:: degree + 1] = [scale * value for value in data[:: degree + 1]]
        else:
            data = [scale * value for value in data]
        self._rows.append((kind, start, size, degree, extension))
        self._data += data

    def _compile(self, function: f.Function) -> tuple[int, int, int, int, list[float]]:
        """Kind, size, degree (or argument count), extension degree and data."""
        if isinstance(function, f.Constant):
            return k.CONSTANT, 1, 0, 0, [function.value]
        if isinstance(function, f.LinearFunction):
            c = list(function.coefficients)
            return k.LINEAR, len(c), len(c) - 1, 0, c
        if isinstance(function, f.PolynomialFunction):
            c = list(function.coefficients[::-1])
            return k.POLYNOMIAL, len(c), 1, 0, c
        if isinstance(function, f.StepFunction):
            data = [function.transition_start, function.transition_end, function.start_value, function.end_value]
            return k.STEP, 4, 1, 0, data
        if isinstance(function, f.Sine):
            return k.SINE, 4, 1, 0, [function.amplitude, function.omega, function.phase, function.offset]
        if isinstance(function, f.MultivariatePolynomialFunction):
            exponents = [e for e in product(range(function.order + 1), repeat=function.dimension)
                         if sum(e) <= function.order]
            data = [x for c, e in zip(function.coefficients, exponents) for x in (c, *map(float, e))]
            return self._multivariate, len(exponents), function.dimension, 0, data
        assert isinstance(
            function, (f.SimmSpline, f.GCVSpline, f.PiecewiseLinearFunction, f.PiecewiseConstantFunction)
        )
        x, y = np.array(function.x), np.array(function.y)
        if isinstance(function, f.PiecewiseConstantFunction):
            return k.STAIRS, len(x), 1, 0, [*x, *y]
        if isinstance(function, f.SimmSpline):
            return _piecewise(x, simm_spline_coefficients(x, y), 1)
        if isinstance(function, f.GCVSpline):
            return _piecewise(x, natural_spline_coefficients(x, y, function.half_order), function.half_order - 1)
        spacing = np.maximum(np.diff(x), SMALLEST_SPACING)
        return _piecewise(x, np.column_stack([y[:-1], np.diff(y) / spacing]), 1)


def _piecewise(x: NDArray, coefficients: NDArray, extension: int) -> tuple[int, int, int, int, list[float]]:
    """Knots, ascending coefficients per interval, and the Taylor polynomial at the last knot."""
    n, degree = len(x) - 1, coefficients.shape[1] - 1
    h = max(x[-1] - x[-2], SMALLEST_SPACING)
    last = np.polynomial.Polynomial(coefficients[-1])
    taylor, factorial = [], 1.0
    for order in range(extension + 1):
        factorial *= max(order, 1)
        taylor.append(float(last.deriv(order)(h) if order else last(h)) / factorial)
    return k.PIECEWISE, n, degree, extension, [*x, *coefficients.ravel(), *taylor]


def simm_spline_coefficients(x: NDArray, y: NDArray) -> NDArray:
    """Ascending cubic coefficients per interval; the end third derivatives are those of the end four-point cubics."""
    n = len(x)
    h = np.maximum(np.diff(x), SMALLEST_SPACING)
    slope = np.diff(y) / h
    if n == 2:
        return np.array([[y[0], slope[0], 0.0, 0.0]])
    A, b = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):
        A[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        b[i] = 6.0 * (slope[i] - slope[i - 1])
    A[0, :2] = -1.0, 1.0
    A[-1, -2:] = -1.0, 1.0
    if n > 3:
        second = np.diff(slope) / (h[:-1] + h[1:])
        third = np.diff(second) / (h[:-2] + h[1:-1] + h[2:])
        b[0], b[-1] = 6.0 * third[0] * h[0], 6.0 * third[-1] * h[-1]
    m = np.linalg.solve(A, b)  # second derivatives at the knots
    return np.column_stack([y[:-1], slope - h * (2.0 * m[:-1] + m[1:]) / 6.0, m[:-1] / 2.0, np.diff(m) / (6.0 * h)])


def natural_spline_coefficients(x: NDArray, y: NDArray, half_order: int) -> NDArray:
    """Ascending coefficients per interval of the natural spline of degree 2·half_order − 1."""
    from scipy.interpolate import PPoly, make_interp_spline

    ends = [(order, 0.0) for order in range(half_order, 2 * half_order - 1)]
    spline = make_interp_spline(x, y, k=2 * half_order - 1, bc_type=(ends, ends) if ends else None)
    pieces = PPoly.from_spline(spline)
    inside = (pieces.x[:-1] >= x[0]) & (pieces.x[1:] <= x[-1]) & (np.diff(pieces.x) > 0.0)
    return pieces.c[::-1, inside].T.copy()
