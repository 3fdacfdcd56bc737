"""Does a limb with a massive muscle keep its energy? Four ways to get it wrong, and one that is right.

    python validation/energy/study.py      writes energy.png and results.json beside this file

Planar double pendulums of two 1 kg rods with a 1 kg muscle, released from rest, integrated with tolerance 1e-9:
a muscle over via points as a continuum, as 20 beads (the papers), and without the quadratic velocity vector of the
muscle (the papers' Fig. 1); and a muscle that swings on and off a cylinder, blended and raw (their Figs. 7 and 8).
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
sys.path.insert(0, str(HERE.parents[1] / "tests"))
from limbs import double_pendulum  # noqa: E402  (the path above must be set first)

VIA = (("ground", (0.1, 0.0, 0.0)), ("rod1", (0.05, -0.25, 0.0)), ("rod1", (0.05, -0.45, 0.0)),
       ("rod2", (0.04, -0.3, 0.0)))
PULLEY = (("rod1", (0.06, -0.15, 0.0)), ("rod2", (0.06, -0.3, 0.02)))
START, SECONDS = (1.2, 0.5), 3.0


def energy(model: oi.Model, *, quadratic_velocity: bool = True) -> tuple[np.ndarray, np.ndarray, float]:
    """Time, change of energy (J) and largest kinetic energy of a free swing."""
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

    run = solve_ivp(rate, (0.0, SECONDS), [*START, 0.0, 0.0], method="DOP853", rtol=1e-9, atol=1e-9,
                    t_eval=np.linspace(0.0, SECONDS, 301))
    q, u = run.y[:2].T, run.y[2:].T
    kinetic = system.kinetic_energy(q, u)
    total = kinetic + system.potential_energy(q)
    return run.t, total - total[0], float(kinetic.max())


def main() -> None:
    """All cases: figure, table and JSON."""
    cases = {
        "via points": {
            "continuum": (double_pendulum(VIA), True),
            "20 beads": (double_pendulum(VIA, beads=20), True),
            "no quadratic velocity vector": (double_pendulum(VIA), False),
        },
        "on and off a cylinder": {
            "blend": (double_pendulum(PULLEY, cylinder=0.12, quadrant="+x"), True),
            "raw wrapping": (double_pendulum(PULLEY, cylinder=0.12, quadrant="+x", wrap="exact"), True),
        },
    }
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    results = {}
    for axis, (title, ways) in zip(axes, cases.items()):
        for name, (model, full) in ways.items():
            time, change, scale = energy(model, quadratic_velocity=full)
            drift = float(np.abs(change).max())
            results[f"{title}: {name}"] = {"largest drift (J)": drift, "relative to the kinetic energy": drift / scale}
            axis.plot(time, change, label=f"{name}: {drift:.1e} J")
            print(f"{title}: {name}: {drift:.2e} J, {drift / scale:.1e} of the kinetic energy")
        axis.set(title=title, xlabel="time (s)", ylabel="change of energy (J)")
        axis.legend(fontsize=8)
    figure.savefig(HERE / "energy.png", dpi=110)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
