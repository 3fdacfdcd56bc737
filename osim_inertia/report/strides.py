"""Strides and swing phases, found in the motion itself and, where they were measured, in the ground forces.

    motion --feet--> when some point of the foot stands still on the ground --ground forces--> foot strike, toe-off

A foot stands on the ground while a point of it (heel, toes, markers on them) is near the lowest height it ever has and
moves with the ground: at rest overground, with the belt on a treadmill. An event that a force plate saw as well gets
the plate's time. Plates alone would not do: a step beside them looks like swing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from osim_inertia.inverse import Kinematics
from osim_inertia.loads import ExternalLoads
from osim_inertia.model.frames import GROUND
from osim_inertia.model.model import Model
from osim_inertia.model.tree import base_bodies, spanning_tree
from osim_inertia.system import System

Array = NDArray[np.float64]
Interval = tuple[float, float]
FOOT = re.compile(r"calcn|calcaneus|hindfoot|foot|heel", re.IGNORECASE)
RIGHT = re.compile(r"(^|[_./-])r([_./-]|$)|right", re.IGNORECASE)
LEFT = re.compile(r"(^|[_./-])l([_./-]|$)|left", re.IGNORECASE)
NEAR_GROUND = 0.03  # m above the lowest height of a point
SLOW = 0.25  # of the foot's largest speed relative to the ground
SLOWEST_SWING = 0.5  # m/s; a foot that is never faster does not step
SHORTEST_CONTACT, SHORTEST_SWING = 0.06, 0.1  # s
STRIDE = (0.3, 3.0)  # s
CONTACT_FORCE = 20.0  # N, where foot strike and toe-off are read off
SURE_FORCE = 0.1  # of the body's weight: a contact has to reach it
SAME_EVENT = 0.1  # s between what the foot does and what the plate sees

GROUND_FORCE, FOOT_MOTION, BOTH = "ground force", "foot motion", "ground force and foot motion"


@dataclass(frozen=True)
class Strides:
    """The strides of one foot."""

    foot: str  # name of the body
    side: str  # "r", "l" or ""
    times: Array  # (s, 3) s: foot strike, toe-off, next foot strike
    swings: tuple[Interval, ...]  # s: all swing phases, also those cut by the ends of the record
    source: str  # how the events were found

    @property
    def toe_off(self) -> float:
        """Mean share of the stride, in percent, at which swing begins."""
        start, off, end = self.times.T
        return float(100.0 * ((off - start) / (end - start)).mean())

    def within(self, first: float, last: float) -> Strides:
        """Only the strides that lie between two times."""
        slack = 1e-9
        inside = (self.times[:, 0] >= first - slack) & (self.times[:, 2] <= last + slack)
        cut = ((max(a, first), min(b, last)) for a, b in self.swings)
        return Strides(self.foot, self.side, self.times[inside], tuple((a, b) for a, b in cut if a < b), self.source)


def find_strides(system: System, moved: Kinematics, loads: ExternalLoads | None = None) -> tuple[Strides, ...]:
    """The strides of every foot that has at least one whole stride; none for motions that are not gait."""
    gravity = np.array(system.model.gravity)
    if not gravity.any() or len(moved.time) < 3:
        return ()
    up = -gravity / np.linalg.norm(gravity)
    found = []
    for foot, bodies in feet(system.model).items():
        contacts = foot_contacts(moved.time, *_points(system, moved, bodies), up)
        plates = [] if loads is None else plate_contacts(system.model, loads, bodies, up)
        strides = _strides(foot, moved.time, contacts, plates)
        if len(strides.times):
            found.append(strides)
    return tuple(found)


# ---- feet -----------------------------------------------------------------------------------------------------------
def side_of(name: str) -> str:
    """'r', 'l', or '' if a name does not say."""
    right, left = bool(RIGHT.search(name)), bool(LEFT.search(name))
    return "" if right == left else "r" if right else "l"


def feet(model: Model) -> dict[str, list[str]]:
    """Foot -> the bodies that belong to it: itself and what hangs on it, such as the toes."""
    names = {body.path: body.name for body in model.bodies}
    inboard = {names[m.outboard]: names.get(m.inboard, "") for m in spanning_tree(model) if m.outboard in names}
    found: dict[str, list[str]] = {}
    for name in inboard:  # parents come first
        above, line = name, [name]
        while inboard.get(above):
            above = inboard[above]
            line.append(above)
        foot = next((body for body in reversed(line) if FOOT.search(body)), None)  # the uppermost one
        if foot is not None:
            found.setdefault(foot, []).append(name)
    return found


def _points(system: System, moved: Kinematics, bodies: Sequence[str]) -> tuple[Array, Array]:
    """Positions and velocities (F, k, 3) of the origins of bodies and of the markers on them."""
    model = system.model
    base = base_bodies(model.frames, (*model.stations, *model.markers))
    paths = {body.path for body in model.bodies if body.name in bodies}
    on_foot = [k for k, marker in enumerate(model.markers) if base.get(marker.frame, marker.frame) in paths]
    origins = [system.point_motion(path, (0.0, 0.0, 0.0), moved.q, moved.u)[:2] for path in sorted(paths)]
    x, v = (np.stack(parts, axis=1) for parts in zip(*origins))
    if on_foot:
        x_markers, v_markers, _ = system.marker_motion(moved.q, moved.u)
        x, v = np.concatenate([x, x_markers[:, on_foot]], axis=1), np.concatenate([v, v_markers[:, on_foot]], axis=1)
    return x, v


# ---- contacts -------------------------------------------------------------------------------------------------------
def foot_contacts(time: Array, x: Array, v: Array, up: Array) -> list[Interval]:
    """When the foot stands on the ground, from positions and velocities (F, k, 3) of its points."""
    height = x @ up
    height = height - np.percentile(height, 2.0, axis=0)
    low = height <= np.percentile(height, 20.0, axis=0)
    along = v - (v @ up)[..., None] * up
    ground = np.median(along[low], axis=0)  # velocity of a belt; overground this is zero
    speed = np.linalg.norm(v - ground, axis=2)
    fastest = float(np.percentile(np.median(speed, axis=1), 98.0))
    if fastest < SLOWEST_SWING:
        return []
    standing = ((speed < SLOW * fastest) & (height < NEAR_GROUND)).any(axis=1)
    return _intervals(time, standing)


def plate_contacts(model: Model, loads: ExternalLoads, bodies: Sequence[str], up: Array) -> list[Interval]:
    """When force plates bear a foot, from the vertical ground force on its bodies; empty if there is none."""
    total = np.zeros(len(loads.data))
    for force in loads.forces:
        if not force.applies or not force.force or force.force_frame.strip("/") != GROUND.strip("/"):
            continue
        if force.body.rsplit("/", 1)[-1] in bodies:
            columns = [i for i, name in enumerate(loads.data.names) if name.startswith(force.force)]
            total += loads.data.values[:, columns] @ up if len(columns) == 3 else 0.0
    sure = max(SURE_FORCE * model.mass * float(np.linalg.norm(model.gravity)), 2.0 * CONTACT_FORCE)
    time, found = loads.data.time, []
    for start, end in _intervals(time, total > CONTACT_FORCE):
        if total[(time >= start) & (time <= end)].max(initial=0.0) > sure:
            found.append((start, end))
    return found


def _intervals(time: Array, on: NDArray[np.bool_]) -> list[Interval]:
    """First and last time of every run of True: short gaps are closed, short runs left out unless an end cuts them."""
    edges = np.diff(np.concatenate([[0], on.astype(int), [0]]))
    runs = [(int(a), int(b) - 1) for a, b in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0))]
    joined: list[tuple[int, int]] = []
    for a, b in runs:
        if joined and time[a] - time[joined[-1][1]] < SHORTEST_SWING:
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    cut = (0, len(time) - 1)
    return [(float(time[a]), float(time[b])) for a, b in joined
            if time[b] - time[a] >= SHORTEST_CONTACT or a == cut[0] or b == cut[1]]  # fmt: skip


# ---- strides --------------------------------------------------------------------------------------------------------
def _strides(foot: str, time: Array, contacts: list[Interval], plates: list[Interval]) -> Strides:
    if len(contacts) < 2 <= len(plates):
        contacts, plates = plates, plates  # the motion says nothing, the plates do
    strikes = [start for start, _ in contacts if start > time[0]]
    offs = [end for _, end in contacts if end < time[-1]]
    strikes, strikes_seen = _by_plate(strikes, [start for start, _ in plates])
    offs, offs_seen = _by_plate(offs, [end for _, end in plates])
    times, seen = [], []
    for (start, a), (end, b) in pairwise(zip(strikes, strikes_seen)):
        between = [k for k, off in enumerate(offs) if start < off < end]
        if len(between) == 1 and STRIDE[0] <= end - start <= STRIDE[1]:
            times.append((start, offs[between[0]], end))
            seen.append((a, offs_seen[between[0]], b))
    swings = [(off, min((s for s in strikes if s > off), default=float(time[-1]))) for off in offs]
    if strikes and (not offs or strikes[0] < offs[0]):
        swings.insert(0, (float(time[0]), strikes[0]))  # the record begins in swing
    by_plate = np.array(seen)
    source = FOOT_MOTION if not by_plate.any() else GROUND_FORCE if by_plate.all() else BOTH
    return Strides(foot, side_of(foot), np.array(times).reshape(-1, 3), tuple(swings), source)


def _by_plate(events: list[float], plate: list[float]) -> tuple[list[float], list[bool]]:
    """Each event at the plate's time, if a plate saw it, and whether one did."""
    if not plate:
        return events, [False] * len(events)
    nearest = [plate[int(np.abs(np.array(plate) - event).argmin())] for event in events]
    seen = [abs(at - event) <= SAME_EVENT for at, event in zip(nearest, events)]
    return [at if yes else event for at, event, yes in zip(nearest, events, seen)], seen
