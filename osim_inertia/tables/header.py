"""The head of a .mot or .sto file: everything up to the labels (OPENSIM_SEMANTICS.md §8.1, §8.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from osim_inertia.errors import FileError

MAX_HEADER_LINES = 2000
COMPONENTS = {"double": 1, "Vec2": 2, "Vec3": 3, "Quaternion": 4, "Vec4": 4, "Vec5": 5, "Vec6": 6, "SpatialVec": 6}
ROW_KEYS, COLUMN_KEYS = ("nr", "nRows", "datarows"), ("nc", "nColumns", "datacolumns")


@dataclass
class Header:
    """What the head of a file says."""

    path: Path
    metadata: dict[str, str] = field(default_factory=dict)
    version: int = 0
    rows: int | None = None  # as declared
    rows_line: int | None = None
    declared_columns: int | None = None  # time included
    in_degrees: bool = False
    components: int = 1  # of one cell: 3 for Vec3
    labels: tuple[str, ...] = ()  # of all columns of numbers, "time" first if the file has times
    first_data_line: int = 1
    notes: list[str] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """Numbers in a row, time included."""
        return len(self.labels)

    @property
    def has_time(self) -> bool:
        """True unless the times have to be made from the header's range."""
        return self.labels[0] == "time"

    @property
    def names(self) -> tuple[str, ...]:
        """Labels of the data columns."""
        return self.labels[1:] if self.has_time else self.labels

    @property
    def range(self) -> tuple[float, float]:
        """First and last time of a SIMM motion."""
        words = (self.metadata.get("range") or self.metadata.get("Range") or "").split()
        try:
            start, end = (float(word) for word in words[:2])
        except ValueError:
            raise FileError("There is no time column, and the header has no range to make times from.", file=self.path,
                            found=f"columns {', '.join(self.labels[:4])} …", expected="a first column 'time'") from None
        return start, end


def read_header(file: BinaryIO, path: Path, like_opensim: bool = False) -> Header:
    """Read up to and including the line of labels; the file then stands at the first row."""
    header = Header(path)
    degrees: bool | None = None
    number = 0
    for number, line in _lines(file, path):
        if not line:
            continue
        key, rest = [*re.split(r"[ \t=]+", line, maxsplit=1), ""][:2]
        if key == "endheader":
            break
        if key in ROW_KEYS:
            header.rows, header.rows_line = _count(rest, line, number, path), number
        elif key in COLUMN_KEYS:
            header.declared_columns = _count(rest, line, number, path)
        elif key == "version":
            header.version = _count(rest, line, number, path)
        elif key == "inDegrees":
            degrees = rest.lower() in ("yes", "y")
        elif line in ("Angles are in degrees.", "Angles are in radians.") and header.version == 0:
            degrees = line == "Angles are in degrees."
        elif key == "name" or (not header.metadata and "=" not in line):
            header.metadata.setdefault("name", rest if key == "name" else line)
        elif "=" in line or key in ("range", "Range", "units", "wrap", "event"):
            header.metadata[key] = rest
    header.in_degrees = _in_degrees(header, degrees, like_opensim)
    _read_labels(file, header, number)
    return header


def _in_degrees(header: Header, stated: bool | None, like_opensim: bool) -> bool:
    if header.version >= 1 or ".mot" not in header.path.name.lower():
        return bool(stated)
    if stated is False:  # OpenSim takes every motion without a version for one of SIMM, whatever it says
        if not like_opensim:
            raise FileError("The header says radians, but has no version: OpenSim reads such motions in degrees.",
                            file=header.path, expected="version=1 and inDegrees=no",
                            to_do="add the line version=1 if the motion is in radians, or correct what it says")
        header.notes.append("The header says radians, but OpenSim reads a motion without version in degrees.")
    return True


def _lines(file: BinaryIO, path: Path) -> list[tuple[int, str]]:
    """Numbered lines up to the end of the header, stripped."""
    lines: list[tuple[int, str]] = []
    for number in range(1, MAX_HEADER_LINES + 1):
        raw = file.readline(1_000_000)
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
            if b"\0" in raw[:200]:
                raise FileError("This is not a text file.", file=path, expected="a .mot or .sto file in plain text")
        if not raw:
            break
        lines.append((number, raw.decode("utf-8", "replace").strip()))
        if re.match(r"endheader($|[ \t=])", lines[-1][1]):
            return lines
    raise FileError("The header has no end.", file=path, line=len(lines) or None, expected="a line 'endheader'",
                    found=f"'{lines[0][1][:60]}' in line 1" if lines else "an empty file",
                    to_do="give a .mot or .sto file; the file may be cut short")


def _count(text: str, line: str, number: int, path: Path) -> int:
    found = re.match(r"\d{1,12}", text)
    if not found:
        raise FileError("A count in the header is not a number.", file=path, line=number, found=line[:60],
                        expected="a whole number after the '='")
    return int(found.group())


def _read_labels(file: BinaryIO, header: Header, number: int) -> None:
    text = ""
    while not text.strip():
        raw = file.readline()
        number += 1
        if not raw:
            raise FileError("The file ends after its header.", file=header.path, line=number,
                            expected="a line of labels and rows of numbers", to_do="the file may be cut short")
        text = raw.decode("utf-8", "replace").strip("\r\n")
    if header.version >= 2 and "\t" in text:
        labels = [label.strip() for label in text.strip().split("\t")]
    else:
        labels = text.split()
    header.first_data_line = number + 1
    if labels[0] != "time" and labels[0].lower() == "time":
        header.notes.append(f"line {number}: the label '{labels[0]}' is read as 'time'.")
        labels[0] = "time"
    if "time" in labels[1:]:
        raise FileError("The time is not in the first column.", file=header.path, line=number,
                        found=f"'time' in column {labels.index('time', 1) + 1}", to_do="put the time first")
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        header.notes.append(f"line {number}: {labels.count(twice)} columns are called '{twice}'; the first one counts.")
    for what, value in (("nRows", header.rows), ("nColumns", header.declared_columns)):
        if value is None and header.version < 2:
            header.notes.append(f"The header gives no {what}, without which OpenSim does not read the file.")
    header.labels = tuple(_spread(header, labels, number))
    if not header.has_time:
        _ = header.range  # refuses a file that has neither times nor a range


def _spread(header: Header, labels: list[str], number: int) -> list[str]:
    """Columns of vectors become columns of numbers: label_1, label_2 …, as OpenSim flattens them."""
    kind = header.metadata.get("DataType", "double") if header.version >= 2 else "double"
    header.components = COMPONENTS.get(kind, 0)
    if not header.components:
        raise FileError(f"Columns of type {kind} cannot be read.", file=header.path, line=number,
                        expected=", ".join(COMPONENTS))
    if header.components == 1:
        return labels
    return labels[:1] + [f"{label}_{i + 1}" for label in labels[1:] for i in range(header.components)]
