"""The dissertation's §6.2.6 and §6.2.7 again: depth, width, threshold, the jump, and failures outside the range.

    python validation/neural/papers.py      trains eight networks, writes papers.png and papers.json beside this file

The papers trained for hours on graphics cards; here every network gets the same 1000 steps of 256 samples on one
processor core. The scene is that of Fig. 6.8: a cylinder, one end fixed, the other moving along x until the path lets
go of the cylinder.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from osim_inertia.neural.canonical import canonical
from osim_inertia.neural.inference import Network, read_network, shipped_network
from osim_inertia.neural.sampling import box_samples, exact
from osim_inertia.neural.train import Settings, train

HERE = Path(__file__).resolve().parent
RATE, BATCH, STEPS = 1e-3, 256, 1000  # the papers' rate, 1e-4, needs hours
SHAPES = ((3, 256), (6, 256), (8, 256), (12, 256), (6, 128))
THRESHOLDS = (0.05, 0.10, 0.20)
RADIUS, ORIGIN, HEIGHT = 0.15, (-0.4, 0.2, 0.0), -0.3  # m; the insertion is at (x, HEIGHT, 0)
FROM, TO = -0.2, 0.5  # m


def trained(depth: int, width: int, threshold: float) -> tuple[Network, list]:
    """A network of the papers' kind, and its learning curve; an earlier one is used again."""
    folder = HERE / "results" / f"{depth}x{width}_{threshold:g}"
    settings = Settings(inputs="papers", depth=depth, width=width, steps=STEPS, batch=BATCH, rate=RATE,
                        threshold=threshold, pool=30_720, passes=1)
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


def errors(network: Network, seed: int = 5) -> dict[str, float]:
    """Position errors in m on fresh samples of the papers' box with the 1 % rule, ends included."""
    inputs, points = box_samples(50_000, np.random.default_rng(seed))
    error = np.linalg.norm(network.values(inputs) - points, axis=1)
    at_ends = inputs.copy()
    at_ends[:, 6] = 0.0
    ends = np.linalg.norm(network.values(at_ends) - inputs[:, :3], axis=1)
    return {"median": float(np.median(error)), "p99": float(np.quantile(error, 0.99)),
            "median at label 0": float(np.median(ends))}


def jump(points: np.ndarray, x: np.ndarray) -> dict[str, float]:
    """Behaviour along the scene: largest slope jump between neighbours, and the roughness of the Jacobian."""
    slope = np.gradient(points, x)
    return {"largest change of the Jacobian between neighbours": float(np.abs(np.diff(slope)).max()),
            "turns of the Jacobian": int((np.diff(np.sign(np.diff(slope))) != 0).sum())}


def failures(network: Network) -> dict[str, dict[str, float]]:
    """Length of the drawn path against the exact one outside the training box, in per cent (Figs. 6.13, 6.14)."""
    labels = np.linspace(0.0, 1.0, 101)

    def difference(origin: tuple, radius: float, by: str) -> float:
        inputs = np.tile([*origin, -0.5, 0.0, 0.0, 0.0, radius], (len(labels), 1))
        inputs[:, 6] = labels
        drawn = network.values(inputs) if by == "papers" else canonical_points(shipped_network(), inputs)
        lengths = [np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in (drawn, exact(inputs)[0])]
        return float(100.0 * abs(lengths[0] / lengths[1] - 1.0))

    result: dict[str, dict[str, float]] = {}
    for by in ("papers", "shipped"):
        for x in (1.0, 1.2, 1.5, 2.0):
            result.setdefault(f"{by}: origin at x", {})[f"{x:g} m"] = difference((x, 0.02, 0.0), 0.15, by)
        for radius in (0.2, 0.25, 0.3, 0.4):
            result.setdefault(f"{by}: radius", {})[f"{radius:g} m"] = difference((1.0, 0.02, 0.0), radius, by)
    return result


def main() -> None:
    """All networks: figure and JSON."""
    x = np.linspace(FROM, TO, 701)
    truth = exact(scene(x))[0][:, 0]
    figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
    results: dict = {"steps": STEPS, "batch": BATCH, "shapes": {}, "thresholds": {}}
    chosen = None
    for depth, width in SHAPES:
        network, curve = trained(depth, width, 0.01)
        chosen = network if (depth, width) == (6, 256) else chosen
        name = f"{depth} × {width}"
        points = network.values(scene(x))[:, 0]
        results["shapes"][name] = errors(network) | jump(points, x)
        axes[0, 0].semilogy([row[0] for row in curve], [row[1] for row in curve], label=name)
        axes[0, 1].plot(x, points, lw=1, label=name)
        axes[1, 1].plot(x, np.gradient(points, x), lw=1, label=name)
        print(name, results["shapes"][name], flush=True)
    assert chosen is not None
    for threshold in (0.01, *THRESHOLDS):
        network = chosen if threshold == 0.01 else trained(6, 256, threshold)[0]
        points = network.values(scene(x))[:, 0]
        near = np.abs(x - touch_down(x)) < 0.1
        results["thresholds"][f"{threshold:.0%}"] = {
            "largest error near touch-down (m)": float(np.abs(points - truth)[near].max())} | jump(points, x)
        axes[0, 2].plot(x, points, lw=1, label=f"{threshold:.0%}")
        axes[1, 2].plot(x, np.gradient(points, x), lw=1, label=f"{threshold:.0%}")
        print(threshold, results["thresholds"][f"{threshold:.0%}"], flush=True)
    shipped = canonical_points(shipped_network(), scene(x))[:, 0]
    results["shipped"] = {"largest error along the scene (m)": float(np.abs(shipped - truth).max())} | jump(shipped, x)
    results["failures outside the range: length off by %"] = failures(chosen)
    for row, values in ((0, lambda y: y), (1, lambda y: np.gradient(y, x))):
        for column in (1, 2):
            axes[row, column].plot(x, values(truth), "k", lw=2, alpha=0.4, label="exact")
            axes[row, column].plot(x, values(shipped), "r:", lw=2, label="shipped")
            axes[row, column].set(xlabel="insertion x (m)", ylabel="x of the middle (m)" if row == 0 else "Jacobian")
            axes[row, column].legend(fontsize=7)
    axes[1, 1].set_ylim(-0.5, 1.5)
    axes[1, 2].set_ylim(-0.5, 1.5)
    axes[0, 0].set(xlabel="step", ylabel="error in training (m)", title="depth and width")
    axes[0, 1].set_title("threshold 1 %: networks by size")
    axes[0, 2].set_title("6 × 256: networks by threshold")
    for name, row in results["failures outside the range: length off by %"].items():
        if "radius" in name:
            radii = [float(key.split()[0]) for key in row]
            axes[1, 0].semilogy(radii, np.maximum(list(row.values()), 1e-4), "o-", label=name)
    axes[1, 0].set(xlabel="radius (m); trained up to 0.2", ylabel="length off by %", title="outside the range")
    for axis in axes[:, 0]:
        axis.legend(fontsize=7)
    figure.savefig(HERE / "papers.png", dpi=100)
    (HERE / "papers.json").write_text(json.dumps(results, indent=1) + "\n")


def touch_down(x: np.ndarray) -> float:
    """Where the path of the scene touches the cylinder."""
    share = exact(scene(x))[1]
    return float(x[np.argmax(share > 0.0)] if share[0] == 0.0 else x[np.argmax(share == 0.0)])


if __name__ == "__main__":
    main()
