"""Which bones a muscle lies along, in the reference pose (METHOD.md §5).

Each point of a belly belongs to the nearest bone line among the bodies that the muscle spans; a bone line runs from the
joint that carries a body to each joint that it carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from osim_inertia.compiled.frames import Placements
from osim_inertia.errors import ModelError
from osim_inertia.kernels.kinematics import new_motion, pose
from osim_inertia.model.forces import Muscle
from osim_inertia.model.frames import GROUND, Body
from osim_inertia.model.model import Model
from osim_inertia.model.paths import GeometryPath
from osim_inertia.model.tree import Mobilizer, spanning_tree
from osim_inertia.system import System

Array = NDArray[np.float64]
SAMPLES = 60  # points of a belly that are asked which bone they lie along


def reference_pose(system: System) -> Array:
    """q (n,) of the default pose with constraints satisfied; without that some knees are not even assembled."""
    q = system.default_pose()
    return np.asarray(system.constraints.project_q(q)).reshape(system.n) if system.constraints.names else q


def bones_along(
    model: Model,
    chosen: Sequence[Muscle],
    shares: Mapping[str, tuple[float, float]],
    along: Mapping[str, str | Mapping[str, float]] | None,
) -> dict[str, dict[str, float]]:
    """For each muscle the bodies its belly lies along, and which share of it. Bellies lie on the shortest path."""
    own = _checked_along(model, chosen, along or {})
    if all(muscle.name in own for muscle in chosen):
        return own
    system = System(model)
    q = reference_pose(system)
    tree, placements = spanning_tree(model), Placements(model)
    poses = _poses(system, q)
    lines = {body.path: _bone_lines(body, tree, placements, poses) for body in model.bodies if body.mass > 0.0}
    inboard = {m.outboard: m.inboard for m in tree if not m.closes_loop}
    result = {}
    for muscle in chosen:
        if muscle.name in own:
            result[muscle.name] = own[muscle.name]
            continue
        assert isinstance(muscle.geometry, GeometryPath)
        spanned = _spanned(muscle.geometry, placements, inboard)
        candidates = {path: lines[path] for path in spanned if path in lines}
        points = _belly_points(system.path_points(q, muscle.name, paths="shortest")[0], shares[muscle.name])
        result[muscle.name] = _shares_of_nearest(points, candidates)
    return result


def _shares_of_nearest(points: Array, candidates: Mapping[str, Sequence[tuple[Array, Array]]]) -> dict[str, float]:
    """Which share of the points each body is nearest to, by its name, the first point's body first."""
    if not candidates:
        return {}
    nearest = np.array([_distances(points, lines) for lines in candidates.values()]).argmin(axis=0)
    bodies, first, count = np.unique(nearest, return_index=True, return_counts=True)
    names = [path.rsplit("/", 1)[-1] for path in candidates]
    return {names[bodies[i]]: float(count[i]) / len(points) for i in np.argsort(first)}


def _poses(system: System, q: Array) -> dict[str, Array]:
    """Pose (4, 4) of every body frame and of ground, by the same kernel as the paths: no other code is loaded."""
    X = new_motion.py_func(system.arrays)
    pose(system.arrays, q, X)
    poses = {GROUND: np.eye(4)}
    for path, i in system.compiled.body_index.items():
        if i >= 0:
            poses[path] = np.eye(4)
            poses[path][:3, :3], poses[path][:3, 3] = X.R[i], X.p[i]
    return poses


def _checked_along(
    model: Model, chosen: Sequence[Muscle], along: Mapping[str, str | Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    names, bodies = [muscle.name for muscle in chosen], {body.name: body for body in model.bodies}
    result = {}
    for name, own in along.items():
        if name not in names:
            raise ModelError(f"`along` names '{name}', which is no muscle here. {nearest_name(name, names)}")
        given = {own: 1.0} if isinstance(own, str) else dict(own)
        for body, share in given.items():
            if body not in bodies:
                raise ModelError(f"`along` names body '{body}', which is not there. {nearest_name(body, bodies)}")
            if not bodies[body].mass > 0.0:
                raise ModelError(f"`along` takes the mass of '{name}' from body '{body}', which has none.")
            if not (share > 0.0 and isfinite(share)):
                raise ModelError(f"The share of '{name}' along body '{body}' is {share}; expected more than 0.")
        result[name] = {body: share / sum(given.values()) for body, share in given.items()}
    return result


def _spanned(path: GeometryPath, placements: Placements, inboard: Mapping[str, str]) -> list[str]:
    """Bodies between the origin and the insertion in the tree, both included."""
    ends = [placements[path.points[i].frame].body for i in (0, -1)]
    chains = []
    for body in ends:
        chain = [body]
        while chain[-1] in inboard:
            chain.append(inboard[chain[-1]])
        chains.append(chain)
    common = next(body for body in chains[0] if body in chains[1])
    return chains[0][: chains[0].index(common) + 1] + chains[1][: chains[1].index(common)]


def _bone_lines(
    body: Body, tree: Sequence[Mobilizer], placements: Placements, poses: Mapping[str, Array]
) -> list[tuple[Array, Array]]:
    """From the joint that carries the body to each joint it carries; without any, through its mass centre."""
    pose = poses[body.path]

    def ground(frame: str) -> Array:
        placement = placements[frame]
        at = poses[placement.body]
        return np.asarray(at[:3, 3] + at[:3, :3] @ placement.p)

    start, ends = pose[:3, 3], []
    for m in tree:
        if m.outboard == body.path and not m.closes_loop:
            start = ground(m.joint.parent_frame if m.reversed else m.joint.child_frame)
        elif m.inboard == body.path:
            # the outboard frame: in many knees the frame on the femur is at the hip, and functions shift the tibia
            ends.append(ground(m.joint.parent_frame if m.reversed else m.joint.child_frame))
    center = pose[:3, 3] + pose[:3, :3] @ np.array(body.mass_center)
    return [(start, end) for end in ends] or [(start, 2.0 * center - start)]


def _distances(points: Array, lines: Sequence[tuple[Array, Array]]) -> Array:
    """(k,) from each point (k, 3) to the nearest of the lines, which end at both ends."""
    start = np.array([a for a, _ in lines])
    along = np.array([b for _, b in lines]) - start
    away = points[:, None, :] - start
    share = np.einsum("kli,li->kl", away, along) / np.maximum((along**2).sum(axis=1), 1e-12)
    rest = away - np.clip(share, 0.0, 1.0)[:, :, None] * along
    return np.asarray(np.sqrt((rest**2).sum(axis=2)).min(axis=1))


def _belly_points(polyline: Array, share: tuple[float, float]) -> Array:
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(polyline, axis=0), axis=1))])
    at = (share[0] + (share[1] - share[0]) * (np.arange(SAMPLES) + 0.5) / SAMPLES) * way[-1]
    return np.column_stack([np.interp(at, way, polyline[:, j]) for j in range(3)])


def nearest_name(name: str, known: Iterable[str]) -> str:
    """A hint at the name that was meant."""
    match = get_close_matches(name, list(known), n=1, cutoff=0.4)
    return f"Did you mean '{match[0]}'?" if match else "See `osim-inertia info MODEL` for the names."
