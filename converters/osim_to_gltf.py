# /// script
# requires-python = ">=3.10"
# dependencies = ["osim-inertia", "pygltflib>=1.16"]
#
# [tool.uv.sources]
# osim-inertia = { path = ".." }
# ///
"""OSIM + motion -> glTF: bones, muscles, wrap surfaces and markers as an animated .glb for Blender and other programs.

    MODEL.osim, MOTION.mot --osim_inertia.view.scene--> Scene --here--> OUT.glb

Every body is a node of its name; its translation and rotation are animated, one key for each instant. Bones and wrap
surfaces are meshes on these nodes. Every path is a tube on a skin: a joint at each of its points is moved and turned.
A path whose number of points changes along the motion, and a muscle with mass, has joints at fixed shares of its length
instead. All is in metres and seconds; a model whose vertical is not Y is turned upright. glTF has no names for forces,
coordinates or joints in OpenSim's sense: they are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib as gl
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import osim_inertia as oi
from osim_inertia.errors import FileError, OsimInertiaError
from osim_inertia.view.meshes import Surface
from osim_inertia.view.scene import Line, Scene, build_scene
from osim_inertia.view.shapes import ball

EXAMPLES = """examples:
  python converters/osim_to_gltf.py model.osim walk.mot                    model.glb beside the model
  python converters/osim_to_gltf.py model.osim walk.mot -o walk.glb --geometry Geometry --every 2
  python converters/osim_to_gltf.py heavy.json walk.mot -o heavy.glb       with muscle mass, of `osim-inertia convert`
"""
Array = NDArray[np.float64]
SHARES = np.linspace(0.0, 1.0, 17)  # of a path's length, where its own points will not do
BELLY = np.array([0.0, 0.03, 0.09, 0.18, 0.3, 0.42, 0.5, 0.58, 0.7, 0.82, 0.91, 0.97, 1.0])
SIDES = 8  # of a tube
TENDON, MARKER = 0.003, 0.008  # m, radii
DENSITY, STOUTEST = 1060.0, 0.3  # kg/m³; largest radius of a belly over its length
COLOURS = {"mesh": (0.9, 0.86, 0.76, 1.0), "stick": (0.85, 0.8, 0.7, 1.0), "wrap": (0.3, 0.6, 0.85, 0.3),
           "marker": (0.85, 0.25, 0.6, 1.0), "path": (1.0, 1.0, 1.0, 1.0)}  # fmt: skip
MUSCLE, FLESH, PALE, OTHER = (0.8, 0.2, 0.16), (0.75, 0.16, 0.12), (0.95, 0.92, 0.85), (0.5, 0.45, 0.7)
TYPES = {1: gl.SCALAR, 2: gl.VEC2, 3: gl.VEC3, 4: gl.VEC4, 16: gl.MAT4}
KINDS = {"f4": gl.FLOAT, "u4": gl.UNSIGNED_INT, "u2": gl.UNSIGNED_SHORT}


class Document:
    """A glTF document and its one buffer while it is being filled."""

    def __init__(self) -> None:
        self.gltf = gl.GLTF2(asset=gl.Asset(version="2.0", generator=f"osim-inertia {oi.__version__}"))
        self.data = bytearray()
        self.materials: dict[str, int] = {}

    def array(self, values: NDArray[Any], dtype: str, target: int | None = None, bounds: bool = False) -> int:
        """Store numbers (n,) or (n, k); the accessor's number."""
        values = np.ascontiguousarray(values, dtype="<" + dtype)
        self.data += b"\0" * (-len(self.data) % 4)
        view = gl.BufferView(buffer=0, byteOffset=len(self.data), byteLength=values.nbytes, target=target)
        self.data += values.tobytes()
        self.gltf.bufferViews.append(view)
        rows = values.reshape(len(values), -1)
        accessor = gl.Accessor(bufferView=len(self.gltf.bufferViews) - 1, componentType=KINDS[dtype],
                               count=len(values), type=TYPES[rows.shape[1]])  # fmt: skip
        if bounds:
            accessor.min, accessor.max = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self.gltf.accessors.append(accessor)
        return len(self.gltf.accessors) - 1

    def node(self, **fields: Any) -> int:
        """Add a node; its number."""
        self.gltf.nodes.append(gl.Node(**fields))
        return len(self.gltf.nodes) - 1

    def material(self, kind: str) -> int:
        """The material of a kind of thing."""
        if kind not in self.materials:
            colour = COLOURS[kind]
            look = gl.PbrMetallicRoughness(baseColorFactor=list(colour), metallicFactor=0.0, roughnessFactor=0.6)
            mode = gl.BLEND if colour[3] < 1.0 else gl.OPAQUE
            self.gltf.materials.append(gl.Material(name=kind, pbrMetallicRoughness=look, alphaMode=mode,
                                                   alphaCutoff=None, doubleSided=True))  # fmt: skip
            self.materials[kind] = len(self.gltf.materials) - 1
        return self.materials[kind]

    def mesh(self, name: str, surface: Surface, kind: str, **more: int) -> int:
        """A mesh with smooth normals; `more` are further attributes."""
        attributes = gl.Attributes(POSITION=self.array(surface.vertices, "f4", gl.ARRAY_BUFFER, bounds=True),
                                   NORMAL=self.array(normals(surface), "f4", gl.ARRAY_BUFFER), **more)  # fmt: skip
        indices = self.array(surface.triangles.ravel(), "u4", gl.ELEMENT_ARRAY_BUFFER)
        primitive = gl.Primitive(attributes=attributes, indices=indices, material=self.material(kind))
        self.gltf.meshes.append(gl.Mesh(name=name, primitives=[primitive]))
        return len(self.gltf.meshes) - 1

    def saved(self) -> bytes:
        """The .glb."""
        self.gltf.buffers = [gl.Buffer(byteLength=len(self.data))]
        self.gltf.set_binary_blob(bytes(self.data))
        return b"".join(self.gltf.save_to_bytes())


class Motion:
    """The animation: keys of all nodes at the same times."""

    def __init__(self, document: Document, time: Array) -> None:
        self.document = document
        self.animation = gl.Animation(name="motion")
        self.times = document.array(time - time[0], "f4", bounds=True) if len(time) > 1 else None

    def move(self, node: int, path: str, values: Array) -> None:
        """Set translation or rotation of a node at the first instant, and its keys (F, 3 or 4) if it moves."""
        setattr(self.document.gltf.nodes[node], path, values[0].tolist())
        if self.times is None:
            return
        sampler = gl.AnimationSampler(input=self.times, output=self.document.array(values, "f4"),
                                      interpolation=gl.ANIM_LINEAR)  # fmt: skip
        self.animation.samplers.append(sampler)
        target = gl.AnimationChannelTarget(node=node, path=path)
        self.animation.channels.append(gl.AnimationChannel(sampler=len(self.animation.samplers) - 1, target=target))

    def finish(self) -> None:
        """Add the animation to the document, if anything moves."""
        if self.animation.channels:
            self.document.gltf.animations.append(self.animation)


def convert(scene: Scene) -> bytes:
    """The scene as a .glb."""
    document = Document()
    motion = Motion(document, scene.time)
    upright = Rotation.align_vectors([[0.0, 1.0, 0.0]], [scene.up])[0].as_quat()
    bodies = [document.node(name=name, children=[]) for name in scene.bodies]
    for place, node in enumerate(bodies):
        motion.move(node, "translation", scene.poses[:, place, :3, 3])
        motion.move(node, "rotation", steady(Rotation.from_matrix(scene.poses[:, place, :3, :3]).as_quat()))
    loose = add_solids(document, scene, bodies)
    paths = [node for place in range(len(scene.lines)) for node in add_path(document, motion, scene, place)]
    motion.finish()
    held = document.node(name="paths", children=paths)
    root = document.node(name=scene.title, children=[*bodies, *loose, held], rotation=upright.tolist())
    document.gltf.scenes = [gl.Scene(name=scene.title, nodes=[root])]
    document.gltf.scene = 0
    return document.saved()


def add_solids(document: Document, scene: Scene, bodies: list[int]) -> list[int]:
    """Bones, wraps and markers on the nodes of their bodies; those on ground are returned."""
    loose = []
    shapes = [(solid.name + (f": stick {k}" if solid.kind == "stick" else ""), solid.kind, solid.body, solid.surface)
              for k, solid in enumerate(scene.solids)]  # fmt: skip
    sphere = ball()
    shapes += [(name, "marker", body, Surface(at + MARKER * sphere.vertices, sphere.triangles))
               for name, body, at in scene.markers]  # fmt: skip
    for name, kind, body, surface in shapes:
        node = document.node(name=name, mesh=document.mesh(name, surface, kind))
        if body < 0:
            loose.append(node)
        else:
            document.gltf.nodes[bodies[body]].children.append(node)
    return loose


# ---- paths ----------------------------------------------------------------------------------------------------------
def add_path(document: Document, motion: Motion, scene: Scene, place: int) -> list[int]:
    """A tube on a skin; the nodes it brings along: the mesh and its joints."""
    line = scene.lines[place]
    points, radius, fleshy = followed(scene, place)
    if points.shape[1] < 2:
        return []
    tangents = directions(points)
    joints = []
    for k in range(points.shape[1]):
        joint = document.node(name=f"{line.name}_{k}")
        motion.move(joint, "translation", points[:, k])
        motion.move(joint, "rotation", steady(turns(tangents[0, k], tangents[:, k])))
        joints.append(joint)
    bind = np.tile(np.eye(4), (len(joints), 1, 1))
    bind[:, 3, :3] = -points[0]  # glTF writes matrices column by column
    skin = gl.Skin(name=line.name, joints=joints, inverseBindMatrices=document.array(bind.reshape(-1, 16), "f4"))
    document.gltf.skins.append(skin)
    surface, ring = tube(points[0], tangents[0], radius)
    weights = np.zeros((len(ring), 4))
    weights[:, 0] = 1.0
    places = np.zeros((len(ring), 4))
    places[:, 0] = ring
    plain = OTHER if line.kind == "other" else PALE if fleshy.any() else MUSCLE
    colours = np.where(fleshy[ring][:, None], FLESH, plain)
    mesh = document.mesh(line.name, surface, "path", COLOR_0=document.array(colours, "f4", gl.ARRAY_BUFFER),
                         JOINTS_0=document.array(places, "u2", gl.ARRAY_BUFFER),
                         WEIGHTS_0=document.array(weights, "f4", gl.ARRAY_BUFFER))  # fmt: skip
    return [document.node(name=line.name, mesh=mesh, skin=len(document.gltf.skins) - 1), *joints]


def followed(scene: Scene, place: int) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Points (F, k, 3) that a tube follows, its radius at each, and where there is flesh."""
    line, frames = scene.lines[place], range(len(scene.time))
    paths = [scene.path(frame, place) for frame in frames]
    same = len({len(path) for path in paths}) == 1
    if same and not line.mass:
        points = np.stack(paths)
        return points, np.full(points.shape[1], TENDON), np.zeros(points.shape[1], dtype=bool)
    if min(len(path) for path in paths) < 2:
        return np.empty((len(paths), 0, 3)), np.empty(0), np.empty(0, dtype=bool)
    length = np.array([np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in paths])
    start, end = belly(line, float(length[0]))
    shares = np.unique(np.concatenate([SHARES, start + BELLY * (end - start)]) if line.mass else SHARES)
    points = np.stack([at_shares(path, shares) for path in paths])
    fleshy = (shares >= start) & (shares <= end) if line.mass else np.zeros(len(shares), dtype=bool)
    radius = np.full(len(shares), TENDON)
    if line.mass:
        span = (end - start) * float(length.mean())
        most = STOUTEST * span + TENDON
        thick = most * np.tanh(np.sqrt(line.mass / (DENSITY * np.pi * span)) / most)
        x = (shares[fleshy] - start) / (end - start)
        radius[fleshy] = np.maximum(TENDON, thick * np.sqrt((1.0 - np.abs(2.0 * x - 1.0) ** 3) / 0.75))
    return points, radius, fleshy


def belly(line: Line, length: float) -> tuple[float, float]:
    """Where the mass is, as shares of the path; rigid tendons as in the first instant."""
    if sum(line.tendons) > 0.0:
        return line.tendons[0] / length, 1.0 - line.tendons[1] / length
    return line.belly


def at_shares(path: Array, shares: Array) -> Array:
    """Points at shares of the length of a polyline."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    return np.stack([np.interp(shares * way[-1], way, path[:, i]) for i in range(3)], axis=1)


def directions(points: Array) -> Array:
    """Unit tangents (F, k, 3), at a bend the mean of both sides."""
    steps = np.diff(points, axis=1)
    size = np.linalg.norm(steps, axis=2, keepdims=True)
    steps = np.where(size > 1e-9, steps / np.maximum(size, 1e-9), 0.0)
    around = np.concatenate([steps[:, :1], steps[:, :-1] + steps[:, 1:], steps[:, -1:]], axis=1)
    size = np.linalg.norm(around, axis=2, keepdims=True)
    return np.where(size > 1e-9, around / np.maximum(size, 1e-9), [0.0, 1.0, 0.0])


def turns(first: Array, then: Array) -> Array:
    """Quaternions (F, 4), x y z w, of the shortest turns from one direction to others (F, 3)."""
    cosine = then @ first
    axis = np.cross(first, then)
    across = np.cross(first, np.eye(3)[np.argmin(np.abs(first))])
    axis = np.where((cosine < -1.0 + 1e-9)[:, None], across / np.linalg.norm(across), axis)
    turned = np.concatenate([axis, np.maximum(1.0 + cosine, 0.0)[:, None]], axis=1)
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def steady(quaternions: Array) -> Array:
    """The same rotations with signs that do not jump, so that what lies between two keys is the short way."""
    flips = np.sign((quaternions[1:] * quaternions[:-1]).sum(axis=1))
    return quaternions * np.concatenate([[1.0], np.cumprod(np.where(flips < 0.0, -1.0, 1.0))])[:, None]


def tube(points: Array, tangents: Array, radius: Array) -> tuple[Surface, NDArray[np.int64]]:
    """A tube around points (k, 3) with closed ends, and for each vertex the point it belongs to."""
    across = np.cross(tangents, np.eye(3)[np.argmin(np.abs(tangents), axis=1)])
    for k in range(1, len(points)):  # no twist from ring to ring
        carried = across[k - 1] - tangents[k] * (across[k - 1] @ tangents[k])
        across[k] = carried if np.linalg.norm(carried) > 1e-6 else across[k]
        across[k] /= np.linalg.norm(across[k])
    across[0] /= np.linalg.norm(across[0])
    up = np.cross(tangents, across)
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    rings = across[:, None] * np.cos(angle)[:, None] + up[:, None] * np.sin(angle)[:, None]
    vertices = np.concatenate([(points[:, None] + radius[:, None, None] * rings).reshape(-1, 3), points[[0, -1]]])
    place = np.arange(len(points) * SIDES).reshape(len(points), SIDES)
    a, b = place[:-1], place[1:]
    sides = [np.stack([a, np.roll(a, -1, 1), np.roll(b, -1, 1)], 2), np.stack([a, np.roll(b, -1, 1), b], 2)]
    first, last = np.full(SIDES, len(vertices) - 2), np.full(SIDES, len(vertices) - 1)
    caps = [np.stack([first, np.roll(place[0], -1), place[0]], 1),
            np.stack([last, place[-1], np.roll(place[-1], -1)], 1)]  # fmt: skip
    triangles = np.concatenate([*(side.reshape(-1, 3) for side in sides), *caps])
    owner = np.concatenate([np.repeat(np.arange(len(points)), SIDES), [0, len(points) - 1]])
    return Surface(vertices, triangles), owner


def normals(surface: Surface) -> Array:
    """Unit normals (n, 3) at the vertices: of the triangles around, by their area."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    found = np.zeros_like(surface.vertices)
    for k in range(3):
        np.add.at(found, surface.triangles[:, k], np.cross(b - a, c - a))
    size = np.linalg.norm(found, axis=1, keepdims=True)
    return np.where(size > 0.0, found / np.where(size > 0.0, size, 1.0), [0.0, 1.0, 0.0])


# ---- command line ---------------------------------------------------------------------------------------------------
def main(arguments: list[str] | None = None) -> int:
    """Convert one model; 0 if it is written, 1 with a message if not."""
    parser = argparse.ArgumentParser(description="Convert an OpenSim model and a motion to an animated glTF file.",
                                     epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the model (.osim, or .json of `osim-inertia convert`)")
    parser.add_argument("motion", type=Path, nargs="?", help="coordinates over time (.mot, .sto)")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.glb", help="default: beside the model")
    parser.add_argument("--geometry", type=Path, action="append", default=[], metavar="FOLDER",
                        help="look for meshes here, too")  # fmt: skip
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every N-th instant of the motion")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    options = parser.parse_args(arguments)
    output = options.output or options.model.with_suffix(".glb")
    try:
        if output.resolve() in {path.resolve() for path in (options.model, options.motion) if path}:
            raise FileError("The result would replace its own source.", file=output, to_do="give another name")
        is_json = options.model.suffix.lower() == ".json"
        model = oi.read_model(options.model) if is_json else oi.read_osim(options.model)
        table = oi.read_table(options.motion) if options.motion else None
        scene = build_scene(model, table, geometry=options.geometry, every=options.every)
        write(output, convert(scene))
    except (OsimInertiaError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    report = {"output": str(output), "bodies": len(scene.bodies), "instants": len(scene.time),
              "meshes": sum(solid.kind == "mesh" for solid in scene.solids), "paths": len(scene.lines),
              "bytes": output.stat().st_size, "notes": list(scene.notes)}  # fmt: skip
    if options.json:
        print(json.dumps(report, indent=1, ensure_ascii=False))
        return 0
    for note in scene.notes:
        print(f"note: {note}", file=sys.stderr)
    print(f"{output}: {report['bodies']} bodies ({report['meshes']} meshes), {report['paths']} paths, "
          f"{report['instants']} instants, {report['bytes'] / 1e6:.1f} MB")  # fmt: skip
    return 0


def write(path: Path, data: bytes) -> None:
    """All of it or nothing."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as error:
        raise FileError(f"The file cannot be written: {error.strerror or error}.", file=path,
                        found=f"folder {path.parent}") from None


if __name__ == "__main__":
    sys.exit(main())
