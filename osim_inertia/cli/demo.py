"""`osim-inertia demo`: the whole way from markers to joint moments with muscle mass, on the leg that comes along."""

from __future__ import annotations

from pathlib import Path

import click

from osim_inertia.cli.progress import Phases
from osim_inertia.cli.validate import open_page, tell

OUTPUT = Path("osim-inertia-demo")


@click.command("demo")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=OUTPUT, show_default=True,
              help="Folder for the results.")  # fmt: skip
@click.option("--no-open", is_flag=True, help="Do not show the page in the browser.")
def demo(output: Path, no_open: bool) -> None:
    """See what muscle mass does to joint moments: a runner's leg, from markers to curves, in seconds.

    Needs no files, no network and no OpenSim. Writes a report: the motion, the moments with 0 to 80 % of the shank's
    mass in its muscles, and a page with the curves; with OpenSim installed, its own curve beside ours.

    Example: osim-inertia demo -o results --no-open
    """
    from osim_inertia.warmup import announce

    announce(click.echo, "ik", "id", "muscle energy", "view")
    from osim_inertia.demo import run_demo

    _, summary = run_demo(output, phase=Phases())
    tell(summary, output)
    if not no_open:
        open_page(output)
