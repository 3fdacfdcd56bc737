"""How do joint moments of real running and walking part from OpenSim's as the shank's mass moves to its muscles?

    python validation/degradation/study.py [FOLDER]      writes degradation.png and results.json

Up to 80 % of the right tibia's mass goes to the muscles that span the ankle (the papers' case). The curve of comparison
is OpenSim's own: its tool's `id.sto` of the reference trials beside the project, filtered at 6 Hz as there. Swing is
where the ground force on the right foot is below 20 N.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import osim_inertia as oi
from osim_inertia.loads import read_external_loads

HERE = Path(__file__).resolve().parent
TRIALS = HERE.parents[2] / "shared/data/trials"
NAMES = ("rajagopal_run", "hamner_run", "rajagopal_walk", "gait2392_walk")
FRACTIONS = (0.0, 0.2, 0.4, 0.6, 0.8)
JOINTS = ("ankle_angle_r", "knee_angle_r", "hip_flexion_r")
SWING_FORCE = 20.0  # N


def spans_ankle(system: oi.System) -> list[str]:
    """Muscles with a moment arm about the right ankle at the default pose."""
    arms = system.moment_arms(system.default_pose())[0][:, system.coordinate_names.index("ankle_angle_r")]
    return [name for name, arm in zip(system.path_names, arms) if abs(arm) > 1e-6]


def moments(trial: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Time (t), OpenSim's moments (joint, t), ours (fraction, joint, t) and where swing is (t)."""
    folder = TRIALS / trial
    model = oi.read_osim(folder / "model.osim")
    muscles = spans_ankle(oi.System(model))
    motion, opensim = oi.read_table(folder / "ik.mot"), oi.read_table(folder / "id.sto")
    span = float(opensim.time[0]), float(opensim.time[-1])
    loads = read_external_loads(folder / "external_loads.xml")
    tables = []
    for fraction in FRACTIONS:
        heavy = oi.with_muscle_mass(model, {"tibia_r": fraction}, muscles=muscles) if fraction else model
        tables.append(oi.inverse_dynamics_of(heavy, motion, external_loads=loads, lowpass=6.0, time_range=span))
    time = tables[0].time
    foot = next(force for force in loads.forces if force.body.endswith("calcn_r"))
    vertical = next(name for name in loads.data.names if name == f"{foot.force}y")
    swing = np.interp(time, loads.data.time, loads.data.column(vertical)) < SWING_FORCE
    columns = [f"{joint}_moment" for joint in JOINTS]
    theirs = np.array([np.interp(time, opensim.time, opensim.column(name)) for name in columns])
    return time, theirs, np.array([[table.column(name) for name in columns] for table in tables]), swing


def main(folder: Path) -> None:
    """All trials: ankle in swing, how the change grows, figures."""
    figure, axes = plt.subplots(len(NAMES), 1, figsize=(9, 3.1 * len(NAMES)), layout="constrained")
    results = {}
    for axis, trial in zip(axes, NAMES):
        time, theirs, ours, swing = moments(trial)
        scale = np.abs(theirs[:, swing]).max(axis=1)
        change = np.abs(ours - theirs)[..., swing].max(axis=-1) / scale
        for fraction, moment in zip(FRACTIONS, ours):
            axis.plot(time, np.where(swing, moment[0], np.nan), label=f"{fraction:.0%}")
        axis.plot(time, np.where(swing, theirs[0], np.nan), "k:", label="OpenSim")
        axis.set(title=f"{trial}: right ankle in swing", xlabel="time (s)", ylabel="moment (N m)")
        results[f"{trial}: largest swing moment of the ankle, OpenSim (N m)"] = float(scale[0])
        for joint, by_fraction in zip(("ankle", "knee", "hip"), change.T):
            for fraction, value in zip(FRACTIONS, by_fraction):
                if joint == "ankle" or fraction in (0.0, 0.8):
                    results[f"{trial}: {joint}, {fraction:.0%}, largest change in swing"] = float(value)
    figure.legend(*axes[0].get_legend_handles_labels(), title="share of the tibia in muscles", ncols=6,
                  loc="outside upper center")
    figure.savefig(folder / "degradation.png", dpi=100)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
