"""What came out, in plain sentences and figures: for the head of the page, the terminal and summary.json."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import osim_inertia
from osim_inertia import opensim_bridge
from osim_inertia.report.collect import Findings
from osim_inertia.report.comparison import LIMIT
from osim_inertia.report.curves import most_changed
from osim_inertia.report.masses import INERTIAL_ONLY
from osim_inertia.report.numbers import number, percent, power

PACKAGES = ("numpy", "scipy", "numba", "lxml", "plotly")
SIDES = {"r": "right", "l": "left", "": ""}


def sentences(findings: Findings) -> list[str]:
    """The results, the most important first."""
    lines = []
    if findings.transfer is not None:
        lines.append(_change(findings))
    error = findings.largest_error
    if error is not None:
        worst = findings.errors[0]
        verdict = "Without muscle mass the result is OpenSim's own" if error <= LIMIT else \
            "Without muscle mass the result is NOT OpenSim's"  # fmt: skip
        lines.append(f"{verdict}: the largest relative difference of {len(findings.errors)} moments and forces is "
                     f"{power(error)} ({worst.column}).")  # fmt: skip
    if findings.transfer is not None:
        lines.append(mass_moved(findings.transfer))
    if findings.fit is not None:
        lines.append(f"The joint angles fit the markers to {1000.0 * findings.fit.rms:.1f} mm RMS.")
    lines.append(stride_sentence(findings))
    if findings.request.loads is None and findings.strides:
        lines.append("Ground forces are not part of this trial: the moments are meaningful in swing, not in stance.")
    lines.append(INERTIAL_ONLY)
    return lines


def _change(findings: Findings) -> str:
    curve = most_changed(findings.curves)
    largest, share = curve.change(findings.most)
    where = " in swing" if curve.strides else ""
    others = [f"{other.coordinate} {percent(other.change(findings.most)[1])}" for other in findings.curves
              if other is not curve and other.sudden_peak() is None]  # fmt: skip
    return (f"If {findings.most} % of {bodies_in_words(findings)} is muscle that moves along its paths, instead of "
            f"being fixed to the bone, the moment at {curve.coordinate}{where} changes by up to {percent(share)} "
            f"of its largest value ({number(largest)} {curve.unit})"
            + (f"; {', '.join(others[:3])}." if others else "."))  # fmt: skip


def peaks(findings: Findings) -> list[str]:
    """A warning where muscle paths switch during the motion, so that their mass is thrown about."""
    at = {curve.coordinate: curve.sudden_peak() for curve in findings.curves}
    found = [f"{name} ({time:.2f} s)" for name, time in at.items() if time is not None]
    if not found:
        return []
    return [f"The change has sudden peaks at {', '.join(found)}. As a rule a muscle comes onto or off a wrap object "
            "there, or a conditional point of its path switches, and its mass changes course at once: that is the "
            "model, not the body. osim-inertia doctor MODEL MOTION finds paths that jump."]  # fmt: skip


def bodies_in_words(findings: Findings) -> str:
    """'tibia_r', 'tibia_r and femur_r', or 'each of 9 bodies'."""
    assert findings.transfer is not None
    names = [row["body"] for row in findings.transfer["bodies"]]
    return " and ".join(names) if len(names) <= 2 else f"each of {len(names)} bodies"


def mass_moved(transfer: dict[str, Any]) -> str:
    """How much went where."""
    muscles = len({row["muscle"] for row in transfer["muscles"]})
    return (f"Mass moved at the largest share: {transfer['muscle_mass_kg']:.2f} of {transfer['mass_kg']:.2f} kg, from "
            f"{len(transfer['bodies'])} {'body' if len(transfer['bodies']) == 1 else 'bodies'} to {muscles} "
            f"{'muscle' if muscles == 1 else 'muscles'}. The total stays the same.")  # fmt: skip


def stride_sentence(findings: Findings) -> str:
    """How many strides were found, and how."""
    if not findings.strides:
        return "No whole stride was found in the motion: curves and changes are those of the whole trial."
    parts = [f"{len(item.times)} of {item.foot} (swing from {item.toe_off:.0f} % on, found from {item.source})"
             for item in findings.strides]  # fmt: skip
    return f"Curves are means of whole strides: {', '.join(parts)}."


def stride_count(findings: Findings) -> str:
    """'6 right, 6 left'."""
    counts = (f"{len(item.times)} {SIDES[item.side]}".strip() for item in findings.strides)
    return ", ".join(counts) or "none"


# ---- speed, versions ------------------------------------------------------------------------------------------------
def speed(findings: Findings) -> list[dict[str, Any]]:
    """Seconds of inverse dynamics: ours by percent (reading, solving, writing) and OpenSim's run of the same."""
    seconds, rows = findings.seconds, []
    for p in findings.percents:
        solve, write = seconds[f"solve {p} %"], seconds[f"write {p} %"]
        rows.append({"what": f"osim-inertia, {p} % muscle", "read_s": seconds["read"], "solve_s": solve,
                     "write_s": write, "total_s": seconds["read"] + solve + write})  # fmt: skip
    if findings.opensim is not None:
        rows.append({"what": f"OpenSim {findings.opensim.version}, no muscle mass", "read_s": None, "solve_s": None,
                     "write_s": None, "total_s": findings.opensim.seconds})  # fmt: skip
    return rows


def versions(findings: Findings) -> dict[str, str]:
    """Of everything that took part; nothing that tells which computer it was."""
    found = {"osim-inertia": osim_inertia.__version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    opensim = findings.opensim
    found["OpenSim"] = opensim.version if opensim else f"not used; {opensim_bridge.HOW_TO_GET}"
    found["system"] = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    return found


def unsupported(findings: Findings) -> list[dict[str, Any]]:
    """Parts of the model that are read but not computed with, by class."""
    groups: dict[str, list[str]] = {}
    for raw in findings.model.unsupported:
        groups.setdefault(raw.kind, []).append(raw.name)
    return [{"kind": kind, "count": len(names), "names": names} for kind, names in groups.items()]
