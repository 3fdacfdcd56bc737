"""Pai's limb: where does an arm hang 0.3 s after its release, with the muscle as matter and lumped onto the rods?

    python validation/pai_limb/study.py [FOLDER]      writes pai_limb.png and results.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import osim_inertia as oi

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "models/pai_limb/pai_limb.osim"
SECONDS = 0.3


def swing(model: oi.Model) -> tuple[np.ndarray, np.ndarray]:
    """Time and both angles (degrees) after a release from rest in the default pose."""
    system = oi.System(model, like_opensim=False, threads=1)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], system.forward_dynamics(y[:2], y[2:], np.zeros(2))[0]])

    run = solve_ivp(rate, (0.0, SECONDS), [*system.default_pose(), 0.0, 0.0], method="DOP853", rtol=1e-10, atol=1e-10,
                    t_eval=np.linspace(0.0, SECONDS, 101))
    return run.t, np.rad2deg(run.y[:2])


def main(folder: Path) -> None:
    """Both limbs: figure and figures."""
    lumped = oi.read_osim(MODEL)
    half = {"rod1": 0.5, "rod2": 0.5}
    massive = oi.with_muscle_mass(lumped, {"rod1": 1 / 3, "rod2": 1 / 3}, along={"muscle": half}, belly="whole")
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    results = {}
    for name, model, style in (("muscle with mass", massive, "-"), ("lumped onto the rods", lumped, "--")):
        time, (upper, lower) = swing(model)
        results[f"{name}: upper angle at 0.3 s (deg)"] = float(upper[-1])
        results[f"{name}: lower angle at 0.3 s (deg)"] = float(lower[-1])
        axis.plot(time, upper, style, color="#08306b", label=f"upper, {name}")
        axis.plot(time, lower, style, color="#b2182b", label=f"lower, {name}")
    axis.axhline(0.0, color="0.7", lw=0.8)
    axis.set(xlabel="time (s)", ylabel="angle (°)", title="Released from −45° and 135°")
    axis.legend(fontsize=8)
    figure.savefig(folder / "pai_limb.png", dpi=110)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
