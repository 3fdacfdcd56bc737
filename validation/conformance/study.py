"""Does every model move and weigh what it does in OpenSim? The reference models and the zoo, quantity by quantity.

    python validation/conformance/study.py [FOLDER]      writes conformance.png, models.csv and results.json

Reference models: OpenSim's stored answers in the shared data beside the project. Zoo: OpenSim asked live. Differences
of positions in m, all others relative to the largest entry of OpenSim's answer.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import osim_inertia as oi

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT.parent / "shared/data"
sys.path.insert(0, str(ROOT / "tests/zoo"))
import live_opensim  # noqa: E402  (the path above must be set first)

QUANTITIES = ("positions (m)", "velocities", "mass matrix", "inverse dynamics", "centre of mass", "muscle lengths (m)")
SAME = 1e-9
TINY = 1e-17  # what a difference of zero is drawn as


def apart(ours: Any, theirs: Any, *, relative: bool = True) -> float:
    """Largest difference."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    scale = max(1.0, float(np.abs(theirs).max(initial=0.0))) if relative else 1.0
    return float(np.abs(ours - theirs).max(initial=0.0)) / scale


def differences(model: oi.Model, answers: dict[str, Any]) -> dict[str, float]:
    """By quantity, over all poses OpenSim was asked about. Models without mass have no centre of mass."""
    system = oi.System(model)
    poses, names = answers["poses"], system.coordinate_names
    q, u, udot = (np.array([[pose[key][name] for name in names] for pose in poses]) for key in ("q", "u", "udot"))
    bodies = [[pose["bodies"][name] for name in system.body_names] for pose in poses]
    order = [answers["order"].index(name) for name in names]
    M = np.array([pose["mass_matrix"] for pose in poses])[:, order][:, :, order]
    found = {
        "positions (m)": apart(system.body_poses(q)[..., :3, 3], [[b["p"] for b in row] for row in bodies],
                               relative=False),
        "velocities": apart(system.body_velocities(q, u), [[b["w"] + b["v"] for b in row] for row in bodies]),
        "mass matrix": apart(system.mass_matrix(q), M),
        "inverse dynamics": apart(system.inverse_dynamics(q, u, udot),
                                  [[pose["id_gravity"][name] for name in names] for pose in poses]),
    }
    if model.mass > 0.0:
        found["centre of mass"] = apart(system.center_of_mass(q), [pose["com"] for pose in poses])
    lengths = [[pose["paths"][name]["length"] for name in system.path_names if name in pose["paths"]] for pose in poses]
    if system.path_names and len(lengths[0]) == len(system.path_names):
        found["muscle lengths (m)"] = apart(system.path_lengths(q), lengths, relative=False)
    return found


def reference_models() -> dict[str, tuple[Path, dict[str, Any]]]:
    """File and stored answers of every reference model and every trial's model."""
    found = {}
    for file in sorted((DATA / "oracle").glob("*.json")):
        folder, _, name = file.stem.partition("-")
        of_trial = DATA / "trials" / name / "model.osim"
        model = of_trial if folder == "trial" else DATA / "models" / folder / f"{name}.osim"
        found[file.stem] = model, json.loads(file.read_text(encoding="utf-8"))
    return found


def zoo() -> dict[str, tuple[Path, dict[str, Any]]]:
    """File and live answers of every model of the zoo."""
    files = sorted((ROOT / "models/zoo").glob("*.osim"))
    answers = live_opensim.answers(files)
    return {file.name: (file, answers[file.name]) for file in files}


def main(folder: Path) -> None:
    """Both sets: one row per model, worst figures, and a picture."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
    results: dict[str, float | str] = {}
    rows = []
    for axis, (title, models) in zip(axes, (("reference models", reference_models()), ("zoo", zoo()))):
        found = {name: differences(oi.read_osim(file), answers) for name, (file, answers) in models.items()}
        rows += [{"set": title, "model": name, **values} for name, values in found.items()]
        departing = sorted(name for name, values in found.items() if max(values.values()) > SAME)
        results[f"{title}: models compared"] = len(found)
        results[f"{title}: models in which something departs from OpenSim"] = len(departing)
        for place, quantity in enumerate(QUANTITIES):
            values = np.array([v[quantity] for name, v in found.items() if quantity in v and name not in departing])
            results[f"{title}: {quantity}, worst of the others"] = float(values.max(initial=0.0))
            spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(values))
            axis.semilogy(place + spread, np.maximum(values, TINY), ".", ms=3)
        axis.axhline(SAME, color="0.6", lw=0.8)
        axis.set_xticks(range(len(QUANTITIES)), QUANTITIES, rotation=30, ha="right")
        axis.set_title(f"{title}: {len(found)} models")
    axes[0].set_ylabel("difference from OpenSim")
    figure.savefig(folder / "conformance.png", dpi=110)
    with open(folder / "models.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["set", "model", *QUANTITIES], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{v:.1e}" if isinstance(v, float) else v for key, v in row.items()} for row in rows)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
