"""Does a limb with a massive muscle keep its energy? Four ways to get it wrong, and one that is right.

    python validation/energy/study.py [FOLDER]      writes energy.png and results.json

The double pendulum of models/ with a 1 kg muscle, released from rest, integrated with tolerance 1e-9: a muscle over via
points as a continuum, as 20 beads (the papers), and without the quadratic velocity vector of the muscle (the papers'
Fig. 1); and a muscle that swings on and off a cylinder, blended and raw (their Figs. 7 and 8).
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import osim_inertia as oi

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "models/double_pendulum/double_pendulum.osim"
SECONDS = 3.0
CASES = {  # panel: {line: (muscle, options, with the quadratic velocity vector)}
    "via points": {
        "continuum": ("over_points", {}, True),
        "20 beads": ("over_points", {"beads": 20}, True),
        "no quadratic velocity vector": ("over_points", {}, False),
    },
    "on and off a cylinder": {
        "blend": ("over_pulley", {}, True),
        "raw wrapping": ("over_pulley", {"wrap": "exact"}, True),
    },
}


def pendulum(muscle: str, **options: object) -> oi.Model:
    """Two rods of 1 kg and a muscle of 1 kg, spread over its whole path."""
    return oi.with_muscle_mass(oi.read_osim(MODEL), {"rod1": 0.5}, muscles=[muscle], along={muscle: "rod1"},
                               belly="whole", **options)  # type: ignore[arg-type]


def energy(model: oi.Model, quadratic_velocity: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Time, change of energy (J) and largest kinetic energy of a free swing from the default pose."""
    system = oi.System(model, like_opensim=False, threads=1)
    bones = oi.System(replace(model, muscle_mass=None), like_opensim=False, threads=1)
    rest = np.zeros(2)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        q, u = y[:2], y[2:]
        if quadratic_velocity:
            return np.concatenate([u, system.forward_dynamics(q, u, rest)[0]])
        muscle_weight = system.gravity_forces(q) - bones.gravity_forces(q)
        bias = (bones.bias_forces(q, u) + muscle_weight)[0]
        return np.concatenate([u, np.linalg.solve(system.mass_matrix(q)[0], -bias)])

    run = solve_ivp(rate, (0.0, SECONDS), [*system.default_pose(), 0.0, 0.0], method="DOP853", rtol=1e-9, atol=1e-9,
                    t_eval=np.linspace(0.0, SECONDS, 301))
    q, u = run.y[:2].T, run.y[2:].T
    kinetic = system.kinetic_energy(q, u)
    total = kinetic + system.potential_energy(q)
    return run.t, total - total[0], float(kinetic.max())


def main(folder: Path) -> None:
    """All cases: figure and figures."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    results = {}
    for axis, (title, ways) in zip(axes, CASES.items()):
        for name, (muscle, options, full) in ways.items():
            time, change, scale = energy(pendulum(muscle, **options), full)
            drift = float(np.abs(change).max())
            results[f"{title}, {name}: drift (J)"] = drift
            results[f"{title}, {name}: drift relative to the kinetic energy"] = drift / scale
            axis.plot(time, change, label=f"{name}: {drift:.1e} J")
        axis.set(title=title, xlabel="time (s)", ylabel="change of energy (J)")
        axis.legend(fontsize=8)
    smooth, beads = (results[f"via points, {way}: drift (J)"] for way in ("continuum", "20 beads"))
    results["via points: beads drift so many times as far as the continuum"] = beads / smooth
    figure.savefig(folder / "energy.png", dpi=110)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
