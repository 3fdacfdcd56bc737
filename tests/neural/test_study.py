"""validation/neural: the figures that need no training come out again (tests/test_studies.py holds the stored ones)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from conftest import DATA, REQUIRED

STUDY = Path(__file__).resolve().parents[2] / "validation" / "neural"
EXPECTED = json.loads((STUDY / "expected.json").read_text(encoding="utf-8")) if STUDY.is_dir() else {}
AGAIN = [name for name in EXPECTED if name.startswith(("shipped network, ", "rajagopal_run"))]


@pytest.fixture(scope="module")
def again():
    """The figures that take seconds, computed now."""
    if not (DATA / "trials" / "rajagopal_run").is_dir() and not REQUIRED:
        pytest.skip("the reference data is not beside the project")
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("torch", reason="papers.py, which the study imports, trains networks")
    specification = importlib.util.spec_from_file_location("neural_study", STUDY / "study.py")
    study = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(study)
    trials = [study.running("rajagopal_run", alone=alone) for alone in (False, True)]
    return study.positions() | trials[0] | trials[1]


def test_there_are_figures_to_check():
    assert len(AGAIN) >= 8


@pytest.mark.parametrize("name", [name for name in AGAIN if "length off" not in name])
def test_figures_come_out_again(name, again):
    found, wanted = again[name], EXPECTED[name]
    if "value" in wanted:
        assert found == pytest.approx(wanted["value"], abs=wanted["within"])
    assert wanted.get("at least", -1e9) <= found <= wanted.get("at most", 1e9)
