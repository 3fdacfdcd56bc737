"""`osim-inertia muscles`: lengths, lengthening speeds and moment arms of all muscles along a motion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from osim_inertia.cli.common import like_opensim_option, model_argument, read_checked
from osim_inertia.cli.progress import Phases
from osim_inertia.errors import FileError, OsimInertiaError

FEW = 8  # frames to load the compiled code with
file_path = click.Path(path_type=Path)


@click.command()
@model_argument
@click.argument("motion", type=file_path)
@click.option("-o", "--output", type=file_path, default=Path("."), show_default=True, help="Folder for the files.")
@click.option("--name", help="What the names of the files begin with. [default: the name of the motion]")
@click.option("--paths", type=click.Choice(["opensim", "shortest"]), default="opensim", show_default=True,
              help="OpenSim's construction of wrapped paths, or the true shortest path.")  # fmt: skip
@click.option("--time-range", type=(float, float), metavar="FROM TO", help="Seconds; by default the whole motion.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary with times as JSON.")
@like_opensim_option
def muscles(
    model: Path, motion: Path, output: Path, name: str | None, paths: str, time_range: tuple[float, float] | None,
    as_json: bool, like_opensim: bool,
) -> None:  # fmt: skip
    """Lengths, lengthening speeds and moment arms of the muscles along MOTION, in files like OpenSim's MuscleAnalysis.

    Writes NAME_MuscleAnalysis_Length.sto, _LengtheningSpeed.sto and a _MomentArm_COORDINATE.sto for each coordinate.

    Example: osim-inertia muscles walk/model.osim walk/ik.mot -o results
    """
    summary = run(model, motion, output, name or motion.stem, paths, time_range, like_opensim)
    if as_json:
        click.echo(json.dumps(summary, indent=1, ensure_ascii=False))
        return
    for text in summary["notes"]:
        click.echo(f"note: {text}", err=True)
    click.echo(f"{summary['output']}: {len(summary['files'])} files, {summary['rows']} instants, "
               f"{summary['columns']} muscles, {summary['seconds']['solve']:.3g} s to solve, "
               f"{sum(summary['seconds'].values()):.3g} s in all")  # fmt: skip


def run(
    model_file: Path, motion_file: Path, output: Path, name: str, paths: str,
    time_range: tuple[float, float] | None = None, like_opensim: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Read, solve and write; the summary that --json prints."""
    phases = Phases()
    with phases("read", "Reading"):
        from osim_inertia.tables.sto import read_table

        model = read_checked(model_file, like_opensim)
        motion = read_table(motion_file, like_opensim=like_opensim)
    if not model.muscles:
        raise FileError("The model has no muscles.", file=model_file)
    with phases("load", "Preparing"):
        from osim_inertia.muscle_analysis import REMARK, muscle_analysis
        from osim_inertia.system import System
        from osim_inertia.warmup import announce

        announce(lambda text: click.echo(text, err=True), f"{paths} paths")
        system = System(model)
        few = motion.rows(0, FEW)
        if len(few) == FEW:  # what this takes is the time to load compiled code, not to solve
            muscle_analysis(system, few, paths=paths)
    with phases("solve", "Solving") as advance:
        try:
            tables = muscle_analysis(system, motion, paths=paths, time_range=time_range, progress=advance)
        except OsimInertiaError as error:
            raise FileError(str(error), file=motion_file) from None
    with phases("write", "Writing"):
        files = _write(tables, output, name, REMARK)
    length = tables["Length"]
    notes = [f"{model_file.name}: {text}" for text in model.notes]
    notes += [f"{motion_file.name}: {text}" for text in motion.notes]
    return {
        "model": str(model_file),
        "motion": str(motion_file),
        "output": str(output),
        "files": files,
        "paths": paths,
        "rows": len(length),
        "columns": len(length.names),
        "time_range": [float(length.time[0]), float(length.time[-1])],
        "seconds": {phase: round(value, 6) for phase, value in phases.seconds.items()},
        "notes": [*notes, *system.warnings, *length.notes],
    }


def _write(tables: dict[str, Any], output: Path, name: str, remark: str) -> list[str]:
    from osim_inertia.tables.sto import write_table

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder for the results cannot be made: {error.strerror or error}.", file=output,
                        found=str(output)) from None
    files = []
    for quantity, table in tables.items():
        file = output / f"{name}_MuscleAnalysis_{quantity}.sto"
        try:
            write_table(table, file, name=quantity, remark=remark)
        except ValueError as error:  # a length that is not a number, where OpenSim's construction has none
            raise FileError(str(error), file=file, to_do="try --paths shortest") from None
        files.append(file.name)
    return files
