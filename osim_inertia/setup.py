"""OpenSim's setup files of the Inverse Dynamics tool, as they are: names, defaults and relative paths.

Names of files are looked for beside the setup file first, then in the working folder: OpenSim's graphical programs do
the former, its Python tools partly the latter. Results go where OpenSim puts them, relative to the setup file.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from osim_inertia.errors import FileError
from osim_inertia.files import is_file
from osim_inertia.model.forces import Muscle
from osim_inertia.model.model import Model
from osim_inertia.osim.xml import Document, Node, elements, first, parse_xml

TOOL = "InverseDynamicsTool"
UNUSED = ("input_directory",)  # OpenSim has it and does nothing with it
# Actuators without a controller: their control is zero, and so is their force.
IDLE_ACTUATORS = ("CoordinateActuator", "ActivationCoordinateActuator", "PointActuator", "TorqueActuator",
                  "BodyActuator", "PathActuator", "PointToPointActuator")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class InverseDynamicsSetup:
    """What a setup file asks for, with paths that exist."""

    name: str
    model: Path
    motion: Path
    external_loads: Path | None
    folder: Path  # of the setup file
    time_range: tuple[float, float]
    lowpass: float | None  # Hz
    excluded_forces: tuple[str, ...]
    output: Path
    body_force_joints: tuple[str, ...]  # joints_to_report_body_forces
    body_force_output: Path
    notes: tuple[str, ...]


def read_inverse_dynamics_setup(path: str | Path, *, like_opensim: bool = False) -> InverseDynamicsSetup:
    """Read a setup file of OpenSim's Inverse Dynamics tool. Settings it does not know are in `notes`."""
    path = Path(path)
    node = tool_node(path, TOOL, like_opensim)
    folder = path.resolve().parent
    cutoff = node.number("lowpass_cutoff_frequency_for_coordinates", -1.0)
    loads = node.text("external_loads_file")
    if cutoff == 0.0:
        raise node.error("<lowpass_cutoff_frequency_for_coordinates> is 0.",
                         expected="the cutoff in Hz, or -1 for none")
    setup = InverseDynamicsSetup(
        name=node.name,
        model=input_file(node, "model_file", folder),
        motion=input_file(node, "coordinates_file", folder),
        external_loads=None if loads in ("", "Unassigned") else input_file(node, "external_loads_file", folder),
        folder=folder,
        time_range=time_range(node),
        lowpass=cutoff if cutoff > 0.0 else None,
        excluded_forces=node.words("forces_to_exclude"),
        output=output_file(node, "output_gen_force_file", "inverse_dynamics.sto", folder),
        body_force_joints=node.words("joints_to_report_body_forces"),
        body_force_output=output_file(node, "output_body_forces_file", "body_forces_at_joints.sto", folder),
        notes=(),
    )
    report_unknown_settings(node, UNUSED)
    return InverseDynamicsSetup(**{**vars(setup), "notes": tuple(node.document.notes)})


def tool_node(path: Path, tool: str, like_opensim: bool) -> Node:
    """The element of a tool in a setup file."""
    root = parse_xml(path)
    element = root if root.tag == tool else first(root, tool)
    if element is None:
        inside = next((child.tag for child in elements(root)), root.tag)
        raise FileError(f"There is no {tool} in this file.", file=path, found=f"<{inside}>",
                        expected=f"a setup file with <{tool}>",
                        to_do="give another setup file, or a model and a motion")
    return Node(element, Document(str(path), root, 0, like_opensim))


def time_range(node: Node) -> tuple[float, float]:
    """First and last time (s); without a word all there is, also if the setting is there and empty."""
    if not node.text("time_range"):
        return -math.inf, math.inf
    low, high = node.vector("time_range", 2, (-math.inf, math.inf), infinite=True)
    return low, high


def input_file(node: Node, tag: str, folder: Path) -> Path:
    """A file a setting names, beside the setup file or in the working folder."""
    text = node.text(tag)
    if text in ("", "Unassigned"):
        raise node.error(f"<{tag}> is empty.", expected="the name of a file")
    names = [text] if "\\" not in text else [text, PureWindowsPath(text).as_posix()]
    for name in names:
        for place in (folder / name, Path(name)):
            if is_file(place):
                return place
    child = node.find(tag)
    raise node.error(f"the file of <{tag}> does not exist.", line=(child.sourceline or 0) if child is not None else 0,
                     found=text, expected=f"a file in {folder.name}/ or in the working folder",
                     to_do="correct the name, or put the file there")


def output_file(node: Node, tag: str, default: str, folder: Path) -> Path:
    """Where OpenSim writes a result: in the results directory, under the bare name, .sto if it has no ending."""
    name = node.text(tag) or default
    bare = PureWindowsPath(name).name  # knows both slashes
    if bare != name:
        node.document.note(f"<{tag}> {name}: its folder is ignored, as in OpenSim; results go to <results_directory>.")
    results = node.text("results_directory")
    return folder / PureWindowsPath(results).as_posix() / (bare if Path(bare).suffix else f"{bare}.sto")


def report_unknown_settings(node: Node, also: Sequence[str] = ()) -> None:
    """Note every setting that is not known; OpenSim ignores them without a word."""
    known = [*node.read, *also]
    for child in elements(node.element):
        if child.tag not in known:
            close = difflib.get_close_matches(child.tag, known, n=1, cutoff=0.75)
            hint = f" Did you mean <{close[0]}>?" if close else ""
            place = f"line {child.sourceline}"
            node.document.note(f"{place}: unknown setting <{child.tag}> is ignored, as in OpenSim.{hint}")


def forces_left_out(model: Model, excluded: Sequence[str]) -> list[str]:
    """Forces that OpenSim's tool would apply and that are not computed here, by class: 'CoordinateLimitForce (3)'.

    `excluded` is forces_to_exclude: All, Muscles, Actuators, or names of groups; names of single forces count only in
    models that have no group, as in OpenSim.
    """
    words, named = {word.upper() for word in excluded}, set(excluded)
    if model.force_groups:
        named = {name for group in model.force_groups if group.name in excluded for name in group.members}
    if "ALL" in words:
        return []
    driven = any(raw.path.startswith("/controllerset/") for raw in model.unsupported)
    acting = [(f.kind, f.name, isinstance(f, Muscle)) for f in model.path_forces if f.applies_force]
    acting += [(raw.kind, raw.name, False) for raw in model.unsupported if raw.path.startswith("/forceset/")
               and "<appliesForce>false" not in raw.xml]
    left: dict[str, int] = {}
    for kind, name, is_muscle in acting:
        actuator = is_muscle or kind in IDLE_ACTUATORS
        if name in named or (is_muscle and "MUSCLES" in words) or (actuator and "ACTUATORS" in words):
            continue
        if kind not in IDLE_ACTUATORS or driven:
            left[kind] = left.get(kind, 0) + 1
    return [f"{kind} ({count})" for kind, count in left.items()]


def unknown_exclusions(model: Model, excluded: Sequence[str]) -> list[str]:
    """Words of forces_to_exclude that OpenSim's tool would not find, and warn of."""
    known = {group.name for group in model.force_groups}
    if not known:
        raw = (item.name for item in model.unsupported if item.path.startswith("/forceset/"))
        known = {*raw, *(force.name for force in model.path_forces)}
    return [word for word in excluded if word not in known and word.upper() not in ("ALL", "MUSCLES", "ACTUATORS")]
