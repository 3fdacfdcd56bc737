"""Marker files: every header in use, units, gaps, and what is wrong with the bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.errors import FileError
from osim_inertia.markers.data import MarkerData
from osim_inertia.markers.trc import write_trc

KEYS = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"


def text(
    rows: tuple[str, ...] = ("1\t0.00\t100\t200\t300\t400\t500\t600", "2\t0.01\t101\t201\t301\t401\t501\t601"),
    *, units: str = "mm", frames: int = 2, markers: str = "HEEL\t\t\tTOE\t\t", blank: str = "\n", end: str = "",
) -> str:  # fmt: skip
    header = f"PathFileType\t4\t(X/Y/Z)\twalk.trc\n{KEYS}\n100\t100\t{frames}\t2\t{units}\t100\t1\t{frames}\n"
    labels = f"Frame#\tTime\t{markers}\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
    return header + labels + blank + "\n".join(rows) + "\n" + end


@pytest.fixture
def read(tmp_path: Path):
    def reader(content: str | bytes) -> MarkerData:
        path = tmp_path / "walk.trc"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return oi.read_markers(path)

    return reader


def test_positions_come_in_metres(read):
    found = read(text())
    assert found.names == ("HEEL", "TOE")
    assert found.rate == 100.0
    assert found.time.tolist() == [0.0, 0.01]
    assert found.positions[1] == pytest.approx(np.array([[0.101, 0.201, 0.301], [0.401, 0.501, 0.601]]))
    assert found.notes == ()


@pytest.mark.parametrize(("units", "scale"), [("mm", 1e-3), ("MM", 1e-3), ("cm", 1e-2), ("m", 1.0), ("meters", 1.0)])
def test_units_of_the_header_count(read, units, scale):
    assert read(text(units=units, rows=("1\t0\t.1\t.2\t.3\t14\t15\t16",), frames=1)).positions[0, 1, 0] == 14 * scale


VARIANTS = {
    "no blank line before the data": text(blank=""),
    "several blank lines": text(blank="\n\n\n"),
    "CR LF": text().replace("\n", "\r\n"),
    "old Mac line ends": text().replace("\n", "\r"),
    "trailing tabs everywhere": text().replace("\n", "\t\n"),
    "byte order mark": b"\xef\xbb\xbf" + text().encode(),
    "blanks around numbers": text().replace("100\t100\t2", "  100.0\t\t  100.0\t\t   2"),
    "blanks instead of tabs": text().replace("\t\t\t", " ").replace("\t", " "),
    "axes without numbers": text().replace("X1\tY1\tZ1\tX2\tY2\tZ2", "X\tY\tZ\tX\tY\tZ"),
    "another second word": text().replace("Frame#", "Frame #"),
}


@pytest.mark.parametrize("content", VARIANTS.values(), ids=VARIANTS.keys())
def test_headers_in_use_are_read(read, content):
    assert read(content).positions == pytest.approx(read(text()).positions)


@pytest.mark.parametrize(
    "row",
    ["1\t0.0\t100\t200\t300\t\t\t", "1\t0.0\t100\t200\t300\t\t\t\t", "1\t0.0\t100\t200\t300\tnan\tnan\tnan",
     "1\t0.0\t100\t200\t300\t400\t\t600", "1\t0.0\t100\t200\t300", "1\t0.0\t100\t200\t300\t-\t-\t-"],
)  # fmt: skip
def test_a_marker_with_an_empty_cell_is_missing(read, row):
    found = read(text(rows=(row, "2\t0.01\t101\t201\t301\t401\t501\t601")))
    assert np.isnan(found.positions[0, 1]).all()
    assert np.isfinite(found.positions[0, 0]).all()
    assert np.isfinite(found.positions[1]).all()


def test_a_wrong_count_of_frames_is_noted_and_all_are_used(read):
    found = read(text(frames=9))
    assert len(found) == 2
    assert "declares 9 frames and the file has 2" in found.notes[0]


def test_data_after_an_empty_line_are_left_out_with_a_note(read):
    found = read(text(end="\n3\t0.02\t1\t1\t1\t2\t2\t2\n"))
    assert len(found) == 2
    assert any("1 more lines are left out" in note for note in found.notes)


BAD = {
    "unknown unit": (text(units="inches"), "unit of length is not known"),
    "too large": (text(units="m"), "m apart"),
    "repeated times": (text(rows=("1\t0\t1\t2\t3\t4\t5\t600", "2\t0\t1\t2\t3\t4\t5\t600")), "Times do not increase"),
    "no time": (text(rows=("1\t\t1\t2\t3\t4\t5\t600",)), "has no time"),
    "too many cells": (text(rows=("1\t0\t1\t2\t3\t4\t5\t6\t7",)), "does not fit the marker names"),
    "two of one name": (text(markers="HEEL\t\t\tHEEL\t\t"), "called 'HEEL'"),
    "no frames": (text(rows=("",)), "no frames"),
    "another file": ("name ik\ndatarows 3\n", "no line of marker names"),
    "empty": ("", "no line of marker names"),
    "binary": (b"\0\1\2\3", "not a text file"),
}


@pytest.mark.parametrize(("content", "words"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_refused_in_words(read, content, words):
    with pytest.raises(FileError, match=words) as caught:
        read(content)
    assert str(caught.value).startswith("walk.trc")


def test_a_missing_file_is_refused_in_words(tmp_path):
    with pytest.raises(FileError, match=r"none\.trc: The file cannot be read"):
        oi.read_markers(tmp_path / "none.trc")


@pytest.mark.parametrize("units", ["mm", "m"])
def test_what_is_written_is_read_back(read, tmp_path, units):
    data = read(text(rows=("1\t0.0\t100\t200\t300\t\t\t\t", "2\t0.01\t101\t201\t301\t401\t501\t601")))
    write_trc(data, tmp_path / "again.trc", units=units, decimals=9)
    again = oi.read_markers(tmp_path / "again.trc")
    assert again.names == data.names
    assert again.units == units
    assert again.time == pytest.approx(data.time)
    assert again.positions == pytest.approx(data.positions, nan_ok=True)


def test_a_written_file_is_read_by_opensim(read, tmp_path):
    opensim = pytest.importorskip("opensim")
    data = read(text(rows=("1\t0.0\t100\t200\t300\t\t\t\t", "2\t0.01\t101\t201\t301\t401\t501\t601")))
    write_trc(data, tmp_path / "again.trc")
    table = opensim.TimeSeriesTableVec3(str(tmp_path / "again.trc"))
    assert table.getColumnLabels() == ("HEEL", "TOE")
    assert table.getDependentColumn("TOE")[1].to_numpy() == pytest.approx([401.0, 501.0, 601.0])
    assert np.isnan(table.getDependentColumn("TOE")[0].to_numpy()).all()


def test_frames_are_chosen_by_the_nearest_times(read):
    rows = tuple(f"{i}\t{0.1 * i:.1f}\t1\t2\t3\t4\t5\t600" for i in range(10))
    found = read(text(rows=rows, frames=10))
    assert found.between(0.19, 0.42).time == pytest.approx([0.2, 0.3, 0.4])
    assert len(found.between(-np.inf, np.inf)) == 10
    for outside in ((2.0, 3.0), (-2.0, -1.0), (0.5, 0.1)):
        with pytest.raises(FileError, match="time range has no frames"):
            found.between(*outside)
