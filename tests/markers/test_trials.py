"""Inverse kinematics of recorded trials against OpenSim at accuracy 1e-10, and with markers taken away."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.markers.fit import InverseKinematics
from osim_inertia.markers.trc import write_trc

sys.path.insert(0, str(Path(__file__).resolve().parent))
from trial_fit import NAMES, TRIALS, Trial

needs_data = pytest.mark.skipif(not TRIALS.is_dir(), reason="the shared reference data is not beside the project")
pytestmark = [pytest.mark.oracle, needs_data]

EXCESS = 1e-6  # relative, of the marker error over OpenSim's
CLOSE = 0.005  # degrees RMS; asked for are 0.05, and the weakest coordinate, the turn of the forearm, is off by 0.0013
JUMP = 3.0  # times the largest step between two frames in OpenSim's motion


@pytest.fixture(scope="module", params=NAMES)
def fitted(request: pytest.FixtureRequest) -> tuple[Trial, InverseKinematics]:
    trial = Trial(request.param)
    return trial, oi.inverse_kinematics(trial.system, trial.markers, tasks=trial.tasks)


def test_no_frame_fits_worse_than_opensims(fitted):
    trial, found = fitted
    ours, theirs = trial.cost(found.q), trial.cost(trial.on_couplers(trial.poses(trial.reference)))
    assert (ours <= theirs * (1.0 + EXCESS)).all(), (ours / theirs).max()
    assert found.cost == pytest.approx(ours, rel=1e-9)


def test_coordinates_are_opensims(fitted):
    trial, found = fitted
    assert found.coordinates.names == trial.reference.names
    off = np.sqrt(((found.coordinates.values - trial.reference.values) ** 2).mean(axis=0))
    far = {name: value for name, value in zip(found.coordinates.names, off)
           if value > CLOSE}  # fmt: skip
    assert not far


def test_times_and_marker_errors_are_reported_as_opensim_does(fitted):
    trial, found = fitted
    theirs = oi.read_table(trial.folder / "ik_tight_marker_errors.sto")
    assert found.marker_errors.names == theirs.names
    assert found.marker_errors.time == pytest.approx(theirs.time, abs=5e-9)
    assert found.marker_errors.values[:, 1:] == pytest.approx(theirs.values[:, 1:], abs=1e-5)


def test_motion_has_no_jumps(fitted):
    trial, found = fitted
    ours, theirs = (np.abs(np.diff(q, axis=0)) for q in (found.q, trial.poses(trial.reference)))
    assert ours.max() <= JUMP * theirs.max()


def test_every_frame_is_a_minimum(fitted):
    """Slopes of the cost by finite differences, of coordinates that are free and not at a bound."""
    trial, found = fitted
    system = trial.system
    coordinates = {c.name: c for c in system.model.coordinates}
    frames = np.unique(np.linspace(0, len(found.q) - 1, 4).astype(int))
    sub = replace(trial.markers, time=trial.markers.time[frames], positions=trial.markers.positions[frames])
    h = 1e-5
    for i, name in enumerate(system.coordinate_names):
        c = coordinates[name]
        if c.locked or system.constraints.dependent[i]:
            continue
        costs = []
        for sign in (1.0, -1.0):
            q = found.q[frames].copy()
            q[:, i] += sign * h
            costs.append(trial.cost(trial.on_couplers(q), sub.positions))
        slope, curve = (costs[0] - costs[1]) / (2 * h), (costs[0] + costs[1] - 2 * found.cost[frames]) / h**2
        low, high = c.range if c.clamped else (-np.inf, np.inf)
        inside = (found.q[frames, i] > low + 1e-9) & (found.q[frames, i] < high - 1e-9)
        assert (np.abs(slope[inside]) <= 1e-6 * np.abs(curve[inside]) + 1e-11).all(), name


def test_threads_do_not_change_the_answer():
    trial = Trial("gait2392_walk")
    systems = (oi.System(trial.system.model, threads=threads) for threads in (1, 3))
    one, three = (oi.inverse_kinematics(system, trial.markers, tasks=trial.tasks) for system in systems)
    assert (one.q == three.q).all()


def test_a_frame_alone_gives_the_same_pose_as_in_the_trial(fitted):
    """The first pose is found from nowhere: for frames all over the trial it has to be the one that tracking found."""
    trial, whole = fitted
    for frame in np.linspace(0, len(trial.markers) - 1, 8).astype(int):
        alone = oi.inverse_kinematics(trial.system, trial.markers.rows(frame, frame + 1), tasks=trial.tasks)
        assert alone.cost[0] <= whole.cost[frame] * (1.0 + EXCESS), frame
        assert np.abs(alone.q[0] - whole.q[frame]).max() < 1e-4, frame


@pytest.mark.parametrize("turn", [90.0, 180.0, -135.0])
def test_it_does_not_matter_where_the_subject_walks_to(turn):
    trial = Trial("gait2392_walk")
    straight = oi.inverse_kinematics(trial.system, trial.markers, tasks=trial.tasks)
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    positions = trial.markers.positions @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]).T + [7.0, 0.0, -3.0]
    turned = oi.inverse_kinematics(trial.system, replace(trial.markers, positions=positions), tasks=trial.tasks)
    assert turned.cost == pytest.approx(straight.cost, rel=1e-9)
    joints = [i for i, name in enumerate(trial.system.coordinate_names) if not name.startswith("pelvis")]
    assert np.abs(turned.q - straight.q)[:, joints].max() < 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_a_fifth_of_the_markers_may_be_missing(name):
    trial = Trial(name)
    positions = trial.markers.positions.copy()
    positions[np.random.default_rng(3).random(positions.shape[:2]) < 0.2] = np.nan
    found = oi.inverse_kinematics(trial.system, replace(trial.markers, positions=positions), tasks=trial.tasks)
    assert (found.iterations > 0).all()
    assert np.isfinite(found.q).all()
    full = trial.cost(trial.on_couplers(trial.poses(trial.reference)), positions)
    # What is left fits no worse than in the full trial's pose. An arm with two markers left has several poses that fit
    # well, and in one frame of a hundred the second best may be found (hamner_run: 1 to 3 frames of 600).
    assert (found.cost <= full * (1.0 + EXCESS)).mean() > 0.99


def test_with_missing_markers_the_motion_is_opensims(tmp_path, monkeypatch):
    opensim = pytest.importorskip("opensim")
    trial = Trial("gait10dof18musc_walk")
    positions = trial.markers.positions.copy()
    positions[np.random.default_rng(0).random(positions.shape[:2]) < 0.2] = np.nan
    data = replace(trial.markers, positions=positions).rows(0, 60)
    shutil.copy(trial.folder / "model.osim", tmp_path)
    write_trc(data, tmp_path / "markers.trc", decimals=9)
    setup = (trial.folder / "setup_ik.xml").read_text().replace("<accuracy>1e-05", "<accuracy>1e-10")
    (tmp_path / "setup_ik.xml").write_text(setup)
    monkeypatch.chdir(tmp_path)
    opensim.Logger.setLevelString("off")
    opensim.InverseKinematicsTool("setup_ik.xml").run()
    theirs = oi.read_table(tmp_path / "out_ik.mot")
    found = oi.inverse_kinematics(trial.system, data, tasks=trial.tasks)
    assert found.coordinates.values == pytest.approx(theirs.values, abs=0.01)


def test_limbs_that_lost_markers_can_be_held():
    trial = Trial("hamner_run")
    positions = trial.markers.positions.copy()
    positions[np.random.default_rng(3).random(positions.shape[:2]) < 0.2] = np.nan
    data = replace(trial.markers, positions=positions)
    fit = lambda share: oi.inverse_kinematics(trial.system, data, tasks=trial.tasks, hold_missing=share)
    free, held = fit(0.0), fit(0.1)
    leaps, steps = (np.abs(np.diff(found.q, axis=0)).max(axis=1).mean() for found in (free, held))
    assert steps < 0.6 * leaps
    assert held.cost.mean() < 1.1 * free.cost.mean()


@pytest.mark.parametrize("name", ["gait10dof18musc_walk", "rajagopal_run"])
def test_gaps_of_thirty_frames_are_bridged(name):
    trial = Trial(name)
    whole = oi.inverse_kinematics(trial.system, trial.markers, tasks=trial.tasks)
    positions, gap = trial.markers.positions.copy(), slice(50, 80)  # across the seam of two chunks
    lost = [trial.markers.names.index(marker) for marker in whole.markers[::4]]
    positions[gap, lost] = np.nan
    found = oi.inverse_kinematics(trial.system, replace(trial.markers, positions=positions), tasks=trial.tasks)
    outside = np.ones(len(positions), dtype=bool)
    outside[gap] = False
    assert np.abs(found.q - whole.q)[outside].max() < 1e-4
    # within the gap: as good a fit of what is left as the pose of the full trial, and no leaps
    assert (found.cost <= trial.cost(whole.q, positions) * (1.0 + EXCESS)).all()
    assert np.abs(np.diff(found.q[50:80], axis=0)).max() <= JUMP * np.abs(np.diff(whole.q, axis=0)).max()


def test_without_any_marker_the_pose_stays_and_is_found_again():
    trial = Trial("rajagopal_run")
    whole = oi.inverse_kinematics(trial.system, trial.markers, tasks=trial.tasks)
    positions, gap = trial.markers.positions.copy(), slice(50, 80)
    positions[gap] = np.nan
    found = oi.inverse_kinematics(trial.system, replace(trial.markers, positions=positions), tasks=trial.tasks)
    assert np.abs(found.q[gap] - whole.q[49]).max() < 1e-6
    assert np.abs(found.q[80:] - whole.q[80:]).max() < 1e-4
    assert found.marker_errors.values[gap].max() == 0.0


def test_a_limb_without_markers_keeps_its_pose_for_as_long_as_it_takes():
    trial = Trial("rajagopal_walk")
    whole = oi.inverse_kinematics(trial.system, trial.markers, tasks=trial.tasks)
    bodies = {marker.name: marker.frame for marker in trial.system.model.markers}
    arm = [i for i, name in enumerate(trial.markers.names)
           if bodies.get(name, "").endswith(("humerus_r", "ulna_r", "radius_r", "hand_r"))]  # fmt: skip
    positions = trial.markers.positions.copy()
    positions[30:130, arm] = np.nan  # over two seams
    found = oi.inverse_kinematics(trial.system, replace(trial.markers, positions=positions), tasks=trial.tasks)
    coordinates = ("arm_flex_r", "arm_add_r", "arm_rot_r", "elbow_flex_r", "pro_sup_r")
    free = [trial.system.coordinate_names.index(name) for name in coordinates]
    assert np.abs(found.q[30:130, free] - found.q[29, free]).max() < 1e-5
    assert np.abs(found.q[135:, free] - whole.q[135:, free]).max() < 1e-3
