"""Where and by how much do paths differ: OpenSim and ours, OpenSim's construction and the shortest path.

    python benchmarks/paths_compare.py [--data FOLDER] [--trial NAME] [--all]

For every trial and path the largest difference over all frames of
  - length, OpenSim itself against paths="opensim"
  - length and moment arms, paths="opensim" against paths="shortest", with the time at which it happens
Without --all only paths with wraps are listed: the others have nothing to differ by.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from skeleton import DEFAULT_MODEL

import osim_inertia as oi
from osim_inertia.inverse import kinematics_of

DATA = DEFAULT_MODEL.parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from live_paths import opensim_lengths  # noqa: E402


def compare(folder: Path, everything: bool) -> Table:
    """Table of one trial."""
    system = oi.System(oi.read_osim(folder / "model.osim"))
    motion = kinematics_of(system, oi.read_table(folder / "ik.mot"))
    q = motion.q
    theirs = opensim_lengths(folder / "model.osim", system.coordinate_names, q)
    ours, shortest = system.path_lengths(q), system.path_lengths(q, paths="shortest")
    live = np.array([theirs[name] for name in system.path_names]).T
    arms = np.abs(system.moment_arms(q) - system.moment_arms(q, paths="shortest"))
    off = np.abs(ours - live).max()
    table = Table(title=f"{folder.name}: {len(q)} frames, {len(system.path_names)} paths, largest difference to "
                        f"OpenSim of any length {off:.1e} m")  # fmt: skip
    for heading in ("path", "to OpenSim m", "shortest − opensim mm: mean", "least", "most", "at s", "arm mm", "about"):
        table.add_column(heading, justify="left" if heading in ("path", "about") else "right")
    for i, force in enumerate(system.model.path_forces):
        if not (everything or force.geometry.wraps):
            continue
        d = 1e3 * (shortest - ours)[:, i]
        frame = int(np.abs(d).argmax())
        where, coordinate = np.unravel_index(arms[:, i].argmax(), arms[:, i].shape)
        table.add_row(force.name, f"{np.abs(ours - live)[:, i].max():.1e}", f"{d.mean():.4f}", f"{d.min():.4f}",
                      f"{d.max():.4f}", f"{motion.time[frame]:.2f}", f"{1e3 * arms[where, i, coordinate]:.3f}",
                      system.coordinate_names[coordinate])  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with trials/")
    parser.add_argument("--trial", help="one trial only")
    parser.add_argument("--all", action="store_true", help="paths without wraps, too")
    options = parser.parse_args()
    for folder in sorted((options.data / "trials").glob(options.trial or "*")):
        table = compare(folder, options.all)
        Console().print(table if table.row_count else f"{table.title}; no wraps")


if __name__ == "__main__":
    main()
