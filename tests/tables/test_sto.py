"""Reading and writing .mot and .sto files, against OpenSim's own files and its own reader."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.tables.sto import UNITS_REMARK

ROWS = [[0.0, 1.5, -2.0], [0.1, 2.5, 3e-3], [0.2, 4.0, 5.0], [0.3, 6.0, 7.0]]


def text(rows=ROWS, head="name\nversion=1\nnRows={n}\nnColumns={c}\ninDegrees=no\nendheader\n", labels="time\ta\tb",
         between="\t", end="\n", **counts) -> str:
    lines = [labels, *(between.join(str(cell) for cell in row) for row in rows)]
    counts = {"n": len(rows), "c": len(labels.split())} | counts
    return head.format(**counts).replace("\n", end) + end.join(lines) + end


def written(tmp_path: Path, content: str, name: str = "data.sto") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode())
    return path


def opensim_rows(path: Path) -> np.ndarray:
    """Time and data as OpenSim's Storage reads them."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    storage = opensim.Storage(str(path))
    rows = []
    for i in range(storage.getSize()):
        vector = storage.getStateVector(i)
        rows.append([vector.getTime(), *(vector.getData().get(k) for k in range(vector.getSize()))])
    return np.array(rows)


# ---- files that are in order -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("head", "name", "degrees"), [
    ("title\nversion=1\nnRows={n}\nnColumns={c}\ninDegrees=yes\nendheader\n", "m.mot", True),
    ("title\nversion=1\nnRows={n}\nnColumns={c}\ninDegrees=no\nendheader\n", "m.mot", False),
    ("title\nversion=1\nnRows={n}\nnColumns={c}\nendheader\n", "m.mot", False),
    ("name title\ndatacolumns {c}\ndatarows {n}\nrange 0 1\nendheader\n", "m.mot", True),
    ("name title\ndatacolumns {c}\ndatarows {n}\nrange 0 1\nendheader\n", "m.sto", False),
    ("title\nnr={n}\nnc={c}\nAngles are in degrees.\nendheader\n", "m.sto", True),
    ("title\nnr={n}\nnc={c}\nAngles are in radians.\nendheader\n", "m.sto", False),
    ("\n title \nversion = 1\nnRows = {n}\nnColumns\t{c}\ninDegrees=Y\n\nendheader\n\n\n", "m.sto", True),
    ("inDegrees=no\nDataType=double\nversion=3\nOpenSimVersion=4.6\nendheader\n", "m.sto", False),
    ("DataRate=100\nDataType=double\nversion=3\ninDegrees=yes\nendheader\n", "m.mot", True),
])  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.oracle
def test_every_header_is_understood_as_opensim_does(tmp_path, head, name, degrees, end):
    path = written(tmp_path, text(head=head, end=end), name)
    table = oi.read_table(path)
    assert table.names == ("a", "b")
    assert table.in_degrees is degrees
    if end == "\n" or "version=3" not in head:
        np.testing.assert_array_equal(np.column_stack([table.time, table.values]), opensim_rows(path))
        opensim = pytest.importorskip("opensim")
        assert opensim.Storage(str(path)).isInDegrees() is degrees


def test_blanks_separate_numbers_and_a_missing_last_newline_does_no_harm(tmp_path):
    table = oi.read_table(written(tmp_path, text(between="   ", labels="time a b").rstrip("\n")))
    np.testing.assert_array_equal(table.values, np.array(ROWS)[:, 1:])


def test_blank_lines_after_the_data_do_no_harm(tmp_path, monkeypatch):
    monkeypatch.setattr("osim_inertia.tables.numbers.BLOCK_BYTES", 50)
    path = written(tmp_path, text() + " \n\t\n" * 100)
    for like_opensim in (False, True):
        table = oi.read_table(path, like_opensim=like_opensim)
        np.testing.assert_array_equal(table.values, np.array(ROWS)[:, 1:])
        assert not table.notes


def test_labels_of_new_files_may_hold_blanks(tmp_path):
    path = written(tmp_path, text(head="version=3\nendheader\n", labels="time\tleft foot\tright foot"))
    assert oi.read_table(path).names == ("left foot", "right foot")


def test_columns_of_vectors_are_spread(tmp_path):
    rows = [[0.0, "1,2,3", "4,5,6"], [0.1, "7,8,9", "10,11,12"]]
    table = oi.read_table(written(tmp_path, text(rows, head="DataType=Vec3\nversion=3\nendheader\n")))
    assert table.names == ("a_1", "a_2", "a_3", "b_1", "b_2", "b_3")
    np.testing.assert_array_equal(table.values, [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]])


def test_a_motion_without_times_gets_them_from_its_range(tmp_path):
    head = "name m\ndatacolumns 2\ndatarows {n}\nrange 1.0 2.5\nendheader\n"
    table = oi.read_table(written(tmp_path, text([row[1:] for row in ROWS], head=head, labels="a\tb"), "m.mot"))
    np.testing.assert_allclose(table.time, [1.0, 1.5, 2.0, 2.5])


def test_states_are_found_under_old_and_new_names(tmp_path):
    names = ("knee_angle", "knee_angle_u", "soleus.activation", "/jointset/hip/hip_flexion/value")
    table = oi.Table(names, np.arange(2.0), np.arange(8.0).reshape(2, 4))
    assert table["/jointset/knee/knee_angle/value"][0] == 0
    assert table["/jointset/knee/knee_angle/speed"][0] == 1
    assert table["/forceset/soleus/activation"][0] == 2
    assert table["/jointset/hip/hip_flexion/value"][0] == 3
    assert "hip_flexion" not in table
    with pytest.raises(KeyError, match="closest is 'knee_angle'"):
        table.column("knee_angel")


# ---- files that are not ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("content", "words", "line"), [
    (text(n=9), "declares 9 rows and the file has 4", 3),
    (text(n=2), "declares 2 rows and the file has 4", 3),
    (text(c=4), "declares 4 columns and there are 3", 7),
    (text([*ROWS[:2], [0.2, "nan", 5.0]]), "'a' is nan", 10),
    (text([*ROWS[:2], [0.2, 1.0, "-inf"]]), "'b' is -inf", 10),
    (text([*ROWS[:2], [0.2, "4,5", 5.0]]), "'a' is not a number", 10),
    (text([*ROWS[:3], [0.3, 1.0]]), "too few numbers", 11),
    (text([ROWS[0], [0.1, 1.0, 2.0, 3.0], *ROWS[2:]]), "too many numbers", 9),
    (text([*ROWS[:1], [0.1, 1.0, 2.0, 0.15], [3.0, 4.0]]), "too many numbers", 9),
    (text([*ROWS[:2], ROWS[1], *ROWS[2:]]), "occurs twice", None),
    (text([*ROWS[:3], ROWS[1]]), "go backwards", None),
    (text([]), "no data", None),
    ("a\nversion=1\nnRows=2\nnColumns=2\nendheader\n", "ends after its header", 6),
    ("time a b\n1 2 3\n", "has no end", 2),
    ("", "has no end", None),
    (text(labels="a\ttime\tb"), "not in the first column", 7),
    (text(labels="a\tb\tc"), "no time column", None),
    (text(n="many"), "not a number", 3),
    (text(head="DataType=Mesh\nversion=3\nendheader\n"), "type Mesh", 4),
    ("PK\x03\x04\0\0\0\0\n", "not a text file", None),
])  # fmt: skip
def test_damaged_files_are_refused_with_the_line(tmp_path, content, words, line):
    with pytest.raises(oi.FileError, match=words) as error:
        oi.read_table(written(tmp_path, content))
    assert error.value.line == line
    assert "data.sto" in str(error.value)


@pytest.mark.oracle
@pytest.mark.parametrize("content", [
    text(n=9),
    text(n=2),
    text([*ROWS[:2], [0.2, "nan", 5.0], ROWS[3]]),
    text([*ROWS[:2], [0.2, 1.0, "x"], ROWS[3]]),
    text([*ROWS[:2], [*ROWS[1][:1], 8.0, 9.0], *ROWS[2:]]),
    text([*ROWS[:3], [0.3, 1.0]]),
    text([ROWS[0], [0.1, 2.5], [1e-3, 0.2, 4.0], [5.0, 0.3, 6.0, 7.0]], n=4),
], ids=["rows missing", "rows too many", "nan", "word", "time twice", "cut short", "other line breaks"])  # fmt: skip
def test_damaged_files_can_be_read_as_opensim_reads_them(tmp_path, content):
    path = written(tmp_path, content)
    table = oi.read_table(path, like_opensim=True)
    np.testing.assert_array_equal(np.column_stack([table.time, table.values]), opensim_rows(path))


@pytest.mark.oracle
@pytest.mark.parametrize("line", ["inDegrees=no", "Angles are in radians."])
def test_an_old_motion_in_radians_is_refused_because_opensim_reads_degrees(tmp_path, line):
    path = written(tmp_path, text(head="title\nnr={n}\nnc={c}\n" + line + "\nendheader\n"), "m.mot")
    with pytest.raises(oi.FileError, match="has no version"):
        oi.read_table(path)
    table = oi.read_table(path, like_opensim=True)
    assert table.in_degrees is pytest.importorskip("opensim").Storage(str(path)).isInDegrees()
    assert any("radians" in note for note in table.notes)


@pytest.mark.parametrize("content", [text(n=9), text(n=2), text([*ROWS[:2], [0.2, "nan", 5.0], ROWS[3]])])
def test_what_opensim_would_lose_is_noted(tmp_path, content):
    notes = oi.read_table(written(tmp_path, content), like_opensim=True).notes
    assert any("rows" in note for note in notes)


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(oi.FileError, match=r"none\.sto: The file cannot be read"):
        oi.read_table(tmp_path / "none.sto")
    with pytest.raises(oi.FileError, match="folder"):
        oi.read_table(tmp_path)


# ---- writing ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "remark"), [("id.sto", ""), ("ik_marker_errors.sto", ""), ("ik.mot", UNITS_REMARK)])
def test_results_are_written_byte_for_byte_as_opensim_writes_them(shared_data, tmp_path, name, remark):
    for trial in sorted((shared_data / "trials").iterdir()):
        oi.write_table(oi.read_table(trial / name), tmp_path / name, remark=remark)
        assert (tmp_path / name).read_bytes() == (trial / name).read_bytes()


def test_all_digits_survive_a_round_trip(tmp_path):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(700, 2)) * 10.0 ** rng.integers(-9, 9, (700, 1))
    table = oi.Table(("a", "b"), np.cumsum(rng.uniform(0.1, 1, 700)), values, True, {"name": "all digits"})
    oi.write_table(table, tmp_path / "t.sto", decimals=None)
    again = oi.read_table(tmp_path / "t.sto")
    np.testing.assert_array_equal(again.values, table.values)
    np.testing.assert_array_equal(again.time, table.time)
    assert again.in_degrees
    assert again.metadata["name"] == "all digits"


def test_blocks_of_a_large_file_join_without_a_seam(tmp_path, monkeypatch):
    table = oi.Table(("a", "b"), np.arange(500) * 0.01, np.random.default_rng(1).normal(size=(500, 2)))
    oi.write_table(table, tmp_path / "t.sto", decimals=None)
    monkeypatch.setattr("osim_inertia.tables.numbers.BLOCK_BYTES", 1000)
    for like_opensim in (False, True):
        np.testing.assert_array_equal(oi.read_table(tmp_path / "t.sto", like_opensim=like_opensim).values, table.values)
    lines = (tmp_path / "t.sto").read_text().splitlines()
    lines[400] = lines[400].replace("\t", " x ", 1)
    (tmp_path / "t.sto").write_text("\n".join(lines))
    with pytest.raises(oi.FileError) as error:
        oi.read_table(tmp_path / "t.sto")
    assert error.value.line == 401


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "t.sto"
    target.write_text("old")
    table = oi.Table(("a",), np.arange(3.0), np.ones((3, 1)))
    with pytest.raises(ValueError, match="'a' is nan"):
        oi.write_table(table.with_values([[1.0], [np.nan], [1.0]]), target)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("osim_inertia.tables.sto.write_rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        oi.write_table(table, target)
    assert os.listdir(tmp_path) == ["t.sto"]
    assert target.read_text() == "old"


# ---- tables ----------------------------------------------------------------------------------------------------------
def test_rows_are_taken_by_time_with_both_ends():
    table = oi.Table(("a",), np.arange(5) * 0.1, np.arange(5.0)[:, None])
    assert table.between(table.time[1], table.time[3]).values.ravel().tolist() == [1, 2, 3]
    assert len(table.between(0.05)) == 4
    assert len(table.between(0.05, 0.06)) == 0


@pytest.mark.parametrize(("time", "values", "words"), [
    ([0.0, 0.0], [[1.0], [2.0]], "times that increase"),
    ([0.0, np.nan], [[1.0], [2.0]], "time is nan in row 1"),
    ([0.0, 1.0], [[1.0, 2.0]], "shape"),
])
def test_tables_refuse_what_makes_no_sense(time, values, words):
    with pytest.raises(ValueError, match=words):
        oi.Table(("a",), np.array(time), np.array(values))


def test_pandas_is_asked_for_only_when_needed(monkeypatch):
    table = oi.Table(("a", "b"), np.arange(2.0), np.arange(4.0).reshape(2, 2), True)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(oi.OsimInertiaError, match="pip install pandas"):
        table.to_pandas()


def test_pandas_export_keeps_times_and_names():
    import pandas

    frame = oi.Table(("a", "b"), np.arange(2.0), np.arange(4.0).reshape(2, 2), True).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["a", "b"]
    assert frame.index.name == "time"
    assert frame.attrs["in_degrees"] is True
    np.testing.assert_array_equal(frame["b"], [1.0, 3.0])
