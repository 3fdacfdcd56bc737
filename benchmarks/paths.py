"""How fast are paths? Ratios to OpenSim, one thread, measured in the same run.

    python benchmarks/paths.py [--model FILE] [--frames N] [--json]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import opensim
from rich.console import Console
from rich.table import Table
from skeleton import DEFAULT_MODEL, best

import osim_inertia as oi

LIMITS = {"all lengths": 50.0, "all lengths and moment arms": 500.0}


class OpenSimSide:
    """OpenSim with the same model: all lengths of some poses, one moment arm of every path."""

    def __init__(self, file: Path, names: tuple[str, ...]) -> None:
        opensim.Logger.setLevelString("off")
        self.model = opensim.Model(str(file))
        self.state = self.model.initSystem()
        coordinates = self.model.getCoordinateSet()
        for i in range(coordinates.getSize()):
            coordinates.get(i).setLocked(self.state, False)
        paths = [opensim.GeometryPath.safeDownCast(component) for component in self.model.getComponentsList()]
        self.paths = [path for path in paths if path is not None]
        self.coordinate = coordinates.get("hip_flexion_r") if "hip_flexion_r" in names else coordinates.get(0)

    def lengths(self, poses: list[opensim.Vector]) -> None:
        for pose in poses:
            self.state.setQ(pose)
            self.model.realizePosition(self.state)
            for path in self.paths:
                path.getLength(self.state)

    def moment_arms(self) -> None:
        for path in self.paths:
            path.computeMomentArm(self.state, self.coordinate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--frames", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    system = oi.System(oi.read_osim(options.model), threads=1)
    ranges = {c.name: c.range for c in system.model.coordinates}
    low, high = np.clip(np.array([ranges[name] for name in system.coordinate_names]), -1.0, 1.5).T
    q = np.random.default_rng(1).uniform(low, high, (options.frames, system.n))
    theirs = OpenSimSide(options.model, system.coordinate_names)
    poses = [opensim.Vector.createFromMat(pose) for pose in q]
    system.moment_arms(q[:2])
    times = dict.fromkeys(("their lengths", "their arm", "our lengths", "our arms"), np.inf)
    for _ in range(options.rounds):  # in turns, so that a busy machine disturbs both alike; the best round counts
        for name, task, count in (
            ("their lengths", lambda: theirs.lengths(poses), len(q)),
            ("our lengths", lambda: system.path_lengths(q), len(q)),
            ("their arm", theirs.moment_arms, len(theirs.paths)),
            ("our arms", lambda: system.moment_arms(q), len(q)),
        ):
            times[name] = min(times[name], best(task, 1) / count)
    arms = len(system.path_names) * system.n
    rows = [
        ("all lengths", times["their lengths"], times["our lengths"]),
        ("all lengths and moment arms", times["their lengths"] + arms * times["their arm"], times["our arms"]),
    ]
    if options.json:
        print(json.dumps({f"{name}: times faster": a / b for name, a, b in rows}, indent=1))
        return
    table = Table(title=f"{len(system.path_names)} paths of {options.model.stem}, {system.n} coordinates, one thread")
    for heading in ("a frame of", "OpenSim ms", "ours ms", "times faster", "limit"):
        table.add_column(heading, justify="left" if heading == "a frame of" else "right")
    for name, a, b in rows:
        table.add_row(name, f"{a * 1e3:.3g}", f"{b * 1e3:.3g}", f"{a / b:.0f}", f"{LIMITS[name]:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
