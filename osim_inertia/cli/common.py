"""What several commands need: a model read and checked, with the file named in every error."""

from __future__ import annotations

from pathlib import Path

import click

from osim_inertia.errors import FileError, ModelError
from osim_inertia.model.model import Model

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
