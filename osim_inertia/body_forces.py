"""Forces and torques on bodies that stand for the generalized forces of joints: OpenSim's body_forces_at_joints file.

Generalized forces f of a joint with axes H do not determine a force F and a torque T on its child; the tool solves
Hᵥᵀ F = f and H_ωᵀ T = f by least squares, keeps the one that needs less (the larger |Hᵀ x| / |x|), and gives the other
what is left over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from osim_inertia.inverse import Kinematics
from osim_inertia.model.joints import Joint
from osim_inertia.reactions import mobilizers
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
TITLE = "Inverse Dynamics Body Forces at Specified Joints"
PARTS = ("FX", "FY", "FZ", "MX", "MY", "MZ")
FRAMES_AT_ONCE = 256  # dense Jacobians are large
NOTHING = 2e-14  # norms below it are zero: SimTK's SignificantReal
RANK = 1e-12  # relative size below which a singular value counts as zero


def body_forces_at_joints(
    system: System, moved: Kinematics, forces: Table, joints: Sequence[str], notes: list[str]
) -> Table | None:
    """Force and torque on the child of each named joint, at its joint frame, in ground; None if no joint is named.

    `joints` are names or the word All. Joints whose child is nearer to ground are left out, with a note: OpenSim mixes
    them up with the joint that carries the child.
    """
    found = {m.joint.name: (place, m) for place, m in mobilizers(system)}
    names = list(found) if any(name.upper() == "ALL" for name in joints) else list(joints)
    chosen: list[tuple[int, Joint]] = []
    for name in names:
        if name not in found:
            notes.append(f"There is no joint '{name}' to report body forces of.")
        elif found[name][1].reversed:
            notes.append(f"Body forces of joint '{name}' are not reported: its child is nearer to ground.")
        else:
            chosen.append((found[name][0], found[name][1].joint))
    if not chosen:
        return None
    values = np.empty((len(moved.time), len(chosen), 6))
    for start in range(0, len(values), FRAMES_AT_ONCE):
        rows = slice(start, start + FRAMES_AT_ONCE)
        _fill(system, moved.q[rows], forces.values[rows], chosen, values[rows])
    roots = [f"{joint.name}_{joint.child_frame.rsplit('/', 1)[-1]}" for _, joint in chosen]
    labels = tuple(f"{root}_{part}" for root in roots for part in PARTS)
    return Table(labels, moved.time, values.reshape(len(values), -1), False, {"name": TITLE})


def _fill(system: System, q: Array, f: Array, chosen: list[tuple[int, Joint]], out: Array) -> None:
    J, _ = system.body_jacobians(q)
    pose = system.body_poses(q)
    for k, (place, joint) in enumerate(chosen):
        columns = slice(system.arrays.first[place], system.arrays.first[place] + system.arrays.dofs[place])
        placement = system.compiled.placements[joint.child_frame]
        body = [b.path for b in system.model.bodies].index(placement.body)
        turning = J[:, body, :3, columns].swapaxes(1, 2)  # (F, dofs, 3)
        arm = pose[:, body, :3, :3] @ placement.p
        moving = J[:, body, 3:, columns].swapaxes(1, 2) + np.cross(turning, arm[:, None, :])
        out[:, k, :3], out[:, k, 3:] = _shared(f[:, columns], moving, turning)


def _shared(f: Array, moving: Array, turning: Array) -> tuple[Array, Array]:
    """Force and torque (F, 3) for f (F, dofs) and the joint's axes (F, dofs, 3)."""
    if not f.shape[1]:
        return np.zeros((len(f), 3)), np.zeros((len(f), 3))
    moving, turning = (np.where(np.abs(H) < RANK, 0.0, H) for H in (moving, turning))  # axes are of the order of one
    by_force, by_torque = (np.asarray(np.linalg.pinv(H, rcond=RANK), dtype=np.float64) for H in (moving, turning))
    force, torque = _times(by_force, f), _times(by_torque, f)
    f_force, f_torque = _times(moving, force), _times(turning, torque)
    size_force, size_torque = np.linalg.norm(f_force, axis=1), np.linalg.norm(f_torque, axis=1)
    both = (size_force > NOTHING) & (size_torque > NOTHING)
    torque_first = size_torque * np.linalg.norm(force, axis=1) > size_force * np.linalg.norm(torque, axis=1)
    force = np.where((both & torque_first)[:, None], _times(by_force, f - f_torque), force)
    torque = np.where((both & ~torque_first)[:, None], _times(by_torque, f - f_force), torque)
    return force, torque


def _times(A: Array, x: Array) -> Array:
    """A x for each frame."""
    return np.einsum("fij,fj->fi", A, x)
