"""Joint reaction loads: the force and moment each joint transmits, named and signed as in OpenSim's JointReaction.

They are the net loads between the segments: what bones, ligaments and muscles transmit together, because muscle forces
are not known in inverse dynamics. The weight and inertia of muscles that have mass is included: they pull on the bodies
their paths touch. Constraints (couplers, loops) are left out, as in OpenSim's inverse dynamics. For a
joint whose child is nearer to ground than its parent, OpenSim 4.6 reports the load of the joint that carries the child
instead; here every joint gets its own.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import ModelError
from osim_inertia.inverse import FRAMES_AT_ONCE, Kinematics, Progress, kinematics_of, loads_at
from osim_inertia.kernels import batch, external
from osim_inertia.loads import ExternalLoads, LoadsInTime, find_frame, placed_loads
from osim_inertia.model.frames import GROUND
from osim_inertia.model.model import Model
from osim_inertia.model.tree import Mobilizer, spanning_tree
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
TITLE = "Joint Reaction Loads"
PARTS = ("fx", "fy", "fz", "mx", "my", "mz", "px", "py", "pz")


def joint_reactions(
    system: System | Model,
    motion: Table,
    *,
    external_loads: ExternalLoads | str | Path | None = None,
    lowpass: float | None = None,
    time_range: tuple[float, float] | None = None,
    like_opensim: bool = True,
    on: str = "child",
    expressed_in: str = "ground",
    progress: Progress | None = None,
) -> Table:
    """Force, moment and point of every joint: nine columns <joint>_on_<body>_in_<frame>_fx … _pz; N, N m, m.

    `on` "child" gives the load on the child body, at the origin of the child's joint frame; "parent" the load on the
    parent, at the origin of the parent's joint frame. `expressed_in` is "ground", "child" or "parent" (the bodies on
    both sides of each joint), or the name of a body or frame. The other arguments are those of `inverse_dynamics_of`.
    """
    if isinstance(system, Model):
        system = System(system, like_opensim=like_opensim)
    moved = kinematics_of(system, motion, lowpass=lowpass, time_range=time_range, like_opensim=like_opensim)
    loads = loads_at(system, external_loads, moved)
    return reactions_of(system, moved, loads, on=on, expressed_in=expressed_in, progress=progress)


def reactions_of(
    system: System,
    moved: Kinematics,
    loads: LoadsInTime | None = None,
    *,
    on: str = "child",
    expressed_in: str = "ground",
    progress: Progress | None = None,
) -> Table:
    """The same for a motion that is already differentiated."""
    if on not in ("child", "parent"):
        raise ValueError(f"on is {on!r}; expected 'child' or 'parent'.")
    sides = [_Side(system, place, mobilizer, on, expressed_in) for place, mobilizer in mobilizers(system)]
    if loads is None:
        loads = LoadsInTime(placed_loads(system, []), np.zeros((len(moved.time), 0, 9)))
    values = np.empty((len(moved.time), len(sides), 9))
    for start in range(0, len(values), FRAMES_AT_ONCE):
        rows = slice(start, min(start + FRAMES_AT_ONCE, len(values)))
        q, u, udot = (np.ascontiguousarray(x[rows]) for x in (moved.q, moved.u, moved.udot))
        _fill(system, sides, loads, q, u, udot, values[rows], start)
        if progress is not None:
            progress(rows.stop, len(values))
    names = tuple(f"{side.label}_{part}" for side in sides for part in PARTS)
    return Table(names, moved.time, values.reshape(len(values), -1), False, {"name": TITLE}, tuple(moved.notes))


def mobilizers(system: System) -> list[tuple[int, Mobilizer]]:
    """Joints in the order of the model, each with the place of its outboard body in the tree."""
    tree = [m for m in spanning_tree(system.model) if not (m.closes_loop and m.joint.kind == "FreeJoint")]
    order = {joint.name: i for i, joint in enumerate(system.model.joints)}
    return sorted(enumerate(tree), key=lambda item: order.get(item[1].joint.name, len(order)))


class _Side:
    """One joint as it is reported: which body bears the load, where, and in which axes."""

    def __init__(self, system: System, place: int, mobilizer: Mobilizer, on: str, expressed_in: str) -> None:
        joint, index, placements = mobilizer.joint, system.compiled.body_index, system.compiled.placements
        frames = {"child": placements[joint.child_frame], "parent": placements[joint.parent_frame]}
        self.outboard = place
        self.sign = 1.0 if (on == "child") != mobilizer.reversed else -1.0
        self.body, self.point = index[frames[on].body], frames[on].p
        path = frames[expressed_in].body if expressed_in in frames else find_frame(system, expressed_in)
        if path is None:
            raise ModelError(f"There is no frame '{expressed_in}' in the model to express joint reactions in.")
        self.axes = placements[path]
        self.axes_body = index[self.axes.body]
        name = {GROUND: "ground"}.get(path, path.rsplit("/", 1)[-1])
        self.label = f"{joint.name}_on_{frames[on].body.rsplit('/', 1)[-1]}_in_{name}"


def _fill(
    system: System, sides: list[_Side], loads: LoadsInTime, q: Array, u: Array, udot: Array, out: Array, start: int
) -> None:
    frames, nb, A = len(q), len(system.arrays.parent), system.arrays
    moment, force = np.empty((frames, nb, 3)), np.empty((frames, nb, 3))
    pose, twist = np.empty((frames, nb, 4, 4)), np.empty((frames, nb, 6))
    part = loads.values[start : start + frames]
    system.run(frames, lambda i, j: batch.body_motion(A, q, u, i, j, pose, twist))
    system.run(frames, lambda i, j: external.joint_wrenches(A, loads.loads, part, q, u, udot, -A.gravity, i, j,
                                                            moment, force))  # fmt: skip
    if system.muscles is not None:
        _add_muscles(system, q, u, udot, moment, force)
    for k, side in enumerate(sides):
        point = _in_ground(pose, side.body, side.point)
        f = side.sign * force[:, side.outboard]
        arm = pose[:, side.outboard, :3, 3] - point
        m = side.sign * moment[:, side.outboard] + np.cross(arm, f)
        R = side.axes.R if side.axes_body < 0 else pose[:, side.axes_body, :3, :3] @ side.axes.R
        origin = _in_ground(pose, side.axes_body, side.axes.p)
        for first, vector in ((0, f), (3, m), (6, point - origin)):
            out[:, k, first : first + 3] = (vector[:, None, :] @ R)[:, 0]


def _add_muscles(system: System, q: Array, u: Array, udot: Array, moment: Array, force: Array) -> None:
    """Add what the inertia and weight of muscles beyond each joint ask of it, on the bodies their paths press on."""
    assert system.muscles is not None
    A, none = system.arrays, LoadsInTime(placed_loads(system, []), np.zeros((len(q), 0, 9)))
    bones = np.empty_like(moment), np.empty_like(force)
    system.run(len(q), lambda i, j: external.joint_wrenches(A, none.loads, none.values, q, u, udot, -A.gravity, i, j,
                                                            *bones))  # fmt: skip
    for sum_, whole, part in zip((moment, force), system.muscles.joint_wrenches(q, u, udot, -A.gravity), bones):
        sum_ += whole - part


def _in_ground(pose: Array, body: int, point: Array) -> Array:
    """A point of a body, (F, 3)."""
    if body < 0:
        return np.broadcast_to(point, (len(pose), 3))
    return pose[:, body, :3, :3] @ point + pose[:, body, :3, 3]
