"""OSIM + motion -> glTF: read back with pygltflib, nodes stand where the bodies are and tubes where the paths are."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab_files import lab_folder
from scipy.spatial.transform import Rotation

import osim_inertia as oi
from osim_inertia.inverse import coordinates_of
from osim_inertia.view.scene import build_scene

gl = pytest.importorskip("pygltflib")

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "converters" / "osim_to_gltf.py"
FLOAT32 = 5e-7  # m, or of a rotation matrix
WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
DTYPE = {gl.FLOAT: "<f4", gl.UNSIGNED_INT: "<u4", gl.UNSIGNED_SHORT: "<u2"}


def run(*words: object) -> subprocess.CompletedProcess:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Read:
    """A .glb as another program sees it."""

    def __init__(self, file: Path) -> None:
        self.gltf = gl.GLTF2().load(str(file))
        self.blob = self.gltf.binary_blob()
        self.by_name = {node.name: i for i, node in enumerate(self.gltf.nodes)}

    def values(self, accessor: int) -> np.ndarray:
        item = self.gltf.accessors[accessor]
        view = self.gltf.bufferViews[item.bufferView]
        count = item.count * WIDTH[item.type]
        data = np.frombuffer(self.blob, DTYPE[item.componentType], count, view.byteOffset)
        return data.reshape(item.count, -1)

    def keys(self, node: int, path: str) -> np.ndarray:
        """Animated values (F, k) of a node."""
        motion = self.gltf.animations[0]
        channel = next(c for c in motion.channels if (c.target.node, c.target.path) == (node, path))
        return self.values(motion.samplers[channel.sampler].output)

    def poses(self, node: int) -> np.ndarray:
        """(F, 4, 4) of an animated node in its parent."""
        pose = np.tile(np.eye(4), (len(self.keys(node, "translation")), 1, 1))
        pose[:, :3, 3] = self.keys(node, "translation")
        pose[:, :3, :3] = Rotation.from_quat(self.keys(node, "rotation")).as_matrix()
        return pose

    def skinned(self, name: str, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of a tube in ground by glTF's rule for skins, and the joint each belongs to."""
        node = next(n for n in self.gltf.nodes if n.name == name and n.skin is not None)
        skin = self.gltf.skins[node.skin]
        bind = self.values(skin.inverseBindMatrices).reshape(-1, 4, 4).swapaxes(1, 2).astype(float)
        moved = np.stack([self.poses(joint)[frame] for joint in skin.joints]) @ bind
        attributes = self.gltf.meshes[node.mesh].primitives[0].attributes
        joints, weights = self.values(attributes.JOINTS_0), self.values(attributes.WEIGHTS_0)
        positions = np.c_[self.values(attributes.POSITION), np.ones(len(joints))]
        each = np.einsum("vjab,vb->vja", moved[joints], positions)
        return np.einsum("vj,vja->va", weights, each)[:, :3], joints[:, 0]


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Path:
    return lab_folder(tmp_path_factory.mktemp("gltf"))


@pytest.fixture(scope="module")
def walked(walk) -> Read:
    done = run(walk / "model.osim", walk / "ik.mot", "-o", walk / "walk.glb")
    assert done.returncode == 0, done.stderr
    return Read(walk / "walk.glb")


@pytest.fixture(scope="module")
def truth(walk) -> tuple[oi.System, np.ndarray, oi.Table]:
    system, motion = oi.System(oi.read_osim(walk / "model.osim")), oi.read_table(walk / "ik.mot")
    return system, coordinates_of(system, motion, []), motion


def test_nodes_stand_where_the_bodies_are(walked, truth):
    system, q, motion = truth
    poses = system.body_poses(q)
    for place, name in enumerate(system.body_names):
        np.testing.assert_allclose(walked.poses(walked.by_name[name]), poses[:, place], atol=FLOAT32)
    animation = walked.gltf.animations[0]
    for sampler in animation.samplers:
        np.testing.assert_allclose(walked.values(sampler.input)[:, 0], motion.time - motion.time[0], atol=1e-6)


def test_tubes_follow_the_paths(walked, truth, walk):
    system, _, motion = truth
    scene = build_scene(system, motion)
    for place, line in enumerate(scene.lines):
        for frame in (0, 17, 40):
            vertices, joints = walked.skinned(line.name, frame)
            path = scene.path(frame, place)
            first, last = vertices[joints == 0], vertices[joints == joints.max()]
            np.testing.assert_allclose(first.mean(axis=0), path[0], atol=2e-6)
            np.testing.assert_allclose(last.mean(axis=0), path[-1], atol=2e-6)
            np.testing.assert_allclose(np.linalg.norm(first[:-1] - path[0], axis=1).max(), 0.003, rtol=1e-3)
            ring = vertices[joints == 0][:8] - path[0]  # stands across the path
            along = (path[1] - path[0]) / np.linalg.norm(path[1] - path[0])
            assert np.abs(ring @ along).max() < 1e-4


def test_mass_makes_bellies(walk, truth):
    heavy = oi.with_muscle_mass(truth[0].model, {"tibia_r": 0.4})
    oi.write_model(heavy, walk / "heavy.json")
    done = run(walk / "heavy.json", walk / "ik.mot", "--every", 10, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["instants"], report["paths"]) == (5, 3)
    read = Read(Path(report["output"]))
    for name in ("soleus_r", "gasmed_r", "tibant_r"):
        vertices, joints = read.skinned(name, 2)
        rings = [vertices[joints == k] for k in range(1, joints.max())]
        radii = [np.linalg.norm(ring - ring.mean(axis=0), axis=1).mean() for ring in rings]
        assert max(radii) > 2.0 * min(radii)


def test_model_without_motion_stands_still(walk, truth):
    assert run(walk / "model.osim").returncode == 0
    read = Read(walk / "model.glb")
    assert not read.gltf.animations
    system = truth[0]
    poses = system.body_poses(system.default_pose())[0]
    for place, name in enumerate(system.body_names):
        node = read.gltf.nodes[read.by_name[name]]
        np.testing.assert_allclose(node.translation, poses[place, :3, 3], atol=1e-12)
        np.testing.assert_allclose(Rotation.from_quat(node.rotation).as_matrix(), poses[place, :3, :3], atol=1e-9)


def test_models_with_another_vertical_are_turned_upright(walk, truth):
    model = replace(truth[0].model, gravity=(0.0, 0.0, -9.81))
    oi.write_osim(model, walk / "z.osim")
    assert run(walk / "z.osim").returncode == 0
    read = Read(walk / "z.glb")
    root = read.gltf.nodes[read.gltf.scenes[0].nodes[0]]
    np.testing.assert_allclose(Rotation.from_quat(root.rotation).apply([0, 0, 1]), [0, 1, 0], atol=1e-12)


def test_file_keeps_to_the_rules_of_gltf(walked):
    """What Khronos' specification demands of buffers, accessors, trees and animations."""
    gltf = walked.gltf
    assert gltf.buffers[0].byteLength <= len(walked.blob)
    for view in gltf.bufferViews:
        assert view.byteOffset % 4 == 0
        assert view.byteOffset + view.byteLength <= gltf.buffers[0].byteLength
    for item in gltf.accessors:
        size = np.dtype(DTYPE[item.componentType]).itemsize * WIDTH[item.type]
        assert item.count * size <= gltf.bufferViews[item.bufferView].byteLength
    for mesh in gltf.meshes:
        for primitive in mesh.primitives:
            points = gltf.accessors[primitive.attributes.POSITION]
            np.testing.assert_allclose(points.min, walked.values(primitive.attributes.POSITION).min(axis=0), rtol=1e-6)
            assert walked.values(primitive.indices).max() < points.count
            normals = walked.values(primitive.attributes.NORMAL)
            np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
    parents = [child for node in gltf.nodes for child in node.children or ()]
    assert len(parents) == len(set(parents))  # a tree
    assert set(parents) | set(gltf.scenes[0].nodes) == set(range(len(gltf.nodes)))
    for sampler in gltf.animations[0].samplers:
        assert gltf.accessors[sampler.input].count == gltf.accessors[sampler.output].count
        assert gltf.accessors[sampler.input].min == [0.0]
    for channel in gltf.animations[0].channels:
        if channel.target.path == "rotation":
            keys = walked.keys(channel.target.node, "rotation")
            np.testing.assert_allclose(np.linalg.norm(keys, axis=1), 1.0, atol=1e-6)
            assert ((keys[1:] * keys[:-1]).sum(axis=1) > 0.0).all()  # the short way between keys
    text = json.loads(gltf.to_json())
    assert all(node.get("children", True) for node in text["nodes"])  # no empty lists


def test_meshes_of_bones_come_along(shared_data, tmp_path):
    trial = shared_data / "trials" / "rajagopal_walk"
    done = run(trial / "model.osim", trial / "ik.mot", "--geometry", shared_data / "geometry", "--every", 60,
               "-o", tmp_path / "walk.glb", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["meshes"] == 17
    assert report["paths"] == 80
    read = Read(tmp_path / "walk.glb")
    femur = read.gltf.nodes[read.by_name["femur_r"]]
    names = [read.gltf.nodes[child].name for child in femur.children]
    assert "femur_r: r_femur" in names


@pytest.mark.parametrize(
    ("words", "said"),
    [(["gone.osim"], "gone.osim"), (["{walk}/model.osim", "gone.mot"], "gone.mot"),
     (["{walk}/model.osim", "-o", "{walk}/model.osim"], "replace"),
     (["{walk}/model.osim", "-o", "{walk}/nowhere/a.glb"], "nowhere"),
     (["{walk}/model.osim", "{walk}/ik.mot", "--every", "0"], "every is 0")],
)  # fmt: skip
def test_what_cannot_be_converted_is_refused_in_words(walk, words, said):
    before = sorted(walk.iterdir())
    done = run(*(word.format(walk=walk) for word in words))
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(walk.iterdir()) == before
