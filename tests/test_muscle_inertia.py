"""Muscles with mass: Lagrange's equations, conservation, published figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import DATA, load_oracle, oracle_files
from limbs import PAI_START, double_pendulum, pai_limb
from scipy.integrate import solve_ivp

import osim_inertia as oi
from osim_inertia.model.muscle_mass import MassiveMuscle, MuscleMass

VIA_POINTS = (("ground", (0.1, 0.0, 0.0)), ("rod1", (0.05, -0.25, 0.0)), ("rod1", (0.05, -0.45, 0.0)),
              ("rod2", (0.04, -0.3, 0.0)))
OVER_A_PULLEY = (("rod1", (0.06, -0.15, 0.0)), ("rod2", (0.06, -0.3, 0.02)))


def lagrange(system: oi.System, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q from T and V alone, by fourth-order differences."""
    n, e = system.n, 1e-3

    def kinetic(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return system.kinetic_energy(q, system.speeds(q, qd)[0])

    def momentum(t: float) -> np.ndarray:
        rates = np.repeat((qd + t * qdd)[None], 2 * n, axis=0)
        rates[np.arange(n) * 2, np.arange(n)] += e
        rates[np.arange(n) * 2 + 1, np.arange(n)] -= e
        energy = kinetic(q + t * qd + t * t / 2 * qdd, rates)
        return (energy[0::2] - energy[1::2]) / (2 * e)

    rate = (8 * (momentum(h) - momentum(-h)) - (momentum(2 * h) - momentum(-2 * h))) / (12 * h)
    poses = np.repeat(q[None], 4 * n, axis=0)
    for i in range(n):
        poses[4 * i : 4 * i + 4, i] += np.array([-2, -1, 1, 2]) * h
    slope = system.potential_energy(poses) - kinetic(poses, qd)
    return rate + (8 * (slope[2::4] - slope[1::4]) - (slope[3::4] - slope[0::4])) / (12 * h)


def inverse_dynamics(system: oi.System, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Our forces, conjugate to q̇ instead of u where the two differ."""
    u, udot = system.speeds(q, qd, qdd)
    per_rate = np.array([system.speeds(q, axis)[0][0] for axis in np.eye(system.n)])  # row i: u for unit q̇_i
    return per_rate @ system.inverse_dynamics(q, u, udot)[0]


def off_the_limits(model: oi.Model, names: tuple[str, ...], q: np.ndarray) -> np.ndarray:
    """Moving points stop at the limit of their coordinate's range: step off a limit, where T has no derivative."""
    ranges = {c.name: c.range for c in model.coordinates}
    limits = np.array([ranges[name] for name in names])
    return np.where(np.abs(q - limits[:, 0]) < 1e-3, q + 0.01, np.where(np.abs(q - limits[:, 1]) < 1e-3, q - 0.01, q))


def simulate(model: oi.Model, start: tuple[float, float], seconds: float) -> tuple[np.ndarray, ...]:
    """Conservative motion from rest: q, energy, largest kinetic energy."""
    system = oi.System(model, like_opensim=False, threads=1)
    rest = np.zeros(system.n)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], system.forward_dynamics(y[:2], y[2:], rest)[0]])

    run = solve_ivp(rate, (0.0, seconds), [*start, 0.0, 0.0], method="DOP853", rtol=1e-9, atol=1e-9,
                    t_eval=np.linspace(0.0, seconds, 150))
    q, u = run.y[:2].T, run.y[2:].T
    kinetic = system.kinetic_energy(q, u)
    return q, kinetic + system.potential_energy(q), kinetic.max()


def drift(model: oi.Model, start: tuple[float, float] = (1.2, 0.5), seconds: float = 3.0) -> float:
    """Largest change of energy, relative to the largest kinetic energy."""
    _, energy, scale = simulate(model, start, seconds)
    return float(np.abs(energy - energy[0]).max() / scale)


def all_massive(model: oi.Model, **spec: object) -> oi.Model:
    """Every muscle gets its estimated mass on top of the bones: what matters here is the kernels, not the transfer."""
    muscles = tuple(
        MassiveMuscle(name=m.name, taken_from=(("bones", 0.3),), belly=(0.1, 0.9),
                      tendons=(0.2 * m.tendon_slack_length, 0.2 * m.tendon_slack_length))
        for m in model.muscles
    )
    return replace(model, muscle_mass=MuscleMass(muscles=muscles, **spec))  # type: ignore[arg-type]


MODELS = [file for file in oracle_files() if not file.stem.startswith("trial-")]


@pytest.mark.oracle
@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_inverse_dynamics_is_lagranges_equation_with_all_muscles_massive(file):
    oracle = load_oracle(file)
    if not oracle.model.muscles:
        pytest.skip("the model has no muscles")
    system = oi.System(all_massive(oracle.model), like_opensim=False)
    q, qd, qdd = (oracle.by_coordinate(key)[0] for key in ("q", "u", "udot"))
    q = off_the_limits(oracle.model, system.coordinate_names, q)
    expected = lagrange(system, q, qd, qdd)
    assert np.abs(inverse_dynamics(system, q, qd, qdd) - expected).max() / np.abs(expected).max() < 1e-6


@pytest.mark.parametrize("spec", [{}, {"map": "rigid-tendon"}, {"beads": 7}, {"wrap": "exact"}], ids=str)
def test_every_map_obeys_lagrange_on_a_wrapped_path(spec):
    model = double_pendulum(OVER_A_PULLEY, cylinder=0.12, quadrant="+x", **spec)
    muscle = replace(model.muscle_mass.muscles[0], tendons=(0.05, 0.1), belly=(0.2, 0.9))
    model = replace(model, muscle_mass=replace(model.muscle_mass, muscles=(muscle,)))
    system = oi.System(model, like_opensim=False)
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, u, udot = np.array([rng.uniform(-1, 1), rng.uniform(-1.5, 0.1)]), rng.normal(size=2), rng.normal(size=2)
        expected = lagrange(system, q, u, udot)
        assert np.abs(system.inverse_dynamics(q, u, udot)[0] - expected).max() < 1e-6 * np.abs(expected).max()


def test_the_blend_obeys_lagrange_while_it_mixes():
    """Poses just after touch-down, where the wrapped share of the path is below 1 %."""
    system = oi.System(double_pendulum(OVER_A_PULLEY, cylinder=0.12, quadrant="+x"), like_opensim=False)
    angles = np.linspace(0.2, 1.2, 4001)
    q = np.column_stack([np.zeros_like(angles), angles])
    shares = np.array([_wrapped_share(system, pose) for pose in q])
    mixing = q[(shares > 0.001) & (shares < 0.009)]
    assert len(mixing) > 5
    rng = np.random.default_rng(6)
    for pose in mixing[:: len(mixing) // 5]:
        u, udot = rng.normal(size=2), rng.normal(size=2)
        expected = lagrange(system, pose, u, udot, h=2e-5)
        assert np.abs(system.inverse_dynamics(pose, u, udot)[0] - expected).max() < 1e-5 * np.abs(expected).max()


def _wrapped_share(system: oi.System, q: np.ndarray) -> float:
    straight = oi.System(replace(system.model, path_forces=tuple(
        replace(f, geometry=replace(f.geometry, wraps=())) for f in system.model.path_forces), muscle_mass=None))
    long, short = system.path_lengths(q, paths="shortest")[0, 0], straight.path_lengths(q)[0, 0]
    if long - short < 1e-13:
        return 0.0
    line = system.path_points(q, "muscle")[0]
    arc = np.linalg.norm(np.diff(line[1:-1], axis=0), axis=1).sum()
    return float(arc / long)


def test_a_continuum_sliding_over_via_points_keeps_its_energy_and_beads_do_not():
    continuum = drift(double_pendulum(VIA_POINTS))
    assert continuum < 1e-7
    assert drift(double_pendulum(VIA_POINTS, beads=20)) > 1000 * continuum


def test_the_blend_keeps_energy_on_and_off_a_cylinder_and_the_raw_jump_does_not():
    assert drift(double_pendulum(OVER_A_PULLEY, cylinder=0.12, quadrant="+x")) < 1e-5
    assert drift(double_pendulum(OVER_A_PULLEY, cylinder=0.12, quadrant="+x", wrap="exact")) > 1e-2


@pytest.mark.parametrize(("lumped", "expected"), [(False, (2.03, 0.18)), (True, (-2.56, 15.82))])
def test_pais_limb_straightens_at_a_third_of_a_second(lumped, expected):
    """An independent calculation with g = 9.81 m/s² gives these angles at 0.3 s."""
    model = replace(pai_limb(lumped=lumped), gravity=(0.0, -9.81, 0.0))
    q, _, _ = simulate(model, PAI_START, 0.3)
    assert np.degrees(q[-1]) == pytest.approx(expected, abs=0.05)


def test_a_muscle_pinned_at_its_origin_has_the_inertia_of_a_rod():
    model = double_pendulum((("ground", (0.0, 0.0, 0.0)), ("rod1", (0.0, -0.4, 0.0))), muscle_mass=1.2)
    bones = replace(model, muscle_mass=None)
    extra = oi.System(model).mass_matrix([0.3, -0.2])[0] - oi.System(bones).mass_matrix([0.3, -0.2])[0]
    assert extra[0, 0] == pytest.approx(1.2 * 0.4**2 / 3, rel=1e-12)
    assert np.abs(extra[1]).max() < 1e-14


def test_mass_matrix_bias_and_energy_belong_together():
    system = oi.System(double_pendulum(OVER_A_PULLEY, cylinder=0.12, quadrant="+x"))
    q, u, udot = np.array([0.4, -0.6]), np.array([1.0, -2.0]), np.array([0.3, 0.7])
    M = system.mass_matrix(q)[0]
    assert 0.5 * u @ M @ u == pytest.approx(system.kinetic_energy(q, u)[0], rel=1e-12)
    tau = M @ udot + system.bias_forces(q, u)[0]
    np.testing.assert_allclose(system.inverse_dynamics(q, u, udot)[0], tau, atol=1e-12)
    np.testing.assert_allclose(system.forward_dynamics(q, u, tau)[0], udot, atol=1e-10)


def test_without_gravity_a_free_limb_keeps_its_momentum_with_massive_muscles():
    if not DATA.is_dir():
        pytest.skip("the shared reference data is not beside the project")
    model = replace(oi.read_osim(DATA / "models/Gait10dof18musc/gait10dof18musc.osim"), gravity=(0.0, 0.0, 0.0))
    system = oi.System(all_massive(model), like_opensim=False)
    rng = np.random.default_rng(8)
    q, u, tau = system.default_pose() + 0.1, rng.normal(size=system.n), rng.normal(size=system.n)
    root = [i for i, name in enumerate(system.coordinate_names) if name.startswith("pelvis")]
    tau[root] = 0.0
    udot, h = system.forward_dynamics(q, u, tau)[0], 1e-6
    after = system.momentum(q + h * u, u + h * udot)
    before = system.momentum(q - h * u, u - h * udot)
    rate = (after - before)[0] / (2 * h)
    assert np.abs(rate[[2, 3, 4]]).max() < 1e-6  # the pelvis moves in the sagittal plane: about z, along x and y


def conditional_limb(**spec: object) -> oi.Model:
    """A via point on the second rod that counts only while the knee is flexed beyond 0.3 rad."""
    from osim_inertia.model.paths import ConditionalPathPoint

    model = double_pendulum(VIA_POINTS, **spec)
    force = model.path_forces[0]
    point = ConditionalPathPoint(name="cond", frame="/bodyset/rod2", location=(0.09, -0.1, 0.01), coordinate="q2",
                                 range=(0.3, 5.0))
    points = (*force.geometry.points[:-1], point, force.geometry.points[-1])
    return replace(model, path_forces=(replace(force, geometry=replace(force.geometry, points=points)),))


def test_a_conditional_point_is_blended_in_as_lagrange_demands():
    system = oi.System(conditional_limb(), like_opensim=False)
    rng = np.random.default_rng(9)
    for angle in (0.2, 0.285, 0.295, 0.3, 0.31, 0.5):
        q, u, udot = np.array([0.3, angle]), rng.normal(size=2), rng.normal(size=2)
        expected = lagrange(system, q, u, udot, h=2e-5)
        assert np.abs(system.inverse_dynamics(q, u, udot)[0] - expected).max() < 1e-5 * np.abs(expected).max()


def test_a_conditional_point_that_switches_smoothly_keeps_energy():
    assert drift(conditional_limb(), seconds=1.5) < 1e-6
    assert drift(conditional_limb(switch_window=0.0), seconds=1.5) > 1e-3


@pytest.mark.oracle
@pytest.mark.parametrize("trial", ["rajagopal_run", "gait2392_walk", "arm26_elbow_flex"])
def test_inverse_dynamics_is_lagranges_equation_along_real_trials(trial, shared_data):
    from osim_inertia.inverse import kinematics_of

    model = oi.read_osim(shared_data / "trials" / trial / "model.osim")
    system = oi.System(all_massive(model), like_opensim=False)
    moved = kinematics_of(system, oi.read_table(shared_data / "trials" / trial / "ik.mot"), lowpass=6.0)
    for frame in (len(moved.q) // 3, len(moved.q) // 2):
        q, qd, qdd = moved.q[frame], moved.u[frame], moved.udot[frame]
        expected = lagrange(system, q, qd, qdd, h=2e-5)
        assert np.abs(inverse_dynamics(system, q, qd, qdd) - expected).max() / np.abs(expected).max() < 1e-6
