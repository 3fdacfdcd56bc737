"""Network against blend against exact path: position, Jacobian, energy, real running, cost.

    python validation/neural/study.py [FOLDER]      writes study.png, papers.png and results.json

The networks of the papers, which have to be trained first, are in papers.py.

Energy: the double pendulum of validation/energy, released so that the knee stays below half a turn (beyond, the path
flips to the other side of the cylinder, whatever the method). Running: 80 % of the mass of every body that has muscle
along it, on rajagopal_run; hamner_run has no wrap object, so that nothing can differ there.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # times are those of one thread

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import osim_inertia as oi
from osim_inertia.errors import WrapWarning
from osim_inertia.inverse import kinematics_of
from osim_inertia.loads import read_external_loads
from osim_inertia.model.paths import GeometryPath
from osim_inertia.neural.inference import canonical_inputs, shipped_network
from osim_inertia.neural.sampling import canonical_samples

HERE = Path(__file__).resolve().parent
TRIALS = HERE.parents[2] / "shared/data/trials"
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests")]
import papers  # noqa: E402  (the path above must be set first)
from limbs import double_pendulum  # noqa: E402

PULLEY = (("rod1", (0.06, -0.15, 0.0)), ("rod2", (0.06, -0.3, 0.02)))
WAYS = ("blend", "neural", "exact")
CYLINDER = 30.0  # mm: the radius errors are also given for


def rms(x: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(x**2)))


def positions() -> dict[str, float]:
    """Position error of the shipped network, in per cent of the radius and in mm on a 3 cm cylinder."""
    rng, network = np.random.default_rng(3), shipped_network()
    result = {}
    for name, threshold in (("1 % rule", 0.01), ("also barely in contact", 0.0)):
        a, b, theta, label = canonical_samples(100_000, rng, threshold=threshold)
        features, base, scale, exact = canonical_inputs(a, b, theta, label)
        error = np.linalg.norm(base + scale[:, None] * network.values(features) - exact, axis=1)
        for part, rows in (("", theta > -9.0), (", in contact", theta > 0.0)):
            median, tail = float(np.median(error[rows])), float(np.quantile(error[rows], 0.99))
            start = f"shipped network, {name}{part}"
            result[f"{start}: median error (% of the radius)"] = 100 * median
            result[f"{start}: 99th percentile (% of the radius)"] = 100 * tail
            result[f"{start}: median error on a 3 cm cylinder (mm)"] = CYLINDER * median
            result[f"{start}: 99th percentile on a 3 cm cylinder (mm)"] = CYLINDER * tail
    return result


def limb(wrap: str) -> oi.System:
    """The double pendulum on a cylinder."""
    model = double_pendulum(PULLEY, cylinder=0.12, quadrant="+x", wrap=wrap)
    return oi.System(model, like_opensim=False, threads=1)


def jacobians(axis: plt.Axes) -> dict[str, float]:
    """Inertia of the knee against its angle; the largest change between neighbours of a fine grid."""
    angles = np.linspace(-0.6, 1.2, 3601)
    q = np.stack([np.zeros_like(angles), angles], axis=1)
    result = {}
    for wrap in WAYS:
        inertia = limb(wrap).mass_matrix(q)[:, 1, 1]
        step = result[f"{wrap}: largest step of the knee's inertia over 0.5 mrad, relative"] = float(
            np.abs(np.diff(inertia)).max() / inertia.max())
        axis.plot(angles, inertia, label=f"{wrap}: largest step {step:.1e}", lw=1)
    axis.set(title="inertia at the knee over touch-down", xlabel="knee (rad)", ylabel="M₂₂ (kg m²)")
    axis.legend(fontsize=8)
    return result


def energies(axis: plt.Axes) -> dict[str, float]:
    """Largest change of energy relative to the kinetic energy, over 5 s."""
    result = {}
    for wrap in WAYS:
        system = limb(wrap)

        def rate(_: float, y: np.ndarray, system: oi.System = system) -> np.ndarray:
            return np.concatenate([y[2:], system.forward_dynamics(y[:2], y[2:], np.zeros(2))[0]])

        run = solve_ivp(rate, (0.0, 5.0), [0.8, 0.5, 0.0, 0.0], method="DOP853", rtol=1e-8, atol=1e-8,
                        t_eval=np.linspace(0.0, 5.0, 501))
        q, u = run.y[:2].T, run.y[2:].T
        kinetic = system.kinetic_energy(q, u)
        change = kinetic + system.potential_energy(q)
        change = (change - change[0]) / kinetic.max()
        drift = result[f"{wrap}: energy drift over 5 s, relative to the kinetic energy"] = float(np.abs(change).max())
        axis.plot(run.t, change, label=f"{wrap}: {drift:.1e}", lw=1)
    axis.set(title="double pendulum on a cylinder", xlabel="time (s)", ylabel="change of energy / kinetic energy")
    axis.legend(fontsize=8)
    return result


def one_cylinder(model: oi.Model) -> oi.Model:
    """The model with every path's first wrap only: so the gastrocnemii, which have two, can follow the network."""
    forces = []
    for force in model.path_forces:
        path = force.geometry
        if isinstance(path, GeometryPath) and len(path.wraps) > 1:
            force = replace(force, geometry=replace(path, wraps=path.wraps[:1]))
        forces.append(force)
    return replace(model, path_forces=tuple(forces))


def running(trial: str, *, alone: bool, axis: plt.Axes | None = None) -> dict[str, float]:
    """RMS differences of joint moments from the blend's, in per cent of its RMS."""
    folder = TRIALS / trial
    model = oi.read_osim(folder / "model.osim")
    model = one_cylinder(model) if alone else model
    motion, reference = oi.read_table(folder / "ik.mot"), oi.read_table(folder / "id.sto")
    loads, span = read_external_loads(folder / "external_loads.xml"), (reference.time[0], reference.time[-1])
    tables = {}
    for wrap in WAYS:
        heavy = oi.with_muscle_mass(model, 0.8, wrap=wrap)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WrapWarning)
            tables[wrap] = oi.inverse_dynamics_of(heavy, motion, external_loads=loads, lowpass=6.0, time_range=span)
    bones = oi.inverse_dynamics_of(model, motion, external_loads=loads, lowpass=6.0, time_range=span)
    result: dict[str, float] = {}
    case = f"{trial}, one cylinder per muscle" if alone else trial
    for joint in ("ankle_angle", "knee_angle", "hip_flexion", "hip_adduction"):
        name = f"{joint}_r_moment"
        blend = tables["blend"].column(name)
        apart = {wrap: 100 * rms(tables[wrap].column(name) - blend) / rms(blend) for wrap in ("neural", "exact")}
        result[f"{case}, {joint}: neural − blend (% RMS)"] = apart["neural"]
        result[f"{case}, {joint}: exact − blend (% RMS)"] = apart["exact"]
        change = blend - bones.column(name)
        result[f"{case}, {joint}: what muscle mass changes (% RMS)"] = 100 * rms(change) / rms(blend)
        if axis is not None and joint == "hip_flexion":
            for wrap in WAYS:
                axis.plot(bones.time, tables[wrap].column(name) - bones.column(name), lw=0.8, label=wrap)
    if axis is not None:
        axis.set(title=f"{trial}: change at the right hip by muscle mass", xlabel="time (s)", ylabel="moment (N m)")
        axis.legend(fontsize=8)
    return result


def costs(trial: str = "rajagopal_run") -> dict[str, float]:
    """Milliseconds per frame of inverse dynamics alone, one thread, best of five; without muscle mass, too."""
    model, motion = oi.read_osim(TRIALS / trial / "model.osim"), oi.read_table(TRIALS / trial / "ik.mot")
    result = {}
    for wrap in ("no muscle mass", *WAYS):
        heavy = model if wrap == "no muscle mass" else oi.with_muscle_mass(model, 0.8, wrap=wrap)
        system = oi.System(heavy, threads=1)
        moved = kinematics_of(system, motion, lowpass=6.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WrapWarning)
            seconds = []
            for _ in range(5):
                began = time.process_time()
                system.inverse_dynamics(moved.q, moved.u, moved.udot)
                seconds.append(time.process_time() - began)
        per_frame = 1e3 * min(seconds) / len(moved.q)
        result[f"{wrap}: inverse dynamics of {trial} (ms per frame, processor time)"] = per_frame
    return result


def main(folder: Path) -> None:
    """Everything: figures and JSON."""
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    results = positions() | jacobians(axes[0]) | energies(axes[1])
    results |= running("rajagopal_run", alone=False, axis=axes[2]) | running("rajagopal_run", alone=True)
    results |= running("hamner_run", alone=False) | costs()
    figure.savefig(folder / "study.png", dpi=90)
    results |= papers.repeat(folder)
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
