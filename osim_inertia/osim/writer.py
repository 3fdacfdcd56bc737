"""write_osim(model, path): a Model as an .osim document that OpenSim 4.x loads and that gives the same numbers.

    Model --osim--> .osim
            ^ here
Every component goes where its component path says: `/bodyset/tibia_r/f` into the tibia's <components>,
`/jointset/knee_r/f` into the knee's <frames>, `/forceset/floor` into the ForceSet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lxml import etree

from osim_inertia.files import atomic_write_text
from osim_inertia.model.forces import Raw
from osim_inertia.model.frames import GROUND, Body, Frame, Mesh, OffsetFrame, Station
from osim_inertia.model.model import Model
from osim_inertia.model.paths import FunctionBasedPath
from osim_inertia.osim.writer_parts import (
    add,
    add_all,
    add_raw,
    constraint_element,
    joint_element,
    marker_element,
    path_force_element,
    with_raw_text,
    wrap_object_element,
)

COMMON_VERSION = 40000  # every OpenSim 4 reads it
FUNCTION_PATH_VERSION = 40500  # the first that can hold a FunctionBasedPath
HEADER = '<?xml version="1.0" encoding="UTF-8" ?>\n'
KEPT_SETS = ("ControllerSet", "ContactGeometrySet", "ProbeSet", "MotionSet")
Owned = Frame | Station | Raw


def write_osim(model: Model, path: str | Path) -> None:
    """Write the model; an existing file is replaced once the new one is complete."""
    atomic_write_text(path, osim_text(model))


def osim_text(model: Model) -> str:
    """The whole document as text."""
    root = etree.Element("OpenSimDocument", Version=str(_version(model)))
    _Writer(model).write(add(root, "Model", name=model.name))
    etree.indent(root, space="\t")
    return HEADER + with_raw_text(etree.tostring(root, encoding="unicode")) + "\n"


def _version(model: Model) -> int:
    """The oldest version that can hold the model; parts kept from a newer document keep its version."""
    newest = max(COMMON_VERSION, model.version) if model.unsupported else COMMON_VERSION
    if any(isinstance(force.geometry, FunctionBasedPath) for force in model.path_forces):
        newest = max(newest, FUNCTION_PATH_VERSION)
    return newest


class _Writer:
    """The model, and what each of its components owns."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.coordinate_paths = {c.name: f"{joint.path}/{c.name}" for joint in model.joints for c in joint.coordinates}
        # Copied as text, with all they own inside them.
        self.sealed = tuple(f"/forceset/{force.name}/" for force in model.path_forces)
        self.sealed += tuple(f"{raw.path}/" for raw in model.unsupported)
        self.owned: dict[str, list[Owned]] = {}
        for item in (*model.stations, *model.frames, *model.unsupported):
            if not item.path.startswith(self.sealed):
                self.owned.setdefault(item.path.rpartition("/")[0], []).append(item)

    def write(self, element: etree._Element) -> None:
        """Fill the <Model> element."""
        model = self.model
        add_all(element, {"credits": model.credits, "publications": model.publications})
        add_all(element, {"assembly_accuracy": model.assembly_accuracy, "gravity": model.gravity})
        self._components(element, "")
        ground = add(element, "Ground", name="ground")
        self._frame_content(ground, GROUND, model.ground_meshes)
        bodies = self._set(element, "BodySet")
        for body in model.bodies:
            self._body(bodies, body)
        joints = self._set(element, "JointSet")
        for joint in model.joints:
            self._frames_and_components(joint_element(joints, joint), joint.path)
        constraints = self._set(element, "ConstraintSet")
        for constraint in model.constraints:
            self._frames_and_components(
                constraint_element(constraints, constraint), f"/constraintset/{constraint.name}"
            )
        self._kept(constraints, "/constraintset")
        forces = self._set(element, "ForceSet")
        for force in model.path_forces:
            path_force_element(forces, force, self.coordinate_paths.__getitem__)
        self._kept(forces, "/forceset")
        groups = add(forces.getparent(), "groups") if model.force_groups else forces
        for group in model.force_groups:
            add(add(groups, "ObjectGroup", name=group.name), "members", " ".join(group.members))
        markers = self._set(element, "MarkerSet")
        for marker in model.markers:
            marker_element(markers, marker)
        for tag in KEPT_SETS:
            if f"/{tag.lower()}" in self.owned:
                self._kept(self._set(element, tag), f"/{tag.lower()}")
        if "/componentset" in self.owned:
            self._write_owned(self._set(element, "ComponentSet"), self.owned["/componentset"])

    @staticmethod
    def _set(parent: etree._Element, tag: str) -> etree._Element:
        return add(add(parent, tag, name=tag.lower()), "objects")

    def _body(self, parent: etree._Element, body: Body) -> None:
        element = add(parent, "Body", name=body.name)
        add_all(element, {"mass": body.mass, "mass_center": body.mass_center, "inertia": body.inertia})
        self._frame_content(element, body.path, body.meshes)

    # ---- what a component owns ------------------------------------------------------------------------------
    def _items(self, owner: str) -> Iterator[Owned]:
        return iter(self.owned.get(owner, ()))

    def _kept(self, objects: etree._Element, owner: str) -> None:
        for item in self._items(owner):
            if isinstance(item, Raw):
                add_raw(objects, item)

    def _components(self, parent: etree._Element, owner: str) -> None:
        items = [item for item in self._items(owner) if not _is_wrap_object(item)]
        if items:
            self._write_owned(add(parent, "components"), items)

    def _frames_and_components(self, parent: etree._Element, owner: str) -> None:
        """Joints and welds list their offset frames apart from other components."""
        items = list(self._items(owner))
        frames = [item for item in items if isinstance(item, OffsetFrame)]
        others = [item for item in items if not isinstance(item, OffsetFrame)]
        for tag, group in (("components", others), ("frames", frames)):
            if group:
                self._write_owned(add(parent, tag), group)

    def _write_owned(self, parent: etree._Element, items: Sequence[Owned]) -> None:
        for item in items:
            if isinstance(item, Raw):
                add_raw(parent, item)
            elif isinstance(item, Station):
                self._station(parent, item)
            else:
                self._frame(parent, item)

    def _station(self, parent: etree._Element, station: Station) -> None:
        element = add(parent, "Station", name=_last(station.path))
        add_all(element, {"socket_parent_frame": station.parent, "location": station.location})

    def _frame(self, parent: etree._Element, frame: Frame) -> None:
        if isinstance(frame, OffsetFrame):
            element = add(parent, "PhysicalOffsetFrame", name=_last(frame.path))
            add_all(element, {"socket_parent": frame.parent, "translation": frame.translation,
                              "orientation": frame.orientation})
            self._frame_content(element, frame.path, frame.meshes)
            return
        element = add(parent, "StationDefinedFrame", name=_last(frame.path))
        add_all(element, {"ab_axis": frame.ab_axis, "ab_x_ac_axis": frame.ab_x_ac_axis})
        for point in ("point_a", "point_b", "point_c", "origin_point"):
            add(element, f"socket_{point}", getattr(frame, point))
        self._frame_content(element, frame.path, ())

    def _frame_content(self, element: etree._Element, path: str, meshes: tuple[Mesh, ...]) -> None:
        """Components, meshes and wrap objects of a body, of ground or of an offset frame."""
        self._components(element, path)
        if meshes:
            geometry = add(element, "attached_geometry")
            for number, mesh in enumerate(meshes, start=1):
                item = add(geometry, "Mesh", name=f"{_last(path)}_geom_{number}")
                add_all(item, {"socket_frame": "..", "scale_factors": mesh.scale, "mesh_file": mesh.file})
        wraps = [wrap for wrap in self.model.wrap_objects if wrap.frame == path]
        kept = [item for item in self._items(path) if isinstance(item, Raw) and _is_wrap_object(item)]
        if wraps or kept:
            objects = self._set(element, "WrapObjectSet")
            for wrap in wraps:
                wrap_object_element(objects, wrap)
            for item in kept:
                add_raw(objects, item)


def _is_wrap_object(item: Owned) -> bool:
    return isinstance(item, Raw) and item.kind.startswith("Wrap")


def _last(path: str) -> str:
    return path.rpartition("/")[2]
