"""Constraints of every class, path points of every kind, wrap objects, and forces along paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zoo_joints import BODIES, LOWER, MIDDLE, UPPER, chain, joint
from zoo_structure import PINS
from zoo_xml import V3, Element, Part, Zoo, el, function, link, path_of, wrapped


# ---- constraints ----------------------------------------------------------------------------------------------------
def bodies_of(version: int, tags: tuple[str, str], first: str, second: str) -> list[Element]:
    """References to two bodies; the tags became the names of the sockets."""
    return [link(version, tag, tag, body) for tag, body in zip(tags, (first, second))]


def enforced(version: int, yes: bool = True) -> Element:
    """The switch of a constraint."""
    return el("isDisabled", not yes) if version < 30511 else el("isEnforced", yes)


def coupler(name: str, independent: str, dependent: str, inner: Part, scale: float = 1.0, on: bool = True) -> Part:
    """A CoordinateCouplerConstraint."""
    return lambda version: el(
        "CoordinateCouplerConstraint", enforced(version, on),
        el("coupled_coordinates_function", inner(version)),
        el("independent_coordinate_names", independent), el("dependent_coordinate_name", dependent),
        el("scale_factor", scale), name=name)  # fmt: skip


def weld(version: int) -> Element:
    """A WeldConstraint: offset frames of its own in 4.x, locations and orientations before."""
    places = {"upper": ((0.05, -0.3, 0.02), (0.1, 0.2, 0.3)), "lower": ((0.01, 0.02, 0.03), (0.3, 0.1, -0.2))}
    element = el("WeldConstraint", enforced(version), name="weld")
    frames = el("frames")
    for i, (body, (location, orientation)) in enumerate(places.items(), 1):
        if version < 30505:
            tags = (("body", body), ("location_body", location), ("orientation_body", orientation))
            element.extend(el(f"{tag}_{i}", value) for tag, value in tags)
        else:
            element.append(el(f"socket_frame{i}", f"{body}_offset"))
            frames.append(el("PhysicalOffsetFrame", el("socket_parent", path_of(body)), el("translation", location),
                             el("orientation", orientation), name=f"{body}_offset"))  # fmt: skip
    if len(frames):
        element.append(frames)
    return element


def point(version: int) -> Element:
    """A PointConstraint."""
    return el("PointConstraint", enforced(version),
              *bodies_of(version, ("body_1", "body_2"), "upper", "lower"),
              el("location_body_1", (0.05, -0.3, 0.02)), el("location_body_2", (0.01, 0.02, 0.03)),
              name="point")  # fmt: skip


def distance(version: int) -> Element:
    """A ConstantDistanceConstraint."""
    return el("ConstantDistanceConstraint", enforced(version),
              *bodies_of(version, ("body_1", "body_2"), "ground", "lower"),
              el("location_body_1", (0.4, 0.5, 0.1)), el("location_body_2", (0.01, 0.02, 0.03)),
              el("constant_distance", 0.45), name="distance")  # fmt: skip


def point_on_line(version: int) -> Element:
    """A PointOnLineConstraint."""
    return el("PointOnLineConstraint", enforced(version),
              *bodies_of(version, ("line_body", "follower_body"), "ground", "middle"),
              el("line_direction_vec", (0.2, 1, 0.3)), el("point_on_line", (0.1, 0.5, 0)),
              el("point_on_follower", (0.02, -0.05, 0.01)), name="line")  # fmt: skip


def constraint_models() -> list[Zoo]:
    """One model per class of constraint, on a chain that can meet it."""
    loose = chain(joint("FreeJoint", "hip"), joint("BallJoint", "knee"), ankle="FreeJoint")
    spline = function("SimmSpline", x=(-2, -0.5, 0.3, 1, 2), y=(0.4, 0.1, -0.2, 0.3, 0.5))
    couplers = [
        coupler("follow", "knee_rz", "ankle_rz", spline),
        coupler("mirror", "hip_rz", "knee_rz", function("LinearFunction", coefficients=(0.5, 0.1)), -0.8),
        coupler("idle", "hip_rz", "ankle_rz", function("LinearFunction", coefficients=(1, 0)), on=False),
    ]
    several = [coupler("sum", "hip_rz knee_rz", "ankle_rz", function("LinearFunction", coefficients=(0.3, -0.2, 0.1)))]
    rows: list[tuple[str, str, Any, list[Part]]] = [
        ("coupler", "Coordinates that follow others by a spline and a line; one coupler is off", PINS, couplers),
        ("coupler_of_two", "A coordinate that follows two others", PINS, several),
        ("weld", "Two bodies welded by a constraint, with offsets", loose, [weld]),
        ("point", "A point of one body kept at a point of another", loose, [point]),
        ("distance", "Two points kept at a distance", loose, [distance]),
        ("point_on_line", "A point kept on a line", loose, [point_on_line]),
    ]
    return [Zoo(f"constraint_{name}", about, BODIES, joints, constraints=parts) for name, about, joints, parts in rows]


# ---- path points ----------------------------------------------------------------------------------------------------
def at(name: str, body: str, location: Any) -> Part:
    """A fixed PathPoint."""
    return lambda version: el("PathPoint", link(version, "body", "parent_frame", body), el("location", location),
                              name=name)  # fmt: skip


def coordinate_link(version: int, tag: str, coordinate: str) -> Element:
    """A reference to a coordinate whose name starts with that of its joint."""
    joint_name = coordinate.split("_")[0]
    return el(tag, coordinate) if version < 30505 else el(f"socket_{tag}", f"/jointset/{joint_name}/{coordinate}")


def conditional(name: str, body: str, location: Any, coordinate: str, limits: Any) -> Part:
    """A ConditionalPathPoint."""
    return lambda version: el(
        "ConditionalPathPoint", link(version, "body", "parent_frame", body), el("location", location),
        coordinate_link(version, "coordinate", coordinate), el("range", limits), name=name)  # fmt: skip


def moving(name: str, body: str, coordinate: str, *functions: Part) -> Part:
    """A MovingPathPoint; its functions were called attachments before 3.0."""

    def write(version: int) -> Element:
        element = el("MovingPathPoint", link(version, "body", "parent_frame", body), name=name)
        for axis, inner in zip("xyz", functions):
            element.append(el(f"{axis}_location" if version >= V3 else f"{axis.upper()}Attachment", inner(version)))
            element.append(coordinate_link(version, f"{axis}_coordinate", coordinate))
        return element

    return write


# ---- forces ---------------------------------------------------------------------------------------------------------
def force(kind: str, name: str, points: list[Part], wraps: str = "", methods: str = "", **properties: Any) -> Part:
    """A force along a path that may wrap over objects (blank-separated names)."""

    def write(version: int) -> Element:
        members = [el("PathWrap", el("wrap_object", w), el("method", m), el("range", (-1, -1)), name=f"{name}_{w}")
                   for w, m in zip(wraps.split(), (methods or "hybrid " * 9).split())]  # fmt: skip
        path = el("GeometryPath", el("PathPointSet", el("objects", *[p(version) for p in points])), name="path")
        if members:
            path.append(el("PathWrapSet", el("objects", *members)))
        element = el(kind, path if version < 40500 else el("path", path), name=name)
        for key, value in properties.items():
            element.append(value(version) if callable(value) else el(key, value))
        return element

    return write


MUSCLE = {"max_isometric_force": 800.0, "optimal_fiber_length": 0.11, "tendon_slack_length": 0.2,
          "pennation_angle_at_optimal": 0.15, "max_contraction_velocity": 9.0}  # fmt: skip
ORIGIN, INSERTION = at("origin", "upper", (0.05, -0.02, 0.03)), at("insertion", "lower", (0.04, 0.02, -0.03))


def wrap(kind: str, name: str, translation: Any, rotation: Any, quadrant: str = "all", **size: Any) -> Part:
    """A wrap object."""
    return lambda version: el(
        kind, el("active", True), el("quadrant", quadrant), el("translation", translation),
        el("xyz_body_rotation", rotation), *[el(k, v) for k, v in size.items()], name=name)  # fmt: skip


def holding(*wraps: Part) -> list[Part]:
    """Contents of a body: its wrap objects."""
    return [lambda version: el("WrapObjectSet", el("objects", *[w(version) for w in wraps]))]


def path_models() -> list[Zoo]:
    """Muscles and other forces for the geometry of paths."""
    along = function("SimmSpline", x=(-1.2, -0.3, 0.5, 1.2), y=(0.05, 0.03, 0.06, 0.02))
    across = function("LinearFunction", coefficients=(0.02, -0.04))
    still = function("Constant", value=0.02)
    via = [
        ORIGIN,
        at("via", "middle", (0.06, -0.03, 0.01)),
        conditional("on_demand", "middle", (0.07, -0.08, 0.02), "knee_rz", (-0.2, 1.5)),
        moving("sliding", "middle", "ankle_rz", along, across, still),
        INSERTION,
    ]
    hold = function("SimmSpline", x=(0.9, 1.0, 1.05, 1.1), y=(0.0, 0.0, 0.3, 1.0))
    forces = [
        force("Thelen2003Muscle", "thelen", via, **MUSCLE),
        force("Millard2012EquilibriumMuscle", "millard", [ORIGIN, INSERTION], **MUSCLE),
        force("Ligament", "ligament", [ORIGIN, at("via", "middle", (0.06, -0.03, 0.01)), INSERTION],
              resting_length=0.3, pcsa_force=50.0, force_length_curve=wrapped("force_length_curve", hold)),
        force("PathSpring", "spring", [at("anchor", "ground", (0.2, 0.6, 0.1)), INSERTION],
              resting_length=0.4, stiffness=300.0, dissipation=0.05),
        force("PathActuator", "actuator", [at("anchor", "ground", (0.2, 0.6, 0.1)), ORIGIN], optimal_force=40.0),
    ]  # fmt: skip
    cylinder = wrap("WrapCylinder", "cylinder", (0.02, -0.19, 0.01), (0.1, 0.2, -0.1), "+x", radius=0.04, length=0.5)
    sphere = wrap("WrapSphere", "sphere", (0, 0.06, -0.02), (0.3, 0, 0.2), radius=0.045)
    ellipsoid = wrap("WrapEllipsoid", "ellipsoid", (0.02, -0.1, 0), (0.1, -0.2, 0.4), dimensions=(0.03, 0.06, 0.05))
    torus = wrap("WrapTorus", "torus", (0.05, -0.05, 0), (1.4, 0.1, 0), inner_radius=0.01, outer_radius=0.04)
    bodies = (replace(UPPER, inside=holding(cylinder)), replace(MIDDLE, inside=holding(sphere, ellipsoid)),
              replace(LOWER, inside=holding(torus)))  # fmt: skip
    knee = [ORIGIN, at("shank", "middle", (0.06, -0.05, 0.02))]
    ankle = [at("thigh", "upper", (0.07, -0.12, 0.02)), INSERTION]
    wrapping = [
        force("Thelen2003Muscle", "over_cylinder", knee, "cylinder", **MUSCLE),
        force("Thelen2003Muscle", "over_sphere", knee, "sphere", **MUSCLE),
        force("Thelen2003Muscle", "over_ellipsoid", ankle, "ellipsoid", "hybrid", **MUSCLE),
        force("Thelen2003Muscle", "over_ellipsoid_midpoint", ankle, "ellipsoid", "midpoint", **MUSCLE),
        force("Thelen2003Muscle", "over_ellipsoid_axial", ankle, "ellipsoid", "axial", **MUSCLE),
        force("Thelen2003Muscle", "through_torus", ankle, "torus", **MUSCLE),
        force("Thelen2003Muscle", "over_two", [ORIGIN, INSERTION], "cylinder sphere", **MUSCLE),
        force("PathSpring", "over_ground", [at("anchor", "ground", (0.3, 1.0, 0)), INSERTION], "pulley",
              resting_length=0.4, stiffness=300.0, dissipation=0.05),
    ]  # fmt: skip
    pulley = wrap("WrapCylinder", "pulley", (0.15, 0.7, 0), (0, 0, 0), radius=0.05, length=1.0)
    return [
        Zoo("path_points", "Fixed, conditional and moving path points; muscles, ligament, spring, actuator", BODIES,
            PINS, forces=forces),
        Zoo("path_wraps", "A wrap object of every class, on bodies and on ground", bodies, PINS, forces=wrapping,
            ground=holding(pulley)),
    ]  # fmt: skip
