"""Meshes of a model as the reader finds them: the same files, scales and frames as OpenSim's own reader."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.model.frames import Mesh

ROOT = Path(__file__).resolve().parents[2]
OLD = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="30000"><Model name="old"><BodySet><objects>
<Body name="ground"><mass>0</mass><VisibleObject><GeometrySet><objects><DisplayGeometry>
  <geometry_file>floor.vtp</geometry_file></DisplayGeometry></objects></GeometrySet></VisibleObject></Body>
<Body name="rod"><mass>1</mass><mass_center>0 0.1 0</mass_center>
<inertia_xx>0.1</inertia_xx><inertia_yy>0.1</inertia_yy><inertia_zz>0.1</inertia_zz>
<inertia_xy>0</inertia_xy><inertia_xz>0</inertia_xz><inertia_yz>0</inertia_yz>
<Joint><PinJoint name="pin"><parent_body>ground</parent_body><location_in_parent>0 1 0</location_in_parent>
<orientation_in_parent>0 0 0</orientation_in_parent><location>0 0 0</location><orientation>0 0 0</orientation>
<CoordinateSet><objects><Coordinate name="angle"/></objects></CoordinateSet></PinJoint></Joint>
<VisibleObject name=""><GeometrySet name=""><objects>
<DisplayGeometry><geometry_file>plain.vtp</geometry_file><scale_factors>1 2 3</scale_factors></DisplayGeometry>
<DisplayGeometry><geometry_file>moved.vtp</geometry_file><transform>0.1 -0.2 0.3 0.01 0.02 0.03</transform>
<scale_factors>0.5 0.5 2</scale_factors></DisplayGeometry>
</objects></GeometrySet><scale_factors>2 1 1.5</scale_factors>{outer}</VisibleObject></Body>
</objects></BodySet></Model></OpenSimDocument>
"""
OUTER = "<transform>-0.3 0.4 0.2 0.3 0.2 0.1</transform>"


def meshes(model: oi.Model) -> list[tuple[str, str, tuple[float, ...]]]:
    """Frame, file and scale of every mesh."""
    holders = [("/ground", model.ground_meshes), *((body.path, body.meshes) for body in model.bodies)]
    holders += [(frame.path, getattr(frame, "meshes", ())) for frame in model.frames]
    return sorted((path, mesh.file, mesh.scale) for path, held in holders for mesh in held)


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # OpenSim writes a log into its working folder


def opensim_meshes(file: Path) -> list[tuple[str, str, tuple[float, ...]]]:
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("Off")
    model = opensim.Model(str(file))
    model.finalizeConnections()
    found = []
    for component in model.getComponentsList():
        mesh = opensim.Mesh.safeDownCast(component)
        if mesh is not None and mesh.get_mesh_file() != "Unassigned":
            scale = mesh.get_scale_factors()
            path = mesh.getFrame().getAbsolutePathString()
            found.append((path, mesh.get_mesh_file(), tuple(scale.get(i) for i in range(3))))
    return sorted(found)


@pytest.mark.oracle
def test_meshes_are_those_opensim_reads(shared_data):
    files = [*sorted((shared_data / "models").rglob("*.osim")), *sorted((shared_data / "trials").glob("*/model.osim"))]
    total = 0
    for file in files:
        ours, theirs = meshes(oi.read_osim(file)), opensim_meshes(file)
        assert [item[:2] for item in ours] == [item[:2] for item in theirs], file.name
        for (_, _, a), (_, _, b) in zip(ours, theirs):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        total += len(ours)
    assert total > 500


@pytest.mark.oracle
@pytest.mark.parametrize("outer", ["", OUTER])
def test_old_documents_place_meshes_as_opensim_does(tmp_path, outer):
    file = tmp_path / "old.osim"
    file.write_text(OLD.format(outer=outer))
    model = oi.read_osim(file)
    ours, theirs = meshes(model), opensim_meshes(file)
    assert [item[:2] for item in ours] == [item[:2] for item in theirs]
    for (_, _, a), (_, _, b) in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-5)  # OpenSim rounds to six digits
    opensim = pytest.importorskip("opensim")
    old = opensim.Model(str(file))
    state = old.initSystem()
    system = oi.System(model)
    for path, _, _ in ours:
        frame = opensim.PhysicalFrame.safeDownCast(old.getComponent(path))
        for corner in np.eye(3):
            there = frame.findStationLocationInGround(state, opensim.Vec3(*corner))
            here = system.point_motion(path, corner, system.default_pose())[0][0]
            np.testing.assert_allclose(here, [there.get(i) for i in range(3)], atol=3e-6)  # six digits again


def test_meshes_survive_both_ways_of_writing(tmp_path):
    (tmp_path / "old.osim").write_text(OLD.format(outer=OUTER))
    model = oi.read_osim(tmp_path / "old.osim")
    assert Mesh(file="floor.vtp") in model.ground_meshes
    oi.write_osim(model, tmp_path / "new.osim")
    assert meshes(oi.read_osim(tmp_path / "new.osim")) == meshes(model)
    oi.write_model(model, tmp_path / "new.json")
    assert meshes(oi.read_model(tmp_path / "new.json")) == meshes(model)


def test_damaged_display_numbers_of_old_documents_do_no_harm(tmp_path):
    text = re.sub("1 2 3", "1 two", OLD.format(outer="<transform>1 2</transform>"))
    (tmp_path / "old.osim").write_text(text)
    found = {file: scale for _, file, scale in meshes(oi.read_osim(tmp_path / "old.osim"))}
    assert found["plain.vtp"] == (2.0, 1.0, 1.5)
