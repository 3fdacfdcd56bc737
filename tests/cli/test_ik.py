"""`osim-inertia ik`: OpenSim's setup files as they are, a model and markers, and how it fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia.cli.main import main
from osim_inertia.markers.trc import write_trc
from osim_inertia.setup_ik import read_inverse_kinematics_setup

TRIALS = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "trials"
INPUTS = ("model.osim", "markers.trc", "setup_ik.xml")
needs_data = pytest.mark.skipif(not TRIALS.is_dir(), reason="the shared reference data is not beside the project")
pytestmark = needs_data


def run(*arguments: object):
    return CliRunner().invoke(main, ["ik", *(str(argument) for argument in arguments)])


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """A copy of a small trial, in a folder that is not the working folder."""
    for name in INPUTS:
        shutil.copy(TRIALS / "arm26_elbow_flex" / name, tmp_path / name)
    return tmp_path


def edit(folder: Path, old: str, new: str) -> None:
    file = folder / "setup_ik.xml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize("name", ["arm26_elbow_flex", "gait2392_walk", "leg39_swing"])
def test_a_setup_file_of_opensim_runs_as_it_is(name, tmp_path):
    for file in INPUTS:
        shutil.copy(TRIALS / name / file, tmp_path / file)
    result = run(tmp_path / "setup_ik.xml")
    assert result.exit_code == 0, result.output
    motion, theirs = oi.read_table(tmp_path / "out_ik.mot"), TRIALS / name / "ik_tight.mot"
    up_to_labels = [file.read_text().splitlines()[:11] for file in (tmp_path / "out_ik.mot", theirs)]
    assert up_to_labels[0] == up_to_labels[1]
    reference = oi.read_table(theirs)
    assert motion.time.tolist() == reference.time.tolist()
    assert motion.values == pytest.approx(reference.values, abs=0.01)
    errors = tmp_path / "results" / f"{name}_ik_marker_errors.sto"
    stored = TRIALS / name / "ik_tight_marker_errors.sto"
    assert errors.read_text().splitlines()[:7] == stored.read_text().splitlines()[:7]
    assert not list((tmp_path / "results").glob("*locations*"))


def test_json_tells_times_and_errors(trial):
    result = run(trial / "setup_ik.xml", "--json")
    summary = json.loads(result.stdout)
    assert summary["frames"] == 121
    assert summary["output"] == str(trial / "out_ik.mot")
    assert set(summary["seconds"]) == {"read", "load", "solve", "write"}
    assert 5e-4 < summary["marker_error_rms_m"] < summary["marker_error_max_m"] < 2e-3


def test_settings_are_followed(trial):
    edit(trial, "<report_marker_locations>false", "<report_marker_locations>true")
    edit(trial, "<report_errors>true", "<report_errors>false")
    edit(trial, "<results_directory>results", "<results_directory>there")
    result = run(trial / "setup_ik.xml", "--time-range", 0.2, 0.5)
    assert result.exit_code == 0, result.output
    assert [file.name for file in (trial / "there").iterdir()] == ["arm26_elbow_flex_ik_model_marker_locations.sto"]
    places = oi.read_table(trial / "there" / "arm26_elbow_flex_ik_model_marker_locations.sto")
    assert places.names[:3] == ("r_acromion_tx", "r_acromion_ty", "r_acromion_tz")
    assert places.time[[0, -1]] == pytest.approx([0.2, 0.5], abs=0.005)
    motion = oi.read_table(trial / "out_ik.mot")
    assert len(motion) == len(places)


def test_an_empty_time_range_is_the_whole_recording(trial):
    text = (trial / "setup_ik.xml").read_text()
    start, end = text.index("<time_range>"), text.index("</time_range>") + 13
    (trial / "setup_ik.xml").write_text(f"{text[:start]}<time_range />{text[end:]}")
    result = run(trial / "setup_ik.xml")
    assert result.exit_code == 0, result.output
    assert len(oi.read_table(trial / "out_ik.mot")) == 121


def test_unknown_settings_and_unused_ones_are_reported(trial):
    edit(trial, "<accuracy>", "<acuracy>3</acuracy><constraint_weight>20</constraint_weight><accuracy>")
    edit(trial, "<constraint_weight>Inf</constraint_weight>", "")
    result = run(trial / "setup_ik.xml")
    assert result.exit_code == 0
    assert "unknown setting <acuracy>" in result.stderr
    assert "<constraint_weight> 20 is not used" in result.stderr


def test_old_setup_files_with_trials_are_read(trial):
    text = (trial / "setup_ik.xml").read_text()
    tasks = text[text.index("<IKTaskSet>") : text.index("</IKTaskSet>") + 12]
    (trial / "old.xml").write_text(
        '<IKTool name="old"><model_file>model.osim</model_file>' + tasks + "<IKTrialSet><objects><IKTrial>"
        "<marker_file>markers.trc</marker_file><output_motion_file>old.mot</output_motion_file>"
        "<time_range>0 0.1</time_range></IKTrial></objects></IKTrialSet></IKTool>"
    )
    assert read_inverse_kinematics_setup(trial / "old.xml").tasks.markers
    assert run(trial / "old.xml").exit_code == 0
    assert len(oi.read_table(trial / "old.mot")) == 13


def test_a_model_and_markers_are_enough(trial):
    result = run(trial / "model.osim", trial / "markers.trc", "-o", trial / "a.mot", "--errors", trial / "e.sto")
    assert result.exit_code == 0, result.output
    assert "121 frames, 2 coordinates, marker error" in result.stdout
    assert len(oi.read_table(trial / "a.mot")) == len(oi.read_table(trial / "e.sto")) == 121
    tasks = run(trial / "model.osim", trial / "markers.trc", "-o", trial / "b.mot", "--tasks", trial / "setup_ik.xml")
    assert tasks.exit_code == 0, tasks.output
    weights = run(trial / "model.osim", trial / "markers.trc", "-o", trial / "c.mot", "--weights", "r_radius_styloid=1")
    assert weights.exit_code == 0, weights.output
    a, c = (oi.read_table(trial / name).values for name in ("a.mot", "c.mot"))
    assert np.abs(a - c).max() > 1e-3  # one marker alone is fitted differently


def test_a_marker_set_takes_the_place_of_the_models_markers(trial):
    (trial / "set.xml").write_text(
        '<OpenSimDocument Version="40000"><MarkerSet name="m"><objects><Marker name="r_radius_styloid">'
        "<socket_parent_frame>/bodyset/r_ulna_radius_hand</socket_parent_frame><location>0 -0.2 0.07</location>"
        "</Marker></objects></MarkerSet></OpenSimDocument>"
    )
    plain, moved = (json.loads(run(trial / "setup_ik.xml", "--json", *more).stdout)["marker_error_rms_m"]
                    for more in ((), ("--marker-set", trial / "set.xml")))  # fmt: skip
    assert moved > 5.0 * plain


def test_a_failed_run_leaves_the_old_result(trial):
    (trial / "out_ik.mot").write_text("old")
    markers = oi.read_markers(trial / "markers.trc")
    write_trc(markers.select(markers.names[:1]), trial / "markers.trc", units="mm")
    (trial / "markers.trc").write_text((trial / "markers.trc").read_text().replace(markers.names[0], "NOSE"))
    result = run(trial / "setup_ik.xml")
    assert result.exit_code == 1
    assert "names in the file, in the model and in the tasks do not match" in result.stderr
    assert (trial / "out_ik.mot").read_text() == "old"
    assert not list(trial.glob(".*"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("model.osim",), 2, "Markers are missing"),
        (("model.osim", "none.trc"), 1, "none.trc: The file cannot be read"),
        (("model.osim", "markers.trc", "--weights", "r_acromion"), 2, "is not MARKER=WEIGHT"),
        (("model.osim", "markers.trc", "--weights", "r_acromion=-1"), 2, "is not MARKER=WEIGHT"),
        (("model.osim", "markers.trc", "--time-range", "7", "9"), 1, "time range has no frames"),
        (("markers.trc",), 1, "markers.trc"),
    ],
)
def test_wrong_usage_and_wrong_files_end_in_words(trial, monkeypatch, arguments, code, words):
    monkeypatch.chdir(trial)
    result = run(*arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert not (trial / "ik.mot").exists()


def test_a_missing_input_of_the_setup_is_named_with_its_line(trial):
    edit(trial, "<marker_file>markers.trc", "<marker_file>lost.trc")
    result = run(trial / "setup_ik.xml")
    assert result.exit_code == 1
    assert "the file of <marker_file> does not exist" in result.stderr
    assert "setup_ik.xml, line 19" in result.stderr
