"""How much does the swing-phase ankle moment of real running change when the shank's mass rides on its muscles?

    python validation/running/study.py      writes running.png and results.json beside this file

80 % of the right tibia's mass goes to the muscles that span the ankle (the papers' case). The curve of comparison is
OpenSim's own: its tool's `id.sto` of the reference trials beside the project. Swing is where the foot's ground force is
below 20 N.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osim_inertia as oi
from osim_inertia.loads import read_external_loads

HERE = Path(__file__).resolve().parent
TRIALS = HERE.parents[2] / "shared/data/trials"
NAMES = ("rajagopal_run", "hamner_run")
FRACTIONS = (0.0, 0.2, 0.4, 0.6, 0.8)
SWING_FORCE = 20.0  # N


def spans_ankle(system: oi.System) -> list[str]:
    """Right-side muscles with a moment arm about the right ankle at the default pose."""
    arms = system.moment_arms(system.default_pose())[0][:, system.coordinate_names.index("ankle_angle_r")]
    return [name for name, arm in zip(system.path_names, arms) if abs(arm) > 1e-6]


def study(trial: str) -> dict:
    """Moments by fraction, the swing mask and the largest relative change."""
    folder = TRIALS / trial
    model = oi.read_osim(folder / "model.osim")
    muscles = spans_ankle(oi.System(model))
    motion = oi.read_table(folder / "ik.mot")
    reference = oi.read_table(folder / "id.sto")
    span = (reference.time[0], reference.time[-1])
    loads = read_external_loads(folder / "external_loads.xml")
    curves = []
    for fraction in FRACTIONS:
        heavy = oi.with_muscle_mass(model, {"tibia_r": fraction}, muscles=muscles) if fraction else model
        curves.append(oi.inverse_dynamics_of(heavy, motion, external_loads=loads, lowpass=6.0, time_range=span))
    foot = next(force for force in loads.forces if force.body.endswith("calcn_r"))
    columns = [name for name in loads.data.names if name.startswith(foot.force)]
    force = np.interp(curves[0].time, loads.data.time, loads.data.column(columns[1]))
    swing = force < SWING_FORCE
    moments = np.array([curve.column("ankle_angle_r_moment") for curve in curves])
    opensim = np.interp(curves[0].time, reference.time, reference.column("ankle_angle_r_moment"))
    scale = np.abs(opensim[swing]).max()
    change = np.abs(moments - opensim)[:, swing].max(axis=1) / scale
    return {"time": curves[0].time, "moments": moments, "opensim": opensim, "swing": swing, "muscles": muscles,
            "scale": scale, "change": change}


def main() -> None:
    """Both trials: figure, table and JSON."""
    figure, axes = plt.subplots(2, 1, figsize=(9, 7), layout="constrained")
    results = {}
    for axis, trial in zip(axes, NAMES):
        data = study(trial)
        swing, time = data["swing"], data["time"]
        for fraction, moment in zip(FRACTIONS, data["moments"]):
            axis.plot(time, np.where(swing, moment, np.nan), label=f"{fraction:.0%}")
        axis.plot(time, np.where(swing, data["opensim"], np.nan), "k:", label="OpenSim")
        axis.set(title=f"{trial}: right ankle in swing", xlabel="time (s)", ylabel="moment (N m)")
        axis.legend(title="tibia in muscles", fontsize=8, ncols=6)
        results[trial] = {
            "muscles": data["muscles"],
            "largest swing moment, OpenSim (N m)": float(data["scale"]),
            "largest change relative to it": {f"{f:.0%}": float(c) for f, c in zip(FRACTIONS, data["change"])},
        }
        print(trial, {f"{f:.0%}": f"{c:.2%}" for f, c in zip(FRACTIONS, data["change"])})
    figure.savefig(HERE / "running.png", dpi=110)
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
