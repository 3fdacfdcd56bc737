"""C3D -> TRC + MOT: a trial with known forces at known points, written by ezc3d, comes out as it went in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.markers.trc import read_trc

ezc3d = pytest.importorskip("ezc3d")

SCRIPT = Path(__file__).resolve().parents[2] / "converters" / "c3d_to_trc_mot.py"
RATE, PER_FRAME, FRAMES = 100.0, 10, 12
ROWS = FRAMES * PER_FRAME
STANCE = np.arange(ROWS) >= 60  # before, the plate carries nothing
TO_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # x forward, z up -> y up
FORCE = np.array([30.0, -12.0, 650.0])  # N, on the body, in the laboratory (z up)
FREE_MOMENT = 4.5  # N m, about the vertical
CENTRE = np.array([700.0, 260.0, 0.0])  # mm
# C3D wants the corners as seen in the plate's axes: (+x, +y), (-x, +y), (-x, -y), (+x, -y), its z pointing down.
CORNERS = np.array([[900.0, 0.0, 0.0], [500.0, 0.0, 0.0], [500.0, 600.0, 0.0], [900.0, 600.0, 0.0]])  # mm
PLATE = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])  # columns: plate axes in the laboratory
ORIGIN = np.array([1.0, -2.0, -40.0])  # mm, from the sensor to the middle of the surface, in the plate's axes
SPANS = np.array([120.0, 200.0, -50.0])  # of a plate of type 3: sensors at ±a, ±b, and the height of the surface


def wrench() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, moment about the middle of the surface (N mm) and centre of pressure, in the plate's axes."""
    force, centre = PLATE.T @ FORCE, PLATE.T @ (CENTRE - CORNERS.mean(axis=0))
    return force, np.cross(centre, force) + PLATE.T @ [0.0, 0.0, 1000.0 * FREE_MOMENT], centre


def channels(kind: int, calibration: np.ndarray) -> np.ndarray:
    """What the amplifiers give while the foot stands on a plate of that type."""
    force, moment, centre = wrench()
    if kind == 1:
        return np.array([*force, *centre[:2], (PLATE.T @ [0.0, 0.0, 1000.0 * FREE_MOMENT])[2]])
    if kind == 3:
        a, b, height = SPANS
        moment = moment + np.cross([0.0, 0.0, height], force)  # about the sensors' plane
        # four vertical sensors, one of their patterns free; two pairs of horizontal ones, of which fx12 takes no yaw
        tilt_x, tilt_y = moment[0] / b, moment[1] / a
        vertical = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [-1, 1, 1, -1], [1, -1, 1, -1]])
        fz = np.linalg.solve(vertical, [force[2], tilt_x, tilt_y, 0.0])
        fy = np.linalg.solve([[1, 1], [1, -1]], [force[1], moment[2] / a])
        return np.array([force[0] / 2, force[0] / 2, *fy, *fz])
    at_sensor = moment + np.cross(ORIGIN, force)
    return np.linalg.solve(calibration, [*force, *at_sensor])


def write_trial(path: Path, kind: int = 2, *, turn: np.ndarray | None = None) -> np.ndarray:
    """One plate and two markers, the second missing in the third frame; returns the markers (3, 2, frames) in mm."""
    turn = np.eye(3) if turn is None else turn
    points = np.ones((4, 2, FRAMES))
    rng = np.random.default_rng(3)
    points[:3] = np.array([[[600.0], [650.0]], [[100.0], [300.0]], [[900.0], [90.0]]])
    points[:3] += rng.normal(0, 9, (3, 2, FRAMES))
    points[:3] = np.einsum("ij,jmf->imf", turn, points[:3])
    points[:3, 1, 2] = np.nan
    calibration = np.eye(6)
    if kind == 4:
        calibration = np.diag([2.0, 3.0, 0.5, 900.0, 1100.0, 1000.0]) + 0.01 * np.arange(36).reshape(6, 6)
    signals = np.where(STANCE, channels(kind, calibration)[:, None], 0.0)
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [RATE]
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["parameters"]["POINT"]["LABELS"]["value"] = ("KNEE", "HEEL")
    file["parameters"]["ANALOG"]["RATE"]["value"] = [RATE * PER_FRAME]
    file["parameters"]["ANALOG"]["LABELS"]["value"] = tuple(f"C{i}" for i in range(len(signals)))
    file["parameters"]["ANALOG"]["UNITS"]["value"] = ("N",) * 3 + ("Nmm",) * (len(signals) - 3)
    corners = turn @ CORNERS.T  # (3, 4)
    origin = SPANS if kind == 3 else ORIGIN
    numbers = np.arange(1, len(signals) + 1)
    for name, value in (("USED", [1]), ("TYPE", [kind]), ("ZERO", [1, 0]), ("CHANNEL", numbers[:, None])):
        whole = ezc3d.ezc3d.Parameter(name)  # add_parameter would store real numbers
        whole.set(ezc3d.ezc3d.VecInt(np.ravel(value).tolist()), np.shape(value))
        file["parameters"].add_parameter("FORCE_PLATFORM", whole)
    for name, value in (("CORNERS", corners[:, :, None]), ("ORIGIN", origin[:, None]),
                        ("CAL_MATRIX", calibration[:, :, None])):  # fmt: skip
        file.add_parameter("FORCE_PLATFORM", name, value)
    file["data"]["points"] = points
    file["data"]["analogs"] = signals[None]
    file.write(str(path))
    return points[:3]


def run(*words: object) -> subprocess.CompletedProcess:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def converted(*words: object) -> dict:
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plate(table: oi.Table, number: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, point and torque (F, 3) of one plate."""
    names = ([f"ground_force_{number}_v{a}" for a in "xyz"], [f"ground_force_{number}_p{a}" for a in "xyz"],
             [f"ground_torque_{number}_{a}" for a in "xyz"])  # fmt: skip
    return tuple(table.select(three).values for three in names)


def test_markers_are_those_of_the_file_with_y_up_and_gaps_left_empty(tmp_path):
    points = write_trial(tmp_path / "trial.c3d")
    report = converted(tmp_path / "trial.c3d")
    found = read_trc(tmp_path / "trial.trc")
    stored = np.asarray(ezc3d.c3d(str(tmp_path / "trial.c3d"))["data"]["points"])[:3]  # single precision
    assert np.allclose(stored, points, rtol=1e-6, equal_nan=True)
    expected = np.einsum("ij,jmf->fmi", TO_Y_UP, stored) / 1000.0
    assert found.names == ("KNEE", "HEEL")
    assert found.rate == RATE
    assert np.nanmax(np.abs(found.positions - expected)) < 1e-8  # five decimals of a mm
    assert np.isnan(found.positions[2, 1]).all()
    assert int(np.isnan(found.positions).sum()) == 3
    assert report["gaps"] == 1


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_force_centre_and_free_moment_go_through_plates_of_every_type(kind, tmp_path):
    write_trial(tmp_path / "trial.c3d", kind)
    converted(tmp_path / "trial.c3d")
    table = oi.read_table(tmp_path / "trial_grf.mot")
    assert table.time == pytest.approx(np.arange(ROWS) / (RATE * PER_FRAME))
    force, point, torque = plate(table)
    assert force[STANCE] == pytest.approx(np.tile(TO_Y_UP @ FORCE, (60, 1)), rel=1e-5)  # signals are single precision
    assert point == pytest.approx(np.tile(TO_Y_UP @ CENTRE / 1000.0, (ROWS, 1)), abs=1e-6)  # held before the stance
    assert torque[STANCE] == pytest.approx(np.tile([0.0, FREE_MOMENT, 0.0], (60, 1)), abs=2e-4)
    assert not force[~STANCE].any()
    assert not torque[~STANCE].any()


def test_ground_reaction_is_what_ezc3d_computes(tmp_path):
    write_trial(tmp_path / "trial.c3d", 4)
    converted(tmp_path / "trial.c3d", "--up", "z")
    theirs = ezc3d.c3d(str(tmp_path / "trial.c3d"), extract_forceplat_data=True)["data"]["platform"][0]
    ours = plate(oi.read_table(tmp_path / "trial_grf.mot"))
    for mine, key, scale in zip(ours, ("force", "center_of_pressure", "Tz"), (1.0, 1e-3, 1e-3)):
        assert mine[STANCE] == pytest.approx((TO_Y_UP @ theirs[key][:, STANCE]).T * scale, abs=1e-8), key


@pytest.mark.parametrize(("rotate", "turn"), [
    ("x=-90", TO_Y_UP),
    ("x=-90,y=90", np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]) @ TO_Y_UP),
])  # fmt: skip
def test_rotation_turns_markers_and_forces_alike(rotate, turn, tmp_path):
    write_trial(tmp_path / "trial.c3d")
    converted(tmp_path / "trial.c3d", "--rotate", rotate, "--units", "m")
    stored = np.asarray(ezc3d.c3d(str(tmp_path / "trial.c3d"))["data"]["points"])[:3]
    markers = read_trc(tmp_path / "trial.trc")
    assert markers.units == "m"
    assert np.nanmax(np.abs(markers.positions - np.einsum("ij,jmf->fmi", turn, stored) / 1000.0)) < 1e-8
    force, point, torque = plate(oi.read_table(tmp_path / "trial_grf.mot"))
    assert force[-1] == pytest.approx(turn @ FORCE, rel=1e-5, abs=1e-4)
    assert point[-1] == pytest.approx(turn @ CENTRE / 1000.0, abs=1e-6)
    assert torque[-1] == pytest.approx([0.0, FREE_MOMENT, 0.0], abs=2e-4)


def test_a_laboratory_whose_z_points_down_still_pushes_the_body_up(tmp_path):
    down = np.diag([1.0, -1.0, -1.0])
    write_trial(tmp_path / "trial.c3d", turn=down)
    converted(tmp_path / "trial.c3d", "--rotate", "x=90")  # -z becomes y
    force, point, torque = plate(oi.read_table(tmp_path / "trial_grf.mot"))
    assert force[-1] == pytest.approx(TO_Y_UP @ FORCE, rel=1e-5)
    assert point[-1] == pytest.approx(TO_Y_UP @ CENTRE / 1000.0, abs=1e-6)
    assert torque[-1] == pytest.approx([0.0, FREE_MOMENT, 0.0], abs=2e-4)


def test_below_the_threshold_a_plate_is_unloaded(tmp_path):
    write_trial(tmp_path / "trial.c3d")
    report = converted(tmp_path / "trial.c3d", "--threshold", 660)
    assert not oi.read_table(tmp_path / "trial_grf.mot").values.any()
    assert any("never loaded" in note for note in report["notes"])


def test_feet_give_loads_that_our_inverse_dynamics_and_opensim_read(tmp_path):
    write_trial(tmp_path / "trial.c3d")
    report = converted(tmp_path / "trial.c3d", "--feet", "calcn_r", "-o", tmp_path / "walk")
    assert sorted(Path(name).name for name in report["files"]) == ["walk.trc", "walk_grf.mot", "walk_grf.xml"]
    from osim_inertia.loads import read_external_loads

    loads = read_external_loads(tmp_path / "walk_grf.xml")
    assert [(force.body, force.force, force.point, force.torque) for force in loads.forces] == [
        ("calcn_r", "ground_force_1_v", "ground_force_1_p", "ground_torque_1_")]
    assert loads.data.values.shape == (ROWS, 9)
    opensim = pytest.importorskip("opensim")
    theirs = opensim.ExternalLoads(str(tmp_path / "walk_grf.xml"), True)
    assert theirs.getSize() == 1
    assert theirs.get(0).get_applied_to_body() == "calcn_r"
    assert opensim.TimeSeriesTable(str(tmp_path / "walk_grf.mot")).getNumRows() == ROWS
    assert opensim.TimeSeriesTableVec3(str(tmp_path / "walk.trc")).getNumColumns() == 2


def test_a_trial_without_plates_gives_markers_alone(tmp_path):
    write_trial(tmp_path / "trial.c3d")
    file = ezc3d.c3d(str(tmp_path / "trial.c3d"))
    file["parameters"]["FORCE_PLATFORM"]["USED"]["value"] = [0]
    file.write(str(tmp_path / "bare.c3d"))
    report = converted(tmp_path / "bare.c3d")
    assert list(report["files"]) == [str(tmp_path / "bare.trc")]
    assert report["notes"]


def test_plates_ezc3d_cannot_compute_are_left_out_in_words(tmp_path):
    write_trial(tmp_path / "trial.c3d")
    file = ezc3d.c3d(str(tmp_path / "trial.c3d"))
    file["parameters"]["FORCE_PLATFORM"]["TYPE"]["value"] = [5]
    file.write(str(tmp_path / "trial.c3d"))
    report = converted(tmp_path / "trial.c3d")
    assert list(report["files"]) == [str(tmp_path / "trial.trc")]
    assert any("Type 5" in note for note in report["notes"])


@pytest.mark.parametrize(("words", "story"), [
    (["--feet", "calcn_r,calcn_l"], "2 bodies and the file has 1 force plates"),
    (["--rotate", "up"], "expected an axis and degrees"),
    (["--threshold", "-1"], "expected 0 N or more"),
    (["-o", "no/such/folder/walk"], "folder for the results does not exist"),
])  # fmt: skip
def test_wrong_wishes_are_refused_before_anything_is_written(words, story, tmp_path):
    write_trial(tmp_path / "trial.c3d")
    done = run(tmp_path / "trial.c3d", *words)
    assert done.returncode == 1
    assert story in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["trial.c3d"]


@pytest.mark.parametrize("content", [b"no", b""])
def test_a_file_that_is_no_c3d_is_refused_in_words(content, tmp_path):
    (tmp_path / "bad.c3d").write_bytes(content)
    for path in (tmp_path / "bad.c3d", tmp_path / "missing.c3d"):
        done = run(path)
        assert done.returncode == 1
        assert path.name in done.stderr
        assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.c3d"]


def test_help_has_examples():
    done = run("--help")
    assert done.returncode == 0
    assert "examples:" in done.stdout


def test_the_script_says_what_it_needs():
    tomllib = pytest.importorskip("tomllib")
    head = SCRIPT.read_text().partition("# /// script\n")[2].partition("# ///\n")[0]
    needs = tomllib.loads("".join(line.removeprefix("#").removeprefix(" ") for line in head.splitlines(keepends=True)))
    assert needs["dependencies"] == ["osim-inertia[c3d]"]
