"""Reports that several tests look at, each made once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from reports import leg_request

from osim_inertia.report.collect import Findings
from osim_inertia.report.make import make_report


@pytest.fixture(scope="session")
def leg_report(tmp_path_factory) -> tuple[Findings, Path]:
    folder = tmp_path_factory.mktemp("report") / "leg"
    findings, _ = make_report(leg_request(), folder)
    return findings, folder
