"""How fast are paths? Ratios to OpenSim, one thread, measured in the same run.

    python benchmarks/paths.py [--model FILE] [--frames N]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import opensim
from rich.console import Console
from rich.table import Table
from skeleton import DEFAULT_MODEL, best

import osim_inertia as oi

LIMITS = {"all lengths": 50.0, "all lengths and moment arms": 500.0}


def opensim_seconds(file: Path, names: tuple[str, ...], q: np.ndarray) -> tuple[float, float]:
    """Seconds a frame for all lengths, and seconds for one moment arm (the mean over all muscles of one coordinate)."""
    opensim.Logger.setLevelString("off")
    model = opensim.Model(str(file))
    state = model.initSystem()
    coordinates = model.getCoordinateSet()
    for i in range(coordinates.getSize()):
        coordinates.get(i).setLocked(state, False)
    paths = [opensim.GeometryPath.safeDownCast(c) for c in model.getComponentsList()]
    paths = [path for path in paths if path is not None]
    spent = 0.0
    for pose in q:
        vector = opensim.Vector.createFromMat(pose)
        start = time.perf_counter()
        state.setQ(vector)
        model.realizePosition(state)
        for path in paths:
            path.getLength(state)
        spent += time.perf_counter() - start
    coordinate = coordinates.get("hip_flexion_r") if "hip_flexion_r" in names else coordinates.get(0)
    start = time.perf_counter()
    for path in paths:
        path.computeMomentArm(state, coordinate)
    return spent / len(q), (time.perf_counter() - start) / len(paths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--frames", type=int, default=500)
    options = parser.parse_args()
    system = oi.System(oi.read_osim(options.model), threads=1)
    ranges = {c.name: c.range for c in system.model.coordinates}
    low, high = np.clip(np.array([ranges[name] for name in system.coordinate_names]), -1.0, 1.5).T
    q = np.random.default_rng(1).uniform(low, high, (options.frames, system.n))
    system.path_lengths(q[:2])
    system.moment_arms(q[:2])
    theirs, one_arm = opensim_seconds(options.model, system.coordinate_names, q[:100])
    ours = best(lambda: system.path_lengths(q), 3) / len(q)
    ours_with_arms = best(lambda: system.moment_arms(q), 3) / len(q)
    arms = len(system.path_names) * system.n
    rows = [
        ("all lengths", theirs, ours),
        ("all lengths and moment arms", theirs + arms * one_arm, ours_with_arms),
    ]
    table = Table(title=f"{len(system.path_names)} paths of {options.model.stem}, {system.n} coordinates, one thread")
    for heading in ("a frame of", "OpenSim ms", "ours ms", "times faster", "limit"):
        table.add_column(heading, justify="left" if heading == "a frame of" else "right")
    for name, a, b in rows:
        table.add_row(name, f"{a * 1e3:.3g}", f"{b * 1e3:.3g}", f"{a / b:.0f}", f"{LIMITS[name]:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
