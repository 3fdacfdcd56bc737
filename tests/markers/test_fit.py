"""Inverse kinematics of motions that are known: all joints, constraints, tasks, bounds, and wrong inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.errors import FileError, ModelError
from osim_inertia.markers.data import MarkerData
from osim_inertia.markers.tasks import CoordinateTask, MarkerTask, TaskSet, read_marker_set, read_tasks, with_markers
from osim_inertia.model.frames import Marker
from osim_inertia.model.functions import LinearFunction
from osim_inertia.model.joints import Coordinate
from osim_inertia.model.model import Model

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "models" / "zoo"
FRAMES = 6
# Functions that wave leave several good poses; coordinates may be prescribed or do nothing; a loop may not close.
LEFT_OUT = ("function_", "doc_", "loop_double", "custom_no_function")
MODELS = [p.name for p in sorted(ZOO.glob("*_40000.osim")) if not p.name.startswith(LEFT_OUT)]


def marked(model: Model) -> oi.System:
    """The model with three markers on every body."""
    places = [(0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)]
    markers = [Marker(name=f"{body.name}_{i}", frame=body.path, location=place)
               for body in model.bodies for i, place in enumerate(places)]  # fmt: skip
    return oi.System(with_markers(replace(model, markers=()), markers))


def motion(system: oi.System, size: float = 0.3) -> np.ndarray:
    """Slow, smooth poses (F, n) that keep to bounds and constraints."""
    rng = np.random.default_rng(5)
    q = system.default_pose() + size * np.sin(6.0 * rng.random(system.n) + 0.05 * np.arange(FRAMES)[:, None])
    coordinates = {c.name: c for c in system.model.coordinates}
    for i, name in enumerate(system.coordinate_names):
        c = coordinates[name]
        if c.clamped:
            q[:, i] = np.clip(q[:, i], c.range[0] + 1e-3, c.range[1] - 1e-3)
        if c.locked:
            q[:, i] = c.default_value
    return system.constraints.project_q(q)


def recorded(system: oi.System, q: np.ndarray) -> MarkerData:
    return MarkerData(system.marker_names, 0.01 * np.arange(len(q)), system.marker_positions(q), 100.0)


@pytest.fixture
def arm() -> oi.System:
    return marked(oi.read_osim(ROOT / "tests" / "bad_models" / "arm.osim"))


@pytest.mark.parametrize("file", MODELS)
def test_a_motion_is_recovered_from_its_markers(file):
    """Every kind of joint, forwards and reversed, closed loops, couplers and all constraints."""
    system = marked(oi.read_osim(ZOO / file))
    q = motion(system)
    found = oi.inverse_kinematics(system, recorded(system, q))
    assert np.nanmax(found.distances) < 1e-7
    assert (found.iterations > 0).all()
    assert np.abs(found.q - q).max() < 1e-6
    assert np.abs(system.constraints.errors(found.q)).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("kind", ["loop_four_bar", "constraint_point_on_line", "constraint_weld"])
def test_with_noise_the_pose_is_the_best_that_the_constraints_allow(kind):
    system = marked(oi.read_osim(ZOO / f"{kind}_40000.osim"))
    data = recorded(system, motion(system))
    noise = 0.01 * np.random.default_rng(1).standard_normal(data.positions.shape)
    data = replace(data, positions=data.positions + noise)
    found = oi.inverse_kinematics(system, data)
    assert np.abs(system.constraints.errors(found.q)).max() < 1e-9
    # no feasible neighbour fits better: the gradient has no part along the constraints
    q, h = found.q[:1], 1e-6
    cost = lambda pose: 0.5 * ((system.marker_positions(pose) - data.positions[:1]) ** 2).sum() / len(data.names)
    step = np.eye(system.n) * h
    gradient = np.array([(cost(q + row) - cost(q - row)) / (2 * h) for row in step])
    errors = system.constraints.errors
    J = np.array([(errors(q + row) - errors(q - row))[0] / (2 * h) for row in step]).T
    along = gradient - np.linalg.pinv(J, rcond=1e-6) @ (J @ gradient)
    assert np.abs(gradient).max() > 1e-4  # the constraints do hold something back
    assert np.abs(along).max() < 1e-8


def edit(model: Model, name: str, **changes: object) -> Model:
    joints = tuple(replace(j, coordinates=tuple(replace(c, **changes) if c.name == name else c for c in j.coordinates))
                   for j in model.joints)  # fmt: skip
    return replace(model, joints=joints)


def first_coordinate(system: oi.System) -> Coordinate:
    return system.model.coordinate(system.coordinate_names[0])


def test_locked_and_prescribed_coordinates_stay_and_clamped_ones_stop_at_their_range(arm):
    name = first_coordinate(arm).name
    q = arm.default_pose() + np.full((FRAMES, arm.n), 0.4)
    data = recorded(arm, q)
    locked = oi.System(edit(arm.model, name, locked=True, default_value=0.1, clamped=False))
    assert (oi.inverse_kinematics(locked, data).q[:, 0] == 0.1).all()
    clamped = oi.System(edit(arm.model, name, clamped=True, range=(-1.0, 0.25), default_value=0.0))
    found = oi.inverse_kinematics(clamped, data)
    assert found.q[:, 0] == pytest.approx(np.full(FRAMES, 0.25), abs=1e-15)
    moved = oi.System(edit(arm.model, name, prescribed=True, clamped=False,
                           prescribed_function=LinearFunction(coefficients=(2.0, 0.3))))  # fmt: skip
    assert oi.inverse_kinematics(moved, data).q[:, 0] == pytest.approx(2.0 * data.time + 0.3)


def test_weights_and_coordinate_tasks_balance_as_opensim_weighs_them(arm):
    """Two markers pull one pin apart: minimum of ½ Σ w |e|² / Σ w + ½ w_c (q − q_ref)², by brute force."""
    names = arm.marker_names[:2]
    q = arm.default_pose()[None] + 0.2
    positions = arm.marker_positions(q)
    positions[0, 0] += 0.03
    data = replace(recorded(arm, q), positions=positions).select(names)
    task = CoordinateTask(name=arm.coordinate_names[0], weight=0.004, value_type="manual_value", value=0.5)
    found = oi.inverse_kinematics(arm, data, weights={names[0]: 3.0, names[1]: 1.0}, coordinate_tasks=[task])

    def cost(angle: float) -> float:
        pose = found.q.copy()
        pose[0, 0] = angle
        squares = ((arm.marker_positions(pose)[0, :2] - data.positions[0]) ** 2).sum(axis=1)
        return float(0.5 * (3.0 * squares[0] + squares[1]) / 4.0 + 0.5 * 0.004 * (angle - 0.5) ** 2)

    angles = found.q[0, 0] + np.linspace(-0.01, 0.01, 2001)
    assert angles[np.argmin([cost(a) for a in angles])] == pytest.approx(found.q[0, 0], abs=1.1e-5)
    assert found.cost[0] == pytest.approx(cost(found.q[0, 0]), rel=1e-9)


def test_a_value_from_a_file_is_followed_in_degrees(arm):
    time, name = 0.01 * np.arange(FRAMES), arm.coordinate_names[0]
    data = replace(recorded(arm, arm.default_pose() + np.zeros((FRAMES, arm.n))), time=time)
    wanted = oi.Table((name,), np.linspace(-0.1, 0.2, 40), np.degrees(0.3 + np.linspace(-0.1, 0.2, 40))[:, None], True)
    task = CoordinateTask(name=name, weight=1e6, value_type="from_file")
    found = oi.inverse_kinematics(arm, data, coordinate_tasks=[task], coordinate_file=wanted)
    assert found.q[:, 0] == pytest.approx(0.3 + time, abs=1e-5)
    with pytest.raises(ModelError, match="no coordinate file is given"):
        oi.inverse_kinematics(arm, data, coordinate_tasks=[task])


def test_a_turned_and_shifted_body_is_found_from_the_default_pose():
    system = marked(oi.read_osim(ZOO / "joint_free_40000.osim"))
    for turn in (1.5, 2.5, -3.0):
        q = motion(system, size=0.1)
        q[:, 1] += turn / 2.5  # short of the singular 90 degrees
        q[:, 2] += turn
        q[:, 3:6] += 5.0
        found = oi.inverse_kinematics(system, recorded(system, q))
        assert np.nanmax(found.distances) < 1e-6


def test_markers_that_do_not_match_are_named(arm):
    data = recorded(arm, arm.default_pose()[None])
    shouted = replace(data, names=tuple(name.upper() for name in data.names))
    with pytest.raises(FileError, match=f"'{shouted.names[0]}' may be the model's '{data.names[0]}'"):
        oi.inverse_kinematics(arm, shouted)
    tasks = TaskSet((MarkerTask(name=data.names[0]), MarkerTask(name="NOSE"), MarkerTask(name="EAR", apply=False)))
    found = oi.inverse_kinematics(arm, data, tasks=tasks)
    assert found.markers == data.names[:1]
    assert found.notes == ("Not in the model, and left out: NOSE.", "Not in the marker file, and left out: NOSE.")
    with pytest.raises(ModelError, match="no markers"):
        oi.inverse_kinematics(replace(arm.model, markers=()), data)


@pytest.mark.parametrize("scale", [1000.0, 0.001])
def test_a_body_of_the_wrong_unit_is_refused(arm, scale):
    data = recorded(arm, arm.default_pose()[None])
    with pytest.raises(FileError, match="times the size of the model"):
        oi.inverse_kinematics(arm, replace(data, positions=scale * data.positions))


def test_what_looks_odd_in_a_recording_is_noted(arm):
    data = recorded(arm, motion(arm))
    assert oi.inverse_kinematics(arm, data, time_range=(-np.inf, np.inf)).notes == ()
    spelt = replace(data, names=(data.names[0].upper().replace("_", "."), *data.names[1:]))
    assert f"Spelt differently in the model: '{spelt.names[0]}' and '{data.names[0]}'?" in notes_of(arm, spelt)
    late = np.where(np.arange(len(data)) < 4, data.time, data.time + 0.2)
    assert "Times are not uniform: 0.21 s from 0.03 to 0.24 s" in notes_of(arm, replace(data, time=late))
    gone = data.positions.copy()
    gone[3:6] = np.nan
    assert "3 frames have no marker, the first at 0.03 s" in notes_of(arm, replace(data, positions=gone))
    assert "reaches beyond the markers" in notes_of(arm, data, time_range=(0.0, 99.0))


def notes_of(system: oi.System, data: MarkerData, **options) -> str:
    return " ".join(oi.inverse_kinematics(system, data, **options).notes)


def test_other_wrong_inputs_are_named(arm):
    data = recorded(arm, arm.default_pose()[None])
    with pytest.raises(ModelError, match="task names the coordinate 'knee'"):
        oi.inverse_kinematics(arm, data, coordinate_tasks=[CoordinateTask(name="knee")])
    with pytest.raises(ValueError, match="weight of marker"):
        oi.inverse_kinematics(arm, data, weights={data.names[0]: -1.0})
    with pytest.raises(FileError, match="time range"):
        oi.inverse_kinematics(arm, data, time_range=(5.0, 6.0))
    with pytest.raises(ValueError, match="accuracy"):
        oi.inverse_kinematics(arm, data, accuracy=0.0)


def test_task_files_are_read_with_opensims_defaults(tmp_path):
    path = tmp_path / "tasks.xml"
    path.write_text(
        '<OpenSimDocument Version="40000"><IKTaskSet name="t"><objects>'
        '<IKMarkerTask name="HEEL"><weight>5</weight></IKMarkerTask>'
        '<IKMarkerTask name="TOE"><apply>false</apply><weight>2</weight></IKMarkerTask><IKMarkerTask name="KNEE"/>'
        '<IKCoordinateTask name="knee"><weight>7</weight><value_type>manual_value</value_type><value>0.5</value>'
        "</IKCoordinateTask>"
        "</objects></IKTaskSet></OpenSimDocument>"
    )
    tasks = read_tasks(path)
    found = [(t.name, t.weight, t.apply) for t in tasks.markers]
    assert found == [("HEEL", 5.0, True), ("TOE", 2.0, False), ("KNEE", 0.0, True)]
    assert tasks.coordinates == (CoordinateTask(name="knee", weight=7.0, value_type="manual_value", value=0.5),)
    path.write_text(path.read_text().replace("manual_value", "guess"))
    with pytest.raises(FileError, match="value_type"):
        read_tasks(path)


def test_marker_set_files_place_markers_in_the_model(arm, tmp_path):
    body = arm.model.bodies[0].name
    path = tmp_path / "markers.xml"
    path.write_text(
        '<OpenSimDocument Version="40000"><MarkerSet name="m"><objects><Marker name="new">'
        f"<socket_parent_frame>/bodyset/{body}</socket_parent_frame><location>0.1 0.2 0.3</location></Marker>"
        "</objects></MarkerSet></OpenSimDocument>"
    )
    model = with_markers(arm.model, read_marker_set(path, arm.model))
    assert model.markers[-1] == Marker(name="new", frame=f"/bodyset/{body}", location=(0.1, 0.2, 0.3))
    assert len(model.markers) == len(arm.model.markers) + 1
    path.write_text(path.read_text().replace(body, "tail"))
    with pytest.raises(FileError, match="frame is not in the model"):
        read_marker_set(path, arm.model)
