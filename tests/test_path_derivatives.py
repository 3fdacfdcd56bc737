"""Slopes of path lengths against differences of the lengths, and what makes a path the shortest one."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import DATA, Oracle
from scipy.spatial.transform import Rotation

import osim_inertia as oi
from osim_inertia.inverse import kinematics_of
from osim_inertia.model.paths import WrapCylinder, WrapEllipsoid, WrapObject
from osim_inertia.path_shape import PathContacts

SLOPE = 1e-6
STEP = 1e-5  # rad or m
CONTACT_SLOPE = 1e-9
TANGENT = 1e-9
NEVER_LONGER = 1e-9  # m
CHORDS = 2e-6  # m: OpenSim measures an ellipsoid's arc by chords of about 1 mm, which is too short by this much
WRAPPED_TRIALS = ["arm26_elbow_flex", "rajagopal_run", "rajagopal_walk"]


def with_steps(q: np.ndarray, c: int, step: float) -> np.ndarray:
    moved = q.copy()
    moved[:, c] += step
    return moved


@pytest.mark.parametrize("paths", ["opensim", "shortest"])
def test_moment_arms_are_differences_of_lengths(oracle: Oracle, paths):
    system, q = oracle.system, oracle.by_coordinate("q")
    if not system.path_names:
        return
    arms = system.moment_arms(q, paths=paths)
    here = system.path_lengths(q, paths=paths)
    switches = 0
    for c in range(system.n):
        after, before = (system.path_lengths(with_steps(q, c, step), paths=paths) for step in (STEP, -STEP))
        smooth = np.abs(after - 2.0 * here + before) < 1e-3 * STEP  # no kink or jump within the step
        switches += (~smooth).sum()
        slope = (after - before) / (2.0 * STEP)
        assert np.abs((slope + arms[..., c])[smooth]).max(initial=0.0) < SLOPE, system.coordinate_names[c]
    assert switches <= 2e-3 * arms.size


@pytest.mark.parametrize("paths", ["opensim", "shortest"])
def test_speeds_are_differences_of_lengths_along_the_motion(oracle: Oracle, paths):
    system = oracle.system
    q, u = oracle.by_coordinate("q"), oracle.by_coordinate("u")
    if not system.path_names:
        return
    qdot = system.qdot(q, u)
    after, here, before = (system.path_lengths(q + step * qdot, paths=paths) for step in (STEP, 0.0, -STEP))
    smooth = np.abs(after - 2.0 * here + before) < 1e-3 * STEP
    off = (after - before) / (2.0 * STEP) - system.path_speeds(q, u, paths=paths)
    assert np.abs(off[smooth]).max() < 10 * SLOPE * np.abs(u).max()
    assert smooth.mean() > 0.95


def trial_motion(trial: str) -> tuple[oi.System, np.ndarray]:
    folder = DATA / "trials" / trial
    system = oi.System(oi.read_osim(folder / "model.osim"))
    return system, kinematics_of(system, oi.read_table(folder / "ik.mot")).q


def wrapped_paths(system: oi.System) -> list[str]:
    return [force.name for force in system.model.path_forces if force.geometry.wraps]


def through_contacts(path: PathContacts) -> float:
    """Length of the path through its present contacts."""
    total = float(path.arcs.sum())
    for k in range(len(path.nodes) - 1):
        here = path.nodes[k]
        for points, after in zip(path.points, path.after):
            if after == k:
                total += float(np.linalg.norm(points[0] - here))
                here = points[1]
        total += float(np.linalg.norm(path.nodes[k + 1] - here))
    return total


@pytest.mark.parametrize("trial", WRAPPED_TRIALS)
def test_shortest_path_is_never_longer_than_through_opensims_contacts(shared_data, trial):
    system, q = trial_motion(trial)
    q = q[::5]
    chorded = {w.name for w in system.model.wrap_objects if isinstance(w, WrapEllipsoid)}
    compared = 0
    for name in wrapped_paths(system):
        both = zip(system.path_contacts(q, name), system.path_contacts(q, name, paths="shortest"))
        for theirs, ours in both:
            if theirs.wraps == ours.wraps and theirs.after == ours.after:
                slack = NEVER_LONGER + (CHORDS if chorded & set(ours.wraps) else 0.0)
                assert ours.length <= through_contacts(theirs) + slack, name
                compared += bool(ours.wraps)
    assert compared > 50


def in_object(system: oi.System, item: WrapObject, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Origin and axes of a wrap object in ground at one pose."""
    turn = Rotation.from_euler("XYZ", item.rotation).as_matrix()
    origin = np.array(item.translation)
    ends = [system.point_motion(item.frame, origin + axis, q)[0][0] for axis in turn.T]
    start = system.point_motion(item.frame, origin, q)[0][0]
    return start, np.array(ends).T - start[:, None]


def outward(item: WrapObject, x: np.ndarray) -> np.ndarray:
    """Unit normal of the surface at x, in the frame of the object."""
    if isinstance(item, WrapCylinder):
        normal = np.array([x[0], x[1], 0.0])
    elif isinstance(item, WrapEllipsoid):
        normal = x / np.array(item.dimensions) ** 2
    else:
        normal = x
    return normal / np.linalg.norm(normal)


@pytest.mark.parametrize("trial", WRAPPED_TRIALS)
def test_shortest_path_touches_every_object_without_a_kink(shared_data, trial):
    system, q = trial_motion(trial)
    objects = {item.name: item for item in system.model.wrap_objects}
    checked = 0
    for name in wrapped_paths(system):
        for instant in q[::60]:
            path = system.path_contacts(instant, name, paths="shortest")[0]
            for k, wrap in enumerate(path.wraps):
                item = objects[wrap]
                origin, axes = in_object(system, item, instant)
                first = k == 0 or path.after[k - 1] != path.after[k]
                last = k + 1 == len(path.wraps) or path.after[k + 1] != path.after[k]
                start = path.nodes[path.after[k]] if first else path.points[k - 1, 1]
                stop = path.nodes[path.after[k] + 1] if last else path.points[k + 1, 0]
                lines = path.points[k, 0] - start, stop - path.points[k, 1]
                for line, contact in zip(lines, path.points[k]):
                    direction = axes.T @ line / np.linalg.norm(line)
                    x = axes.T @ (contact - origin)
                    assert abs(direction @ outward(item, x)) < TANGENT
                    if isinstance(item, WrapCylinder) and path.arcs[k] > 1e-3:  # a helix climbs as its tangents do
                        climb = axes[:, 2] @ (path.points[k, 1] - path.points[k, 0]) / path.arcs[k]
                        assert climb == pytest.approx(direction[2], abs=TANGENT)
                    checked += 1
    assert checked > 10


@pytest.mark.parametrize("trial", WRAPPED_TRIALS)
def test_slopes_from_contact_forces_are_those_of_the_shortest_length(shared_data, trial):
    """Differences of fourth order with two steps; where the two disagree a wrap comes or goes within the step."""
    system, q = trial_motion(trial)
    q = q[::50]
    arms = system.moment_arms(q, paths="shortest")
    switches = 0
    for c in np.flatnonzero(system.paths.arrays.moves.any(axis=0)):

        def slope(h, c=c):
            a, b, d, e = (system.path_lengths(with_steps(q, c, k * h), paths="shortest") for k in (-2, -1, 1, 2))
            return (a - 8.0 * b + 8.0 * d - e) / (12.0 * h)

        wide, narrow = slope(2e-4), slope(1e-4)
        smooth = np.abs(wide - narrow) < 5e-10
        switches += (~smooth).sum()
        np.testing.assert_allclose(-arms[..., c][smooth], narrow[smooth], rtol=0, atol=CONTACT_SLOPE)
    assert switches <= 1e-3 * arms.size


def test_couplers_add_the_share_of_the_coordinates_that_follow(shared_data):
    """Rajagopal's knee: the patella coordinate is a function of the knee angle."""
    system = oi.System(oi.read_osim(shared_data / "models" / "Rajagopal" / "Rajagopal2016.osim"))
    q = np.tile(system.default_pose(), (5, 1))
    knee = system.coordinate_names.index("knee_angle_r")
    q[:, knee] = [0.2, 0.5, 0.9, 1.2, 1.6]
    q = system.constraints.project_q(q)

    def constrained(step):
        return system.path_lengths(system.constraints.project_q(with_steps(q, knee, step)), paths="shortest")

    slope = (constrained(STEP) - constrained(-STEP)) / (2.0 * STEP)
    arms = system.moment_arms(q, paths="shortest", couplers=True)[..., knee]
    alone = system.moment_arms(q, paths="shortest")[..., knee]
    np.testing.assert_allclose(-arms, slope, rtol=0, atol=SLOPE)
    assert np.abs(arms - alone).max() > 0.01  # the vasti pull on the patella


def test_unknown_solver_and_unknown_path_are_refused(shared_data):
    system = oi.System(oi.read_osim(shared_data / "models" / "Arm26" / "arm26.osim"))
    with pytest.raises(ValueError, match="expected one of opensim, shortest"):
        system.path_lengths(system.default_pose(), paths="longest")
    with pytest.raises(KeyError, match="no path 'triceps'"):
        system.path_points(system.default_pose(), "triceps")
