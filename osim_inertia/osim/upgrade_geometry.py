"""Meshes of documents before 4.0: <VisibleObject> to <attached_geometry>, as OpenSim upgrades them.

A VisibleObject has scale factors and a transform of its own, and so has every DisplayGeometry in it. Where the two
transforms together move a mesh, it is attached to an offset frame `<body>_geom_frame_<number>` instead of the body.
Nothing here changes what is computed, so a value that cannot be read counts as absent.
"""

from __future__ import annotations

import numpy as np
from lxml import etree

from osim_inertia.osim.xml import elements, first

Numbers = tuple[float, ...]
FULL_SIZE: Numbers = (1.0,) * 3
IN_PLACE: Numbers = (0.0,) * 6
SAME_PLACE = 1e-15


def visible_objects_to_meshes(model: etree._Element) -> None:
    """Every body's VisibleObject becomes attached geometry."""
    for body in list(model.iter("Body", "Ground")):
        visible = first(body, "VisibleObject")
        if visible is not None:
            body.remove(visible)
            _attach(body, visible)


def _attach(body: etree._Element, visible: etree._Element) -> None:
    scale, place = _numbers(visible, "scale_factors", FULL_SIZE), _numbers(visible, "transform", IN_PLACE)
    files = first(visible, "geometry_files")
    shapes = [(name, FULL_SIZE, IN_PLACE) for name in _text(files).split()]
    shapes += [
        (_text(first(item, "geometry_file")), _numbers(item, "scale_factors", FULL_SIZE),
         _numbers(item, "transform", IN_PLACE))
        for item in visible.iter("DisplayGeometry")
    ]  # fmt: skip
    for number, (file, own_scale, own_place) in enumerate(shapes, start=1):
        if file in ("", "Unassigned"):
            continue
        holder = body
        if np.linalg.norm([*place, *own_place]) > SAME_PLACE:
            holder = _offset_frame(body, number, place, own_place)
        geometry = _child(holder, "attached_geometry")
        mesh = _add(geometry, "Mesh", name=f"{body.get('name', 'ground')}_geom_{number}")
        _add(mesh, "scale_factors", _words(np.multiply(scale, own_scale)))
        _add(mesh, "mesh_file", file)


def _offset_frame(body: etree._Element, number: int, outer: Numbers, inner: Numbers) -> etree._Element:
    """A frame of the body at the two transforms together; each has body-fixed X-Y-Z angles, then a translation."""
    from scipy.spatial.transform import Rotation  # slow to import, and few models need it

    turn = Rotation.from_euler("XYZ", outer[:3])
    name = body.get("name", "ground")
    frame = _add(_child(body, "components"), "PhysicalOffsetFrame", name=f"{name}_geom_frame_{number}")
    _add(frame, "socket_parent", "/ground" if name == "ground" else f"/bodyset/{name}")
    _add(frame, "translation", _words(turn.apply(inner[3:]) + outer[3:]))
    _add(frame, "orientation", _words((turn * Rotation.from_euler("XYZ", inner[:3])).as_euler("XYZ")))
    return frame


def _add(parent: etree._Element, tag: str, text: str | None = None, name: str = "") -> etree._Element:
    child = etree.SubElement(parent, tag)
    child.text, child.sourceline = text, parent.sourceline
    if name:
        child.set("name", name)
    return child


def _child(parent: etree._Element, tag: str) -> etree._Element:
    found = first(parent, tag)
    return _add(parent, tag) if found is None else found


def _text(element: etree._Element | None) -> str:
    return "" if element is None else (element.text or "").strip()


def _words(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


def _numbers(element: etree._Element, tag: str, default: Numbers) -> Numbers:
    """The numbers of a direct child; the default if they are absent, too few or no numbers."""
    child = next((item for item in elements(element) if item.tag == tag), None)
    try:
        values = tuple(float(word) for word in _text(child).split())
    except ValueError:
        return default
    return values if len(values) == len(default) and np.isfinite(values).all() else default
