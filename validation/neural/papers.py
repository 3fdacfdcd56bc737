"""The dissertation's §6.2.6 and §6.2.7 again: depth, width, threshold, the jump, and failures outside the range.

Part of study.py. Networks that were trained before, in results/ beside this file, are used again.

The papers trained for hours on graphics cards. Here every network gets 3000 steps of 128 samples on one processor core,
so the box its samples come from is made small: the scene of Fig. 6.8, a cylinder and one end that are fixed, the other
end moving until the path lets go of the cylinder, anywhere within 0.35 m. For the failures outside the range one
network is trained on the papers' whole box.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from osim_inertia.neural.canonical import canonical
from osim_inertia.neural.inference import Network, read_network, shipped_network
from osim_inertia.neural.sampling import Box, box_samples, exact
from osim_inertia.neural.train import Settings, train

HERE = Path(__file__).resolve().parent
RATE, BATCH, STEPS = 2e-3, 128, 3000  # the papers' rate, 1e-4, needs hours
SHAPES = ((3, 256), (6, 256), (8, 256), (12, 256), (6, 128))
THRESHOLDS = (0.05, 0.10, 0.20)
RADIUS, ORIGIN, HEIGHT = 0.15, (-0.4, 0.2, 0.0), -0.3  # m; the insertion is at (x, HEIGHT, 0)
FROM, TO = -0.2, 0.5  # m
NEAR = Box(origin=ORIGIN, insertion=(0.15, HEIGHT, 0.0), ends=(0.0, 0.35), thin=0.15, thick=0.15)


def trained(depth: int, width: int, threshold: float, box: Box = NEAR) -> tuple[Network, list]:
    """A network of the papers' kind, and its learning curve; an earlier one is used again."""
    folder = HERE / "results" / (f"{depth}x{width}_{threshold:g}" if box == NEAR else "box")
    settings = Settings(inputs="papers", depth=depth, width=width, steps=STEPS, batch=BATCH, rate=RATE,
                        threshold=threshold, pool=30_720, passes=1, box=box)
    if not (folder / "network.npz").is_file():
        train(settings, folder, threads=1)
    curve = np.loadtxt(folder / "curve.csv", delimiter=",", skiprows=1, ndmin=2)
    return read_network(folder / "network.npz"), curve.tolist()


def scene(x: np.ndarray, label: float = 0.5, radius: float = RADIUS) -> np.ndarray:
    """Inputs (N, 8) of the moving insertion."""
    ends = np.tile([*ORIGIN, 0.0, HEIGHT, 0.0, label, radius], (len(x), 1))
    ends[:, 3] = x
    return ends


def canonical_points(network: Network, inputs: np.ndarray) -> np.ndarray:
    """Points of the shipped network for the papers' inputs."""
    return network.points(canonical(inputs[:, :3], inputs[:, 3:6], inputs[:, 6], inputs[:, 7]))


def errors(network: Network, seed: int = 5) -> tuple[float, float, float]:
    """Position errors in m on fresh samples with the 1 % rule: median, 99th percentile, median at label 0."""
    inputs, points = box_samples(50_000, np.random.default_rng(seed), box=NEAR)
    error = np.linalg.norm(network.values(inputs) - points, axis=1)
    at_ends = inputs.copy()
    at_ends[:, 6] = 0.0
    ends = np.linalg.norm(network.values(at_ends) - inputs[:, :3], axis=1)
    return float(np.median(error)), float(np.quantile(error, 0.99)), float(np.median(ends))


def largest_step(points: np.ndarray, x: np.ndarray) -> float:
    """Largest change of the Jacobian between neighbours on the scene's grid: 1 mm."""
    return float(np.abs(np.diff(np.gradient(points, x))).max())


def length_error(network: Network | None, origin: tuple[float, float, float], radius: float) -> float:
    """By how many per cent the length of the drawn path is off (Figs. 6.13, 6.14); None: the shipped network."""
    labels = np.linspace(0.0, 1.0, 101)
    inputs = np.tile([*origin, -0.5, 0.0, 0.0, 0.0, radius], (len(labels), 1))
    inputs[:, 6] = labels
    drawn = network.values(inputs) if network else canonical_points(shipped_network(), inputs)
    lengths = [np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in (drawn, exact(inputs)[0])]
    return float(100.0 * abs(lengths[0] / lengths[1] - 1.0))


def touch_down(x: np.ndarray) -> float:
    """Where the path of the scene touches the cylinder."""
    share = exact(scene(x))[1]
    return float(x[np.argmax(share > 0.0)])


def repeat(folder: Path) -> dict[str, float]:
    """All networks: papers.png, and the figures."""
    x = np.linspace(FROM, TO, 701)
    truth = exact(scene(x))[0][:, 0]
    near = np.abs(x - touch_down(x)) < 0.1
    figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
    results: dict[str, float] = {}
    lines: dict[int, dict[str, np.ndarray]] = {1: {}, 2: {}}
    for depth, width in SHAPES:
        network, curve = trained(depth, width, 0.01)
        name = f"{depth} × {width}"
        median, tail, ends = errors(network)
        results[f"papers' network {name}: median error (mm)"] = 1e3 * median
        results[f"papers' network {name}: 99th percentile (mm)"] = 1e3 * tail
        results[f"papers' network {name}: median error at label 0 (mm)"] = 1e3 * ends
        axes[0, 0].semilogy([row[0] for row in curve], [row[1] for row in curve], "o-", ms=3, label=name)
        lines[1][name] = network.values(scene(x))[:, 0]
        results[f"papers' network {name}: largest step of the Jacobian over 1 mm"] = largest_step(lines[1][name], x)
    for threshold in (0.01, *THRESHOLDS):
        network, _ = trained(6, 256, threshold)
        points = lines[2][f"{threshold:.0%}"] = network.values(scene(x))[:, 0]
        error = 1e3 * float(np.abs(points - truth)[near].max())
        results[f"papers' network, threshold {threshold:.0%}: largest error near touch-down (mm)"] = error
    chosen, _ = trained(6, 256, 0.01, Box())
    shipped = canonical_points(shipped_network(), scene(x))[:, 0]
    results["shipped network on the same scene: largest error near touch-down (mm)"] = 1e3 * float(
        np.abs(shipped - truth)[near].max())
    results["exact path on the same scene: largest step of the Jacobian over 1 mm"] = largest_step(truth, x)
    results["shipped network on the same scene: largest step of the Jacobian over 1 mm"] = largest_step(shipped, x)
    for who, network in (("papers' network", chosen), ("shipped network", None)):
        for at in (1.0, 1.5, 2.0):
            results[f"{who}, origin at {at:g} m: length off (%)"] = length_error(network, (at, 0.02, 0.0), 0.15)
        for radius in (0.2, 0.3, 0.4):
            results[f"{who}, radius {radius:g} m: length off (%)"] = length_error(network, (1.0, 0.02, 0.0), radius)
    _draw(axes, x, lines, truth, shipped, chosen)
    figure.savefig(folder / "papers.png", dpi=90)
    return results


def _draw(
    axes: np.ndarray, x: np.ndarray, lines: dict, truth: np.ndarray, shipped: np.ndarray, chosen: Network
) -> None:
    for row, shown in ((0, lambda y: y), (1, lambda y: np.gradient(y, x))):
        for column in (1, 2):
            axis = axes[row, column]
            axis.plot(x, shown(truth), "k", lw=3, alpha=0.4, label="exact")
            for name, points in lines[column].items():
                axis.plot(x, shown(points), lw=1, label=name)
            axis.plot(x, shown(shipped), "r:", lw=2, label="shipped")
            axis.set(xlabel="insertion x (m)", ylabel="Jacobian" if row else "x of the middle (m)")
            axis.legend(fontsize=7)
    radii = np.linspace(0.05, 0.4, 36)
    for name, network in (("papers' kind, 6 × 256", chosen), ("shipped", None)):
        off = [max(length_error(network, (1.0, 0.02, 0.0), radius), 1e-4) for radius in radii]
        axes[1, 0].semilogy(radii, off, label=name)
    axes[1, 0].axvline(0.2, color="k", lw=0.5)
    axes[1, 0].set(xlabel="radius (m); trained up to 0.2", ylabel="length off by %", title="outside the range")
    axes[0, 0].set(xlabel="step", ylabel="error in training (m)", title="depth and width")
    axes[0, 1].set_title("threshold 1 %: networks by size")
    axes[0, 2].set_title("6 × 256: networks by threshold")
    for axis in axes[:, 0]:
        axis.legend(fontsize=7)
