"""External loads: the forces of OpenSim's ExternalLoads files, and what they are at given times (§6.1).

    external_loads.xml + grf.mot --here--> ExternalLoads --system, times--> arrays for kernels.external
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.errors import FileError, ModelError
from osim_inertia.files import is_file
from osim_inertia.filters import interpolated
from osim_inertia.kernels import external
from osim_inertia.model.frames import GROUND
from osim_inertia.osim.xml import Document, Node, elements, first, parse_xml
from osim_inertia.system import System
from osim_inertia.tables.sto import read_table
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
FARTHEST = 100.0  # m: lengths beyond it look like millimetres
OLDEST_VERSION = 20301  # before it, loads were PrescribedForces with functions
SET_TAGS = ("objects", "groups", "datafile", "external_loads_model_kinematics_file",
            "lowpass_cutoff_frequency_for_load_kinematics")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ExternalForce:
    """A force at a point, a torque, or both, that acts on one body. An empty identifier is not used."""

    name: str
    body: str  # a body or frame by name or component path
    force_frame: str = "ground"  # in which force and torque are expressed
    point_frame: str = "ground"
    force: str = ""  # what the labels of the three columns begin with
    point: str = ""  # without it the force acts at the origin of the body
    torque: str = ""
    applies: bool = True


@dataclass(frozen=True)
class ExternalLoads:
    """Forces and the table they take their values from."""

    forces: tuple[ExternalForce, ...]
    data: Table
    notes: tuple[str, ...] = ()
    source: str = ""

    def at(self, system: System, time: ArrayLike, note: Callable[[str], None] = lambda text: None) -> LoadsInTime:
        """The loads on a system at increasing times (F,)."""
        time = np.ascontiguousarray(time, dtype=np.float64)
        active = [force for force in self.forces if force.applies]
        values = np.zeros((len(time), len(active), 9))
        for k, force in enumerate(active):
            for first_of, identifier in ((0, force.force), (3, force.point), (6, force.torque)):
                if identifier:
                    columns = np.ascontiguousarray(self.data.values[:, self._columns(force, identifier)])
                    values[:, k, first_of : first_of + 3] = interpolated(self.data.time, columns, time)
        self._check_span(time, note)
        far = float(np.abs(values[:, :, 3:6]).max(initial=0.0))
        if far > FARTHEST:
            note(f"Points of the external loads are up to {far:.4g} m away: are they in millimetres? They should be in "
                 "metres.")  # fmt: skip
        return LoadsInTime(placed_loads(system, active, self.source, note), values)

    def _columns(self, force: ExternalForce, identifier: str) -> list[int]:
        found = [i for i, name in enumerate(self.data.names) if name.startswith(identifier)]
        if len(found) != 3:
            names = ", ".join(self.data.names[i] for i in found[:8])
            story = f"ExternalForce '{force.name}': {len(found)} columns of the data begin with '{identifier}'."
            raise FileError(story, file=self.source, found=names or f"columns {', '.join(self.data.names[:6])} …",
                            expected="exactly three: x, y and z in this order",
                            to_do="correct the identifier, or rename the columns")
        return found

    def _check_span(self, time: Array, note: Callable[[str], None]) -> None:
        data = self.data.time
        if not len(time) or not len(data):
            return
        slack = (time[-1] - time[0]) / max(len(time) - 1, 1)
        if time[0] < data[0] - slack or time[-1] > data[-1] + slack:
            note(f"The external loads cover {data[0]:g} to {data[-1]:g} s, the motion {time[0]:g} to {time[-1]:g} s; "
                 "outside they go on in straight lines, as in OpenSim.")  # fmt: skip


@dataclass(frozen=True)
class LoadsInTime:
    """Loads placed on a system, and their values: (F, k, 9), force, point and torque in their own frames."""

    loads: external.Loads
    values: Array

    def generalized(self, system: System, q: Array, start: int = 0) -> Array:
        """What the loads contribute to the coordinates, Jᵀ f: (len(q), n), q being the poses from row `start` on."""
        out, values = np.empty((len(q), system.n)), self.values[start : start + len(q)]
        A, L = system.arrays, self.loads
        system.run(len(q), lambda i, j: external.generalized_loads(A, L, values, q, i, j, out))
        return out


def loads_of_plates(forces: Table, on: Mapping[int, str], source: str = "") -> ExternalLoads:
    """Force plates of a recording as loads: `forces` as markers.c3d names its columns, `on` body by number of plate."""
    plates = sorted({int(name.split("_")[2]) for name in forces.names})
    for plate in on:
        if plate not in plates:
            raise FileError(f"There is no force plate {plate}.", file=source, expected=f"one of {plates}")
    return ExternalLoads(tuple(
        ExternalForce(name=f"plate_{k}", body=body, force=f"ground_force_{k}_v", point=f"ground_force_{k}_p",
                      torque=f"ground_torque_{k}_") for k, body in on.items()
    ), forces, (), source)  # fmt: skip


def placed_loads(
    system: System, forces: list[ExternalForce], source: str = "", note: Callable[[str], None] = lambda text: None
) -> external.Loads:
    """Where forces act on a system, for the kernels."""
    bodies, origins, force_bodies, force_R = [], [], [], []
    has_point, point_bodies, point_R, point_p = [], [], [], []
    index, placements = system.compiled.body_index, system.compiled.placements
    for force in forces:
        path = find_frame(system, force.body)
        if path is None:
            known = ", ".join(system.body_names[:8])
            raise FileError(f"ExternalForce '{force.name}' acts on a body that is not in the model.", file=source,
                            found=f"'{force.body}'", expected=f"one of {known} …", to_do="correct <applied_to_body>")
        frames = []
        for what, name in (("force", force.force_frame), ("point", force.point_frame)):
            frame = find_frame(system, name)
            if frame is None and (what == "force" or force.point):
                note(f"ExternalForce '{force.name}': the {what} is expressed in '{name}', which is not in the model; "
                     "ground is assumed, as in OpenSim.")  # fmt: skip
            frames.append(placements[frame or GROUND])
        applied = placements[path]
        bodies.append(index[applied.body])
        origins.append(applied.p)
        force_bodies.append(index[frames[0].body])
        force_R.append(frames[0].R)
        has_point.append(bool(force.point))
        point_bodies.append(index[frames[1].body])
        point_R.append(frames[1].R)
        point_p.append(frames[1].p)
    k = len(forces)
    return external.Loads(
        body=np.array(bodies, dtype=np.int64),
        origin=np.array(origins, dtype=np.float64).reshape(k, 3),
        force_body=np.array(force_bodies, dtype=np.int64),
        force_R=np.array(force_R, dtype=np.float64).reshape(k, 3, 3),
        has_point=np.array(has_point, dtype=np.bool_),
        point_body=np.array(point_bodies, dtype=np.int64),
        point_R=np.array(point_R, dtype=np.float64).reshape(k, 3, 3),
        point_p=np.array(point_p, dtype=np.float64).reshape(k, 3),
    )


def find_frame(system: System, name: str) -> str | None:
    """Component path of a body or frame given by path, or of a body given by its name."""
    for path in ("/" + name.removeprefix("./").lstrip("/"), f"/bodyset/{name}"):
        try:
            return path if system.compiled.placements[path] else None
        except ModelError:
            continue
    return None


# ---- the file -------------------------------------------------------------------------------------------------------
def read_external_loads(
    path: str | Path, *, folder: str | Path | None = None, like_opensim: bool = False
) -> ExternalLoads:
    """Read an ExternalLoads file and its data file.

    The data file is looked for in `folder`, if given, beside the XML file, and in the working folder.
    """
    path = Path(path)
    root = parse_xml(path)
    document = Document(str(path), root, 0, like_opensim)
    element = root if root.tag == "ExternalLoads" else first(root, "ExternalLoads")
    if element is None:
        raise FileError("There are no ExternalLoads in this file.", file=path, found=f"<{root.tag}>",
                        expected="<OpenSimDocument> with <ExternalLoads>")
    version = root.get("Version", "")
    if version.isdigit() and int(version) < OLDEST_VERSION:
        raise FileError(f"Loads of document version {version} cannot be read.", file=path,
                        expected=f"version {OLDEST_VERSION} or later",
                        to_do="open the file in OpenSim and save it again")
    node = Node(element, document)
    _report_unknown(node, SET_TAGS)
    forces = tuple(_read_force(member) for member in node.items("objects", ""))
    if not forces:
        document.note("The external loads file has no ExternalForce.")
    if node.text("external_loads_model_kinematics_file"):
        document.note("<external_loads_model_kinematics_file> is ignored, as in OpenSim 4.")
    data = _read_data(node, path, folder, like_opensim)
    notes = (*document.notes, *(f"{data.metadata.get('file', '')}: {text}" for text in data.notes))
    return ExternalLoads(forces, data, notes, str(path))


def _read_force(node: Node) -> ExternalForce:
    if node.kind != "ExternalForce":
        raise node.error("this class of load is not supported.", expected="ExternalForce",
                         to_do="open the file in OpenSim and save it again")
    texts = {tag: node.text(tag) for tag in ("force_identifier", "point_identifier", "torque_identifier")}
    force, point, torque = ("" if text == "Unassigned" else text for text in texts.values())
    if not force and not torque:
        raise node.error("applies neither a force nor a torque.", expected="<force_identifier> or <torque_identifier>")
    if point and not force:
        raise node.error("has a point but no force to act there.",
                         to_do="give a <force_identifier>, or remove the point")
    result = ExternalForce(
        name=node.name,
        body=node.text("applied_to_body"),
        force_frame=node.text("force_expressed_in_body", "ground") or "ground",
        point_frame=node.text("point_expressed_in_body", "ground") or "ground",
        force=force,
        point=point,
        torque=torque,
        applies=node.flag("appliesForce", True) and not node.flag("isDisabled", False),
    )
    node.read.add("data_source_name")  # the data file of the set overrides it
    _report_unknown(node, ())
    if not result.applies:
        node.document.note(f"line {node.line}: {node.label} is switched off and not applied.")
    return result


def _report_unknown(node: Node, also: tuple[str, ...]) -> None:
    for child in elements(node.element):
        if child.tag not in node.read and child.tag not in also:
            node.document.note(f"line {child.sourceline}: {node.label}: unknown setting <{child.tag}> is ignored.")


def _read_data(node: Node, path: Path, folder: str | Path | None, like_opensim: bool) -> Table:
    name = node.text("datafile")
    if not name or name == "Unassigned":
        raise node.error("has no <datafile>.", expected="the .mot or .sto file with the forces")
    places = [Path(folder) / name] if folder is not None else []
    places += [path.parent / name, Path(name)]
    found = next((place for place in places if is_file(place)), None)
    if found is None:
        raise FileError("The data file of the external loads does not exist.", file=path, found=f"<datafile> {name}",
                        expected=f"a file in {path.resolve().parent.name}/ or in the working folder",
                        to_do="correct <datafile>, or put the file there")
    table = read_table(found, like_opensim=like_opensim)
    return replace(table, metadata={**table.metadata, "file": found.name})
