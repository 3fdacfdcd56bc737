"""`osim-inertia demo`: the whole way from markers to joint moments with muscle mass, on the leg that comes along."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from osim_inertia.demo import Demo

OUTPUT = Path("osim-inertia-demo")
PAGE = "index.html"


@click.command("demo")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=OUTPUT, show_default=True,
              help="Folder for the results.")  # fmt: skip
@click.option("--no-open", is_flag=True, help="Do not show the page in the browser.")
def demo(output: Path, no_open: bool) -> None:
    """See what muscle mass does to joint moments: a runner's leg, from markers to curves, in seconds.

    Needs no files, no network and no OpenSim. Writes the motion, the moments with 0 to 80 % of the shank's mass in its
    muscles, and a page with the curves.

    Example: osim-inertia demo -o results --no-open
    """
    from osim_inertia.warmup import announce

    announce(click.echo, "ik", "id", "muscle mass")
    from osim_inertia.demo import run_demo
    from osim_inertia.demo_page import HOW_TO_GET, can_draw, page
    from osim_inertia.files import atomic_write_text

    found = run_demo(output, say=click.echo)
    show(found)
    if not can_draw():
        click.echo(f"For a page with the curves: {HOW_TO_GET}, then again: osim-inertia demo")
        click.echo(f"Written to {output}: ik.mot, id_00.sto … id_80.sto, swing_ankle_moment.csv")
        return
    atomic_write_text(output / PAGE, page(found))
    click.echo(f"Written to {output}: {PAGE}, ik.mot, id_00.sto … id_80.sto, swing_ankle_moment.csv")
    if not no_open and has_display():
        click.launch(str((output / PAGE).resolve()))


def show(found: Demo) -> None:
    """Print a table of the changes and the summary."""
    from rich.console import Console
    from rich.table import Table

    from osim_inertia.demo import JOINTS, PERCENTS, summary

    table = Table(title="Largest change of the moment in swing, share of its largest value")
    table.add_column("share of the shank that is muscle")
    for percent in PERCENTS[1:]:
        table.add_column(f"{percent} %", justify="right")
    for joint in JOINTS:
        table.add_row(joint, *(f"{100.0 * found.largest_change(joint, percent):.1f} %" for percent in PERCENTS[1:]))
    Console().print(table)
    for line in [*summary(found), *found.notes]:
        click.echo(f"• {line}")


def has_display() -> bool:
    """Whether there is a screen to open a browser on."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
