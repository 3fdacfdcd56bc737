"""Older documents to today's layout, in memory, one small function per change (OPENSIM_SEMANTICS.md §1.1).

After `upgrade` the tree looks like a 4.x document: joints in a JointSet, offset frames, sockets. Numbers that OpenSim
itself loses precision on while upgrading are rounded alike (§1.2), because agreement with OpenSim needs it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from lxml import etree

from osim_inertia.osim.upgrade_geometry import visible_objects_to_meshes
from osim_inertia.osim.xml import Document, elements, first

OLDEST_VERSION, NEWEST_VERSION = 10901, 40600

RENAMED_CLASSES = {
    "NaturalCubicSpline": "SimmSpline",
    "natCubicSpline": "SimmSpline",
    "MusclePoint": "PathPoint",
    "MuscleViaPoint": "ConditionalPathPoint",
    "MovingMusclePoint": "MovingPathPoint",
    "MuscleWrap": "PathWrap",
    "Force": "PointActuator",
    "Torque": "TorqueActuator",
    "GeneralizedForce": "CoordinateActuator",
    "Schutte1993Muscle": "Schutte1993Muscle_Deprecated",
    "Delp1990Muscle": "Delp1990Muscle_Deprecated",
}
INERTIA_TAGS = ("inertia_xx", "inertia_yy", "inertia_zz", "inertia_xy", "inertia_xz", "inertia_yz")
MISSING_INERTIA = ("1", "1", "1", "0", "0", "0")  # what OpenSim assumes for an absent entry


def upgrade(model: etree._Element, document: Document) -> None:
    """Bring the <Model> element to the layout of 4.x documents."""
    version = document.version
    _rename_classes(model)
    steps: list[tuple[int, Callable[[etree._Element], None]]] = [
        (20302, _muscle_points_to_paths),
        (30000, _attachments_to_locations),
        (30500, _six_inertia_numbers_to_one_vector),
        (30500, _strip_blanks_from_names),
        (30500, _constrained_bodies_to_sockets),
        (30501, _nested_joints_to_joint_set),
        (30502, visible_objects_to_meshes),
        (30517, _connectors_to_sockets),
        (30505, _joint_locations_to_offset_frames),
        (30505, _path_and_marker_bodies_to_sockets),
        (30505, _linked_bodies_to_offset_frames),
        (30506, _touching_bodies_to_sockets),
        (30507, _coordinate_set_to_list),
        (30511, _is_disabled_to_its_opposite),
        (30512, _frame_set_to_components),
        (30513, _usual_control_limits_to_defaults),
        (30514, _reverse_to_swapped_frames),
    ]
    for below, step in steps:
        if version < below:
            step(model)
    _loose_components_to_sets(model)
    if version < 30505 and not document.like_opensim:
        document.note(
            f"Document version {version}: joint locations, orientations and inertias are rounded to six digits, "
            "as OpenSim does when it reads so old a file."
        )


# ---- helpers --------------------------------------------------------------------------------------------------------
def _add(parent: etree._Element, tag: str, text: str | None = None, name: str = "") -> etree._Element:
    child = etree.SubElement(parent, tag)
    child.text = text
    child.sourceline = parent.sourceline
    if name:
        child.set("name", name)
    return child


def _take(parent: etree._Element, tag: str, default: str = "") -> str:
    """Text of a child, which is then removed."""
    child = first(parent, tag)
    if child is None:
        return default
    parent.remove(child)
    return (child.text or "").strip() or default


def _rename_child(parent: etree._Element, old: str, new: str) -> None:
    child = first(parent, old)
    if child is not None:
        child.tag = new


def _rounded(text: str) -> str:
    """Six significant digits, as OpenSim's text conversion leaves them; anything else passes through."""
    try:
        return " ".join(f"{float(word):.6g}" for word in text.replace(",", " ").split())
    except ValueError:
        return text


def _body_path(name: str) -> str:
    name = name.rsplit("/", 1)[-1]
    return "/ground" if name == "ground" else f"/bodyset/{name}"


def _of(model: etree._Element, *tags: str) -> list[etree._Element]:
    return list(model.iter(*tags))


# ---- the steps, oldest first ----------------------------------------------------------------------------------------
def _rename_classes(model: etree._Element) -> None:
    """Renamed classes are honoured in documents of every version."""
    for element in model.iter(*RENAMED_CLASSES):
        parent = element.getparent()
        if element.tag.endswith("Spline") or (parent is not None and parent.tag == "objects"):
            element.tag = RENAMED_CLASSES[element.tag]
    for element in _of(model, "ActuatorSet"):
        element.tag = "ForceSet"


def _loose_components_to_sets(model: etree._Element) -> None:
    """Bodies, joints and markers written straight into the model's components join their sets, ahead of the others."""
    components = first(model, "components")
    moved: dict[str, str] = {}
    for item in [] if components is None else list(elements(components)):
        holder = "BodySet" if item.tag == "Body" else "JointSet" if item.tag.endswith("Joint") else "MarkerSet"
        if holder == "MarkerSet" and item.tag != "Marker":
            continue
        old = f"/{item.get('name', '')}"
        for element in item.iter("*"):
            owner = old if element.getparent() is item else None
            if element.tag.startswith("socket_") and owner and (element.text or "").strip().startswith(".."):
                element.text = posixpath.normpath(posixpath.join(owner, (element.text or "").strip()))
        target = first(model, holder)
        target = _add(model, holder) if target is None else target
        objects = first(target, "objects")
        objects = _add(target, "objects") if objects is None else objects
        objects.insert(sum(1 for name in moved.values() if name.startswith(f"/{holder.lower()}/")), item)
        moved[old] = f"/{holder.lower()}{old}"
    for socket in [] if not moved else [e for e in model.iter("*") if e.tag.startswith("socket_")]:
        text = (socket.text or "").strip()
        root = "/" + text.lstrip("/").split("/", 1)[0]
        if text.startswith("/") and root in moved:
            socket.text = moved[root] + text[len(root) :]


def _muscle_points_to_paths(model: etree._Element) -> None:
    """Up to 20301: point and wrap sets directly in the muscle."""
    for element in _of(model, "MusclePointSet"):
        element.tag = "PathPointSet"
    for element in _of(model, "MuscleWrapSet"):
        element.tag = "PathWrapSet"
    for points in _of(model, "PathPointSet"):
        muscle = points.getparent()
        if muscle is not None and muscle.tag != "GeometryPath" and first(muscle, "GeometryPath") is None:
            path = _add(muscle, "GeometryPath")
            path.append(points)
            wraps = first(muscle, "PathWrapSet")
            if wraps is not None:
                path.append(wraps)
    for angle in _of(model, "pennation_angle"):
        angle.tag = "pennation_angle_at_optimal"
    for point in _of(model, "ConditionalPathPoint"):
        _rename_child(point, "coordinates", "coordinate")


def _attachments_to_locations(model: etree._Element) -> None:
    for point in _of(model, "MovingPathPoint"):
        for axis in "XYZ":
            _rename_child(point, f"{axis}Attachment", f"{axis.lower()}_location")


def _six_inertia_numbers_to_one_vector(model: etree._Element) -> None:
    for body in _of(model, "Body"):
        if first(body, "inertia") is None:
            numbers = [_take(body, tag, default) for tag, default in zip(INERTIA_TAGS, MISSING_INERTIA)]
            _add(body, "inertia", _rounded(" ".join(numbers)))


def _strip_blanks_from_names(model: etree._Element) -> None:
    for element in model.iter("*"):
        name = element.get("name")
        if name and re.search(r"\s", name):
            element.set("name", re.sub(r"\s", "", name))


def _constrained_bodies_to_sockets(model: etree._Element) -> None:
    pairs = {
        "PointConstraint": ("body_1", "body_2"),
        "ConstantDistanceConstraint": ("body_1", "body_2"),
        "PointOnLineConstraint": ("line_body", "follower_body"),
        "RollingOnSurfaceConstraint": ("rolling_body", "surface_body"),
        "PointToPointSpring": ("body1", "body2"),
    }
    for kind, tags in pairs.items():
        for constraint in _of(model, kind):
            for tag in tags:
                name = _take(constraint, tag)
                if name:
                    _add(constraint, f"socket_{tag}", _body_path(name))


def _nested_joints_to_joint_set(model: etree._Element) -> None:
    """Up to 3.x a joint lives in its child body, and ground is a body."""
    body_set = first(model, "BodySet")
    objects = None if body_set is None else first(body_set, "objects")
    if objects is None:
        return
    joint_set = first(model, "JointSet")
    if joint_set is None:
        joint_set = _add(model, "JointSet")
    joints = first(joint_set, "objects")
    if joints is None:
        joints = _add(joint_set, "objects")
    for body in list(elements(objects)):
        name = body.get("name", "")
        if name == "ground":
            objects.remove(body)
            body.tag = "Ground"
            model.append(body)
            continue
        holder = first(body, "Joint")
        if holder is None:
            continue
        for joint in list(elements(holder))[:1]:
            _rename_child(joint, "location", "location_in_child")
            _rename_child(joint, "orientation", "orientation_in_child")
            parent = _take(joint, "parent_body", "ground")
            _add(joint, "socket_parent_frame", parent)
            _add(joint, "socket_child_frame", name)
            joints.append(joint)
        body.remove(holder)


def _connectors_to_sockets(model: etree._Element) -> None:
    """The three spellings that sockets had between 3.0 and 4.0."""
    for block in _of(model, "connectors"):
        owner = block.getparent()
        if owner is None:
            continue
        for connector in elements(block):
            target = first(connector, "connectee_name")
            tag = connector.get("name", "")
            if target is not None and tag:
                tag = {"parent_body": "parent_frame", "child_body": "child_frame"}.get(tag, tag)
                _add(owner, f"socket_{tag}", (target.text or "").strip())
        owner.remove(block)
    for element in model.iter("*"):
        match = re.fullmatch(r"(?:connector|socket)_(\w+?)_connectee_name", element.tag)
        if match:
            element.tag = f"socket_{match.group(1)}"


def _joint_locations_to_offset_frames(model: etree._Element) -> None:
    joint_set = first(model, "JointSet")
    objects = None if joint_set is None else first(joint_set, "objects")
    for joint in [] if objects is None else elements(objects):
        for side in ("parent", "child"):
            socket = first(joint, f"socket_{side}_frame")
            if socket is None:
                continue
            location = _take(joint, f"location_in_{side}", "0 0 0")
            orientation = _take(joint, f"orientation_in_{side}", "0 0 0")
            target = (socket.text or "").strip().rsplit("/", 1)[-1]
            socket.text = _offset_frame(joint, target, location, orientation)


def _offset_frame(owner: etree._Element, target: str, location: str, orientation: str) -> str:
    """Add a PhysicalOffsetFrame to the owner's frames; its name is returned."""
    frames = first(owner, "frames")
    if frames is None:
        frames = _add(owner, "frames")
    frame = _add(frames, "PhysicalOffsetFrame", name=f"{target}_offset")
    _add(frame, "socket_parent", _body_path(target))
    _add(frame, "translation", _rounded(location))
    _add(frame, "orientation", _rounded(orientation))
    return f"{target}_offset"


def _path_and_marker_bodies_to_sockets(model: etree._Element) -> None:
    for point in _of(model, "PathPoint", "ConditionalPathPoint", "MovingPathPoint", "Marker"):
        body = _take(point, "body")
        if body:
            _add(point, "socket_parent_frame", _body_path(body))
        for tag in ("coordinate", "x_coordinate", "y_coordinate", "z_coordinate"):
            name = _take(point, tag)
            if name:
                _add(point, f"socket_{tag}", name)


def _linked_bodies_to_offset_frames(model: etree._Element) -> None:
    """Welds and bushings between two bodies; without an offset they link the bodies themselves."""
    for linker in [e for e in model.iter("*") if first(e, "body_1") is not None and first(e, "body_2") is not None]:
        for side in ("1", "2"):
            target = _take(linker, f"body_{side}")
            location = _take(linker, f"location_body_{side}", "0 0 0")
            orientation = _take(linker, f"orientation_body_{side}", "0 0 0")
            words = f"{location} {orientation}".split()
            at_origin = all(re.fullmatch(r"[-+]?0*\.?0*(e[-+]?\d+)?", word) for word in words)
            socket = _body_path(target) if at_origin else _offset_frame(linker, target, location, orientation)
            _add(linker, f"socket_frame{side}", socket)


def _touching_bodies_to_sockets(model: etree._Element) -> None:
    """Contact shapes and prescribed forces: not computed with, but written again in today's layout."""
    for item in _of(model, "ContactSphere", "ContactHalfSpace", "ContactMesh", "PrescribedForce"):
        name = _take(item, "body" if item.tag == "PrescribedForce" else "body_name")
        if name:
            _add(item, "socket_frame", _body_path(name))


def _coordinate_set_to_list(model: etree._Element) -> None:
    for holder in _of(model, "CoordinateSet"):
        objects = first(holder, "objects")
        joint = holder.getparent()
        if joint is None:
            continue
        if objects is not None and len(objects):
            objects.tag = "coordinates"
            joint.append(objects)
        joint.remove(holder)


def _is_disabled_to_its_opposite(model: etree._Element) -> None:
    opposite = {"ForceSet": "appliesForce", "ConstraintSet": "isEnforced"}
    for disabled in _of(model, "isDisabled"):
        owner = disabled.getparent()
        holder = None if owner is None or owner.getparent() is None else owner.getparent().getparent()
        disabled.tag = opposite.get("" if holder is None else holder.tag, "enabled")
        disabled.text = "false" if (disabled.text or "").strip().lower() == "true" else "true"


def _frame_set_to_components(model: etree._Element) -> None:
    frame_set = first(model, "FrameSet")
    objects = None if frame_set is None else first(frame_set, "objects")
    if frame_set is None:
        return
    components = first(model, "components")
    if components is None:
        components = _add(model, "components")
    for frame in [] if objects is None else list(elements(objects)):
        components.append(frame)
    model.remove(frame_set)


def _usual_control_limits_to_defaults(model: etree._Element) -> None:
    """Muscles with 0 and 1 as limits of control take those of their class, whose minimum is above 0."""
    for muscle in [e for e in model.iter("*") if "Muscle" in e.tag and first(e, "GeometryPath") is not None]:
        for tag, usual in (("min_control", 0.0), ("max_control", 1.0)):
            limit = first(muscle, tag)
            if limit is not None and _rounded(limit.text or "") == f"{usual:g}":
                muscle.remove(limit)


def _reverse_to_swapped_frames(model: etree._Element) -> None:
    for reverse in _of(model, "reverse"):
        joint = reverse.getparent()
        if joint is None:
            continue
        parent, child = first(joint, "socket_parent_frame"), first(joint, "socket_child_frame")
        if (reverse.text or "").strip().lower() == "true" and parent is not None and child is not None:
            parent.text, child.text = child.text, parent.text
        joint.remove(reverse)
