"""The demonstration on the leg that comes with the package: markers → IK → ID with 0 … 80 % of the shank as muscle.

    running_17kmh.trc --report--> osim-inertia-demo/index.html and its files
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from osim_inertia.errors import OsimInertiaError
from osim_inertia.osim.reader import read_osim
from osim_inertia.report.collect import Findings, Phase, quiet
from osim_inertia.report.make import make_report
from osim_inertia.report.request import PERCENTS, Request
from osim_inertia.warmup import compiling_beside

MODEL, TRIAL, SPEED = "leg11dof4musc.osim", "running_17kmh", 17.0  # km/h
BODY = "tibia_r"
LOWPASS = 12.0  # Hz
COORDINATES = ("ankle_angle_r", "knee_angle_r", "hip_flexion_r")
ABOUT = (f"Right leg, running at {SPEED:g} km/h: inverse dynamics with 0 to {PERCENTS[-1]} % of the shank's mass moved "
         "to its four muscles. The trial is synthetic, drawn from what is published of running; the model's README "
         "names the sources.")  # fmt: skip


def model_folder() -> Path:
    """The folder of the leg and its trials: inside an installed package, or in models/ of a clone."""
    here = Path(__file__).resolve().parent
    for folder in (here / "_models" / "leg11dof4musc", here.parent / "models" / "leg11dof4musc"):
        if (folder / MODEL).is_file():
            return folder
    raise OsimInertiaError("The leg model of the demonstration is not there; install osim-inertia again, or run it "
                           "from a complete clone.")  # fmt: skip


def request(time_range: tuple[float, float] | None = None) -> Request:
    """What the demonstration shows. That all four muscles lie along the shank is said, not found out: finding out would
    need more kernels, which take a while to compile.
    """
    folder = model_folder()
    along = {muscle.name: BODY for muscle in read_osim(folder / MODEL).muscles}
    return Request(
        model=folder / MODEL, markers=folder / f"{TRIAL}.trc", lowpass=LOWPASS, time_range=time_range, bodies=(BODY,),
        options={"along": along}, coordinates=COORDINATES, title="What muscle mass does to joint moments", about=ABOUT,
    )  # fmt: skip


def run_demo(
    output: Path, *, time_range: tuple[float, float] | None = None, phase: Phase = quiet
) -> tuple[Findings, dict[str, Any]]:
    """Make the report; `time_range` in s shortens the trial. What was found, and what summary.json says."""
    with compiling_beside("muscle energy", "view") as wait:
        return make_report(request(time_range), output, phase, wait)
