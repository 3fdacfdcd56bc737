"""The files beside the page: CSV of every figure and table, summary.json, and how a folder gets a complete report.

Everything is made in a folder of its own first; only a complete report takes the place of an older one.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from osim_inertia.errors import FileError
from osim_inertia.files import atomic_write_text
from osim_inertia.report import words
from osim_inertia.report.collect import Findings
from osim_inertia.report.comparison import LIMIT
from osim_inertia.report.curves import STEPS, Curve

PAGE, SUMMARY = "index.html", "summary.json"
FORMAT = "osim-inertia report 1"
NAMES = (PAGE, SUMMARY, "ik.mot", "id_*.sto", "opensim_id.sto", "errors.csv", "errors.json", "changes.csv",
         "strides.csv", "curves_*.csv", "masses.csv", "bodies.csv", "ranking.csv", "speed.csv")  # fmt: skip


# ---- a complete report or none --------------------------------------------------------------------------------------
@contextlib.contextmanager
def complete_folder(output: Path) -> Iterator[Path]:
    """A temporary folder whose files move into `output` when the block ends well; the page comes last.

    Files of an earlier report that the new one lacks are removed; other files in the folder stay.
    """
    fresh = not output.exists()
    try:
        output.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=output, prefix=".report-"))
    except OSError as error:
        raise FileError(f"The folder for the results cannot be made: {error.strerror or error}.", file=output,
                        found=str(output)) from None
    try:
        old = _earlier(output)
        _refuse_to_replace(output, old)
        yield made
        new = {path.name for path in made.iterdir()}
        for name in sorted(new, key=lambda name: (name == PAGE, name)):
            os.replace(made / name, output / name)
        for name in old - new:
            (output / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if fresh:
            with contextlib.suppress(OSError):  # not empty: the report is there
                output.rmdir()


def _refuse_to_replace(output: Path, old: set[str]) -> None:
    """Files of the user's that happen to have the names of ours are left alone."""
    others = [path.name for path in sorted(output.iterdir()) if path.name not in old
              and any(fnmatch(path.name, name) for name in NAMES)]  # fmt: skip
    if others:
        raise FileError("The report would replace files that are not of an earlier report.", file=output,
                        found=", ".join(others[:6]), to_do="give another folder")


def _earlier(output: Path) -> set[str]:
    """Names of the files of an earlier report in this folder."""
    try:
        found = json.loads((output / SUMMARY).read_text(encoding="utf-8"))
        names = found["files"] if found.get("format") == FORMAT else []
        return {name for name in names if isinstance(name, str) and Path(name).name == name}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


# ---- tables ---------------------------------------------------------------------------------------------------------
def write_files(findings: Findings, folder: Path) -> dict[str, Any]:
    """Write all tables and the summary, which is returned and lists all files that are there then."""
    tables = {"strides.csv": _strides(findings), "masses.csv": _masses(findings), "bodies.csv": _bodies(findings),
              "ranking.csv": _ranking(findings), "errors.csv": _errors(findings), "changes.csv": _changes(findings),
              "speed.csv": _speed(findings)}  # fmt: skip
    tables |= {f"curves_{curve.coordinate}.csv": _curve(curve) for curve in findings.curves}
    for name, rows in tables.items():
        if len(rows) > 1:
            atomic_write_text(folder / name, _csv(rows))
    if findings.errors:
        atomic_write_text(folder / "errors.json", _json([asdict(row) for row in findings.errors]))
    found = summary(findings)
    found["files"] = sorted({*(path.name for path in folder.iterdir()), SUMMARY})
    atomic_write_text(folder / SUMMARY, _json(found))
    return found


def summary(findings: Findings) -> dict[str, Any]:
    """The report in plain Python types."""
    return {
        "format": FORMAT,
        "title": findings.request.title or findings.model.name,
        "sentences": words.sentences(findings),
        "inputs": findings.request.input_files(),
        "settings": findings.request.settings(),
        "versions": words.versions(findings),
        "opensim": {
            "compared": findings.opensim is not None,
            "largest_relative_rms": findings.largest_error,
            "limit": LIMIT,
            "column": findings.errors[0].column if findings.errors else None,
        },
        "rows": len(findings.forces[0]),
        "time_range_s": [float(findings.forces[0].time[0]), float(findings.forces[0].time[-1])],
        "strides": [{"foot": item.foot, "count": len(item.times), "toe_off_percent": item.toe_off,
                     "source": item.source} for item in findings.strides],
        "largest_change": {curve.coordinate: {str(p): {"value": curve.change(p)[0], "unit": curve.unit,
                                                       "share": curve.change(p)[1], "rms_share": curve.rms_change(p)}
                                              for p in findings.percents[1:]} for curve in findings.curves},
        "transfer": findings.transfer,
        "muscles_that_explain_95_percent": list(findings.ranking.explaining) if findings.ranking else [],
        "marker_error_rms_m": findings.fit.rms if findings.fit else None,
        "speed": words.speed(findings),
        "seconds": {name: round(value, 6) for name, value in findings.seconds.items()},
        "notes": [*words.peaks(findings), *findings.notes],
        "missing": list(findings.missing),
        "unsupported": words.unsupported(findings),
    }  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row])
    return text.getvalue()


def _curve(curve: Curve) -> list[list[Any]]:
    """Mean and standard deviation over strides, one row per percent of the stride; without strides over time."""
    unit = curve.unit.replace(" ", "")
    if curve.strides is None:
        columns: dict[str, Any] = {"time_s": curve.time}
        columns |= {f"{unit}_{p}_percent_muscle": values for p, values in curve.forces.items()}
        theirs = curve.opensim
    else:
        columns = {"percent_of_stride": np.linspace(0.0, 100.0, STEPS)}
        for p in curve.forces:
            columns[f"mean_{unit}_{p}_percent_muscle"] = curve.mean(p)
            deviation = curve.deviation(p)
            if deviation is not None:
                columns[f"sd_{unit}_{p}_percent_muscle"] = deviation
        theirs = curve.opensim_mean()
    if theirs is not None:
        columns[f"OpenSim_{unit}"] = theirs
    return [list(columns), *(list(map(float, row)) for row in zip(*columns.values()))]


def _strides(findings: Findings) -> list[list[Any]]:
    rows: list[list[Any]] = [["foot", "side", "foot_strike_s", "toe_off_s", "next_foot_strike_s", "found_from"]]
    return rows + [[item.foot, item.side, *map(float, times), item.source]
                   for item in findings.strides for times in item.times]  # fmt: skip


def _masses(findings: Findings) -> list[list[Any]]:
    rows = (findings.transfer or {}).get("muscles", [])
    return [["muscle", "body", "kg", "belly_start", "belly_end"], *(list(row.values()) for row in rows)]


def _bodies(findings: Findings) -> list[list[Any]]:
    rows = (findings.transfer or {}).get("bodies", [])
    return [["body", "mass_before_kg", "mass_after_kg", "fraction"], *(list(row.values()) for row in rows)]


def _ranking(findings: Findings) -> list[list[Any]]:
    found = findings.ranking
    if found is None:
        return []
    units = (f"{name}_{unit.replace(' ', '')}" for name, unit in zip(found.coordinates, found.units))
    rows: list[list[Any]] = [["muscle", "kg", "share_of_change", *(f"rms_change_{name}" for name in units)]]
    return rows + [[name, float(found.kg[k]), float(found.share[k]), *map(float, found.change[k])]
                   for k, name in enumerate(found.muscles)]  # fmt: skip


def _errors(findings: Findings) -> list[list[Any]]:
    head = ["column", "unit", "rms_of_opensim", "rms_difference", "largest_difference", "relative_rms_difference"]
    return [head, *(list(asdict(row).values()) for row in findings.errors)]


def _changes(findings: Findings) -> list[list[Any]]:
    rows: list[list[Any]] = [["coordinate", "percent_muscle", "largest_change", "unit", "share_of_largest_value",
                              "rms_share"]]  # fmt: skip
    return rows + [[curve.coordinate, p, curve.change(p)[0], curve.unit, curve.change(p)[1], curve.rms_change(p)]
                   for curve in findings.curves for p in findings.percents[1:]]  # fmt: skip


def _speed(findings: Findings) -> list[list[Any]]:
    rows = words.speed(findings)
    return [list(rows[0]), *(list(row.values()) for row in rows)]
