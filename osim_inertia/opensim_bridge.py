"""OpenSim's own answers, where its Python package is installed. The only module that imports `opensim`, and only late.

Everything else here works without it: reports use this to put OpenSim's curve beside ours.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from osim_inertia.errors import OsimInertiaError
from osim_inertia.tables.sto import read_table
from osim_inertia.tables.table import Table

HOW_TO_GET = "pip install 'osim-inertia[opensim]'"


def is_installed() -> bool:
    """Whether the `opensim` package can be found; it is not imported."""
    return importlib.util.find_spec("opensim") is not None


def load() -> Any:
    """The `opensim` module, quiet."""
    try:
        import opensim
    except ImportError as error:
        raise OsimInertiaError(f"OpenSim's Python package cannot be used ({error}): {HOW_TO_GET}") from None
    opensim.Logger.setLevelString("off")
    opensim.Logger.removeFileSink()  # else it leaves opensim.log in the user's folder
    return opensim


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep what OpenSim's own code prints, past Python and its logger, off the screen."""
    sys.stdout.flush()
    screen, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(screen, 1)
        os.close(screen)
        os.close(nowhere)


def version() -> str:
    """Of the installed OpenSim."""
    return str(load().GetVersion())


def inverse_dynamics(
    model: Path, motion: Path, *, lowpass: float | None = None, time_range: tuple[float, float] | None = None
) -> Table:
    """Generalized forces from OpenSim's Inverse Dynamics tool, without muscles and other actuators."""
    opensim = load()
    with tempfile.TemporaryDirectory() as folder:
        tool = opensim.InverseDynamicsTool()
        tool.setModelFileName(str(model.resolve()))
        tool.setCoordinatesFileName(str(motion.resolve()))
        tool.setLowpassCutoffFrequency(-1.0 if lowpass is None else lowpass)
        if time_range is not None:
            tool.setStartTime(time_range[0])
            tool.setEndTime(time_range[1])
        excluded = opensim.ArrayStr()
        for group in ("Muscles", "Actuators"):
            excluded.append(group)
        tool.setExcludedForces(excluded)
        tool.setResultsDir(folder)
        tool.setOutputGenForceFileName("id.sto")
        with _silence():
            done = tool.run()
        if not done:
            raise OsimInertiaError("OpenSim's Inverse Dynamics tool did not finish.")
        return read_table(Path(folder) / "id.sto")
