"""Models as JSON: they come back exactly, and a file that is no such model is refused in words."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA
from limbs import double_pendulum

import osim_inertia as oi
from osim_inertia.model.joints import Coordinate
from osim_inertia.model_json import CLASSES, model_text

ROOT = Path(__file__).resolve().parents[1]
SHARED = sorted((DATA / "models").glob("*/*.osim"))
NO_DATA = [pytest.param(None, marks=pytest.mark.skip(reason="the shared reference data is not beside the project"))]
OTHERS = [*sorted((ROOT / "models" / "zoo").glob("*40*00.osim")), ROOT / "tests" / "osim" / "rare_parts.osim"]


def came_back(model: oi.Model, folder: Path) -> oi.Model:
    return oi.read_model(oi.write_model(model, folder / "model.json"))


@pytest.mark.parametrize("file", SHARED or NO_DATA, ids=lambda file: file.stem if file else "none")
def test_every_model_with_muscle_mass_comes_back_exactly(file, tmp_path):
    model = oi.with_muscle_mass(oi.read_osim(file), 1.0 / 3.0)
    again = came_back(model, tmp_path)
    assert again == model
    assert repr(again) == repr(model)  # types, too
    system, same = oi.System(model), oi.System(again)
    q = system.default_pose()
    assert np.array_equal(system.gravity_forces(q), same.gravity_forces(q))


@pytest.mark.parametrize("file", OTHERS, ids=lambda file: file.stem)
def test_rare_parts_come_back_exactly(file, tmp_path):
    model = oi.read_osim(file)
    assert came_back(model, tmp_path) == model


def test_consistent_bones_come_back_exactly(tmp_path, shared_data):
    model = oi.read_osim(shared_data / "models" / "Gait10dof18musc" / "gait10dof18musc.osim")
    inertial = oi.with_muscle_mass(model, 0.2, residual="consistent", map="rigid-tendon", beads=7)
    again = came_back(inertial, tmp_path)
    assert again == inertial
    assert again.muscle_mass.beads == 7
    assert repr(again) == repr(inertial)  # no array scalars


def test_numbers_json_does_not_have_come_back(tmp_path):
    model = limb()
    hip = replace(model.joints[0], coordinates=(Coordinate(name="q1", range=(-inf, inf), default_value=-0.0),))
    model = replace(model, joints=(hip, *model.joints[1:]), credits='Ünïcode "quoted"\n\ttabs')
    again = came_back(model, tmp_path)
    assert again == model
    assert str(again.coordinate("q1").default_value) == "-0.0"
    json.loads((tmp_path / "model.json").read_text(), parse_constant=lambda word: pytest.fail(word))


def test_the_file_can_be_read_by_people(tmp_path):
    text = model_text(limb())
    assert text.startswith('{\n "format": "osim-inertia model",\n "version": 1,\n')
    assert '"mass_center": [0.0, -0.25, 0.0]' in text
    assert max(map(len, text.splitlines())) <= 125


def test_classes_of_the_model_are_all_known():
    assert {"Body", "CustomJoint", "SimmSpline", "Muscle", "WrapTorus", "MassiveMuscle", "Raw", "Model"} <= set(CLASSES)
    assert all(kind.__module__.startswith("osim_inertia.model.") for kind in CLASSES.values())


# ---- files that are no such model -----------------------------------------------------------------------------------
def limb() -> oi.Model:
    return double_pendulum((("rod1", (0.05, -0.1, 0.0)), ("rod2", (0.05, -0.2, 0.0))), cylinder=0.02)


def document() -> dict:
    return json.loads(model_text(limb()))


def in_model(document: dict, *path: object, value: object) -> None:
    *way, last = path
    place = document["model"]
    for step in way:
        place = place[step]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value


@pytest.mark.parametrize(("text", "words"), [
    ("", "line 1: This is not JSON"),
    ('{"format": "osim-inertia model",\n "version": 1,', "line 2: This is not JSON"),
    ("[1, 2]", "This JSON is not a model of osim-inertia"),
    ("{}", "This JSON is not a model of osim-inertia"),
    ('{"format": "glTF", "version": 1, "model": {}}', "This JSON is not a model of osim-inertia"),
    ('{"format": "osim-inertia model", "version": 0, "model": {}}', "Version 0 of the format cannot be read"),
    ('{"format": "osim-inertia model", "version": 2, "model": {}}', "update osim-inertia"),
    ('{"format": "osim-inertia model", "version": true, "model": {}}', "Version true of the format"),
    ('{"format": "osim-inertia model", "version": 1, "version": 1, "model": {}}', "'version' is there twice"),
    ('{"format": "osim-inertia model", "version": 1, "model": []}', "model: this is not what a model has there"),
    ('{"format": "osim-inertia model", "version": 1, "model": {"class": "Model"}}', "a Model without name"),
    ("[" * 100_000, "nested too deeply"),
    ("1" * 10_000, "endless numbers"),
])  # fmt: skip
def test_foreign_files_are_refused_in_words(text, words, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(oi.FileError) as error:
        oi.read_model(tmp_path / "m.json")
    assert str(error.value).startswith("m.json")
    assert words in str(error.value)


@pytest.mark.parametrize(("path", "value", "words"), [
    (("bodies", 0, "mass"), "heavy", 'bodies[0].mass: this is not what a model has there'),
    (("bodies", 0, "mass"), True, "expected  a number"),
    (("bodies", 0, "mass"), "nan", "expected  a number"),
    (("wrap_objects", 0, "radius"), "inf", "wrap_objects[0].radius"),
    (("bodies", 0, "mass"), 10**400, "expected  a number"),
    (("bodies", 0, "mass_center"), [0.0, 1.0], "expected  3 values"),
    (("bodies", 0, "mass_center"), 7, "expected  a list"),
    (("bodies", 0, "name"), 3, "expected  a text in quotes"),
    (("bodies", 0, "name"), KeyError, "found     a Body without name"),
    (("bodies", 0, "colour"), "red", "a Body has only: name, mass"),
    (("bodies", 0, "class"), "os.system", "found     os.system"),
    (("bodies", 0, "class"), "Marker", "expected  Body"),
    (("bodies", 0, "class"), ["Body"], "bodies[0].class"),
    (("bodies", 0), None, "an object of class Body"),
    (("version",), 4.5, "expected  a whole number"),
    (("joints", 0, "coordinates", 0, "locked"), 0, "expected  true or false"),
    (("bodies", 1, "name"), "rod1", "There are two bodies 'rod1'"),
    (("joints", 0, "child_frame"), "/bodyset/rod9", "joint 'hip' refers to the frame '/bodyset/rod9'"),
    (("joints", 0, "kind"), "HingeJoint", "Joint 'hip' is a 'HingeJoint'"),
    (("joints", 0, "kind"), "CustomJoint", "lacks what a CustomJoint has"),
    (("joints", 0, "kind"), "BallJoint", "has 1 coordinates; a BallJoint has 3"),
    (("frames", 0, "parent"), "/jointset/knee/rod1_offset", "is fixed in itself"),
    (("path_forces", 0, "geometry", "points", 0, "frame"), "/x", "point 'p0' of 'muscle' refers to the frame '/x'"),
    (("path_forces", 0, "geometry", "points"), [], "has 0 points; expected 2 or more"),
    (("path_forces", 0, "geometry", "wraps", 0, "wrap_object"), "ball", "refers to the wrap object 'ball'"),
    (("path_forces", 0, "geometry", "wraps", 0, "method"), "magic", "wraps by 'magic'"),
    (("wrap_objects", 0, "quadrant"), "north", "The quadrant of 'pulley' is 'north'"),
    (("muscle_mass", "muscles", 0, "name"), "soleus", "the muscle mass refers to the muscle 'soleus'"),
    (("muscle_mass", "muscles", 0, "taken_from"), [["rod7", 1.0]], "refers to the body 'rod7'"),
    (("muscle_mass", "muscles", 0, "taken_from"), [["rod1", -1.0]], "The mass of muscle 'muscle' is -1.0"),
    (("muscle_mass", "map"), "elastic", "map is 'elastic'; expected uniform or rigid-tendon."),
])  # fmt: skip
def test_damaged_models_are_refused_in_words(path, value, words, tmp_path):
    damaged = document()
    in_model(damaged, *path, value=value)
    (tmp_path / "m.json").write_text(json.dumps(damaged))
    with pytest.raises(oi.FileError) as error:
        oi.read_model(tmp_path / "m.json")
    assert words in str(error.value)


def test_splines_with_a_missing_value_are_refused(tmp_path, shared_data):
    model = oi.read_osim(shared_data / "models" / "Gait10dof18musc" / "gait10dof18musc.osim")
    damaged = json.loads(model_text(model))
    axis = next(a for j in damaged["model"]["joints"] if j["class"] == "CustomJoint" for a in j["axes"]
                if a["function"]["class"] == "SimmSpline")  # fmt: skip
    axis["function"]["y"].pop()
    (tmp_path / "m.json").write_text(json.dumps(damaged))
    with pytest.raises(oi.FileError, match="A SimmSpline of joint 'knee_r' has"):
        oi.read_model(tmp_path / "m.json")


def test_missing_and_binary_files_are_named(tmp_path):
    with pytest.raises(oi.FileError, match=r"nothing\.json: The file cannot be read"):
        oi.read_model(tmp_path / "nothing.json")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(oi.FileError, match="not a text file"):
        oi.read_model(tmp_path / "b.json")


def test_an_old_file_stays_when_writing_fails(tmp_path, monkeypatch):
    path = oi.write_model(limb(), tmp_path / "model.json")
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(oi.FileError, match="cannot be written"):
        oi.write_model(replace(limb(), name="other"), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
