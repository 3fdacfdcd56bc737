"""XML to functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from osim_inertia.model import functions as f
from osim_inertia.osim.xml import Node

MAX_DIMENSION = 6  # of a MultivariatePolynomialFunction, as in OpenSim
MAX_ORDER = 20


def _knots(node: Node, at_least: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    x, y = node.numbers("x"), node.numbers("y")
    if len(x) != len(y):
        raise node.error("x and y differ in count.", found=f"{len(x)} x and {len(y)} y",
                         expected="one y for every x")
    if len(x) < at_least:
        raise node.error(f"has {len(x)} points.", expected=f"at least {at_least}")
    return x, y


def _simm_spline(node: Node) -> f.Function:
    x, y = _knots(node, 2)
    _warn_unsorted(node, x)
    return f.SimmSpline(x=x, y=y)


def _gcv_spline(node: Node) -> f.Function:
    half_order = node.integer("half_order", 3)
    if half_order not in (1, 2, 3, 4):
        raise node.error(f"<half_order> is {half_order}.", expected="1, 2, 3 or 4")
    x, y = _knots(node, 2 * half_order)
    if any(b <= a for a, b in itertools.pairwise(x)):
        raise node.error("the x values do not increase.", expected="strictly increasing x")
    if node.number("error_variance", 0.0) != 0.0:
        node.document.note(f"line {node.line}: {node.label}: smoothing (<error_variance>) is not supported; "
                           "the spline goes through its points.")
    return f.GCVSpline(x=x, y=y, half_order=half_order)


def _piecewise_linear(node: Node) -> f.Function:
    x, y = _knots(node, 2)
    _warn_unsorted(node, x)
    return f.PiecewiseLinearFunction(x=x, y=y)


def _piecewise_constant(node: Node) -> f.Function:
    x, y = _knots(node, 1)
    _warn_unsorted(node, x)
    return f.PiecewiseConstantFunction(x=x, y=y)


def _warn_unsorted(node: Node, x: tuple[float, ...]) -> None:
    if any(b < a for a, b in itertools.pairwise(x)):
        raise node.error("the x values are not in increasing order.", expected="increasing x")
    if any(b == a for a, b in itertools.pairwise(x)):
        node.document.note(f"line {node.line}: {node.label}: two points share one x; like OpenSim we take them as "
                           "1e-7 apart, which can make the function swing widely.")


def _linear(node: Node) -> f.Function:
    return f.LinearFunction(coefficients=node.numbers("coefficients") or (1.0, 0.0))


def _polynomial(node: Node) -> f.Function:
    return f.PolynomialFunction(coefficients=node.numbers("coefficients") or (0.0,))


def _multivariate(node: Node) -> f.Function:
    dimension, order = node.integer("dimension", 0), node.integer("order", 0)
    coefficients = node.numbers("coefficients")
    if not (1 <= dimension <= MAX_DIMENSION and 0 <= order <= MAX_ORDER):
        raise node.error(f"has dimension {dimension} and order {order}.",
                         expected=f"dimension 1 to {MAX_DIMENSION}, order 0 to {MAX_ORDER}")
    expected = math.comb(dimension + order, dimension)
    if len(coefficients) != expected:
        raise node.error(f"has {len(coefficients)} coefficients.",
                         expected=f"{expected} for dimension {dimension} and order {order}")
    return f.MultivariatePolynomialFunction(dimension=dimension, order=order, coefficients=coefficients)


def _step(node: Node) -> f.Function:
    start, end = node.number("transition_start_time", 0.99), node.number("transition_end_time", 1.01)
    if end <= start:
        raise node.error("the transition ends before it starts.", found=f"{start} to {end}")
    return f.StepFunction(
        transition_start=start,
        transition_end=end,
        start_value=node.number("start_value", 0.0),
        end_value=node.number("end_value", 1.0),
    )


def _sine(node: Node) -> f.Function:
    return f.Sine(
        amplitude=node.number("amplitude", 1.0),
        omega=node.number("omega", 1.0),
        phase=node.number("phase", 0.0),
        offset=node.number("offset", 0.0),
    )


def _multiplier(node: Node) -> f.Function:
    inner = node.object("function", tuple(READERS))
    if inner is None:
        raise node.error("has no function to multiply.", expected="a function inside <function>")
    return f.MultiplierFunction(function=read_function(inner), scale=node.number("scale", 1.0))


READERS: dict[str, Callable[[Node], f.Function]] = {
    "Constant": lambda node: f.Constant(value=node.number("value", 0.0)),
    "LinearFunction": _linear,
    "PolynomialFunction": _polynomial,
    "MultivariatePolynomialFunction": _multivariate,
    "SimmSpline": _simm_spline,
    "GCVSpline": _gcv_spline,
    "PiecewiseLinearFunction": _piecewise_linear,
    "PiecewiseConstantFunction": _piecewise_constant,
    "StepFunction": _step,
    "Sine": _sine,
    "MultiplierFunction": _multiplier,
}


def read_function(node: Node) -> f.Function:
    """The function an element describes."""
    reader = READERS.get(node.kind)
    if reader is None:
        raise node.error("this kind of function is not supported.", expected="one of " + ", ".join(READERS))
    function = reader(node)
    node.check_spelling()
    return function


def function_of(owner: Node, prop: str, optional: bool = False) -> f.Function | None:
    """The function held by a property of `owner`, if any; `optional` if OpenSim declares the property so."""
    node = owner.optional_object(prop) if optional else owner.object(prop, tuple(READERS))
    return None if node is None else read_function(node)
