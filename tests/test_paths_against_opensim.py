"""Muscle paths against OpenSim 4.6: stored answers of every model; OpenSim itself along every trial and in the zoo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, Oracle
from live_paths import opensim_lengths
from small_models import arm

import osim_inertia as oi
from osim_inertia.inverse import kinematics_of

LENGTH = 1e-11  # m; 1e-7 is promised
SLOPE = 1e-6  # the stored slopes are differences with a step of 1e-5
ARM = 1e-9
ZOO_LENGTH = 1e-7  # m; ellipsoids and tori end their searches at loose tolerances
ZOO = Path(__file__).resolve().parents[1] / "models" / "zoo"
TRIALS = sorted(path.name for path in (DATA / "trials").glob("*")) or ["none"]

# The left knee of these models rests exactly at the end of its range, beyond which a MovingPathPoint stands still: the
# stored central difference is the mean of the two slopes there, ours is the slope inside. (data/README.md)
AT_A_KINK = {
    ("ToyLanding-ToyLandingModel", "knee_angle_l"),
    ("ToyLanding-ToyLandingModel_AFO", "knee_angle_l"),
}

pytestmark = pytest.mark.oracle


def stored(oracle: Oracle, key: str) -> np.ndarray:
    """(poses, P, n): a quantity per path and coordinate; entries that are not stored are 0."""
    names = oracle.system.coordinate_names
    rows = [[[pose["paths"][path][key].get(name, 0.0) for name in names] for path in oracle.system.path_names]
            for pose in oracle.answers["poses"]]
    return np.array(rows).reshape(len(rows), len(oracle.system.path_names), len(names))


def paths_with_moving_points(system: oi.System) -> set[str]:
    moving = set()
    for force in system.model.path_forces:
        kinds = {type(point).__name__ for point in force.geometry.points}
        if "MovingPathPoint" in kinds:
            moving.add(force.name)
    return moving


def test_lengths(oracle: Oracle):
    theirs = [[pose["paths"][name]["length"] for name in oracle.system.path_names] for pose in oracle.answers["poses"]]
    ours = oracle.system.path_lengths(oracle.by_coordinate("q"))
    np.testing.assert_allclose(ours, np.array(theirs).reshape(ours.shape), rtol=0, atol=LENGTH)


def test_slopes_by_every_coordinate(oracle: Oracle):
    system = oracle.system
    off = np.abs(-system.moment_arms(oracle.by_coordinate("q")) - stored(oracle, "dLdq"))
    wrong = {(oracle.name, system.coordinate_names[c]) for _, _, c in np.argwhere(off > SLOPE)}
    assert wrong == {entry for entry in AT_A_KINK if entry[0] == oracle.name}
    paths = {system.path_names[p] for _, p, _ in np.argwhere(off > SLOPE)}
    assert paths <= paths_with_moving_points(system)


def test_opensims_moment_arms_with_couplers(oracle: Oracle):
    if not oracle.system.path_names:
        return
    independent = [not oracle.answers["coordinates"][name]["dependent"] for name in oracle.system.coordinate_names]
    ours = oracle.system.opensim_moment_arms(oracle.by_coordinate("q"))
    np.testing.assert_allclose(ours[..., independent], stored(oracle, "moment_arm")[..., independent], rtol=0, atol=ARM)


def test_slopes_with_couplers_are_opensims_moment_arms_where_nothing_wraps_or_moves(oracle: Oracle):
    system = oracle.system
    moving = paths_with_moving_points(system)
    plain = [not force.geometry.wraps and force.name not in moving for force in system.model.path_forces]
    if not any(plain):
        return
    independent = [not oracle.answers["coordinates"][name]["dependent"] for name in system.coordinate_names]
    ours = system.moment_arms(oracle.by_coordinate("q"), couplers=True)[:, plain][..., independent]
    np.testing.assert_allclose(ours, stored(oracle, "moment_arm")[:, plain][..., independent], rtol=0, atol=ARM)


def test_points_and_contacts(oracle: Oracle):
    """Positions of all points of the path as OpenSim reports them, tangent points included."""
    q = oracle.by_coordinate("q")
    for name in oracle.system.path_names:
        for pose, ours in zip(oracle.answers["poses"], oracle.system.path_contacts(q, name)):
            theirs = pose["paths"][name]["points"]
            nodes = [point for point in theirs if point["type"] != "PathWrapPoint"]
            contacts = [point for point in theirs if point["type"] == "PathWrapPoint"]
            assert ours.node_names == tuple(point["name"] for point in nodes)
            np.testing.assert_allclose(ours.nodes, [point["p"] for point in nodes], rtol=0, atol=LENGTH)
            assert ours.wraps == tuple(point["wrap_object"] for point in contacts[::2])
            arcs = [point.get("arc_length", 0.0) for point in contacts[1::2]]
            np.testing.assert_allclose(ours.arcs, arcs, rtol=0, atol=LENGTH)
            if len(ours.wraps) == 1:  # with more OpenSim reports positions it remembers from an earlier pass
                tangents = np.array([point["p"] for point in contacts])
                np.testing.assert_allclose(ours.points.reshape(-1, 3), tangents, rtol=0, atol=LENGTH)


@pytest.mark.parametrize("trial", TRIALS)
def test_lengths_along_a_trial(shared_data, record_property, trial):
    """Every frame of the trial, against OpenSim asked live."""
    pytest.importorskip("opensim")
    folder = shared_data / "trials" / trial
    system = oi.System(oi.read_osim(folder / "model.osim"))
    q = kinematics_of(system, oi.read_table(folder / "ik.mot")).q
    theirs = opensim_lengths(folder / "model.osim", system.coordinate_names, q)
    assert sorted(theirs) == sorted(system.path_names)
    ours = system.path_lengths(q)
    largest = {name: float(np.abs(ours[:, i] - theirs[name]).max()) for i, name in enumerate(system.path_names)}
    for name, value in largest.items():
        record_property(name, value)
    worst = max(largest, key=largest.__getitem__)
    assert largest[worst] < LENGTH, worst


@pytest.mark.parametrize("model", sorted(path.name for path in ZOO.glob("path_*.osim")))
def test_lengths_of_the_zoo(model):
    pytest.importorskip("opensim")
    system = oi.System(oi.read_osim(ZOO / model))
    q = np.random.default_rng(5).uniform(-0.9, 0.9, (300, system.n))
    theirs = opensim_lengths(ZOO / model, system.coordinate_names, q)
    assert set(theirs) == set(system.path_names)
    for name, ours in zip(system.path_names, system.path_lengths(q).T):
        np.testing.assert_allclose(ours, theirs[name], rtol=0, atol=ZOO_LENGTH, err_msg=name)


def linear(slopes: str) -> str:
    return f"<LinearFunction><coefficients>{slopes}</coefficients></LinearFunction>"


@pytest.mark.parametrize("arms", ["", f"<moment_arm_functions>{linear('0.02 0.05')}</moment_arm_functions>"])
def test_moment_arms_of_a_path_given_by_functions(tmp_path, arms):
    """OpenSim believes the moment arms a file states, even where they are not −dL/dq, as here."""
    opensim = pytest.importorskip("opensim")
    path = (f"<FunctionBasedPath name='path'><coordinate_paths>/jointset/hinge/angle</coordinate_paths>"
            f"<length_function>{linear('0.03 0.4')}</length_function>{arms}</FunctionBasedPath>")  # fmt: skip
    text = arm("")
    start, end = text.index("<GeometryPath"), text.index("</GeometryPath>") + len("</GeometryPath>")
    file = tmp_path / "arm.osim"
    file.write_text(text[:start] + path + text[end:])
    opensim.Logger.setLevelString("off")
    model = opensim.Model(str(file))
    state, coordinate = model.initSystem(), model.getCoordinateSet().get(0)
    muscle = opensim.PathActuator.safeDownCast(model.getForceSet().get(0))
    system = oi.System(oi.read_osim(file))
    for angle in (-0.7, 0.2, 1.1):
        coordinate.setValue(state, angle)
        coordinate.setSpeedValue(state, 2.0)
        model.realizeVelocity(state)
        theirs = [muscle.getLength(state), muscle.computeMomentArm(state, coordinate)]
        theirs.append(muscle.getLengtheningSpeed(state))
        assert theirs[1] == pytest.approx(0.02 * angle + 0.05 if arms else -0.03)
        ours = [system.path_lengths([angle]), system.moment_arms([angle]), system.path_speeds([angle], [2.0])]
        np.testing.assert_allclose([value.item() for value in ours], theirs, rtol=0, atol=1e-15)
        assert system.opensim_moment_arms([angle]).item() == pytest.approx(theirs[1], abs=1e-15)
