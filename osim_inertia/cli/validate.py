"""`osim-inertia validate`: OpenSim's moments beside ours, and what muscle mass changes, as a report for a reviewer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from osim_inertia.cli.common import show_page
from osim_inertia.cli.progress import Phases
from osim_inertia.cli.transfer import muscle_mass_options

OUTPUT = Path("osim-inertia-report")
file_path = click.Path(path_type=Path)


@click.command("validate")
@click.argument("model", type=file_path, metavar="MODEL|SETUP")
@click.argument("motion", type=file_path, required=False, metavar="[MOTION|MARKERS|SETUP]")
@click.option("-o", "--output", type=file_path, default=OUTPUT, show_default=True, help="Folder for the report.")
@click.option("--bodies", metavar="NAMES", help="Bodies whose mass goes to the muscles along them: tibia_r,femur_r. "
              "[default: all that have muscle along them]")  # fmt: skip
@click.option("--coordinates", metavar="NAMES", help="Coordinates to show: ankle_angle_r,knee_angle_r. "
              "[default: up to 12, the most changed first]")  # fmt: skip
@click.option("--percents", default="0,20,40,60,80", show_default=True, metavar="NUMBERS",
              help="Percent of the bodies' mass that is muscle.")  # fmt: skip
@click.option("--external-loads", "loads", type=file_path, help="OpenSim's ExternalLoads file (.xml).")
@click.option("--lowpass", type=float, metavar="HZ", help="Filter the coordinates with this cutoff; -1 is no filter.")
@click.option("--time-range", type=(float, float), metavar="FROM TO", help="Seconds; by default the whole motion.")
@click.option("--tasks", type=file_path, help="For markers: what to track, a file with an IKTaskSet.")
@click.option("--geometry", type=file_path, multiple=True, metavar="FOLDER", help="Where the model's meshes are.")
@click.option("--no-opensim", is_flag=True, help="Leave OpenSim's own result out.")
@muscle_mass_options
@click.option("--like-opensim", is_flag=True, help="Read damaged files as OpenSim does, with a note.")
@click.option("--open", "show", is_flag=True, help="Show the report in the browser.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def validate(
    model: Path, motion: Path | None, output: Path, bodies: str | None, coordinates: str | None, percents: str,
    loads: Path | None, lowpass: float | None, time_range: tuple[float, float] | None, tasks: Path | None,
    geometry: tuple[Path, ...], no_opensim: bool, options: dict[str, Any], like_opensim: bool, show: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Report on a motion: OpenSim's moments against ours, and what changes as muscles get mass.

    Give a model with a motion (.mot, .sto), markers (.trc, .c3d) or a setup file of OpenSim's Inverse Dynamics tool
    (.xml); or such a setup file alone. Options override the setup file. The report is one HTML page for any browser,
    without a network, with the numbers of every figure beside it (.csv, .sto, .json).

    Example: osim-inertia validate walk/model.osim walk/ik.mot --external-loads walk/grf.xml --lowpass 6 -o report
    """
    if lowpass == 0.0:
        raise click.BadParameter("the cutoff must be above zero (or -1 for no filter).", param_hint="--lowpass")
    from osim_inertia.report.make import make_report
    from osim_inertia.report.request import request_of
    from osim_inertia.warmup import announce, compiling_beside

    given: dict[str, Any] = {"loads": loads, "time_range": time_range, "tasks": tasks, "bodies": _names(bodies),
                             "coordinates": _names(coordinates)}  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    if lowpass is not None:
        given["lowpass"] = lowpass if lowpass > 0.0 else None
    request = request_of(model, motion, percents=_percents(percents), options=options, opensim=not no_opensim,
                         geometry=geometry, like_opensim=like_opensim, **given)  # fmt: skip
    works = ("id", "muscle energy", "view", *(["ik"] if request.markers else []))
    announce(lambda text: click.echo(text, err=True), *works)
    with compiling_beside(*works) as wait:
        _, summary = make_report(request, output, Phases(), wait)
    if as_json:
        click.echo(json.dumps(summary, indent=1, ensure_ascii=False))
    else:
        for text in summary["notes"]:
            click.echo(f"note: {text}", err=True)
        tell(summary, output)
    if show:
        open_page(output)


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _percents(text: str) -> tuple[int, ...]:
    try:
        found = sorted({0, *(int(word) for word in text.split(","))})
    except ValueError:
        found = [-1]
    if found[0] < 0 or found[-1] > 100:
        raise click.BadParameter(f"'{text}' is not a list of whole numbers from 0 to 100, like 0,40,80.",
                                 param_hint="--percents")  # fmt: skip
    return tuple(found)


# ---- what is said in the end ----------------------------------------------------------------------------------------
def tell(summary: dict[str, Any], output: Path) -> None:
    """Print what came out and where it is."""
    from osim_inertia.report.files import PAGE
    from osim_inertia.report.page import HOW_TO_GET

    show_changes(summary)
    for line in [*summary["sentences"], *summary["missing"]]:
        click.echo(f"• {line}")
    if PAGE in summary["files"]:
        click.echo(f"Written: {output / PAGE} and {len(summary['files']) - 1} files beside it")
    else:
        click.echo(f"Written to {output}: {len(summary['files'])} files. For a page with the curves: {HOW_TO_GET}")


def show_changes(summary: dict[str, Any]) -> None:
    """Print the largest changes as a table."""
    from rich.console import Console

    from osim_inertia.cli.transfer import table

    changes = summary["largest_change"]
    percents = list(next(iter(changes.values()), {}))
    if not percents:
        return
    rows = table("largest change, with muscle", *(f"{percent} %" for percent in percents))
    for coordinate, by_percent in changes.items():
        rows.add_row(coordinate, *(f"{100.0 * item['share']:.1f} %" for item in by_percent.values()))
    console = Console(markup=False, highlight=False, emoji=False)
    console.print(rows)
    console.print()


def open_page(output: Path) -> None:
    """Show the report in the browser, where there is a screen."""
    from osim_inertia.report.files import PAGE

    if (output / PAGE).is_file():
        show_page(output / PAGE)
