"""Samples of exact paths, with the papers' rule for those that barely touch.

Below a wrapped share of 1 % (`threshold`) a sample is thrown away unless it has no contact at all: there the exact path
has its kink, which a network should smooth, not learn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels.geodesic_common import ARC_RECORD, GEO
from osim_inertia.kernels.neural_sampling import exact_points
from osim_inertia.neural.canonical import Reach

Array = NDArray[np.float64]
THRESHOLD = 0.01  # wrapped share l/L
DETACHED = 0.15  # share of canonical samples without contact


@dataclass(frozen=True)
class Box:
    """Where the papers' samples lie, in the frame of the surface."""

    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m, middle of the box of origins
    insertion: tuple[float, float, float] = (0.0, 0.0, 0.0)  # and of insertions
    ends: tuple[float, float] = (1.0, 1.0)  # m: half the edges of the two
    thin: float = 0.01  # m, radius
    thick: float = 0.2


def canonical_samples(
    n: int, rng: np.random.Generator, reach: Reach | None = None, threshold: float = THRESHOLD
) -> tuple[Array, Array, Array, Array]:
    """(a, b, θ, η), each (n,): tangent lengths even in their logarithm, arcs denser near touch-down."""
    reach = reach or Reach()
    low, high = (0.5 * np.log(x**2 - 1.0) for x in (reach.closest, reach.farthest))
    a, b = np.exp(rng.uniform(low, high, (2, n)))
    least = threshold * (a + b) / (1.0 - threshold)
    attached = rng.random(n) >= DETACHED
    way = rng.random(n) ** 2
    apart = np.minimum(1.0, np.arctan(a) + np.arctan(b))  # more would put one end on the other side of the other
    theta = np.where(attached, least + (reach.widest - least) * way, -apart * way)
    return a, b, theta, rng.random(n)


def box_samples(
    n: int, rng: np.random.Generator, *, surface: str = "cylinder", box: Box | None = None,
    threshold: float = THRESHOLD,
) -> tuple[Array, Array]:
    """The papers' inputs (n, 8), origin, insertion, label, radius, and points (n, 3)."""
    box = box or Box()
    kept_inputs: list[Array] = []
    kept_points: list[Array] = []
    count = 0
    while count < n:
        ends = [middle + half * rng.uniform(-1.0, 1.0, (n, 3))
                for middle, half in zip(np.array([box.origin, box.insertion]), box.ends)]
        inputs = np.concatenate([*ends, rng.random((n, 1)), rng.uniform(box.thin, box.thick, (n, 1))], axis=1)
        points, share = exact(inputs, surface)
        keep = (share == 0.0) | (share >= threshold)
        kept_inputs.append(inputs[keep])
        kept_points.append(points[keep])
        count += int(keep.sum())
    return np.concatenate(kept_inputs)[:n], np.concatenate(kept_points)[:n]


def exact(inputs: Array, surface: str = "cylinder") -> tuple[Array, Array]:
    """Points (n, 3) and wrapped shares (n,) of the exact paths; a share of -1 marks an end inside the surface."""
    p, s = np.ascontiguousarray(inputs[:, :3]), np.ascontiguousarray(inputs[:, 3:6])
    label, radius = np.ascontiguousarray(inputs[:, 6]), np.ascontiguousarray(inputs[:, 7])
    points, share = np.empty((len(p), 3)), np.empty(len(p))
    exact_points(surface == "sphere", p, s, radius, label, np.zeros(GEO), np.zeros(ARC_RECORD), points, share)
    return points, share
