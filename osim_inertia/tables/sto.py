"""read_table, write_table: OpenSim's .mot and .sto files, old and new (OPENSIM_SEMANTICS.md §8).

    .mot, .sto --tables--> Table --inverse, markers--> Table --tables--> .sto, .mot
                  ^ here
OpenSim loses data in silence in several cases: rows beyond nRows, everything after a NaN, rows with a repeated time.
Here they are errors with file and line; `like_opensim` reads what OpenSim reads, and notes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from osim_inertia.errors import FileError
from osim_inertia.files import atomic_writer
from osim_inertia.tables.header import Header, read_header
from osim_inertia.tables.numbers import Faults, blocks, stream_of_numbers
from osim_inertia.tables.table import Array, Table

ROWS_AT_ONCE = 256
LIKE_OPENSIM = "correct the file, or read it as OpenSim does with like_opensim (command line: --like-opensim)"
UNITS_REMARK = (
    "\nUnits are S.I. units (second, meters, Newtons, ...)\n"
    "If the header above contains a line with 'inDegrees', this indicates whether rotational values are in degrees "
    "(yes) or radians (no).\n\n"
)


# ---- reading --------------------------------------------------------------------------------------------------------
def read_table(path: str | Path, *, like_opensim: bool = False) -> Table:
    """Read a .mot or .sto file of any version: SIMM motion, OpenSim version 1, OpenSim version 2 and later.

    Rows that OpenSim would drop without a word (see the top of this module) are an error; with `like_opensim` they are
    dropped as OpenSim does, and `notes` says so. `in_degrees` follows OpenSim's rules for files that do not tell.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            header = read_header(file, path, like_opensim)
            legacy = header.version < 2
            if like_opensim and legacy:
                rows = _rows_as_opensim_streams_them(file, header)
            else:
                rows = _rows(file, header, like_opensim)
    except IsADirectoryError:
        raise FileError("This is a folder, not a file.", file=path) from None
    except OSError as error:
        raise FileError(f"The file cannot be read: {error.strerror or error}.", file=path) from None
    if header.has_time:
        time, values = rows[:, 0], rows[:, 1:]
    else:
        time, values = _uniform_time(header, len(rows)), rows
    time, values = _without_repeated_times(header, time, values, like_opensim)
    if header.version >= 2 and not np.isfinite(values).all():
        header.notes.append("Some values are not numbers; they are NaN.")
    return Table(header.names, time, values, header.in_degrees, header.metadata, tuple(header.notes))


def _rows(file: BinaryIO, header: Header, like_opensim: bool) -> Array:
    """All rows of the file, every line checked: (F, columns)."""
    _check_columns(header, like_opensim)
    faults = Faults(header.path, header.first_data_line, header.labels, LIKE_OPENSIM, keep_nan=like_opensim)
    parts = list(blocks(file, header.columns, faults, commas=header.components > 1))
    rows = np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.empty((0, header.columns))
    declared = header.rows
    if not len(rows):
        raise FileError("The file has a header but no data.", file=header.path, to_do="the file may be cut short")
    if declared is not None and declared != len(rows):
        story = f"The header declares {declared} rows and the file has {len(rows)}."
        if not like_opensim:
            expected = f"nRows={len(rows)}" if declared < len(rows) else "all rows; was the file cut short?"
            raise FileError(story, file=header.path, line=header.rows_line, expected=expected, to_do=LIKE_OPENSIM)
        header.notes.append(story)
    return rows


def _check_columns(header: Header, like_opensim: bool) -> None:
    declared, labels = header.declared_columns, 1 + len(header.names) // header.components
    if declared in (None, labels, len(header.labels)):
        return
    story = f"The header declares {declared} columns and there are {labels} labels."
    if not like_opensim:
        raise FileError(story, file=header.path, line=header.first_data_line - 1, expected=f"nColumns={labels}",
                        to_do="correct the header; OpenSim would cut the rows in the wrong places")
    header.notes.append(story)


def _rows_as_opensim_streams_them(file: BinaryIO, header: Header) -> Array:
    """nRows × nColumns numbers one after another, whatever the lines; the first thing that is no number ends it."""
    columns = header.declared_columns or header.columns
    wanted = header.rows or 0
    if columns != header.columns:
        header.notes.append(f"The header declares {columns} columns and there are {header.columns} labels; "
                            "rows are counted by the header, as OpenSim does.")
    numbers, broken, more = stream_of_numbers(file, wanted * columns)
    complete, left = divmod(len(numbers), columns)
    rows = numbers[: complete * columns].reshape(complete, columns)
    if left:
        # OpenSim keeps the row it failed in: the number it stopped at is 0, the others are those of the row before
        last = rows[-1].copy() if complete else np.zeros(columns)
        last[:left] = numbers[complete * columns :]
        if broken:
            last[left] = 0.0
        rows = np.vstack([rows, last])
    if len(rows) != wanted or more:
        rest = "drops the rest of the file" if more else "there are no more"
        header.notes.append(f"The header declares {wanted} rows; OpenSim reads {len(rows)} rows, {rest}.")
    if not len(rows):
        raise FileError("OpenSim would read no rows from this file.", file=header.path, line=header.rows_line)
    if columns < header.columns:
        rows = np.hstack([rows, np.zeros((len(rows), header.columns - columns))])
    return rows[:, : header.columns]


def _uniform_time(header: Header, rows: int) -> Array:
    start, end = header.range
    header.notes.append(f"There is no time column: {rows} uniform times are made from {start:g} to {end:g} s.")
    return np.linspace(start, end, rows)


def _without_repeated_times(header: Header, time: Array, values: Array, like_opensim: bool) -> tuple[Array, Array]:
    """Refuse times that do not increase; as OpenSim, let the later of two rows with one time replace the earlier."""
    step = np.diff(time)
    back = np.flatnonzero(step < 0.0)
    if not np.isfinite(time).all() or len(back):
        row = int(back[0]) + 1 if len(back) else int(np.argmin(np.isfinite(time)))
        raise FileError("Times go backwards." if len(back) else "A time is not a number.", file=header.path,
                        found=f"{time[row]:.10g} s in data row {row + 1}"
                        + (f", after {time[row - 1]:.10g} s" if len(back) else ""),
                        expected="times that increase from row to row", to_do="sort the rows, or remove the wrong ones")
    same = np.flatnonzero(step == 0.0)
    if not len(same):
        return np.ascontiguousarray(time), np.ascontiguousarray(values)
    if not like_opensim:
        raise FileError(f"Time {time[same[0]]:.10g} s occurs twice.", file=header.path,
                        found=f"data rows {same[0] + 1} and {same[0] + 2}",
                        expected="times that increase from row to row",
                        to_do="remove one of the rows (OpenSim keeps the later one; like_opensim does so, too)")
    header.notes.append(f"{len(same)} rows repeat a time; the later one of each pair is kept, as OpenSim does.")
    keep = np.append(step > 0.0, True)
    return time[keep], values[keep]


# ---- writing --------------------------------------------------------------------------------------------------------
def write_table(
    table: Table, path: str | Path, *, decimals: int | None = 8, name: str | None = None, remark: str = ""
) -> None:
    """Write a .mot or .sto file the way OpenSim writes results: header of version 1, fixed decimals.

    `decimals` None writes every digit. `name` is the first line (by default the table's own); `remark` is text for the
    header, such as UNITS_REMARK of motions. The file appears complete or not at all.
    """
    with atomic_writer(path) as file:
        _write_one(file, table, name or table.metadata.get("name") or Path(path).stem, decimals, remark)


def write_tables(tables: Mapping[Path, Table], remarks: Mapping[Path, str] | None = None) -> None:
    """Write several files as `write_table` does; none appears before all of them are complete."""
    with ExitStack() as all_or_none:
        for path, table in tables.items():
            file = all_or_none.enter_context(atomic_writer(path))
            _write_one(file, table, table.metadata.get("name") or path.stem, 8, (remarks or {}).get(path, ""))


def _write_one(file: TextIO, table: Table, name: str, decimals: int | None, remark: str) -> None:
    bad = ~np.isfinite(table.values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(f"'{table.names[column]}' is {table.values[row, column]} at {table.time[row]:g} s: OpenSim "
                         "would drop all rows from there on.")  # fmt: skip
    write_rows_header(file, table.names, len(table), table.in_degrees, name, remark)
    write_rows(file, table.time, table.values, decimals)


def write_rows_header(
    file: TextIO, names: tuple[str, ...], rows: int, in_degrees: bool, name: str, remark: str = ""
) -> None:
    """The header of version 1 and the line of labels."""
    degrees = "yes" if in_degrees else "no"
    title = " ".join(name.split())
    file.write(f"{title}\nversion=1\nnRows={rows}\nnColumns={len(names) + 1}\ninDegrees={degrees}\n{remark}endheader\n")
    file.write("\t".join(("time", *names)) + "\n")


def write_rows(file: TextIO, time: Array, values: Array, decimals: int | None = 8) -> None:
    """Rows of numbers, a bounded number of them formatted at a time."""
    word = "%.17g" if decimals is None else f"%{decimals + 8}.{decimals}f"
    line = "\t".join([word] * (values.shape[1] + 1)) + "\n"
    for i in range(0, len(time), ROWS_AT_ONCE):
        block = np.column_stack([time[i : i + ROWS_AT_ONCE], values[i : i + ROWS_AT_ONCE]])
        file.write(line * len(block) % tuple(block.ravel().tolist()))
