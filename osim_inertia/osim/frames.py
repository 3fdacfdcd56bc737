"""XML to bodies, frames, stations and wrap objects, and the resolution of sockets to component paths."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any

from osim_inertia.model import paths as w
from osim_inertia.model.forces import Raw
from osim_inertia.model.frames import (
    FULL_SIZE,
    GROUND,
    NO_SHIFT,
    Body,
    Frame,
    Mesh,
    OffsetFrame,
    Station,
    StationDefinedFrame,
)
from osim_inertia.osim.xml import Document, Node, elements, first

FRAME_KINDS = ("PhysicalOffsetFrame", "StationDefinedFrame")
VISUAL_TAGS = ("FrameGeometry", "attached_geometry", "VisibleObject", "geometry", "components", "Appearance", "frames",
               "WrapObjectSet", "display_preference", "isEnforced", "Joint", "geometry_files")
SIDES = ("all", *(sign + axis for axis in "xyz" for sign in ("", "+", "-")))


class Scope:
    """Everything of a document that others refer to, by component path."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.frames: dict[str, Node | None] = {GROUND: None}
        self.stations: dict[str, Node] = {}
        self.coordinates: dict[str, str] = {}  # name -> path
        self.wrap_objects: dict[str, w.AnyWrapObject] = {}
        self.unsupported: list[Raw] = []

    def add_frame(self, node: Node) -> None:
        """Register a frame; two of one path are an error."""
        if not node.name:
            raise node.error("has no name.", to_do='add name="..."')
        if node.path in self.frames:
            raise node.error("is there twice.", expected="names that differ", to_do="rename or remove one")
        self.frames[node.path] = node

    def keep(self, node: Node) -> None:
        """Keep a component that is not understood, by class and name."""
        self.unsupported.append(raw(node))

    def frame(self, node: Node, socket: str, default: str | None = None) -> str:
        """Path of the frame a socket refers to."""
        text = node.text(f"socket_{socket}")
        if not text:
            if default is not None:
                return default
            raise node.error(f"<socket_{socket}> is missing.", expected="the path of a frame, e.g. /bodyset/pelvis")
        path = posixpath.normpath(posixpath.join(node.path or "/", text))
        if path not in self.frames and self.document.version < 30517:
            path = self._by_last_name(node, text)
        if path in self.frames:
            return path
        raise node.error(f"<socket_{socket}> refers to a frame that is not in the model.", found=text,
                         expected=closest(path, self.frames, "a frame of this model"),
                         to_do="correct the socket, or add that body or frame")

    def _by_last_name(self, node: Node, text: str) -> str:
        """Before 4.0 sets were not part of a path: look in the owner, then among bodies, then everywhere."""
        name = text.rsplit("/", 1)[-1]
        for candidate in (f"{node.path}/{name}", GROUND if name == "ground" else f"/bodyset/{name}"):
            if candidate in self.frames:
                return candidate
        return next((path for path in self.frames if path.endswith(f"/{name}")), text)

    def coordinate(self, node: Node, tag: str) -> str:
        """Bare name of the coordinate a tag refers to, by name or by path."""
        return self.known_coordinate(node, node.text(tag), tag)

    def known_coordinate(self, node: Node, text: str, tag: str) -> str:
        """The bare name, if the text is the name or the path of a coordinate of the model."""
        name = text.rsplit("/", 1)[-1]
        wrong_joint = text.startswith("/jointset/") and self.coordinates.get(name) != text
        if wrong_joint and name in self.coordinates:
            raise node.error(f"<{tag}> looks for a coordinate in the wrong joint.", found=text,
                             expected=self.coordinates[name])
        if name not in self.coordinates:
            raise node.error(f"<{tag}> refers to a coordinate that is not in the model.", found=name or "nothing",
                             expected=closest(name, self.coordinates, "a coordinate of this model"))
        return name


def raw(node: Node) -> Raw:
    """A component as it stands in the (upgraded) file."""
    return Raw(kind=node.kind, name=node.name, path=node.path, line=node.line, xml=node.source())


def closest(name: str, known: Iterable[str], what: str) -> str:
    """'what; the closest is …' for error messages."""
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"{what}; the closest is {match[0]}" if match else what


# ---- first pass: who is there ---------------------------------------------------------------------------------------
def collect_frames(scope: Scope, owner: Node) -> None:
    """Register the frames and stations owned by a component, at any depth; keep what else it owns."""
    for tag in ("components", "frames"):
        for node in owner.items(tag, owner.path):
            if node.kind in FRAME_KINDS:
                scope.add_frame(node)
                collect_frames(scope, node)
            elif node.kind in ("Station", "Marker"):
                scope.stations[node.path] = node
            else:
                scope.keep(node)


def read_body(node: Node) -> Body:
    """A Body element."""
    mass = node.number("mass")
    if mass < 0.0:
        raise node.error(f"<mass> is {mass} kg.", expected="zero or more")
    inertia = node.vector("inertia", 6, (0.0,) * 6)
    if min(inertia[:3]) < 0.0:
        raise node.error("<inertia> has a negative moment of inertia.", found=" ".join(map(str, inertia)),
                         expected="Ixx Iyy Izz of zero or more, then Ixy Ixz Iyz")
    ix, iy, iz = inertia[:3]
    if mass > 0.0 and max(ix, iy, iz) > (ix + iy + iz - max(ix, iy, iz)) * (1 + 1e-6) + 1e-12:
        node.document.note(f"Body '{node.name}': no real body has these moments of inertia (one exceeds the sum of "
                           "the other two); they are used as they are.")
    body = Body(name=node.name, mass=mass, mass_center=node.vector("mass_center", 3, NO_SHIFT), inertia=inertia,
                meshes=read_meshes(node))
    node.check_spelling(VISUAL_TAGS)
    return body


def read_meshes(node: Node) -> tuple[Mesh, ...]:
    """The meshes attached to a frame."""
    found: list[Mesh] = []
    for tag in ("attached_geometry", "geometry"):
        block = first(node.element, tag)
        for item in () if block is None else block.iter("Mesh"):
            mesh = node.node(item)
            file = mesh.text("mesh_file")
            if file not in ("", "Unassigned"):
                found.append(Mesh(file=file, scale=mesh.vector("scale_factors", 3, FULL_SIZE)))
    return tuple(found)


def read_frames(scope: Scope) -> tuple[Frame, ...]:
    """All frames but bodies, with their parents resolved and chains checked for cycles."""
    frames = tuple(_frame(scope, node) for node in scope.frames.values() if node is not None and node.kind != "Body")
    parents = {frame.path: parent for frame in frames for parent in [_parent(scope, frame)]}
    for start in parents:
        path, steps = start, 0
        while path in parents:
            path, steps = parents[path], steps + 1
            if steps > len(parents):
                node = scope.frames[start]
                assert node is not None
                raise node.error("is fixed to itself through a cycle of frames.",
                                 expected="a chain of frames that ends at a body or ground")
    return frames


def _frame(scope: Scope, node: Node) -> Frame:
    if node.kind == "StationDefinedFrame":
        axes = [node.text(tag, default) for tag, default in (("ab_axis", "+x"), ("ab_x_ac_axis", "+y"))]
        names = ("point_a", "point_b", "point_c", "origin_point")
        points = [_station_path(scope, node, name) for name in names]
        axes = [axis if axis[:1] in "+-" else f"+{axis}" for axis in axes]
        if any(axis not in SIDES for axis in axes) or axes[0][1:] == axes[1][1:]:
            raise node.error("its two axes do not span a frame.", found=", ".join(axes), expected="e.g. +x and +y")
        return StationDefinedFrame(path=node.path, ab_axis=axes[0], ab_x_ac_axis=axes[1], point_a=points[0],
                                   point_b=points[1], point_c=points[2], origin_point=points[3])
    frame = OffsetFrame(path=node.path, parent=scope.frame(node, "parent"), meshes=read_meshes(node),
                        translation=node.vector("translation", 3, NO_SHIFT),
                        orientation=node.vector("orientation", 3, NO_SHIFT))
    node.check_spelling(VISUAL_TAGS)
    return frame


def _station_path(scope: Scope, node: Node, socket: str) -> str:
    text = node.text(f"socket_{socket}")
    path = posixpath.normpath(posixpath.join(node.path, text)) if text else ""
    if path not in scope.stations:
        raise node.error(f"<socket_{socket}> refers to a station that is not in the model.", found=text or "nothing",
                         expected=closest(path, scope.stations, "a Station or Marker"))
    return path


def _parent(scope: Scope, frame: Frame) -> str:
    if isinstance(frame, OffsetFrame):
        return frame.parent
    return scope.frame(scope.stations[frame.origin_point], "parent_frame")


def read_stations(scope: Scope) -> tuple[Station, ...]:
    """Stations of the model; markers serve as stations too."""
    return tuple(
        Station(path=path, parent=scope.frame(node, "parent_frame"), location=node.vector("location", 3, NO_SHIFT))
        for path, node in scope.stations.items()
    )


# ---- wrap objects ---------------------------------------------------------------------------------------------------
def read_wrap_objects(scope: Scope, ground: Node | None) -> tuple[w.AnyWrapObject, ...]:
    """Wrap objects of ground, then bodies, then other frames: the first of a name is the one paths find."""
    found: list[w.AnyWrapObject] = []
    holders = [] if ground is None else [(GROUND, ground)]
    holders += sorted(((p, n) for p, n in scope.frames.items() if n), key=lambda item: item[1].kind != "Body")
    for path, holder in holders:
        for node in holder.members("WrapObjectSet", path):
            item = _wrap_object(scope, node, path)
            if item is None:
                continue
            found.append(item)
            if item.name in scope.wrap_objects:
                scope.document.note(f"line {node.line}: a second wrap object is called '{item.name}'; "
                                    "paths use the first.")
            scope.wrap_objects.setdefault(item.name, item)
    return tuple(found)


def _wrap_object(scope: Scope, node: Node, frame: str) -> w.AnyWrapObject | None:
    quadrant = node.text("quadrant", "all").lower() or "all"
    if quadrant not in SIDES:
        raise node.error(f"<quadrant> is '{quadrant}'.", expected="all, x, +x, -x, y, +y, -y, z, +z or -z")
    common: dict[str, Any] = {
        "name": node.name,
        "frame": frame,
        "translation": node.vector("translation", 3, NO_SHIFT),
        "rotation": node.vector("xyz_body_rotation", 3, NO_SHIFT),
        "quadrant": "all" if quadrant == "unassigned" else quadrant,
        "active": node.flag("active", True),
    }

    def positive(tag: str) -> float:
        value = node.number(tag)
        if value <= 0.0:
            raise node.error(f"<{tag}> is {value} m.", expected="more than zero")
        return value

    item: w.AnyWrapObject
    if node.kind == "WrapCylinder":
        item = w.WrapCylinder(**common, radius=positive("radius"), length=positive("length"))
    elif node.kind == "WrapSphere":
        item = w.WrapSphere(**common, radius=positive("radius"))
    elif node.kind == "WrapEllipsoid":
        dimensions = node.vector("dimensions", 3)
        if min(dimensions) <= 0.0:
            raise node.error("<dimensions> must all be more than zero.", found=" ".join(map(str, dimensions)))
        item = w.WrapEllipsoid(**common, dimensions=dimensions)
    elif node.kind == "WrapTorus":
        item = w.WrapTorus(**common, inner_radius=positive("inner_radius"), outer_radius=positive("outer_radius"))
    else:
        scope.keep(node)
        return None
    node.check_spelling((*VISUAL_TAGS, "color"))
    return item


def owned(node: Node, tags: Iterable[str]) -> Iterator[Node]:
    """Direct children of a component that have one of the tags."""
    return (node.node(child) for child in elements(node.element) if child.tag in tags)
