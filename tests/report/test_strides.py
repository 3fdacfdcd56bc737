"""Foot strikes and toe-offs in motions whose events are known: our synthetic runs, and measured ground forces."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.inverse import kinematics_of
from osim_inertia.loads import read_external_loads
from osim_inertia.report.collect import STRIDE_LOWPASS
from osim_inertia.report.strides import (
    BOTH,
    CONTACT_FORCE,
    FOOT_MOTION,
    GROUND_FORCE,
    feet,
    find_strides,
    foot_contacts,
    side_of,
)

LEG = Path(__file__).resolve().parents[2] / "models" / "leg11dof4musc"
UP = np.array([0.0, 1.0, 0.0])
# Foot strike and toe-off from the motion of the foot alone: two samples of the 100 Hz trials either way, plus what a
# threshold of 3 cm and a quarter of the largest speed make of a foot that rolls on and off.
SYNTHETIC, MEASURED = 0.025, 0.045  # s; measured trials have 60 to 100 Hz and forces of other threshold


def moved_by(folder: Path, model: str, motion: str):
    system, table = oi.System(oi.read_osim(folder / model)), oi.read_table(folder / motion)
    record = (table.time[0], table.time[-1])
    return system, kinematics_of(system, table, lowpass=STRIDE_LOWPASS, time_range=record)


@pytest.mark.parametrize("trial", ["running_10kmh", "running_13kmh", "running_17kmh", "running_19p1kmh"])
def test_strides_of_the_synthetic_runs_are_those_they_were_made_with(trial):
    with open(LEG / "contacts.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["trial"] == trial]
    strikes, offs = (np.array([float(row[key]) for row in rows]) for key in ("foot_strike_s", "toe_off_s"))
    (found,) = find_strides(*moved_by(LEG, "leg11dof4musc.osim", f"{trial}.mot"))
    assert (found.foot, found.side, found.source) == ("calcn_r", "r", FOOT_MOTION)
    true = np.column_stack([strikes[:-1], offs[:-1], strikes[1:]])
    assert found.times.shape == true.shape
    np.testing.assert_allclose(found.times, true, atol=SYNTHETIC)
    assert found.toe_off == pytest.approx(100.0 * ((true[:, 1] - true[:, 0]) / (true[:, 2] - true[:, 0])).mean(), abs=4)


STRIDES = {"rajagopal_run": (6, 6), "rajagopal_walk": (1, 1), "hamner_run": (13, 14), "gait2392_walk": (1, 1),
           "gait10dof18musc_walk": (1, 1)}  # right, left: counted in plots of the ground forces and feet


@pytest.mark.oracle
@pytest.mark.parametrize("trial", STRIDES)
def test_the_motion_of_the_feet_gives_the_strides_of_the_force_plates(trial, shared_data):
    folder = shared_data / "trials" / trial
    system, moved = moved_by(folder, "model.osim", "ik.mot")
    by_plate = find_strides(system, moved, read_external_loads(folder / "external_loads.xml"))
    by_motion = find_strides(system, moved)
    assert tuple(len(item.times) for item in by_plate) == STRIDES[trial]
    assert [item.side for item in by_plate] == ["r", "l"]
    for plate, motion in zip(by_plate, by_motion, strict=True):
        assert motion.source == FOOT_MOTION
        np.testing.assert_allclose(motion.times, plate.times, atol=MEASURED)


@pytest.mark.oracle
def test_events_that_plates_saw_are_where_the_force_crosses_the_threshold(shared_data):
    folder = shared_data / "trials" / "rajagopal_run"
    system, moved = moved_by(folder, "model.osim", "ik.mot")
    loads = read_external_loads(folder / "external_loads.xml")
    right = find_strides(system, moved, loads)[0]
    assert right.source == GROUND_FORCE
    force = next(item for item in loads.forces if item.body == "calcn_r")
    vertical = loads.data.column(f"{force.force}y" if f"{force.force}y" in loads.data else f"{force.force}_y")
    step = np.diff(loads.data.time).max()
    for strike, off, _ in right.times:
        before, after = (np.interp([at - step, at + step], loads.data.time, vertical) for at in (strike, off))
        assert before[0] <= CONTACT_FORCE < before[1]
        assert after[0] > CONTACT_FORCE >= after[1]


@pytest.mark.oracle
def test_a_step_beside_the_plates_is_found_in_the_motion(shared_data):
    folder = shared_data / "trials" / "rajagopal_walk"
    system, moved = moved_by(folder, "model.osim", "ik.mot")
    left = find_strides(system, moved, read_external_loads(folder / "external_loads.xml"))[1]
    assert left.source == BOTH  # the second strike of the left foot is on no plate
    assert left.times[0, 2] == pytest.approx(1.98, abs=MEASURED)


@pytest.mark.oracle
@pytest.mark.parametrize("trial", ["arm26_elbow_flex", "leg39_swing"])
def test_motions_that_are_not_gait_have_no_strides(trial, shared_data):
    assert find_strides(*moved_by(shared_data / "trials" / trial, "model.osim", "ik.mot")) == ()


def test_standing_and_a_model_without_gravity_have_no_strides():
    system, moved = moved_by(LEG, "leg11dof4musc.osim", "running_17kmh.mot")
    still = replace(moved, q=np.repeat(moved.q[:1], len(moved.q), axis=0), u=np.zeros_like(moved.u))
    assert find_strides(system, still) == ()
    assert find_strides(oi.System(replace(system.model, gravity=(0.0, 0.0, 0.0))), moved) == ()


def foot(time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Heel and toe (F, 2, 3) of a foot that stands for 0.6 s and swings for 0.4 s by 1.2 m."""
    swing = np.clip(np.mod(time, 1.0) - 0.6, 0.0, None) / 0.4
    x = 1.2 * (np.floor(time) + swing - np.sin(2.0 * np.pi * swing) / (2.0 * np.pi))
    heel = np.column_stack([x, 0.1 * np.sin(np.pi * swing) ** 2, np.zeros_like(x)])
    points = np.stack([heel, heel + np.array([0.2, 0.0, 0.0])], axis=1)
    return points, np.gradient(points, time, axis=0)


def test_contacts_are_the_same_overground_on_a_treadmill_and_with_another_axis_up():
    time = np.arange(0.0, 4.0, 0.01)
    x, v = foot(time)
    overground = foot_contacts(time, x, v, UP)
    np.testing.assert_allclose(overground[1:4], [(k, k + 0.6) for k in (1.0, 2.0, 3.0)], atol=0.08)
    belt = np.array([-1.2, 0.0, 0.0])
    assert foot_contacts(time, x + belt * time[:, None, None], v + belt, UP) == overground
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # y up -> z up
    assert foot_contacts(time, x @ turn.T, v @ turn.T, turn @ UP) == overground


SIDES = {"calcn_r": "r", "l_foot": "l", "RightFoot": "r", "knee_angle_l": "l", "knee_angle_r_beta": "r",
         "lumbar_extension": "", "tibia": ""}  # fmt: skip


@pytest.mark.parametrize(("name", "side"), SIDES.items())
def test_sides_are_read_off_names(name, side):
    assert side_of(name) == side


@pytest.mark.oracle
def test_toes_belong_to_the_foot(shared_data):
    model = oi.read_osim(shared_data / "trials" / "gait2392_walk" / "model.osim")
    assert feet(model) == {"calcn_r": ["calcn_r", "toes_r"], "calcn_l": ["calcn_l", "toes_l"]}
