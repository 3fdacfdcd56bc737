"""`osim-inertia view`: what it writes, what it says, what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from lab_files import lab_folder

import osim_inertia as oi
from osim_inertia.cli.main import main


@pytest.fixture
def walk(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return lab_folder(tmp_path)


def run(*words: object):
    return CliRunner().invoke(main, ["view", *map(str, words)])


def data(page: Path) -> dict:
    """The numbers in a page."""
    found = re.search(r'<script type="application/json" id="view-data">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(found.group(1))


def test_model_and_motion_become_a_page(walk):
    done = run(walk / "model.osim", walk / "ik.mot", "-o", "v.html", "--no-open")
    assert done.exit_code == 0, done.output
    assert "v.html: 41 instants, 4 bodies (0 meshes), 3 paths" in done.output
    scene = data(Path("v.html"))
    assert [line["name"] for line in scene["lines"]] == ["gasmed_r", "soleus_r", "tibant_r"]
    assert not any(line["mass"] for line in scene["lines"])


def test_page_without_motion_goes_to_the_default_place(walk):
    done = run(walk / "model.osim", "--no-open")
    assert done.exit_code == 0, done.output
    assert "view.html: 1 instants" in done.output
    assert Path("view.html").is_file()


def test_mass_of_muscles_from_options_and_from_json(walk):
    assert run(walk / "model.osim", "-o", "a.html", "--transfer", "tibia_r=0.4", "--no-open").exit_code == 0
    model = oi.with_muscle_mass(oi.read_osim(walk / "model.osim"), {"tibia_r": 0.4})
    oi.write_model(model, "heavy.json")
    assert run("heavy.json", walk / "ik.mot", "-o", "b.html", "--no-open").exit_code == 0
    masses = [[line["mass"] for line in data(Path(name))["lines"]] for name in ("a.html", "b.html")]
    assert masses[0] == masses[1]
    assert sum(masses[0]) == pytest.approx(0.4 * 3.5, rel=1e-12)


def test_every_takes_some_rows_and_long_motions_are_thinned(walk):
    motion = oi.read_table(walk / "ik.mot")
    rows = np.arange(2500) % len(motion)
    long = oi.Table(motion.names, np.arange(2500) / 100.0, motion.values[rows], motion.in_degrees)
    oi.write_table(long, "long.mot")
    thinned = run(walk / "model.osim", "long.mot", "-o", "v.html", "--no-open")
    assert "v.html: 834 instants" in thinned.output
    assert "One in 3 of 2500 instants is shown" in thinned.output
    assert "v.html: 250 instants" in run(walk / "model.osim", "long.mot", "-o", "v.html", "--every", 10).output


def test_meshes_are_found_in_the_folder_given(walk, tmp_path):
    text = (walk / "model.osim").read_text()
    mesh = '<Mesh name="m"><scale_factors>2 2 2</scale_factors><mesh_file>shank.obj</mesh_file></Mesh>'
    text = re.sub(r'(<Body name="tibia_r">)', rf"\1<attached_geometry>{mesh}</attached_geometry>", text)
    (walk / "model.osim").write_text(text)
    missing = run(walk / "model.osim", "--no-open")
    assert missing.exit_code == 0
    assert "1 mesh files were not found" in missing.output
    assert "shank.obj" in missing.output
    (tmp_path / "bones").mkdir()
    (tmp_path / "bones" / "shank.obj").write_text("v 0 0 0\nv 0.1 0 0\nv 0 -0.2 0\nf 1 2 3\n")
    found = run(walk / "model.osim", "--geometry", tmp_path / "bones", "--no-open")
    assert "(1 meshes)" in found.output
    solid = next(item for item in data(Path("view.html"))["solids"] if item["kind"] == "mesh")
    assert solid["vertices"]["size"] == pytest.approx([0.2, 0.4, 0.0])


def test_browser_is_opened_where_there_is_a_screen(walk, monkeypatch):
    opened = []
    monkeypatch.setattr(click, "launch", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    run(walk / "model.osim")
    assert opened == [str(Path("view.html").resolve())]
    run(walk / "model.osim", "--no-open")
    assert len(opened) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [(["gone.osim"], "gone.osim"), (["{walk}/model.osim", "gone.mot"], "gone.mot"),
     (["{walk}/model.osim", "{walk}/markers.trc"], "markers.trc"),
     (["{walk}/model.osim", "--geometry", "nowhere"], "no such folder"),
     (["{walk}/model.osim", "-o", "{walk}/model.osim"], "would replace"),
     (["{walk}/model.osim", "-o", "nowhere/v.html"], "nowhere")],
)  # fmt: skip
def test_wrong_files_end_in_one_sentence(walk, words, said):
    before = (walk / "model.osim").read_text()
    done = run(*(word.format(walk=walk) for word in words))
    assert done.exit_code == 1, done.output
    assert said in done.output
    assert "Traceback" not in done.output
    assert (walk / "model.osim").read_text() == before


def test_motion_of_another_model_names_its_file(walk):
    oi.write_table(oi.Table(("elbow",), [0.0, 0.1], np.zeros((2, 1))), "other.mot")
    done = run(walk / "model.osim", "other.mot")
    assert done.exit_code == 1
    assert "other.mot" in done.output
    assert "none of the model's coordinates" in done.output
