"""`osim-inertia ik`: inverse kinematics, from OpenSim's own setup file or from a model and markers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osim_inertia.cli.common import read_checked
from osim_inertia.cli.progress import Phases
from osim_inertia.errors import FileError

if TYPE_CHECKING:
    from osim_inertia.markers.fit import InverseKinematics
    from osim_inertia.markers.tasks import TaskSet

OUTPUT = Path("ik.mot")
FEW = 2
file_path = click.Path(path_type=Path)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be done, wherever it was said."""

    model: Path
    markers: Path
    like_opensim: bool
    tasks: TaskSet | Path | None = None
    weights: dict[str, float] = field(default_factory=dict)
    coordinate_file: Path | None = None
    time_range: tuple[float, float] | None = None
    output: Path | None = None
    errors: Path | None = None
    locations: Path | None = None
    hold_missing: float = 0.0
    marker_set: Path | None = None
    notes: tuple[str, ...] = ()


@click.command("ik")
@click.argument("model", type=file_path, metavar="MODEL|SETUP")
@click.argument("markers", type=file_path, required=False)
@click.option("--tasks", type=file_path, help="What to track: a file with an IKTaskSet, such as a setup file.")
@click.option("--marker-set", type=file_path, help="A MarkerSet file: its markers replace or join those of the model.")
@click.option("--weights", multiple=True, metavar="MARKER=WEIGHT", help="Weight of a marker; may be given many times. "
              "With it only the markers that are named, here or in the tasks, are tracked.")  # fmt: skip
@click.option("--time-range", type=(float, float), metavar="FROM TO", help="Seconds; by default all frames.")
@click.option("-o", "--output", type=file_path, help=f"Where to write. [default: {OUTPUT}, or as the setup file says]")
@click.option("--errors", type=file_path, help="Also write the marker errors of every frame to this file.")
@click.option("--locations", type=file_path, help="Also write where the model's markers are to this file.")
@click.option("--hold-missing", type=click.FloatRange(min=0.0), default=0.0, metavar="SHARE",
              help="Hold limbs that lost markers near the frame before; 0.01 to 0.1 of the markers' weight is enough. "
                   "By default missing markers are left out, as in OpenSim.")  # fmt: skip
@click.option("--like-opensim", is_flag=True, help="Read damaged files as OpenSim does, with a note.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary with times as JSON.")
def ik_command(
    model: Path, markers: Path | None, tasks: Path | None, marker_set: Path | None, weights: tuple[str, ...],
    time_range: tuple[float, float] | None, output: Path | None, errors: Path | None, locations: Path | None,
    hold_missing: float, like_opensim: bool, as_json: bool,
) -> None:  # fmt: skip
    """Coordinates that bring the model's markers closest to the measured ones in every frame.

    Give a model (.osim) and markers (.trc, .c3d), or a setup file (.xml) of OpenSim's tool alone; options override it.

    Example: osim-inertia ik walk/model.osim walk/markers.trc --tasks walk/setup_ik.xml -o walk/ik.mot
    """
    job = job_of(model, markers, like_opensim=like_opensim)
    summary = run_job(replace(
        job,
        tasks=tasks or job.tasks,
        weights=_weights(weights),
        time_range=time_range or job.time_range,
        output=output or job.output,
        errors=errors or job.errors,
        locations=locations or job.locations,
        hold_missing=hold_missing,
        marker_set=marker_set,
    ))  # fmt: skip
    if as_json:
        click.echo(json.dumps(summary, indent=1, ensure_ascii=False))
        return
    for text in summary["notes"]:
        click.echo(f"note: {text}", err=True)
    place, solve = summary["output"] or "not written", summary["seconds"]["solve"]
    total = sum(summary["seconds"].values())
    rms, largest = 1000 * summary["marker_error_rms_m"], 1000 * summary["marker_error_max_m"]
    click.echo(f"{place}: {summary['frames']} frames, {summary['coordinates']} coordinates, marker error {rms:.1f} mm "
               f"RMS, {largest:.1f} mm at most, {solve:.3g} s to solve, {total:.3g} s in all")


def _weights(texts: tuple[str, ...]) -> dict[str, float]:
    weights = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            weights[name] = math.nan
        if not name or not 0.0 <= weights[name] < math.inf:
            raise click.BadParameter(f"'{text}' is not MARKER=WEIGHT, a weight of 0 or more.", param_hint="--weights")
    return weights


def job_of(model: Path, markers: Path | None = None, *, like_opensim: bool = False) -> Job:
    """The job of a setup file, or of a model and markers."""
    if markers is not None:
        return Job(model=model, markers=markers, output=OUTPUT, like_opensim=like_opensim)
    if model.suffix.lower() == ".osim":
        raise click.UsageError("Markers are missing: osim-inertia ik MODEL MARKERS, or osim-inertia ik SETUP.xml")
    from osim_inertia.setup_ik import read_inverse_kinematics_setup

    setup = read_inverse_kinematics_setup(model, like_opensim=like_opensim)
    return Job(model=setup.model, markers=setup.markers, tasks=setup.tasks, coordinate_file=setup.coordinate_file,
               time_range=setup.time_range, output=setup.output, errors=setup.errors, locations=setup.locations,
               like_opensim=like_opensim, notes=setup.notes)  # fmt: skip


def run_job(job: Job, phases: Phases | None = None) -> dict[str, Any]:
    """Read, solve and write; the summary that --json prints."""
    phases = phases or Phases()
    with phases("read", "Reading"):
        from osim_inertia.markers.data import read_markers
        from osim_inertia.markers.tasks import read_marker_set, read_tasks, with_markers
        from osim_inertia.tables.sto import read_table

        model = read_checked(job.model, job.like_opensim)
        if job.marker_set is not None:
            model = with_markers(model, read_marker_set(job.marker_set, model))
        markers = read_markers(job.markers)
        if job.time_range is not None:
            markers = markers.between(*job.time_range)
        tasks = read_tasks(job.tasks) if isinstance(job.tasks, Path) else job.tasks
        values = None if job.coordinate_file is None else read_table(job.coordinate_file, like_opensim=job.like_opensim)
    with phases("load", "Preparing"):
        from osim_inertia.markers.fit import inverse_kinematics
        from osim_inertia.system import System
        from osim_inertia.warmup import announce

        announce(lambda text: click.echo(text, err=True), "ik")
        system = System(model)
        # a few frames first: what this takes is the time to load compiled code, not to solve
        inverse_kinematics(system, markers.rows(0, FEW), tasks=tasks, weights=job.weights, coordinate_file=values)
    with phases("solve", "Solving") as advance:
        found = inverse_kinematics(system, markers, tasks=tasks, weights=job.weights, coordinate_file=values,
                                   hold_missing=job.hold_missing, progress=advance)  # fmt: skip
    with phases("write", "Writing"):
        write_results(found, job.output, job.errors, job.locations)
    notes = [*job.notes, *(f"{job.model.name}: {text}" for text in model.notes), *found.notes]
    if job.output is None:
        notes.append("The setup names no <output_motion_file>, so the motion is not written; give one with -o.")
    written = {"output": job.output, "marker_errors": job.errors, "marker_locations": job.locations}
    return {
        "model": str(job.model),
        "markers_file": str(job.markers),
        **{key: None if path is None else str(path) for key, path in written.items()},
        "frames": len(found.q),
        "coordinates": len(found.coordinates.names),
        "markers": list(found.markers),
        "time_range": [float(markers.time[0]), float(markers.time[-1])],
        "marker_error_rms_m": found.rms,
        "marker_error_max_m": float(found.marker_errors.values[:, 2].max()),
        "iterations": {"mean": float(abs(found.iterations).mean()), "max": int(abs(found.iterations).max())},
        "seconds": {name: round(value, 6) for name, value in phases.seconds.items()},
        "notes": notes,
    }


def write_results(found: InverseKinematics, output: Path | None, errors: Path | None, locations: Path | None) -> None:
    """Write the motion, and the errors and marker locations where asked for, headed as OpenSim heads them."""
    from osim_inertia.tables.sto import UNITS_REMARK, write_table

    for path in (output, errors, locations):
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"The folder for the results cannot be made: {error.strerror or error}.", file=path,
                            found=str(path.parent)) from None
    if output is not None:
        write_table(found.coordinates, output, remark=UNITS_REMARK)
    if errors is not None:
        write_table(found.marker_errors, errors)
    if locations is not None:
        write_table(found.marker_locations, locations)
