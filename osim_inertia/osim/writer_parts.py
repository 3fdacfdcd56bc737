"""Model elements to XML, by family: functions, joints, constraints, wrap objects, paths and the forces along them.

Sockets are written as absolute component paths and functions inside an element with the property's name, the spellings
that every 4.x document version shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from xml.sax.saxutils import unescape

from lxml import etree

from osim_inertia.model import constraints as c
from osim_inertia.model import functions as f
from osim_inertia.model import joints as j
from osim_inertia.model import paths as p
from osim_inertia.model.forces import Muscle, PathForce, Raw
from osim_inertia.model.frames import Marker

KEPT = "kept-verbatim"  # stands for a Raw until the tree has become text

Value = str | bool | int | float | tuple


def text_of(value: Value) -> str:
    """A property value as OpenSim reads it back, every digit kept."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(text_of(item) for item in value)
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return repr(float(value))


def add(parent: etree._Element, tag: str, value: Value | None = None, name: str = "") -> etree._Element:
    """A new last child."""
    child = etree.SubElement(parent, tag)
    if name:
        child.set("name", name)
    if value is not None:
        child.text = text_of(value)
    return child


def add_all(parent: etree._Element, values: Mapping[str, Value]) -> None:
    """One child per property."""
    for tag, value in values.items():
        add(parent, tag, value)


def add_raw(parent: etree._Element, raw: Raw) -> None:
    """A place for a component that is copied as it is; see `with_raw_text`."""
    add(parent, KEPT, raw.xml)


def with_raw_text(document: str) -> str:
    """The serialised document with every kept component in its place, character for character."""
    opening, closing = f"<{KEPT}>", f"</{KEPT}>"
    first, *rest = document.split(opening)
    pieces = [first]
    for part in rest:
        kept, after = part.split(closing, 1)
        pieces += [unescape(kept, {"&#13;": "\r"}), after]
    return "".join(pieces)


# ---- functions ------------------------------------------------------------------------------------------------------
FUNCTION_TAGS = {
    "transition_start": "transition_start_time",
    "transition_end": "transition_end_time",
}


def add_function(parent: etree._Element, prop: str, function: f.Function) -> None:
    """<prop><SimmSpline>…</SimmSpline></prop>."""
    function_element(add(parent, prop), function)


def function_element(parent: etree._Element, function: f.Function) -> None:
    """The function itself, a child of `parent`; fields and tags have the same names but for a few."""
    element = add(parent, type(function).__name__)
    for field in fields(function):
        value = getattr(function, field.name)
        if field.name == "function":
            add_function(element, "function", value)
        else:
            add(element, FUNCTION_TAGS.get(field.name, field.name), value)


# ---- joints ---------------------------------------------------------------------------------------------------------
def joint_element(parent: etree._Element, joint: j.Joint) -> etree._Element:
    """A joint without its frames, which the caller adds."""
    element = add(parent, joint.kind, name=joint.name)
    add_all(element, {"socket_parent_frame": joint.parent_frame, "socket_child_frame": joint.child_frame})
    if joint.coordinates:
        listed = add(element, "coordinates")
        for coordinate in joint.coordinates:
            _coordinate(listed, coordinate)
    if isinstance(joint, j.CustomJoint):
        transform = add(element, "SpatialTransform")
        for name, axis in zip(j.AXIS_NAMES, joint.axes):
            item = add(transform, "TransformAxis", name=name)
            add_all(item, {"coordinates": axis.coordinates, "axis": axis.axis})
            add_function(item, "function", axis.function)
    elif isinstance(joint, j.EllipsoidJoint):
        add(element, "radii_x_y_z", joint.radii)
    elif isinstance(joint, j.ScapulothoracicJoint):
        add_all(element, {
            "thoracic_ellipsoid_radii_x_y_z": joint.thoracic_ellipsoid_radii,
            "scapula_winging_axis_origin": joint.winging_origin,
            "scapula_winging_axis_direction": joint.winging_direction,
        })
    return element


def _coordinate(parent: etree._Element, coordinate: j.Coordinate) -> None:
    element = add(parent, "Coordinate", name=coordinate.name)
    add_all(element, {
        "default_value": coordinate.default_value,
        "default_speed_value": coordinate.default_speed_value,
        "range": coordinate.range,
        "clamped": coordinate.clamped,
        "locked": coordinate.locked,
        "prescribed": coordinate.prescribed,
        "is_free_to_satisfy_constraints": coordinate.is_free_to_satisfy_constraints,
    })
    if coordinate.prescribed_function is not None:
        add_function(element, "prescribed_function", coordinate.prescribed_function)


# ---- constraints and markers ----------------------------------------------------------------------------------------
CONSTRAINT_TAGS: dict[type, tuple[str, dict[str, str]]] = {
    c.WeldConstraint: ("WeldConstraint", {"frame_1": "socket_frame1", "frame_2": "socket_frame2"}),
    c.PointConstraint: ("PointConstraint", {
        "frame_1": "socket_body_1", "frame_2": "socket_body_2",
        "location_1": "location_body_1", "location_2": "location_body_2",
    }),
    c.ConstantDistanceConstraint: ("ConstantDistanceConstraint", {
        "frame_1": "socket_body_1", "frame_2": "socket_body_2", "distance": "constant_distance",
        "location_1": "location_body_1", "location_2": "location_body_2",
    }),
    c.PointOnLineConstraint: ("PointOnLineConstraint", {
        "line_frame": "socket_line_body", "line_direction": "line_direction_vec", "point_on_line": "point_on_line",
        "follower_frame": "socket_follower_body", "point_on_follower": "point_on_follower",
    }),
    c.CoordinateCoupler: ("CoordinateCouplerConstraint", {
        "independent": "independent_coordinate_names", "dependent": "dependent_coordinate_name",
        "scale_factor": "scale_factor",
    }),
}


def constraint_element(parent: etree._Element, constraint: c.Constraint) -> etree._Element:
    """A constraint without its frames, which the caller adds."""
    kind, tags = CONSTRAINT_TAGS[type(constraint)]
    element = add(parent, kind, name=constraint.name)
    add(element, "isEnforced", constraint.enforced)
    add_all(element, {tag: getattr(constraint, field) for field, tag in tags.items()})
    if isinstance(constraint, c.CoordinateCoupler):
        add_function(element, "coupled_coordinates_function", constraint.function)
    return element


def marker_element(parent: etree._Element, marker: Marker) -> None:
    """A marker."""
    element = add(parent, "Marker", name=marker.name)
    add_all(element, {"socket_parent_frame": marker.frame, "location": marker.location, "fixed": marker.fixed})


# ---- wrap objects ---------------------------------------------------------------------------------------------------
WRAP_TAGS = {"rotation": "xyz_body_rotation"}


def wrap_object_element(parent: etree._Element, wrap: p.AnyWrapObject) -> None:
    """A wrap object; its frame is the one it is written into."""
    element = add(parent, type(wrap).__name__, name=wrap.name)
    for field in fields(wrap):
        if field.name not in ("name", "frame"):
            add(element, WRAP_TAGS.get(field.name, field.name), getattr(wrap, field.name))


# ---- paths and forces along them ------------------------------------------------------------------------------------
def path_force_element(parent: etree._Element, force: PathForce, coordinate_path: Callable[[str], str]) -> None:
    """A muscle, ligament, path spring or path actuator with everything the file gave it."""
    element = add(parent, force.kind, name=force.name)
    add(element, "appliesForce", force.applies_force)
    if isinstance(force.geometry, p.FunctionBasedPath):
        _function_based_path(element, force.geometry, coordinate_path)
    else:
        _geometry_path(element, force.geometry, coordinate_path)
    if isinstance(force, Muscle):
        add_all(element, {
            "max_isometric_force": force.max_isometric_force,
            "optimal_fiber_length": force.optimal_fiber_length,
            "tendon_slack_length": force.tendon_slack_length,
            "pennation_angle_at_optimal": force.pennation_angle,
            "max_contraction_velocity": force.max_contraction_velocity,
        })
    for tag, value in force.properties:
        add(element, tag, value)
    for raw in force.extras:
        add_raw(element, raw)


def _geometry_path(parent: etree._Element, path: p.GeometryPath, coordinate_path: Callable[[str], str]) -> None:
    element = add(parent, "GeometryPath", name="path")
    points = add(add(element, "PathPointSet"), "objects")
    for point in path.points:
        item = add(points, type(point).__name__, name=point.name)
        add(item, "socket_parent_frame", point.frame)
        if isinstance(point, p.MovingPathPoint):
            for axis in "xyz":
                add(item, f"socket_{axis}_coordinate", coordinate_path(point.coordinate))
                add_function(item, f"{axis}_location", getattr(point, axis))
            continue
        add(item, "location", point.location)
        if isinstance(point, p.ConditionalPathPoint):
            add_all(item, {"socket_coordinate": coordinate_path(point.coordinate), "range": point.range})
    wraps = add(add(element, "PathWrapSet"), "objects")
    for wrap in path.wraps:
        item = add(wraps, "PathWrap", name=wrap.name)
        add_all(item, {"wrap_object": wrap.wrap_object, "method": wrap.method, "range": wrap.range})


def _function_based_path(
    parent: etree._Element, path: p.FunctionBasedPath, coordinate_path: Callable[[str], str]
) -> None:
    element = add(parent, "FunctionBasedPath", name="path")
    add(element, "coordinate_paths", tuple(coordinate_path(name) for name in path.coordinates))
    add_function(element, "length_function", path.length_function)
    _functions(element, "moment_arm_functions", path.moment_arm_functions)
    if path.speed_function is not None:
        add_function(element, "lengthening_speed_function", path.speed_function)


def _functions(parent: etree._Element, prop: str, functions: Iterable[f.Function]) -> None:
    listed = add(parent, prop)
    for function in functions:
        function_element(listed, function)
