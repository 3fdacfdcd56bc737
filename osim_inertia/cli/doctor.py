"""`osim-inertia doctor`: lists paths that jump, flip side, or have points inside the objects they wrap over."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osim_inertia.cli.common import like_opensim_option, model_argument, read_checked
from osim_inertia.cli.progress import Phases
from osim_inertia.errors import FileError, OsimInertiaError

if TYPE_CHECKING:
    from osim_inertia.doctor import Finding

file_path = click.Path(path_type=Path)
POSE_WORDS = 8  # coordinates of a pose that are printed


@click.command()
@model_argument
@click.argument("motion", type=file_path, required=False)
@click.option("--paths", type=click.Choice(["opensim", "shortest"]), default="opensim", show_default=True,
              help="OpenSim's construction of wrapped paths, or the true shortest path.")  # fmt: skip
@click.option("--length-jump", type=float, default=0.1, show_default=True, metavar="MM", help="Smallest jump to tell.")
@click.option("--arm-jump", type=float, default=1.0, show_default=True, metavar="MM", help="The same for moment arms.")
@click.option("--steps", type=click.IntRange(min=3), default=60, show_default=True, help="Poses along a coordinate.")
@click.option("--random", "random_lines", type=click.IntRange(min=0), default=40, show_default=True,
              help="Lines between two random poses.")  # fmt: skip
@click.option("--plot", type=file_path, metavar="FILE.html", help="Plot what was found. Needs plotly.")
@click.option("--check", is_flag=True, help="End with exit code 1 if anything was found.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON (SI units, radians).")
@like_opensim_option
@click.pass_context
def doctor(
    ctx: click.Context, model: Path, motion: Path | None, paths: str, length_jump: float, arm_jump: float, steps: int,
    random_lines: int, plot: Path | None, check: bool, as_json: bool, like_opensim: bool,
) -> None:  # fmt: skip
    """Find muscle paths whose length or moment arm jumps, that flip side, or that start inside a wrap object.

    Moves each coordinate that matters to a path alone over its range, and many together between random poses; with
    MOTION (.mot, .sto) looks along that motion instead.

    Example: osim-inertia doctor models/leg11dof4musc/leg11dof4musc.osim
    """
    if plot is not None and plot.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter("plots are a page: give a name that ends in .html.", param_hint="--plot")
    for name, value in (("--length-jump", length_jump), ("--arm-jump", arm_jump)):
        if not 0.0 < value < math.inf:
            raise click.BadParameter("expected more than zero.", param_hint=name)
    summary, findings = run(model, motion, paths=paths, limits_mm=(length_jump, arm_jump), steps=steps,
                            random_lines=random_lines, plot=plot, like_opensim=like_opensim)
    if as_json:
        click.echo(json.dumps(summary, indent=1, ensure_ascii=False))
    else:
        _show(summary, findings)
    if check and findings:
        ctx.exit(1)


def run(
    model_file: Path, motion_file: Path | None = None, *, paths: str = "opensim",
    limits_mm: tuple[float, float] = (0.1, 1.0), steps: int = 60, random_lines: int = 40, plot: Path | None = None,
    like_opensim: bool = False,
) -> tuple[dict[str, Any], list[Finding]]:  # fmt: skip
    """Read, examine, plot; the summary that --json prints, and the findings."""
    phases = Phases()
    with phases("read", "Reading"):
        model = read_checked(model_file, like_opensim)
        if plot is not None:
            from osim_inertia.doctor_plot import require_plotly, write_plots

            require_plotly()  # before the work, not after it
    notes = [f"{model_file.name}: {text}" for text in model.notes]
    with phases("load", "Preparing"):
        from osim_inertia.doctor import Limits, examine
        from osim_inertia.doctor_lines import line_of_motion, lines_over_ranges
        from osim_inertia.system import System
        from osim_inertia.warmup import announce

        announce(lambda text: click.echo(text, err=True), f"{paths} paths")
        system = System(model)
        if motion_file is None:
            lines = lines_over_ranges(system, steps=steps, random_lines=random_lines)
        else:
            from osim_inertia.tables.sto import read_table

            motion = read_table(motion_file, like_opensim=like_opensim)
            notes += [f"{motion_file.name}: {text}" for text in motion.notes]
            try:
                lines = [line_of_motion(system, motion)]
            except OsimInertiaError as error:
                raise FileError(str(error), file=motion_file) from None
    with phases("examine", "Examining") as advance:
        limits = Limits(length=1e-3 * limits_mm[0], arm=1e-3 * limits_mm[1])
        findings = examine(system, lines, paths=paths, limits=limits, progress=advance)
    if plot is not None:
        with phases("plot", "Plotting"):
            write_plots(system, lines, findings, plot, paths=paths)
    summary = {
        "model": str(model_file),
        "motion": None if motion_file is None else str(motion_file),
        "paths": paths,
        "examined": {"paths": len(system.path_names), "poses": sum(len(line.q) for line in lines)},
        "findings": [_plain(item) for item in findings],
        "plot": None if plot is None else str(plot),
        "seconds": {name: round(value, 6) for name, value in phases.seconds.items()},
        "notes": notes,
    }
    return summary, findings


def _plain(finding: Finding) -> dict[str, Any]:
    """For JSON, which has no NaN."""
    before, after = (
        {name: None if math.isnan(value) else value for name, value in zip(("length", "moment_arm"), side)}
        for side in (finding.before, finding.after)
    )
    size = finding.size if math.isfinite(finding.size) else None
    return {**asdict(finding), "size": size, "before": before, "after": after, "words": finding.words()}


def _show(summary: dict[str, Any], findings: list[Finding]) -> None:
    for text in summary["notes"]:
        click.echo(f"note: {text}", err=True)
    kind = ""
    for item in findings:
        if item.kind != kind:
            kind = item.kind
            click.echo(f"{kind}:")
        more = f" (and {item.count - 1} more places)" if item.count > 1 else ""
        click.echo(f"  {item.path}: {item.words()}{more}")
        if item.where.startswith("a random"):
            pose = [f"{name} {value:.3f}" for name, value in list(item.pose.items())[:POSE_WORDS]]
            click.echo(f"    pose: {', '.join(pose)}{' …' if len(item.pose) > POSE_WORDS else ''}")
    examined = summary["examined"]
    found = f"{len(findings)} findings" if findings else "nothing found"
    click.echo(f"{found} on {examined['paths']} paths in {examined['poses']} poses, "
               f"{sum(summary['seconds'].values()):.3g} s")  # fmt: skip
    if summary["plot"]:
        click.echo(f"plots: {summary['plot']}")
