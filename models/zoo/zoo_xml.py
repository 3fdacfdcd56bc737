"""Plain descriptions of small models, and their spelling in OpenSim documents of any version.

    catalogue (zoo_*.py) --> Zoo --here--> .osim text of version 20302, 30000, 305xx or 40000

Only what the zoo needs. Nothing is read back or checked: OpenSim and osim_inertia do that.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Element = ET.Element
Vec3 = tuple[float, float, float]
Part = Callable[[int], Element]  # an element whose spelling depends on the document version

V2, V3, V4 = 20302, 30000, 40000
SUFFIXES = {
    "WeldJoint": "",
    "PinJoint": "rz",
    "SliderJoint": "tx",
    "UniversalJoint": "rx ry",
    "GimbalJoint": "rx ry rz",
    "BallJoint": "rx ry rz",
    "EllipsoidJoint": "rx ry rz",
    "PlanarJoint": "rz tx ty",
    "FreeJoint": "rx ry rz tx ty tz",
    "ScapulothoracicJoint": "abduction elevation upward winging",
}


@dataclass(frozen=True)
class Body:
    """Mass properties as the file has them; None leaves the tag out."""

    name: str
    mass: float | None
    mass_center: Any
    inertia: Any
    inside: Sequence[Part] = ()


@dataclass(frozen=True)
class Joint:
    """A joint with an offset on both sides, or between frames given by path (`sockets`, 4.x only)."""

    kind: str
    name: str
    parent: str
    child: str
    at_parent: tuple[Any, Any] = ((0, 0, 0), (0, 0, 0))
    at_child: tuple[Any, Any] = ((0, 0, 0), (0, 0, 0))
    coordinates: dict[str, dict[str, Any]] | None = None  # name -> properties; None: by kind
    inside: Sequence[Part] = ()
    reverse: bool = False
    sockets: tuple[str, str] | None = None


@dataclass(frozen=True)
class Zoo:
    """One model of the zoo and the document versions it is written in."""

    name: str
    about: str
    bodies: Sequence[Body]
    joints: Sequence[Joint]
    constraints: Sequence[Part] = ()
    forces: Sequence[Part] = ()
    top: Sequence[Part] = ()  # further children of <Model>
    ground: Sequence[Part] = ()  # children of ground
    versions: Sequence[int] = (V2, V3, V4)
    markers: bool = True
    gravity: Any = (0.7, -9.6, 1.3)  # not along an axis: a wrong rotation cannot hide


def el(tag: str, *content: Any, name: str = "") -> Element:
    """An element; content is child elements, or text from strings, flags, numbers and vectors."""
    element = ET.Element(tag, {"name": name} if name else {})
    for item in content:
        if isinstance(item, ET.Element):
            element.append(item)
        else:
            element.text = text_of(item)
    return element


def text_of(value: Any) -> str:
    """Numbers with all their digits, vectors with blanks, flags in small letters."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return " ".join(text_of(v) for v in value)
    return value if isinstance(value, str) else repr(value)


def path_of(body: str) -> str:
    """Component path of a body or ground."""
    return "/ground" if body == "ground" else f"/bodyset/{body}"


def sockets(version: int, **targets: str) -> list[Element]:
    """Connections to other components, as they were spelt from 3.5 on."""
    if version < 30508:
        pairs = [el("Connector_PhysicalFrame_", el("connectee_name", t), name=n) for n, t in targets.items()]
        return [el("connectors", *pairs)]
    form = "connector_%s_connectee_name" if version < 30510 else "socket_%s"
    form += "_connectee_name" if 30510 <= version <= 30516 else ""
    return [el(form % n, t) for n, t in targets.items()]


def link(version: int, tag: str, socket: str, body: str) -> Element:
    """A reference to a body: its name under `tag` in old documents, a socket in new ones."""
    return el(tag, body) if version < 30505 else sockets(version, **{socket: path_of(body)})[0]


# ---- parts ----------------------------------------------------------------------------------------------------------
def part(tag: str, *content: Any, name: str = "") -> Part:
    """An element that is the same in every version."""
    return lambda version: el(tag, *content, name=name)


def function(kind: str, **properties: Any) -> Part:
    """A function; a spline is called NaturalCubicSpline in documents of OpenSim 2."""

    def write(version: int) -> Element:
        tag = "NaturalCubicSpline" if kind == "SimmSpline" and version < V3 else kind
        return el(tag, *[value(version) if callable(value) else el(key, value) for key, value in properties.items()])

    return write


def wrapped(prop: str, inner: Part) -> Part:
    """A one-object property as <prop><Class/></prop>."""
    return lambda version: el(prop, inner(version))


def named(prop: str, inner: Part) -> Part:
    """A one-object property as <Class name="prop"/>."""

    def write(version: int) -> Element:
        element = inner(version)
        element.set("name", prop)
        return element

    return write


def transform(*axes: tuple[str, Any, str, Part | None]) -> Part:
    """A SpatialTransform from (slot, axis, coordinates, function property)."""

    def write(version: int) -> Element:
        children = []
        for slot, axis, coordinates, prop in axes:
            children.append(el("TransformAxis", el("coordinates", coordinates), el("axis", axis), name=slot))
            if prop is not None:
                children[-1].append(prop(version))
        return el("SpatialTransform", *children)

    return write


# ---- documents ------------------------------------------------------------------------------------------------------
def document(zoo: Zoo, version: int) -> str:
    """The .osim text."""
    model = el("Model", *[p(version) for p in zoo.top], el("gravity", zoo.gravity), name=zoo.name)
    bodies = [_body(body, version) for body in zoo.bodies]
    joints = [_joint(joint, version) for joint in zoo.joints]
    inside_ground = [p(version) for p in zoo.ground]
    if version < 30501:
        for joint, element in zip(zoo.joints, joints):
            owner = next(b for b in bodies if b.get("name") == joint.child)
            owner.append(el("Joint", element))
        ground = el("Body", el("mass", 0), el("mass_center", (0, 0, 0)), *inside_ground, name="ground")
        model.append(el("BodySet", el("objects", ground, *bodies)))
    else:
        model.append(el("Ground", *inside_ground, name="ground"))
        model.append(el("BodySet", el("objects", *bodies)))
        model.append(el("JointSet", el("objects", *joints)))
    if zoo.constraints:
        model.append(el("ConstraintSet", el("objects", *[p(version) for p in zoo.constraints])))
    if zoo.forces:
        model.append(el("ForceSet", el("objects", *[p(version) for p in zoo.forces])))
    if zoo.markers:
        model.append(el("MarkerSet", el("objects", *[_marker(body.name, version) for body in zoo.bodies])))
    root = ET.Element("OpenSimDocument", {"Version": str(version)})
    root.append(ET.Comment(f" {zoo.about} "))
    root.append(model)
    ET.indent(root, "\t")
    return '<?xml version="1.0" encoding="UTF-8" ?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _body(body: Body, version: int) -> Element:
    given = {"mass": body.mass, "mass_center": body.mass_center}
    element = el("Body", *[el(tag, value) for tag, value in given.items() if value is not None], name=body.name)
    if body.inertia is not None and version < 30500:
        for tag, value in zip(("xx", "yy", "zz", "xy", "xz", "yz"), body.inertia):
            element.append(el(f"inertia_{tag}", value))
    elif body.inertia is not None:
        element.append(el("inertia", body.inertia))
    element.extend(p(version) for p in body.inside)
    return element


def _joint(joint: Joint, version: int) -> Element:
    element = el(joint.kind, name=joint.name)
    sides = {"parent": (joint.parent, joint.at_parent), "child": (joint.child, joint.at_child)}
    if version < 30501:
        element.append(el("parent_body", joint.parent))
    elif version < 30505:
        element.extend(sockets(version, parent_body=f"../{joint.parent}", child_body=f"../{joint.child}"))
    elif joint.sockets is not None:
        element.extend(sockets(version, parent_frame=joint.sockets[0], child_frame=joint.sockets[1]))
    else:
        first, second = (f"{sides[side][0]}_offset" for side in ("parent", "child"))
        if joint.reverse and version >= 30514:
            first, second = second, first
        element.extend(sockets(version, parent_frame=first, child_frame=second))
    if version < 30505:
        in_child = "" if version < 30500 else "_in_child"
        element.append(el("location_in_parent", joint.at_parent[0]))
        element.append(el("orientation_in_parent", joint.at_parent[1]))
        element.append(el(f"location{in_child}", joint.at_child[0]))
        element.append(el(f"orientation{in_child}", joint.at_child[1]))
    elif joint.sockets is None:
        offsets = [offset_frame(version, f"{b}_offset", path_of(b), *place) for b, place in sides.values()]
        element.append(el("frames", *offsets))
    if joint.reverse and version < 30514:
        element.append(el("reverse", True))
    coordinates = [_coordinate(name, extra, version) for name, extra in coordinates_of(joint).items()]
    if coordinates and version < 30507:
        element.append(el("CoordinateSet", el("objects", *coordinates)))
    elif coordinates:
        element.append(el("coordinates", *coordinates))
    element.extend(p(version) for p in joint.inside)
    return element


def coordinates_of(joint: Joint) -> dict[str, dict[str, Any]]:
    """Coordinates as given, or named after the joint and what they do."""
    if joint.coordinates is not None:
        return joint.coordinates
    return {f"{joint.name}_{suffix}": {} for suffix in SUFFIXES[joint.kind].split()}


def _coordinate(name: str, extra: dict[str, Any], version: int) -> Element:
    element = el("Coordinate", name=name)
    if version < 30514:
        element.append(el("motion_type", "translational" if "_t" in name else "rotational"))
    for key, value in extra.items():
        element.append(value(version) if callable(value) else el(key, value))
    return element


def offset_frame(version: int, name: str, parent: str, translation: Any, orientation: Any, *inside: Element) -> Element:
    """A PhysicalOffsetFrame."""
    return el("PhysicalOffsetFrame", *sockets(version, parent=parent), el("translation", translation),
              el("orientation", orientation), *inside, name=name)  # fmt: skip


def _marker(body: str, version: int) -> Element:
    name = "".join(body.split())
    return el("Marker", link(version, "body", "parent_frame", name), el("location", (0.03, -0.07, 0.02)),
              el("fixed", False), name=f"on_{name}")  # fmt: skip

