"""Read and write .trc files: marker trajectories as a table with two lines of labels (OPENSIM_SEMANTICS.md §8.3).

Read are the variants found in the wild: tabs or (where no cell is empty) blanks, trailing tabs, CR LF, a blank line
or none after the labels, other keys in the third line, fewer or more frames than declared. Empty cells, and words that
are not numbers, are missing markers, as in OpenSim.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from osim_inertia.errors import FileError
from osim_inertia.files import atomic_write_text
from osim_inertia.markers.data import Array, MarkerData

METRES = {
    "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0,
    "cm": 0.01, "centimeter": 0.01, "centimeters": 0.01, "centimetre": 0.01, "centimetres": 0.01,
    "mm": 0.001, "millimeter": 0.001, "millimeters": 0.001, "millimetre": 0.001, "millimetres": 0.001,
}  # fmt: skip
KEYS = ("DataRate", "CameraRate", "NumFrames", "NumMarkers", "Units", "OrigDataRate", "OrigDataStartFrame",
        "OrigNumFrames")  # fmt: skip
MAX_HEADER_LINES = 40
LARGEST_SPAN = 100.0  # m between two markers of a frame: the unit in the header is wrong


def read_trc(path: str | Path) -> MarkerData:
    """Read a .trc file; positions come in metres, whatever the unit in the file."""
    path = Path(path)
    lines = _lines(path)
    header, labels_at = _header(lines, path)
    names, label_line = _marker_names(lines, labels_at, header, path)
    data_at = labels_at + 1
    while data_at < len(lines) and not _is_row(lines[data_at]):
        data_at += 1  # X1 Y1 Z1 …, blank lines
    rows, notes = _rows(lines, data_at, len(names), path)
    units, scale = _units(header, path)
    time = rows[:, 1]
    _check_times(time, path, data_at)
    positions = rows[:, 2:].reshape(len(rows), len(names), 3) * scale
    positions[~np.isfinite(positions).all(axis=2)] = np.nan
    declared = header.get("NumFrames", "")
    if declared.isdigit() and int(declared) != len(rows):
        notes.append(f"The header declares {declared} frames and the file has {len(rows)}; all of these are used.")
    declared = header.get("NumMarkers", "")
    if declared.isdigit() and int(declared) != len(names):
        notes.append(f"line {label_line}: the header declares {declared} markers and there are {len(names)} names.")
    _check_size(positions, units, path)
    return MarkerData(tuple(names), time, positions, _rate(header, time), units, str(path), tuple(notes))


def _lines(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        raise FileError("This is a folder, not a file.", file=path) from None
    except OSError as error:
        raise FileError(f"The file cannot be read: {error.strerror or error}.", file=path) from None
    if b"\0" in data[:1000]:
        raise FileError("This is not a text file.", file=path, expected="a .trc file in plain text")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _header(lines: list[str], path: Path) -> tuple[dict[str, str], int]:
    """Keys and values above the labels, and the place of the labels ("Frame#  Time  …")."""
    header: dict[str, str] = {}
    for place, line in enumerate(lines[:MAX_HEADER_LINES]):
        words = _cells(line)
        if not words:
            continue
        if words[0].lower().replace(" ", "") in ("frame#", "frame"):
            return header, place
        if any(word in KEYS for word in words):
            keys = [word for word in words if word]
            values = [word for word in _cells(lines[place + 1] if place + 1 < len(lines) else "") if word]
            header = dict(zip(keys, values))
    first = next((line.strip() for line in lines if line.strip()), "an empty file")
    raise FileError("There is no line of marker names.", file=path, found=f"'{first[:60]}'",
                    expected="a line that starts with 'Frame#' and 'Time'", to_do="give a .trc file")


def _marker_names(lines: list[str], place: int, header: dict[str, str], path: Path) -> tuple[list[str], int]:
    cells = [cell for cell in _cells(lines[place]) if cell]
    names = cells[2:]
    if len(cells) < 3 or cells[1].lower() != "time":
        raise FileError("The line of marker names cannot be understood.", file=path, line=place + 1,
                        found=" ".join(cells[:3]) or "nothing", expected="Frame#, Time and the names of the markers")
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise FileError(f"Two markers are called '{twice}'.", file=path, line=place + 1,
                        to_do="rename one of them in the capture software and export again")
    return names, place + 1


def _is_row(line: str) -> bool:
    first = _cells(line)[:1]
    return bool(first) and re.fullmatch(r"[+-]?\d+(\.\d*)?", first[0]) is not None


def _rows(lines: list[str], start: int, markers: int, path: Path) -> tuple[Array, list[str]]:
    """Frame, time and coordinates: (F, 2 + 3 markers), NaN where a cell is empty."""
    width, rows = 2 + 3 * markers, []
    notes: list[str] = []
    for place in range(start, len(lines)):
        line = lines[place]
        if not line.strip():
            left = sum(bool(text.strip()) for text in lines[place:])
            if left:
                notes.append(f"line {place + 1}: the data end here, as in OpenSim; {left} more lines are left out.")
            break
        cells = line.split("\t") if "\t" in line else line.split()
        if any(cell.strip() for cell in cells[width:]) or len(cells) < 2:
            raise FileError("The row does not fit the marker names.", file=path, line=place + 1,
                            found=f"{len(cells)} cells",
                            expected=f"{width}: frame, time and 3 for each of {markers} markers",
                            to_do="export the file again; a marker name may be missing in the line of names")
        try:
            rows.append(np.array(cells[:width], dtype=np.float64))
        except ValueError:
            rows.append(np.array([_number(cell) for cell in cells[:width]]))
        if len(rows[-1]) < width:  # markers missing at the end of the row, without their tabs
            if "\t" not in line:
                raise FileError("The row has too few numbers.", file=path, line=place + 1, found=str(len(cells)),
                                expected=str(width), to_do="separate cells with tabs, so that empty ones can be seen")
            rows[-1] = np.concatenate([rows[-1], np.full(width - len(rows[-1]), np.nan)])
    if not rows:
        raise FileError("The file has marker names but no frames.", file=path, to_do="the file may be cut short")
    return np.array(rows), notes


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan


def _units(header: dict[str, str], path: Path) -> tuple[str, float]:
    units = header.get("Units", "")
    if units.lower() not in METRES:
        raise FileError("The unit of length is not known.", file=path, line=3, found=f"Units '{units}'",
                        expected="mm, cm or m", to_do="correct the third line of the file")
    return units, METRES[units.lower()]


def _rate(header: dict[str, str], time: Array) -> float:
    try:
        return float(header["DataRate"])
    except (KeyError, ValueError):
        return (len(time) - 1) / float(time[-1] - time[0]) if len(time) > 1 else 0.0


def _check_times(time: Array, path: Path, data_at: int) -> None:
    if not np.isfinite(time).all():
        raise FileError("A frame has no time.", file=path, line=data_at + 1 + int(np.argmin(np.isfinite(time))))
    late = np.flatnonzero(np.diff(time) <= 0.0)
    if len(late):
        row = int(late[0]) + 1
        raise FileError("Times do not increase.", file=path, line=data_at + 1 + row,
                        found=f"{time[row]:.10g} s after {time[row - 1]:.10g} s",
                        expected="times that increase from row to row", to_do="remove the repeated frames")


def _check_size(positions: Array, units: str, path: Path) -> None:
    """Markers that are hundreds of metres apart mean that the header's unit is not that of the data."""
    known = np.isfinite(positions)
    apart = np.where(known, positions, -np.inf).max(axis=1) - np.where(known, positions, np.inf).min(axis=1)
    spread = float(apart.max())
    if spread > LARGEST_SPAN:
        raise FileError(f"The markers are {spread:.3g} m apart.", file=path, line=3, found=f"Units '{units}'",
                        expected=f"a body, less than {LARGEST_SPAN:g} m",
                        to_do="correct the unit in the third line of the file (mm, cm or m)")


def write_trc(markers: MarkerData, path: str | Path, *, units: str = "mm", decimals: int = 5) -> None:
    """Write a .trc file that OpenSim reads; missing markers are empty cells. All of it or nothing."""
    if units.lower() not in METRES:
        raise ValueError(f"units is {units!r}; expected mm, cm or m.")
    for name in markers.names:
        if not name.strip() or re.search(r"[\t\n\r]", name):
            raise ValueError(f"The marker name {name!r} cannot be written: it is empty or has a tab or line break.")
    path, scaled = Path(path), markers.positions / METRES[units.lower()]
    frames, rate = len(markers), f"{markers.rate:g}"
    values = (rate, rate, str(frames), str(len(markers.names)), units, rate, "1", str(frames))
    axes = "\t".join(f"X{i}\tY{i}\tZ{i}" for i in range(1, len(markers.names) + 1))
    lines = [f"PathFileType\t4\t(X/Y/Z)\t{path.name}", "\t".join(KEYS), "\t".join(values),
             "Frame#\tTime\t" + "\t\t\t".join(markers.names) + "\t\t", f"\t\t{axes}", ""]  # fmt: skip
    for i in range(frames):
        cells = ["" if np.isnan(x) else f"{x:.{decimals}f}" for x in scaled[i].ravel()]
        lines.append("\t".join([str(i + 1), f"{markers.time[i]:.8g}", *cells]) + "\t")  # the last tab keeps empty cells
    atomic_write_text(path, "\n".join(lines) + "\n")
