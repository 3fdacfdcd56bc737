"""Which joint carries which body: OpenSim's spanning tree, in OpenSim's order (OPENSIM_SEMANTICS.md §2.5).

The tree grows from ground level by level, joints in file order. A joint whose child is already in the tree is used
backwards (`reversed`). A joint both of whose bodies are in the tree closes a loop: its child is split, half of its mass
going to a slave body that a weld constraint keeps on its master; a WeldJoint becomes that weld alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from osim_inertia.errors import ModelError
from osim_inertia.model.frames import GROUND, Body, Frame, Marker, OffsetFrame, Station
from osim_inertia.model.joints import FIXED_LAYOUT, Joint
from osim_inertia.model.model import Model


@dataclass(frozen=True, slots=True)
class Mobilizer:
    """One joint at its place in the tree."""

    joint: Joint
    inboard: str  # body paths
    outboard: str
    reversed: bool = False
    closes_loop: bool = False  # outboard is then a slave copy of that body


def base_bodies(frames: Iterable[Frame], stations: Iterable[Station | Marker]) -> dict[str, str]:
    """The body or ground each frame is fixed to, by component path."""
    holder = {s.path if isinstance(s, Station) else f"/markerset/{s.name}": _holder(s) for s in stations}
    parent = {f.path: f.parent if isinstance(f, OffsetFrame) else holder[f.origin_point] for f in frames}
    bases = {}
    for path in parent:
        base = path
        while base in parent:
            base = parent[base]
        bases[path] = base
    return bases


def _holder(station: Station | Marker) -> str:
    return station.parent if isinstance(station, Station) else station.frame


def spanning_tree(model: Model) -> tuple[Mobilizer, ...]:
    """All joints of the model in the order of OpenSim's generalized speeds."""
    bases = base_bodies(model.frames, (*model.stations, *model.markers))
    masses = {body.path: body.mass for body in model.bodies}
    ends = [(bases.get(j.parent_frame, j.parent_frame), bases.get(j.child_frame, j.child_frame)) for j in model.joints]
    for joint, (parent, child) in zip(model.joints, ends):
        if parent == child:
            raise ModelError(f"Joint '{joint.name}' joins {parent} to itself; expected two different bodies.")
    _refuse_loose_massless(model.joints, ends, masses)
    tree, taken = _grow(model.joints, ends, masses)
    reached = {GROUND} | {m.outboard for m in tree}
    lost = [path for path in masses if path not in reached]
    if lost:
        names = ", ".join(path.rsplit("/", 1)[-1] for path in lost)
        raise ModelError(f"No chain of joints connects these bodies to ground: {names}.")
    for index, (joint, (parent, child)) in enumerate(zip(model.joints, ends)):
        if index not in taken:
            backwards = child == GROUND  # ground cannot be split
            inboard, outboard = (child, parent) if backwards else (parent, child)
            tree.append(Mobilizer(joint, inboard, outboard, backwards, closes_loop=True))
    return tuple(tree)


def floating_bases(
    bodies: Sequence[Body], joints: Sequence[Joint], bases: Mapping[str, str]
) -> tuple[str, ...]:
    """Bodies that need a free joint to ground so that every body is reached, in OpenSim's order of choice."""
    ends = [(bases.get(j.parent_frame, j.parent_frame), bases.get(j.child_frame, j.child_frame)) for j in joints]
    reached: set[str] = {GROUND}
    chosen: list[str] = []
    while True:
        grown = True
        while grown:
            grown = False
            for pair in ends:
                if (pair[0] in reached) != (pair[1] in reached):
                    reached |= set(pair)
                    grown = True
        left = [body.path for body in bodies if body.path not in reached]
        if not left:
            return tuple(chosen)
        as_child = {path: sum(child == path for _, child in ends) for path in left}
        as_parent = {path: sum(parent == path for parent, _ in ends) for path in left}
        base = min(left, key=lambda path: (as_child[path] > 0, -as_parent[path], left.index(path)))
        chosen.append(base)
        reached.add(base)


def _grow(
    joints: Sequence[Joint], ends: Sequence[tuple[str, str]], masses: Mapping[str, float]
) -> tuple[list[Mobilizer], set[int]]:
    level = {GROUND: 0}
    tree: list[Mobilizer] = []
    taken: set[int] = set()

    def take(index: int, backwards: bool) -> str:
        parent, child = ends[index]
        inboard, outboard = (child, parent) if backwards else (parent, child)
        level[outboard] = level[inboard] + 1
        tree.append(Mobilizer(joints[index], inboard, outboard, backwards))
        taken.add(index)
        return outboard

    depth, grown = 1, True
    while grown:
        grown = False
        for index, (parent, child) in enumerate(ends):
            inside = [body for body in (parent, child) if body in level]
            if index in taken or len(inside) != 1 or level[inside[0]] != depth - 1:
                continue
            outboard = take(index, backwards=inside[0] == child)
            grown = True
            if masses[outboard] == 0.0 and _is_mobile(joints[index]):
                _carry_on_past_massless(outboard, ends, masses, taken, take)
        grown = grown or any(value == depth for value in level.values())
        depth += 1
    return tree, taken


def _carry_on_past_massless(body, ends, masses, taken, take) -> None:  # type: ignore[no-untyped-def]
    """A massless body on a mobile joint is followed at once by its heaviest neighbour, children first."""
    for side in (0, 1):
        options = [
            (masses.get(pair[1 - side], 0.0), index)
            for index, pair in enumerate(ends)
            if index not in taken and pair[side] == body
        ]
        heaviest = max((mass for mass, _ in options), default=0.0)
        if heaviest > 0.0:
            index = next(index for mass, index in options if mass == heaviest)
            take(index, backwards=side == 1)
            return
    name = body.rsplit("/", 1)[-1]
    raise ModelError(f"Body '{name}' has no mass and nothing heavier follows it, so its joint cannot be simulated; "
                     "expected a mass above 0.")


def _is_mobile(joint: Joint) -> bool:
    """OpenSim's graph takes a CustomJoint for a weld (its prototype has no coordinates)."""
    return bool(FIXED_LAYOUT.get(joint.kind, ()))


def _refuse_loose_massless(
    joints: Sequence[Joint], ends: Sequence[tuple[str, str]], masses: Mapping[str, float]
) -> None:
    for path, mass in masses.items():
        mine = [joint for joint, pair in zip(joints, ends) if path in pair]
        if mass == 0.0 and len(mine) == 1 and _is_mobile(mine[0]):
            name = path.rsplit("/", 1)[-1]
            raise ModelError(f"Body '{name}' has no mass and moves at the end of joint '{mine[0].name}'; "
                             "expected a mass above 0 (OpenSim refuses such a model too).")
