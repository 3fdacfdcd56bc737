"""Whether the kernels a command needs are compiled already: Numba compiles them once and keeps them on disk.

The first run on a machine waits for that, and a command that is silent for so long looks broken; so it says why. Numba
compiles in one thread only; the largest kernels are compiled by a second process meanwhile.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from osim_inertia.model.forces import Muscle
from osim_inertia.model.frames import GROUND, Body
from osim_inertia.model.joints import Coordinate, Joint
from osim_inertia.model.model import Model
from osim_inertia.model.muscle_mass import MassiveMuscle, MuscleMass
from osim_inertia.model.paths import GeometryPath, PathPoint

# The outermost kernel of each kind of work (what it calls is compiled with it), and the seconds that takes on one
# core of an ordinary computer.
KERNELS = {
    "id": ("batch", "inverse_dynamics_of_frames", 15),
    "muscle mass": ("muscle_batch", "inverse_dynamics_with_muscles", 45),
    "muscle energy": ("muscle_batch", "whole_body_with_muscles", 60),  # and mass
    "ik": ("ik", "fit_frames", 25),
    "opensim paths": ("paths", "opensim_slopes", 45),
    "shortest paths": ("shortest_batch", "shortest_slopes", 30),
    "bones": ("shortest_batch", "shortest_length", 20),  # along which a muscle lies
    "neural": ("neural_batch", "find_questions", 40),
    "view": ("path_lines", "path_lines", 30),
}


def _kernel(work: str) -> Any:
    """The compiled function that stands for a kind of work; its stats.cache_path is None if it cannot be kept."""
    module, name, _ = KERNELS[work]
    return getattr(import_module(f"osim_inertia.kernels.{module}"), name).whole


def is_compiled(work: str) -> bool:
    """True if Numba's cache has the kernel of this kind of work, from no older source."""
    kernel, name = _kernel(work), KERNELS[work][1]
    folder = kernel.stats.cache_path
    if folder is None:
        return False
    source = Path(kernel.py_func.__code__.co_filename)
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    indexes = [file for file in Path(folder).glob(f"{source.stem}.{name}-*.nbi") if f".{version}" in file.name]
    return any(file.stat().st_mtime >= source.stat().st_mtime for file in indexes)


def announce(say: Callable[[str], object], *works: str) -> bool:
    """Say that kernels will be compiled, if some of these kinds of work needs it; True if it was said."""
    missing = [work for work in works if not is_compiled(work)]
    if not missing:
        return False
    seconds = sum(KERNELS[work][2] for work in missing)
    if _kernel(missing[0]).stats.cache_path is None:
        say(f"Compiling the kernels, up to about {seconds} s. They cannot be kept for the next run: no folder can be "
            "written; set NUMBA_CACHE_DIR to one that can …")  # fmt: skip
    else:
        say(f"Compiling the kernels, once on this machine: up to about {seconds} s …")
    return True


@contextmanager
def compiling_beside(*works: str) -> Iterator[Callable[[], object]]:
    """Have the largest kernels of these kinds of work compiled meanwhile. Gives a function that waits for them."""
    with ExitStack() as stack:
        processes = []
        for work in works:
            kept = work in BESIDE and _kernel(work).stats.cache_path is not None
            if kept and (os.cpu_count() or 1) > 1 and not is_compiled(work):
                command = [sys.executable, "-m", "osim_inertia.warmup", work]
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                stack.enter_context(process)
                stack.callback(process.terminate)
                processes.append(process)
        yield lambda: [process.wait() for process in processes]


def smallest_model() -> Model:
    """A rod that hangs from the ground, and a muscle with mass between them."""
    points = (PathPoint(name="origin", frame=GROUND, location=(0.1, 0.0, 0.0)),
              PathPoint(name="insertion", frame="/bodyset/rod", location=(0.0, -0.5, 0.0)))  # fmt: skip
    muscle = MassiveMuscle(name="muscle", taken_from=(("rod", 1.0),), belly=(0.0, 1.0))
    return Model(
        name="rod",
        bodies=(Body(name="rod", mass=1.0, mass_center=(0.0, -0.5, 0.0), inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0)),),
        joints=(Joint(kind="PinJoint", name="hip", parent_frame=GROUND, child_frame="/bodyset/rod",
                      coordinates=(Coordinate(name="angle", range=(-1, 1)),)),),
        path_forces=(Muscle(kind="Thelen2003Muscle", name="muscle", geometry=GeometryPath(points=points, wraps=())),),
        muscle_mass=MuscleMass(muscles=(muscle,)),
    )


# ---- kernels large enough for a process of their own; they are the same for every model ------------------------------
def compile_muscle_mass() -> None:
    """Inverse dynamics with muscles that have mass."""
    from osim_inertia.system import System

    rest = np.zeros(1)
    System(smallest_model()).inverse_dynamics(rest, rest, rest)


def compile_muscle_energy() -> None:
    """The same, then energy and momentum, which have most of it in common."""
    from osim_inertia.system import System

    compile_muscle_mass()
    System(smallest_model()).kinetic_energy(np.zeros(1), np.zeros(1))


def compile_view() -> None:
    """Lines of paths, to be drawn."""
    from osim_inertia.system import System

    System(smallest_model()).paths.polylines(np.zeros((1, 1)), 2)


BESIDE = {"muscle mass": compile_muscle_mass, "muscle energy": compile_muscle_energy, "view": compile_view}

if __name__ == "__main__":
    BESIDE[sys.argv[1]]()
