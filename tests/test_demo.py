"""`osim-inertia demo`: what it computes, writes and says, with and without the optional packages."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia import demo, opensim_bridge, warmup
from osim_inertia.cli.main import main
from osim_inertia.report import make
from osim_inertia.report.collect import Findings, with_muscles

ONE_STRIDE = (0.7, 1.6)


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> tuple[Findings, Path]:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opensim_bridge, "is_installed", lambda: False)
        return demo.run_demo(folder, time_range=ONE_STRIDE)[0], folder


def test_the_stride_is_found_where_the_run_was_made_with_one(found):
    with open(demo.model_folder() / "contacts.csv", newline="") as file:
        strikes = [float(row["foot_strike_s"]) for row in csv.DictReader(file) if row["trial"] == demo.TRIAL]
    (strides,) = found[0].strides
    np.testing.assert_allclose(strides.times[0, [0, 2]], strikes[1:3], atol=0.02)
    assert 30.0 < strides.toe_off < 35.0


def test_the_joint_angles_are_those_of_the_run(found):
    true = oi.read_table(demo.model_folder() / f"{demo.TRIAL}.mot").between(*ONE_STRIDE)
    fit = oi.read_table(found[1] / "ik.mot")
    assert len(fit) == 91
    for name in ("hip_flexion_r", "knee_angle_r", "ankle_angle_r"):
        assert np.abs(fit.column(name) - true.column(name)).max() < 2.5  # degrees, with 2 mm of noise


def test_muscle_mass_changes_the_swing_moment_of_the_ankle_most(found):
    changes = {curve.coordinate: curve.change(80)[1] for curve in found[0].curves}
    assert tuple(changes) == demo.COORDINATES
    assert 0.2 < changes["ankle_angle_r"] < 0.5  # the papers: up to 40 %
    assert max(changes, key=changes.__getitem__) == "ankle_angle_r"


def test_the_page_says_what_came_out_and_how_to_get_opensims_curve(found):
    text = (found[1] / "index.html").read_text(encoding="utf-8")
    assert "changes by up to" in text
    assert "not in stance" in text
    assert opensim_bridge.HOW_TO_GET.split("'")[1] in text


@pytest.mark.oracle
def test_opensims_own_curve_is_ours_at_zero_percent(tmp_path):
    pytest.importorskip("opensim", reason="OpenSim's Python package is not installed")
    findings, _ = demo.run_demo(tmp_path, time_range=ONE_STRIDE)
    assert findings.largest_error is not None
    assert findings.largest_error < 1e-7
    assert findings.curves[0].opensim is not None


def test_without_plotly_it_still_prints_the_table_and_says_how_to_get_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "can_draw", lambda: False)
    monkeypatch.setattr(opensim_bridge, "is_installed", lambda: False)
    result = CliRunner().invoke(main, ["demo", "-o", str(tmp_path / "out"), "--no-open"])
    assert result.exit_code == 0, result.output
    assert "osim-inertia[report]" in result.output
    assert "osim-inertia[opensim]" in result.output
    assert re.search(r"ankle_angle_r\W+\d+\.\d %", result.output)
    assert not (tmp_path / "out" / "index.html").exists()


def test_an_impossible_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["demo", "-o", str(tmp_path / "file"), "--no-open"])
    assert result.exit_code == 1
    assert "cannot be made" in result.output


def test_compiling_is_announced_when_nothing_is_compiled_yet(tmp_path):
    code = "from osim_inertia.warmup import announce; announce(print, 'id', 'ik', 'muscle mass')"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"Compiling .+ once on this machine: up to about \d+ s …", done.stdout.strip())


def test_compiling_is_not_announced_once_it_is_done(found):
    said: list[str] = []
    assert warmup.announce(said.append, "id", "ik", "muscle mass") is False
    assert said == []


def test_the_muscles_lie_along_the_shank_as_the_demo_says():
    request = demo.request()
    model = oi.read_osim(request.model)
    said = with_muscles(model, 80, request).muscle_mass
    found_out = oi.with_muscle_mass(model, {demo.BODY: 0.8}).muscle_mass
    for one, other in zip(said.muscles, found_out.muscles, strict=True):
        assert (one.name, one.belly) == (other.name, other.belly)
        assert dict(one.taken_from) == pytest.approx(dict(other.taken_from), rel=1e-12)
