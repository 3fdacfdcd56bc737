"""How fast is inverse dynamics of a recorded trial? Ratios to OpenSim's tool, measured in the same run.

    python benchmarks/inverse_dynamics.py [--trial FOLDER] [--rounds N] [--long] [--json]

Needs the `opensim` wheel and a trial with `setup_id.xml` (by default rajagopal_run of the reference data beside the
project). Both sides run the same setup file in fresh processes, ours with a warm cache; the best of several rounds
counts, so that a busy machine disturbs less. `--long` adds a recording of one hour at 100 Hz with its memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import osim_inertia as oi

DEFAULT_TRIAL = Path(__file__).resolve().parents[2] / "shared/data/trials/rajagopal_run"
LIMITS = {"solve: OpenSim / ours": 10.0, "whole process: OpenSim / ours": 1.0}
OPENSIM = (
    "import time, opensim; opensim.Logger.setLevelString('off'); tool = opensim.InverseDynamicsTool('setup_id.xml')\n"
    "start = time.perf_counter(); tool.run(); print(time.perf_counter() - start)"
)
HOUR = 360_000  # frames


def timed(command: list[str], folder: Path) -> tuple[float, str]:
    """Seconds of a whole process, and what it prints."""
    start = time.perf_counter()
    out = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start, out


def compare(trial: Path, rounds: int) -> dict[str, float]:
    ours_process, ours_solve, their_process, their_run = [], [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "trial"
        shutil.copytree(trial, folder, copy_function=shutil.copyfile)
        folder.chmod(0o755)
        mine = [sys.executable, "-m", "osim_inertia", "id", "setup_id.xml", "--json"]
        environment_path = str(Path(oi.__file__).resolve().parents[1])
        os.environ["PYTHONPATH"] = os.pathsep.join([environment_path, os.environ.get("PYTHONPATH", "")])
        timed(mine, folder)  # fills the cache
        for _ in range(rounds):
            seconds, out = timed(mine, folder)
            ours_process.append(seconds)
            ours_solve.append(json.loads(out)["seconds"]["solve"])
            seconds, out = timed([sys.executable, "-c", OPENSIM], folder)
            their_process.append(seconds)
            their_run.append(float(out.split()[-1]))  # after what the model prints
    return {
        "OpenSim run() s": min(their_run),
        "our solve s": min(ours_solve),
        "solve: OpenSim / ours": min(their_run) / min(ours_solve),
        "OpenSim process s": min(their_process),
        "our process s": min(ours_process),
        "whole process: OpenSim / ours": min(their_process) / min(ours_process),
    }


def one_hour(trial: Path) -> dict[str, float]:
    """Times and largest memory of a trial repeated back and forth to one hour."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        motion = oi.read_table(trial / "ik.mot")
        there_and_back = np.concatenate([np.arange(len(motion)), np.arange(len(motion) - 2, 0, -1)])
        frames = there_and_back[np.arange(HOUR) % len(there_and_back)]
        oi.write_table(oi.Table(motion.names, np.arange(HOUR) * 0.01, motion.values[frames], motion.in_degrees),
                       folder / "hour.mot")
        command = [sys.executable, "-m", "osim_inertia", "id", str(trial / "model.osim"), "hour.mot", "--lowpass", "6",
                   "--exact", "-o", "hour_id.sto", "--json"]
        seconds, out = timed(command, folder)
        phases = json.loads(out)["seconds"]
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    return {f"hour: {name} s": value for name, value in phases.items()} | {"hour: process s": seconds,
                                                                           "hour: memory GB": memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trial", type=Path, default=DEFAULT_TRIAL)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = compare(options.trial, options.rounds)
    if options.long:
        results |= one_hour(options.trial)
    if options.json:
        print(json.dumps(results, indent=1))
        return
    print(f"Inverse dynamics of {options.trial.name}")
    for name, value in results.items():
        limit = LIMITS.get(name)
        verdict = "" if limit is None else f"  at least {limit:g}: {'holds' if value >= limit else 'TOO SLOW'}"
        print(f"  {name:<32} {value:8.3f}{verdict}")


if __name__ == "__main__":
    main()
