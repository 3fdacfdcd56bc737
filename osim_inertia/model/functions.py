"""Functions as an .osim file describes them: coefficients and knots, no evaluation (see kernels.functions)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """f = value, for any number of arguments."""

    value: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearFunction:
    """f = c0 x0 + c1 x1 + … + c_last; the last coefficient is the intercept."""

    coefficients: tuple[float, ...] = (1.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialFunction:
    """Coefficients from the highest to the lowest power."""

    coefficients: tuple[float, ...] = (0.0,)


@dataclass(frozen=True, slots=True, kw_only=True)
class MultivariatePolynomialFunction:
    """Sum over exponent tuples of total degree ≤ order; the last variable runs fastest, lowest power first."""

    dimension: int
    order: int
    coefficients: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimmSpline:
    """C² cubic through (x, y) with OpenSim's four-point end condition, straight outside."""

    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GCVSpline:
    """Natural spline of degree 2·half_order − 1 through (x, y)."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    half_order: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewiseLinearFunction:
    """Straight lines between (x, y), the end slopes continued outside."""

    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewiseConstantFunction:
    """The y of the knot to the left, held outside."""

    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFunction:
    """Quintic smooth step from start_value to end_value between the two transition abscissae."""

    transition_start: float = 0.99
    transition_end: float = 1.01
    start_value: float = 0.0
    end_value: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sine:
    """amplitude·sin(omega·x + phase) + offset."""

    amplitude: float = 1.0
    omega: float = 1.0
    phase: float = 0.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiplierFunction:
    """scale × function."""

    function: Function
    scale: float = 1.0


Function = (
    Constant
    | LinearFunction
    | PolynomialFunction
    | MultivariatePolynomialFunction
    | SimmSpline
    | GCVSpline
    | PiecewiseLinearFunction
    | PiecewiseConstantFunction
    | StepFunction
    | Sine
    | MultiplierFunction
)
