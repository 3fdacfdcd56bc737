"""Energy and momentum of free motion, and mechanics checked against derivatives taken another way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain import mixed_chain
from scipy.integrate import solve_ivp

import osim_inertia as oi


@pytest.fixture(scope="module")
def system() -> oi.System:
    return oi.System(mixed_chain(), like_opensim=False)


def random_state(system: oi.System, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.5, 0.5, system.n), rng.uniform(-1, 1, system.n), rng.uniform(-2, 2, system.n)


def simulate(system: oi.System, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Free motion from a random state with a tight integrator: q, u at 50 instants."""
    q, u, _ = random_state(system)
    n, tau = system.n, np.zeros(system.n)

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        q, u = state[:n], state[n:]
        return np.concatenate([system.qdot(q, u)[0], system.forward_dynamics(q, u, tau)[0]])

    result = solve_ivp(rate, (0.0, seconds), np.concatenate([q, 0.5 * u]), method="DOP853", rtol=1e-12, atol=1e-13,
                       max_step=0.01,  # longer ones leap over knots of splines, which the error estimate does not see
                       t_eval=np.linspace(0.0, seconds, 50))
    assert result.success, result.message
    return result.y[:n].T, result.y[n:].T


def test_a_chain_of_ten_kinds_of_joint_keeps_its_energy_for_five_seconds(system):
    q, u = simulate(system, 5.0)
    energy = system.kinetic_energy(q, u) + system.potential_energy(q)
    scale = system.kinetic_energy(q, u).max()
    assert np.abs(energy - energy[0]).max() / scale < 1e-8


def test_without_gravity_a_free_flying_chain_keeps_its_momentum():
    system = oi.System(replace(mixed_chain(), gravity=(0.0, 0.0, 0.0)), like_opensim=False)
    q, u = simulate(system, 1.0)
    momentum = system.momentum(q, u)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-9)


def test_inverse_dynamics_undoes_forward_dynamics(system):
    q, u, tau = random_state(system, 3)
    for method in ("articulated", "dense"):
        udot = system.forward_dynamics(q, u, tau, method=method)
        np.testing.assert_allclose(system.inverse_dynamics(q, u, udot)[0], tau, atol=1e-10 * np.abs(tau).max())


def test_velocities_are_the_rates_of_poses(system):
    q, u, _ = random_state(system, 4)
    h, qdot = 1e-6, system.qdot(q, u)[0]
    plus, minus = system.body_poses(q + h * qdot)[0], system.body_poses(q - h * qdot)[0]
    twist = system.body_velocities(q, u)[0]
    np.testing.assert_allclose((plus - minus)[:, :3, 3] / (2 * h), twist[:, 3:], atol=1e-8)
    turning = (plus - minus)[:, :3, :3] / (2 * h) @ system.body_poses(q)[0][:, :3, :3].transpose(0, 2, 1)
    spin = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
    np.testing.assert_allclose(spin, twist[:, :3], atol=1e-8)


def test_accelerations_are_the_rates_of_velocities(system):
    q, u, udot = random_state(system, 5)
    h, qdot = 1e-6, system.qdot(q, u)[0]
    plus = system.body_velocities(q + h * qdot, u + h * udot)
    minus = system.body_velocities(q - h * qdot, u - h * udot)
    np.testing.assert_allclose(system.body_accelerations(q, u, udot), (plus - minus) / (2 * h), atol=1e-7)


def test_dense_jacobians_give_velocities_and_accelerations(system):
    q, u, udot = random_state(system, 6)
    J, dJ = system.body_jacobians(q, u)
    np.testing.assert_allclose(J @ u, system.body_velocities(q, u), atol=1e-13)
    np.testing.assert_allclose(J @ udot + dJ @ u, system.body_accelerations(q, u, udot), atol=1e-12)


def test_mass_matrix_is_the_hessian_of_kinetic_energy(system):
    q, u, _ = random_state(system, 7)
    M = system.mass_matrix(q)[0]
    assert 0.5 * u @ M @ u == pytest.approx(system.kinetic_energy(q, u)[0], rel=1e-12)
    np.testing.assert_allclose(M, M.T, rtol=0, atol=1e-15)


def test_bias_and_mass_matrix_make_up_inverse_dynamics(system):
    q, u, udot = random_state(system, 8)
    expected = system.mass_matrix(q)[0] @ udot + system.bias_forces(q, u)[0]
    np.testing.assert_allclose(system.inverse_dynamics(q, u, udot)[0], expected, atol=1e-11)


def test_gravity_forces_are_the_slope_of_potential_energy(system):
    q, _, _ = random_state(system, 9)
    h, slope = 1e-6, np.empty(system.n)
    for i in range(system.n):
        step = system.qdot(q, np.eye(system.n)[i])[0] * h
        slope[i] = (system.potential_energy(q + step)[0] - system.potential_energy(q - step)[0]) / (2 * h)
    np.testing.assert_allclose(system.gravity_forces(q)[0], slope, atol=1e-7)


def test_speeds_and_coordinate_rates_are_inverse_to_each_other(system):
    q, u, udot = random_state(system, 10)
    qdot = system.qdot(q, u)[0]
    h = 1e-6
    qddot = (system.qdot(q + h * qdot, u + h * udot) - system.qdot(q - h * qdot, u - h * udot))[0] / (2 * h)
    back_u, back_udot = system.speeds(q, qdot, qddot)
    np.testing.assert_allclose(back_u[0], u, atol=1e-13)
    np.testing.assert_allclose(back_udot[0], udot, atol=1e-7)


def test_opensims_axis_rates_do_not_conserve_energy():
    """Why like_opensim=False exists: in the custom joint of the chain one coordinate drives two rotations."""
    system = oi.System(mixed_chain(kinds=("CustomJoint",)))
    exact = oi.System(mixed_chain(kinds=("CustomJoint",)), like_opensim=False)
    drift = []
    for each in (system, exact):
        q, u = simulate(each, 2.0)
        energy = each.kinetic_energy(q, u) + each.potential_energy(q)
        drift.append(np.abs(energy - energy[0]).max())
    assert "one coordinate drives several rotations" in system.warnings[0]
    assert drift[0] > 1e-4
    assert drift[1] < 1e-9
