"""XML to constraints."""

from __future__ import annotations

import difflib

from osim_inertia.model import constraints as c
from osim_inertia.model.frames import NO_SHIFT
from osim_inertia.osim.frames import VISUAL_TAGS, Scope
from osim_inertia.osim.functions import function_of
from osim_inertia.osim.joints import argument_count
from osim_inertia.osim.xml import Node


def read_constraint(scope: Scope, node: Node) -> c.Constraint | None:
    """A constraint, or None for a class that is only kept."""
    reader = READERS.get(node.kind)
    if reader is None:
        misspelt = difflib.get_close_matches(node.kind, [*READERS], n=1, cutoff=0.9)
        if misspelt:
            raise node.error("there is no constraint of this class.", expected=misspelt[0])
        scope.keep(node)
        return None
    constraint = reader(scope, node)
    node.check_spelling((*VISUAL_TAGS, "isDisabled"))
    return constraint


def _coupler(scope: Scope, node: Node) -> c.Constraint:
    tag = "independent_coordinate_names"
    independent = tuple(scope.known_coordinate(node, name, tag) for name in node.words(tag))
    function = function_of(node, "coupled_coordinates_function")
    if function is None:
        raise node.error("has no function.", expected="a function in <coupled_coordinates_function>")
    if not independent:
        raise node.error(f"<{tag}> is empty.", expected="at least one coordinate")
    arguments = argument_count(function)
    if arguments not in (None, len(independent)):
        raise node.error(f"gives {len(independent)} coordinates to a function of {arguments}.")
    dependent = scope.coordinate(node, "dependent_coordinate_name")
    if dependent in independent:
        raise node.error(f"couples '{dependent}' to itself.", expected="two different coordinates")
    return c.CoordinateCoupler(
        name=node.name,
        independent=independent,
        dependent=dependent,
        function=function,
        scale_factor=node.number("scale_factor", 1.0),
        enforced=node.flag("isEnforced", True),
    )


def _weld(scope: Scope, node: Node) -> c.Constraint:
    return c.WeldConstraint(name=node.name, frame_1=scope.frame(node, "frame1"), frame_2=scope.frame(node, "frame2"),
                            enforced=node.flag("isEnforced", True))


def _point(scope: Scope, node: Node) -> c.Constraint:
    return c.PointConstraint(
        name=node.name,
        frame_1=scope.frame(node, "body_1"),
        frame_2=scope.frame(node, "body_2"),
        location_1=node.vector("location_body_1", 3, NO_SHIFT),
        location_2=node.vector("location_body_2", 3, NO_SHIFT),
        enforced=node.flag("isEnforced", True),
    )


def _distance(scope: Scope, node: Node) -> c.Constraint:
    distance = node.number("constant_distance", 1.0)
    if distance <= 0.0:
        raise node.error(f"<constant_distance> is {distance} m.", expected="more than zero")
    return c.ConstantDistanceConstraint(
        name=node.name,
        frame_1=scope.frame(node, "body_1"),
        frame_2=scope.frame(node, "body_2"),
        distance=distance,
        location_1=node.vector("location_body_1", 3, NO_SHIFT),
        location_2=node.vector("location_body_2", 3, NO_SHIFT),
        enforced=node.flag("isEnforced", True),
    )


def _point_on_line(scope: Scope, node: Node) -> c.Constraint:
    direction = node.vector("line_direction_vec", 3, (1.0, 0.0, 0.0))
    if direction == NO_SHIFT:
        raise node.error("<line_direction_vec> has no direction.", found="0 0 0")
    return c.PointOnLineConstraint(
        name=node.name,
        line_frame=scope.frame(node, "line_body"),
        line_direction=direction,
        point_on_line=node.vector("point_on_line", 3, NO_SHIFT),
        follower_frame=scope.frame(node, "follower_body"),
        point_on_follower=node.vector("point_on_follower", 3, NO_SHIFT),
        enforced=node.flag("isEnforced", True),
    )


READERS = {
    "CoordinateCouplerConstraint": _coupler,
    "WeldConstraint": _weld,
    "PointConstraint": _point,
    "ConstantDistanceConstraint": _distance,
    "PointOnLineConstraint": _point_on_line,
}
