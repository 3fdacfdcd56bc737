"""The demonstration on the leg that comes with the package: markers → IK → ID with 0 … 80 % of the shank as muscle.

    running_17kmh.trc --report--> osim-inertia-demo/index.html and its files
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from osim_inertia.errors import OsimInertiaError
from osim_inertia.osim.reader import read_osim
from osim_inertia.report.collect import Findings, Phase, quiet, with_muscles
from osim_inertia.report.make import make_report
from osim_inertia.report.request import PERCENTS, Request
from osim_inertia.system import System
from osim_inertia.warmup import is_compiled

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
    need OpenSim's paths, which take as long again to compile as all the rest.
    """
    folder = model_folder()
    along = {muscle.name: BODY for muscle in read_osim(folder / MODEL).muscles}
    return Request(
        model=folder / MODEL, markers=folder / f"{TRIAL}.trc", lowpass=LOWPASS, time_range=time_range, bodies=(BODY,),
        options={"along": along}, coordinates=COORDINATES, title="What muscle mass does to joint moments", about=ABOUT,
    )  # fmt: skip


def compile_muscles() -> None:
    """Have the kernels for muscles with mass compiled and kept on disk."""
    asked = request()
    system = System(with_muscles(read_osim(asked.model), PERCENTS[-1], asked))
    rest = np.zeros(system.n)
    system.inverse_dynamics(system.default_pose(), rest, rest)
    system.kinetic_energy(system.default_pose(), rest)  # for which muscles matter


@contextmanager
def compiling_beside() -> Iterator[Callable[[], object]]:
    """In a first run: compile the muscles' kernels in a second process meanwhile. Gives a function that waits for it.

    Numba compiles in one thread only, and the other processor would be idle.
    """
    if is_compiled("muscle mass"):
        yield lambda: None
        return
    command = [sys.executable, "-c", "from osim_inertia.demo import compile_muscles; compile_muscles()"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process.wait
        finally:
            process.terminate()


def run_demo(
    output: Path, *, time_range: tuple[float, float] | None = None, phase: Phase = quiet
) -> tuple[Findings, dict[str, Any]]:
    """Make the report; `time_range` in s shortens the trial. What was found, and what summary.json says."""
    with compiling_beside() as wait:
        return make_report(request(time_range), output, phase, wait)
