"""read_osim(path) -> Model: the table of contents of the importer.

    .osim --osim--> Model --compiled--> arrays --kernels--> numbers --tables, report--> .sto, .html
            ^ here
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, count
from pathlib import Path

from osim_inertia.errors import OsimError
from osim_inertia.model.frames import GROUND, NO_SHIFT, Body, Frame, Marker
from osim_inertia.model.joints import FIXED_LAYOUT, Coordinate, Joint
from osim_inertia.model.model import STANDARD_GRAVITY, Model
from osim_inertia.model.tree import base_bodies, floating_bases
from osim_inertia.osim.constraints import read_constraint
from osim_inertia.osim.forces import read_force, read_force_groups
from osim_inertia.osim.frames import (
    VISUAL_TAGS,
    Scope,
    collect_frames,
    read_body,
    read_frames,
    read_meshes,
    read_stations,
    read_wrap_objects,
)
from osim_inertia.osim.joints import read_joint
from osim_inertia.osim.upgrade import NEWEST_VERSION, OLDEST_VERSION, upgrade
from osim_inertia.osim.xml import Document, Node, elements, first, parse_xml

MODEL_TAGS = ("Ground", "defaults", "length_units", "force_units", "FrameSet", "groups", "ModelVisualPreferences")
KEPT_SETS = ("ControllerSet", "ProbeSet", "ContactGeometrySet", "MotionSet")


def read_osim(path: str | Path, *, like_opensim: bool = False) -> Model:
    """Read an OpenSim model of any version from 1.9 to 4.6.

    A value OpenSim would silently replace by its default (a vector with a number missing, a misspelt tag) is an error
    here; with `like_opensim` it is read as OpenSim reads it, and noted in `model.notes`.
    """
    root = parse_xml(path)
    document = Document(str(path), root, _version(root, path), like_opensim)
    element = root if root.tag == "Model" else first(root, "Model")
    if element is None:
        raise OsimError("There is no <Model> in this file.", file=path, found=f"<{root.tag}>",
                        expected="<OpenSimDocument> with a <Model>", to_do="give a model file (.osim)")
    upgrade(element, document)
    defaults = first(element, "defaults")
    document.defaults = {} if defaults is None else {child.tag: child for child in elements(defaults)}
    return _model(Node(element, document, ""), Scope(document))


def _version(root: object, path: str | Path) -> int:
    text = root.get("Version", "10500")  # type: ignore[attr-defined]
    tag: str = root.tag  # type: ignore[attr-defined]
    if tag not in ("OpenSimDocument", "Model"):
        raise OsimError("This is not an OpenSim document.", file=path, found=f"<{tag}>", expected="<OpenSimDocument>")
    if not re.fullmatch("[0-9]{1,9}", text.strip()):
        raise OsimError("The document version is not a number.", file=path, line=1, found=text)
    version = int(text)
    if not OLDEST_VERSION <= version <= NEWEST_VERSION:
        raise OsimError(f"Document version {version} cannot be read.", file=path, line=1,
                        expected=f"{OLDEST_VERSION} to {NEWEST_VERSION}",
                        to_do="open the model in OpenSim and save it again")
    return version


def _model(node: Node, scope: Scope) -> Model:
    document = scope.document
    ground = first(node.element, "Ground")
    ground_node = None if ground is None else node.node(ground, GROUND)
    body_nodes = node.members("BodySet", "/bodyset")
    joint_nodes = node.members("JointSet", "/jointset")
    constraint_nodes = node.members("ConstraintSet", "/constraintset")
    force_nodes = node.members("ForceSet", "/forceset")
    marker_nodes = node.members("MarkerSet", "/markerset")
    for group in (joint_nodes, constraint_nodes, force_nodes, marker_nodes):
        _name_the_nameless(group)
    _rename_duplicates(marker_nodes)
    _rename_duplicates(joint_nodes)
    for group in (body_nodes, constraint_nodes, force_nodes):
        _refuse_duplicates(group)

    for body in body_nodes:
        if body.kind != "Body":
            raise body.error("this class of body is not supported.", expected="Body")
        scope.add_frame(body)
    for marker in marker_nodes:
        if marker.kind != "Marker":
            raise marker.error("this is not a marker.", expected="Marker")
    if ground_node is not None:
        ground_node.check_spelling((*VISUAL_TAGS, "mass", "mass_center", "inertia"))  # a body, before 4.0
    for item in _loose_components(node):
        if item.kind in ("PhysicalOffsetFrame", "StationDefinedFrame"):
            scope.add_frame(item)
            collect_frames(scope, item)
        elif item.kind == "Station":
            scope.stations[item.path] = item
        else:
            scope.keep(item)
    owners = [*([ground_node] if ground_node else []), *body_nodes, *joint_nodes, *constraint_nodes, *force_nodes]
    for owner in owners:
        collect_frames(scope, owner)
    scope.stations |= {marker.path: marker for marker in marker_nodes}

    bodies = tuple(read_body(body) for body in body_nodes)
    frames = read_frames(scope)
    joints = _with_free_joints(tuple(read_joint(scope, joint) for joint in joint_nodes), bodies, frames, scope)
    scope.coordinates = {c.name: f"{joint.path}/{c.name}" for joint in joints for c in joint.coordinates}
    _refuse_shared_coordinates(joints, document)
    constraints = tuple(c for c in (read_constraint(scope, n) for n in constraint_nodes) if c is not None)
    wraps = read_wrap_objects(scope, ground_node)
    forces = tuple(f for f in (read_force(scope, n) for n in force_nodes) if f is not None)
    markers = tuple(_marker(scope, n) for n in marker_nodes)
    for kept in KEPT_SETS:
        for item in node.members(kept, f"/{kept.lower()}"):
            scope.keep(item)
    model = Model(
        name=node.name,
        bodies=bodies,
        joints=joints,
        frames=frames,
        stations=tuple(s for s in read_stations(scope) if not s.path.startswith("/markerset/")),
        constraints=constraints,
        markers=markers,
        wrap_objects=wraps,
        path_forces=forces,
        force_groups=read_force_groups(node),
        unsupported=tuple(scope.unsupported),
        gravity=node.vector("gravity", 3, STANDARD_GRAVITY),
        assembly_accuracy=node.number("assembly_accuracy", 1e-9),
        ground_meshes=() if ground_node is None else read_meshes(ground_node),
        credits=node.text("credits"),
        publications=node.text("publications"),
        notes=tuple(document.notes),
        source=document.file,
        version=document.version,
    )
    node.check_spelling(MODEL_TAGS)
    if not bodies and not joints:
        raise node.error("the model has no bodies and no joints.", expected="a <BodySet> and a <JointSet>")
    return model


def _loose_components(node: Node) -> list[Node]:
    """Components that belong to the model itself: `components` at /name, ComponentSet at /componentset/name."""
    return node.items("components", "") + node.members("ComponentSet", "/componentset")


def _name_the_nameless(nodes: Sequence[Node]) -> None:
    """OpenSim calls a nameless component by its class."""
    taken = {node.name for node in nodes}
    for node in nodes:
        if not node.name:
            node.rename(_free_name(node.kind.lower(), taken))
            taken.add(node.name)


def _rename_duplicates(nodes: Sequence[Node]) -> None:
    """Markers and joints that share a name get _0, _1 … appended, as in OpenSim; nothing refers to them by name."""
    seen: set[str] = set()
    for node in nodes:
        name = _free_name(node.name, seen)
        if name != node.name:
            node.document.note(f"line {node.line}: a second {node.kind} is called '{node.name}'; it becomes '{name}'.")
            node.rename(name)
        seen.add(name)


def _free_name(name: str, taken: set[str]) -> str:
    return next(n for n in chain([name], (f"{name}_{i}" for i in count())) if n not in taken)


def _refuse_duplicates(nodes: Iterable[Node]) -> None:
    seen: dict[str, Node] = {}
    for node in nodes:
        if not node.name:
            raise node.error("has no name.", to_do='add name="..."')
        if node.name in seen:
            raise node.error("its name is taken.", found=f"the same name on line {seen[node.name].line}",
                             expected="names that differ", to_do="rename or remove one of them")
        seen[node.name] = node


def _refuse_shared_coordinates(joints: Sequence[Joint], document: Document) -> None:
    names = Counter(c.name for joint in joints for c in joint.coordinates)
    for name, number in names.items():
        if number > 1:
            owners = [joint.name for joint in joints if any(c.name == name for c in joint.coordinates)]
            raise OsimError(f"{number} coordinates are called '{name}'.", file=document.file,
                            found="in joints " + ", ".join(owners), to_do="rename all but one")


def _with_free_joints(
    joints: tuple[Joint, ...], bodies: Sequence[Body], frames: Sequence[Frame], scope: Scope
) -> tuple[Joint, ...]:
    """A body that no chain of joints ties to ground floats: OpenSim gives it a FreeJoint."""
    added = []
    for path in floating_bases(bodies, joints, base_bodies(frames, read_stations(scope))):
        name = f"free_{path.rsplit('/', 1)[-1]}"
        coordinates = tuple(
            Coordinate(name=f"{name}_coord_{i}", motion_type=motion)
            for i, motion in enumerate(FIXED_LAYOUT["FreeJoint"])
        )
        added.append(
            Joint(kind="FreeJoint", name=name, parent_frame=GROUND, child_frame=path, coordinates=coordinates)
        )
        scope.document.note(f"Body '{name[5:]}' is not joined to ground: it floats freely (joint '{name}').")
    return joints + tuple(added)


def _marker(scope: Scope, node: Node) -> Marker:
    marker = Marker(name=node.name, frame=scope.frame(node, "parent_frame"), fixed=node.flag("fixed"),
                    location=node.vector("location", 3, NO_SHIFT))
    node.check_spelling(VISUAL_TAGS)
    return marker
