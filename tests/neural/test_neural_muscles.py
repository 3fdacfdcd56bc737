"""Muscles that follow the network: mechanics, energy, what happens outside its range, and how it is asked for."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import DATA
from limbs import double_pendulum
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import osim_inertia as oi
from osim_inertia.cli.main import main
from osim_inertia.errors import ModelError, WrapWarning

PULLEY = (("rod1", (0.06, -0.15, 0.0)), ("rod2", (0.06, -0.3, 0.02)))
VIA = (("rod1", (0.06, -0.05, 0.0)), ("rod1", (0.16, -0.25, 0.01)), ("rod2", (0.16, -0.2, 0.02)),
       ("rod2", (0.06, -0.4, 0.02)))
U, UDOT = np.array([1.2, -2.1]), np.array([0.7, 3.0])


def limb(points=PULLEY, wrap="neural", **spec):
    return oi.System(double_pendulum(points, cylinder=0.12, wrap=wrap, **spec), like_opensim=False, threads=1)


def lagrange(system, q, u, udot, h=1e-4):
    """d/dt ∂T/∂u − ∂(T − V)/∂q by differences of T and V alone."""
    E = np.eye(system.n)

    def momenta(q, u):
        T = system.kinetic_energy
        return np.array([(T(q, u + h * e) - T(q, u - h * e))[0] for e in E]) / (2 * h)

    def L(q):
        return (system.kinetic_energy(q, u) - system.potential_energy(q))[0]

    later = momenta(q + h * u + 0.5 * h * h * udot, u + h * udot)
    sooner = momenta(q - h * u + 0.5 * h * h * udot, u - h * udot)
    return (later - sooner) / (2 * h) - np.array([L(q + h * e) - L(q - h * e) for e in E]) / (2 * h)


# ---- mechanics ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("points", [PULLEY, VIA])
@pytest.mark.parametrize("knee", [-1.4, -0.8, 0.05, 0.4, 1.0])
def test_forces_of_beads_are_those_of_lagrange(points, knee):
    system, q = limb(points, beads=20), np.array([0.3, knee])
    assert_allclose(system.inverse_dynamics(q, U, UDOT)[0], lagrange(system, q, U, UDOT), atol=3e-4)


@pytest.mark.parametrize("points", [PULLEY, VIA])
@pytest.mark.parametrize("knee", [-1.4, -0.8, 0.05, 1.0])
def test_forces_of_a_continuum_are_those_of_lagrange_up_to_its_quadrature(points, knee):
    system, q = limb(points), np.array([0.3, knee])
    assert_allclose(system.inverse_dynamics(q, U, UDOT)[0], lagrange(system, q, U, UDOT), atol=3e-4)


@pytest.mark.parametrize("points", [PULLEY, VIA])
def test_network_agrees_with_the_blend_away_from_touch_down(points):
    for knee in (-1.4, -0.8, 0.1, 1.0):
        q = np.array([0.3, knee])
        neural, blend = (limb(points, wrap).inverse_dynamics(q, U, UDOT)[0] for wrap in ("neural", "blend"))
        assert_allclose(neural, blend, atol=2e-3)


def test_without_contact_every_number_is_that_of_the_straight_muscle():
    q = np.array([0.3, 1.0])
    neural, blend = limb(), limb(wrap="blend")
    assert_allclose(neural.inverse_dynamics(q, U, UDOT), blend.inverse_dynamics(q, U, UDOT), rtol=1e-12)
    assert_allclose(neural.momentum(q, U), blend.momentum(q, U), rtol=1e-12, atol=1e-13)
    assert neural.mass == blend.mass
    assert_allclose(neural.center_of_mass(q), blend.center_of_mass(q), rtol=1e-12, atol=1e-14)


def test_matter_adds_up_to_the_muscle():
    for knee in (-0.8, 1.0):
        (x, mass), (y, kg) = (limb(wrap=w).muscle_matter(np.array([0.3, knee]), "muscle") for w in ("neural", "blend"))
        assert mass.sum() == pytest.approx(1.0, rel=1e-12)
        assert_allclose(mass @ x, kg @ y, atol=1e-4)


def swing(system, seconds):
    def rate(_, y):
        return np.concatenate([y[2:], system.forward_dynamics(y[:2], y[2:], np.zeros(2))[0]])

    run = solve_ivp(rate, (0.0, seconds), [0.8, 0.5, 0.0, 0.0], method="DOP853", rtol=1e-8, atol=1e-8,
                    t_eval=np.linspace(0.0, seconds, 101))
    q, u = run.y[:2].T, run.y[2:].T
    kinetic = system.kinetic_energy(q, u)
    energy = kinetic + system.potential_energy(q)
    return np.abs(energy - energy[0]).max() / kinetic.max()


def test_a_limb_keeps_its_energy_while_its_muscle_swings_on_and_off_a_cylinder():
    assert swing(limb(quadrant="+x"), 5.0) < 1e-3
    assert swing(limb(quadrant="+x", wrap="exact"), 2.0) > 1e-2  # the raw jump


# ---- range ----------------------------------------------------------------------------------------------------------
def test_outside_the_range_a_muscle_is_blended_and_the_user_told_once():
    close = (("rod1", (0.1203, -0.5, 0.0)), PULLEY[1])  # 1.0025 radii from the axis
    neural, blend = limb(close), limb(close, "blend")
    q = np.array([[0.3, -1.5], [0.3, -1.2]])
    with pytest.warns(WrapWarning, match=r"leaves the range.*blended instead"):
        found = neural.inverse_dynamics(q, U, UDOT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        neural.inverse_dynamics(q, U, UDOT)
    assert_allclose(found, blend.inverse_dynamics(q, U, UDOT), rtol=1e-12)
    assert_allclose(neural.kinetic_energy(q, U), blend.kinetic_energy(q, U), rtol=1e-12)
    assert_allclose(neural.muscle_matter(q[0], "muscle")[0], blend.muscle_matter(q[0], "muscle")[0])


def test_an_end_inside_the_cylinder_is_no_garbage():
    inside = (("rod1", (0.05, -0.5, 0.0)), PULLEY[1])
    q = np.array([0.3, -1.0])
    assert_allclose(limb(inside).inverse_dynamics(q, U, UDOT), limb(inside, "blend").inverse_dynamics(q, U, UDOT),
                    rtol=1e-12)


# ---- how it is asked for --------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def leg():
    file = DATA / "trials" / "rajagopal_run" / "model.osim"
    if not file.is_file():
        pytest.skip("the reference data is not beside the project")
    return oi.read_osim(file)


def test_one_muscle_or_all_that_can_follow_the_network(leg):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing to warn of: this muscle has one cylinder
        one = oi.System(oi.with_muscle_mass(leg, 0.5, wrap={"bfsh_r": "neural"})).muscles
    assert [n for n, f in zip(one.names, one.follows) if f] == ["bfsh_r"]
    with pytest.warns(WrapWarning, match="gasmed_r.*2 wraps"):
        every = oi.System(oi.with_muscle_mass(leg, 0.5, wrap="neural")).muscles
    assert sum(every.follows) == 38


def test_the_choice_survives_the_file(leg, tmp_path):
    for wrap, words in (({"bfsh_r": "neural"}, ("neural", ("bfsh_r",))), ("neural", ("neural", ()))):
        file = oi.write_model(oi.with_muscle_mass(leg, 0.5, wrap=wrap), tmp_path / "model.json")
        spec = oi.read_model(file).muscle_mass
        assert (spec.wrap, spec.neural) == words


def test_wrong_words_are_refused(leg):
    with pytest.raises(ModelError, match="blend or neural"):
        oi.with_muscle_mass(leg, 0.5, wrap={"bfsh_r": "exact"})
    with pytest.raises(ModelError, match="no muscle 'bfsh'"):
        oi.with_muscle_mass(leg, 0.5, wrap={"bfsh": "neural"})
    with pytest.raises(ModelError, match="blend, neural, exact"):
        oi.with_muscle_mass(leg, 0.5, wrap="newral")


def test_commands_take_one_word_or_muscles_by_name(leg, tmp_path):
    model = DATA / "trials" / "rajagopal_run" / "model.osim"
    words = ["convert", str(model), "-o", str(tmp_path / "bones.osim"), "--transfer", "0.5", "--json"]
    both = ["bfsh_r=neural", "bfsh_l=neural"]
    cases = ((["neural"], ("neural", [])), (both, ("neural", ["bfsh_r", "bfsh_l"])), (["exact"], ("exact", [])))
    for wrap, found in cases:
        done = CliRunner().invoke(main, [*words, *(word for each in wrap for word in ("--wrap", each))])
        assert done.exit_code == 0, done.output
        summary = json.loads(done.stdout)
        assert (summary["wrap"], summary["neural"]) == found
    for wrong, code in ((["newral"], 2), (["neural", "blend"], 2), (["bfsh_r=exact"], 1), (["nobody=neural"], 1)):
        done = CliRunner().invoke(main, [*words, *(word for each in wrong for word in ("--wrap", each))])
        assert done.exit_code == code, done.output


def test_a_command_names_the_muscles_it_blends_instead(leg, tmp_path):
    trial = DATA / "trials" / "rajagopal_run"
    words = ["id", str(trial / "model.osim"), str(trial / "ik.mot"), "--transfer", "0.5", "--wrap", "neural"]
    done = CliRunner().invoke(main, [*words, "--time-range", "0.5", "0.6", "-o", str(tmp_path / "id.sto")])
    assert done.exit_code == 0, done.output
    assert "note: 'gasmed_r' is blended: its path has 2 wraps" in done.stderr
    assert "UserWarning" not in done.stderr
