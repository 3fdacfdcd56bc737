"""What a report computes: families of curves, changes, errors against OpenSim, and what it says about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reports import LEG, leg_request

import osim_inertia as oi
from osim_inertia.errors import FileError, OsimInertiaError
from osim_inertia.inverse import force_names
from osim_inertia.report import words
from osim_inertia.report.collect import collect
from osim_inertia.report.comparison import compare
from osim_inertia.report.curves import STEPS, Curve, curves_of, most_changed
from osim_inertia.report.numbers import number, percent, power
from osim_inertia.report.request import request_of
from osim_inertia.report.strides import FOOT_MOTION, Strides


def table(**columns: list[float]) -> oi.Table:
    values = np.column_stack(list(columns.values()))
    return oi.Table(tuple(columns), 0.1 * np.arange(len(values)), values)


# ---- against OpenSim ------------------------------------------------------------------------------------------------
def test_errors_are_relative_to_each_column_and_the_largest_comes_first():
    theirs = table(knee_moment=[3.0, -3.0, 3.0, -3.0], pelvis_tx_force=[100.0] * 4, locked_moment=[0.0] * 4)
    ours = table(pelvis_tx_force=[100.1] * 4, locked_moment=[0.0] * 4, knee_moment=[3.0, -3.0, 3.0, -3.6])
    knee, pelvis, locked = compare(ours, theirs)
    assert (knee.column, knee.unit, knee.largest) == ("knee_moment", "N m", pytest.approx(0.6))
    assert knee.rms == pytest.approx(0.3)
    assert knee.relative == pytest.approx(0.1)
    assert (pelvis.unit, pelvis.relative) == ("N", pytest.approx(1e-3))
    assert (locked.relative, locked.size) == (0.0, 0.0)


def test_a_column_that_should_be_zero_is_judged_by_the_largest_column():
    errors = compare(table(a_moment=[5.0, 5.0], b_force=[1.0, 1.0]), table(a_moment=[5.0, 5.0], b_force=[0.0, 0.0]))
    assert errors[0].column == "b_force"
    assert errors[0].relative == pytest.approx(0.2)


def test_other_rows_are_matched_by_time():
    ours = table(a_moment=[0.0, 1.0, 2.0, 3.0, 4.0])
    theirs = oi.Table(("a_moment",), np.array([0.05, 0.15, 0.25]), np.array([[0.5], [1.5], [2.6]]))
    (row,) = compare(ours, theirs)
    assert row.largest == pytest.approx(0.1)


# ---- curves ---------------------------------------------------------------------------------------------------------
def ramp_curve(strides: Strides | None) -> Curve:
    time = np.linspace(0.0, 2.0, 201)
    forces = {0: 2.0 + np.sin(np.pi * time), 80: 3.0 + np.sin(np.pi * time) + (time > 1.0)}
    return Curve(coordinate="knee", column="knee_moment", time=time, forces=forces, opensim=None, strides=strides)


def test_mean_and_deviation_over_strides_are_those_of_the_strides():
    strides = Strides("foot", "", np.array([[0.0, 0.5, 1.0], [1.0, 1.5, 2.0]]), (), FOOT_MOTION)
    curve = ramp_curve(strides)
    half = np.sin(np.pi * np.linspace(0.0, 1.0, STEPS))
    np.testing.assert_allclose(curve.mean(0), 2.0, atol=1e-3)  # + and − half waves cancel
    np.testing.assert_allclose(curve.deviation(0), np.sqrt(2.0) * half, atol=1e-3)
    assert curve.change(80)[0] == pytest.approx(1.5)  # 1 in one stride, 2 in the other
    assert curve.change(80)[1] == pytest.approx(0.75, abs=1e-3)


def test_changes_count_in_swing_alone_and_without_strides_over_all():
    late = Strides("foot", "", np.array([[0.0, 0.2, 0.9]]), (), FOOT_MOTION)
    assert ramp_curve(late).change(80)[0] == pytest.approx(1.0)
    assert ramp_curve(late).deviation(80) is None
    assert ramp_curve(None).change(80)[0] == pytest.approx(2.0)


def test_sudden_peaks_are_told_from_large_smooth_changes():
    time = np.linspace(0.0, 2.0, 201)
    smooth, peak = 3.0 * np.sin(4.0 * np.pi * time), np.where(np.arange(201) == 120, 5.0, 0.0)
    for change, at in ((smooth, None), (smooth + peak, pytest.approx(1.2)), (0.0 * time, None)):
        curve = replace(ramp_curve(None), forces={0: np.cos(time), 80: np.cos(time) + change})
        assert curve.sudden_peak() == at


def test_the_headline_is_no_sudden_peak_if_there_is_anything_else():
    steady, peaky = ramp_curve(None), ramp_curve(None)
    steady = replace(steady, forces={0: steady.forces[0], 80: 1.1 * steady.forces[0]})
    peaky = replace(peaky, forces={0: peaky.forces[0], 80: np.where(np.arange(201) == 50, 9.0, peaky.forces[0])})
    assert most_changed([peaky, steady]) is steady
    assert most_changed([peaky]) is peaky


def test_coordinates_by_which_a_model_floats_are_not_chosen(shared_data):
    system = oi.System(oi.read_osim(shared_data / "trials" / "gait2392_walk" / "model.osim"))
    rng = np.random.default_rng(3)
    time = np.linspace(0.0, 1.0, 30)
    forces = {p: oi.Table(force_names(system), time, rng.normal(size=(30, system.n))) for p in (0, 80)}
    chosen = [curve.coordinate for curve in curves_of(system, forces, None, ())]
    assert len(chosen) == 12
    assert not [name for name in chosen if name.startswith("pelvis")]


def test_a_coordinate_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OsimInertiaError, match="no coordinate 'ankle'; it has pelvis_t"):
        collect(leg_request(coordinates=("ankle",), percents=(0,), rank=False), tmp_path, draw=False)


# ---- all of it ------------------------------------------------------------------------------------------------------
def test_moments_are_affine_in_the_share_of_mass(leg_report):
    forces = leg_report[0].forces
    assert list(forces) == [0, 20, 40, 60, 80]
    for p in (20, 40, 60):
        between = forces[0].values + p / 80.0 * (forces[80].values - forces[0].values)
        np.testing.assert_allclose(forces[p].values, between, atol=1e-9 * np.abs(between).max())


def test_without_muscle_mass_it_is_plain_inverse_dynamics(leg_report):
    model, motion = oi.read_osim(LEG / "leg11dof4musc.osim"), oi.read_table(LEG / "running_17kmh.mot")
    plain = oi.inverse_dynamics_of(model, motion, lowpass=12.0, time_range=(0.1, 2.3))
    assert (plain.values == leg_report[0].forces[0].values).all()


def test_the_ankle_changes_most_and_comes_first(leg_report):
    first = leg_report[0].curves[0]
    assert first.coordinate == "ankle_angle_r"
    assert 0.2 < first.change(80)[1] < 0.5  # the papers: up to 40 %
    assert "ankle_angle_r in swing changes by up to" in words.sentences(leg_report[0])[0]


def test_masses_moved_add_up(leg_report):
    findings = leg_report[0]
    moved = sum(row["kg"] for row in findings.transfer["muscles"])
    assert moved == pytest.approx(0.8 * findings.model.body("tibia_r").mass, rel=1e-12)


def test_an_open_time_range_is_the_record_without_the_rows_the_filter_adds(tmp_path):
    findings = collect(leg_request(time_range=(0.5, np.inf), percents=(0,), rank=False), tmp_path, draw=False)
    time = findings.forces[0].time
    assert time[0] == pytest.approx(0.5)
    assert time[-1] == pytest.approx(3.0)


def test_a_model_without_muscles_gets_its_plain_moments(tmp_path):
    model = replace(oi.read_osim(LEG / "leg11dof4musc.osim"), path_forces=())
    oi.write_osim(model, tmp_path / "bare.osim")
    findings = collect(leg_request(model=tmp_path / "bare.osim", bodies=None), tmp_path, draw=False)
    assert findings.percents == (0,)
    assert findings.ranking is None
    assert any("no muscles" in text for text in findings.notes)


def test_a_body_that_is_not_there_is_an_error_that_names_the_model(tmp_path):
    with pytest.raises(FileError, match=r"leg11dof4musc\.osim.*tibia_x"):
        collect(leg_request(bodies=("tibia_x",)), tmp_path, draw=False)


def test_files_that_say_nothing_about_themselves_are_refused(tmp_path):
    with pytest.raises(FileError, match="cannot be told"):
        request_of(LEG / "leg11dof4musc.osim", tmp_path / "motion.txt")
    with pytest.raises(FileError, match="motion is missing"):
        request_of(LEG / "leg11dof4musc.osim", None)


# ---- numbers --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (1.2345, "1.23"), (123.4, "123"), (0.012345, "0.0123"),
                                             (2.5e-9, "2.5 × 10⁻⁹"), (None, "–")])  # fmt: skip
def test_numbers_have_three_digits(value, text):
    assert number(value) == text.replace(" ", "\u00a0")


def test_powers_and_percents():
    assert power(1.25e-7).replace("\u00a0", " ") in ("1.2 × 10⁻⁷", "1.3 × 10⁻⁷")
    said = [percent(x).replace("\u00a0", " ") for x in (0.0123, 0.0996, 0.342, 1.29)]
    assert said == ["1.2 %", "10 %", "34 %", "129 %"]
