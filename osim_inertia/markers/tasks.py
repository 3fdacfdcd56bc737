"""What inverse kinematics tracks: IKTaskSet files, and MarkerSet files with places for a model's markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from osim_inertia.errors import OsimError
from osim_inertia.model.frames import Marker
from osim_inertia.model.model import Model
from osim_inertia.osim.xml import Document, Node, elements, first, parse_xml

DEFAULT_VALUE, MANUAL_VALUE, FROM_FILE = "default_value", "manual_value", "from_file"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerTask:
    """Pull a marker of the model to the marker of that name in the file."""

    name: str
    weight: float = 1.0
    apply: bool = True

    def __post_init__(self) -> None:
        _check_weight("marker", self.name, self.weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateTask:
    """Pull a coordinate to its default value, to a given value, or to a column of a file."""

    name: str
    weight: float = 1.0
    value_type: str = DEFAULT_VALUE
    value: float = 0.0  # rad or m, for manual_value
    apply: bool = True

    def __post_init__(self) -> None:
        _check_weight("coordinate", self.name, self.weight)
        if self.value_type not in (DEFAULT_VALUE, MANUAL_VALUE, FROM_FILE):
            raise ValueError(f"value_type is {self.value_type!r}; expected default_value, manual_value or from_file.")


@dataclass(frozen=True, slots=True)
class TaskSet:
    """All tasks, in file order."""

    markers: tuple[MarkerTask, ...] = ()
    coordinates: tuple[CoordinateTask, ...] = ()
    notes: tuple[str, ...] = ()


def _check_weight(what: str, name: str, weight: float) -> None:
    if not 0.0 <= weight < float("inf"):
        raise ValueError(f"The weight of {what} '{name}' is {weight}; expected 0 or more.")


def read_tasks(path: str | Path) -> TaskSet:
    """Read an IKTaskSet file, or the IKTaskSet inside a setup file of OpenSim's tool."""
    document = open_document(path)
    element = document.root if document.root.tag == "IKTaskSet" else next(document.root.iter("IKTaskSet"), None)
    if element is None:
        raise OsimError("There is no <IKTaskSet> in this file.", file=path, found=f"<{document.root.tag}>",
                        to_do="give a file of inverse-kinematics tasks, or a setup file")
    return task_set(Node(element, document))


def open_document(path: str | Path) -> Document:
    """The parsed file; versions of setup and task files do not matter to what is read here."""
    return Document(str(path), parse_xml(path), 40000)


def task_set(node: Node) -> TaskSet:
    """The tasks of an <IKTaskSet>."""
    objects = first(node.element, "objects")
    markers: list[MarkerTask] = []
    coordinates: list[CoordinateTask] = []
    notes: list[str] = []
    for element in [] if objects is None else elements(objects):
        item = node.node(element)
        if item.kind == "IKMarkerTask":
            markers.append(MarkerTask(name=_name(item), weight=_weight(item), apply=item.flag("apply", True)))
        elif item.kind == "IKCoordinateTask":
            kind = item.text("value_type", DEFAULT_VALUE) or DEFAULT_VALUE
            if kind not in (DEFAULT_VALUE, MANUAL_VALUE, FROM_FILE):
                raise item.error(f"<value_type> is '{kind}'.", expected="default_value, manual_value or from_file")
            coordinates.append(CoordinateTask(name=_name(item), weight=_weight(item), value_type=kind,
                                              value=item.number("value", 0.0, may_be_empty=True),
                                              apply=item.flag("apply", True)))
        else:
            notes.append(f"line {item.line}: <{item.kind}> is not a task of inverse kinematics and is left out.")
    for items in (markers, coordinates):
        names = [task.name for task in items if task.apply]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            raise OsimError(f"Two tasks are called '{twice}'.", file=node.document.file, line=node.line,
                            to_do="keep one of them")
    return TaskSet(tuple(markers), tuple(coordinates), (*notes, *node.document.notes))


def _name(item: Node) -> str:
    if not item.name:
        raise item.error("the task has no name.", expected='<' + item.kind + ' name="…">')
    return item.name


def _weight(item: Node) -> float:
    weight = item.number("weight", 0.0)  # OpenSim's default: a task without a weight does nothing
    if weight < 0.0:
        raise item.error(f"<weight> is {weight}.", expected="0 or more")
    return weight


def read_marker_set(path: str | Path, model: Model) -> tuple[Marker, ...]:
    """The markers of a MarkerSet file, for a model whose frames they are fixed to."""
    document = open_document(path)
    root = document.root
    element = root if root.tag == "MarkerSet" else next(root.iter("MarkerSet"), None)
    objects = None if element is None else first(element, "objects")
    if objects is None:
        raise OsimError("There is no <MarkerSet> in this file.", file=path, found=f"<{root.tag}>")
    return tuple(_marker(Node(item, document), model) for item in elements(objects) if item.tag == "Marker")


def _marker(node: Node, model: Model) -> Marker:
    frames = {body.name: body.path for body in model.bodies} | {"ground": "/ground"}
    paths = {*frames.values(), *(frame.path for frame in model.frames)}
    given = node.text("socket_parent_frame") or node.text("body")
    path = given if given in paths else frames.get(given.rsplit("/", 1)[-1], "")
    if not path:
        raise node.error("its frame is not in the model.", found=given or "no frame", expected="a body of the model")
    location = node.vector("location", 3, (0.0, 0.0, 0.0))
    return Marker(name=node.name, frame=path, location=location, fixed=node.flag("fixed", False))


def with_markers(model: Model, markers: Sequence[Marker]) -> Model:
    """The model with these markers; those of the same name are replaced, others stay (as OpenSim's scale tool does)."""
    new = {marker.name: marker for marker in markers}
    kept = tuple(new.pop(marker.name, marker) for marker in model.markers)
    return replace(model, markers=(*kept, *new.values()))
