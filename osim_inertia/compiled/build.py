"""Model -> arrays.

    .osim --osim--> Model --compiled--> arrays --kernels--> numbers --tables, report--> .sto, .html
                            ^ here
Orders bodies parent first, turns names into indices. Nothing here depends on q or knows XML.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from osim_inertia.compiled.frames import Placement, Placements
from osim_inertia.compiled.functions import FunctionTable
from osim_inertia.compiled.layout import Arrays
from osim_inertia.kernels import joints as k
from osim_inertia.model.frames import GROUND, Body
from osim_inertia.model.functions import Constant
from osim_inertia.model.joints import CustomJoint, EllipsoidJoint, Joint, ScapulothoracicJoint
from osim_inertia.model.model import Model
from osim_inertia.model.tree import Mobilizer, spanning_tree

NO_MASS = 1.4e-14  # below it OpenSim drops the inertia as well
KINDS = {
    "WeldJoint": k.WELD,
    "PinJoint": k.PIN,
    "SliderJoint": k.SLIDER,
    "UniversalJoint": k.UNIVERSAL,
    "GimbalJoint": k.GIMBAL,
    "PlanarJoint": k.PLANAR,
    "BallJoint": k.BALL,
    "FreeJoint": k.FREE,
    "EllipsoidJoint": k.ELLIPSOID,
    "ScapulothoracicJoint": k.SCAPULOTHORACIC,
    "CustomJoint": k.CUSTOM,
}


@dataclass(frozen=True)
class Loop:
    """A body that a loop-closing joint reaches a second time: master and slave move as one."""

    name: str
    master: int
    slave: int


@dataclass(frozen=True)
class Compiled:
    """Arrays, and what ties them to names."""

    arrays: Arrays
    coordinate_names: tuple[str, ...]  # order of u
    body_index: dict[str, int]  # component path -> place in the tree; ground is -1
    placements: Placements
    loops: tuple[Loop, ...]
    warnings: tuple[str, ...]


def compile_model(model: Model, like_opensim: bool) -> Compiled:
    """Everything the kernels need, from the model alone."""
    tree, warnings = _without_free_loops(spanning_tree(model))
    placements, table = Placements(model), FunctionTable(like_opensim)
    bodies = {body.path: body for body in model.bodies}
    fragments = Counter(m.outboard for m in tree if m.closes_loop)
    index, loops = {GROUND: -1}, []
    names: list[str] = []
    rows: list[dict] = []
    axes: list[tuple] = []
    for position, mobilizer in enumerate(tree):
        if mobilizer.closes_loop:
            master = index[mobilizer.outboard]
            loops.append(Loop(mobilizer.joint.name, master, position))
        inboard = index[mobilizer.inboard]
        index.setdefault(mobilizer.outboard, position)
        row = _mass_properties(bodies[mobilizer.outboard], 1 + fragments[mobilizer.outboard])
        row |= _joint_row(mobilizer, placements)
        row |= {"parent": inboard, "first": len(names), "axis_first": len(axes)}
        axes += _custom_axes(mobilizer.joint, table)
        row["axis_last"] = len(axes)
        row["like_opensim"] = like_opensim and _shares_rotations(mobilizer.joint)
        if row["like_opensim"]:
            warnings.append(
                f"Joint '{mobilizer.joint.name}': one coordinate drives several rotations. OpenSim's acceleration of "
                "such a joint is slightly wrong; it is reproduced. like_opensim=False gives exact mechanics."
            )
        rows.append(row)
        names += [c.name for c in mobilizer.joint.coordinates]
    arrays = _arrays(rows, axes, np.array(model.gravity), len(names), table)
    return Compiled(arrays, tuple(names), index, placements, tuple(loops), tuple(warnings))


def _without_free_loops(tree: tuple[Mobilizer, ...]) -> tuple[list[Mobilizer], list[str]]:
    """A free joint between two bodies of the tree constrains nothing; OpenSim counts its child's mass twice."""
    kept, warnings = [], []
    for m in tree:
        if m.closes_loop and m.joint.kind == "FreeJoint":
            warnings.append(
                f"Joint '{m.joint.name}' is a FreeJoint between bodies that are already joined: it constrains "
                "nothing and is left out. OpenSim counts the mass of its child twice."
            )
            continue
        kept.append(m)
        if m.closes_loop and m.joint.kind == "WeldJoint":
            warnings.append(
                f"Joint '{m.joint.name}' closes a loop with a weld. OpenSim counts the mass of its child twice; "
                "here the mass is shared between the two halves."
            )
        elif m.closes_loop:
            warnings.append(
                f"Joint '{m.joint.name}' closes a loop: its child is split into two halves of equal mass and inertia. "
                "OpenSim does the same but gets the inertia of the second half wrong, which is not reproduced."
            )
    return kept, warnings


def _mass_properties(body: Body, fragments: int) -> dict:
    xx, yy, zz, xy, xz, yz = body.inertia
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if body.mass <= NO_MASS:
        inertia = np.zeros((3, 3))
    return {"mass": body.mass / fragments, "com": np.array(body.mass_center), "inertia": inertia / fragments}


def _joint_row(mobilizer: Mobilizer, placements: Placements) -> dict:
    joint = mobilizer.joint
    frames: list[Placement] = [placements[joint.parent_frame], placements[joint.child_frame]]
    inboard, outboard = reversed(frames) if mobilizer.reversed else frames
    params = np.zeros(6)
    if isinstance(joint, EllipsoidJoint):
        params[:3] = joint.radii
    elif isinstance(joint, ScapulothoracicJoint):
        params[:] = *joint.thoracic_ellipsoid_radii, *joint.winging_origin, joint.winging_direction
    return {
        "kind": KINDS[joint.kind],
        "reversed": mobilizer.reversed,
        "dofs": len(joint.coordinates),
        "in_R": inboard.R,
        "in_p": inboard.p,
        "out_R": outboard.R.T,
        "out_p": -outboard.R.T @ outboard.p,
        "params": params,
    }


def _shares_rotations(joint: Joint) -> bool:
    """True where rotations and coordinates of a custom joint are not paired one to one."""
    if not isinstance(joint, CustomJoint):
        return False
    drivers = [axis.coordinates for axis in joint.axes[:3] if not isinstance(axis.function, Constant)]
    names = [name for group in drivers for name in group]
    return len(set(names)) < len(names) or any(len(group) > 1 for group in drivers)


def _custom_axes(joint: Joint, table: FunctionTable) -> list[tuple]:
    """The axes that do something: a constant zero is left out."""
    if not isinstance(joint, CustomJoint):
        return []
    local = {c.name: i for i, c in enumerate(joint.coordinates)}
    rows = []
    for slot, axis in enumerate(joint.axes):
        if isinstance(axis.function, Constant) and axis.function.value == 0.0:
            continue
        args = [local[name] for name in axis.coordinates]
        if isinstance(axis.function, Constant):
            args = []
        direction = np.array(axis.axis) / np.linalg.norm(axis.axis)
        rows.append((slot, direction, table.add(axis.function), len(args), args + [0] * (6 - len(args))))
    return rows


def _arrays(rows: list[dict], axes: list[tuple], gravity: np.ndarray, n: int, table: FunctionTable) -> Arrays:
    def column(key: str, dtype: type = np.float64, shape: tuple[int, ...] = ()) -> np.ndarray:
        return np.array([row[key] for row in rows], dtype=dtype).reshape(len(rows), *shape)

    def axis_column(i: int, dtype: type, shape: tuple[int, ...] = ()) -> np.ndarray:
        return np.array([axis[i] for axis in axes], dtype=dtype).reshape(len(axes), *shape)

    body_of = np.zeros(n, dtype=np.int64)
    for b, row in enumerate(rows):
        body_of[row["first"] : row["first"] + row["dofs"]] = b
    return Arrays(
        parent=column("parent", np.int64),
        mass=column("mass"),
        com=column("com", shape=(3,)),
        inertia=column("inertia", shape=(3, 3)),
        gravity=gravity.astype(np.float64),
        kind=column("kind", np.int64),
        reversed=column("reversed", np.bool_),
        first=column("first", np.int64),
        dofs=column("dofs", np.int64),
        in_R=column("in_R", shape=(3, 3)),
        in_p=column("in_p", shape=(3,)),
        out_R=column("out_R", shape=(3, 3)),
        out_p=column("out_p", shape=(3,)),
        params=column("params", shape=(6,)),
        like_opensim=column("like_opensim", np.bool_),
        axis_first=column("axis_first", np.int64),
        axis_last=column("axis_last", np.int64),
        axis_slot=axis_column(0, np.int64),
        axis=axis_column(1, np.float64, (3,)),
        axis_function=axis_column(2, np.int64),
        axis_n_args=axis_column(3, np.int64),
        axis_args=axis_column(4, np.int64, (6,)),
        body_of=body_of,
        functions=table.arrays(),
    )
