"""The explicit matrices of the papers against the fast kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from limbs import double_pendulum
from test_muscle_inertia import OVER_A_PULLEY, VIA_POINTS

import osim_inertia as oi
from osim_inertia.papers import dense_blocks, dense_mass_matrix

STRAIGHT = (("rod1", (0.03, -0.1, 0.0)), ("rod2", (0.04, -0.3, 0.02)))
MODELS = {
    "type I, straight": double_pendulum(STRAIGHT),
    "type II, via points": double_pendulum(VIA_POINTS),
    "type II, 20 beads": double_pendulum(VIA_POINTS, beads=20),
    "type III, wrapped": double_pendulum(OVER_A_PULLEY, cylinder=0.12, quadrant="+x"),
}
Q, U, UDOT = np.array([0.4, -0.7]), np.array([1.3, -2.1]), np.array([0.5, 0.9])


@pytest.fixture(params=MODELS, ids=str)
def system(request) -> oi.System:
    return oi.System(MODELS[request.param], like_opensim=False)


def matter_velocity(system: oi.System, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """By differences of positions, which share nothing with Jacobians. Beads keep their labels."""
    h = 1e-6
    plus, minus = (system.muscle_matter(q + s * h * u, "muscle")[0] for s in (1, -1))
    return (plus - minus) / (2 * h)


def test_the_mass_matrix_of_equation_7_is_the_kernels(system):
    fast = system.mass_matrix(Q)[0]
    np.testing.assert_allclose(dense_mass_matrix(system, Q), fast, rtol=0, atol=1e-9 * np.abs(fast).max())


def test_jacobians_written_out_are_those_of_the_kernels(system):
    blocks = dense_blocks(system, "muscle", Q, U)
    if not blocks.explicit:
        pytest.skip("a wrapped muscle has no written-out form")
    from osim_inertia.papers import _Line

    np.testing.assert_allclose(blocks.J_am, _Line(system, 0, Q).velocities(), atol=1e-12)


def test_beads_move_as_their_jacobian_says():
    system = oi.System(MODELS["type II, 20 beads"])
    blocks = dense_blocks(system, "muscle", Q, U)
    np.testing.assert_allclose(blocks.J_ar @ U, matter_velocity(system, Q, U), atol=1e-8)


def test_rates_of_jacobians_give_the_quadratic_velocity_vector(system):
    """J_αrᵀ M_α (J̇_αm φ + J_αm J̇_mr u) is the part of the bias that matter adds, but for the bends and the weight."""
    still = oi.System(replace(system.model, gravity=(0.0, 0.0, 0.0)), like_opensim=False)
    bones = oi.System(replace(still.model, muscle_mass=None), like_opensim=False)
    bias = (still.bias_forces(Q, U) - bones.bias_forces(Q, U))[0]
    if system.model.muscle_mass.beads == 0 and len(system.model.path_forces[0].geometry.points) > 2:
        pytest.skip("a continuum that slides round corners has bend forces besides")
    blocks = dense_blocks(still, "muscle", Q, U)
    J_mr, dJ_mr = (x[0].reshape(-1, still.n) for x in still.body_jacobians(Q, U))
    acceleration = blocks.dJ_am @ (J_mr @ U) + blocks.J_am @ (dJ_mr @ U)
    expected = np.einsum("k,kai,ka->i", blocks.masses, blocks.J_ar, acceleration)
    np.testing.assert_allclose(bias, expected, rtol=0, atol=1e-9 * np.abs(bias).max())
