"""validation/neural: what its README claims is still what the code gives."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from conftest import DATA, REQUIRED

STUDY = Path(__file__).resolve().parents[2] / "validation" / "neural"
EXPECTED = json.loads((STUDY / "expected.json").read_text(encoding="utf-8")) if STUDY.is_dir() else {}
AGAIN = ("position error of the shipped network", "rajagopal_run", "rajagopal_run, one cylinder per muscle")


def figure(results: dict, path: str) -> float:
    for key in path.split(" / "):
        results = results[key]
    return float(results)


def check(results: dict, path: str) -> None:
    bound, value = EXPECTED[path], figure(results, path)
    if "at most" in bound:
        assert value <= bound["at most"], path
    if "at least" in bound:
        assert value >= bound["at least"], path
    if "value" in bound:
        assert value == pytest.approx(bound["value"], rel=bound["relative"]), path


@pytest.mark.parametrize("path", EXPECTED)
def test_stored_figures_are_the_expected_ones(path):
    stored = json.loads((STUDY / "results.json").read_text()) | json.loads((STUDY / "papers.json").read_text())
    check(stored, path)


@pytest.fixture(scope="module")
def again():
    """The figures that take seconds, computed now."""
    if not (DATA / "trials" / "rajagopal_run").is_dir() and not REQUIRED:
        pytest.skip("the reference data is not beside the project")
    pytest.importorskip("matplotlib").use("Agg")
    spec = importlib.util.spec_from_file_location("neural_study", STUDY / "study.py")
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    values = study.positions(), study.running("rajagopal_run", alone=False), study.running("rajagopal_run", alone=True)
    return dict(zip(AGAIN, values))


@pytest.mark.parametrize("path", [path for path in EXPECTED if path.split(" / ")[0] in AGAIN])
def test_figures_come_out_again(path, again):
    check(again, path)
