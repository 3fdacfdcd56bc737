"""Which muscles matter: each muscle's share of the effective inertia of every coordinate and of its torque change.

Forces are affine in the masses of muscles, so that what all muscles change is the sum of what each changes alone:

    τ(all) − τ(lumped) = Σ_m Δτ_m ,   Δτ_m = τ(only muscle m has mass, the others stay lumped in the bones) − τ(lumped)

and likewise the mass matrix M = M_bones + Σ_m M_m. The effective inertia of coordinate c is M_cc.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from osim_inertia.bone_lines import reference_pose
from osim_inertia.errors import ModelError
from osim_inertia.inertia import with_muscle_mass, with_only
from osim_inertia.inverse import Kinematics, kinematics_of
from osim_inertia.model.frames import GROUND
from osim_inertia.model.joints import ROTATIONAL, TRANSLATIONAL
from osim_inertia.model.model import Model
from osim_inertia.model.tree import spanning_tree
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
Progress = Callable[[int, int], object]  # muscles done, muscles in all
TRANSFER = 0.4  # by default: about the share of muscle in an adult body
ACCELERATION = 10.0  # rad/s² or m/s², of one coordinate at a time, where no motion is given
POSES = 20  # of a motion at which effective inertia is taken, evenly spread
EXPLAINED = 0.95


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """m muscles with mass, c coordinates. Rows in the order of `muscles`: the one that changes most comes first."""

    muscles: tuple[str, ...]
    kg: Array  # (m,)
    coordinates: tuple[str, ...]
    units: tuple[str, ...]  # of each coordinate's force: N m or N
    counted: tuple[str, ...]  # coordinates whose changes are added up: joints, not the root's free motion
    inertia: Array  # (c,) kg m² or kg: effective inertia, muscles included, mean over the poses
    inertia_share: Array  # (m, c) of it that each muscle has
    change: Array  # (m, c) N m or N: root mean square of Δτ_m
    total_change: Array  # (c,) the same of the sum of all Δτ_m, in which changes of opposite sign cancel
    share: Array  # (m,) of the summed change of all counted coordinates
    explaining: tuple[str, ...]  # the smallest set of muscles that has 95 % of it
    error_of_explaining: float  # what that set alone misses of the whole change: RMS, relative
    frames: int
    notes: tuple[str, ...] = ()

    def change_share(self) -> Array:
        """(m, c): each muscle's part of the summed change of a coordinate."""
        total = self.change.sum(axis=0)
        return np.divide(self.change, total, out=np.zeros_like(self.change), where=total > 0.0)

    def explaining_of(self, coordinate: str) -> tuple[str, ...]:
        """The smallest set of muscles that has 95 % of the change of one coordinate, the most important first."""
        return _smallest_set(self.muscles, self.change_share()[:, self.coordinates.index(coordinate)])


def rank_muscles(
    model: Model,
    motion: Table | None = None,
    transfer: Any = TRANSFER,
    *,
    inertial: Model | None = None,
    lowpass: float | None = None,
    time_range: tuple[float, float] | None = None,
    like_opensim: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> Ranking:
    """Rank the muscles of a model by what their mass changes.

    `transfer` and other options are those of `with_muscle_mass`; or give its result as `inertial`. Without a motion the
    model stands in its default pose and each coordinate in turn accelerates by 10 rad/s² (10 m/s²).
    """
    if inertial is None:
        inertial = with_muscle_mass(model, transfer, **options)
    spec = inertial.muscle_mass
    names = [muscle.name for muscle in spec.muscles] if spec else []
    if not names:
        raise ModelError("No muscle has mass, so there is nothing to rank.")
    lumped, full = (System(m, like_opensim=like_opensim) for m in (model, inertial))
    if motion is None:
        moved = _standard_motion(lumped)
    else:  # the record alone, without the rows that OpenSim's filter adds
        span = time_range or (float(motion.time[0]), float(motion.time[-1]))
        moved = kinematics_of(lumped, motion, lowpass=lowpass, time_range=span, like_opensim=like_opensim)
    state = (moved.q, moved.u, moved.udot)
    before = lumped.inverse_dynamics(*state)
    last = 0 if motion is None else len(moved.q) - 1
    poses = moved.q[np.unique(np.linspace(0, last, POSES).astype(int))]
    inertia = _effective_inertia(full, poses)
    change, own = np.empty((len(names), lumped.n)), np.empty((len(names), lumped.n))
    for k, name in enumerate(names):
        system = System(with_only(model, inertial, [name]), like_opensim=like_opensim)
        change[k] = _rms(system.inverse_dynamics(*state) - before)
        own[k] = _effective_inertia(_without_bones(system), poses)
        if progress is not None:
            progress(k + 1, len(names))
    counted = _counted(lumped)
    summed = change[:, counted].sum(axis=1)
    share = summed / max(summed.sum(), np.finfo(float).tiny)
    order = np.argsort(-share, kind="stable")
    muscles = tuple(names[k] for k in order)
    explaining = _smallest_set(muscles, share[order])
    total = full.inverse_dynamics(*state) - before
    part = System(with_only(model, inertial, explaining), like_opensim=like_opensim).inverse_dynamics(*state) - before
    rotates = {c.name: c.motion_type == ROTATIONAL for c in model.coordinates}
    kg = {muscle.name: muscle.mass for muscle in spec.muscles} if spec else {}
    return Ranking(
        muscles=muscles,
        kg=np.array([kg[name] for name in muscles]),
        coordinates=lumped.coordinate_names,
        units=tuple("N m" if rotates[name] else "N" for name in lumped.coordinate_names),
        counted=tuple(lumped.coordinate_names[c] for c in counted),
        inertia=inertia,
        inertia_share=np.divide(own, inertia, out=np.zeros_like(own), where=inertia > 0.0)[order],
        change=change[order],
        total_change=_rms(total),
        share=share[order],
        explaining=explaining,
        error_of_explaining=_relative(part[:, counted], total[:, counted]),
        frames=len(moved.q),
        notes=(*lumped.warnings, *moved.notes),
    )


def _standard_motion(system: System) -> Kinematics:
    """One frame per coordinate, which alone accelerates, from rest in the default pose."""
    q = np.repeat(reference_pose(system)[None], system.n, axis=0)
    return Kinematics(np.arange(system.n, dtype=float), q, np.zeros_like(q), ACCELERATION * np.eye(system.n))


def _without_bones(system: System) -> System:
    """The same muscles on bones that weigh nothing: its energy is that of the muscles, not a small difference."""
    bare = System.__new__(System)
    bare.__dict__ |= {key: value for key, value in system.__dict__.items() if key != "muscles"}  # bound to its bones
    arrays = system.arrays
    bare.arrays = arrays._replace(mass=np.zeros_like(arrays.mass), inertia=np.zeros_like(arrays.inertia))
    return bare


def _effective_inertia(system: System, poses: Array) -> Array:
    """(n,) mean diagonal of the mass matrix: twice the kinetic energy at unit speed of one coordinate."""
    n = system.n
    q, u = np.repeat(poses, n, axis=0), np.tile(np.eye(n), (len(poses), 1))
    return np.asarray(2.0 * system.kinetic_energy(q, u).reshape(len(poses), n).mean(axis=0))


def _counted(system: System) -> list[int]:
    """Coordinates whose changes may be added up: of one unit, and not of the joint by which the model floats."""
    model, names = system.model, system.coordinate_names
    floating = {
        coordinate.name
        for m in spanning_tree(model) if m.inboard == GROUND
        for coordinate in m.joint.coordinates
        # six coordinates are a free base even if scaling made its translations functions, which OpenSim calls coupled
        if len(m.joint.coordinates) == 6 or any(c.motion_type == TRANSLATIONAL for c in m.joint.coordinates)
    }
    inner = [name for name in names if name not in floating] or list(names)
    angles = [name for name in inner if model.coordinate(name).motion_type == ROTATIONAL] or inner
    return [names.index(name) for name in angles]


def _smallest_set(names: Sequence[str], share: Array) -> tuple[str, ...]:
    """The fewest names whose shares add up to 95 % of all, largest first; none if nothing changes."""
    total = float(share.sum())
    if total <= 0.0:
        return ()
    order = np.argsort(-share, kind="stable")
    enough = np.searchsorted(np.cumsum(share[order]), EXPLAINED * total * (1.0 - 1e-12))
    return tuple(names[k] for k in order[: int(enough) + 1])


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt((values**2).mean(axis=0)))


def _relative(part: Array, whole: Array) -> float:
    scale = float(np.sqrt((whole**2).sum()))
    return float(np.sqrt(((whole - part) ** 2).sum())) / scale if scale > 0.0 else 0.0
