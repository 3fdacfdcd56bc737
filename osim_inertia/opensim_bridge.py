"""OpenSim's own answers, where its Python package is installed. The only module that imports `opensim`, and only late.

Everything else here works without it: reports use this to put OpenSim's curve beside ours. The tool runs in a process
of its own: what it prints and logs stays there, and if it crashes, we do not.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osim_inertia.errors import OsimInertiaError
from osim_inertia.osim.xml import parse_xml
from osim_inertia.tables.sto import read_table
from osim_inertia.tables.table import Table

HOW_TO_GET = "pip install 'osim-inertia[opensim]'"
RESULT, ANSWER, LOADS = "id.sto", "answer.json", "external_loads.xml"
NO_CONTRACTION = ("Muscles", "Actuators")


@dataclass(frozen=True)
class ToolRun:
    """What OpenSim's Inverse Dynamics tool gave."""

    forces: Table
    seconds: float  # of its run: reading the model and the motion, solving, writing
    version: str


def is_installed() -> bool:
    """Whether the `opensim` package can be found; it is not imported."""
    return importlib.util.find_spec("opensim") is not None


def inverse_dynamics(
    model: Path,
    motion: Path,
    *,
    external_loads: Path | None = None,
    load_data: Path | None = None,
    lowpass: float | None = None,
    time_range: tuple[float, float] | None = None,
    excluded: Sequence[str] = NO_CONTRACTION,
) -> ToolRun:
    """Generalized forces from OpenSim's Inverse Dynamics tool; `excluded` are its forces_to_exclude.

    `load_data` is the data file of the external loads, wherever it was found; by default the file they name.
    """
    with tempfile.TemporaryDirectory() as folder:
        job = {
            "model": str(model.resolve()),
            "motion": str(motion.resolve()),
            "loads": None if external_loads is None else _placed(external_loads, load_data, Path(folder)),
            "lowpass": -1.0 if lowpass is None else lowpass,
            "time_range": [t if math.isfinite(t) else None for t in time_range or (math.nan, math.nan)],
            "excluded": list(excluded),
        }
        answer = _run_apart(job, Path(folder))
        return ToolRun(read_table(Path(folder) / RESULT), float(answer["seconds"]), str(answer["version"]))


def _placed(loads: Path, data: Path | None, folder: Path) -> str:
    """A copy of the external loads file that names its data file by full path: where OpenSim looks for it varies."""
    root = parse_xml(loads)
    for element in root.iter("datafile"):
        element.text = str((data or loads.parent / (element.text or "").strip()).resolve())
    copy = folder / LOADS
    root.getroottree().write(str(copy), encoding="UTF-8", xml_declaration=True)
    return str(copy)


def _run_apart(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run the tool in a second Python process inside `folder`; what went wrong there is an error here."""
    package = Path(__file__).resolve().parent.parent
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-c", "from osim_inertia.opensim_bridge import run_tool; run_tool()"]
    done = subprocess.run(command, input=json.dumps(job), cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})  # fmt: skip
    answer_file = folder / ANSWER
    answer: dict[str, Any] = json.loads(answer_file.read_text()) if answer_file.is_file() else {}
    if "error" in answer:
        raise OsimInertiaError(answer["error"])
    if done.returncode != 0 or "seconds" not in answer:
        last = (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
        raise OsimInertiaError(f"OpenSim's Inverse Dynamics tool did not finish: {last}")
    return answer


def run_tool() -> None:
    """In the second process: take the job from standard input, write result and answer into the working folder."""
    job = json.loads(sys.stdin.read())
    try:
        import opensim
    except ImportError as error:
        story = f"OpenSim's Python package cannot be used ({error}): {HOW_TO_GET}"
        Path(ANSWER).write_text(json.dumps({"error": story}))
        return
    opensim.Logger.setLevelString("off")
    tool = opensim.InverseDynamicsTool()
    tool.setModelFileName(job["model"])
    tool.setCoordinatesFileName(job["motion"])
    tool.setLowpassCutoffFrequency(job["lowpass"])
    if job["loads"] is not None:
        tool.setExternalLoadsFileName(job["loads"])
    start, end = job["time_range"]
    if start is not None:
        tool.setStartTime(start)
    if end is not None:
        tool.setEndTime(end)
    excluded = opensim.ArrayStr()
    for name in job["excluded"]:
        excluded.append(name)
    tool.setExcludedForces(excluded)
    tool.setResultsDir(os.getcwd())
    tool.setOutputGenForceFileName(RESULT)
    answer: dict[str, Any] = {"version": str(opensim.GetVersion())}
    began = time.perf_counter()
    try:
        if not tool.run():
            answer["error"] = "OpenSim's Inverse Dynamics tool did not finish."
    except RuntimeError as error:
        words = " ".join(str(error).split())
        answer["error"] = f"OpenSim's Inverse Dynamics tool refused: {words}"
    answer["seconds"] = time.perf_counter() - began
    Path(ANSWER).write_text(json.dumps(answer))
