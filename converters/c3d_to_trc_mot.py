# /// script
# requires-python = ">=3.10"
# dependencies = ["osim-inertia[c3d]"]
#
# [tool.uv.sources]
# osim-inertia = { path = ".." }
# ///
"""C3D -> TRC + MOT: a motion capture trial as the marker and ground reaction files that OpenSim's tools read.

    TRIAL.c3d --ezc3d--> markers ------------------------------> NAME.trc
                    \\--> force plates: force, centre, moment --> NAME_grf.mot  (and NAME_grf.xml with --feet)

Axes are turned so that Y points up. Forces are those that act on the body, at the centre of pressure, with the free
moment about the plate's normal. Gaps of markers stay empty.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from osim_inertia.errors import FileError, OsimInertiaError
from osim_inertia.files import atomic_write_text
from osim_inertia.markers.c3d import Y_UP, Recording, read_c3d, recording
from osim_inertia.markers.trc import write_trc
from osim_inertia.tables.sto import write_table
from osim_inertia.tables.table import Table

EXAMPLES = """examples:
  python converters/c3d_to_trc_mot.py walk.c3d                          walk.trc and walk_grf.mot beside it
  python converters/c3d_to_trc_mot.py walk.c3d -o out/walk --up z       the laboratory's Z axis points up
  python converters/c3d_to_trc_mot.py walk.c3d --rotate x=-90,y=90      the same, then 90 degrees about the new vertical
  python converters/c3d_to_trc_mot.py walk.c3d --feet calcn_r,calcn_l   also walk_grf.xml: plate 1 right, plate 2 left
"""
UPSIDE = np.array([0.0, 1.0, 0.0])
UNUSED_PLATE = "-"


def main(arguments: list[str] | None = None) -> int:
    """Convert one file; 0 if all is written, 1 with a message if nothing is."""
    options = parser().parse_args(arguments)
    try:
        report = convert(options)
    except (OsimInertiaError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(report, indent=1))
        return 0
    for note in report["notes"]:
        print(f"note: {note}", file=sys.stderr)
    for path, content in report["files"].items():
        print(f"{path}: {content}")
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Convert a C3D file to TRC (markers) and MOT (ground reaction).",
                                   epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("c3d", type=Path, help="the trial")
    made.add_argument("-o", "--output", metavar="NAME", help="path and stem of the files; default: the trial's own")
    axes = made.add_mutually_exclusive_group()
    axes.add_argument("--up", choices=("x", "y", "z"), help="the file's vertical axis; default: found out")
    axes.add_argument("--rotate", metavar="AXIS=DEG,…", help="turn the file's axes instead, one after another")
    made.add_argument("--units", choices=("mm", "m"), default="mm", help="of the TRC file (default mm)")
    made.add_argument("--threshold", type=float, default=20.0, metavar="N",
                      help="vertical force below which a plate is unloaded (default 20)")  # fmt: skip
    made.add_argument("--feet", metavar="BODY,…", help="body on each plate, '-' for none: also write ExternalLoads")
    made.add_argument("--from-zero", action="store_true", help="let the trial start at 0 s")
    made.add_argument("--json", action="store_true", help="print what was done as JSON")
    return made


def convert(options: argparse.Namespace) -> dict:
    """Read, turn, write. Everything is checked before the first file is written."""
    stem = options.output or str(options.c3d.with_suffix(""))
    if not options.threshold >= 0.0:
        raise ValueError(f"--threshold is {options.threshold}; expected 0 N or more.")
    folder = Path(stem).parent
    if not folder.is_dir():
        raise FileError("The folder for the results does not exist.", file=stem, found=str(folder),
                        to_do="make it, or give another place with -o")
    found, notes = in_axes_of_opensim(options.c3d, options.up, options.rotate)
    if options.from_zero:
        found = from_zero(found)
    forces = None if found.forces is None else unloaded_plates_at_rest(found.forces, options.threshold, notes)
    loads = external_loads(options.feet, forces, Path(f"{stem}_grf.mot")) if options.feet else ""

    files = {f"{stem}.trc": f"{len(found.markers)} frames of {len(found.markers.names)} markers"}
    write_trc(found.markers, f"{stem}.trc", units=options.units, decimals=5 if options.units == "mm" else 8)
    if forces is not None:
        write_table(forces, f"{stem}_grf.mot", decimals=8)
        files[f"{stem}_grf.mot"] = f"{len(forces)} rows of {len(forces.names) // 9} force plates"
    else:
        notes.append("There are no force plates to write.")
    if loads:
        atomic_write_text(f"{stem}_grf.xml", loads)
        files[f"{stem}_grf.xml"] = "ExternalLoads"
    gaps = int(np.isnan(found.markers.positions[..., 0]).sum())
    return {"files": files, "up": found.up, "gaps": gaps, "notes": notes}


# ---- reading --------------------------------------------------------------------------------------------------------
def in_axes_of_opensim(path: Path, up: str | None, rotate: str | None) -> tuple[Recording, list[str]]:
    """Markers and forces with Y up, and notes on what could not be read."""
    notes: list[str] = []
    turn = rotation(rotate) if rotate else None
    if turn is not None:
        up = "xyz"[int(np.abs(turn[1]).argmax())]
        if np.abs(turn[1]).max() < 1.0 - 1e-6:
            notes.append("After --rotate no axis of the file is vertical.")
    found = read_with_or_without_plates(path, up, notes)
    if turn is not None:
        found = turned(found, turn @ Y_UP[up].T)
    return pushing_up(found), notes


def read_with_or_without_plates(path: Path, up: str | None, notes: list[str]) -> Recording:
    """Plates of a type that ezc3d cannot compute do not keep the markers from being read."""
    try:
        return read_c3d(path, up=up)
    except FileError as error:
        import ezc3d

        try:
            content = ezc3d.c3d(str(path))
        except Exception:  # then it was not the plates; ezc3d raises bare C++ errors of any class
            raise error from None
        story = str(error).partition("C3D: ")[2].splitlines()
        if not story:
            raise
        notes.append(f"The force plates are left out: {story[0]}")
        return recording(content, path, up)


def rotation(text: str) -> np.ndarray:
    """(3, 3) from "x=-90,y=90": turns about the fixed axes, one after another."""
    R = np.eye(3)
    for word in text.split(","):
        hit = re.fullmatch(r"\s*([xyz])\s*=\s*([-+]?\d+(?:\.\d*)?)\s*", word)
        if not hit:
            raise ValueError(f"--rotate has '{word}'; expected an axis and degrees, such as x=-90 or x=-90,y=180.")
        i, angle = "xyz".index(hit[1]), np.radians(float(hit[2]))
        j, k = (i + 1) % 3, (i + 2) % 3
        one = np.eye(3)
        one[j, j] = one[k, k] = np.round(np.cos(angle), 15)  # quarter turns are exact
        one[k, j] = np.round(np.sin(angle), 15)
        one[j, k] = -one[k, j]
        R = one @ R
    return R


def turned(found: Recording, R: np.ndarray) -> Recording:
    """Everything in other axes."""
    forces = found.forces
    if forces is not None:
        vectors = forces.values.reshape(len(forces), -1, 3)
        forces = forces.with_values((vectors @ R.T).reshape(forces.values.shape))
    return replace(found, markers=replace(found.markers, positions=found.markers.positions @ R.T), forces=forces)


def pushing_up(found: Recording) -> Recording:
    """A floor only pushes: where the plates pull on the whole, the file has what the foot does to the plate."""
    if found.forces is None:
        return found
    parts = found.forces.values.reshape(len(found.forces), -1, 3, 3)  # plate; force, point, torque; x y z
    if np.nansum(parts[:, :, 0] @ UPSIDE) >= 0.0:
        return found
    signs = np.array([-1.0, 1.0, -1.0])[:, None]
    return replace(found, forces=found.forces.with_values((parts * signs).reshape(found.forces.values.shape)))


def from_zero(found: Recording) -> Recording:
    """The same trial with the first frame at 0 s."""
    start = found.markers.time[0]
    forces = None if found.forces is None else replace(found.forces, time=found.forces.time - start)
    return replace(found, markers=replace(found.markers, time=found.markers.time - start), forces=forces)


# ---- forces ---------------------------------------------------------------------------------------------------------
def unloaded_plates_at_rest(forces: Table, threshold: float, notes: list[str]) -> Table:
    """No force and no moment below the threshold.

    The centre of pressure, which means nothing there, stays where it is at the nearest loaded instant: OpenSim
    interpolates these columns with splines, and a jump to zero would swing into the loaded part.
    """
    parts = forces.values.reshape(len(forces), -1, 3, 3).copy()
    for plate in range(parts.shape[1]):
        loaded = np.flatnonzero(parts[:, plate, 0] @ UPSIDE > threshold)
        if not len(loaded):
            parts[:, plate] = 0.0
            notes.append(f"Plate {plate + 1} is never loaded by more than {threshold:g} N.")
            continue
        rows = np.arange(len(forces))
        after = np.clip(np.searchsorted(loaded, rows), 0, len(loaded) - 1)
        before = np.maximum(after - 1, 0)
        nearer_before = np.abs(rows - loaded[before]) < np.abs(loaded[after] - rows)
        parts[:, plate, 1] = parts[np.where(nearer_before, loaded[before], loaded[after]), plate, 1]
        unloaded = np.setdiff1d(rows, loaded)
        parts[unloaded, plate, 0] = parts[unloaded, plate, 2] = 0.0
    return forces.with_values(parts.reshape(forces.values.shape))


def external_loads(feet: str, forces: Table | None, data: Path) -> str:
    """An ExternalLoads file: which body stands on which plate."""
    plates = 0 if forces is None else len(forces.names) // 9
    bodies = [word.strip() for word in feet.split(",")]
    if len(bodies) != plates or not all(bodies):
        raise ValueError(f"--feet names {len(bodies)} bodies and the file has {plates} force plates; expected one body "
                         f"for each plate, '{UNUSED_PLATE}' for a plate nobody steps on.")  # fmt: skip
    forces_xml = "".join(
        f"""\t\t\t<ExternalForce name="plate_{plate}_on_{escape(body, {'"': "&quot;"})}">
\t\t\t\t<applied_to_body>{escape(body)}</applied_to_body>
\t\t\t\t<force_expressed_in_body>ground</force_expressed_in_body>
\t\t\t\t<point_expressed_in_body>ground</point_expressed_in_body>
\t\t\t\t<force_identifier>ground_force_{plate}_v</force_identifier>
\t\t\t\t<point_identifier>ground_force_{plate}_p</point_identifier>
\t\t\t\t<torque_identifier>ground_torque_{plate}_</torque_identifier>
\t\t\t</ExternalForce>
"""
        for plate, body in enumerate(bodies, 1)
        if body != UNUSED_PLATE
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="40000">
\t<ExternalLoads name="ground_reaction">
\t\t<objects>
{forces_xml}\t\t</objects>
\t\t<datafile>{escape(data.name)}</datafile>
\t</ExternalLoads>
</OpenSimDocument>
"""


if __name__ == "__main__":
    sys.exit(main())
