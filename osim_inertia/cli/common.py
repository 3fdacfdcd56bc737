"""What several commands need: models read and checked, results written, with the file named in every error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from osim_inertia.errors import FileError, ModelError
from osim_inertia.model.model import Model

if TYPE_CHECKING:
    from osim_inertia.tables.table import Table

# Not click's exists=True: a missing file is our error (exit code 1, with advice), not one of usage.
model_argument = click.argument("model", type=click.Path(path_type=Path))
like_opensim_option = click.option(
    "--like-opensim",
    is_flag=True,
    help="Read malformed values and misspelt tags the way OpenSim does, with a note, instead of refusing the file.",
)


def read_checked(path: Path, like_opensim: bool) -> Model:
    """The model of a file (.osim, or .json of `convert`), known to be a tree of bodies that hangs on ground."""
    from osim_inertia.model.tree import spanning_tree
    from osim_inertia.osim.reader import read_osim

    if path.suffix.lower() == ".json":
        from osim_inertia.model_json import read_model

        return read_model(path)
    try:
        model = read_osim(path, like_opensim=like_opensim)
        spanning_tree(model)
    except ModelError as error:
        raise FileError(str(error), file=path) from None
    except (MemoryError, RecursionError):
        raise FileError("The file is too large or nested too deeply to be a model.", file=path) from None
    return model


def refuse_to_overwrite(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """A result must not take the place of a file it is made from."""
    used = {path.resolve() for path in inputs if path is not None}
    for path in outputs:
        if path is not None and path.resolve() in used:
            raise FileError("The result would replace a file it is made from.", file=path, to_do="give another name")


def write_results(tables: Mapping[Path, Table], remarks: Mapping[Path, str] | None = None) -> None:
    """Write tables where they belong, making folders; all of them or none."""
    from osim_inertia.tables.sto import write_tables

    for path in tables:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"The folder for the results cannot be made: {error.strerror or error}.", file=path,
                            found=str(path.parent)) from None
    write_tables(tables, remarks)


def say_notes(notes: Iterable[str]) -> None:
    """What the user should know, on stderr."""
    for text in notes:
        click.echo(f"note: {text}", err=True)


def show_page(page: Path) -> None:
    """Open a page in the browser, where there is a screen."""
    has_screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen:
        click.launch(str(page.resolve()))
