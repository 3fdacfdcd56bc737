"""Writes running trials for leg11dof4musc.osim at 10, 13, 17 and 19.1 km/h: motions, markers, and foot contacts.

    python models/leg11dof4musc/generate_motion.py

    curves of one stride (Fourier) --speed--> running_17kmh.mot --model--> markers + noise --> running_17kmh.trc

Nobody was measured: the curves are drawn through what is published of running (README.md says from where), so that the
trial is free to share. `contacts.csv` has the instants of foot strike and toe-off.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import osim_inertia as oi
from osim_inertia.markers.data import MarkerData
from osim_inertia.markers.trc import write_trc
from osim_inertia.tables.sto import UNITS_REMARK

Array = NDArray[np.float64]
FOLDER = Path(__file__).resolve().parent
SPEEDS = {"10": 10.0, "13": 13.0, "17": 17.0, "19p1": 19.1}  # km/h, by their place in the file name
RATE, DURATION, FIRST_STRIKE = 100.0, 3.0, 0.15  # Hz, s, s
NOISE, SEED = 0.002, 2024  # m, standard deviation of each coordinate of each marker
LENGTHS = ("pelvis_tx", "pelvis_ty", "pelvis_tz")  # m; all others are angles
REFERENCE_SPEED = 4.0  # m/s, at which the curves below hold as they are

# coordinate: growth of the swings per m/s above the reference speed, mean, then the cosine and sine part of each
# harmonic of the stride; degrees, metres for pelvis_tx, _ty, _tz. The stride begins with foot strike of the right leg.
CURVES: dict[str, tuple[float, float, tuple[tuple[float, float], ...]]] = {
    "pelvis_tilt": (0.05, -10.0, ((0.0, 0.0), (0.6, 1.7))),
    "pelvis_list": (0.05, -0.5, ((-1.6, -2.2), (-0.3, -1.8))),
    "pelvis_rotation": (0.08, 0.0, ((-4.6, -2.4), (0.3, 0.4))),
    "pelvis_tx": (0.0, 0.0, ((0.0, 0.0), (0.010, -0.006))),
    "pelvis_ty": (-0.08, 0.995, ((0.0, 0.0), (0.021, -0.032))),
    "pelvis_tz": (0.0, 0.0, ((0.003, 0.006),)),
    "hip_flexion_r": (0.09, 21.8, ((23.2, -17.9), (-6.1, 4.1), (-2.0, 0.8), (-0.5, -0.2), (-0.3, 0.2))),
    "hip_adduction_r": (0.05, 3.0, ((2.2, 5.8), (-1.5, 2.4))),
    "hip_rotation_r": (0.05, -2.0, ((0.8, -1.2), (0.9, -1.4))),
    "knee_angle_r": (0.09, 50.2, ((-17.6, -28.9), (-12.3, 22.5), (-4.3, 1.8), (-0.3, 0.2), (-0.6, 0.3))),
    "ankle_angle_r": (0.05, -1.0, ((13.7, 1.4), (-8.6, 6.7), (-2.8, -3.1), (0.8, -0.7), (0.0, 0.4))),
}


def stride_frequency(speed: float) -> float:
    """Hz, for a speed in m/s."""
    return 1.40 + 0.085 * (speed - 3.5)


def stance_share(speed: float) -> float:
    """Share of the stride that the foot is on the ground, for a speed in m/s."""
    return 0.36 - 0.03 * (speed - 3.5)


def phase_of_curve(phase: Array, speed: float) -> Array:
    """Where in the curves a phase of the stride is: toe-off moves to where it is at this speed, smoothly."""
    share, reference = stance_share(speed), stance_share(REFERENCE_SPEED)
    return phase + (reference - share) * (1.0 - np.cos(2.0 * np.pi * phase)) / (1.0 - np.cos(2.0 * np.pi * share))


def coordinates(speed: float) -> oi.Table:
    """The motion at a speed in m/s: degrees and metres."""
    time = np.arange(round(DURATION * RATE) + 1) / RATE
    angle = 2.0 * np.pi * phase_of_curve((time - FIRST_STRIKE) * stride_frequency(speed), speed)
    columns = []
    for growth, mean, harmonics in CURVES.values():
        swing = sum(a * np.cos(k * angle) + b * np.sin(k * angle) for k, (a, b) in enumerate(harmonics, 1))
        columns.append(mean + (1.0 + growth * (speed - REFERENCE_SPEED)) * swing)
    return oi.Table(tuple(CURVES), time, np.column_stack(columns), True, {"name": "Coordinates"})


def markers(system: oi.System, motion: oi.Table, seed: int) -> MarkerData:
    """The model's markers on a motion, with noise."""
    to_si = [1.0 if name in LENGTHS else np.pi / 180.0 for name in system.coordinate_names]
    exact = system.marker_positions(motion.select(system.coordinate_names).values * to_si)
    noise = np.random.default_rng(seed).normal(0.0, NOISE, exact.shape)
    return MarkerData(system.marker_names, motion.time, exact + noise, RATE)


def contacts(speed: float) -> Array:
    """(strides, 2): instants (s) of every foot strike in the trial and of the toe-off that follows it."""
    period = 1.0 / stride_frequency(speed)
    strikes = FIRST_STRIKE + period * np.arange(int((DURATION - FIRST_STRIKE) / period) + 1)
    return np.column_stack([strikes, strikes + stance_share(speed) * period])


def write_all(folder: Path = FOLDER) -> None:
    """All trials, and the table of contacts."""
    system = oi.System(oi.read_osim(FOLDER / "leg11dof4musc.osim"))
    lines = ["trial,speed_km_h,foot_strike_s,toe_off_s"]
    for number, (label, km_h) in enumerate(SPEEDS.items()):
        speed, name = km_h / 3.6, f"running_{label}kmh"
        motion = coordinates(speed)
        oi.write_table(motion, folder / f"{name}.mot", remark=UNITS_REMARK)
        write_trc(markers(system, motion, SEED + number), folder / f"{name}.trc", decimals=4)
        lines += [f"{name},{km_h:g},{strike:.6f},{toe_off:.6f}" for strike, toe_off in contacts(speed)]
    (folder / "contacts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_all()
