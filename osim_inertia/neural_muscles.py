"""Muscles with mass of which some follow a network round their cylinder; the others are blended.

    System --> [neural where it can be, blend for the rest] --> forces, totals, matter
                        ^ here
A muscle can if its path has one wrap, on a cylinder, and no conditional point. Where a motion leaves the range the
network was trained for, the muscle is blended in all frames of that call, and a warning says so, once per muscle.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import ModelError, WrapWarning
from osim_inertia.kernels import neural_batch as kernel
from osim_inertia.kernels.batch import inverse_dynamics_of_frames, whole_body
from osim_inertia.kernels.muscle_line import Line, new_line
from osim_inertia.kernels.neural_line import LABELS, POINTS, Room, new_points
from osim_inertia.kernels.neural_wrap import ENDS, FEATURES, JET
from osim_inertia.kernels.opensim_path import CYLINDER
from osim_inertia.kernels.paths import CONDITIONAL, Paths
from osim_inertia.kernels.shortest_record import new_shortest_path
from osim_inertia.massive import MassiveMuscles
from osim_inertia.neural.inference import shipped_network

if TYPE_CHECKING:
    from osim_inertia.system import System

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
FRAMES = 8  # at a time: what the network works on should stay in the processor's cache


class NeuralMuscles(MassiveMuscles):
    """Skeleton and muscles together."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        spec = system.model.muscle_mass
        assert spec is not None
        self.network = shipped_network()
        P = system.paths.arrays
        wanted = [not spec.neural or name in spec.neural for name in self.names]
        unable = [why_not(P, int(path)) for path in self.arrays.path]
        self.follows = np.array([want and not why for want, why in zip(wanted, unable)], dtype=np.bool_)
        self._warned: set[str] = set()
        for name, want, why in zip(self.names, wanted, unable):
            if want and why and why != NOTHING_TO_BEND:
                warnings.warn(f"'{name}' is blended: {why}.", WrapWarning, stacklevel=3)
        self._reach = self.network.reach.array()
        self._nodes = max(int(np.diff(P.first).max(initial=2)), 2)

    # ---- what MassiveMuscles offers -------------------------------------------------------------------------------
    def inverse_dynamics(self, q: Array, u: Array, udot: Array, base: Array) -> Array:
        """Generalized forces (F, n), with the ground accelerating by base (3,)."""
        use, tau, _, _ = self._bent(q, u, udot, base, self.follows)
        if use.all():
            inverse_dynamics_of_frames(self._system.arrays, q, u, udot, base, 0, len(q), bones := np.empty_like(q))
            return tau + bones
        return tau + self._others(use).inverse_dynamics(q, u, udot, base)

    def joint_wrenches(self, q: Array, u: Array, udot: Array, base: Array) -> tuple[Array, Array]:
        """Refused: a network says where matter goes, not which body holds it there."""
        raise ModelError("Joint reactions need muscles that press on bodies; a network does not say on which. Use "
                         "wrap='blend' for them.")

    def whole_body(self, q: Array, u: Array) -> Array:
        """(F, 12): see kernels.dynamics.totals."""
        use, _, bent, _ = self._bent(q, u, np.zeros_like(q), np.zeros(3), self.follows)
        if use.all():
            whole_body(self._system.arrays, q, u, 0, len(q), out := np.empty((len(q), 12)))
        else:
            out = self._others(use).whole_body(q, u)
        out[:, :3] *= out[:, 11:]
        out += bent
        out[:, :3] /= out[:, 11:]
        return out

    def matter(self, q: Array, name: str) -> tuple[Array, Array]:
        """Points of matter (k, 3) of one muscle at a pose (n,), and their masses (k,)."""
        alone = np.array([other == name for other in self.names]) & self.follows
        if alone.any():
            rest = np.zeros((1, len(q)))
            use, _, _, room = self._bent(q[None], rest, rest, np.zeros(3), alone)
            if use.any():
                massive = room.label[: room.number[0], 4] > 0.0
                return room.x[: len(massive)][massive].copy(), room.label[: len(massive), 4][massive].copy()
        return super().matter(q, name)

    def _bent(self, q: Array, u: Array, udot: Array, base: Array, use: Mask) -> tuple[Mask, Array, Array, Room]:
        """Which muscles the network bends in this call, their forces (F, n) and totals (F, 12), matter of the last."""
        use, asked = self._ask_within_range(q, u, udot, base, use)
        A, P, tau, out = self._system.arrays, self._system.paths.arrays, np.empty_like(q), np.empty((len(q), 12))
        room = self._room(P)
        for start, stop, bends, beside in asked:
            kernel.answer(A, P, self.arrays, q, u, udot, base, start, stop, use, bends, beside, *room, tau, out)
        return use, tau, out, room[0]

    # ---- the network ----------------------------------------------------------------------------------------------
    def _ask_within_range(
        self, q: Array, u: Array, udot: Array, base: Array, use: Mask
    ) -> tuple[Mask, list[tuple[int, int, NDArray[np.int64], Array]]]:
        """Which of these muscles the network bends in this call, and for blocks of frames what it says."""
        while True:
            asked, outside = self._ask(q, u, udot, base, use)
            if not outside.any():
                return use, asked
            self._warn_of_range(outside)
            use = use & ~outside

    def _ask(self, q: Array, u: Array, udot: Array, base: Array, use: Mask) -> tuple[list, Mask]:
        A, P, nm = self._system.arrays, self._system.paths.arrays, len(self.names)
        outside = np.zeros(nm, dtype=np.bool_)
        answers = []
        bends = np.zeros((len(q), nm, kernel.BEND), dtype=np.int64)
        points, line, E = self._room(P)
        path = new_shortest_path(1)
        per_muscle = max(POINTS, int(self.arrays.material[:, 5].max(initial=0.0)) + 2)
        most = min(FRAMES, len(q)) * int(use.sum()) * per_muscle
        for start in range(0, len(q), FRAMES):
            stop = min(start + FRAMES, len(q))
            ask = kernel.Questions(np.empty((most, LABELS)), np.empty((most, FEATURES, JET)),
                                   np.empty((most, 2, JET)), np.empty((most, JET)))
            count, frame, muscle = kernel.find_questions(
                A, P, self.arrays, q, u, udot, base, start, stop, self._reach, use, points, line, path, E, bends, ask)
            if muscle >= 0:
                self._refuse_vanished_bellies(np.where(np.arange(len(q)) == frame, muscle, -1))
            outside |= bends[start:stop, :, kernel.OUTSIDE].any(axis=0)
            if outside.any():
                continue
            if count:
                self.network.add_to(ask.features[:count], ask.scale[:count], ask.beside[:count])
            answers.append((start, stop, bends, ask.beside[:count]))
        return answers, outside

    def _warn_of_range(self, outside: Mask) -> None:
        reach = self.network.reach
        for name in np.array(self.names)[outside]:
            if name not in self._warned:
                self._warned.add(name)
                warnings.warn(f"'{name}' leaves the range of the wrapping network (ends {reach.closest:g} to "
                              f"{reach.farthest:g} radii from the cylinder's axis, arcs up to {reach.widest:g} rad); "
                              "it is blended instead.", WrapWarning, stacklevel=6)

    # ---- the rest -------------------------------------------------------------------------------------------------
    def _others(self, use: Mask) -> MassiveMuscles:
        """The blended muscles, with the skeleton."""
        others = MassiveMuscles.__new__(MassiveMuscles)
        others.__dict__.update(self.__dict__)
        others.arrays = self.arrays._replace(path=self.arrays.path[~use], material=self.arrays.material[~use])
        others.names = tuple(np.array(self.names)[~use])
        return others

    def _room(self, P: Paths) -> tuple[Room, Line, Array]:
        beads = int(self.arrays.material[:, 5].max(initial=0.0))
        return new_points(self._nodes, beads), new_line(self._nodes, len(P.object_body)), np.zeros(ENDS)


NOTHING_TO_BEND = "its path has no wrap"


def why_not(P: Paths, path: int) -> str:
    """Why the network cannot bend a path; empty if it can."""
    wraps = range(P.wrap_first[path], P.wrap_first[path + 1])
    if len(wraps) == 0:
        return NOTHING_TO_BEND
    if len(wraps) > 1:
        return f"its path has {len(wraps)} wraps, and the network knows one"
    if P.objects.kind[P.wraps.wrap_object[wraps[0]]] != CYLINDER:
        return "its wrap is no cylinder"
    if (P.kind[P.first[path] : P.first[path + 1]] == CONDITIONAL).any():
        return "its path has a conditional point"
    return ""


