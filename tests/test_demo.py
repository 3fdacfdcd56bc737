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
from osim_inertia import demo, demo_page, opensim_bridge, warmup
from osim_inertia.cli.main import main

ONE_STRIDE = (0.7, 1.6)


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> tuple[demo.Demo, Path]:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opensim_bridge, "is_installed", lambda: False)
        return demo.run_demo(folder, time_range=ONE_STRIDE), folder


def test_all_files_are_written_and_tell_the_same(found):
    result, folder = found
    for percent, table in result.forces.items():
        written = oi.read_table(folder / f"id_{percent:02d}.sto")
        assert written.names == table.names
        np.testing.assert_allclose(written.values, table.values, atol=1e-8)
    assert len(oi.read_table(folder / "ik.mot")) == 91
    assert len(result.strides) == 1


def test_without_muscle_mass_it_is_plain_inverse_dynamics(found):
    result, folder = found
    model = oi.read_osim(demo.model_folder() / demo.MODEL)
    plain = oi.inverse_dynamics_of(model, oi.read_table(folder / "ik.mot"), lowpass=demo.LOWPASS, time_range=ONE_STRIDE)
    assert (plain.values == result.forces[0].values).all()


def test_moments_are_affine_in_the_share_of_mass(found):
    forces = found[0].forces
    for percent in (20, 40, 60):
        between = forces[0].values + percent / 80.0 * (forces[80].values - forces[0].values)
        np.testing.assert_allclose(forces[percent].values, between, atol=1e-9 * np.abs(between).max())


def test_the_joint_angles_are_those_of_the_run(found):
    true = oi.read_table(demo.model_folder() / f"{demo.TRIAL}.mot").between(*ONE_STRIDE)
    fit = found[0].fit
    for name in ("hip_flexion_r", "knee_angle_r", "ankle_angle_r"):
        assert np.abs(fit.coordinates.column(name) - true.column(name)).max() < 2.5  # degrees, with 2 mm of noise


def test_muscle_mass_changes_the_swing_moment_of_the_ankle_most(found):
    result = found[0]
    changes = {joint: result.largest_change(joint, 80) for joint in demo.JOINTS}
    assert 0.2 < changes["ankle"] < 0.5  # the papers: up to 40 %
    assert max(changes, key=changes.__getitem__) == "ankle"
    assert 30.0 < result.toe_off < 35.0


def test_masses_moved_add_up(found):
    result = found[0]
    assert sum(row["kg"] for row in result.masses) == pytest.approx(0.8 * result.body_mass, rel=1e-12)


def test_the_csv_has_the_swing_and_the_family(found):
    result, folder = found
    with open(folder / "swing_ankle_moment.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows[0]) == 1 + len(demo.PERCENTS)
    numbers = np.array(rows[1:], dtype=float)
    assert numbers[0, 0] >= result.toe_off
    assert numbers[-1, 0] == 100.0
    np.testing.assert_allclose(numbers[:, -1], result.curve(result.forces[80], "ankle")[result.in_swing()], atol=1e-6)


def test_a_range_without_a_stride_is_refused(tmp_path):
    with pytest.raises(oi.OsimInertiaError, match="no whole stride"):
        demo.run_demo(tmp_path, time_range=(0.2, 0.6))


@pytest.mark.oracle
def test_opensims_own_curve_is_ours_at_zero_percent(tmp_path, capfd):
    pytest.importorskip("opensim", reason="OpenSim's Python package is not installed")
    result = demo.run_demo(tmp_path, time_range=ONE_STRIDE)
    difference = result.difference_from_opensim()
    assert difference is not None
    assert difference < 1e-7
    assert capfd.readouterr().out == ""  # OpenSim's own talk stays away


def test_the_page_works_offline_and_says_what_came_out(found):
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'osim-inertia[report]'")
    text = demo_page.page(found[0])
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"'](https?:)?//", text)
    assert text.count('class="plotly-graph-div"') == 3
    assert "changes by up to" in text
    assert opensim_bridge.HOW_TO_GET.split("'")[1] in text
    for percent in demo.PERCENTS:
        assert f'"{percent} % muscle"' in text or f'"{percent} \\u0025 muscle"' in text


def test_without_plotly_it_still_prints_the_table_and_says_how_to_get_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_page, "can_draw", lambda: False)
    monkeypatch.setattr(opensim_bridge, "is_installed", lambda: False)
    result = CliRunner().invoke(main, ["demo", "-o", str(tmp_path / "out"), "--no-open"])
    assert result.exit_code == 0, result.output
    assert "osim-inertia[report]" in result.output
    assert "osim-inertia[opensim]" in result.output
    assert re.search(r"ankle\W+\d+\.\d %", result.output)
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
    model = oi.read_osim(demo.model_folder() / demo.MODEL)
    said, found_out = demo.with_muscles(model, 80).muscle_mass, oi.with_muscle_mass(model, {demo.BODY: 0.8}).muscle_mass
    for one, other in zip(said.muscles, found_out.muscles, strict=True):
        assert (one.name, one.belly) == (other.name, other.belly)
        assert dict(one.taken_from) == pytest.approx(dict(other.taken_from), rel=1e-12)
