"""What is drawn against what is computed: poses, paths, wraps, sticks, masses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.inverse import MotionError, coordinates_of
from osim_inertia.model.frames import Mesh
from osim_inertia.model.paths import WrapCylinder, WrapEllipsoid, WrapSphere, WrapTorus
from osim_inertia.view.scene import NO_BODY, build_scene
from osim_inertia.view.shapes import stick, wrap_surface

MODELS = Path(__file__).resolve().parents[2] / "models"
LEG = MODELS / "leg11dof4musc" / "leg11dof4musc.osim"
RUN = MODELS / "leg11dof4musc" / "running_17kmh.mot"


@pytest.fixture(scope="module")
def leg() -> oi.Model:
    return oi.read_osim(LEG)


@pytest.fixture(scope="module")
def run() -> oi.Table:
    return oi.read_table(RUN)


# ---- motion ---------------------------------------------------------------------------------------------------------
def test_poses_are_those_of_the_motion_every_nth_row(leg, run):
    scene = build_scene(leg, run, every=10)
    moved = oi.System(leg)
    rotational = [leg.coordinate(name).motion_type == "rotational" for name in moved.coordinate_names]
    q = run.select(moved.coordinate_names).values[::10] * np.where(rotational, np.pi / 180.0, 1.0)
    assert run.in_degrees
    np.testing.assert_array_equal(scene.time, run.time[::10])
    np.testing.assert_allclose(scene.poses, moved.body_poses(q), atol=1e-14)


def test_one_row_is_enough_of_a_motion(leg, run):
    assert len(build_scene(leg, run.rows(5, 6)).time) == 1


def test_default_pose_is_put_on_the_constraints(shared_data):
    model = oi.read_osim(shared_data / "models" / "Rajagopal" / "Rajagopal2016.osim")
    bent = replace(model, joints=tuple(
        replace(j, coordinates=tuple(replace(c, default_value=1.0) if c.name == "knee_angle_r" else c
                                     for c in j.coordinates)) for j in model.joints))  # fmt: skip
    scene, system = build_scene(bent), oi.System(bent)
    patella = scene.bodies.index("patella_r")
    q = system.default_pose()
    q[system.coordinate_names.index("knee_angle_r_beta")] = 1.0  # the coupler makes them equal
    np.testing.assert_allclose(scene.poses[0, patella], system.body_poses(q)[0, patella], atol=1e-9)


def test_motion_of_another_model_is_refused(leg):
    with pytest.raises(MotionError, match="none of the model's coordinates"):
        build_scene(leg, oi.Table(("elbow",), [0.0, 1.0], np.zeros((2, 1))))


def test_up_is_against_gravity(leg):
    assert build_scene(leg).up.tolist() == [0, 1, 0]
    assert build_scene(replace(leg, gravity=(0.0, 0.0, -9.81))).up.tolist() == [0, 0, 1]
    assert build_scene(replace(leg, gravity=(0.0, 0.0, 0.0))).up.tolist() == [0, 1, 0]


# ---- paths ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["rajagopal_walk", "arm26_elbow_flex", "gait2392_walk"])
def test_paths_pass_the_points_and_contacts_of_the_solver(shared_data, name):
    """The polylines come from a kernel of their own; path_contacts is checked against OpenSim elsewhere."""
    folder = shared_data / "trials" / name
    system = oi.System(oi.read_osim(folder / "model.osim"))
    motion = oi.read_table(folder / "ik.mot").rows(0, 40)
    scene = build_scene(system, motion, every=13)
    q = system.constraints.project_q(coordinates_of(system, motion, [])[::13], time=scene.time)
    for place, line in enumerate(scene.lines):
        for frame, contact in enumerate(system.path_contacts(q, line.name)):
            drawn = scene.path(frame, place)
            passed = np.concatenate([contact.nodes, contact.points.reshape(-1, 3)])
            gap = np.linalg.norm(passed[:, None] - drawn[None], axis=2).min(axis=1)
            assert gap.max() < 1e-9, line.name
            np.testing.assert_allclose(drawn[[0, -1]], contact.nodes[[0, -1]], atol=1e-12)
            length, finer = (np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in (drawn, contact.polyline()))
            assert 0.993 * finer < length < finer + 1e-12, line.name  # an arc of π in eight chords is 0.64 % short


def test_belly_and_mass_are_those_of_the_muscles(leg):
    heavy = oi.with_muscle_mass(leg, {"tibia_r": 0.8})
    table = oi.System(heavy).muscle_mass_table()
    lines = {line.name: line for line in build_scene(heavy).lines}
    assert sum(line.mass for line in lines.values()) == pytest.approx(0.8 * leg.body("tibia_r").mass, rel=1e-12)
    assert table
    for row in table:
        assert lines[row["muscle"]].belly == (row["belly_start"], row["belly_end"])
    assert all(line.mass == 0.0 for line in build_scene(leg).lines)


def test_rigid_tendons_are_told_in_metres(leg):
    heavy = oi.with_muscle_mass(leg, {"tibia_r": 0.4}, map="rigid-tendon")
    tendons = {muscle.name: muscle.tendons for muscle in heavy.muscle_mass.muscles}
    drawn = {line.name: line.tendons for line in build_scene(heavy).lines if line.mass}
    assert drawn == tendons
    assert all(sum(pair) > 0.0 for pair in drawn.values())


# ---- surfaces -------------------------------------------------------------------------------------------------------
def test_wrap_surfaces_satisfy_their_equations():
    common = {"name": "w", "frame": "/ground"}
    x, y, z = wrap_surface(WrapCylinder(**common, radius=0.03, length=0.2)).vertices.T
    np.testing.assert_allclose(np.hypot(x, y), 0.03)
    assert (z.min(), z.max()) == (-0.1, 0.1)
    np.testing.assert_allclose(np.linalg.norm(wrap_surface(WrapSphere(**common, radius=0.05)).vertices, axis=1), 0.05)
    axes = np.array([0.02, 0.03, 0.05])
    ellipsoid = wrap_surface(WrapEllipsoid(**common, dimensions=tuple(axes))).vertices
    np.testing.assert_allclose(((ellipsoid / axes) ** 2).sum(axis=1), 1.0)
    x, y, z = wrap_surface(WrapTorus(**common, inner_radius=0.01, outer_radius=0.04)).vertices.T
    np.testing.assert_allclose((np.hypot(x, y) - 0.04) ** 2 + z**2, 0.01**2)


def test_muscles_touch_the_wrap_surfaces_that_are_drawn(leg, run):
    scene = build_scene(leg, run, every=20)
    cylinders = [solid for solid in scene.solids if solid.kind == "wrap"]
    radii = {item.name: item.radius for item in leg.wrap_objects}
    nearest = dict.fromkeys(radii, np.inf)
    for solid in cylinders:
        ends = np.split(solid.surface.vertices, 2)
        start, axis = ends[0].mean(axis=0), np.subtract(*(end.mean(axis=0) for end in ends))
        for frame in range(len(scene.time)):
            X = scene.poses[frame, solid.body]
            for place in range(len(scene.lines)):
                points = (scene.path(frame, place) - X[:3, 3]) @ X[:3, :3] - start
                away = np.linalg.norm(np.cross(points, axis / np.linalg.norm(axis)), axis=1)
                nearest[solid.name] = min(nearest[solid.name], float(away.min()))
    assert radii
    assert nearest == pytest.approx(radii, abs=1e-9)


def test_bodies_without_meshes_are_sticks_from_joint_to_joint(leg):
    scene = build_scene(leg)
    femur = [solid for solid in scene.solids if solid.body == scene.bodies.index("femur_r") and solid.kind == "stick"]
    knee = next(joint for joint in leg.joints if joint.name.startswith("knee"))
    end = oi.System(leg).compiled.placements[knee.parent_frame].p
    assert len(femur) == 1
    top, bottom = femur[0].surface.vertices.max(axis=0), femur[0].surface.vertices.min(axis=0)
    assert np.all(bottom < np.minimum(end, 0.0) + 1e-12)
    assert np.all(top > np.maximum(end, 0.0) - 1e-12)
    assert top[1] - bottom[1] < np.linalg.norm(end) + 0.05


def test_sticks_are_as_long_as_asked_and_stand_where_asked():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.5, 0.7])
    vertices = stick(start, end, 0.01).vertices
    along = (vertices - start) @ (end - start) / 0.5
    assert along.min() == pytest.approx(-0.014)
    assert along.max() == pytest.approx(0.51)
    aside = np.linalg.norm(vertices - start - np.outer(along / 0.5, end - start), axis=1)
    assert aside.max() == pytest.approx(0.014)
    np.testing.assert_allclose(np.linalg.norm(stick(start, start, 0.01).vertices - start, axis=1), 0.01)


def test_meshes_are_scaled_and_placed_in_the_frame_that_holds_them(leg, tmp_path):
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    bodies = tuple(replace(body, meshes=(Mesh(file="t.obj", scale=(2.0, -3.0, 1.0)), Mesh(file="gone.vtp"))
                           if body.name == "tibia_r" else ()) for body in leg.bodies)  # fmt: skip
    knee = next(frame for frame in leg.frames if "femur_r" in frame.parent)
    frames = tuple(replace(f, meshes=(Mesh(file="t.obj"),)) if f is knee else f for f in leg.frames)
    (tmp_path / "broken.stl").write_text("nothing")
    model = replace(leg, bodies=bodies, frames=frames, source=str(tmp_path / "m.osim"),
                    ground_meshes=(Mesh(file="broken.stl"),))  # fmt: skip
    scene = build_scene(model)
    meshes = [solid for solid in scene.solids if solid.kind == "mesh"]
    shapes = {scene.bodies[solid.body]: solid.surface for solid in meshes}
    np.testing.assert_allclose(shapes["tibia_r"].vertices, [(0, 0, 0), (2, 0, 0), (0, -3, 0)])
    assert shapes["tibia_r"].triangles.tolist() == [[2, 1, 0]]  # mirrored: turned round to face outwards
    np.testing.assert_allclose(shapes["femur_r"].vertices[0], knee.translation)
    assert not [solid for solid in scene.solids if solid.kind == "stick" and scene.bodies[solid.body] in shapes]
    assert any("gone.vtp" in note for note in scene.notes)
    assert any("broken.stl" in note for note in scene.notes)


def test_markers_move_with_their_bodies(leg, run):
    scene = build_scene(leg, run, every=50)
    system = oi.System(leg)
    positions = system.marker_positions(coordinates_of(system, run, [])[::50])
    assert scene.markers
    for k, (name, body, at) in enumerate(scene.markers):
        assert name == system.marker_names[k]
        assert body != NO_BODY
        X = scene.poses[:, body]
        np.testing.assert_allclose(X[:, :3, :3] @ at + X[:, :3, 3], positions[:, k], atol=1e-12)
