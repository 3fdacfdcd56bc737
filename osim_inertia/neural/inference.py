"""A trained network in NumPy: values, derivatives, and second derivatives along a motion. No PyTorch.

    .npz --> Network --> [values | jets] --> neural_muscles
Weights are stored as float32 and computed with as float64: derivatives agree with values to rounding, on which the
conservation of energy rests.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import FileError
from osim_inertia.kernels.neural_wrap import FEATURES, JET, fill_canonical
from osim_inertia.neural.canonical import Canonical, Reach

Array = NDArray[np.float64]
SHIPPED = Path(__file__).with_name("cylinder.npz")


class Network:
    """A tanh perceptron. Layer l: (in, out) weights and (out,) biases."""

    def __init__(self, weights: list[Array], biases: list[Array], about: dict[str, Any]) -> None:
        self.weights = [np.ascontiguousarray(w, dtype=np.float64) for w in weights]
        self.biases = [np.asarray(b, dtype=np.float64) for b in biases]
        self.about = about

    @property
    def reach(self) -> Reach:
        """What it was trained for."""
        return Reach(**self.about["reach"])

    def values(self, features: Array) -> Array:
        """(N, outputs) for features (N, inputs)."""
        x = features
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            x = np.tanh(x @ w + b)
        return np.asarray(x @ self.weights[-1] + self.biases[-1])

    def jets(self, features: Array) -> Array:
        """(JET, N, outputs) for features (JET, N, inputs): see kernels.neural_wrap for what a jet holds."""
        x = features
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            x = (x.reshape(-1, w.shape[0]) @ w).reshape(JET, -1, w.shape[1])
            y = np.tanh(x[0] + b)
            slope = 1.0 - y * y
            x[0] = y
            x[6] -= 2.0 * y * x[5] * x[5]
            x[1:] *= slope
        x = (x.reshape(-1, x.shape[-1]) @ self.weights[-1]).reshape(JET, features.shape[1], -1)
        x[0] += self.biases[-1]
        return np.asarray(x)

    def add_to(self, features: Array, scale: Array, beside: Array) -> None:
        """Add the scaled answer to the base curve beside (N, 2, JET), for features (N, inputs, JET), scale (N, JET)."""
        answer = self.jets(np.ascontiguousarray(features.transpose(2, 0, 1))).transpose(1, 2, 0)
        k = scale[:, None, :]
        beside += k[..., :1] * answer
        beside[..., 1:] += k[..., 1:] * answer[..., :1]
        beside[..., 6] += 2.0 * k[..., 5] * answer[..., 5]

    def points(self, where: Canonical) -> Array:
        """Points (N, 3) in the frame of the cylinder."""
        features, base, scale, _ = canonical_inputs(*where.tangents, where.label)
        return where.point(base + scale[:, None] * self.values(features))


def canonical_inputs(a: Array, b: Array, theta: Array, label: Array) -> tuple[Array, Array, Array, Array]:
    """Features (N, FEATURES), base curve (N, 2), factor (N,) of the answer, and the exact path's (N, 2)."""
    n = len(a)
    features, base, scale, exact = np.empty((n, FEATURES)), np.empty((n, 2)), np.empty(n), np.empty((n, 2))
    inputs = [np.ascontiguousarray(x, dtype=np.float64) for x in (a, b, theta, label)]
    fill_canonical(*inputs, features, base, scale, exact, np.empty((FEATURES, JET)), np.empty((3, JET)))
    return features, base, scale, exact


def read_network(path: str | Path) -> Network:
    """A network that `osim-inertia train-wrap` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            layers = range(sum(name.startswith("w") for name in file.files))
            if not layers:
                raise KeyError("w0")
            return Network([file[f"w{i}"] for i in layers], [file[f"b{i}"] for i in layers], about)
    except OSError as error:
        raise FileError(f"The network cannot be read: {error.strerror or error}.", file=path) from None
    except (ValueError, KeyError):
        raise FileError("This is no trained network.", file=path, expected="what osim-inertia train-wrap writes",
                        to_do="train one with osim-inertia train-wrap") from None


def write_network(path: str | Path, weights: list[Array], biases: list[Array], about: dict[str, Any]) -> None:
    """Weights as float32, and what is to be known about them."""
    arrays = {f"w{i}": w.astype(np.float32) for i, w in enumerate(weights)}
    arrays |= {f"b{i}": b.astype(np.float32) for i, b in enumerate(biases)}
    np.savez(path, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]


@cache
def shipped_network() -> Network:
    """The cylinder network that comes with the package."""
    return read_network(SHIPPED)
