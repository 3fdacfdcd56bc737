"""The files beside the page, and that a folder holds a complete report or the one before."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from reports import LEG, leg_request

import osim_inertia as oi
from osim_inertia.errors import FileError
from osim_inertia.report import files
from osim_inertia.report.files import complete_folder
from osim_inertia.report.make import make_report


def rows(path: Path) -> tuple[list[str], np.ndarray]:
    with open(path, newline="", encoding="utf-8") as file:
        head, *body = csv.reader(file)
    return head, np.array(body)


def test_every_figure_has_its_numbers_beside_the_page(leg_report):
    findings, folder = leg_report
    for curve in findings.curves:
        head, cells = rows(folder / f"curves_{curve.coordinate}.csv")
        values = cells.astype(float)
        assert values.shape == (101, len(head))
        for name, expected in (("mean_Nm_80", curve.mean(80)), ("sd_Nm_0", curve.deviation(0))):
            column = values[:, head.index(f"{name}_percent_muscle")]
            np.testing.assert_allclose(column, expected, rtol=1e-8, atol=1e-8)
    for percent, table in findings.forces.items():
        np.testing.assert_allclose(oi.read_table(folder / f"id_{percent:02d}.sto").values, table.values, atol=1e-8)
    head, cells = rows(folder / "strides.csv")
    np.testing.assert_allclose(cells[:, 2:5].astype(float), findings.strides[0].times)
    assert sum(rows(folder / "masses.csv")[1][:, 2].astype(float)) == pytest.approx(findings.transfer["muscle_mass_kg"])
    head, cells = rows(folder / "ranking.csv")
    assert list(cells[:, 0]) == list(findings.ranking.muscles)
    assert cells[:, 2].astype(float).sum() == pytest.approx(1.0)
    head, cells = rows(folder / "changes.csv")
    assert len(cells) == 4 * len(findings.curves)


def test_the_summary_lists_all_files_and_their_origin(leg_report):
    findings, folder = leg_report
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert sorted(path.name for path in folder.iterdir()) == summary["files"]
    model = next(item for item in summary["inputs"] if item["role"] == "model")
    assert model["sha256"] == hashlib.sha256((LEG / "leg11dof4musc.osim").read_bytes()).hexdigest()
    assert model["name"] == "leg11dof4musc.osim"
    assert summary["settings"]["lowpass_hz"] == 12.0
    assert summary["strides"][0]["count"] == 3
    assert summary["opensim"]["compared"] is False
    assert {"osim-inertia", "numpy", "numba", "scipy", "Python", "system"} <= set(summary["versions"])
    assert summary["largest_change"]["ankle_angle_r"]["80"]["share"] == findings.curves[0].change(80)[1]


def test_no_file_tells_where_it_was_made(leg_report):
    folder = leg_report[1]
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert str(folder) not in text
        assert str(LEG) not in text


def test_an_older_report_is_replaced_as_a_whole_and_other_files_stay(tmp_path):
    make_report(leg_request(percents=(0, 30), rank=False), tmp_path)
    (tmp_path / "mine.txt").write_text("keep")
    assert (tmp_path / "id_30.sto").is_file()
    make_report(leg_request(percents=(0, 40), rank=False, coordinates=("knee_angle_r",)), tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"mine.txt", "id_40.sto", "curves_knee_angle_r.csv", "index.html"} <= names
    assert not {"id_30.sto", "curves_ankle_angle_r.csv"} & names
    assert not [name for name in names if name.startswith(".")]


def test_a_report_that_fails_leaves_the_older_one(tmp_path, monkeypatch):
    make_report(leg_request(percents=(0, 30), rank=False), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(files.words, "speed", lambda findings: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_report(leg_request(percents=(0, 40), rank=False), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_did_not_exist_vanishes_with_a_failed_report(tmp_path):
    with pytest.raises(ZeroDivisionError), complete_folder(tmp_path / "new"):
        raise ZeroDivisionError
    assert not (tmp_path / "new").exists()


def test_files_of_the_user_are_not_replaced(tmp_path):
    (tmp_path / "ik.mot").write_text("measured last year")
    with pytest.raises(FileError, match=re.escape("ik.mot")), complete_folder(tmp_path):
        pytest.fail("should have been refused before anything is computed")
    assert (tmp_path / "ik.mot").read_text() == "measured last year"
    assert len(list(tmp_path.iterdir())) == 1
