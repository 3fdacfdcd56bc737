"""How fast is inverse dynamics of a recorded trial? Ratios to OpenSim's tool, measured in the same run.

    python benchmarks/inverse_dynamics.py [--trial FOLDER] [--rounds N] [--long] [--json]

Needs the `opensim` wheel and a trial with `setup_id.xml` (by default rajagopal_run of the reference data beside the
project). Both sides run the same setup file in fresh processes, ours with warm caches, once as it is and once with mass
in every muscle; the best of several rounds counts, so that a busy machine disturbs less. `--long` adds a recording of
one hour at 100 Hz with its memory.
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
from rich.console import Console
from rich.table import Table

import osim_inertia as oi

DEFAULT_TRIAL = Path(__file__).resolve().parents[2] / "shared/data/trials/rajagopal_run"
LIMITS = {"solve: OpenSim / ours": 10.0, "whole process: OpenSim / ours": 1.0,
          "massive solve: OpenSim / ours": 10.0, "massive whole process: OpenSim / ours": 1.0}  # fmt: skip
OURS = [sys.executable, "-m", "osim_inertia", "id", "setup_id.xml", "--json"]
CASES = {"": [], "massive ": ["--transfer", "0.5"]}  # of OpenSim's tool there is one, which knows no muscle mass
# Python keeps what it compiles, as it does for every user, also where a shell says otherwise
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT["PYTHONPATH"] = os.pathsep.join([str(Path(oi.__file__).resolve().parents[1]), os.getenv("PYTHONPATH", "")])
OPENSIM = (
    "import time, opensim; opensim.Logger.setLevelString('off'); tool = opensim.InverseDynamicsTool('setup_id.xml')\n"
    "start = time.perf_counter(); tool.run(); print(time.perf_counter() - start)"
)
HOUR = 360_000  # frames


def timed(command: list[str], folder: Path) -> tuple[float, str]:
    """Seconds of a whole process, and what it prints."""
    start = time.perf_counter()
    out = subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start, out


def compare(trial: Path, rounds: int) -> dict[str, float]:
    """OpenSim's tool, ours, and ours with mass in every muscle: best seconds of some rounds, taken in turn."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "trial"
        shutil.copytree(trial, folder, copy_function=shutil.copyfile)
        folder.chmod(0o755)
        for options in CASES.values():
            timed([*OURS, *options], folder)  # fills the caches
        theirs: list[tuple[float, float]] = []
        ours: dict[str, list[tuple[float, float]]] = {name: [] for name in CASES}
        for _ in range(rounds):
            for name, options in CASES.items():
                seconds, out = timed([*OURS, *options], folder)
                ours[name].append((json.loads(out)["seconds"]["solve"], seconds))
            seconds, out = timed([sys.executable, "-c", OPENSIM], folder)
            theirs.append((float(out.split()[-1]), seconds))  # after what the model prints
    run, process = (min(values) for values in zip(*theirs))
    results = {"OpenSim run() s": run, "OpenSim process s": process}
    for name, times in ours.items():
        our_solve, our_process = (min(values) for values in zip(*times))
        results |= {
            f"{name}our solve s": our_solve,
            f"{name}solve: OpenSim / ours": run / our_solve,
            f"{name}our process s": our_process,
            f"{name}whole process: OpenSim / ours": process / our_process,
        }
    return results


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


def main() -> int:
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
    else:
        table = Table("", "value", "at least", "", title=f"Inverse dynamics of {options.trial.name}")
        for name, value in results.items():
            limit = LIMITS.get(name)
            verdict = "" if limit is None else "holds" if value >= limit else "TOO SLOW"
            table.add_row(name, f"{value:.3f}", "" if limit is None else f"{limit:g}", verdict)
        Console().print(table)
    return int(any(results[name] < limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
