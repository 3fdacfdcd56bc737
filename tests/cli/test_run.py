"""`osim-inertia run`: the same numbers as `ik` and `id` one after the other, all files or none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia.cli.main import main
from tests.lab_files import lab_folder

ROUNDING = 2e-3  # N, N m: a file has 1e-8 m or degrees; 24 kg accelerated by 4 · 1e-8 m · (50 Hz)²
FILES = ["id.sto", "ik.mot", "ik_marker_errors.sto"]


def invoke(*arguments: object):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def run(walk: Path, *options: object, markers: str = "markers.trc"):
    return invoke("run", walk / "model.osim", walk / markers, "-o", walk / "out", *options)


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    return lab_folder(tmp_path)


def test_both_steps_give_what_the_two_commands_give(walk):
    loads = ("--external-loads", walk / "grf.xml", "--lowpass", "6")
    tracked = ("--tasks", walk / "setup_ik.xml", "--time-range", "0.1", "0.7")
    assert run(walk, *loads, *tracked).exit_code == 0
    assert sorted(os.listdir(walk / "out")) == FILES
    assert invoke("ik", walk / "model.osim", walk / "markers.trc", *tracked, "-o", walk / "own.mot",
                  "--errors", walk / "errors.sto").exit_code == 0  # fmt: skip
    assert invoke("id", walk / "model.osim", walk / "own.mot", *loads, "--time-range", "0.1", "0.7",
                  "-o", walk / "own.sto").exit_code == 0  # fmt: skip
    assert (walk / "out/ik.mot").read_text() == (walk / "own.mot").read_text()
    assert (walk / "out/ik_marker_errors.sto").read_text() == (walk / "errors.sto").read_text()
    ours, theirs = oi.read_table(walk / "out/id.sto"), oi.read_table(walk / "own.sto")
    assert ours.names == theirs.names
    assert ours.time == pytest.approx(theirs.time)
    assert ours.values == pytest.approx(theirs.values, abs=ROUNDING)


def test_rows_are_those_of_the_markers_also_when_filtering(walk):
    assert run(walk, "--lowpass", "6").exit_code == 0
    motion, forces = oi.read_table(walk / "out/ik.mot"), oi.read_table(walk / "out/id.sto")
    assert forces.time == pytest.approx(motion.time, abs=1e-7)


def test_with_transfer_both_answers_are_written(walk):
    assert run(walk).exit_code == 0
    massless = (walk / "out/id.sto").read_text()
    summary = json.loads(run(walk, "--transfer", "tibia_r=0.5", "--json").stdout)
    assert [Path(name).name for name in summary["outputs"]] == ["ik.mot", "ik_marker_errors.sto", "id.sto",
                                                               "id_muscle_mass.sto"]  # fmt: skip
    assert (walk / "out/id.sto").read_text() == massless
    assert invoke("id", walk / "model.osim", walk / "out/ik.mot", "--transfer", "tibia_r=0.5",
                  "-o", walk / "own.sto").exit_code == 0  # fmt: skip
    heavy, own = oi.read_table(walk / "out/id_muscle_mass.sto"), oi.read_table(walk / "own.sto")
    assert heavy.values == pytest.approx(own.values, abs=ROUNDING)
    assert np.abs(heavy.values - oi.read_table(walk / "out/id.sto").values).max() > 0.01
    assert summary["muscle_mass_kg"] == pytest.approx(0.5 * 3.5)


def test_the_summary_tells_times_and_quality(walk):
    summary = json.loads(run(walk, "--json", "--external-loads", walk / "grf.xml").stdout)
    assert {"read", "load", "solve", "write"} <= set(summary["seconds"])
    assert sum(summary["solve_seconds"].values()) == pytest.approx(summary["seconds"]["solve"], abs=1e-5)
    assert summary["frames"] == 41
    assert summary["marker_error_rms_m"] < 1e-6
    assert summary["external_loads"] == str(walk / "grf.xml")


def test_one_line_of_result_and_notes_on_stderr(walk):
    result = run(walk, "--weights", "pelvis_top=1", "--weights", "nowhere=2")
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    assert "Not in the model, and left out: nowhere." in result.stderr


def test_a_failure_of_the_second_step_leaves_no_file_and_keeps_older_ones(walk):
    (walk / "out").mkdir()
    (walk / "out/ik.mot").write_text("older")
    loads = walk / "grf.xml"
    loads.write_text(loads.read_text().replace("calcn_r", "calcn_x"))
    result = run(walk, "--external-loads", loads)
    assert result.exit_code == 1
    assert "calcn_x" in result.stderr
    assert os.listdir(walk / "out") == ["ik.mot"]
    assert (walk / "out/ik.mot").read_text() == "older"


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_interruption_while_writing_replaces_nothing(walk, monkeypatch, after):
    from osim_inertia.tables import sto

    (walk / "out").mkdir()
    (walk / "out/ik.mot").write_text("older")
    written, write_rows = [], sto.write_rows

    def interrupted(*arguments) -> None:
        if len(written) == after:
            raise KeyboardInterrupt
        written.append(write_rows(*arguments))

    monkeypatch.setattr(sto, "write_rows", interrupted)
    assert run(walk).exit_code == 130
    assert os.listdir(walk / "out") == ["ik.mot"]
    assert (walk / "out/ik.mot").read_text() == "older"


def test_no_input_is_overwritten(walk):
    (walk / "markers.trc").rename(walk / "ik.mot.trc")
    (walk / "id.sto").symlink_to(walk / "model.osim")
    result = invoke("run", walk / "model.osim", walk / "ik.mot.trc", "-o", walk)
    assert result.exit_code == 1
    assert "would replace a file it is made from" in result.stderr


def test_wrong_muscles_are_told_before_the_markers_are_fitted(walk):
    result = run(walk, "--transfer", "tibia_x=0.5")
    assert result.exit_code == 1
    assert "tibia_x" in result.stderr
    assert not (walk / "out").exists()


@pytest.mark.parametrize(("options", "words"), [
    (("--plates", "1=calcn_r"), "needs markers in a .c3d file"),
    (("--plates", "calcn_r"), "not PLATE=BODY"),
    (("--lowpass", "0"), "above zero"),
    (("--beads", "20"), "needs --transfer"),
])  # fmt: skip
def test_wrong_usage_ends_with_2(walk, options, words):
    result = run(walk, *options)
    assert result.exit_code == 2
    assert words in result.stderr


# ---- markers and forces of a .c3d file ------------------------------------------------------------------------------
def write_c3d(walk: Path) -> None:
    """The markers of the folder with Z up, and its ground reaction as measured by a plate around the origin."""
    ezc3d = pytest.importorskip("ezc3d")
    markers, grf = oi.read_markers(walk / "markers.trc"), oi.read_table(walk / "grf.mot")
    z_up = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    points = np.ones((4, len(markers.names), len(markers)))
    points[:3] = np.einsum("ij,fmj->imf", z_up, markers.positions) * 1000.0
    on_plate = -z_up @ grf.values[:, :3].T  # what the foot does to the plate
    # as C3D wants them: (+x, +y), (-x, +y), (-x, -y), (+x, -y) in axes of the plate, whose z points into the floor
    corners = np.array([[200.0, -200.0, 0.0], [-200.0, -200.0, 0.0], [-200.0, 200.0, 0.0], [200.0, 200.0, 0.0]]).T
    turn = np.diag([1.0, -1.0, -1.0])
    file = ezc3d.c3d()
    for group, values in (
        ("POINT", {"RATE": [markers.rate], "UNITS": ["mm"], "LABELS": markers.names, "Y_SCREEN": ["+Z"]}),
        ("ANALOG", {"RATE": [markers.rate], "LABELS": ["FX", "FY", "FZ", "MX", "MY", "MZ"],
                    "UNITS": ["N", "N", "N", "Nmm", "Nmm", "Nmm"]}),
        ("FORCE_PLATFORM", {"CORNERS": corners[:, :, None], "ORIGIN": np.zeros((3, 1))}),
    ):  # fmt: skip
        for name, value in values.items():
            file.add_parameter(group, name, value)
    for name, value in (("USED", [1]), ("TYPE", [2]), ("ZERO", [1, 0]), ("CHANNEL", np.arange(1, 7)[:, None])):
        whole = ezc3d.ezc3d.Parameter(name)  # add_parameter would store real numbers
        whole.set(ezc3d.ezc3d.VecInt(np.ravel(value).tolist()), np.shape(value))
        file["parameters"].add_parameter("FORCE_PLATFORM", whole)
    file["data"]["points"] = points
    file["data"]["analogs"] = np.concatenate([turn @ on_plate, np.zeros((3, len(grf)))])[None]
    file.write(str(walk / "walk.c3d"))


def test_force_plates_of_a_c3d_file_act_on_the_bodies_named(walk):
    write_c3d(walk)
    assert run(walk, "--external-loads", walk / "grf.xml").exit_code == 0
    expected = oi.read_table(walk / "out/id.sto")
    result = run(walk, "--plates", "1=calcn_r", markers="walk.c3d")
    assert result.exit_code == 0, result.stderr
    assert oi.read_table(walk / "out/id.sto").values == pytest.approx(expected.values, rel=1e-3, abs=1e-2)


def test_plates_that_nobody_stands_on_are_told(walk):
    write_c3d(walk)
    result = run(walk, markers="walk.c3d")
    assert result.exit_code == 0, result.stderr
    assert "walk.c3d has force plates (1), whose forces are not applied" in result.stderr
    assert run(walk, "--plates", "3=calcn_r", markers="walk.c3d").exit_code == 1
    both = run(walk, "--plates", "1=calcn_r", "--external-loads", walk / "grf.xml", markers="walk.c3d")
    assert both.exit_code == 2
    assert "twice" in both.stderr
