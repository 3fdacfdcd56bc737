"""How fast is it, next to OpenSim? All benchmarks in one go, each a ratio measured in the same run.

    python validation/speed/study.py [FOLDER]      writes speed.png and results.json

Needs a quiet machine, the `opensim` wheel and the reference data beside the project. Tests do not repeat this study:
they hold the stored figures against the limits.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
BENCHMARKS = HERE.parents[1] / "benchmarks"


def benchmark(name: str) -> Any:
    """What a benchmark prints as JSON."""
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--json"]
    out = subprocess.run(command, check=False, capture_output=True, text=True)
    if not out.stdout:
        raise RuntimeError(f"{name}: {out.stderr[-2000:]}")
    return json.loads(out.stdout[min(place for place in map(out.stdout.find, "[{") if place >= 0) :])


def main(folder: Path) -> None:
    """All ratios to OpenSim, as times faster."""
    skeleton, muscles = benchmark("skeleton"), benchmark("muscle_inertia")
    paths, inverse, fit = benchmark("paths"), benchmark("inverse_dynamics"), benchmark("inverse_kinematics")[0]
    results = {
        "inverse dynamics of one frame, one thread": 1.0 / skeleton["one thread"],
        "inverse dynamics of one frame, two threads": 1.0 / skeleton["two threads"],
        "all muscle lengths of one frame": paths["all lengths: times faster"],
        "all muscle lengths and moment arms of one frame": paths["all lengths and moment arms: times faster"],
        "inverse dynamics of a trial, solving": inverse["solve: OpenSim / ours"],
        "inverse dynamics of a trial, whole process": inverse["whole process: OpenSim / ours"],
        "inverse dynamics of a trial, all muscles massive, solving": inverse["massive solve: OpenSim / ours"],
        "inverse dynamics of a trial, all muscles massive, whole process": inverse[
            "massive whole process: OpenSim / ours"],
        "inverse kinematics of a trial, solving": fit["solve_ratio"],
        "inverse kinematics of a trial, whole process": fit["process_ratio"],
    }
    for name, ratio in muscles.items():
        results["inverse dynamics of one frame, " + name.removesuffix(", × OpenSim")] = 1.0 / ratio
    figure, axis = plt.subplots(figsize=(9, 6), layout="constrained")
    names = list(results)[::-1]
    bars = axis.barh(names, [results[name] for name in names], color="#2b83ba")
    axis.bar_label(bars, fmt="%.3g", padding=3)
    axis.axvline(1.0, color="k", lw=0.8)
    axis.set(xscale="log", xlabel="times as fast as OpenSim, which has no muscle mass", title="Rajagopal2016")
    figure.savefig(folder / "speed.png", dpi=110)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
