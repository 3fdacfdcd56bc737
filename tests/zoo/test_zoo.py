"""Every model of the zoo moves and weighs what it does in OpenSim, asked live."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import osim_inertia as oi

HERE = Path(__file__).resolve().parent
ZOO = HERE.parents[1] / "models" / "zoo"
FILES = sorted(path.name for path in ZOO.glob("*.osim"))
POSE_TOLERANCE = 1e-10  # m and 1: both sides compute the same products of rotations
RELATIVE_TOLERANCE = 1e-9  # of the largest entry: sums over bodies in another order

sys.path.insert(0, str(HERE))
import live_opensim  # noqa: E402

needs_opensim = pytest.mark.skipif(
    importlib.util.find_spec("opensim") is None or not (live_opensim.TOOLS / "make_oracle.py").exists(),
    reason="needs the opensim package and shared/tools/make_oracle.py",
)


@cache
def all_answers() -> dict[str, dict[str, Any]]:
    return live_opensim.answers([ZOO / name for name in FILES])


@cache
def system_of(name: str) -> oi.System:
    return oi.System(oi.read_osim(ZOO / name), like_opensim=True)


def poses_of(name: str) -> tuple[list[dict[str, Any]], np.ndarray, np.ndarray, np.ndarray]:
    """OpenSim's poses, and their q, u, udot (F, n) in the system's order."""
    poses, names = all_answers()[name]["poses"], system_of(name).coordinate_names
    q, u, udot = (np.array([[pose[key][c] for c in names] for pose in poses]) for key in ("q", "u", "udot"))
    return poses, q, u, udot


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=RELATIVE_TOLERANCE * scale)


def test_the_committed_files_are_what_the_generator_writes():
    sys.path.insert(0, str(ZOO))
    from generate_zoo import documents

    texts = documents()
    assert sorted(texts) == FILES
    different = [name for name, text in texts.items() if (ZOO / name).read_text(encoding="utf-8") != text]
    assert different == []


@needs_opensim
@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_coordinates_are_in_opensims_order(name):
    assert list(system_of(name).coordinate_names) == all_answers()[name]["order"]


@needs_opensim
@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_bodies_are_where_opensim_puts_them_and_move_alike(name):
    system = system_of(name)
    poses, q, u, _ = poses_of(name)
    rows = [[pose["bodies"][body] for body in system.body_names] for pose in poses]
    X, V = system.body_poses(q), system.body_velocities(q, u)
    position = np.array([[body["p"] for body in row] for row in rows])
    rotation = np.array([[body["R"] for body in row] for row in rows])
    twist = np.array([[body["w"] + body["v"] for body in row] for row in rows])
    np.testing.assert_allclose(X[..., :3, 3], position, rtol=0.0, atol=POSE_TOLERANCE)
    np.testing.assert_allclose(X[..., :3, :3], rotation, rtol=0.0, atol=POSE_TOLERANCE)
    assert_close(V, twist)


@needs_opensim
@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_mass_matrix_and_inverse_dynamics_are_opensims(name):
    system = system_of(name)
    poses, q, u, udot = poses_of(name)
    assert_close(system.mass_matrix(q), np.array([pose["mass_matrix"] for pose in poses]))
    tau = np.array([[pose["id_gravity"][c] for c in system.coordinate_names] for pose in poses])
    assert_close(system.inverse_dynamics(q, u, udot), tau)


@needs_opensim
@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_mass_centre_and_markers_are_where_opensim_has_them(name):
    system = system_of(name)
    poses, q, _, _ = poses_of(name)
    assert_close(system.center_of_mass(q), np.array([pose["com"] for pose in poses]))
    markers = [[pose["markers"][marker] for marker in system.marker_names] for pose in poses]
    assert_close(system.marker_positions(q), np.array(markers).reshape(len(poses), -1, 3))


@needs_opensim
@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_coordinates_have_opensims_properties(name):
    theirs = all_answers()[name]["coordinates"]
    for c in system_of(name).model.coordinates:
        expected = theirs[c.name]
        assert c.motion_type == expected["motion"]
        assert (c.default_value, list(c.range), c.locked) == (
            expected["default"], expected["range"], expected["locked"])  # fmt: skip
