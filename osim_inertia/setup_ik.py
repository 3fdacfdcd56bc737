"""OpenSim's setup files of the Inverse Kinematics tool, as they are. `setup` says where files are looked for."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath

from osim_inertia.errors import OsimError
from osim_inertia.markers.tasks import TaskSet, read_tasks, task_set
from osim_inertia.osim.xml import Document, Node, elements, first, parse_xml
from osim_inertia.setup import input_file, report_unknown_settings, time_range, tool_node

TOOL, OLD_TOOL = "InverseKinematicsTool", "IKTool"
UNUSED = ("input_directory", "optimizer_algorithm")
NAMELESS = ("", "Unassigned")


@dataclass(frozen=True, kw_only=True)
class InverseKinematicsSetup:
    """What a setup file asks for, with paths that exist."""

    name: str
    model: Path
    markers: Path
    coordinate_file: Path | None
    tasks: TaskSet
    time_range: tuple[float, float]
    output: Path | None  # the motion
    errors: Path | None
    locations: Path | None
    notes: tuple[str, ...]


def read_inverse_kinematics_setup(path: str | Path, *, like_opensim: bool = False) -> InverseKinematicsSetup:
    """Read a setup file of OpenSim's Inverse Kinematics tool. Settings it does not know are in `notes`."""
    path = Path(path)
    node = _tool(path, like_opensim)
    folder = path.resolve().parent
    results = folder / PureWindowsPath(node.text("results_directory", "./")).as_posix()
    name = node.name or "inverse_kinematics"
    coordinate_file, motion = node.text("coordinate_file"), node.text("output_motion_file")
    errors, locations = node.flag("report_errors", True), node.flag("report_marker_locations", False)
    setup = InverseKinematicsSetup(
        name=name,
        model=input_file(node, "model_file", folder),
        markers=input_file(node, "marker_file", folder),
        coordinate_file=None if coordinate_file in NAMELESS else input_file(node, "coordinate_file", folder),
        tasks=_tasks(node, folder),
        time_range=time_range(node),
        output=None if motion in NAMELESS else folder / PureWindowsPath(motion).as_posix(),
        errors=results / f"{name}_ik_marker_errors.sto" if errors else None,
        locations=results / f"{name}_ik_model_marker_locations.sto" if locations else None,
        notes=(),
    )
    weight = node.number("constraint_weight", math.inf, infinite=True)
    if weight < math.inf:
        node.document.note(f"<constraint_weight> {weight:g} is not used: constraints hold exactly, as in OpenSim 4.6.")
    node.number("accuracy", 1e-5)  # known, and surpassed: every frame is solved to its optimum
    report_unknown_settings(node, UNUSED)
    return replace(setup, notes=tuple(node.document.notes))


def _tool(path: Path, like_opensim: bool) -> Node:
    """The element of the tool; that of OpenSim 1 and 2 with the settings of its first trial."""
    root = parse_xml(path)
    old = root if root.tag == OLD_TOOL else first(root, OLD_TOOL)
    if old is None:
        return tool_node(path, TOOL, like_opensim)
    document = Document(str(path), root, 0, like_opensim)
    trials = list(old.iter("IKTrial"))
    if not trials:
        raise OsimError("The setup has no IKTrial.", file=path, line=old.sourceline or 1)
    if len(trials) > 1:
        document.note(f"The setup has {len(trials)} trials; the first one is run, as in OpenSim.")
    tool = copy.deepcopy(old)
    for child in list(elements(tool)):
        if child.tag == "IKTrialSet":
            tool.remove(child)
    for child in elements(trials[0]):
        tool.append(copy.deepcopy(child))
    return Node(tool, document)


def _tasks(node: Node, folder: Path) -> TaskSet:
    """The tasks in the file, or in the file that <IKTaskSet file="…"> names."""
    element = node.find("IKTaskSet")
    if element is None:
        return TaskSet()
    file = element.get("file")
    if file:
        place = folder / PureWindowsPath(file).as_posix()
        return read_tasks(place if place.is_file() else Path(file))
    return task_set(node.node(element))
