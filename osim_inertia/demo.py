"""The demonstration on the leg that comes with the package: markers → IK → ID with 0 … 80 % of the shank as muscle.

    running_17kmh.trc --markers--> ik.mot --inverse--> id_00.sto … id_80.sto --demo--> curves over the stride
"""

from __future__ import annotations

import csv
import io
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from osim_inertia import opensim_bridge
from osim_inertia.errors import FileError, OsimInertiaError
from osim_inertia.files import atomic_write_text
from osim_inertia.inertia import with_muscle_mass
from osim_inertia.inverse import inverse_dynamics_of
from osim_inertia.markers.data import read_markers
from osim_inertia.markers.fit import InverseKinematics, inverse_kinematics
from osim_inertia.model.model import Model
from osim_inertia.osim.reader import read_osim
from osim_inertia.system import System
from osim_inertia.tables.sto import UNITS_REMARK, read_table, write_table
from osim_inertia.tables.table import Table
from osim_inertia.warmup import compiling_beside

Array = NDArray[np.float64]
MODEL, TRIAL, SPEED = "leg11dof4musc.osim", "running_17kmh", 17.0  # km/h
BODY = "tibia_r"
PERCENTS = (0, 20, 40, 60, 80)  # of the mass of the body, given to its muscles
LOWPASS = 12.0  # Hz
JOINTS = {"ankle": "ankle_angle_r_moment", "knee": "knee_angle_r_moment", "hip": "hip_flexion_r_moment"}
POSITIVE = {"ankle": "dorsiflexion", "knee": "flexion", "hip": "flexion"}
STEPS = 101  # points of the stride, 0 … 100 %


@dataclass(frozen=True)
class Demo:
    """All that the demonstration computed."""

    fit: InverseKinematics
    forces: dict[int, Table]  # by percent of the body's mass
    strides: Array  # (s, 3) s: foot strike, toe-off, next foot strike
    body_mass: float  # kg, before anything is moved
    masses: list[dict[str, object]]  # of the muscles at the largest percent: muscle, body, kg, …
    opensim: Table | None  # OpenSim's own forces at 0 %
    seconds: dict[str, float]
    notes: list[str] = field(default_factory=list)

    @property
    def toe_off(self) -> float:
        """Mean share of the stride, in percent, at which swing begins."""
        return float(100.0 * ((self.strides[:, 1] - self.strides[:, 0]) / np.diff(self.strides[:, ::2])[:, 0]).mean())

    def curve(self, table: Table, joint: str) -> Array:
        """(STEPS,) N m: the moment at a joint over the stride, mean of all strides."""
        moment = table.column(JOINTS[joint])
        at = [np.linspace(start, end, STEPS) for start, _, end in self.strides]
        return np.mean([np.interp(times, table.time, moment) for times in at], axis=0)

    def in_swing(self) -> NDArray[np.bool_]:
        """(STEPS,) which points of the stride belong to swing."""
        return np.linspace(0.0, 100.0, STEPS) >= self.toe_off

    def largest_change(self, joint: str, percent: int) -> float:
        """Largest change of the moment in swing, as a share of the largest moment in swing at 0 %."""
        swing = self.in_swing()
        before, after = (self.curve(self.forces[p], joint)[swing] for p in (0, percent))
        return float(np.abs(after - before).max() / np.abs(before).max())

    def difference_from_opensim(self) -> float | None:
        """Largest difference of any moment or force at 0 % from OpenSim's, relative to the largest of its column."""
        if self.opensim is None:
            return None
        ours = self.forces[0].select(self.opensim.names).values
        theirs = self.opensim.values
        return float((np.abs(ours - theirs).max(axis=0) / np.abs(theirs).max(axis=0)).max())


def model_folder() -> Path:
    """The folder of the leg and its trials: inside an installed package, or in models/ of a clone."""
    here = Path(__file__).resolve().parent
    for folder in (here / "_models" / "leg11dof4musc", here.parent / "models" / "leg11dof4musc"):
        if (folder / MODEL).is_file():
            return folder
    raise OsimInertiaError("The leg model of the demonstration is not there; install osim-inertia again, or run it "
                           "from a complete clone.")  # fmt: skip


def read_strides(folder: Path, trial: str = TRIAL) -> Array:
    """(s, 3): foot strike, toe-off and next foot strike (s) of every whole stride of a trial."""
    with open(folder / "contacts.csv", encoding="utf-8", newline="") as file:
        rows = [(float(row["foot_strike_s"]), float(row["toe_off_s"])) for row in csv.DictReader(file)
                if row["trial"] == trial]  # fmt: skip
    return np.array([(strike, toe_off, end) for (strike, toe_off), (end, _) in pairwise(rows)])


def with_muscles(model: Model, percent: int) -> Model:
    """The leg with that much of the shank as muscle. That all four muscles lie along the shank is said, not found out:
    finding out would need more kernels, which take a while to compile.
    """
    along = {muscle.name: BODY for muscle in model.muscles}
    return with_muscle_mass(model, {BODY: percent / 100.0}, along=along) if percent else model


def run_demo(
    output: Path, *, time_range: tuple[float, float] | None = None, say: Callable[[str], object] = lambda text: None
) -> Demo:
    """Compute everything, and write ik.mot, id_00.sto … id_80.sto and the swing moments of the ankle into a folder.

    `time_range` in s shortens the trial; it needs to hold one whole stride. `say` is told what is being done.
    """
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder for the results cannot be made: {error.strerror or error}.", file=output,
                        found=str(output)) from None
    folder, began, seconds = model_folder(), clock.perf_counter(), {}
    model = read_osim(folder / MODEL)
    markers = read_markers(folder / f"{TRIAL}.trc")
    span = time_range or (float(markers.time[0]), float(markers.time[-1]))
    strides = read_strides(folder)
    strides = strides[(strides[:, 0] >= span[0]) & (strides[:, 2] <= span[1])]
    if not len(strides):
        raise OsimInertiaError(f"There is no whole stride from {span[0]:g} to {span[1]:g} s.")
    with compiling_beside("muscle mass") as wait:
        say(f"Markers of a run at {SPEED:g} km/h → joint angles …")
        fit = inverse_kinematics(model, markers, time_range=span)
        write_table(fit.coordinates, output / "ik.mot", remark=UNITS_REMARK)
        motion = read_table(output / "ik.mot")  # as written, with its rounding: what OpenSim gets, too
        seconds["inverse kinematics"] = clock.perf_counter() - began
        say(f"Joint angles → moments, with {', '.join(map(str, PERCENTS))} % of {BODY} as muscle …")
        began, forces, masses = clock.perf_counter(), {}, []
        for percent in PERCENTS:
            if percent:
                wait()
            system = System(with_muscles(model, percent))
            forces[percent] = inverse_dynamics_of(system, motion, lowpass=LOWPASS, time_range=span)
            write_table(forces[percent], output / f"id_{percent:02d}.sto")
            masses = system.muscle_mass_table()
        seconds["inverse dynamics"] = clock.perf_counter() - began
    opensim, notes = _opensim(folder / MODEL, output / "ik.mot", span, seconds, say)
    demo = Demo(fit, forces, strides, model.body(BODY).mass, masses, opensim, seconds, notes)
    atomic_write_text(output / "swing_ankle_moment.csv", swing_csv(demo))
    return demo


def _opensim(
    model: Path, motion: Path, span: tuple[float, float], seconds: dict[str, float], say: Callable[[str], object]
) -> tuple[Table | None, list[str]]:
    """OpenSim's own moments, or a word on why they are not there."""
    if not opensim_bridge.is_installed():
        return None, [f"For OpenSim's own curve beside ours: {opensim_bridge.HOW_TO_GET}"]
    say("The same with OpenSim, which has no muscle mass …")
    began = clock.perf_counter()
    try:
        table = opensim_bridge.inverse_dynamics(model, motion, lowpass=LOWPASS, time_range=span)
    except OsimInertiaError as error:
        return None, [str(error)]
    seconds["OpenSim"] = clock.perf_counter() - began
    return table, []


def swing_csv(demo: Demo) -> str:
    """Ankle moments in swing, mean of all strides: one row per percent of the stride, one column per share of mass."""
    swing, text = demo.in_swing(), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["percent_of_stride", *(f"ankle_moment_Nm_{p}_percent_muscle" for p in PERCENTS)])
    curves = np.column_stack([demo.curve(demo.forces[p], "ankle") for p in PERCENTS])
    for at, row in zip(np.linspace(0.0, 100.0, STEPS)[swing], curves[swing]):
        writer.writerow([f"{at:g}", *(f"{value:.6f}" for value in row)])
    return text.getvalue()


def summary(demo: Demo) -> list[str]:
    """What came out, in plain sentences."""
    most = PERCENTS[-1]
    moved = sum(float(str(row["kg"])) for row in demo.masses)
    by_muscle = ", ".join(f"{row['muscle']} {float(str(row['kg'])):.2f}" for row in demo.masses)
    ankle, knee, hip = (100.0 * demo.largest_change(joint, most) for joint in JOINTS)
    lines = [
        f"If {most} % of the shank is muscle that slides along its paths, instead of being fixed to the bone, the ankle"
        f" moment in swing changes by up to {ankle:.0f} % of its largest value (knee {knee:.0f} %, hip {hip:.0f} %).",
        f"Mass moved: {moved:.2f} of the {demo.body_mass:.2f} kg of {BODY} (kg: {by_muscle}). The total stays "
        "the same.",
        f"The joint angles fit the markers to {1000.0 * demo.fit.rms:.1f} mm RMS; curves are means of "
        f"{len(demo.strides)} strides, angles low-passed at {LOWPASS:g} Hz.",
        "Ground reaction forces are not part of this trial: the moments are meaningful in swing, not in stance.",
        "Time: " + ", ".join(f"{name} {value:.1f} s" for name, value in demo.seconds.items()) + ".",
    ]
    difference = demo.difference_from_opensim()
    if difference is not None:
        lines.insert(1, f"Without muscle mass the result is OpenSim's own: the largest difference is {difference:.1e} "
                        "of the largest moment or force of each column.")  # fmt: skip
    return lines
