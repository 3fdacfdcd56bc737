"""`osim-inertia convert` and the --transfer options of all commands, as a user meets them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia.cli.convert import convert
from osim_inertia.cli.main import main

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lab_files import lab_folder

OPTIONS = ("-o", "out/bones.osim")


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with walk/model.osim, walk/ik.mot and walk/masses.csv, and the working directory in it."""
    monkeypatch.chdir(tmp_path)
    return lab_folder(tmp_path)


def run(*words: object) -> tuple[int, str, str]:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def transfer_of(*words: object) -> dict:
    code, out, err = run("convert", "walk/model.osim", *OPTIONS, *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def kilograms(*words: object) -> dict[str, float]:
    return {row["muscle"]: row["kg"] for row in transfer_of(*words)["muscles"]}


# ---- what is written ------------------------------------------------------------------------------------------------
def test_bones_for_opensim_and_the_complete_model_are_written(walk):
    code, out, _ = run("convert", "walk/model.osim", *OPTIONS, "--transfer", "tibia_r=0.8")
    assert code == 0
    model = oi.read_osim("walk/model.osim")
    expected = oi.with_muscle_mass(model, {"tibia_r": 0.8})
    assert oi.read_model("out/bones.json") == expected
    bones = oi.read_osim("out/bones.osim")
    assert bones.muscle_mass is None
    assert [b.mass for b in bones.bodies] == [b.mass for b in expected.bodies]
    assert bones.body("tibia_r").mass == pytest.approx(0.2 * 3.5)
    assert [m.name for m in bones.muscles] == [m.name for m in model.muscles]
    assert "bones alone, 20.9 kg" in out
    assert "complete, 23.7 kg, 2.8 kg of it muscle" in out


def test_the_transfer_is_printed(walk):
    _, out, err = run("convert", "walk/model.osim", *OPTIONS, "--transfer", "tibia_r=0.8")
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert lines["tibia_r"] == ["tibia_r", "3.5", "0.7", "2.8", "0.800"]
    kg = {muscle.name: muscle.mass for muscle in oi.read_model("out/bones.json").muscle_mass.muscles}
    for name, mass in kg.items():
        assert lines[name][1:3] == ["tibia_r", f"{mass:.4f}"]
    assert lines["gasmed_r"][3:] == ["43", "–", "57"]
    assert "Bodies left as they are (3): pelvis, femur_r, calcn_r" in out
    assert err == ""
    _, _, err = run("convert", "walk/model.osim", *OPTIONS, "--transfer", "0.8", "--muscles", "soleus_r")
    assert "got more than 2 times the mass that force × fibre length suggests: soleus_r (3.8×)." in err


def test_json_tells_the_same(walk):
    code, out, err = run("convert", "walk/model.osim", *OPTIONS, "--transfer", "tibia_r=0.5", "--muscles", "soleus_r",
                         "--json")  # fmt: skip
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert content["bodies"] == [{"body": "tibia_r", "mass_before_kg": 3.5, "mass_after_kg": 1.75, "fraction": 0.5}]
    (soleus,) = content["muscles"]
    assert (soleus["muscle"], soleus["body"], soleus["kg"]) == ("soleus_r", "tibia_r", 1.75)
    assert content["massless_muscles"] == ["gasmed_r", "tibant_r"]
    assert content["muscle_mass_kg"] == 1.75
    assert content["heavy_muscles"].keys() == {"soleus_r"}
    assert (content["bones"], content["complete"]) == ("out/bones.osim", "out/bones.json")


@pytest.mark.oracle
def test_opensim_weighs_the_bones_alike(walk):
    opensim = pytest.importorskip("opensim")
    transfer_of("--transfer", "tibia_r=0.8", "--residual", "proportional")
    opensim.Logger.setLevelString("off")
    model = opensim.Model("out/bones.osim")
    state = model.initSystem()
    assert model.getTotalMass(state) == pytest.approx(23.7 - 2.8, rel=1e-12)
    assert model.getMuscles().getSize() == 3


# ---- options --------------------------------------------------------------------------------------------------------
def test_one_fraction_for_all_and_another_for_one_body(walk):
    everywhere = transfer_of("--transfer", "0.4")
    assert {row["body"]: row["fraction"] for row in everywhere["bodies"]} == {"tibia_r": 0.4}
    assert everywhere["untouched"] == ["pelvis", "femur_r", "calcn_r"]
    along = ("--along", "gasmed_r=femur_r")
    mixed = transfer_of("--transfer", "0.1", "--transfer", "tibia_r=0.3", *along)
    assert {row["body"]: row["fraction"] for row in mixed["bodies"]} == {"femur_r": 0.1, "tibia_r": 0.3}
    assert mixed["bodies"] == transfer_of("--transfer", "0.1,tibia_r=0.3", *along)["bodies"]


def test_masses_of_a_table(walk):
    table = ("--masses", "walk/masses.csv")
    assert kilograms("--transfer", "anatomical", *table) == pytest.approx(
        {"gasmed_r": 0.25, "soleus_r": 0.45, "tibant_r": 0.15})
    assert kilograms("--transfer", "tibia_r=0.17", *table) == pytest.approx(
        {name: 0.7 * kg for name, kg in {"gasmed_r": 0.25, "soleus_r": 0.45, "tibant_r": 0.15}.items()})


@pytest.mark.parametrize(("words", "arguments"), [
    ("--map rigid-tendon", {"map": "rigid-tendon"}),
    ("--residual consistent --transfer tibia_r=0.1", {"residual": "consistent"}),
    ("--belly whole", {"belly": "whole"}),
    ("--belly 0.2,0.7", {"belly": (0.2, 0.7)}),
    ("--muscles soleus_r,tibant_r", {"muscles": ["soleus_r", "tibant_r"]}),
    ("--muscles soleus_r --muscles tibant_r", {"muscles": ["soleus_r", "tibant_r"]}),
    ("--tendon-split 0.2 --beads 20 --wrap exact", {"tendon_split": 0.2, "beads": 20, "wrap": "exact"}),
    ("--along soleus_r=calcn_r", {"along": {"soleus_r": "calcn_r"}}),
])  # fmt: skip
def test_options_are_those_of_the_function(walk, words, arguments):
    if "--transfer" not in words:
        words += " --transfer tibia_r=0.1"
    transfer_of(*words.split())
    expected = oi.with_muscle_mass(oi.read_osim("walk/model.osim"), {"tibia_r": 0.1}, **arguments)
    assert oi.read_model("out/bones.json") == expected


def test_the_complete_model_goes_where_a_model_goes(walk):
    transfer_of("--transfer", "tibia_r=0.8")
    assert run("id", "out/bones.json", "walk/ik.mot", "-o", "a.sto")[0] == 0
    code, _, err = run("id", "walk/model.osim", "walk/ik.mot", "--transfer", "tibia_r=0.8", "-o", "b.sto")
    assert code == 0
    assert "note: 2.8 of 23.7 kg moved from 1 body to 3 muscles (map uniform, residual proportional)." in err
    assert "contraction forces are not part of the result" in err
    assert Path("a.sto").read_bytes() == Path("b.sto").read_bytes()
    expected = oi.inverse_dynamics_of(oi.read_model("out/bones.json"), oi.read_table("walk/ik.mot"))
    np.testing.assert_allclose(oi.read_table("b.sto").values, expected.values, atol=1e-7)
    lumped = oi.inverse_dynamics_of(oi.read_osim("walk/model.osim"), oi.read_table("walk/ik.mot"))
    assert np.abs(expected.values - lumped.values).max() > 0.1
    assert "tibia_r" in run("info", "out/bones.json")[1]


# ---- wrong requests -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("words", "message"), [
    ("--transfer tibia=0.8", "model.osim: There is no body 'tibia'. Did you mean 'tibia_r'?"),
    ("--transfer tibia_r=1.8", "model.osim: The fraction for body 'tibia_r' is 1.8; expected 0 to 1."),
    ("--transfer nan", "The fraction for all bodies is nan; expected 0 to 1."),
    ("--transfer calcn_r=0.5", "No muscle lies along body 'calcn_r'"),
    ("--transfer 0.4 --muscles soleus", "There is no muscle 'soleus' with a geometric path. Did you mean 'soleus_r'?"),
    ("--transfer 0.4 --masses walk/ik.mot", "ik.mot, line 2: This line does not hold a name and a mass."),
    ("--transfer 0.4 --masses walk/none.csv", "none.csv: The table of masses cannot be read"),
    ("--transfer tibia_r=0.99 --residual consistent", "leaves an inertia that no body can have"),
    ("--transfer 0.4 --belly 0.8,0.2", "expected two shares of the path"),
    ("--transfer 0.4 --tendon-split 2", "tendon_split is 2.0"),
    ("--transfer 0.4 --along soleus_r=toes", "`along` names body 'toes', which is not there."),
    ("--transfer anatomical --along soleus_r=calcn_r --masses heavy.csv", "more than the whole body"),
])  # fmt: skip
@pytest.mark.parametrize("command", ["convert walk/model.osim -o out/bones.osim", "rank walk/model.osim",
                                     "id walk/model.osim walk/ik.mot -o out/bones.osim"])  # fmt: skip
def test_what_cannot_be_done_is_explained_and_nothing_is_written(walk, command, words, message):
    Path("heavy.csv").write_text("soleus_r,50\n")
    code, out, err = run(*command.split(), *words.split())
    assert (code, out) == (1, "")
    assert message in err
    assert not Path("out").exists()


@pytest.mark.parametrize(("words", "message"), [
    ("", "Missing option '--transfer'"),
    ("--transfer much", "'much' is not a number; expected 0.4, tibia_r=0.4 or anatomical."),
    ("--transfer tibia_r=", "'tibia_r=' is not of the form BODY=FRACTION."),
    ("--transfer tibia_r=80%", "'80%' is not a number"),
    ("--transfer 0.4 --transfer 0.5", "there are two fractions for all bodies"),
    ("--transfer tibia_r=0.4 --transfer tibia_r=0.5", "body 'tibia_r' is there twice"),
    ("--transfer anatomical --transfer 0.5", "anatomical stands alone"),
    ("--transfer 0.4 --along soleus_r", "'soleus_r' is not of the form MUSCLE=BODY."),
    ("--transfer 0.4 --belly big", "'big' is not model, whole or two shares like 0.2,0.8."),
    ("--transfer 0.4 --belly a,b", "'a' is not a number"),
    ("--transfer 0.4 --map elastic", "Invalid value for '--map'"),
    ("--transfer 0.4 --beads 0", "Invalid value for '--beads'"),
    ("--transfer 0.4 -o out.json", "'out.json' should end in .osim"),
])  # fmt: skip
def test_wrong_usage_exits_with_2(walk, words, message):
    code, _, err = run("convert", "walk/model.osim", *OPTIONS, *words.split())
    assert code == 2
    assert message in " ".join(err.split())


def test_options_without_a_transfer_are_refused_where_it_is_optional(walk):
    code, _, err = run("id", "walk/model.osim", "walk/ik.mot", "--masses", "walk/masses.csv")
    assert code == 2
    assert "--masses needs --transfer" in err


def test_a_model_is_never_replaced_by_its_conversion(walk):
    before = Path("walk/model.osim").read_bytes()
    code, _, err = run("convert", "walk/model.osim", "-o", "walk/model.osim", "--transfer", "0.4")
    assert code == 1
    assert "would replace the model it is made from" in err
    assert Path("walk/model.osim").read_bytes() == before


def test_mass_is_not_given_twice(walk):
    transfer_of("--transfer", "0.4")
    code, _, err = run("convert", "out/bones.json", "-o", "again.osim", "--transfer", "0.4")
    assert code == 1
    assert "bones.json: The muscles of this model have mass already" in err


def test_a_model_without_muscles_is_named(walk):
    bare = Path(__file__).resolve().parents[2] / "models" / "zoo" / "joint_pin_40000.osim"
    code, _, err = run("convert", bare, *OPTIONS, "--transfer", "0.4")
    assert code == 1
    assert "joint_pin_40000.osim: The model has no muscles that could take mass." in err


def test_a_body_left_without_mass_is_noted(walk):
    _, _, err = run("convert", "walk/model.osim", *OPTIONS, "--transfer", "calcn_r=1", "--along", "soleus_r=calcn_r")
    assert "note: bones.osim: Body 'calcn_r' has no mass and moves at the end of joint 'ankle_r'" in err


def test_joint_reactions_count_muscles_with_mass(walk):
    """The joint of the pelvis transmits the very forces that its coordinates take."""
    command = "id walk/model.osim walk/ik.mot --transfer 0.4 --reactions r.sto -o i.sto"
    assert run(*command.split())[0] == 0
    forces, loads = oi.read_table("i.sto"), oi.read_table("r.sto")
    for moment, load in (("pelvis_tilt_moment", "mz"), ("pelvis_tx_force", "fx"), ("pelvis_ty_force", "fy")):
        np.testing.assert_allclose(loads[f"ground_pelvis_on_pelvis_in_ground_{load}"], forces[moment], rtol=1e-6,
                                   atol=1e-6)  # as many digits as files have


def test_the_example_of_the_help_runs(walk):
    text = " ".join((convert.help or "").split())
    words = shlex.split(text.split("Example: ")[1])
    assert words[0] == "osim-inertia"
    assert run(*words[1:])[0] == 0
