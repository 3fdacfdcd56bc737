"""Training: Adam, cosine decay, position loss and, if asked for, Jacobian loss; seeds, checkpoints, learning curves.

    sampling --> pools of samples --> [train] --> network.npz, curve.csv, checkpoint.pt

Samples come in pools, each made from the seed and its own number and dropped after a few passes: the network never sees
the same samples for long, and a resumed training goes on exactly as if it had not been interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import cos, pi
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from osim_inertia.errors import FileError
from osim_inertia.neural.canonical import Reach
from osim_inertia.neural.inference import canonical_inputs, write_network
from osim_inertia.neural.network import arrays, perceptron
from osim_inertia.neural.sampling import THRESHOLD, Box, box_samples, canonical_samples, exact

Array = NDArray[np.float64]
CHECKED = 100_000  # fresh samples for the final errors
CHECKS = 20  # points of the learning curve with errors on fresh samples
STEP = 1e-2  # between the two samples of a pair, for the Jacobian loss
LEAST_RATE = 1e-3  # of the first learning rate


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One training. The defaults are those of the network that comes with the package."""

    inputs: str = "canonical"  # canonical: what symmetry leaves of a cylinder; papers: origin, insertion, label, radius
    surface: str = "cylinder"  # papers only: cylinder or sphere
    depth: int = 3
    width: int = 40
    steps: int = 60_000
    batch: int = 1024
    rate: float = 3e-3
    seed: int = 0
    threshold: float = THRESHOLD
    jacobian: float = 0.0  # weight of the Jacobian loss
    box: Box = field(default_factory=Box)  # papers only
    pool: int = 131_072  # samples
    passes: int = 4  # over each pool


# what the papers' networks need instead: 6 × 256, 30 000 samples, Adam at 1e-4
PAPERS: dict[str, Any] = {"depth": 6, "width": 256, "steps": 20_000, "rate": 1e-4, "pool": 30_720, "passes": 100}


@dataclass(frozen=True)
class Result:
    """What a training gives."""

    file: Path
    errors: dict[str, float]  # in radii (canonical) or m (papers)
    curve: list[tuple[int, float, float, float]]  # step, root mean square in training, median, 99th percentile
    seconds: float


class _Samples:
    """Inputs and outputs of one kind of network, as tensors; x = base + scale · network."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.inputs, self.outputs = (7, 2) if settings.inputs == "canonical" else (8, 3)

    def pool(self, n: int, rng: np.random.Generator) -> list[torch.Tensor]:
        """(inputs, scale, rest) of n samples; with Jacobian loss the second half are the first half's neighbours."""
        raw = self._raw(n, rng)
        if self.settings.jacobian > 0.0:
            near = raw + STEP * rng.choice([-1.0, 1.0], raw.shape) * self._sizes(raw)
            raw = np.concatenate([raw, near])
        return [torch.from_numpy(x.astype(np.float32)) for x in self._prepared(raw)]

    def _raw(self, n: int, rng: np.random.Generator) -> Array:
        if self.settings.inputs == "canonical":
            return np.stack(canonical_samples(n, rng, threshold=self.settings.threshold), axis=1)
        s = self.settings
        return box_samples(n, rng, surface=s.surface, box=s.box, threshold=s.threshold)[0]

    def _sizes(self, raw: Array) -> Array:
        """How far a neighbour may be, per input: a share of the tangents, else of 1 (labels and radii: of a tenth)."""
        if self.settings.inputs == "canonical":
            inside = np.minimum(raw[:, 3], 1.0 - raw[:, 3])
            return np.stack([raw[:, 0], raw[:, 1], np.ones(len(raw)), inside], axis=1)
        return np.concatenate([np.ones((len(raw), 6)), 0.1 * np.ones((len(raw), 2))], axis=1)

    def _prepared(self, raw: Array) -> tuple[Array, Array, Array]:
        if self.settings.inputs == "canonical":
            features, base, scale, target = canonical_inputs(*raw.T)
            return features, scale[:, None], target - base
        return raw, np.ones((len(raw), 1)), exact(raw, self.settings.surface)[0]


def train(
    settings: Settings, folder: str | Path, *, resume: bool = False,
    advance: Callable[[int, int], object] = lambda done, total: None, threads: int | None = None,
) -> Result:
    """Train a network; network.npz, curve.csv and checkpoint.pt go to the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if threads:
        torch.set_num_threads(threads)
    began = time.perf_counter()
    torch.manual_seed(settings.seed)
    samples = _Samples(settings)
    network = perceptron(samples.inputs, samples.outputs, settings.depth, settings.width)
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.rate)
    state: dict[str, Any] = {"step": 0, "curve": [], "seconds": 0.0}
    checkpoint = folder / "checkpoint.pt"
    if resume:
        state = _resumed(checkpoint, settings, network, optimizer)
    earlier, curve = state["seconds"], state["curve"]
    per_pool = settings.passes * max(settings.pool // settings.batch, 1)
    pools = -(-settings.steps // per_pool)
    for number in range(state["step"] // per_pool, pools):
        rng = np.random.default_rng([settings.seed, number])
        data = samples.pool(settings.pool, rng)
        first, last = number * per_pool, min((number + 1) * per_pool, settings.steps)
        loss = _run_pool(network, optimizer, data, settings, rng, first, last)
        errors = (np.nan, np.nan)
        if number % max(pools // CHECKS, 1) == 0 or number == pools - 1:
            errors = _errors(network, samples, 20_000, settings.seed)
        curve.append((last, loss, *errors))
        state = {"step": last, "curve": curve, "seconds": earlier + time.perf_counter() - began}
        _save(checkpoint, settings, network, optimizer, state)
        advance(last, settings.steps)
    median, tail = _errors(network, samples, CHECKED, settings.seed + 1)
    seconds = earlier + time.perf_counter() - began
    about = {"settings": asdict(settings), "reach": asdict(Reach()), "median": median, "p99": tail, "seconds": seconds,
             "torch": torch.__version__}
    write_network(folder / "network.npz", *arrays(network), about)
    rows = "".join(f"{step},{loss:.6g},{m:.6g},{p:.6g}\n" for step, loss, m, p in curve)
    (folder / "curve.csv").write_text("step,rms_in_training,median,p99\n" + rows, encoding="utf-8")
    return Result(folder / "network.npz", {"median": median, "p99": tail}, curve, seconds)


def _run_pool(
    network: torch.nn.Sequential, optimizer: torch.optim.Optimizer, data: list[torch.Tensor], settings: Settings,
    rng: np.random.Generator, first: int, last: int,
) -> float:
    """Steps first … last − 1 on one pool; root mean square of the position error."""
    inputs, scale, rest = data
    step, total = first, 0.0
    for _ in range(settings.passes):
        order = torch.from_numpy(rng.permutation(settings.pool))
        for start in range(0, settings.pool - settings.batch + 1, settings.batch):
            if step >= last:
                break
            rows = order[start : start + settings.batch]
            if settings.jacobian > 0.0:
                rows = torch.cat([rows, rows + settings.pool])
            share = step / settings.steps
            rate = settings.rate * (LEAST_RATE + (1.0 - LEAST_RATE) * 0.5 * (1.0 + cos(pi * share)))
            for group in optimizer.param_groups:
                group["lr"] = rate
            error = network(inputs[rows]) * scale[rows] - rest[rows]
            position = (error**2).sum(dim=1).mean()
            loss = position
            if settings.jacobian > 0.0:
                apart = (error[: settings.batch] - error[settings.batch :]) / STEP
                loss = position + settings.jacobian * (apart**2).sum(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(position.detach())
            step += 1
    return float(np.sqrt(total / max(last - first, 1)))


def _errors(network: torch.nn.Sequential, samples: _Samples, n: int, seed: int) -> tuple[float, float]:
    """Median and 99th percentile of the position error on fresh samples."""
    raw = samples._raw(n, np.random.default_rng([seed, 2**31]))
    inputs, scale, rest = (torch.from_numpy(x.astype(np.float32)) for x in samples._prepared(raw))
    with torch.no_grad():
        error = torch.linalg.vector_norm(network(inputs) * scale - rest, dim=1).numpy()
    return float(np.median(error)), float(np.quantile(error, 0.99))


def _save(
    path: Path, settings: Settings, network: torch.nn.Sequential, optimizer: torch.optim.Optimizer,
    state: dict[str, Any],
) -> None:
    part = path.with_suffix(".part")
    torch.save(state | {"settings": asdict(settings), "network": network.state_dict(),
                        "optimizer": optimizer.state_dict()}, part)
    part.replace(path)


def _resumed(
    path: Path, settings: Settings, network: torch.nn.Sequential, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    if not path.is_file():
        raise FileError("There is no training to resume.", file=path, expected="checkpoint.pt of an earlier training",
                        to_do="train without --resume")
    state: dict[str, Any] = torch.load(path, weights_only=True)
    before = state.pop("settings")
    changed = [name for name, value in asdict(settings).items() if before.get(name) != value]
    if changed:
        raise FileError("The earlier training had other settings.", file=path,
                        found=", ".join(f"{name} {before.get(name)}" for name in changed),
                        expected=", ".join(f"{name} {getattr(settings, name)}" for name in changed),
                        to_do="give the same settings, or train in another folder")
    network.load_state_dict(state.pop("network"))
    optimizer.load_state_dict(state.pop("optimizer"))
    return state
