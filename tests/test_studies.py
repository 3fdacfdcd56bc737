"""The studies in validation/ still give the figures that their expected.json promises, and their pages say so."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

VALIDATION = Path(__file__).resolve().parents[1] / "validation"
SHARED = VALIDATION.parents[1] / "shared"
STUDIES = sorted(file.parent.name for file in VALIDATION.glob("*/study.py"))
TIMED = ("speed",)  # tests do not time things; its stored figures are held against its limits all the same
LONG = ("neural",)  # trains networks

specification = importlib.util.spec_from_file_location("run_all", VALIDATION / "run_all.py")
assert specification is not None
assert specification.loader is not None
run_all = importlib.util.module_from_spec(specification)
specification.loader.exec_module(run_all)

needs_oracle = pytest.mark.skipif(
    importlib.util.find_spec("opensim") is None or not SHARED.is_dir(),
    reason="needs the opensim package and the shared reference data beside the project",
)


@needs_oracle
@pytest.mark.oracle
@pytest.mark.parametrize("study", [name for name in STUDIES if name not in TIMED + LONG])
def test_a_study_repeats_its_figures(study, tmp_path):
    command = [sys.executable, str(VALIDATION / "run_all.py"), study, "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / study / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("study", STUDIES)
def test_stored_figures_are_as_expected_and_in_the_page(study):
    results = json.loads((VALIDATION / study / "results.json").read_text(encoding="utf-8"))
    expected = json.loads((VALIDATION / study / "expected.json").read_text(encoding="utf-8"))
    assert expected
    for name, wanted in expected.items():
        assert wanted["source"]
        assert run_all.holds(results[name], wanted), f"{name}: {results[name]}, expected {run_all.in_words(wanted)}"
    assert "does not hold" not in (VALIDATION / study / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("found", "expected", "verdict"),
    [
        (1.0, {"value": 1.1, "within": 0.2}, True),
        (1.0, {"value": 1.3, "within": 0.2}, False),
        (1.0, {"at most": 1.0}, True),
        (1.1, {"at most": 1.0}, False),
        (0.9, {"at least": 1.0}, False),
        (math.nan, {"at most": 1.0}, False),
        (math.nan, {"value": 1.0, "within": 1.0}, False),
    ],
)
def test_a_figure_that_is_not_as_expected_is_noticed(found, expected, verdict):
    assert run_all.holds(found, expected) is verdict
