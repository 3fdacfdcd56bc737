"""What does muscle mass cost? Inverse dynamics with massive muscles against OpenSim's massless solver, in one run.

    python benchmarks/muscle_inertia.py [--model FILE] [--frames N] [--json]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from skeleton import DEFAULT_MODEL, OpenSimSide, best

import osim_inertia as oi

LIMITS = {1: 2.0, 2: 1.1}  # threads: times OpenSim's massless inverse dynamics, all muscles massive


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    model = oi.read_osim(options.model)
    names = [muscle.name for muscle in model.muscles]
    system = oi.System(model)
    ranges = {c.name: c.range for c in model.coordinates}
    low, high = np.clip(np.array([ranges[name] for name in system.coordinate_names]), -0.6, 0.8).T
    rng = np.random.default_rng(1)
    q = rng.uniform(low, high, (options.frames, system.n))
    u, udot = rng.uniform(-1.0, 1.0, q.shape), rng.uniform(-5.0, 5.0, q.shape)
    theirs = OpenSimSide(options.model, system.coordinate_names)
    reference = min(theirs.seconds_per_frame(q[:1000], u[:1000], udot[:1000]) for _ in range(3))
    heading = f"Inverse dynamics of {options.model.stem}; OpenSim, massless: {reference * 1e6:.1f} µs a frame"
    table = Table(title=heading)
    for heading in ("massive muscles", "threads", "µs a frame", "× OpenSim", "limit"):
        table.add_column(heading, justify="right")
    ratios = {}
    for count in (0, 10, 20, 40, len(names)):
        massive = oi.with_muscle_mass(model, 0.4, muscles=names[:count]) if count else model
        for threads in (1, 2):
            side = oi.System(massive, threads=threads)
            side.inverse_dynamics(q[:64], u[:64], udot[:64])
            ours = best(lambda s=side: s.inverse_dynamics(q, u, udot), 5) / options.frames
            limit = f"{LIMITS[threads]:g}" if count == len(names) else ""
            ratios[f"{count} massive muscles, threads: {threads}, × OpenSim"] = ours / reference
            table.add_row(str(count), str(threads), f"{ours * 1e6:.1f}", f"{ours / reference:.2f}", limit)
    if options.json:
        print(json.dumps(ratios, indent=1, ensure_ascii=False))
    else:
        Console().print(table)


if __name__ == "__main__":
    main()
