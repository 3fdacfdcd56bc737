"""OpenSim's own answers for small models, from a process of their own.

    answers(paths) -> {file name: what make_oracle.Oracle.run returns}

OpenSim keeps a file's <defaults> block for every later file of the process, so such a file gets a fresh one; all others
share one process per batch. As a script it is that process: live_opensim.py OUT.json SEED POSES MODEL...
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parents[2] / ".." / "shared" / "tools"
BATCH = 100  # models per process
TIMEOUT = 300.0  # s per process


def answers(paths: Sequence[Path], *, seed: int = 1, poses: int = 4) -> dict[str, dict[str, Any]]:
    """Order of u, and per pose q, u, udot, bodies, mass matrix, inverse dynamics, centre of mass, markers and paths."""
    alone = [path for path in paths if "<defaults>" in path.read_text(encoding="utf-8")]
    together = [path for path in paths if path not in alone]
    batches = [together[i : i + BATCH] for i in range(0, len(together), BATCH)] + [[path] for path in alone]
    found: dict[str, dict[str, Any]] = {}
    for batch in batches:
        found |= _run(batch, seed, poses)
    return found


def _run(paths: Sequence[Path], seed: int, poses: int) -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answers.json"
        command = [sys.executable, __file__, str(out), str(seed), str(poses), *map(str, paths)]
        # OpenSim writes a log into its working folder
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            last = done.stdout.split()[-1:]
            raise RuntimeError(f"OpenSim ended with {done.returncode} at {last}:\n{done.stderr[-2000:]}")
        return json.loads(out.read_text(encoding="utf-8"))


def main(out: str, seed: str, poses: str, *paths: str) -> None:
    """The process that runs OpenSim."""
    sys.path.insert(0, str(TOOLS))
    from make_oracle import Oracle

    found = {}
    for path in paths:
        print(Path(path).name, flush=True)  # the last name printed is the model that crashed
        found[Path(path).name] = Oracle(path, seed=int(seed)).run(int(poses))
    Path(out).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
