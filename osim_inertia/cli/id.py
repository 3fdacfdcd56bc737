"""`osim-inertia id`: inverse dynamics of a motion, from OpenSim's own setup file or from a model and a motion."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osim_inertia.cli.common import read_checked, refuse_to_overwrite, say_notes, write_results
from osim_inertia.cli.progress import Phases
from osim_inertia.cli.transfer import (
    INERTIAL_ONLY,
    Transfer,
    heavy_note,
    transfer_note,
    transfer_options,
    transfer_summary,
)
from osim_inertia.errors import FileError
from osim_inertia.setup import forces_left_out, read_inverse_dynamics_setup, unknown_exclusions

if TYPE_CHECKING:
    from collections.abc import Callable

    from osim_inertia.loads import ExternalLoads
    from osim_inertia.model.model import Model
    from osim_inertia.tables.table import Table

OUTPUT = Path("inverse_dynamics.sto")  # OpenSim's own default
EXCLUDED = ("Muscles", "Actuators")  # forces that a tool without a setup file leaves out, as OpenSim does
FEW = 8
file_path = click.Path(path_type=Path)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be done, wherever it was said."""

    model: Path
    motion: Path
    loads: Path | None
    folder: Path | None  # where the data file of the loads is looked for first
    lowpass: float | None
    time_range: tuple[float, float] | None
    excluded: tuple[str, ...]
    output: Path
    exact: bool
    like_opensim: bool  # in reading malformed files
    notes: tuple[str, ...] = ()
    body_force_joints: tuple[str, ...] = ()  # OpenSim's joints_to_report_body_forces
    body_force_output: Path | None = None
    reactions: Path | None = None
    reactions_on: str = "child"
    reactions_in: str = "ground"
    transfer: Transfer | None = None  # None: muscles as the model has them


def force_options(function: Callable) -> Callable:
    """The options of inverse dynamics that `run` has, too."""
    options = (
        click.option("--external-loads", "loads", type=file_path, help="OpenSim's ExternalLoads file (.xml)."),
        click.option("--lowpass", type=float, metavar="HZ", callback=_cutoff,
                     help="Filter the coordinates with this cutoff; -1 is no filter."),
        click.option("--like-opensim/--exact", "like_opensim", default=None,
                     help="Read damaged files as OpenSim does, with a note; or: exact mechanics where OpenSim departs "
                          "from it. By default OpenSim's numbers, and damaged files are refused."),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def _cutoff(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value == 0.0 or (value is not None and math.isnan(value)):
        raise click.BadParameter("the cutoff must be above zero (or -1 for no filter).")
    return value


@click.command("id")
@click.argument("model", type=file_path, metavar="MODEL|SETUP")
@click.argument("motion", type=file_path, required=False)
@force_options
@click.option("--time-range", type=(float, float), metavar="FROM TO", help="Seconds; by default the whole motion.")
@click.option("-o", "--output", type=file_path, help=f"Where to write. [default: {OUTPUT}, or as the setup file says]")
@click.option("--reactions", type=file_path, help="Also write the loads that each joint transmits to this file.")
@click.option("--reactions-on", type=click.Choice(["child", "parent"]), default="child", show_default=True,
              help="The body that bears the reaction loads.")  # fmt: skip
@click.option("--reactions-in", default="ground", show_default=True, metavar="FRAME",
              help="Express them in ground, child, parent, or the frame of that name.")  # fmt: skip
@transfer_options()
@click.option("--json", "as_json", is_flag=True, help="Print a summary with times as JSON.")
def id_command(
    model: Path, motion: Path | None, loads: Path | None, lowpass: float | None,
    time_range: tuple[float, float] | None, output: Path | None, like_opensim: bool | None, reactions: Path | None,
    reactions_on: str, reactions_in: str, transfer: Transfer | None, as_json: bool,
) -> None:  # fmt: skip
    """Joint moments and forces that produce MOTION, as OpenSim's Inverse Dynamics tool gives them.

    Give a model (.osim) and a motion (.mot, .sto), or a setup file (.xml) of OpenSim's tool alone; options override it.
    With --transfer, or a model (.json) of `osim-inertia convert`, the inertia of the muscles is counted.

    Example: osim-inertia id walk/model.osim walk/ik.mot --external-loads walk/grf.xml --lowpass 6 -o id.sto

    Example: osim-inertia id walk/model.osim walk/ik.mot --transfer tibia_r=0.8 -o id.sto
    """
    job = job_of(model, motion, like_opensim=bool(like_opensim), exact=like_opensim is False)
    if loads is not None:
        job = replace(job, loads=loads)
    if lowpass is not None:
        job = replace(job, lowpass=lowpass if lowpass > 0.0 else None)
    if time_range is not None:
        job = replace(job, time_range=time_range)
    if output is not None:
        job = replace(job, output=output)
    job = replace(job, reactions=reactions, reactions_on=reactions_on, reactions_in=reactions_in, transfer=transfer)
    summary = run_job(job)
    if as_json:
        click.echo(json.dumps(summary, indent=1, ensure_ascii=False))
        return
    say_notes(summary["notes"])
    seconds = sum(summary["seconds"].values())
    click.echo(f"{summary['output']}: {summary['rows']} instants, {summary['columns']} moments and forces (N m, N), "
               f"{summary['seconds']['solve']:.3g} s to solve, {seconds:.3g} s in all")  # fmt: skip


def job_of(model: Path, motion: Path | None = None, *, like_opensim: bool = False, exact: bool = False) -> Job:
    """The job of a setup file, or of a model and a motion."""
    if motion is not None:
        return Job(model=model, motion=motion, loads=None, folder=None, lowpass=None, time_range=None, output=OUTPUT,
                   excluded=EXCLUDED, exact=exact, like_opensim=like_opensim)
    if model.suffix.lower() in (".osim", ".json"):
        raise click.UsageError("A motion is missing: osim-inertia id MODEL MOTION, or osim-inertia id SETUP.xml")
    setup = read_inverse_dynamics_setup(model, like_opensim=like_opensim)
    return Job(model=setup.model, motion=setup.motion, loads=setup.external_loads, folder=setup.folder,
               lowpass=setup.lowpass, time_range=setup.time_range, excluded=setup.excluded_forces, output=setup.output,
               exact=exact, like_opensim=like_opensim, notes=setup.notes, body_force_joints=setup.body_force_joints,
               body_force_output=setup.body_force_output)


def run_job(job: Job, phases: Phases | None = None) -> dict[str, Any]:
    """Read, solve and write; the summary that --json prints."""
    from osim_inertia.warmup import announce, compiling_beside

    phases = phases or Phases()
    refuse_to_overwrite((job.model, job.motion, job.loads), (job.output, job.reactions))
    notes = list(job.notes)
    model, motion, loads = _read(job, phases, notes)
    massive = ("muscle mass",) if model.muscle_mass is not None else ()
    works = ("id", *(massive if job.transfer is None else job.transfer.work))
    announce(lambda text: click.echo(text, err=True), *works)
    with compiling_beside(*works) as wait:
        model = with_mass(job.transfer, model, job.model, phases, notes)
        note_forces_left_out(model, job.excluded, notes)
        tables = solve(job, model, motion, loads, phases, notes, wait)
    with phases("write", "Writing"):
        write_results(tables)
    forces = tables[job.output]
    spec = model.muscle_mass
    return {
        "model": str(job.model),
        "motion": str(job.motion),
        "external_loads": None if job.loads is None else str(job.loads),
        "output": str(job.output),
        "reactions": None if job.reactions is None else str(job.reactions),
        "rows": len(forces),
        "columns": len(forces.names),
        "time_range": [float(forces.time[0]), float(forces.time[-1])],
        "lowpass_hz": job.lowpass,
        "like_opensim": not job.exact,
        "muscle_mass_kg": 0.0 if spec is None else sum(muscle.mass for muscle in spec.muscles),
        "seconds": {name: round(value, 6) for name, value in phases.seconds.items()},
        "notes": notes,
    }


def _read(job: Job, phases: Phases, notes: list[str]) -> tuple[Model, Table, ExternalLoads | None]:
    with phases("read", "Reading"):
        from osim_inertia.loads import read_external_loads
        from osim_inertia.tables.sto import read_table

        model = read_checked(job.model, job.like_opensim)
        motion = read_table(job.motion, like_opensim=job.like_opensim)
        loads = None
        if job.loads is not None:
            loads = read_external_loads(job.loads, folder=job.folder, like_opensim=job.like_opensim)
    notes += [f"{job.model.name}: {text}" for text in model.notes]
    notes += [f"{job.motion.name}: {text}" for text in motion.notes]
    return model, motion, loads


def note_forces_left_out(model: Model, excluded: tuple[str, ...], notes: list[str]) -> None:
    """Forces of the model that OpenSim's tool would have counted."""
    unknown = unknown_exclusions(model, excluded)
    if unknown:
        kind = "group of forces" if model.force_groups else "force"
        notes.append(f"forces_to_exclude: the model has no {kind} called {', '.join(unknown)}; it is left out of the "
                     "list, as in OpenSim.")  # fmt: skip
    left_out = forces_left_out(model, excluded)
    if left_out:
        notes.append("These forces of the model are left out, but OpenSim applies them unless forces_to_exclude names "
                     f"them: {', '.join(left_out)}.")  # fmt: skip


def with_mass(transfer: Transfer | None, model: Model, file: Path, phases: Phases, notes: list[str]) -> Model:
    """The model with the muscle mass asked for."""
    if transfer is not None:
        with phases("transfer", "Giving muscles mass"):
            before, model = model, transfer.apply(model, file)
        summary = transfer_summary(before, model)
        notes += [transfer_note(summary), *heavy_note(summary)]
    elif model.muscle_mass is not None:
        notes.append(INERTIAL_ONLY)
    return model


def solve(
    job: Job, model: Model, motion: Table, loads: ExternalLoads | None, phases: Phases, notes: list[str],
    wait: Callable[[], object] = lambda: None,
) -> dict[Path, Table]:
    """The tables to be written, by the file they go to."""
    from osim_inertia.inverse import MotionError, forces_of, inverse_dynamics_of, kinematics_of, loads_at
    from osim_inertia.system import System
    try:
        with phases("load", "Preparing"):
            system = System(model, like_opensim=not job.exact)
            # a few frames first: what this takes is the time to load compiled code, not to solve
            kinematics_of(system, motion.rows(0, FEW), lowpass=job.lowpass, like_opensim=not job.exact)
            wait()
            few = None if loads is None else replace(loads, data=loads.data.rows(0, FEW))
            inverse_dynamics_of(system, motion.rows(0, FEW), external_loads=few, lowpass=job.lowpass,
                                like_opensim=not job.exact)
        with phases("solve", "Solving") as advance:
            moved = kinematics_of(system, motion, lowpass=job.lowpass, time_range=job.time_range,
                                  like_opensim=not job.exact)
            placed = loads_at(system, loads, moved)
            tables = {job.output: forces_of(system, moved, placed, advance)}
        if job.reactions is not None:
            with phases("reactions", "Joint reactions") as advance:
                from osim_inertia.reactions import reactions_of

                tables[job.reactions] = reactions_of(system, moved, placed, on=job.reactions_on,
                                                     expressed_in=job.reactions_in, progress=advance)
    except MotionError as error:
        raise FileError(str(error), file=job.motion) from None
    notes += [*system.warnings, *moved.notes]
    if job.body_force_joints and job.body_force_output is not None:
        from osim_inertia.body_forces import body_forces_at_joints

        body_forces = body_forces_at_joints(system, moved, tables[job.output], job.body_force_joints, notes)
        if body_forces is not None:
            tables[job.body_force_output] = body_forces
    return tables
