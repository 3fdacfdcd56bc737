"""`osim-inertia muscles`: the files of OpenSim's own MuscleAnalysis, by name, header, columns and numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia.cli.main import main

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
LAST_DIGIT = 1.01e-8  # of the files; relative for numbers above 1
ANALYSIS = """import opensim, sys
opensim.Logger.setLevelString("off")
sys.exit(0 if opensim.AnalyzeTool("setup.xml").run() else 1)
"""
# OpenSim's answers about these coordinates are a quotient of two rounding errors (hundreds of kilometres): they depend
# on another coordinate that stands still there.
UNDETERMINED = {"leg39_swing": ("pat_tx_r", "pat_ty_r")}


def opensim_files(folder: Path, trial: str, start: float, stop: float, coordinates: str) -> list[Path]:
    """What OpenSim's AnalyzeTool with a MuscleAnalysis writes for a trial."""
    source = (DATA / "trials" / trial).resolve()
    (folder / "setup.xml").write_text(f"""<OpenSimDocument Version="40000"><AnalyzeTool name="ik">
<model_file>{source}/model.osim</model_file><replace_force_set>false</replace_force_set>
<results_directory>.</results_directory><output_precision>8</output_precision>
<initial_time>{start}</initial_time><final_time>{stop}</final_time>
<AnalysisSet><objects><MuscleAnalysis name="MuscleAnalysis"><muscle_list>all</muscle_list>
<moment_arm_coordinate_list>{coordinates}</moment_arm_coordinate_list><compute_moments>true</compute_moments>
</MuscleAnalysis></objects></AnalysisSet>
<coordinates_file>{source}/ik.mot</coordinates_file></AnalyzeTool></OpenSimDocument>""")
    done = subprocess.run([sys.executable, "-c", ANALYSIS], cwd=folder, capture_output=True, text=True, timeout=300,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return [*folder.glob("*_Length.sto"), *sorted(folder.glob("*_MomentArm_*.sto"))]


@pytest.mark.oracle
@pytest.mark.parametrize(("trial", "start", "stop", "coordinates"), [
    ("arm26_elbow_flex", 0.0, 1.0, "all"),
    ("leg39_swing", 0.0, 0.41666667, "all"),
    ("gait10dof18musc_walk", 0.5, 0.6, "all"),
    ("rajagopal_walk", 0.5, 0.52, "knee_angle_r hip_flexion_l"),
])
def test_files_are_those_of_opensims_muscle_analysis(shared_data, tmp_path, trial, start, stop, coordinates):
    pytest.importorskip("opensim")
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    files = opensim_files(theirs, trial, start, stop, coordinates)
    source = shared_data / "trials" / trial
    command = ["muscles", source / "model.osim", source / "ik.mot", "-o", ours, "--time-range", start, stop]
    done = CliRunner().invoke(main, [str(word) for word in command])
    assert done.exit_code == 0, done.output
    if coordinates == "all":
        speed = "ik_MuscleAnalysis_LengtheningSpeed.sto"  # ours alone
        assert sorted(f.name for f in files) == sorted(f.name for f in ours.iterdir() if f.name != speed)
    for file in files:
        a, b = oi.read_table(ours / file.name), oi.read_table(file)
        assert (ours / file.name).read_text().split("endheader")[0] == file.read_text().split("endheader")[0]
        assert a.names == b.names
        assert list(a.time) == list(b.time)
        if not file.stem.endswith(UNDETERMINED.get(trial, "-")):
            scale = np.maximum(1.0, np.abs(b.values))
            assert (np.abs(a.values - b.values) / scale).max() < LAST_DIGIT, file.name


@pytest.fixture
def elbow(shared_data) -> tuple[Path, Path]:
    folder = shared_data / "trials" / "arm26_elbow_flex"
    return folder / "model.osim", folder / "ik.mot"


def invoke(*words: object) -> dict:
    done = CliRunner().invoke(main, ["muscles", *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_lengthening_speed_is_the_rate_of_length(elbow, tmp_path):
    summary = invoke(*elbow, "-o", tmp_path, "--name", "arm", "--paths", "shortest")
    assert summary["rows"] == 121
    assert summary["columns"] == 6
    length, speed = (oi.read_table(tmp_path / f"arm_MuscleAnalysis_{name}.sto")
                     for name in ("Length", "LengtheningSpeed"))
    central = (length.values[2:] - length.values[:-2]) / (length.time[2:] - length.time[:-2])[:, None]
    np.testing.assert_allclose(speed.values[1:-1], central, atol=2e-3 * np.abs(central).max())


def test_radians_give_the_same_as_degrees(elbow, tmp_path):
    model, motion = elbow
    table = oi.read_table(motion)
    assert table.in_degrees
    radians = oi.Table(table.names, table.time, np.radians(table.values), False, {"name": "radians"})
    oi.write_table(radians, tmp_path / "ik.sto", decimals=None)
    invoke(model, motion, "-o", tmp_path / "a")
    invoke(model, tmp_path / "ik.sto", "-o", tmp_path / "b")
    name = "ik_MuscleAnalysis_Length.sto"
    a, b = (oi.read_table(tmp_path / folder / name) for folder in "ab")
    np.testing.assert_allclose(a.values, b.values, atol=LAST_DIGIT)


def test_a_motion_of_another_model_and_a_model_without_muscles_are_named(elbow, shared_data, tmp_path):
    model, _ = elbow
    wrong = shared_data / "trials" / "leg39_swing" / "ik.mot"
    done = CliRunner().invoke(main, ["muscles", str(model), str(wrong), "-o", str(tmp_path)])
    assert done.exit_code == 1
    assert "none of the model's coordinates" in done.output
    pendulum = shared_data / "models" / "DoublePendulum" / "double_pendulum.osim"
    done = CliRunner().invoke(main, ["muscles", str(pendulum), str(wrong), "-o", str(tmp_path)])
    assert done.exit_code == 1
    assert "has no muscles" in done.output
