"""Joints of every class, custom joints, one model per function, and joints used backwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zoo_xml import V2, V3, V4, Body, Joint, Part, Zoo, function, part, transform, wrapped

UPPER = Body("upper", 2.3, (0.02, -0.11, 0.03), (0.031, 0.012, 0.034, 0.002, -0.0015, 0.0011))
MIDDLE = Body("middle", 1.4, (-0.01, -0.09, 0.02), (0.018, 0.009, 0.017, -0.001, 0.0008, 0.0012))
LOWER = Body("lower", 0.6, (0.04, -0.03, -0.01), (0.004, 0.0055, 0.003, 0.0004, -0.0003, 0.0005))
BODIES = (UPPER, MIDDLE, LOWER)

# (location, orientation) of the joint frames, on the parent's and on the child's side
HIP = {"at_parent": ((0.1, 0.9, -0.05), (0.3, -0.4, 0.5)), "at_child": ((-0.02, 0.1, 0.04), (-0.2, 0.25, 0.15))}
KNEE = {"at_parent": ((0.03, -0.2, 0.02), (-0.15, 0.35, 0.6)), "at_child": ((0.01, 0.08, -0.03), (0.4, -0.1, 0.2))}
ANKLE = {"at_parent": ((-0.02, -0.18, 0.01), (0.25, 0.1, -0.3)), "at_child": ((0.015, 0.05, 0.02), (0.1, 0.3, -0.25))}

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
RADII = {
    "EllipsoidJoint": (part("radii_x_y_z", (0.09, 0.14, 0.11)),),
    "ScapulothoracicJoint": (
        part("thoracic_ellipsoid_radii_x_y_z", (0.08, 0.15, 0.1)),
        part("scapula_winging_axis_origin", (0.03, -0.02)),
        part("scapula_winging_axis_direction", 0.4),
    ),
}


def chain(hip: Joint, knee: Joint, *, ankle: str = "PinJoint") -> tuple[Joint, ...]:
    """ground – upper – middle – lower, every joint with offsets on both sides."""
    return (
        replace(hip, parent="ground", child="upper", **HIP),
        replace(knee, parent="upper", child="middle", **KNEE),
        Joint(ankle, "ankle", "middle", "lower", **ANKLE),
    )


def joint(kind: str, name: str, **more: Any) -> Joint:
    """A joint whose ends `chain` fills in."""
    return Joint(kind, name, "", "", **{"inside": RADII.get(kind, ()), **more})


def custom(name: str, coordinates: str, *axes: tuple[str, Any, str, Part | None], **more: Any) -> Joint:
    """A CustomJoint whose ends `chain` fills in."""
    names: dict[str, dict[str, Any]] = {c: {} for c in coordinates.split()}
    return joint("CustomJoint", name, coordinates=names, inside=(transform(*axes),), **more)


def constant(value: float) -> Part:
    """A Constant as a function property."""
    return wrapped("function", function("Constant", value=value))


def linear(*coefficients: float) -> Part:
    """A LinearFunction as a function property."""
    return wrapped("function", function("LinearFunction", coefficients=coefficients))


def of(kind: str, **properties: Any) -> Part:
    """Any function as a function property."""
    return wrapped("function", function(kind, **properties))


KINDS = ("Weld", "Pin", "Slider", "Universal", "Gimbal", "Ball", "Ellipsoid", "Planar", "Free", "Scapulothoracic")


def joint_models() -> list[Zoo]:
    """One model per class: that joint at ground and once more up the chain, then a pin."""
    models = []
    for kind in KINDS:
        versions = (V4,) if kind == "Scapulothoracic" else (V2, V3, V4)
        joints = chain(joint(f"{kind}Joint", "hip"), joint(f"{kind}Joint", "knee"))
        models.append(Zoo(f"joint_{kind.lower()}", f"{kind}Joint with offsets on both sides", BODIES, joints,
                          versions=versions))  # fmt: skip
    return models


def plain_custom(name: str = "hip", **more: Any) -> Joint:
    """Three rotations and three translations about the usual axes."""
    names = [f"{name}_{s}" for s in ("rx", "ry", "rz", "tx", "ty", "tz")]
    slots = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
    axes = [(slot, axis, c, linear(1, 0)) for slot, axis, c in zip(slots, (X, Y, Z) * 2, names)]
    return custom(name, " ".join(names), *axes, **more)


def custom_models() -> list[Zoo]:
    """What a CustomJoint can do with axes and coordinates."""
    oblique = custom(
        "hip", "a b c d",
        ("rotation1", (0.3, 0.2, 0.9), "a", linear(1, 0)),
        ("rotation2", (0.8, -0.5, 0.1), "b", linear(-1, 0.2)),
        ("rotation3", (0.1, 0.7, 0.4), "c", linear(0.5, -0.1)),
        ("translation1", (0.6, 0.3, 0), "d", linear(1, 0)),
        ("translation2", (0, 1, 0.4), "a", linear(0.1, 0.02)),
        ("translation3", (0.2, 0, 1), "", constant(0.03)))  # fmt: skip
    long_axes = custom(
        "hip", "a b c",
        ("rotation1", (0, 0, 25), "a", linear(1, 0)),
        ("rotation2", (3, 4, 0), "b", linear(1, 0)),
        ("rotation3", (0, 0.002, 0.001), "", constant(0.3)),
        ("translation1", (7, 0, 1), "c", linear(1, 0)),
        ("translation2", (0, -0.01, 0), "a", linear(0.2, 0)),
        ("translation3", Z, "", constant(0)))  # fmt: skip
    shared = custom(
        "hip", "a b",
        ("rotation1", Z, "a", linear(1, 0)),
        ("rotation2", X, "b a", linear(0.7, -0.3, 0.1)),
        ("rotation3", Y, "a b", linear(0.4, 0.25, -0.05)),
        ("translation1", X, "a b", linear(0.05, -0.02, 0.01)),
        ("translation2", Y, "b", linear(0.03, 0)),
        ("translation3", Z, "", constant(0)))  # fmt: skip
    polynomial = {"dimension": 2, "order": 3}
    first = (0.05, 0.3, -0.1, 0.04, 0.9, 0.2, -0.15, 0.1, 0.05, 0.02)
    second = (0.01, 0.02, -0.03, 0.01, 0.05, -0.04, 0.02, 0.03, -0.01, 0.015)
    surface = custom(
        "hip", "a b",
        ("rotation1", Z, "a b", of("MultivariatePolynomialFunction", **polynomial, coefficients=first)),
        ("rotation2", X, "", constant(0)),
        ("rotation3", Y, "", constant(0)),
        ("translation1", X, "b a", of("MultivariatePolynomialFunction", **polynomial, coefficients=second)),
        ("translation2", Y, "a", linear(0.1, 0)),
        ("translation3", Z, "", constant(0)))  # fmt: skip
    idle = custom(
        "hip", "a b",
        ("rotation1", Z, "a", linear(1, 0)),
        ("rotation2", X, "b", None),
        ("rotation3", Y, "", None),
        ("translation1", X, "a", linear(0.1, 0)),
        ("translation2", Y, "", None),
        ("translation3", Z, "", None))  # fmt: skip
    turned_first = custom(
        "hip", "a",
        ("rotation1", Z, "", constant(0.4)),
        ("rotation2", X, "a", linear(1, 0)),
        ("rotation3", Y, "", constant(0)),
        ("translation1", X, "", constant(0)),
        ("translation2", Y, "", constant(0)),
        ("translation3", Z, "", constant(0)))  # fmt: skip
    fixed = custom(
        "hip", "a",
        ("rotation1", Z, "a", linear(1, 0)),
        ("rotation2", X, "", constant(0.4)),
        ("rotation3", Y, "", constant(-0.7)),
        ("translation1", X, "", constant(0.11)),
        ("translation2", Y, "a", constant(-0.06)),
        ("translation3", Z, "", constant(0.02)))  # fmt: skip
    one_for_two = custom(
        "hip", "a b",
        ("rotation1", Z, "a", linear(1, 0)),
        ("rotation2", X, "b", linear(1, 0)),
        ("rotation3", Y, "a", linear(0.2, 0)),
        ("translation1", X, "b", linear(0.3, 0)),
        ("translation2", Y, "", constant(0)),
        ("translation3", Z, "", constant(0)))  # fmt: skip
    order = custom(
        "hip", "c a b",
        ("rotation1", Z, "b", linear(1, 0)),
        ("rotation2", X, "c", linear(1, 0)),
        ("rotation3", Y, "c", linear(0.2, 0)),
        ("translation1", X, "a", linear(1, 0)),
        ("translation2", Y, "c", linear(0.1, 0)),
        ("translation3", Z, "", constant(0)))  # fmt: skip
    few = custom("hip", "a", ("rotation2", (0.2, 0.5, 0.1), "a", linear(1, 0)))
    pin = joint("PinJoint", "knee")
    cases = [
        ("plain", "CustomJoint with six coordinates about the usual axes", plain_custom(), None),
        ("oblique", "CustomJoint with oblique, non-orthogonal axes", oblique, None),
        ("long_axes", "CustomJoint whose axes are not unit vectors", long_axes, None),
        ("two_coordinates", "CustomJoint with linear functions of two coordinates", shared, None),
        ("polynomial", "CustomJoint with polynomials of two coordinates", surface, (V4,)),
        ("no_function", "CustomJoint with a coordinate that no function uses: it moves nothing", idle, None),
        ("constants", "CustomJoint with constants, one of them of a coordinate", fixed, None),
        ("constant_first", "CustomJoint with a constant rotation before the moving one", turned_first, None),
        ("order", "CustomJoint whose coordinates are listed in another order than its axes use them", order, None),
        ("two_rotations_of_one", "CustomJoint whose first and third rotations share a coordinate", one_for_two, None),
        ("few_axes", "CustomJoint with one TransformAxis: the others keep their slots", few, (V4,)),
    ]  # fmt: skip
    return [Zoo(f"custom_{name}", about, BODIES, chain(hip, pin), versions=versions or (V2, V3, V4))
            for name, about, hip, versions in cases]  # fmt: skip


KNOTS = (-0.9, -0.55, -0.2, 0.05, 0.3, 0.62, 0.8, 1.0)
VALUES = (0.2, -0.15, 0.1, 0.25, 0.05, -0.2, 0.1, 0.3)


def simm(count: int) -> Part:
    """A SimmSpline of `count` points from -0.6 to 0.7, left by the sampled poses on both sides."""
    x = [round(-0.6 + 1.3 * i / (count - 1), 3) for i in range(count)]
    y = [(0.3, -0.1, 0.25, 0.4, -0.2)[i % 5] for i in range(count)]
    return of("SimmSpline", x=x, y=y)


def gcv(half_order: int) -> Part:
    """A GCVSpline through eight points."""
    return of("GCVSpline", half_order=half_order, x=KNOTS, y=VALUES)


def function_models() -> list[Zoo]:
    """One function class each, on rotations and translations, evaluated inside and outside its points."""
    inner = function("Sine", amplitude=0.4, omega=2.5, phase=0.3, offset=0.1)
    once = wrapped("function", function("MultiplierFunction", function=wrapped("function", inner), scale=-0.5))
    quadruple = {
        "constant": [constant(0.2), constant(-0.4), constant(0.05), constant(0.02)],
        "linear": [linear(0.8, 0.1), linear(-0.5, 0.3), linear(0.1, 0), linear(-0.2, 0.01)],
        "simm_spline": [simm(2), simm(3), simm(4), simm(11)],
        "gcv_spline": [gcv(1), gcv(2), gcv(3), gcv(4)],
        "piecewise_linear": [of("PiecewiseLinearFunction", x=KNOTS, y=VALUES)] * 2
        + [of("PiecewiseLinearFunction", x=(-0.4, 0.3), y=(0.02, -0.03))] * 2,
        "piecewise_constant": [of("PiecewiseConstantFunction", x=KNOTS, y=VALUES)] * 2
        + [of("PiecewiseConstantFunction", x=(-0.4, 0.3), y=(0.02, -0.03))] * 2,
        "step": [of("StepFunction", transition_start_time=-0.8, transition_end_time=0.9, start_value=0.2,
                    end_value=-0.5)] * 2
        + [of("StepFunction", transition_start_time=-0.3, transition_end_time=0.4)] * 2,
        "sine": [of("Sine", amplitude=0.4, omega=2.0, phase=0.5, offset=0.1)] * 2 + [of("Sine"), of("Sine", omega=3.0)],
        "polynomial": [of("PolynomialFunction", coefficients=c)
                       for c in ((0.2, -0.3, 0.5, 0.1), (0.4, 0), (0.3,), (0.05, 0.02, -0.01))],
        "multiplier": [wrapped("function", function("MultiplierFunction", function=simm(6), scale=0.6)),
                       wrapped("function", function("MultiplierFunction", function=once, scale=0.7)),
                       wrapped("function", function("MultiplierFunction", function=linear(1, 0.2), scale=0.1)),
                       wrapped("function", function("MultiplierFunction", function=constant(0.3), scale=0.2))],
    }  # fmt: skip
    models = []
    for name, (r1, r2, t1, t2) in quadruple.items():
        hip = custom(
            "hip", "a b",
            ("rotation1", Z, "a", r1),
            ("rotation2", X, "b", r2),
            ("rotation3", Y, "b", linear(0.3, 0)),
            ("translation1", X, "a", t1),
            ("translation2", Y, "b", t2),
            ("translation3", Z, "a", linear(0.1, 0)))  # fmt: skip
        models.append(Zoo(f"function_{name}", f"CustomJoint driven by functions: {name.replace('_', ' ')}", BODIES,
                          chain(hip, joint("PinJoint", "knee"))))  # fmt: skip
    return models


def reversed_models() -> list[Zoo]:
    """Joints whose child side is nearer to ground."""
    models = []
    for kind in ("Pin", "Ball", "Free", "Planar", "Custom", "Ellipsoid", "Universal"):
        if kind == "Custom":
            pair = plain_custom("hip", reverse=True), plain_custom("knee", reverse=True)
        else:
            pair = joint(f"{kind}Joint", "hip", reverse=True), joint(f"{kind}Joint", "knee", reverse=True)
        models.append(Zoo(f"reversed_{kind.lower()}", f"{kind}Joint whose child side is nearer to ground", BODIES,
                          chain(*pair)))  # fmt: skip
    return models
