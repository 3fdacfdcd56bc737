"""What a report is asked to show: files and settings, from a model with a motion, markers or OpenSim's setup file."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from osim_inertia.errors import FileError
from osim_inertia.files import is_file
from osim_inertia.opensim_bridge import NO_CONTRACTION
from osim_inertia.osim.xml import parse_xml
from osim_inertia.setup import read_inverse_dynamics_setup

PERCENTS = (0, 20, 40, 60, 80)
MOTIONS, MARKERS, SETUPS = (".mot", ".sto"), (".trc", ".c3d"), (".xml",)


@dataclass(frozen=True, kw_only=True)
class Request:
    """One report. Either `motion` or `markers` is given."""

    model: Path
    motion: Path | None = None
    markers: Path | None = None
    tasks: Path | None = None  # what inverse kinematics tracks
    setup: Path | None = None
    loads: Path | None = None
    folder: Path | None = None  # where the data file of the loads is looked for first
    lowpass: float | None = None  # Hz
    time_range: tuple[float, float] | None = None  # s
    excluded: tuple[str, ...] = NO_CONTRACTION  # OpenSim's forces_to_exclude
    percents: tuple[int, ...] = PERCENTS  # of the bodies' mass that is muscle; 0 among them
    bodies: tuple[str, ...] | None = None  # None: all with muscle along them
    options: Mapping[str, Any] = field(default_factory=dict)  # further arguments of with_muscle_mass
    coordinates: tuple[str, ...] | None = None  # None: those that change most
    opensim: bool = True
    rank: bool = True
    geometry: tuple[Path, ...] = ()  # folders with meshes
    like_opensim: bool = False  # in reading malformed files
    title: str = ""
    about: str = ""  # a sentence or two for the head of the page
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> Path:
        """The file with the motion, or with its markers."""
        path = self.motion or self.markers
        assert path is not None
        return path

    @property
    def load_data(self) -> Path | None:
        """The data file of the external loads."""
        if self.loads is None:
            return None
        name = next(((node.text or "").strip() for node in parse_xml(self.loads).iter("datafile")), "")
        places = [folder / name for folder in (self.folder, self.loads.parent, Path()) if folder is not None]
        return next((place for place in places if name and is_file(place)), None)

    def input_files(self) -> list[dict[str, Any]]:
        """Role, name (without its folder), size and SHA-256 of every file the results depend on."""
        masses = self.options.get("masses")
        files = {"model": self.model, "motion": self.motion, "markers": self.markers, "marker tasks": self.tasks,
                 "setup": self.setup, "external loads": self.loads, "load data": self.load_data,
                 "muscle masses": Path(masses) if isinstance(masses, str) else None}  # fmt: skip
        return [{"role": role, "name": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
                for role, path in files.items() if path is not None]  # fmt: skip

    def settings(self) -> dict[str, Any]:
        """What was asked for, beside the files."""
        start, end = self.time_range or (-math.inf, math.inf)
        options = {name: Path(value).name if name == "masses" else value for name, value in self.options.items()}
        return {
            "percents": list(self.percents),
            "bodies": "all with muscle along them" if self.bodies is None else list(self.bodies),
            "lowpass_hz": self.lowpass,
            "time_range_s": [value if math.isfinite(value) else None for value in (start, end)],
            "forces_to_exclude": list(self.excluded),
            "like_opensim": True,
            **options,
        }


def sha256(path: Path) -> str:
    """Of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def request_of(model: Path, motion: Path | None, **given: Any) -> Request:
    """The request of a model and a motion, markers or a setup file; or of a setup file alone.

    Settings that are given override those of the setup file, as does the model, with a note.
    """
    if model.suffix.lower() == ".json":
        raise FileError("A report needs the model as OpenSim has it.", file=model, expected="an .osim file",
                        to_do="give the .osim file that `convert` started from; muscles get their mass here")
    if motion is None:
        if model.suffix.lower() not in SETUPS:
            raise FileError("A motion is missing.", file=model, expected="a motion (.mot, .sto), markers (.trc, .c3d) "
                            "or a setup file of the Inverse Dynamics tool (.xml) after the model")
        return _of_setup(None, model, given)
    kind = motion.suffix.lower()
    if kind in SETUPS:
        return _of_setup(model, motion, given)
    if kind in MARKERS:
        return Request(model=model, markers=motion, **given)
    if kind in MOTIONS:
        return Request(model=model, motion=motion, **given)
    raise FileError("It cannot be told what this file is.", file=motion, found=f"the ending '{kind}'",
                    expected="a motion (.mot, .sto), markers (.trc, .c3d) or a setup file (.xml)")


def _of_setup(model: Path | None, path: Path, given: dict[str, Any]) -> Request:
    setup = read_inverse_dynamics_setup(path, like_opensim=given.get("like_opensim", False))
    notes = list(setup.notes)
    if model is not None and model.resolve() != setup.model.resolve():
        notes.append(f"{path.name} names the model {setup.model.name}; {model.name} is used instead, as asked.")
    found = {"loads": setup.external_loads, "lowpass": setup.lowpass, "time_range": setup.time_range}
    return Request(
        model=model or setup.model, motion=setup.motion, setup=path, folder=setup.folder, notes=tuple(notes),
        excluded=setup.excluded_forces, **{**found, **given},
    )  # fmt: skip
