"""The leg that comes with the package: files as their scripts write them, and OpenSim's numbers."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import relative_error

import osim_inertia as oi
from osim_inertia.system import System

FOLDER = Path(__file__).resolve().parents[1] / "models" / "leg11dof4musc"
MODEL = FOLDER / "leg11dof4musc.osim"
TRIALS = ["running_10kmh", "running_13kmh", "running_17kmh", "running_19p1kmh"]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def leg() -> System:
    return System(oi.read_osim(MODEL))


def poses(trial: str, every: int = 1) -> np.ndarray:
    """(F, n) rad, m: a trial's coordinates in the order of u."""
    motion = oi.read_table(FOLDER / f"{trial}.mot")
    degrees = [leg().model.coordinate(name).motion_type == "rotational" for name in leg().coordinate_names]
    return motion.select(leg().coordinate_names).values[::every] * np.where(degrees, np.pi / 180.0, 1.0)


def test_the_model_has_eleven_coordinates_and_four_muscles_about_the_ankle():
    assert len(leg().coordinate_names) == 11
    assert leg().path_names == ("soleus_r", "tibant_r", "gasmed_r", "gaslat_r")
    ankle = leg().moment_arms(leg().default_pose())[0, :, leg().coordinate_names.index("ankle_angle_r")]
    assert (np.sign(ankle) == [-1, 1, -1, -1]).all()  # only tibialis anterior lifts the foot
    assert len(leg().marker_names) == 16


def test_the_model_file_is_what_its_script_writes():
    assert MODEL.read_text(encoding="utf-8") == script("generate_model").document()


def test_masses_are_de_levas_shares_of_75_kg():
    mass = {body.name: body.mass for body in leg().model.bodies}
    assert mass == pytest.approx({"pelvis": 8.3775, "femur_r": 10.62, "tibia_r": 3.2475, "calcn_r": 1.0275}, rel=1e-9)


def test_trials_are_what_their_script_writes(tmp_path):
    script("generate_motion").write_all(tmp_path)
    for trial in TRIALS:
        ours, new = (oi.read_table(folder / f"{trial}.mot") for folder in (FOLDER, tmp_path))
        assert ours.names == new.names
        np.testing.assert_allclose(ours.values, new.values, rtol=0.0, atol=1e-6)
        ours, new = (oi.read_markers(folder / f"{trial}.trc") for folder in (FOLDER, tmp_path))
        assert ours.names == new.names
        np.testing.assert_allclose(ours.positions, new.positions, rtol=0.0, atol=1e-6)
    assert (FOLDER / "contacts.csv").read_text() == (tmp_path / "contacts.csv").read_text()


def test_shipped_files_are_small():
    assert max(path.stat().st_size for path in FOLDER.iterdir()) < 400_000


@pytest.mark.parametrize("trial", TRIALS)
def test_the_ball_of_the_foot_goes_back_with_the_belt(trial):
    generator = script("generate_motion")
    label = trial.removeprefix("running_").removesuffix("kmh")
    speed = generator.SPEEDS[label] / 3.6
    q, time = poses(trial), oi.read_table(FOLDER / f"{trial}.mot").time
    ball = leg().point_motion("/bodyset/calcn_r", (0.19, 0.0, 0.0), q)[0]
    phase = ((time - generator.FIRST_STRIKE) * generator.stride_frequency(speed)) % 1.0
    middle = (phase > 0.1) & (phase < 0.9 * generator.stance_share(speed))
    assert -np.gradient(ball[:, 0], time)[middle].mean() == pytest.approx(speed, rel=0.12)
    assert np.abs(ball[middle, 1]).max() < 0.05  # and stays near the floor


def test_gastrocnemii_wrap_behind_the_knee_and_lift_off_smoothly():
    knee = leg().coordinate_names.index("knee_angle_r")
    q = np.tile(leg().default_pose(), (1301, 1))
    q[:, knee] = np.radians(np.linspace(0.0, 130.0, len(q)))
    step = q[1, knee] - q[0, knee]
    for name in ("gasmed_r", "gaslat_r"):
        at = leg().path_names.index(name)
        share = np.array([contact.wrapped_share for contact in leg().path_contacts(q[::10], name)])
        assert share[0] > 0.03
        assert share[-1] == 0.0
        assert (np.diff(share) <= 0.0).all()
        arm = leg().moment_arms(q)[:, at, knee]
        assert (arm > 0.02).all()  # they bend the knee, everywhere
        assert np.abs(np.diff(arm)).max() < 1e-4  # m per tenth of a degree: no jump
        length = leg().path_lengths(q)[:, at]
        slope = -(length[2:] - length[:-2]) / (2.0 * step)
        np.testing.assert_allclose(arm[1:-1], slope, atol=1e-4)


@pytest.mark.oracle
def test_paths_and_moment_arms_are_opensims_along_the_run():
    opensim = pytest.importorskip("opensim", reason="OpenSim's Python package is not installed")
    opensim.Logger.setLevelString("off")
    model = opensim.Model(str(MODEL))
    state = model.initSystem()
    coordinates = {name: model.getCoordinateSet().get(name) for name in leg().coordinate_names}
    crossed = ("knee_angle_r", "ankle_angle_r")
    lengths, arms = [], []
    q = poses("running_19p1kmh", every=9)
    for pose in q:
        for name, value in zip(leg().coordinate_names, pose):
            coordinates[name].setValue(state, value, False)
        model.realizePosition(state)
        paths = [model.getMuscles().get(name).getGeometryPath() for name in leg().path_names]
        lengths.append([path.getLength(state) for path in paths])
        arms.append([[path.computeMomentArm(state, coordinates[name]) for name in crossed] for path in paths])
    ours = leg().opensim_moment_arms(q)[:, :, [leg().coordinate_names.index(name) for name in crossed]]
    assert relative_error(leg().path_lengths(q), np.array(lengths)) < 1e-10
    assert relative_error(ours, np.array(arms)) < 1e-8
