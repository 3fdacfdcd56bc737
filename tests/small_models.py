"""Small models as text: a link on a pin, and one cable from ground to the link."""

from __future__ import annotations

from collections.abc import Sequence

Vec3 = tuple[float, float, float]
RANGE = (-1.5, 1.5)


def words(values: Sequence[float]) -> str:
    return " ".join(f"{value:.12g}" for value in values)


def point(name: str, frame: str, location: Vec3, *, when: tuple[float, float] | None = None) -> str:
    """A path point; with `when` one that counts only while the angle is in that range."""
    kind = "PathPoint" if when is None else "ConditionalPathPoint"
    condition = "" if when is None else (
        f"<socket_coordinate>/jointset/hinge/angle</socket_coordinate><range>{words(when)}</range>")
    return (f'<{kind} name="{name}"><socket_parent_frame>{frame}</socket_parent_frame>'
            f"<location>{words(location)}</location>{condition}</{kind}>\n")


def wrap_cylinder(name: str, *, radius: float = 0.05, at: Vec3 = (0.0, 0.0, 0.0), quadrant: str = "all") -> str:
    return (f'<WrapCylinder name="{name}"><xyz_body_rotation>0 0 0</xyz_body_rotation>'
            f"<translation>{words(at)}</translation><quadrant>{quadrant}</quadrant>"
            f"<radius>{radius:.12g}</radius><length>1</length></WrapCylinder>\n")


def cable(name: str, points: str, wraps: Sequence[tuple[str, str]] = ()) -> str:
    """A muscle with a path; wraps are (object, range)."""
    over = "".join(f'<PathWrap name="w{i}"><wrap_object>{item}</wrap_object><range>{span}</range></PathWrap>\n'
                   for i, (item, span) in enumerate(wraps))
    return (f'<Millard2012EquilibriumMuscle name="{name}"><GeometryPath name="path">'
            f"<PathPointSet><objects>{points}</objects></PathPointSet>"
            f"<PathWrapSet><objects>{over}</objects></PathWrapSet></GeometryPath>"
            "<max_isometric_force>100</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length>"
            "<tendon_slack_length>0.2</tendon_slack_length></Millard2012EquilibriumMuscle>\n")


def arm(
    points: str, *, wraps: Sequence[tuple[str, str]] = (), objects: str = "", span: tuple[float, float] = RANGE
) -> str:
    """One link that turns about z at the origin of ground, by an angle in `span`; `objects` are wrap objects there."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="40000"><Model name="arm">
<Ground name="ground"><WrapObjectSet><objects>{objects}</objects></WrapObjectSet></Ground>
<BodySet><objects>
<Body name="link"><mass>1</mass><mass_center>0.1 0 0</mass_center><inertia>0.01 0.01 0.01 0 0 0</inertia></Body>
</objects></BodySet>
<JointSet><objects>
<PinJoint name="hinge"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/link</socket_child_frame>
<coordinates><Coordinate name="angle"><default_value>0.1</default_value><range>{words(span)}</range></Coordinate>
</coordinates></PinJoint>
</objects></JointSet>
<ForceSet><objects>
{cable("cable", points, wraps)}</objects></ForceSet>
</Model></OpenSimDocument>
"""
