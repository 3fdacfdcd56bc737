"""OpenSim's own path lengths along a motion, from a process of its own.

    opensim_lengths(model file, names, q) -> {path name: (F,) lengths}

As a script it is that process: live_paths.py MODEL IN.npz OUT.npz
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TIMEOUT = 600.0  # s


def opensim_lengths(model: Path, names: tuple[str, ...], q: np.ndarray) -> dict[str, np.ndarray]:
    """Lengths at the poses q (F, n), coordinates by name; constraints and locks do not interfere."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(given, names=np.array(names), q=q)
        command = [sys.executable, __file__, str(Path(model).resolve()), str(given), str(found)]
        # OpenSim writes a log into its working folder
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"OpenSim ended with {done.returncode}:\n{done.stderr[-2000:]}")
        with np.load(found) as stored:
            return dict(stored)


def main(file: str, given: str, found: str) -> None:
    """The process that runs OpenSim."""
    import opensim

    opensim.Logger.setLevelString("off")
    model = opensim.Model(file)
    state = model.initSystem()
    coordinates = [model.getCoordinateSet().get(i) for i in range(model.getCoordinateSet().getSize())]
    for coordinate in coordinates:
        coordinate.setLocked(state, False)
    place = {}
    for coordinate in coordinates:  # where in the vector of all q each coordinate is
        copy = opensim.State(state)
        before = np.array([copy.getQ().get(i) for i in range(copy.getNQ())])
        coordinate.setValue(copy, coordinate.getValue(copy) + 0.123, False)
        after = np.array([copy.getQ().get(i) for i in range(copy.getNQ())])
        place[coordinate.getName()] = int(np.abs(after - before).argmax())
    paths = [opensim.GeometryPath.safeDownCast(component) for component in model.getComponentsList()]
    paths = [path for path in paths if path is not None]
    with np.load(given) as motion:
        columns = [place[name] for name in motion["names"]]
        q = np.empty_like(motion["q"])
        q[:, columns] = motion["q"]
    lengths = np.empty((len(q), len(paths)))
    for f, pose in enumerate(q):
        state.setQ(opensim.Vector.createFromMat(pose))
        model.realizePosition(state)
        lengths[f] = [path.getLength(state) for path in paths]
    np.savez(found, **{path.getOwner().getName(): lengths[:, i] for i, path in enumerate(paths)})


if __name__ == "__main__":
    main(*sys.argv[1:])
