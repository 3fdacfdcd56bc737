"""Which muscles matter: `oi.rank_muscles` against mass matrices and moments taken directly, and `osim-inertia rank`."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia.cli.main import main
from osim_inertia.cli.rank import rank
from osim_inertia.rank import EXPLAINED, POSES

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lab_files import lab_folder, leg


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return lab_folder(tmp_path)


def run(*words: object, columns: int = 100) -> tuple[int, str, str]:
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(main, ["rank", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


# ---- the numbers ----------------------------------------------------------------------------------------------------
def test_shares_of_inertia_are_those_of_the_mass_matrix():
    model = leg()
    ranking = oi.rank_muscles(model, transfer=0.5)
    inertial = oi.with_muscle_mass(model, 0.5)
    q = oi.System(model).default_pose()
    whole = np.diag(oi.System(inertial).mass_matrix(q)[0])
    np.testing.assert_allclose(ranking.inertia, whole, rtol=1e-12)
    bones = np.diag(oi.System(replace(inertial, muscle_mass=None)).mass_matrix(q)[0])
    np.testing.assert_allclose(ranking.inertia_share.sum(axis=0), (whole - bones) / whole, rtol=1e-9, atol=1e-14)
    # one muscle by hand: the only one with mass there
    spec = next(m for m in inertial.muscle_mass.muscles if m.name == "soleus_r")
    alone = oi.with_muscle_mass(model, {"tibia_r": spec.mass / 3.5}, muscles=["soleus_r"])
    lighter = replace(alone, muscle_mass=None)
    own = np.diag(oi.System(alone).mass_matrix(q)[0] - oi.System(lighter).mass_matrix(q)[0])
    row = ranking.inertia_share[ranking.muscles.index("soleus_r")]
    np.testing.assert_allclose(row * whole, own, rtol=1e-9, atol=1e-13)


def test_changes_are_those_of_inverse_dynamics(walk):
    model, motion = leg(), oi.read_table(walk / "ik.mot")
    ranking = oi.rank_muscles(model, motion, {"tibia_r": 0.8}, lowpass=6.0)
    options = {"lowpass": 6.0, "time_range": (motion.time[0], motion.time[-1])}
    before = oi.inverse_dynamics_of(model, motion, **options).values
    after = oi.inverse_dynamics_of(oi.with_muscle_mass(model, {"tibia_r": 0.8}), motion, **options).values
    assert ranking.frames == len(motion)
    rms = np.sqrt(((after - before) ** 2).mean(axis=0))
    np.testing.assert_allclose(ranking.total_change, rms, rtol=1e-9, atol=1e-12)
    spec = oi.with_muscle_mass(model, {"tibia_r": 0.8}).muscle_mass
    kg = next(m.mass for m in spec.muscles if m.name == "gasmed_r")
    alone = oi.with_muscle_mass(model, {"tibia_r": kg / 3.5}, muscles=["gasmed_r"])
    change = oi.inverse_dynamics_of(alone, motion, **options).values - before
    row = ranking.change[ranking.muscles.index("gasmed_r")]
    np.testing.assert_allclose(row, np.sqrt((change**2).mean(axis=0)), rtol=1e-9, atol=1e-12)


def test_muscles_are_sorted_and_the_smallest_set_is_smallest(shared_data):
    model = oi.read_osim(shared_data / "models" / "Gait10dof18musc" / "gait10dof18musc.osim")
    ranking = oi.rank_muscles(model)
    assert list(ranking.share) == sorted(ranking.share, reverse=True)
    assert ranking.share.sum() == pytest.approx(1.0, rel=1e-12)
    few = len(ranking.explaining)
    assert ranking.explaining == ranking.muscles[:few]
    assert ranking.share[: few - 1].sum() < EXPLAINED <= ranking.share[:few].sum()
    assert 0.0 < ranking.error_of_explaining < 0.3
    assert "pelvis_tilt" not in ranking.counted  # the root floats: no joint bears its moment
    assert set(ranking.counted) == {"hip_flexion_r", "knee_angle_r", "ankle_angle_r", "hip_flexion_l", "knee_angle_l",
                                    "ankle_angle_l", "lumbar_extension"}  # fmt: skip
    ankle = ranking.explaining_of("ankle_angle_r")
    assert set(ankle) <= {"gastroc_r", "soleus_r", "tib_ant_r"}
    c = ranking.coordinates.index("ankle_angle_r")
    moved = {name for name, share in zip(ranking.muscles, ranking.inertia_share[:, c]) if share}
    assert moved == {"gastroc_r", "soleus_r", "tib_ant_r"}  # and no muscle that does not cross the ankle


def test_long_motions_are_weighed_at_some_of_their_poses(walk):
    calls = []
    oi.rank_muscles(leg(), oi.read_table(walk / "ik.mot"), progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    assert POSES < 41


def test_nothing_to_rank_is_said():
    with pytest.raises(oi.ModelError, match="No muscle has mass"):
        oi.rank_muscles(leg(), transfer=0.0)


# ---- the command ----------------------------------------------------------------------------------------------------
def test_json_holds_what_the_function_returns(walk):
    code, out, err = run("walk/model.osim", "walk/ik.mot", "--transfer", "tibia_r=0.8", "--lowpass", 6, "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    model, motion = oi.read_osim("walk/model.osim"), oi.read_table("walk/ik.mot")
    ranking = oi.rank_muscles(model, motion, {"tibia_r": 0.8}, lowpass=6.0)
    assert [row["muscle"] for row in content["muscles"]] == list(ranking.muscles)
    assert [row["share"] for row in content["muscles"]] == list(ranking.share)
    ankle = next(row for row in content["coordinates"] if row["coordinate"] == "ankle_angle_r")
    assert ankle["effective_inertia"] == ranking.inertia[ranking.coordinates.index("ankle_angle_r")]
    assert ankle["unit"] == "N m"
    assert content["explaining"] == list(ranking.explaining)
    assert content["frames"] == 41


def test_tables_name_the_muscles_in_order(walk):
    code, out, _ = run("walk/model.osim", "walk/ik.mot", "--all", columns=160)
    assert code == 0
    ranking = oi.rank_muscles(oi.read_osim("walk/model.osim"), oi.read_table("walk/ik.mot"))
    first = [line.split()[0] for line in out.splitlines() if line[:1].isalpha()]
    assert [word for word in first if word in ranking.muscles] == list(ranking.muscles)
    assert f"{len(ranking.explaining)} of 3 muscles explain 95 %" in out
    assert "most of the inertia" in out
    assert all(len(line) <= 80 for line in run("walk/model.osim", columns=80)[1].splitlines())


def test_without_a_motion_each_coordinate_accelerates_in_turn(walk):
    code, out, _ = run("walk/model.osim")
    assert code == 0
    assert "each coordinate accelerated in turn" in out
    assert json.loads(run("walk/model.osim", "--json")[1])["frames"] == 6


@pytest.mark.parametrize(("words", "code", "message"), [
    ("walk/model.osim --lowpass 6", 2, "--lowpass and --time-range need a MOTION."),
    ("walk/model.osim walk/ik.mot --lowpass -1", 2, "the cutoff must be above zero"),
    ("walk/model.osim walk/ik.mot --time-range 5 6", 1, "ik.mot: The time range 5 to 6 s lies outside the motion"),
    ("walk/model.osim walk/grf.mot", 1, "grf.mot: The motion has none of the model's coordinates."),
    ("walk/model.osim --transfer 0", 1, "No muscle has mass, so there is nothing to rank."),
    ("walk/none.osim", 1, "none.osim"),
])  # fmt: skip
def test_wrong_requests_are_explained(walk, words, code, message):
    result = run(*words.split())
    assert result[:2] == (code, "")
    assert message in result[2]


def test_the_example_of_the_help_runs(walk):
    words = shlex.split(" ".join((rank.help or "").split()).split("Example: ")[1])
    assert words[:2] == ["osim-inertia", "rank"]
    assert run(*words[2:])[0] == 0
