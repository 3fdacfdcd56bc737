"""XML to joints and coordinates."""

from __future__ import annotations

import math
from dataclasses import replace

from osim_inertia.model import joints as j
from osim_inertia.model.functions import Constant, LinearFunction
from osim_inertia.osim.frames import VISUAL_TAGS, Scope
from osim_inertia.osim.functions import READERS, function_of
from osim_inertia.osim.xml import Node, elements, first

SLOT_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)) * 2
COLLINEAR = 1e-5  # |a × b| below this: OpenSim refuses the pair of axes
CLAMP_SLACK = 1.5e-8
MANY_TURNS = 8 * math.pi  # a default angle beyond this was meant in degrees


def read_joint(scope: Scope, node: Node) -> j.Joint:
    """A joint of any supported class."""
    if node.kind != "CustomJoint" and node.kind not in j.FIXED_LAYOUT:
        known = ", ".join(["CustomJoint", *j.FIXED_LAYOUT])
        raise node.error("this class of joint is not supported.", expected=f"one of {known}")
    parent, child = scope.frame(node, "parent_frame"), scope.frame(node, "child_frame")
    listed = [_coordinate(item) for item in node.items("coordinates", node.path)]
    common = {"kind": node.kind, "name": node.name, "parent_frame": parent, "child_frame": child}
    if node.kind == "CustomJoint":
        joint: j.Joint = _custom_joint(node, listed, common)
    else:
        coordinates = _fixed_coordinates(node, listed)
        if node.kind == "EllipsoidJoint":
            radii = node.vector("radii_x_y_z", 3)
            joint = j.EllipsoidJoint(**common, coordinates=coordinates, radii=radii)
        elif node.kind == "ScapulothoracicJoint":
            joint = j.ScapulothoracicJoint(
                **common,
                coordinates=coordinates,
                thoracic_ellipsoid_radii=node.vector("thoracic_ellipsoid_radii_x_y_z", 3),
                winging_origin=node.vector("scapula_winging_axis_origin", 2, (0.0, 0.0)),
                winging_direction=node.number("scapula_winging_axis_direction", 0.0),
            )
        else:
            joint = j.Joint(**common, coordinates=coordinates)
    node.check_spelling((*VISUAL_TAGS, "CoordinateSet", "TransformAxisSet"))
    _check_defaults(node, joint)
    return joint


def _coordinate(node: Node) -> j.Coordinate:
    if node.kind != "Coordinate":
        raise node.error("this is not a coordinate.", expected="Coordinate")
    low, high = node.vector("range", 2, (-10.0, 10.0), infinite=True)
    if low > high:
        raise node.error("<range> is upside down.", found=f"{low} {high}", expected="minimum, then maximum")
    function = function_of(node, "prescribed_function", optional=True)
    coordinate = j.Coordinate(
        name=node.name,
        default_value=node.number("default_value", 0.0, may_be_empty=True),
        default_speed_value=node.number("default_speed_value", 0.0),
        range=(low, high),
        clamped=node.flag("clamped"),
        locked=node.flag("locked"),
        prescribed=node.flag("prescribed") and function is not None,
        prescribed_function=function,
        is_free_to_satisfy_constraints=node.flag("is_free_to_satisfy_constraints"),
    )
    node.check_spelling(("motion_type", "restraint_function", "min_restraint_function", "max_restraint_function",
                         "restraint_active", "initial_value", "tolerance", "K", "stiffness"))
    return coordinate


def _fixed_coordinates(node: Node, listed: list[j.Coordinate]) -> tuple[j.Coordinate, ...]:
    layout = j.FIXED_LAYOUT[node.kind]
    if len(listed) > len(layout):
        raise node.error(f"has {len(listed)} coordinates.", expected=f"{len(layout)} for a {node.kind}")
    names = [c.name for c in listed] + [""] * (len(layout) - len(listed))
    filled = listed + [j.Coordinate(name="")] * (len(layout) - len(listed))
    return tuple(
        replace(c, name=name or f"{node.name}_coord_{i}", motion_type=motion)
        for i, (c, name, motion) in enumerate(zip(filled, names, layout))
    )


def _custom_joint(node: Node, listed: list[j.Coordinate], common: dict[str, str]) -> j.CustomJoint:
    transform = first(node.element, "SpatialTransform")
    node.read.add("SpatialTransform")
    _refuse_strange_axes(node, transform)
    axes = tuple(_axis(node, transform, i) for i in range(6))
    for triple in (axes[:3], axes[3:]):
        for a, b in ((0, 1), (0, 2), (1, 2)):
            if _sine_of_angle(triple[a].axis, triple[b].axis) < COLLINEAR:
                raise node.error("two of its axes point the same way.", found=f"{triple[a].axis} and {triple[b].axis}",
                                 expected="three rotation and three translation axes that are not parallel")
    by_name = {c.name: c for c in listed}
    if len(by_name) < len(listed):
        raise node.error("two of its coordinates share a name.", found=", ".join(c.name for c in listed))
    used = list(dict.fromkeys(name for axis in axes for name in axis.coordinates))
    unused = [c.name for c in listed if c.name not in used]
    unlisted = [name for name in used if name not in by_name]
    if unused and unlisted and not node.document.like_opensim:
        raise node.error("its axes and its list of coordinates do not fit.", found=f"'{unlisted[0]}' in an axis",
                         expected=f"'{unused[0]}', which no axis uses",
                         to_do="name the coordinate alike in both places")
    if unused:
        node.document.note(f"line {node.line}: {node.label}: no axis uses the coordinate(s) {', '.join(unused)}, "
                           "which therefore move nothing.")
    coordinates = tuple(
        replace(by_name.get(name, j.Coordinate(name=name)), motion_type=_motion_type(name, axes))
        for name in used + unused
    )
    return j.CustomJoint(**common, coordinates=coordinates, axes=axes)


def _refuse_strange_axes(joint: Node, transform: object) -> None:
    """OpenSim reads the six axes it knows by name and nothing else."""
    for element in [] if transform is None else elements(transform):
        name = element.get("name") if element.tag == "TransformAxis" else element.tag
        if name not in (*j.AXIS_NAMES, "groups") and not joint.document.like_opensim:
            raise joint.error("its SpatialTransform has a part that is not one of the six axes.",
                              line=element.sourceline or 0, found=f"<{element.tag}> '{element.get('name', '')}'",
                              expected="TransformAxis named " + ", ".join(j.AXIS_NAMES))


def _axis(joint: Node, transform: object, index: int) -> j.TransformAxis:
    name = j.AXIS_NAMES[index]
    children = [] if transform is None else list(elements(transform))
    found = [e for e in children if e.tag == "TransformAxis" and e.get("name") == name]
    found += [inner for e in children if e.tag == name for inner in elements(e)]
    if not found:
        return j.TransformAxis(axis=SLOT_AXES[index])
    node = joint.node(found[0])
    axis = node.vector("axis", 3, (1.0, 0.0, 0.0))
    if axis == (0.0, 0.0, 0.0):
        raise joint.error(f"axis {name} has no direction.", line=node.line, found="0 0 0")
    coordinates = node.words("coordinates")
    function = function_of(node, "function")
    if function is None:
        function = _unwritten_function(joint, node, coordinates)
    arguments = argument_count(function)
    if arguments not in (None, len(coordinates)):
        raise joint.error(f"axis {name} gives {len(coordinates)} coordinates to a function of {arguments}.",
                          line=node.line, found=" ".join(coordinates) or "no coordinates")
    node.check_spelling(tuple(READERS))
    return j.TransformAxis(axis=axis, coordinates=coordinates, function=function)


def _unwritten_function(joint: Node, node: Node, coordinates: tuple[str, ...]) -> Constant | LinearFunction:
    """An absent <function> is the constant 0; one that is there but empty follows the coordinate one to one."""
    if first(node.element, "function") is None or not coordinates:
        return Constant()
    if len(coordinates) > 1:
        raise joint.error(f"axis {node.name} has several coordinates and no function.", line=node.line)
    return LinearFunction()


def argument_count(function: object) -> int | None:
    """How many arguments a function takes; None for any number."""
    while hasattr(function, "function"):
        function = function.function
    if isinstance(function, Constant):
        return None
    if isinstance(function, LinearFunction):
        return len(function.coefficients) - 1
    return int(getattr(function, "dimension", 1))


def _motion_type(name: str, axes: tuple[j.TransformAxis, ...]) -> str:
    """Degrees or metres: the last axis that takes the coordinate with slope ±1 decides (OPENSIM_SEMANTICS §2.4)."""
    motion = j.COUPLED
    for index, axis in enumerate(axes):
        linear = isinstance(axis.function, LinearFunction) and name in axis.coordinates
        if linear and abs(axis.function.coefficients[0]) == 1.0:  # type: ignore[union-attr]
            motion = j.ROTATIONAL if index < 3 else j.TRANSLATIONAL
    return motion


def _check_defaults(node: Node, joint: j.Joint) -> None:
    for c in joint.coordinates:
        low, high = c.range
        if c.clamped and not low - CLAMP_SLACK <= c.default_value <= high + CLAMP_SLACK:
            raise node.error(f"coordinate '{c.name}' is clamped to {low} … {high} but starts at {c.default_value}.",
                             to_do="correct <default_value> or <range>")
        if c.motion_type == j.ROTATIONAL and abs(c.default_value) > MANY_TURNS and not node.document.like_opensim:
            raise node.error(f"coordinate '{c.name}' starts at {c.default_value} rad, more than four turns.",
                             expected="radians", to_do="convert degrees to radians")


def _sine_of_angle(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return math.hypot(*cross) / (math.hypot(*a) * math.hypot(*b))
