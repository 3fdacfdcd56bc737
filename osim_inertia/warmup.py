"""Whether the kernels a command needs are compiled already: Numba compiles them once and keeps them on disk.

The first run on a machine waits for that, and a command that is silent for a minute looks broken; so it says why.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

# The outermost kernel of each kind of work (what it calls is compiled with it), and the seconds that takes on one
# core of an ordinary computer.
KERNELS = {
    "id": ("batch", "inverse_dynamics_of_frames", 15),
    "muscle mass": ("muscle_batch", "inverse_dynamics_with_muscles", 120),
    "ik": ("ik", "fit_frames", 30),
}


def is_compiled(work: str) -> bool:
    """True if Numba's cache has the kernel of this kind of work, from no older source."""
    module, name, _ = KERNELS[work]
    kernel: Any = getattr(import_module(f"osim_inertia.kernels.{module}"), name).whole
    folder = kernel.stats.cache_path
    if folder is None:
        return False  # nowhere to keep what is compiled: it is compiled in every run
    source = Path(kernel.py_func.__code__.co_filename)
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    indexes = [file for file in Path(folder).glob(f"{source.stem}.{name}-*.nbi") if f".{version}" in file.name]
    return any(file.stat().st_mtime >= source.stat().st_mtime for file in indexes)


def announce(say: Callable[[str], object], *works: str) -> bool:
    """Say that kernels will be compiled, if some of these kinds of work needs it; True if it was said."""
    seconds = sum(KERNELS[work][2] for work in works if not is_compiled(work))
    if seconds:
        say(f"Compiling the kernels, once on this machine: up to about {seconds} s …")
    return seconds > 0
