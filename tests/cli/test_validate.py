"""`osim-inertia validate`: every reference trial agrees with OpenSim, every kind of input, and what can go wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from lab_files import lab_folder

import osim_inertia as oi
from osim_inertia import opensim_bridge
from osim_inertia.cli.main import main
from osim_inertia.report import make

TRIALS = ("arm26_elbow_flex", "gait10dof18musc_walk", "gait2392_walk", "hamner_run", "leg39_swing", "rajagopal_run",
          "rajagopal_walk")  # fmt: skip
SAME = 1e-6  # relative RMS difference of every column at 0 %


def run(*words: object) -> dict:
    result = CliRunner().invoke(main, ["validate", *map(str, words), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Path:
    return lab_folder(tmp_path_factory.mktemp("laboratory"))


@pytest.fixture(autouse=True)
def no_opensim(request, monkeypatch):
    """OpenSim's tool only where the test is about it."""
    if "oracle" not in request.keywords:
        monkeypatch.setattr(opensim_bridge, "is_installed", lambda: False)


# ---- against OpenSim ------------------------------------------------------------------------------------------------
@pytest.mark.oracle
@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize("setup", ["setup_id.xml", "setup_id_unfiltered.xml"])
def test_the_reference_trials_agree_with_opensim_without_muscle_mass(trial, setup, shared_data, tmp_path):
    pytest.importorskip("opensim", reason="OpenSim's Python package is not installed")
    folder = shared_data / "trials" / trial
    percents = "0,20,40,60,80" if setup == "setup_id.xml" else "0,80"
    summary = run(folder / "model.osim", folder / setup, "-o", tmp_path, "--percents", percents)
    assert summary["opensim"]["compared"]
    assert summary["opensim"]["largest_relative_rms"] <= SAME
    stored = oi.read_table(folder / ("id.sto" if setup == "setup_id.xml" else "id_unfiltered.sto"))
    assert (oi.read_table(tmp_path / "opensim_id.sto").values == stored.values).all()  # OpenSim's own, loads and all
    errors = json.loads((tmp_path / "errors.json").read_text())
    assert {row["column"] for row in errors} == set(stored.names)
    assert max(row["relative"] for row in errors) == summary["opensim"]["largest_relative_rms"]
    assert bool(summary["strides"]) == (trial not in ("arm26_elbow_flex", "leg39_swing"))
    assert "Agrees." in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.oracle
def test_what_opensim_refuses_is_a_note_and_not_the_end(walk, tmp_path, monkeypatch):
    pytest.importorskip("opensim", reason="OpenSim's Python package is not installed")
    tool = opensim_bridge.inverse_dynamics
    monkeypatch.setattr(opensim_bridge, "inverse_dynamics", lambda model, *a, **k: tool(model.parent / "no", *a, **k))
    summary = run(walk / "model.osim", walk / "ik.mot", "-o", tmp_path, "--percents", "0")
    assert any(text.startswith("OpenSim's Inverse Dynamics tool") for text in summary["notes"])
    assert not summary["opensim"]["compared"]


@pytest.mark.oracle
def test_opensim_leaves_nothing_in_the_working_folder_and_says_nothing(walk, tmp_path, monkeypatch, capfd):
    pytest.importorskip("opensim", reason="OpenSim's Python package is not installed")
    monkeypatch.chdir(tmp_path)
    ran = opensim_bridge.inverse_dynamics(walk / "model.osim", walk / "ik.mot", external_loads=walk / "grf.xml")
    assert len(ran.forces) == 41
    assert ran.seconds > 0.0
    assert ran.version.startswith("4.")
    assert capfd.readouterr().out == ""
    assert os.listdir(tmp_path) == []


# ---- inputs ---------------------------------------------------------------------------------------------------------
def test_a_setup_file_alone_says_everything(walk, tmp_path):
    summary = run(walk / "setup_id.xml", "-o", tmp_path, "--percents", "0,50")
    assert summary["settings"]["lowpass_hz"] == 6.0
    assert [item["role"] for item in summary["inputs"]] == ["model", "motion", "setup", "external loads", "load data"]
    assert summary["missing"] == [f"For OpenSim's own curve beside ours: {opensim_bridge.HOW_TO_GET}"]


def test_options_and_the_model_override_the_setup_file(walk, tmp_path):
    other = tmp_path / "other.osim"
    other.write_bytes((walk / "model.osim").read_bytes())
    summary = run(other, walk / "setup_id.xml", "-o", tmp_path / "out", "--lowpass", -1, "--time-range", 0.2, 0.6,
                  "--percents", "0")  # fmt: skip
    assert summary["settings"]["lowpass_hz"] is None
    assert summary["time_range_s"] == pytest.approx([0.2, 0.6])
    assert any("other.osim is used instead" in text for text in summary["notes"])


def test_markers_give_the_motion_first(walk, tmp_path):
    summary = run(walk / "model.osim", walk / "markers.trc", "-o", tmp_path, "--percents", "0,40")
    assert summary["marker_error_rms_m"] < 1e-5  # they fit exactly
    fitted, true = oi.read_table(tmp_path / "ik.mot"), oi.read_table(walk / "ik.mot")
    assert abs(fitted.column("knee_angle_r") - true.column("knee_angle_r")).max() < 0.01  # degrees


def test_bodies_coordinates_and_options_of_the_transfer_are_taken(walk, tmp_path):
    summary = run(walk / "model.osim", walk / "ik.mot", "-o", tmp_path, "--bodies", "tibia_r", "--coordinates",
                  "knee_angle_r,ankle_angle_r", "--percents", "0,30", "--muscles", "soleus_r,tibant_r",
                  "--masses", walk / "masses.csv")  # fmt: skip
    assert [row["body"] for row in summary["transfer"]["bodies"]] == ["tibia_r"]
    assert {row["muscle"] for row in summary["transfer"]["muscles"]} == {"soleus_r", "tibant_r"}
    assert list(summary["largest_change"]) == ["knee_angle_r", "ankle_angle_r"]
    assert summary["settings"]["masses"] == "masses.csv"
    assert sum(row["kg"] for row in summary["transfer"]["muscles"]) == pytest.approx(0.3 * 3.5)


# ---- what is said ---------------------------------------------------------------------------------------------------
def test_it_prints_changes_sentences_and_where_the_page_is(walk, tmp_path):
    result = CliRunner().invoke(main, ["validate", str(walk / "model.osim"), str(walk / "ik.mot"), "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "largest change, with muscle" in result.output
    assert "index.html and" in result.output
    assert "osim-inertia[opensim]" in result.output


def test_without_plotly_all_files_but_the_page_are_there(walk, tmp_path, monkeypatch):
    monkeypatch.setattr(make, "can_draw", lambda: False)
    result = CliRunner().invoke(main, ["validate", str(walk / "model.osim"), str(walk / "ik.mot"), "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "osim-inertia[report]" in result.output
    assert not (tmp_path / "index.html").exists()
    assert (tmp_path / "summary.json").is_file()
    assert (tmp_path / "id_80.sto").is_file()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["model.osim"], 1, "A motion is missing"),
        (["model.osim", "nowhere.mot"], 1, "nowhere.mot"),
        (["model.json", "ik.mot"], 1, "as OpenSim has it"),
        (["model.osim", "masses.csv"], 1, "cannot be told what this file is"),
        (["model.osim", "ik.mot", "--percents", "0,eighty"], 2, "whole numbers from 0 to 100"),
        (["model.osim", "ik.mot", "--percents", "120"], 2, "whole numbers from 0 to 100"),
        (["model.osim", "ik.mot", "--lowpass", "0"], 2, "above zero"),
        (["model.osim", "ik.mot", "--bodies", "tibia"], 1, "tibia"),
        (["model.osim", "ik.mot", "--coordinates", "knee"], 1, "no coordinate 'knee'"),
        (["model.osim", "ik.mot", "-o", "."], 1, "not of an earlier report"),
        (["model.osim", "ik.mot", "-o", "model.osim/report"], 1, "cannot be made"),
    ],
)
def test_mistakes_are_told_in_a_sentence(words, code, said, walk, monkeypatch):
    monkeypatch.chdir(walk)
    result = CliRunner().invoke(main, ["validate", *words])
    assert result.exit_code == code, result.output
    assert said in result.output
    assert "Traceback" not in result.output
