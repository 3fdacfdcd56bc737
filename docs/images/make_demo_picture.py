"""Draws demo.png from the demonstration's own data: python docs/images/make_demo_picture.py (needs matplotlib)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from osim_inertia.demo import SPEED, run_demo
from osim_inertia.report.curves import STEPS, Curve
from osim_inertia.report.figures import palette

PICTURE = Path(__file__).with_name("demo.png")
OPENSIM_COLOUR = "#888888"


def draw(curve: Curve, picture: Path) -> None:
    """Ankle moment over the stride, one curve per share of mass."""
    assert curve.strides is not None
    stride, toe_off, percents = np.linspace(0.0, 100.0, STEPS), curve.strides.toe_off, tuple(curve.forces)
    figure, axes = plt.subplots(figsize=(8.0, 4.2), dpi=150, layout="constrained")
    axes.axvspan(toe_off, 100.0, color="#7f9fbf", alpha=0.15, linewidth=0)
    axes.axhline(0.0, color="#999999", linewidth=0.6)
    for percent, colour in zip(percents, palette(percents)["light"]):
        axes.plot(stride, curve.mean(percent), color=colour, linewidth=1.8, label=f"{percent} %")
    theirs = curve.opensim_mean()
    if theirs is not None:
        axes.plot(stride, theirs, color=OPENSIM_COLOUR, linestyle=":", linewidth=2.2, label="OpenSim")
    shown = np.array(list(curve.counted().values()))
    low, high, room = shown.min(), shown.max(), np.ptp(shown)
    axes.set(xlim=(0.0, 100.0), ylim=(low - 0.15 * room, high + 0.22 * room), xlabel="stride (%), from foot strike",
             ylabel="ankle moment (N m)\ndorsiflexion positive")  # fmt: skip
    axes.text(toe_off + 1.0, high + 0.20 * room, "swing", va="top", color="#46607a")
    axes.text(1.0, high + 0.20 * room, "stance (no ground forces here)", va="top", color="#777777", fontsize=8)
    axes.set_title(f"Running at {SPEED:g} km/h: 0 to {percents[-1]} % of the shank's mass in its muscles", fontsize=11)
    axes.legend(title="share in muscles", loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture)
    plt.close(figure)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found, _ = run_demo(Path(folder))
        draw(found.curves[0], PICTURE)
