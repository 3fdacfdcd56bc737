"""What the tests share: where the reference data is, and how a stored OpenSim answer is read."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import osim_inertia as oi

if TYPE_CHECKING:
    from osim_inertia.report.collect import Findings

REQUIRED = bool(os.environ.get("OSIM_INERTIA_REQUIRE_ORACLE"))  # set by .ci/run: nothing may be skipped there
SHARED = Path(__file__).resolve().parents[2] / "shared"
DATA = SHARED / "data"


@dataclass(frozen=True)
class Oracle:
    """OpenSim 4.6's stored answers for one model."""

    name: str
    model_file: Path
    answers: dict

    @cached_property
    def model(self) -> oi.Model:
        return oi.read_osim(self.model_file)

    @cached_property
    def system(self) -> oi.System:
        return oi.System(self.model)

    def by_coordinate(self, key: str) -> np.ndarray:
        """(poses, n) in the order of u."""
        return np.array([[pose[key][name] for name in self.answers["order"]] for pose in self.answers["poses"]])

    def by_body(self, key: str) -> np.ndarray:
        """(poses, bodies, …), bodies as in the model."""
        bodies = [body.name for body in self.model.bodies]
        return np.array([[pose["bodies"][body][key] for body in bodies] for pose in self.answers["poses"]])

    def stacked(self, key: str) -> np.ndarray:
        return np.array([pose[key] for pose in self.answers["poses"]])


def oracle_files() -> list[Path]:
    return sorted((DATA / "oracle").glob("*.json"))


def load_oracle(file: Path) -> Oracle:
    name = file.stem
    trial = name.removeprefix("trial-")
    model = DATA / "trials" / trial / "model.osim" if trial != name else DATA / "models" / (name.replace("-", "/", 1))
    return Oracle(name, model if trial != name else model.with_name(model.name + ".osim"), json.loads(file.read_text()))


def pytest_configure(config: pytest.Config) -> None:
    if REQUIRED:
        if not DATA.is_dir():
            raise pytest.UsageError(f"The reference data is required but {DATA} is not there.")
        if importlib.util.find_spec("opensim") is None:
            raise pytest.UsageError("OpenSim is required but the opensim wheel is not installed.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "oracle" in metafunc.fixturenames:
        files = oracle_files()
        if files:
            metafunc.parametrize("oracle", files, ids=[file.stem for file in files], indirect=True, scope="session")
        else:
            reason = "the shared reference data is not beside the project"
            metafunc.parametrize("oracle", [pytest.param(None, marks=pytest.mark.skip(reason=reason))])


@pytest.fixture(scope="session")
def oracle(request: pytest.FixtureRequest) -> Oracle:
    return load_oracle(request.param)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not DATA.is_dir():
        pytest.skip("the shared reference data is not beside the project")
    return DATA


@pytest.fixture(scope="session")
def leg_report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    """The report of the shipped leg's run, made once: what was found, and the folder it is in."""
    from reports import leg_request

    from osim_inertia.report.make import make_report

    folder = tmp_path_factory.mktemp("report") / "leg"
    findings, _ = make_report(leg_request(), folder)
    return findings, folder


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference, relative to the largest number there is."""
    scale = float(np.abs(theirs).max(initial=0.0))
    return float(np.abs(ours - theirs).max(initial=0.0)) / (scale or 1.0)
