"""How fast is inverse kinematics? Ratios to OpenSim's tool on the recorded trials, measured in the same run.

    python benchmarks/inverse_kinematics.py [TRIAL …] [--rounds N] [--json]

Needs the `opensim` wheel and the reference data beside the project. "solve" is our fit of all frames against the tool's
run() (which reads and writes a little, too: below 2 % of it); "process" is the whole command against a Python process
that does the same with OpenSim, start-up included. Ours is warm: compiled code is loaded, not made.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import osim_inertia as oi
from osim_inertia.setup_ik import read_inverse_kinematics_setup

TRIALS = Path(__file__).resolve().parents[2] / "shared/data/trials"
OPENSIM = """
import time, opensim
opensim.Logger.setLevelString("off")
tool = opensim.InverseKinematicsTool("setup_ik.xml")
start = time.perf_counter()
tool.run()
print(time.perf_counter() - start)
"""
# Python keeps what it compiles, as it does for every user, also where a shell says otherwise
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT["PYTHONPATH"] = os.pathsep.join([str(Path(oi.__file__).resolve().parents[1]), os.getenv("PYTHONPATH", "")])
LIMITS = {"solve": 60.0, "process": 8.0}  # at least, times faster, on rajagopal_run


def opensim_seconds(folder: Path) -> tuple[float, float]:
    """Of run() and of the whole process."""
    start = time.perf_counter()
    command = [sys.executable, "-c", OPENSIM]
    result = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return float(result.stdout.split()[-1]), time.perf_counter() - start


def our_seconds(folder: Path, rounds: int) -> tuple[float, float]:
    """Of the fit in a process that has done it once, and of the whole command; the best of some rounds."""
    setup = read_inverse_kinematics_setup(folder / "setup_ik.xml")
    system, markers = oi.System(oi.read_osim(setup.model)), oi.read_markers(setup.markers).between(*setup.time_range)
    solve = [oi.inverse_kinematics(system, markers, tasks=setup.tasks).seconds for _ in range(rounds + 1)][1:]
    process = []
    for _ in range(rounds):
        start = time.perf_counter()
        command = [sys.executable, "-m", "osim_inertia", "ik", str(folder / "setup_ik.xml")]
        subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True)
        process.append(time.perf_counter() - start)
    return min(solve), min(process)


def measure(name: str, rounds: int) -> dict[str, float | str]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / name
        shutil.copytree(TRIALS / name, folder)
        ours = our_seconds(folder, rounds)
        theirs = [min(pair) for pair in zip(*(opensim_seconds(folder) for _ in range(max(1, rounds // 2))))]
    return {
        "trial": name,
        "opensim_run_s": theirs[0],
        "our_solve_s": ours[0],
        "solve_ratio": theirs[0] / ours[0],
        "opensim_process_s": theirs[1],
        "our_process_s": ours[1],
        "process_ratio": theirs[1] / ours[1],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", default=["rajagopal_run"])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = [measure(name, arguments.rounds) for name in arguments.trials]
    if arguments.json:
        print(json.dumps(results, indent=1))
    else:
        table = Table(*results[0])
        for result in results:
            table.add_row(*(value if isinstance(value, str) else f"{value:.3g}" for value in result.values()))
        Console().print(table)
    judged = [result for result in results if result["trial"] == "rajagopal_run"]
    return int(any(float(result[f"{key}_ratio"]) < limit for result in judged for key, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
