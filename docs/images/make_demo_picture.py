"""Draws demo.png from the demonstration's own data: python docs/images/make_demo_picture.py (needs matplotlib)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from osim_inertia.demo import PERCENTS, SPEED, STEPS, Demo, run_demo
from osim_inertia.demo_page import COLOURS, OPENSIM_COLOUR

PICTURE = Path(__file__).with_name("demo.png")


def draw(demo: Demo, picture: Path) -> None:
    """Ankle moment over the stride, one curve per share of mass."""
    stride, swing = np.linspace(0.0, 100.0, STEPS), demo.in_swing()
    figure, axes = plt.subplots(figsize=(8.0, 4.2), dpi=150, layout="constrained")
    axes.axvspan(demo.toe_off, 100.0, color="#7f9fbf", alpha=0.15, linewidth=0)
    axes.axhline(0.0, color="#999999", linewidth=0.6)
    for percent in PERCENTS:
        axes.plot(stride, demo.curve(demo.forces[percent], "ankle"), color=COLOURS[percent], linewidth=1.8,
                  label=f"{percent} %")  # fmt: skip
    if demo.opensim is not None:
        axes.plot(stride, demo.curve(demo.opensim, "ankle"), color=OPENSIM_COLOUR, linestyle=":", linewidth=2.2,
                  label="OpenSim")  # fmt: skip
    shown = np.array([demo.curve(table, "ankle")[swing] for table in demo.forces.values()])
    low, high, room = shown.min(), shown.max(), np.ptp(shown)
    axes.set(xlim=(0.0, 100.0), ylim=(low - 0.15 * room, high + 0.22 * room), xlabel="stride (%), from foot strike",
             ylabel="ankle moment (N m)\ndorsiflexion positive")  # fmt: skip
    axes.text(demo.toe_off + 1.0, high + 0.20 * room, "swing", va="top", color="#46607a")
    axes.text(1.0, high + 0.20 * room, "stance (no ground forces here)", va="top", color="#777777", fontsize=8)
    axes.set_title(f"Running at {SPEED:g} km/h: 0 to {PERCENTS[-1]} % of the shank's mass in its muscles", fontsize=11)
    axes.legend(title="share in muscles", loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture)
    plt.close(figure)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(run_demo(Path(folder)), PICTURE)
