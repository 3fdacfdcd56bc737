"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from osim_inertia.errors import FileError


def atomic_write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text to `path`: all of it or nothing, an older file stays until the new one is complete."""
    with atomic_writer(path) as file:
        file.write(text)


@contextlib.contextmanager
def atomic_writer(path: str | Path) -> Iterator[TextIO]:
    """A UTF-8 text file that takes the place of `path` when the block ends well, and vanishes when it does not."""
    path = Path(path)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files private; the user's own rule applies
        os.replace(temporary, path)
        temporary = ""
    except OSError as error:
        raise FileError(f"The file cannot be written: {error.strerror or error}.", file=path,
                        found=f"folder {path.parent}", expected="a folder that exists and may be written to",
                        to_do="give another place, or make the folder and allow writing to it") from None
    finally:
        if temporary:  # an error or an interruption
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def is_file(path: Path) -> bool:
    """Whether there is such a file; no for names that no system takes."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
