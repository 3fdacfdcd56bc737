"""Symmetry of the cylinder: from two points, a label and a radius to the few numbers that matter, and back.

    p, s, η, r --> [ρ₁, ρ₂, Δφ, rise, η in radii] --> tangents a, b, arc θ --> kernels.neural_wrap --> point
                                 ^ here
Scaling by the radius, turning about the axis, sliding along it and mirroring leave five numbers. The height of a
shortest path is linear in the label, so the rise needs no network either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Reach:
    """What a network was trained for."""

    closest: float = 1.005  # distance of an end from the axis, in radii
    farthest: float = 16.0
    widest: float = 4.0  # rad, angle of the arc

    def array(self) -> Array:
        """As the kernels want it."""
        return np.array([self.closest, self.farthest, self.widest])


@dataclass(frozen=True)
class Canonical:
    """Five numbers per sample, and what takes the answer back to the frame of the cylinder."""

    first: Array  # (N,) distance of p from the axis, in radii
    second: Array  # (N,) of s
    turn: Array  # (N,) angle from p to s, the way the path goes
    rise: Array  # (N,) radii
    label: Array  # (N,)
    sense: Array  # (N,) ±1: mirrored where -1
    angle: Array  # (N,) of p about the axis
    height: Array  # (N,) m, of p
    radius: Array  # (N,) m

    @property
    def tangents(self) -> tuple[Array, Array, Array]:
        """(a, b, θ): lengths of the two tangents in radii, angle of the arc, negative without contact."""
        a, b = np.sqrt(self.first**2 - 1.0), np.sqrt(self.second**2 - 1.0)
        return a, b, self.turn - np.arctan(a) - np.arctan(b)

    def point(self, beside: Array) -> Array:
        """Points (N, 3) from what stands beside the chord, (N, 2) in the frame that halves the two contacts."""
        a, _, theta = self.tangents
        middle = np.arctan(a) + 0.5 * theta
        c, s = np.cos(middle), np.sin(middle)
        x = (1.0 - self.label) * self.first + self.label * self.second * np.cos(self.turn)
        y = self.label * self.second * np.sin(self.turn)
        x, y = x + beside[:, 0] * c - beside[:, 1] * s, self.sense * (y + beside[:, 0] * s + beside[:, 1] * c)
        c, s = np.cos(self.angle), np.sin(self.angle)
        z = self.height + self.radius * self.label * self.rise
        return np.stack([self.radius * (c * x - s * y), self.radius * (s * x + c * y), z], axis=1)


def canonical(p: ArrayLike, s: ArrayLike, label: ArrayLike, radius: ArrayLike, sense: ArrayLike = 0) -> Canonical:
    """Ends p, s (N, 3) in the frame of a cylinder about z. sense ±1: which way round; 0: the shorter way.

    Long tangents and a wide arc may turn by more than a full turn. The arc then is taken to be in the range of the
    network, and not a chord that passes by on the far side.
    """
    p, s = np.atleast_2d(np.asarray(p, float)), np.atleast_2d(np.asarray(s, float))
    radius = np.broadcast_to(np.asarray(radius, float), len(p))
    angle = np.arctan2(p[:, 1], p[:, 0])
    turn = np.arctan2(s[:, 1], s[:, 0]) - angle
    shorter = np.where(np.sin(turn) >= 0.0, 1.0, -1.0)
    way = np.where(np.broadcast_to(sense, len(p)) == 0, shorter, sense)
    first, second = np.hypot(p[:, 0], p[:, 1]) / radius, np.hypot(s[:, 0], s[:, 1]) / radius
    turn = np.mod(way * turn, 2.0 * np.pi)
    beyond = turn - sum(np.arccos(1.0 / np.maximum(x, 1.0)) for x in (first, second)) < Reach().widest - 2.0 * np.pi
    turn = np.where(beyond & (np.broadcast_to(sense, len(p)) != 0), turn + 2.0 * np.pi, turn)
    return Canonical(
        first=first, second=second, turn=turn, rise=(s[:, 2] - p[:, 2]) / radius,
        label=np.broadcast_to(np.asarray(label, float), len(p)), sense=way, angle=angle, height=p[:, 2], radius=radius,
    )
