"""Wrong arguments are refused by name; frames and threads do not change the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain import mixed_chain

import osim_inertia as oi


@pytest.fixture(scope="module")
def system() -> oi.System:
    return oi.System(mixed_chain())


def test_a_wrong_shape_is_refused(system):
    with pytest.raises(ValueError, match=r"q has shape \(3,\); expected \(28,\) or \(frames, 28\)"):
        system.body_poses(np.zeros(3))
    with pytest.raises(ValueError, match="udot has 2 frames; expected 1 or 5"):
        system.inverse_dynamics(np.zeros((5, system.n)), np.zeros(system.n), np.zeros((2, system.n)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_none_is_refused_with_its_place(system, bad):
    u = np.zeros((4, system.n))
    u[2, 6] = bad
    with pytest.raises(ValueError, match=f"u is {bad} in frame 2, coordinate 'j1_0'"):
        system.body_velocities(np.zeros(system.n), u)


def test_one_frame_and_many_give_the_same(system):
    rng = np.random.default_rng(1)
    q, u, udot = (rng.uniform(-1, 1, (200, system.n)) for _ in range(3))
    many = system.inverse_dynamics(q, u, udot)
    assert many.shape == (200, system.n)
    for frame in (0, 77, 199):
        np.testing.assert_array_equal(system.inverse_dynamics(q[frame], u[frame], udot[frame])[0], many[frame])


def test_the_number_of_threads_does_not_change_a_bit():
    rng = np.random.default_rng(2)
    one, three = (oi.System(mixed_chain(), threads=count) for count in (1, 3))
    q, u, udot = (rng.uniform(-1, 1, (100, one.n)) for _ in range(3))
    np.testing.assert_array_equal(one.inverse_dynamics(q, u, udot), three.inverse_dynamics(q, u, udot))
    np.testing.assert_array_equal(one.mass_matrix(q), three.mass_matrix(q))


def test_no_frames_are_no_results(system):
    assert system.mass_matrix(np.zeros((0, system.n))).shape == (0, system.n, system.n)


def test_an_unknown_frame_is_refused(system):
    with pytest.raises(oi.ModelError, match="no frame /bodyset/thumb"):
        system.point_motion("/bodyset/thumb", (0, 0, 0), system.default_pose())


def test_a_coordinate_that_moves_no_mass_cannot_be_accelerated():
    model = mixed_chain(kinds=("CustomJoint",))
    system = oi.System(replace(model, bodies=(replace(model.bodies[0], mass=0.0),)))
    zero = np.zeros(system.n)
    with pytest.raises(oi.ModelError, match="moves no mass"):
        system.forward_dynamics(zero, zero, zero)
    with pytest.raises(oi.ModelError, match="singular"):
        system.forward_dynamics(zero, zero, zero, method="dense")


def test_a_body_joined_to_itself_is_refused():
    model = mixed_chain(kinds=("PinJoint",))
    joint = replace(model.joints[0], parent_frame="/bodyset/b0")
    with pytest.raises(oi.ModelError, match="joins /bodyset/b0 to itself"):
        oi.System(replace(model, joints=(joint,)))


def test_points_of_a_body_move_with_it():
    system = oi.System(mixed_chain(), like_opensim=False)
    rng = np.random.default_rng(3)
    q, u, udot = (rng.uniform(-1, 1, system.n) for _ in range(3))
    h, location = 1e-6, (0.1, -0.2, 0.3)
    qdot = system.qdot(q, u)[0]
    x, v, a = system.point_motion("/bodyset/b9", location, q, u, udot)
    plus = system.point_motion("/bodyset/b9", location, q + h * qdot, u + h * udot)
    minus = system.point_motion("/bodyset/b9", location, q - h * qdot, u - h * udot)
    np.testing.assert_allclose(v, (plus[0] - minus[0]) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(a, (plus[1] - minus[1]) / (2 * h), atol=1e-7)
    pose = system.body_poses(q)[0, 9]
    np.testing.assert_allclose(x[0], pose[:3, 3] + pose[:3, :3] @ np.array(location), atol=1e-14)
