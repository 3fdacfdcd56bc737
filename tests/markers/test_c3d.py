"""C3D files: what ezc3d finds in them, in the model's units and axes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from osim_inertia.errors import FileError, OsimInertiaError
from osim_inertia.markers.c3d import read_c3d, recording

RATE, ANALOG_RATE = 100.0, 1000.0


def content(vertical_force: float = 700.0, screen: str = "") -> dict:
    """Two markers over three frames and one plate, laid out as ezc3d does; Z is up, lengths in mm."""
    points = np.ones((4, 2, 3))
    points[:3, 0] = [[100.0], [200.0], [300.0]]
    points[:3, 1] = np.nan
    residuals = np.zeros((1, 2, 3))
    residuals[0, 0, 2] = -1.0
    flat = np.zeros((3, 30))
    force = flat + np.array([[10.0], [20.0], [vertical_force]])
    centre, moment = flat + np.array([[400.0], [500.0], [0.0]]), flat + np.array([[0.0], [0.0], [5000.0]])
    plate = {"force": force, "center_of_pressure": centre, "Tz": moment, "unit_position": "mm", "unit_moment": "Nmm"}
    parameters = {"POINT": {"LABELS": {"value": ["KNEE ", "HEEL"]}, "UNITS": {"value": ["mm"]}}}
    if screen:
        parameters["POINT"]["Y_SCREEN"] = {"value": [screen]}
    return {
        "header": {"points": {"frame_rate": RATE, "first_frame": 10}, "analogs": {"frame_rate": ANALOG_RATE}},
        "parameters": parameters,
        "data": {"points": points, "meta_points": {"residuals": residuals}, "platform": [plate]},
    }


def test_markers_come_in_metres_with_y_up_and_missing_ones_as_nan():
    found = recording(content(), Path("walk.c3d"), None)
    assert found.up == "z"  # the plate pushes along it
    assert found.markers.names == ("KNEE", "HEEL")
    assert found.markers.time == pytest.approx([0.10, 0.11, 0.12])
    assert found.markers.positions[0, 0] == pytest.approx([0.1, 0.3, -0.2])
    assert np.isnan(found.markers.positions[2, 0]).all()
    assert np.isnan(found.markers.positions[:, 1]).all()


def test_the_axis_the_file_names_beats_the_guess():
    assert recording(content(screen="+Y"), Path("walk.c3d"), None).up == "y"
    assert recording(content(screen="+Y"), Path("walk.c3d"), "x").up == "x"


@pytest.mark.parametrize(("lowest", "up"), [
    ((-0.3, 0.07, -0.34), "y"), ((-0.3, -0.5, 0.02), "z"), ((1.0, 1.0, 1.0), "z"),
])  # fmt: skip
def test_without_a_word_in_the_file_no_marker_is_under_the_floor(lowest, up):
    silent = content()
    silent["data"]["platform"] = []
    silent["data"]["points"][:3, 1] = 1000.0 * np.array(lowest)[:, None]
    found = recording(silent, Path("walk.c3d"), None)
    assert found.up == up
    assert f"{up} is taken" in found.markers.notes[0]


@pytest.mark.parametrize("vertical", [700.0, -700.0])
def test_plates_push_the_body_upwards(vertical):
    forces = recording(content(vertical), Path("walk.c3d"), None).forces
    sign = np.sign(vertical)
    assert forces.time[:2] == pytest.approx([0.10, 0.101])
    row = dict(zip(forces.names, forces.values[0]))
    assert [row[f"ground_force_1_{a}"] for a in ("vx", "vy", "vz")] == pytest.approx([sign * 10.0, 700.0, sign * -20.0])
    assert [row[f"ground_force_1_{a}"] for a in ("px", "py", "pz")] == pytest.approx([0.4, 0.0, -0.5])
    assert [row[f"ground_torque_1_{a}"] for a in "xyz"] == pytest.approx([0.0, sign * 5.0, 0.0])


def test_two_markers_of_one_name_are_refused():
    twice = content()
    twice["parameters"]["POINT"]["LABELS"]["value"] = ["KNEE", "KNEE"]
    with pytest.raises(FileError, match="called 'KNEE'"):
        recording(twice, Path("walk.c3d"), None)


def test_without_ezc3d_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    with pytest.raises(OsimInertiaError, match=r"osim-inertia\[c3d\]"):
        read_c3d(tmp_path / "walk.c3d")


def test_a_file_written_by_ezc3d_is_read_back(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    points = np.ones((4, 1, 5))
    points[:3, 0] = np.arange(15.0).reshape(3, 5)
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [RATE]
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["parameters"]["POINT"]["LABELS"]["value"] = ("TOE",)
    file["data"]["points"] = points
    file.write(str(tmp_path / "toe.c3d"))
    found = read_c3d(tmp_path / "toe.c3d", up="y").markers
    assert found.names == ("TOE",)
    assert found.positions[:, 0] == pytest.approx(points[:3, 0].T / 1000.0)


def test_a_file_that_is_not_c3d_is_refused_in_words(tmp_path):
    pytest.importorskip("ezc3d")
    (tmp_path / "bad.c3d").write_text("no")
    with pytest.raises(FileError, match=r"bad\.c3d: The file cannot be read as C3D"):
        read_c3d(tmp_path / "bad.c3d")
