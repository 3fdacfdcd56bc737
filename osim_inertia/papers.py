"""The dense matrices of the papers, for research and as a second opinion on the fast kernels.

With φ_m the twists of all bodies (angular, linear at the body origin, in ground) and x_α the points of matter:

    ẋ_α = J_αm φ_m      ẍ_α = J_αm φ̇_m + J̇_αm φ_m      J_αr = J_αm J_mr      M̃_r = J_mrᵀ M_m J_mr + J_αrᵀ M_α J_αr

(Differentiable Simulation of Inertial Musculotendons, eqs. 5–7; types I and II after eqs. 12–18, with the corrections
that docs/theory.md lists.) Straight and via-point muscles are written out here without using the kernels. On a wrap the
points come from the kernels, and so does J̇_αm, column by column: with B(φ) = J̇_αm(φ) φ the acceleration of the matter
while the twists φ stay constant,

    J̇(φ) ψ + J̇(ψ) φ = ½ [B(φ + ψ) − B(φ − ψ)]        J̇(φ) ψ − J̇(ψ) φ = J c,    c = (−ω_φ × ω_ψ, 0) of every body

the second because turning by ω_φ, then by ω_ψ, is not the same as the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.errors import ModelError
from osim_inertia.kernels import muscle_batch as kernel
from osim_inertia.kernels.kinematics import new_motion, pose
from osim_inertia.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DenseBlocks:
    """One muscle at one instant. k points of matter, B bodies (as in `body_names`), n coordinates."""

    points: Array  # (k, 3) m
    masses: Array  # (k,) kg
    J_am: Array  # (k, 3, 6 B)
    dJ_am: Array  # (k, 3, 6 B), the rate of J_am along the motion
    J_ar: Array  # (k, 3, n)
    explicit: bool  # written out (straight and via-point muscles) or from the kernels (wrapped)


def dense_blocks(system: System, muscle: str, q: ArrayLike, u: ArrayLike) -> DenseBlocks:
    """The papers' blocks of one muscle that has mass. Moving path points, which no body twist moves, are refused."""
    names = () if system.muscles is None else system.muscles.names
    if system.model.muscle_mass is not None and system.model.muscle_mass.wrap == "neural":
        raise ModelError("The dense blocks are those of blended or exact paths; use wrap='blend'.")
    if muscle not in names:
        raise ModelError(f"'{muscle}' is no muscle with mass.")
    at, speeds = (array[0] for array in system.frames(q=q, u=u))
    J_mr = system.body_jacobians(at, speeds)[0][0].reshape(-1, system.n)
    line = _Line(system, names.index(muscle), at)
    if line.wraps == 0:
        J_am, dJ_am = _written_out(system, line, at, speeds)
    else:
        J_am = line.velocities()
        dJ_am = line.velocity_rates(J_am, J_mr @ speeds)
    return DenseBlocks(line.points, line.masses, J_am, dJ_am, J_am @ J_mr, line.wraps == 0)


def dense_mass_matrix(system: System, q: ArrayLike) -> Array:
    """M̃_r (n, n) of eq. 7: bones through J_mr, matter through J_αr."""
    rest = np.zeros(system.n)
    bones = System(replace(system.model, muscle_mass=None))
    M = bones.mass_matrix(q)[0]
    for muscle in system.model.muscle_mass.muscles if system.model.muscle_mass else ():
        blocks = dense_blocks(system, muscle.name, q, rest)
        M = M + np.einsum("k,kai,kaj->ij", blocks.masses, blocks.J_ar, blocks.J_ar)
    return M


class _Line:
    """Matter of one muscle at a pose, and the nodes it hangs on."""

    def __init__(self, system: System, index: int, q: Array) -> None:
        assert system.muscles is not None
        self._system, self.index, self._q = system, index, q
        self._muscles = system.muscles.arrays._replace(window=0.0)  # a switch depends on a coordinate, not on twists
        self._room = kernel.new_room(system.paths.arrays, self._muscles)
        self._motion = new_motion(system.arrays)
        pose(system.arrays, q, self._motion)
        self._order = [system.compiled.body_index[body.path] for body in system.model.bodies]
        self.n, self.wraps = self._move(np.zeros(6 * len(self._order)))
        line, _, M = self._room[:3]
        count = M.number[0]
        self.points, self.masses, self.labels = M.x[:count].copy(), M.mass[:count].copy(), M.xi[:count].copy()
        self.intervals = M.interval[:count].copy()
        self.nodes, self.bodies = line.nodes[: self.n].copy(), line.ints[: self.n, 1].copy()

    def _move(self, twists: Array) -> tuple[int, int]:
        """Evaluate the matter while the bodies (as in `body_names`) have constant twists (6 B,)."""
        self._motion.w[:], self._motion.v[:] = 0.0, 0.0
        for body, twist in zip(self._order, twists.reshape(-1, 6)):
            self._motion.w[body], self._motion.v[body] = twist[:3], twist[3:]
        P = self._system.paths.arrays
        nodes, wraps = kernel.matter_of_muscle(P, self._muscles, self.index, self._motion, self._q, *self._room)
        return int(nodes), int(wraps)

    def velocities(self) -> Array:
        """J_αm (k, 3, 6 B), column by column: velocities of the matter when one body has a unit twist."""
        columns = []
        for unit in np.eye(6 * len(self._order)):
            self._move(unit)
            columns.append(self._room[2].v[: len(self.points)].copy())
        return np.stack(columns, axis=2)

    def velocity_rates(self, J: Array, twists: Array) -> Array:
        """J̇_αm (k, 3, 6 B) along the twists (6 B,)."""
        columns = []
        for unit in np.eye(len(twists)):
            self._move(twists + unit)
            both = self._room[2].a[: len(self.points)].copy()
            self._move(twists - unit)
            both -= self._room[2].a[: len(self.points)]
            turn = np.zeros((len(self._order), 6))
            turn[:, :3] = -np.cross(twists.reshape(-1, 6)[:, :3], unit.reshape(-1, 6)[:, :3])
            columns.append(0.25 * both + 0.5 * J @ turn.ravel())
        return np.stack(columns, axis=2)


def _written_out(system: System, line: _Line, q: Array, u: Array) -> tuple[Array, Array]:
    """J_αm and J̇_αm of a straight or via-point muscle: J_αx J_xm, the sliding part being −L⁻¹ΔSΔX̄ of the papers."""
    J_xm, dJ_xm, rates = _node_blocks(system, line, q, u)
    x, n = line.nodes, line.n
    d = np.diff(x, axis=0)
    ddot = np.diff(rates, axis=0)
    length = np.linalg.norm(d, axis=1)
    e = d / length[:, None]
    rate = np.einsum("ka,ka->k", e, ddot)
    edot = (ddot - rate[:, None] * e) / length[:, None]
    start, start_rate = np.concatenate([[0.0], np.cumsum(length)]), np.concatenate([[0.0], np.cumsum(rate)])
    a0, a1 = (system.muscles.arrays.material[line.index, :2]) if system.muscles is not None else (0.0, 0.0)
    J, dJ = [], []
    for xi, k in zip(line.labels, line.intervals):
        D = a0 + xi * (a1 + start[-1]) - start[k]  # σ − c_k
        Ddot = xi * start_rate[-1] - start_rate[k]
        P, Pdot = np.eye(3) - np.outer(e[k], e[k]), -np.outer(edot[k], e[k]) - np.outer(e[k], edot[k])
        share = D / length[k]
        share_rate = (Ddot - share * rate[k]) / length[k]
        slide, slide_rate = np.zeros(3 * n), np.zeros(3 * n)  # gradient of D
        for j in range(n - 1):
            weight = xi - (1.0 if j < k else 0.0)
            slide[3 * j : 3 * j + 6] += weight * np.concatenate([-e[j], e[j]])
            slide_rate[3 * j : 3 * j + 6] += weight * np.concatenate([-edot[j], edot[j]])
        J_ax, dJ_ax = np.outer(e[k], slide), np.outer(edot[k], slide) + np.outer(e[k], slide_rate)
        first, second = slice(3 * k, 3 * k + 3), slice(3 * k + 3, 3 * k + 6)
        J_ax[:, first] += np.eye(3) - share * P
        J_ax[:, second] += share * P
        turn = share_rate * P + share * Pdot
        dJ_ax[:, first] -= turn
        dJ_ax[:, second] += turn
        J.append(J_ax @ J_xm)
        dJ.append(dJ_ax @ J_xm + J_ax @ dJ_xm)
    return np.array(J), np.array(dJ)


def _node_blocks(system: System, line: _Line, q: Array, u: Array) -> tuple[Array, Array, Array]:
    """J_xm (3 n, 6 B), its rate, and the velocities of the nodes: three block rows for a via point, not two."""
    poses, twists = system.body_poses(q)[0], system.body_velocities(q, u)[0]
    place = {system.compiled.body_index[body.path]: i for i, body in enumerate(system.model.bodies)}
    J = np.zeros((3 * line.n, 6 * len(poses)))
    dJ, rates = np.zeros_like(J), np.zeros((line.n, 3))
    for k, body in enumerate(line.bodies):
        if body < 0:
            continue
        b = place[int(body)]
        r, w = line.nodes[k] - poses[b, :3, 3], twists[b, :3]
        rows, columns = slice(3 * k, 3 * k + 3), slice(6 * b, 6 * b + 3)
        J[rows, columns] = -_skew(r)
        J[rows, 6 * b + 3 : 6 * b + 6] = np.eye(3)
        dJ[rows, columns] = -_skew(np.cross(w, r))
        rates[k] = twists[b, 3:] + np.cross(w, r)
    return J, dJ, rates


def _skew(r: Array) -> Array:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
