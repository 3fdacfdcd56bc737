"""`osim-inertia view`: a model and its motion in three dimensions, as one page for the browser."""

from __future__ import annotations

from pathlib import Path

import click

from osim_inertia.cli.common import (
    like_opensim_option,
    model_argument,
    read_checked,
    refuse_to_overwrite,
    say_notes,
    show_page,
)
from osim_inertia.cli.transfer import Transfer, heavy_note, transfer_note, transfer_options, transfer_summary
from osim_inertia.errors import FileError

OUTPUT = Path("view.html")
MOST_FRAMES = 1000  # shown unless --every says otherwise
file_path = click.Path(path_type=Path)


@click.command("view")
@model_argument
@click.argument("motion", type=file_path, required=False)
@click.option("-o", "--output", type=file_path, default=OUTPUT, show_default=True, help="The page (.html) to write.")
@click.option("--geometry", type=file_path, multiple=True, metavar="FOLDER",
              help="Look for the model's meshes here, too; may be repeated. Always looked at: the model's folder and "
                   "its Geometry folder.")  # fmt: skip
@click.option("--every", type=click.IntRange(min=1), metavar="N",
              help=f"Show every N-th instant of the motion.  [default: as few as give at most {MOST_FRAMES}]")
@transfer_options()
@like_opensim_option
@click.option("--no-open", is_flag=True, help="Do not show the page in the browser.")
def view(
    model: Path, motion: Path | None, output: Path, geometry: tuple[Path, ...], every: int | None,
    transfer: Transfer | None, like_opensim: bool, no_open: bool,
) -> None:  # fmt: skip
    """Look at MODEL, and at MOTION (.mot, .sto) if there is one, in three dimensions.

    One page that works without a network: bones (meshes where they are found, else sticks), muscles, wrap surfaces,
    markers, playback; names under the pointer. With --transfer, or a model (.json) of `osim-inertia convert`, the mass
    of the muscles is drawn along their bellies.

    Example: osim-inertia view walk/model.osim walk/ik.mot -o view.html --no-open

    Example: osim-inertia view walk/model.osim walk/ik.mot --transfer 0.4 -o view.html --no-open
    """
    from osim_inertia.files import atomic_write_text
    from osim_inertia.inverse import MotionError
    from osim_inertia.tables.sto import read_table
    from osim_inertia.view.page import page
    from osim_inertia.view.scene import build_scene
    from osim_inertia.warmup import announce

    for folder in geometry:
        if not folder.is_dir():
            raise FileError("There is no such folder.", file=folder, to_do="give the folder that holds the meshes")
    refuse_to_overwrite((model, motion), (output,))
    read = read_checked(model, like_opensim)
    table = None if motion is None else read_table(motion, like_opensim=like_opensim)
    notes = [f"{model.name}: {text}" for text in read.notes]
    notes += [f"{motion.name}: {text}" for text in table.notes] if motion and table else []
    if transfer is not None:
        after = transfer.apply(read, model)
        summary = transfer_summary(read, after)
        notes += [transfer_note(summary), *heavy_note(summary)]
        read = after
    if every is None:
        every = 1 if table is None else max(1, -(-len(table) // MOST_FRAMES))
        if every > 1:
            notes.append(f"One in {every} of {len(table or ())} instants is shown; --every 1 shows all.")
    announce(lambda text: click.echo(text, err=True), "view")
    try:
        scene = build_scene(read, table, geometry=geometry, every=every)
    except MotionError as error:
        raise FileError(str(error), file=motion or model) from None
    atomic_write_text(output, page(scene))
    say_notes([*notes, *scene.notes])
    meshes = sum(solid.kind == "mesh" for solid in scene.solids)
    click.echo(f"{output}: {len(scene.time)} instants, {len(scene.bodies)} bodies ({meshes} meshes), "
               f"{len(scene.lines)} paths, {output.stat().st_size / 1e6:.1f} MB")  # fmt: skip
    if not no_open:
        show_page(output)
