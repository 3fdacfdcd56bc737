"""A model that is written and read again is the same model, to us and to OpenSim."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from osim_inertia.errors import FileError
from osim_inertia.model.forces import Raw
from osim_inertia.model.model import Model
from osim_inertia.osim.reader import read_osim
from osim_inertia.osim.writer import write_osim

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
FILES = sorted([*DATA.glob("models/*/*.osim"), *DATA.glob("trials/*/model.osim")])
NOT_OF_THE_MODEL = ("source", "version", "notes")  # they describe the file
TOLERANCE = 1e-12  # relative to the largest number compared; the same arithmetic on the same numbers

needs_data = pytest.mark.skipif(not FILES, reason="the shared reference data are not beside the project")


def _without_lines(value: object) -> object:
    """The value with the source lines of kept components set to zero."""
    if isinstance(value, Raw):
        return dataclasses.replace(value, line=0)
    if isinstance(value, tuple):
        return tuple(_without_lines(item) for item in value)
    if dataclasses.is_dataclass(value) and hasattr(value, "extras"):
        return dataclasses.replace(value, extras=_without_lines(value.extras))  # type: ignore[type-var]
    return value


def _differences(first: Model, second: Model) -> list[str]:
    names = [field.name for field in dataclasses.fields(Model) if field.name not in NOT_OF_THE_MODEL]
    return [name for name in names if _without_lines(getattr(first, name)) != _without_lines(getattr(second, name))]


@needs_data
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_writing_and_reading_gives_the_same_model(file, tmp_path):
    model = read_osim(file)
    write_osim(model, tmp_path / "again.osim")
    assert _differences(model, read_osim(tmp_path / "again.osim")) == []


RARE = Path(__file__).with_name("rare_parts.osim")


def test_rare_parts_survive_too(tmp_path):
    """Joints, frames, functions, constraints and wraps that the reference models do not have."""
    model = read_osim(RARE)
    write_osim(model, tmp_path / "again.osim")
    again = read_osim(tmp_path / "again.osim")
    assert _differences(model, again) == []
    assert again.version == 40600  # a FunctionBasedPath, and parts kept from a 40600 document
    assert {joint.kind for joint in model.joints} >= {"EllipsoidJoint", "ScapulothoracicJoint", "BallJoint"}


def test_defaults_of_the_document_are_written_into_each_component(tmp_path):
    """OpenSim takes absent properties from <defaults>; the written file has no such block."""
    model = read_osim(RARE)
    muscle = next(m for m in model.muscles if m.name == "biceps")
    assert muscle.value("FmaxTendonStrain") == 0.033
    actuator = next(raw for raw in model.unsupported if raw.kind == "CoordinateActuator")
    assert "<optimal_force>300</optimal_force>" in actuator.xml
    write_osim(model, tmp_path / "again.osim")
    assert "<defaults>" not in (tmp_path / "again.osim").read_text()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileError, match=r"model\.osim: The file cannot be written.*\n.*nowhere"):
        write_osim(read_osim(RARE), tmp_path / "nowhere" / "model.osim")


def test_a_failed_write_leaves_the_old_file_and_no_debris(tmp_path, monkeypatch):
    target = tmp_path / "model.osim"
    target.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("osim_inertia.files.os.replace", fail)
    with pytest.raises(FileError, match="No space left"):
        write_osim(read_osim(RARE), target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


# ---- OpenSim as the judge -------------------------------------------------------------------------------------------
JUDGE = Path(__file__).with_name("opensim_numbers.py")
JUDGED = [
    "models/Arm26/arm26.osim",
    "models/BouncingBlock/bouncing_block.osim",
    "models/Jumper/DynamicJumperModel.osim",
    "models/Rajagopal/Rajagopal2016.osim",
    "models/WristModel/wrist.osim",
    "trials/rajagopal_walk/model.osim",
]


def _numbers(file: Path) -> dict[str, np.ndarray]:
    """What OpenSim computes from a file, in a process of its own: <defaults> outlive the model they came with."""
    done = subprocess.run([sys.executable, str(JUDGE), str(file)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return {name: np.array(values) for name, values in json.loads(done.stdout).items()}


def _assert_same_numbers(original: Path, written: Path) -> None:
    before, after = _numbers(original), _numbers(written)
    assert before.keys() == after.keys()
    for name, values in before.items():
        scale = max(1.0, np.abs(values).max(initial=0.0))
        np.testing.assert_allclose(after[name], values, rtol=0.0, atol=TOLERANCE * scale, err_msg=name)


@needs_data
@pytest.mark.oracle
@pytest.mark.parametrize("name", JUDGED)
def test_opensim_computes_the_same_from_the_written_file(name, tmp_path):
    pytest.importorskip("opensim", reason="OpenSim is the judge of this test")
    write_osim(read_osim(DATA / name), tmp_path / "again.osim")
    _assert_same_numbers(DATA / name, tmp_path / "again.osim")


@pytest.mark.oracle
def test_opensim_computes_the_same_from_rare_parts(tmp_path):
    pytest.importorskip("opensim", reason="OpenSim is the judge of this test")
    write_osim(read_osim(RARE), tmp_path / "again.osim")
    _assert_same_numbers(RARE, tmp_path / "again.osim")


@pytest.mark.oracle
def test_a_model_of_opensim_3_is_written_in_todays_layout(tmp_path):
    """Contact shapes and limits of control change with the layout although nothing is computed with them."""
    pytest.importorskip("opensim", reason="OpenSim is the judge of this test")
    old = Path(__file__).resolve().parents[1] / "bad_models" / "old_arm.osim"
    write_osim(read_osim(old), tmp_path / "again.osim")
    assert read_osim(tmp_path / "again.osim").version == 40000
    _assert_same_numbers(old, tmp_path / "again.osim")


ADRIFT = """<OpenSimDocument Version="40000"><Model name="adrift"><BodySet><objects>
<Body name="stone"><mass>2</mass><mass_center>0.1 0 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body>
</objects></BodySet></Model></OpenSimDocument>"""


@pytest.mark.oracle
def test_a_body_without_a_joint_gets_its_free_joint_written(tmp_path):
    pytest.importorskip("opensim", reason="OpenSim is the judge of this test")
    (tmp_path / "adrift.osim").write_text(ADRIFT)
    write_osim(read_osim(tmp_path / "adrift.osim"), tmp_path / "again.osim")
    assert "free_stone" in (tmp_path / "again.osim").read_text()
    _assert_same_numbers(tmp_path / "adrift.osim", tmp_path / "again.osim")
