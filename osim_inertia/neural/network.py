"""Multilayer perceptrons in PyTorch: made, and turned into arrays that need no PyTorch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray


def perceptron(inputs: int, outputs: int, depth: int, width: int) -> torch.nn.Sequential:
    """`depth` hidden layers of `width` tanh units and a linear output: the papers' architecture (6 × 256)."""
    sizes = [inputs, *[width] * depth]
    layers: list[torch.nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [torch.nn.Linear(before, after), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], outputs))


def arrays(network: torch.nn.Sequential) -> tuple[list[NDArray], list[NDArray]]:
    """Weights (in, out) and biases (out,) of all layers."""
    linear = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    weights = [layer.weight.detach().numpy().T.astype(np.float64) for layer in linear]
    return weights, [layer.bias.detach().numpy().astype(np.float64) for layer in linear]
