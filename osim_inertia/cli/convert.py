"""`osim-inertia convert`: a model whose muscles have mass, as a bone-only .osim for OpenSim and as complete .json."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from osim_inertia.cli.common import like_opensim_option, model_argument, read_checked
from osim_inertia.cli.progress import Phases
from osim_inertia.cli.transfer import Transfer, heavy_note, show_transfer, transfer_options, transfer_summary
from osim_inertia.errors import FileError, ModelError
from osim_inertia.model.model import Model


@click.command()
@model_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="OUT.osim",
              help="The bone-only model; the complete one goes beside it as OUT.json.")  # fmt: skip
@transfer_options(required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the transfer as JSON (kg, shares of the path).")
@like_opensim_option
def convert(model: Path, output: Path, transfer: Transfer, as_json: bool, like_opensim: bool) -> None:
    """Move mass from the bodies of MODEL to the muscles along them, and show what went where.

    OUT.osim has the lighter bones and massless muscles, for use in OpenSim. OUT.json is the complete model, muscle mass
    included, for oi.read_model and for every command of osim-inertia.

    Example: osim-inertia convert walk/model.osim -o bones.osim --transfer tibia_r=0.8
    """
    if output.suffix.lower() != ".osim":
        raise click.BadParameter(f"'{output.name}' should end in .osim; the .json goes beside it.", param_hint="-o")
    complete = output.with_suffix(".json")
    for path in (output, complete):
        if path.resolve() == model.resolve():
            raise FileError("The result would replace the model it is made from.", file=path, to_do="give another name")
    from osim_inertia.warmup import announce

    announce(lambda text: click.echo(text, err=True), "bones")
    with Phases()("convert", "Converting"):
        before = read_checked(model, like_opensim)
        after = transfer.apply(before, model)
        _write(after, output, complete)
    summary = {"model": str(model), "bones": str(output), "complete": str(complete)} | transfer_summary(before, after)
    notes = [f"{model.name}: {text}" for text in before.notes] + _opensim_notes(after, output) + heavy_note(summary)
    if as_json:
        click.echo(json.dumps(summary | {"notes": notes}, indent=1, ensure_ascii=False))
        return
    for text in notes:
        click.echo(f"note: {text}", err=True)
    show_transfer(summary)
    muscle = summary["muscle_mass_kg"]
    click.echo(f"\n{output}: bones alone, {after.mass - muscle:.4g} kg")
    click.echo(f"{complete}: complete, {after.mass:.4g} kg, {muscle:.4g} kg of it muscle")


def _write(model: Model, output: Path, complete: Path) -> None:
    from osim_inertia.model_json import write_model
    from osim_inertia.osim.writer import write_osim

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder for the results cannot be made: {error.strerror or error}.", file=output,
                        found=str(output.parent)) from None
    write_osim(replace(model, muscle_mass=None), output)
    write_model(model, complete)


def _opensim_notes(model: Model, output: Path) -> list[str]:
    """What OpenSim will not like about the bones."""
    from osim_inertia.model.tree import spanning_tree

    try:
        spanning_tree(model)
    except ModelError as error:
        return [f"{output.name}: {error} Give that body a fraction below 1."]
    return []
