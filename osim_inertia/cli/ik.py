"""`osim-inertia ik`: inverse kinematics, from OpenSim's own setup file or from a model and markers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osim_inertia.cli.common import read_checked, refuse_to_overwrite, say_notes, write_results
from osim_inertia.cli.progress import Phases

if TYPE_CHECKING:
    from osim_inertia.markers.data import MarkerData
    from osim_inertia.markers.fit import InverseKinematics
    from osim_inertia.markers.tasks import TaskSet
    from osim_inertia.model.model import Model
    from osim_inertia.tables.table import Table

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


def tracking_options(function: Callable) -> Callable:
    """The options of inverse kinematics that `run` has, too."""
    options = (
        click.option("--tasks", type=file_path, help="What to track: a file with an IKTaskSet, such as a setup file."),
        click.option("--marker-set", type=file_path,
                     help="A MarkerSet file: its markers replace or join those of the model."),
        click.option("--weights", multiple=True, metavar="MARKER=WEIGHT", callback=_weights,
                     help="Weight of a marker; may be given many times. With it only the markers that are named, here "
                          "or in the tasks, are tracked."),
        click.option("--hold-missing", type=click.FloatRange(min=0.0), default=0.0, metavar="SHARE",
                     help="Hold limbs that lost markers near the frame before; 0.01 to 0.1 of the markers' weight is "
                          "enough. By default missing markers are left out, as in OpenSim."),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def _weights(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    weights = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            weights[name] = math.nan
        if not name or not 0.0 <= weights[name] < math.inf:
            raise click.BadParameter(f"'{text}' is not MARKER=WEIGHT, a weight of 0 or more.")
    return weights


@click.command("ik")
@click.argument("model", type=file_path, metavar="MODEL|SETUP")
@click.argument("markers", type=file_path, required=False)
@tracking_options
@click.option("--time-range", type=(float, float), metavar="FROM TO", help="Seconds; by default all frames.")
@click.option("-o", "--output", type=file_path, help=f"Where to write. [default: {OUTPUT}, or as the setup file says]")
@click.option("--errors", type=file_path, help="Also write the marker errors of every frame to this file.")
@click.option("--locations", type=file_path, help="Also write where the model's markers are to this file.")
@click.option("--like-opensim", is_flag=True, help="Read damaged files as OpenSim does, with a note.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary with times as JSON.")
def ik_command(
    model: Path, markers: Path | None, tasks: Path | None, marker_set: Path | None, weights: dict[str, float],
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
        weights=weights,
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
    say_notes(summary["notes"])
    place, solve = summary["output"] or "not written", summary["seconds"]["solve"]
    total = sum(summary["seconds"].values())
    rms, largest = 1000 * summary["marker_error_rms_m"], 1000 * summary["marker_error_max_m"]
    click.echo(f"{place}: {summary['frames']} frames, {summary['coordinates']} coordinates, marker error {rms:.1f} mm "
               f"RMS, {largest:.1f} mm at most, {solve:.3g} s to solve, {total:.3g} s in all")


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
    written = {"output": job.output, "marker_errors": job.errors, "marker_locations": job.locations}
    refuse_to_overwrite((job.model, job.markers, job.coordinate_file, job.marker_set), written.values())
    trial = read(job, phases)
    found = solve(job, trial, phases)
    with phases("write", "Writing"):
        write_results(*tables_of(found, job))
    notes = [*job.notes, *(f"{job.model.name}: {text}" for text in trial.model.notes), *found.notes]
    if job.output is None:
        notes.append("The setup names no <output_motion_file>, so the motion is not written; give one with -o.")
    return {
        "model": str(job.model),
        "markers_file": str(job.markers),
        **{key: None if path is None else str(path) for key, path in written.items()},
        **quality(found),
        "seconds": {name: round(value, 6) for name, value in phases.seconds.items()},
        "notes": notes,
    }


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What the files of a job hold."""

    model: Model
    markers: MarkerData
    tasks: TaskSet | None
    values: Table | None  # of the coordinate file
    forces: Table | None  # of the force plates of a .c3d file


def read(job: Job, phases: Phases) -> Trial:
    """Read the files of a job."""
    with phases("read", "Reading"):
        from osim_inertia.markers.data import read_markers_and_forces
        from osim_inertia.markers.tasks import read_marker_set, read_tasks, with_markers
        from osim_inertia.tables.sto import read_table

        model = read_checked(job.model, job.like_opensim)
        if job.marker_set is not None:
            model = with_markers(model, read_marker_set(job.marker_set, model))
        markers, forces = read_markers_and_forces(job.markers)
        if job.time_range is not None:
            markers = markers.between(*job.time_range)
        tasks = read_tasks(job.tasks) if isinstance(job.tasks, Path) else job.tasks
        values = None if job.coordinate_file is None else read_table(job.coordinate_file, like_opensim=job.like_opensim)
    return Trial(model=model, markers=markers, tasks=tasks, values=values, forces=forces)


def solve(job: Job, trial: Trial, phases: Phases) -> InverseKinematics:
    """Fit all frames."""
    given: dict[str, Any] = {"tasks": trial.tasks, "weights": job.weights, "coordinate_file": trial.values}
    with phases("load", "Preparing"):
        from osim_inertia.markers.fit import inverse_kinematics
        from osim_inertia.system import System
        from osim_inertia.warmup import announce

        announce(lambda text: click.echo(text, err=True), "ik")
        system = System(trial.model)
        # a few frames first: what this takes is the time to load compiled code, not to solve
        inverse_kinematics(system, trial.markers.rows(0, FEW), **given)
    with phases("solve", "Solving") as advance:
        return inverse_kinematics(system, trial.markers, **given, hold_missing=job.hold_missing, progress=advance)


def tables_of(found: InverseKinematics, job: Job) -> tuple[dict[Path, Table], dict[Path, str]]:
    """The tables to write by their files, and what OpenSim says in the header of a motion."""
    from osim_inertia.tables.sto import UNITS_REMARK

    tables, remarks = {}, {}
    if job.output is not None:
        tables[job.output], remarks[job.output] = found.coordinates, UNITS_REMARK
    if job.errors is not None:
        tables[job.errors] = found.marker_errors
    if job.locations is not None:
        tables[job.locations] = found.marker_locations
    return tables, remarks


def quality(found: InverseKinematics) -> dict[str, Any]:
    """Size of the problem and how well it was solved, in plain Python types."""
    return {
        "frames": len(found.q),
        "coordinates": len(found.coordinates.names),
        "markers": list(found.markers),
        "time_range": [float(found.coordinates.time[0]), float(found.coordinates.time[-1])],
        "marker_error_rms_m": found.rms,
        "marker_error_max_m": float(found.marker_errors.values[:, 2].max()),
        "iterations": {"mean": float(abs(found.iterations).mean()), "max": int(abs(found.iterations).max())},
    }
