"""`osim-inertia train-wrap`: trains a network for wrapping, as the papers do, from samples of the exact paths."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import click

from osim_inertia.cli.progress import Phases
from osim_inertia.errors import FileError, OsimInertiaError


@click.command("train-wrap")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FOLDER",
              help="Where network.npz, curve.csv and checkpoint.pt go.")
@click.option("--inputs", type=click.Choice(["canonical", "papers"]), default="canonical", show_default=True,
              help="canonical: what the symmetry of a cylinder leaves, for any size. papers: origin, insertion, label "
                   "and radius, within ±1 m and 1 to 20 cm.")
@click.option("--surface", type=click.Choice(["cylinder", "sphere"]), default="cylinder", show_default=True,
              help="What the paths wrap over; a sphere only with --inputs papers.")
@click.option("--depth", type=click.IntRange(1, 64), help="Hidden layers.  [default: 3; papers: 6]")
@click.option("--width", type=click.IntRange(1, 4096), help="Units per layer.  [default: 40; papers: 256]")
@click.option("--steps", type=click.IntRange(min=1), help="Steps of Adam.  [default: 60000; papers: 20000]")
@click.option("--batch", type=click.IntRange(min=1), help="Samples per step.  [default: 1024]")
@click.option("--rate", type=click.FloatRange(min=0.0, min_open=True),
              help="First learning rate; it falls to a thousandth.  [default: 0.003; papers: 0.0001]")
@click.option("--threshold", type=click.FloatRange(0.0, 1.0, max_open=True), default=0.01, show_default=True,
              help="Samples that touch with less than this share of their length are thrown away.")
@click.option("--jacobian", type=click.FloatRange(min=0.0), default=0.0, show_default=True,
              help="Weight of the Jacobian loss beside the position loss.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of samples and weights.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True,
              help="Of PyTorch; more help networks as large as the papers'.")
@click.option("--resume", is_flag=True, help="Go on from checkpoint.pt in FOLDER, with the same settings.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")  # fmt: skip
def train_wrap(
    output: Path, inputs: str, surface: str, depth: int | None, width: int | None, steps: int | None,
    batch: int | None, rate: float | None, threshold: float, jacobian: float, seed: int, threads: int,
    resume: bool, as_json: bool,
) -> None:
    """Train a network that gives the points of a muscle on a wrap surface.

    Without options this makes the network that comes with the package (osim_inertia/neural/cylinder.npz). Needs
    PyTorch; using a trained network does not.

    Example: osim-inertia train-wrap -o wrap_network
    """
    if surface == "sphere" and inputs != "papers":
        raise click.UsageError("--surface sphere needs --inputs papers: the canonical inputs are a cylinder's.")
    if importlib.util.find_spec("torch") is None:
        raise OsimInertiaError("Training needs PyTorch, which is not installed.\n"
                               "  to do     pip install 'osim-inertia[neural]'")
    from osim_inertia.neural.train import PAPERS, Settings, train

    given = {"depth": depth, "width": width, "steps": steps, "batch": batch, "rate": rate}
    chosen = dict(PAPERS) if inputs == "papers" else {}
    chosen |= {name: value for name, value in given.items() if value is not None}
    settings = Settings(inputs=inputs, surface=surface, threshold=threshold, jacobian=jacobian, seed=seed, **chosen)
    phases = Phases(quiet=as_json)
    try:
        with phases("train", "Training") as advance:
            result = train(settings, output, resume=resume, advance=advance, threads=threads)
    except OSError as error:
        raise FileError(f"The folder cannot be used: {error.strerror or error}.", file=output) from None
    unit = "radii" if inputs == "canonical" else "m"
    if as_json:
        click.echo(json.dumps({"network": str(result.file), "unit": unit, "seconds": result.seconds} | result.errors))
        return
    median, tail = result.errors["median"], result.errors["p99"]
    size = f"{settings.depth} × {settings.width}"
    shown = f"median {100 * median:.3f} %, 99th percentile {100 * tail:.3f} % of the radius" if unit == "radii" else (
        f"median {1e3 * median:.3g} mm, 99th percentile {1e3 * tail:.3g} mm")
    click.echo(f"{result.file}: {size}, {settings.steps} steps in {result.seconds:.0f} s; position error {shown}")
