"""What does blending do where a muscle touches down on a cylinder, and what does it cost in accuracy?

    python validation/wrapping/study.py [FOLDER]      writes wrapping.png and results.json

Raw: the path is continuous when it touches a cylinder, but its Jacobian jumps, and with it the mass matrix. Blended:
straight and wrapped geometry are mixed while the wrapped share of the path is below ε. The double pendulum of models/
bends its second joint until its muscle lies on the pulley; then the running trial of the reference data, raw against
blended.
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
MODEL = HERE.parents[1] / "models/double_pendulum/double_pendulum.osim"
TRIAL = HERE.parents[2] / "shared/data/trials/rajagopal_run"
WINDOWS = (0.005, 0.01, 0.02, 0.05)  # ε; 1 % is the default and the papers' threshold
STEP = 1e-4  # rad


def pendulum(**options: object) -> oi.System:
    """A 1 kg muscle over the pulley."""
    model = oi.with_muscle_mass(oi.read_osim(MODEL), {"rod1": 0.5}, muscles=["over_pulley"], belly="whole",
                                along={"over_pulley": "rod1"}, **options)  # type: ignore[arg-type]
    return oi.System(model, like_opensim=False, threads=1)


def sweep(system: oi.System, angles: np.ndarray) -> np.ndarray:
    """Inertia about the second joint (kg m²) as it bends."""
    return np.asarray(system.mass_matrix(np.column_stack([np.zeros_like(angles), angles]))[:, 1, 1])


def largest_step(values: np.ndarray) -> float:
    """Largest change from one angle to the next."""
    return float(np.abs(np.diff(values)).max())


def running(**options: object) -> oi.Table:
    """Moments of the run with 40 % of every body that has muscle along it in its muscles."""
    model = oi.with_muscle_mass(oi.read_osim(TRIAL / "model.osim"), 0.4, **options)  # type: ignore[arg-type]
    loads, opensim = read_external_loads(TRIAL / "external_loads.xml"), oi.read_table(TRIAL / "id.sto")
    return oi.inverse_dynamics_of(model, oi.read_table(TRIAL / "ik.mot"), external_loads=loads, lowpass=6.0,
                                  time_range=(float(opensim.time[0]), float(opensim.time[-1])))


def main(folder: Path) -> None:
    """The jump, the blend for several windows, and what it means for a run."""
    angles = np.arange(-1.0, 1.0, STEP)
    raw = sweep(pendulum(wrap="exact"), angles)
    jump = largest_step(raw)
    results = {"raw: jump of the inertia about the joint (kg m²)": jump,
               "raw: jump relative to the inertia": jump / float(raw.mean())}
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for window in WINDOWS:
        smooth = sweep(pendulum(blend=window), angles)
        differs = np.abs(smooth - raw) > 1e-12
        half = sweep(pendulum(blend=window), np.arange(-1.0, 1.0, STEP / 2))
        results[f"blend {window:.1%}: width of the window (deg)"] = float(np.rad2deg(STEP * differs.sum()))
        results[f"blend {window:.1%}: largest step, relative to the jump"] = largest_step(smooth) / jump
        results[f"blend {window:.1%}: largest step at half the spacing, relative"] = (
            largest_step(half) / largest_step(smooth))
        axes[0].plot(np.rad2deg(angles), smooth, label=f"blend, ε = {window:.1%}")
    axes[0].plot(np.rad2deg(angles), raw, "k--", lw=1, label="raw")
    jump_at = np.rad2deg(angles[np.abs(np.diff(raw)).argmax()])
    axes[0].set(xlim=(jump_at - 8, jump_at + 8), xlabel="lower angle (°)", ylabel="inertia about the joint (kg m²)",
                title="Touching down on the pulley")
    axes[0].legend(fontsize=8)
    blended, exact = running(), running(wrap="exact")
    for joint in ("knee_angle_r", "ankle_angle_r"):
        a, b = (table.column(f"{joint}_moment") for table in (blended, exact))
        results[f"rajagopal_run: {joint}, blend against raw, relative RMS"] = float(
            np.sqrt(np.mean((a - b) ** 2) / np.mean(b**2)))
        axes[1].plot(blended.time, a - b, label=joint)
    axes[1].set(xlabel="time (s)", ylabel="moment, blended − raw (N m)", title="rajagopal_run, 40 % muscle")
    axes[1].legend(fontsize=8)
    figure.savefig(folder / "wrapping.png", dpi=110)
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
