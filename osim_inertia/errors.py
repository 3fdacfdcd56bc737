"""The errors a user can meet. Each says where, what was found, what was expected and what to do.

    OsimInertiaError          everything this package raises on purpose; the commands print it and exit with 1
    ├── FileError             a file that cannot be read or written as asked
    │   └── OsimError         a model file: element and line are named
    └── ModelError            a model that makes no mechanical sense (found after reading)

Wrong arguments from Python (a wrong shape, a NaN) are plain `ValueError`s. A muscle that cannot be computed as asked,
and is computed in another way, is a `WrapWarning`.
"""

from __future__ import annotations

from pathlib import Path


class OsimInertiaError(Exception):
    """Base of all errors raised on purpose."""


class ModelError(OsimInertiaError):
    """The model cannot be turned into a mechanical system."""


class WrapWarning(UserWarning):
    """A muscle that a network should bend round its wrap object, but cannot."""


class FileError(OsimInertiaError):
    """A file that cannot be used. Prints as one headline and up to three labelled lines."""

    def __init__(
        self,
        message: str,
        *,
        file: str | Path = "",
        line: int | None = None,
        found: str = "",
        expected: str = "",
        to_do: str = "",
    ) -> None:
        place = Path(file).name if file else ""
        if place and line:
            place += f", line {line}"
        rows = [f"{place}: {message}" if place else message]
        for label, text in (("found", found), ("expected", expected), ("to do", to_do)):
            if text:
                rows.append(f"  {label:<9} {text}")
        super().__init__("\n".join(rows))
        self.file, self.line = str(file), line


class OsimError(FileError):
    """A model file with a fault."""
