"""Joint reaction loads against OpenSim's JointReaction convention, computed live by OpenSim's joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from limbs import double_pendulum

import osim_inertia as oi
from osim_inertia.inverse import Kinematics
from osim_inertia.loads import ExternalForce, ExternalLoads
from osim_inertia.reactions import reactions_of

ZOO = Path(__file__).resolve().parents[1] / "models" / "zoo"


def random_instant(system: oi.System) -> Kinematics:
    rng = np.random.default_rng(4)
    q, u, udot = (rng.uniform(-s, s, (1, system.n)) for s in (0.5, 1.0, 3.0))
    return Kinematics(np.zeros(1), q, u, udot)


def opensims_reactions(file: Path, system: oi.System, instant: Kinematics, on: str) -> dict[str, np.ndarray]:
    """Force, moment, in ground, of every joint, with actuators that produce the motion."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    model = opensim.Model(str(file))
    for name in system.coordinate_names:
        actuator = opensim.CoordinateActuator(name)
        actuator.setName(f"drive_{name}")
        model.addForce(actuator)
    state = model.initSystem()
    tau = system.inverse_dynamics(instant.q, instant.u, instant.udot)[0]
    for i, (name, value) in enumerate(zip(system.coordinate_names, tau)):
        coordinate = model.getCoordinateSet().get(name)
        coordinate.setValue(state, float(instant.q[0, i]), False)
        coordinate.setSpeedValue(state, float(instant.u[0, i]))
        actuator = opensim.CoordinateActuator.safeDownCast(model.getForceSet().get(f"drive_{name}"))
        actuator.overrideActuation(state, True)
        actuator.setOverrideActuation(state, float(value))
    model.realizeAcceleration(state)
    np.testing.assert_allclose(state.getUDot().to_numpy(), instant.udot[0], atol=1e-9)
    joints = model.getJointSet()
    found = {}
    for i in range(joints.getSize()):
        joint = joints.get(i)
        load = (joint.calcReactionOnChildExpressedInGround if on == "child"
                else joint.calcReactionOnParentExpressedInGround)(state)
        found[joint.getName()] = np.concatenate([load.get(1).to_numpy(), load.get(0).to_numpy()])
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("on", ["child", "parent"])
@pytest.mark.parametrize("model", ["joint_pin", "joint_planar", "joint_ball", "joint_free", "custom_oblique",
                                   "tree_breadth_first", "tree_welded"])
def test_loads_are_those_of_opensims_joints(model, on):
    file = ZOO / f"{model}_40000.osim"
    system = oi.System(oi.read_osim(file))
    instant = random_instant(system)
    ours = reactions_of(system, instant, on=on)
    theirs = opensims_reactions(file, system, instant, on)
    for joint, load in theirs.items():
        columns = [i for i, name in enumerate(ours.names) if name.startswith(f"{joint}_on_")]
        np.testing.assert_allclose(ours.values[0, columns[:6]], load, atol=1e-9, err_msg=joint)


@pytest.mark.parametrize("model", ["joint_planar", "reversed_planar", "reversed_custom"])
def test_load_on_the_outboard_body_changes_the_momentum_of_all_it_carries(model):
    """Also for joints whose child is nearer to ground; there OpenSim reports the load of another joint."""
    system = oi.System(oi.read_osim(ZOO / f"{model}_40000.osim"), like_opensim=False)
    instant = random_instant(system)
    outboard, inboard = ("child", "parent") if model == "joint_planar" else ("parent", "child")
    force, moment, point = reactions_of(system, instant, on=outboard).values[0, :9].reshape(3, 3)
    h = 1e-5
    q, u, a = instant.q[0], instant.u[0], instant.udot[0]
    ahead, back = (system.momentum(q + s * u + 0.5 * s * s * a, u + s * a)[0] for s in (h, -h))
    rate = (ahead - back) / (2 * h)
    weight = system.mass * np.array(system.model.gravity)
    np.testing.assert_allclose(force, rate[3:] - weight, atol=1e-6)
    turning = rate[:3] - np.cross(system.center_of_mass(q)[0], weight)
    np.testing.assert_allclose(moment + np.cross(point, force), turning, atol=1e-6)
    reaction, its_moment, its_point = reactions_of(system, instant, on=inboard).values[0, :9].reshape(3, 3)
    np.testing.assert_allclose(reaction, -force, atol=1e-12)
    np.testing.assert_allclose(its_moment + np.cross(its_point, reaction), -turning, atol=1e-6)


ON_THE_RODS = {
    "via point": {"points": (("rod1", (0.05, -0.1, 0.01)), ("rod1", (0.05, -0.45, 0.0)), ("rod2", (0.04, -0.3, 0.03)))},
    "wrapped": {"points": (("rod1", (0.06, -0.15, 0.0)), ("rod2", (0.06, -0.3, 0.02))), "cylinder": 0.12,
                "quadrant": "+x"},
}


@pytest.mark.parametrize("limb", ON_THE_RODS)
def test_joints_transmit_the_inertia_and_weight_of_muscles(limb):
    """The hip changes the momentum of rods and muscle; about its axis each joint transmits what drives it."""
    system = oi.System(double_pendulum(**ON_THE_RODS[limb]), like_opensim=False)
    instant = Kinematics(np.zeros(1), *(np.array([x]) for x in ([0.4, -0.7], [1.3, -2.1], [2.5, 4.0])))
    table = reactions_of(system, instant)
    h = 1e-5
    q, u, a = instant.q[0], instant.u[0], instant.udot[0]
    ahead, back = (system.momentum(q + s * u + 0.5 * s * s * a, u + s * a)[0] for s in (h, -h))
    rate, weight = (ahead - back) / (2 * h), system.mass * np.array(system.model.gravity)
    force, moment, point = table.values[0, :9].reshape(3, 3)
    np.testing.assert_allclose(force, rate[3:] - weight, atol=1e-6)
    turning = rate[:3] - np.cross(system.center_of_mass(q)[0], weight)
    np.testing.assert_allclose(moment + np.cross(point, force), turning, atol=1e-6)
    tau = system.inverse_dynamics(q, u, a)[0]
    about_z = [table[f"{joint}_in_ground_mz"][0] for joint in ("hip_on_rod1", "knee_on_rod2")]
    np.testing.assert_allclose(about_z, tau, rtol=1e-12)


def test_external_loads_and_muscle_mass_add_up_in_joint_reactions():
    limb = double_pendulum(**ON_THE_RODS["wrapped"])
    system = oi.System(limb)
    time = np.arange(10) * 0.1
    motion = oi.Table(system.coordinate_names, time, np.tile([0.3, -0.5], (10, 1)))
    push = oi.Table(("f_x", "f_y", "f_z"), time, np.tile([1.0, 25.0, -3.0], (10, 1)))
    loads = ExternalLoads((ExternalForce(name="push", body="rod2", force="f_"),), push)
    table = oi.joint_reactions(system, motion, external_loads=loads)
    expected = -system.mass * np.array(limb.gravity) - [1.0, 25.0, -3.0]
    for axis, value in zip("xyz", expected):
        np.testing.assert_allclose(table[f"hip_on_rod1_in_ground_f{axis}"], value, rtol=1e-9, atol=1e-9)


def test_frames_turn_the_loads_and_place_the_point():
    system = oi.System(oi.read_osim(ZOO / "joint_planar_40000.osim"))
    instant = random_instant(system)
    ground, child = (reactions_of(system, instant, expressed_in=frame) for frame in ("ground", "child"))
    pose = dict(zip(system.body_names, system.body_poses(instant.q)[0]))
    assert "knee_on_middle_in_ground_fx" in ground.names
    assert "knee_on_middle_in_middle_fx" in child.names
    for joint, body in (("hip", "upper"), ("knee", "middle"), ("ankle", "lower")):
        R, p = pose[body][:3, :3], pose[body][:3, 3]
        here = ground.values[0].reshape(-1, 3, 3)[[n.startswith(joint) for n in ground.names[::9]]][0]
        there = child.values[0].reshape(-1, 3, 3)[[n.startswith(joint) for n in child.names[::9]]][0]
        np.testing.assert_allclose(here[:2] @ R, there[:2], atol=1e-12)
        np.testing.assert_allclose((here[2] - p) @ R, there[2], atol=1e-12)
    named = reactions_of(system, instant, expressed_in="middle")
    np.testing.assert_allclose(named["knee_on_middle_in_middle_fx"], child["knee_on_middle_in_middle_fx"])


def test_the_first_joint_carries_weight_minus_external_load_at_rest():
    system = oi.System(oi.read_osim(ZOO / "joint_pin_40000.osim"))
    time = np.arange(10) * 0.1
    motion = oi.Table(system.coordinate_names, time, np.zeros((10, system.n)))
    push = oi.Table(("f_x", "f_y", "f_z"), time, np.tile([1.0, 25.0, -3.0], (10, 1)))
    loads = ExternalLoads((ExternalForce(name="push", body="lower", force="f_"),), push)
    table = oi.joint_reactions(system, motion, external_loads=loads)
    expected = -system.mass * np.array(system.model.gravity) - [1.0, 25.0, -3.0]
    for axis, value in zip("xyz", expected):
        np.testing.assert_allclose(table[f"hip_on_upper_in_ground_f{axis}"], value, rtol=1e-12)


def test_unknown_sides_and_frames_are_refused():
    system = oi.System(oi.read_osim(ZOO / "joint_pin_40000.osim"))
    with pytest.raises(ValueError, match="'child' or 'parent'"):
        reactions_of(system, random_instant(system), on="left")
    with pytest.raises(oi.ModelError, match="no frame 'nowhere'"):
        reactions_of(system, random_instant(system), expressed_in="nowhere")
