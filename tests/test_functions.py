"""Functions of coordinates: values OpenSim prints, derivatives by differences, and what happens outside the knots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osim_inertia.compiled.functions import FunctionTable
from osim_inertia.kernels.functions import evaluate, evaluate_many
from osim_inertia.model import functions as f

KNOTS = {"x": (-1.0, -0.3, 0.2, 0.9, 1.7, 2.0, 2.4, 3.0), "y": (0.3, 1.0, -0.5, 0.2, 0.7, -1.0, 0.1, 0.4)}
SMOOTH = [
    f.Constant(value=2.5),
    f.LinearFunction(coefficients=(2.0, 3.0)),
    f.PolynomialFunction(coefficients=(1.0, -2.0, 3.0, 0.5)),
    f.SimmSpline(**KNOTS),
    f.GCVSpline(**KNOTS, half_order=2),
    f.GCVSpline(**KNOTS, half_order=3),
    f.GCVSpline(**KNOTS, half_order=4),
    f.StepFunction(transition_start=0.1, transition_end=1.5, start_value=-1.0, end_value=2.0),
    f.Sine(amplitude=2.0, omega=3.0, phase=0.4, offset=-1.0),
    f.MultivariatePolynomialFunction(dimension=1, order=3, coefficients=(1.0, 2.0, -3.0, 0.5)),
    f.MultiplierFunction(function=f.MultiplierFunction(function=f.SimmSpline(**KNOTS), scale=-2.0), scale=0.5),
]


def value(function: f.Function, x: float) -> tuple[float, float, float]:
    table = FunctionTable()
    index = table.add(function)
    return evaluate(table.arrays(), index, float(x))


@pytest.mark.parametrize(
    ("x", "expected"), [(0.5, -0.5656367273601268), (-2.0, -6.312066122022702), (3.0, -9.406626956477407)]
)
def test_simm_spline_gives_the_numbers_opensim_prints(x, expected):
    spline = f.SimmSpline(x=(-1, -0.3, 0.2, 0.9, 1.7, 2), y=(0.3, 1, -0.5, 0.2, 0.7, -1))
    assert value(spline, x)[0] == pytest.approx(expected, abs=1e-13)


def test_polynomials_give_the_numbers_opensim_prints():
    assert value(f.PolynomialFunction(coefficients=(1.0, 2.0, 3.0)), 2.0)[0] == 11.0
    table = FunctionTable()
    linear = table.add(f.LinearFunction(coefficients=(2.0, 3.0, 5.0)))
    poly = table.add(f.MultivariatePolynomialFunction(dimension=2, order=2, coefficients=(1, 2, 3, 4, 5, 6)))
    room = np.empty(2), np.empty((2, 2))
    assert evaluate_many(table.arrays(), linear, np.array([1.0, 10.0]), 2, *room) == 37.0
    assert evaluate_many(table.arrays(), poly, np.array([2.0, 3.0]), 2, *room) == 96.0


@pytest.mark.parametrize("function", SMOOTH, ids=lambda function: type(function).__name__)
@settings(max_examples=40, deadline=None)
@given(x=st.floats(-3.0, 5.0))
def test_derivatives_are_the_slopes_of_the_values(function, x):
    h = 1e-6
    (f0, f1, f2), below, above = value(function, x), value(function, x - h), value(function, x + h)
    curvature_change = abs(above[2] - below[2]) + 1.0  # a spline leaves its knots with a kink in the curvature
    assert (above[0] - below[0]) / (2 * h) == pytest.approx(f1, abs=1e-7 * max(1.0, abs(f0)) + 2 * h * curvature_change)
    if abs(above[2] - below[2]) < 1e-2:
        assert (above[1] - below[1]) / (2 * h) == pytest.approx(f2, abs=1e-2)


def test_mixed_second_derivatives_of_a_polynomial_of_three_variables():
    rng = np.random.default_rng(2)
    table = FunctionTable()
    k = table.add(f.MultivariatePolynomialFunction(dimension=3, order=3, coefficients=tuple(rng.normal(size=20))))
    F, h = table.arrays(), 1e-5

    def gradient(x):
        out = np.empty(3)
        evaluate_many(F, k, x, 3, out, np.empty((3, 3)))
        return out

    x, hessian = rng.normal(size=3), np.empty((3, 3))
    evaluate_many(F, k, x, 3, np.empty(3), hessian)
    for i in range(3):
        step = h * np.eye(3)[i]
        np.testing.assert_allclose(hessian[i], (gradient(x + step) - gradient(x - step)) / (2 * h), atol=1e-8)


def test_natural_splines_have_no_curvature_at_their_ends():
    for order in (2, 3):
        for end in (KNOTS["x"][0], KNOTS["x"][-1]):
            h = 1e-4
            third = (value(f.GCVSpline(**KNOTS, half_order=order), end + h)[2]
                     - value(f.GCVSpline(**KNOTS, half_order=order), end)[2]) / h
            second = value(f.GCVSpline(**KNOTS, half_order=order), end)[2]
            assert abs(second if order == 2 else third) < 1e-2


def test_outside_their_knots_splines_go_on_as_taylor_polynomials():
    last, beyond = KNOTS["x"][-1], 0.7
    for function, degree in ((f.SimmSpline(**KNOTS), 1), (f.GCVSpline(**KNOTS, half_order=1), 0),
                             (f.GCVSpline(**KNOTS, half_order=2), 1), (f.GCVSpline(**KNOTS, half_order=3), 2)):
        f0, f1, f2 = value(function, last)
        terms = [f0, f1 * beyond, f2 * beyond**2 / 2][: degree + 1]
        assert value(function, last + beyond)[0] == pytest.approx(sum(terms), abs=1e-12)


def test_stairs_hold_their_values():
    stairs = f.PiecewiseConstantFunction(x=(0.0, 1.0, 2.0), y=(5.0, 6.0, 7.0))
    assert [value(stairs, x)[0] for x in (-1.0, 0.5, 1.5, 9.0)] == [5.0, 5.0, 6.0, 7.0]


def test_equal_functions_are_stored_once():
    table = FunctionTable()
    assert table.add(f.SimmSpline(**KNOTS)) == table.add(f.SimmSpline(**KNOTS))
