"""How fast is the skeleton? Ratios to OpenSim, measured in the same run.

    python benchmarks/skeleton.py [--model FILE] [--frames N] [--json]

Needs the `opensim` wheel and a Rajagopal model (by default the one of the reference data beside the project).
Both sides get the same random poses; the best of several rounds counts, so that a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import opensim
from rich.console import Console
from rich.table import Table

import osim_inertia as oi

DEFAULT_MODEL = Path(__file__).resolve().parents[2] / "shared/data/models/Rajagopal/Rajagopal2016.osim"
LIMITS = {
    "one thread": (0.35, "× OpenSim"),
    "two threads": (0.2, "× OpenSim"),
    "read the model": (0.2, "s"),
    "warm info": (1.5, "s"),
    "cold compile": (60.0, "s"),
}


def best(task: Callable[[], object], rounds: int) -> float:
    """Shortest of several runs, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


class OpenSimSide:
    """OpenSim's InverseDynamicsSolver on the bare skeleton: forces off, gravity on."""

    def __init__(self, file: Path, names: tuple[str, ...]) -> None:
        opensim.Logger.setLevelString("off")
        self.model = opensim.Model(str(file))
        self.state = self.model.initSystem()
        for force in self.model.getForceSet():
            force.setAppliesForce(self.state, False)
        coordinates = self.model.getCoordinateSet()
        for i in range(coordinates.getSize()):
            coordinates.get(i).setLocked(self.state, False)
        self.n = len(names)

    def seconds_per_frame(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> float:
        """Time of `solve` alone; setting the state is not counted."""
        solver = opensim.InverseDynamicsSolver(self.model)
        vectors = [[opensim.Vector.createFromMat(row) for row in rows] for rows in (q, u, udot)]
        spent = 0.0
        for qi, ui, ai in zip(*vectors):
            self.state.setQ(qi)
            self.state.setU(ui)
            start = time.perf_counter()
            solver.solve(self.state, ai)
            spent += time.perf_counter() - start
        return spent / len(q)


def cold_compile_seconds() -> float:
    """First use of every skeleton computation with an empty cache, in a process of its own."""
    script = (
        "import sys, time; t = time.perf_counter(); import numpy as np, osim_inertia as oi\n"
        "s = oi.System(oi.read_osim(sys.argv[1])); q = s.default_pose()\n"
        "s.body_velocities(q, q); s.body_accelerations(q, q, q); s.mass_matrix(q); s.marker_positions(q)\n"
        "s.forward_dynamics(q, q, s.inverse_dynamics(q, q, q)[0]); s.center_of_mass(q); s.body_jacobians(q)\n"
        "s.constraints.project_q(q); s.qdot(q, q); s.speeds(q, q); print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**__import__("os").environ, "NUMBA_CACHE_DIR": cache}
        out = subprocess.run([sys.executable, "-c", script, str(DEFAULT_MODEL)], env=environment, check=True,
                             capture_output=True, text=True)
    return float(out.stdout)


def measure(file: Path, frames: int) -> dict[str, float]:
    model = oi.read_osim(file)
    rng = np.random.default_rng(1)
    system = oi.System(model, threads=1)
    q, u, udot = (rng.uniform(-s, s, (frames, system.n)) for s in (0.4, 1.0, 5.0))
    system.inverse_dynamics(q, u, udot)
    theirs = OpenSimSide(file, system.coordinate_names)
    reference = min(theirs.seconds_per_frame(q[:2000], u[:2000], udot[:2000]) for _ in range(3))
    one = best(lambda: system.inverse_dynamics(q, u, udot), 5) / frames
    two_threads = oi.System(model, threads=2)
    two = best(lambda: two_threads.inverse_dynamics(q, u, udot), 5) / frames
    info = [sys.executable, "-m", "osim_inertia", "info", str(file)]
    return {
        "OpenSim µs a frame": reference * 1e6,
        "one thread µs a frame": one * 1e6,
        "two threads µs a frame": two * 1e6,
        "one thread": one / reference,
        "two threads": two / reference,
        "read the model": best(lambda: oi.read_osim(file), 3),
        "warm info": best(lambda: subprocess.run(info, check=True, capture_output=True), 3),
        "cold compile": cold_compile_seconds(),
    }


def growth(frames: int = 2000) -> list[tuple[int, float]]:
    """µs a frame of inverse dynamics for chains of pin joints: it should grow in proportion."""
    from osim_inertia.model.frames import GROUND, Body
    from osim_inertia.model.joints import Coordinate, Joint

    rows = []
    for count in (5, 10, 20, 40, 80):
        bodies = tuple(Body(name=f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1, 0, 0, 0)) for i in range(count))
        joints = tuple(Joint(kind="PinJoint", name=f"j{i}", parent_frame=f"/bodyset/b{i - 1}" if i else GROUND,
                             child_frame=f"/bodyset/b{i}", coordinates=(Coordinate(name=f"q{i}"),))
                       for i in range(count))
        system = oi.System(oi.Model(name="chain", bodies=bodies, joints=joints), threads=1)
        q = np.zeros((frames, count))
        system.inverse_dynamics(q, q, q)
        rows.append((count, best(lambda s=system, q=q: s.inverse_dynamics(q, q, q), 3) / frames * 1e6))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--frames", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = measure(options.model, options.frames)
    rows = growth()
    if options.json:
        print(json.dumps(results | {"growth": rows}, indent=1))
        return
    table = Table(title=f"Skeleton of {options.model.stem}")
    for heading in ("", "measured", "limit", ""):
        table.add_column(heading, justify="right" if heading else "left")
    for name, value in results.items():
        limit, unit = LIMITS.get(name, (None, ""))
        verdict = "" if limit is None else "[green]holds[/]" if value <= limit else "[red]too slow[/]"
        table.add_row(name, f"{value:.3g} {unit}", "" if limit is None else f"{limit:g}", verdict)
    console = Console()
    console.print(table)
    chain = Table(title="Inverse dynamics of a chain, one thread")
    chain.add_column("bodies", justify="right")
    chain.add_column("µs a frame", justify="right")
    chain.add_column("µs a body", justify="right")
    for count, micro in rows:
        chain.add_row(str(count), f"{micro:.2f}", f"{micro / count:.3f}")
    console.print(chain)


if __name__ == "__main__":
    main()
