"""Every model of the reference data against OpenSim 4.6's own answers, which have 13 significant digits."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Oracle, relative_error

POSE_TOLERANCE = 1e-10  # m, and entries of rotation matrices
TOLERANCE = 1e-9  # relative to the largest entry

pytestmark = pytest.mark.oracle


def test_coordinates_are_in_opensims_order(oracle: Oracle):
    assert list(oracle.system.coordinate_names) == oracle.answers["order"]


def test_coordinate_properties_are_opensims(oracle: Oracle):
    for name, expected in oracle.answers["coordinates"].items():
        coordinate = oracle.model.coordinate(name)
        assert coordinate.motion_type == expected["motion"], name
        assert coordinate.default_value == pytest.approx(expected["default"], abs=1e-12)
        assert coordinate.range == pytest.approx(expected["range"], abs=1e-12)
        assert coordinate.locked == expected["locked"]
        dependent = oracle.system.constraints.dependent[oracle.answers["order"].index(name)]
        assert dependent == expected["dependent"]


def test_total_mass_and_gravity(oracle: Oracle):
    assert oracle.model.mass == pytest.approx(oracle.answers["total_mass"], rel=1e-12)
    assert oracle.model.gravity == pytest.approx(oracle.answers["gravity"], abs=1e-12)


def test_body_poses(oracle: Oracle):
    poses = oracle.system.body_poses(oracle.by_coordinate("q"))
    np.testing.assert_allclose(poses[..., :3, 3], oracle.by_body("p"), rtol=0, atol=POSE_TOLERANCE)
    np.testing.assert_allclose(poses[..., :3, :3], oracle.by_body("R"), rtol=0, atol=POSE_TOLERANCE)


def test_body_velocities(oracle: Oracle):
    twist = oracle.system.body_velocities(oracle.by_coordinate("q"), oracle.by_coordinate("u"))
    assert relative_error(twist[..., :3], oracle.by_body("w")) < TOLERANCE
    assert relative_error(twist[..., 3:], oracle.by_body("v")) < TOLERANCE


def test_mass_matrix(oracle: Oracle):
    M = oracle.system.mass_matrix(oracle.by_coordinate("q"))
    assert relative_error(M, oracle.stacked("mass_matrix")) < TOLERANCE


def test_inverse_dynamics_of_each_pose(oracle: Oracle):
    q, u, udot = (oracle.by_coordinate(key) for key in ("q", "u", "udot"))
    tau = oracle.system.inverse_dynamics(q, u, udot)
    for ours, theirs in zip(tau, oracle.by_coordinate("id_gravity")):
        assert relative_error(ours, theirs) < TOLERANCE


def test_centre_of_mass_and_its_velocity(oracle: Oracle):
    if oracle.model.mass == 0.0:
        assert oracle.name == "WristModel-wrist"  # the one model without any mass
        return
    q, u = oracle.by_coordinate("q"), oracle.by_coordinate("u")
    assert relative_error(oracle.system.center_of_mass(q), oracle.stacked("com")) < TOLERANCE
    assert relative_error(oracle.system.center_of_mass_velocity(q, u), oracle.stacked("com_velocity")) < TOLERANCE


def test_marker_positions(oracle: Oracle):
    names = oracle.system.marker_names
    expected = [[pose["markers"][name] for name in names] for pose in oracle.answers["poses"]]
    ours = oracle.system.marker_positions(oracle.by_coordinate("q"))
    np.testing.assert_allclose(ours, np.reshape(expected, ours.shape), rtol=0, atol=POSE_TOLERANCE)


def test_forward_dynamics_undoes_inverse_dynamics(oracle: Oracle):
    if oracle.model.mass == 0.0:
        return
    q, u, udot = (oracle.by_coordinate(key) for key in ("q", "u", "udot"))
    tau = oracle.system.inverse_dynamics(q, u, udot)
    for method in ("articulated", "dense"):
        assert relative_error(oracle.system.forward_dynamics(q, u, tau, method=method), udot) < 1e-10


def test_assembled_poses_satisfy_our_constraints(oracle: Oracle):
    kinds = [pose["kind"] for pose in oracle.answers["poses"]]
    if "assembled" not in kinds:
        return
    q = oracle.by_coordinate("q")[[kinds.index("assembled")]]
    assert np.abs(oracle.system.constraints.errors(q)).max() < 1e-9  # OpenSim's assembly accuracy
    np.testing.assert_allclose(oracle.system.constraints.project_q(q), q, atol=1e-8)
