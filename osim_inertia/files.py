"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from osim_inertia.errors import FileError


def atomic_write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text to `path`: all of it or nothing, an older file stays until the new one is complete."""
    path = Path(path)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files private; the user's own rule applies
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise FileError(f"The file cannot be written: {error.strerror or error}.", file=path,
                        found=f"folder {path.parent}", expected="a folder that exists and may be written to",
                        to_do="give another place, or make the folder and allow writing to it") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
