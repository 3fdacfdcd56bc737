"""What there is to see: Model and motion -> Scene, all numbers and no drawing.

    Model, Table --scene--> Scene --page--> .html
                      ^ here
Bones, wrap surfaces and markers are fixed in bodies and move with their poses; paths are polylines in ground, one per
frame, because they slide over wraps and gain and lose points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from osim_inertia.compiled.frames import rotation_xyz
from osim_inertia.errors import FileError, ModelError
from osim_inertia.inverse import coordinates_of
from osim_inertia.model.forces import Muscle, PathForce
from osim_inertia.model.frames import GROUND, Mesh
from osim_inertia.model.model import Model
from osim_inertia.model.muscle_mass import MassiveMuscle
from osim_inertia.model.paths import FunctionBasedPath, GeometryPath, PathPoint
from osim_inertia.model.tree import spanning_tree
from osim_inertia.system import System
from osim_inertia.tables.table import Table
from osim_inertia.view.meshes import Surface, find_mesh, read_mesh
from osim_inertia.view.shapes import stick, wrap_surface

Array = NDArray[np.float64]
ON_ARC = 9  # points drawn along each arc
THINNEST, THICKEST = 0.004, 0.012  # m, radius of a stick
SLENDERNESS = 0.035  # radius of a stick over its length
SHORTEST = 1e-3  # m: a mass centre nearer to the joint than this tells no direction
NO_BODY = -1  # ground
NAMED = 6  # of a list in a note


@dataclass(frozen=True, eq=False)
class Solid:
    """A surface fixed in a body."""

    name: str
    kind: str  # mesh, stick or wrap
    body: int  # place in Scene.bodies, or NO_BODY
    surface: Surface  # in the body frame


@dataclass(frozen=True)
class Line:
    """A muscle, or another force along a path. Belly and mass are those of muscles that have mass."""

    name: str
    kind: str  # muscle or other
    mass: float = 0.0  # kg
    belly: tuple[float, float] = (0.0, 1.0)  # shares of the path, where tendons are zero
    tendons: tuple[float, float] = (0.0, 0.0)  # m; if not zero, the belly is what lies between them


@dataclass(frozen=True, eq=False)
class Scene:
    """F frames of B bodies and P paths, in ground: m, kg, s."""

    title: str
    time: Array  # (F,)
    bodies: tuple[str, ...]  # B
    poses: Array  # (F, B, 4, 4)
    solids: tuple[Solid, ...]
    lines: tuple[Line, ...]  # P
    counts: NDArray[np.int64]  # (F, P) points of each path in each frame
    points: Array  # (counts.sum(), 3) frame by frame, path by path
    markers: tuple[tuple[str, int, Array], ...]  # name, body, location in the body
    up: Array  # (3,) against gravity
    notes: tuple[str, ...] = ()

    def path(self, frame: int, line: int) -> Array:
        """The polyline (k, 3) of one path in one frame."""
        end = self._ends[frame, line]
        return self.points[end - self.counts[frame, line] : end]

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.counts).reshape(self.counts.shape)


def build_scene(
    model: Model | System, motion: Table | None = None, *, geometry: Sequence[Path] = (), every: int = 1
) -> Scene:
    """The scene of a model in its default pose, or along a motion, of which every n-th row is taken.

    Meshes are looked for beside the model, in its Geometry folder and in `geometry`; bodies of which none is found are
    drawn as sticks, and `notes` names what is missing. Poses are put on the model's constraints, as OpenSim does.
    """
    system = model if isinstance(model, System) else System(model)
    notes: list[str] = []
    time, q = _poses(system, motion, every, notes)
    lines, counts, points = _paths(system, q, notes)
    return Scene(
        title=system.model.name,
        time=time,
        bodies=system.body_names,
        poses=system.body_poses(q),
        solids=(*_bones(system, geometry, notes), *_wraps(system)),
        lines=lines,
        counts=counts,
        points=points,
        markers=_markers(system),
        up=_up(system.model),
        notes=tuple(notes),
    )


def _poses(system: System, motion: Table | None, every: int, notes: list[str]) -> tuple[Array, Array]:
    if every < 1:
        raise ValueError(f"every is {every}; expected 1 or more.")
    if motion is None:
        time, q = np.zeros(1), system.default_pose()[None]
    else:
        motion = Table(motion.names, motion.time[::every], motion.values[::every], motion.in_degrees)
        if not len(motion):
            raise ModelError("The motion has no rows.")
        time, q = motion.time, coordinates_of(system, motion, notes)
    try:
        return time, system.constraints.project_q(q, time=time)
    except ModelError as error:
        notes.append(f"Poses are shown as they are, off the constraints. {error}")
        return time, q


def _up(model: Model) -> Array:
    """The axis that points most against gravity; y if there is none."""
    gravity = np.array(model.gravity)
    if not gravity.any():
        return np.array([0.0, 1.0, 0.0])
    axis = int(np.argmax(np.abs(gravity)))
    return np.eye(3)[axis] * -np.sign(gravity[axis])


# ---- paths ----------------------------------------------------------------------------------------------------------
def _paths(system: System, q: Array, notes: list[str]) -> tuple[tuple[Line, ...], NDArray[np.int64], Array]:
    forces = [force for force in system.model.path_forces if not isinstance(force.geometry, FunctionBasedPath)]
    hidden = [force.name for force in system.model.path_forces if isinstance(force.geometry, FunctionBasedPath)]
    if hidden:
        notes.append(f"{len(hidden)} paths are given by functions of coordinates and have no points to draw: "
                     f"{_list(hidden)}.")  # fmt: skip
    spec = system.model.muscle_mass
    matter = {muscle.name: muscle for muscle in spec.muscles} if spec else {}
    rigid = spec is not None and spec.map == "rigid-tendon"
    lines = tuple(_line(force, matter.get(force.name), rigid) for force in forces)
    everywhere, length = system.paths.polylines(q, ON_ARC)
    drawn = [system.path_names.index(force.name) for force in forces]
    counts = length[:, drawn]
    points = everywhere[:, drawn]
    used = (np.arange(points.shape[2]) < counts[..., None]) & np.isfinite(points).all(axis=3)  # wraps can fail
    return lines, used.sum(axis=2), points[used]


def _line(force: PathForce, matter: MassiveMuscle | None, rigid: bool) -> Line:
    kind = "muscle" if isinstance(force, Muscle) else "other"
    if matter is None:
        return Line(force.name, kind)
    return Line(force.name, kind, matter.mass, matter.belly, matter.tendons if rigid else (0.0, 0.0))


# ---- what is fixed in bodies ----------------------------------------------------------------------------------------
def _bones(system: System, geometry: Sequence[Path], notes: list[str]) -> list[Solid]:
    """Meshes where they are found, else sticks."""
    model, placements = system.model, system.compiled.placements
    holders: list[tuple[str, tuple[Mesh, ...]]] = [(GROUND, model.ground_meshes)]
    holders += [(body.path, body.meshes) for body in model.bodies]
    holders += [(frame.path, meshes) for frame in model.frames if (meshes := getattr(frame, "meshes", ()))]
    found: list[Solid] = []
    missing: list[str] = []
    wrong: list[str] = []
    for path, meshes in holders:
        placement = placements[path]
        for mesh in meshes:
            file = find_mesh(mesh.file, model.source, geometry)
            if file is None:
                missing.append(mesh.file)
                continue
            try:
                surface = _placed(read_mesh(file), placement.R, placement.p, np.array(mesh.scale))
            except FileError as error:
                wrong.append(str(error))
                continue
            body = _place(system, placement.body)
            found.append(Solid(f"{_name(placement.body)}: {Path(mesh.file).stem}", "mesh", body, surface))
    clothed = {solid.body for solid in found}
    sticks = [solid for solid in _sticks(system) if solid.body not in clothed]
    if missing:
        notes.append(f"{len(missing)} mesh files were not found, and bodies without any are drawn as sticks: "
                     f"{_list(sorted(set(missing)))}.")  # fmt: skip
    notes += wrong
    return [*found, *sticks]


def _sticks(system: System) -> list[Solid]:
    """Each body from its inboard joint to its outboard joints; at the end of a chain through its mass centre."""
    placements = system.compiled.placements
    start: dict[str, Array] = {}
    ends: dict[str, list[Array]] = {}
    for mobilizer in spanning_tree(system.model):
        sides = placements[mobilizer.joint.parent_frame], placements[mobilizer.joint.child_frame]
        inboard, outboard = sides[::-1] if mobilizer.reversed else sides
        ends.setdefault(mobilizer.inboard, []).append(inboard.p)
        start.setdefault(mobilizer.outboard, outboard.p)
    known = _points_of_bodies(system)
    solids = []
    for place, body in enumerate(system.model.bodies):
        origin = start.get(body.path, np.zeros(3))
        for end in ends.get(body.path) or [_far_end(origin, np.array(body.mass_center), known.get(body.path, []))]:
            radius = float(np.clip(SLENDERNESS * np.linalg.norm(end - origin), THINNEST, THICKEST))
            solids.append(Solid(body.name, "stick", place, stick(origin, end, radius)))
    return solids


def _far_end(origin: Array, center: Array, points: Sequence[Array]) -> Array:
    """Beyond the mass centre, as far as the points of the body reach."""
    axis = center - origin
    length = float(np.linalg.norm(axis))
    if length < SHORTEST:
        return max((center, *points), key=lambda point: float(np.linalg.norm(point - origin)))
    reach = max((length, *(float((point - origin) @ axis) / length for point in points)))
    return origin + axis * (reach / length)


def _points_of_bodies(system: System) -> dict[str, list[Array]]:
    """Markers and fixed path points by the body they are on."""
    placements = system.compiled.placements
    fixed = [(marker.frame, marker.location) for marker in system.model.markers]
    for force in system.model.path_forces:
        if isinstance(force.geometry, GeometryPath):
            fixed += [(point.frame, point.location) for point in force.geometry.points if isinstance(point, PathPoint)]
    found: dict[str, list[Array]] = {}
    for frame, location in fixed:
        found.setdefault(placements[frame].body, []).append(placements[frame].point(location))
    return found


def _wraps(system: System) -> list[Solid]:
    solids = []
    for item in system.model.wrap_objects:
        placement = system.compiled.placements[item.frame]
        R, p = placement.R @ rotation_xyz(item.rotation), placement.point(item.translation)
        surface = _placed(wrap_surface(item), R, p, np.ones(3))
        solids.append(Solid(item.name, "wrap", _place(system, placement.body), surface))
    return solids


def _markers(system: System) -> tuple[tuple[str, int, Array], ...]:
    placed = [(name, *system.compiled.placements.point(f"/markerset/{name}")) for name in system.marker_names]
    return tuple((name, _place(system, body), point) for name, body, point in placed)


def _placed(surface: Surface, R: Array, p: Array, scale: Array) -> Surface:
    mirrored = scale.prod() < 0.0
    triangles = surface.triangles[:, ::-1] if mirrored else surface.triangles
    return Surface((surface.vertices * scale) @ R.T + p, triangles)


def _place(system: System, body: str) -> int:
    return NO_BODY if body == GROUND else system.body_names.index(_name(body))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
