"""`osim-inertia doctor`: planted defects are found where they are, and a clean model is left in peace."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia.cli.main import main

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from small_models import arm, point, wrap_cylinder

START, END = (-0.2, 0.1, 0.0), (0.2, 0.05, 0.0)
ENDS = point("a", "/ground", START), point("b", "/bodyset/link", END)
OVER = [("roll", "-1 -1")]
ABOVE = (-0.5, 1.0)  # rad: within these angles the cable passes above the hinge


def examine(folder: Path, text: str, *words: object) -> dict:
    file = folder / "model.osim"
    file.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["doctor", str(file), "--json", *map(str, words)])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def kinds(summary: dict) -> list[str]:
    return [finding["kind"] for finding in summary["findings"]]


def end_at(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * END[0] - s * END[1], s * END[0] + c * END[1], 0.0])


@pytest.mark.parametrize("paths", ["opensim", "shortest"])
def test_clean_model_is_silent(tmp_path, paths):
    text = arm("".join(ENDS), wraps=OVER, objects=wrap_cylinder("roll"), span=ABOVE)
    summary = examine(tmp_path, text, "--paths", paths)
    assert summary["findings"] == []
    assert summary["examined"]["poses"] >= 60
    system = oi.System(oi.read_osim(tmp_path / "model.osim"))
    wrapped = [bool(c.wraps) for c in system.path_contacts(np.linspace(*ABOVE, 30)[:, None], "cable", paths=paths)]
    assert any(wrapped)  # the cable does come to lie on the roll,
    assert not all(wrapped)  # and leaves it


def test_steep_slope_is_not_a_jump(tmp_path):
    """The two ends pass at half a millimetre: the moment arm goes from -0.2 to 0.2 m within a degree."""
    text = arm(point("a", "/ground", (0.2, 0.0, 0.0)) + point("b", "/bodyset/link", (0.2005, 0.0, 0.0)))
    assert kinds(examine(tmp_path, text)) == []


def test_point_inside_a_cylinder_is_found(tmp_path):
    inner = point("middle", "/ground", (0.01, 0.03, 0.0))
    text = arm(ENDS[0] + inner + ENDS[1], wraps=OVER, objects=wrap_cylinder("roll"), span=ABOVE)
    found = [f for f in examine(tmp_path, text)["findings"] if f["kind"] == "point inside"]
    assert len(found) == 1
    assert "middle is inside roll" in found[0]["cause"]
    assert found[0]["size"] == pytest.approx(0.05 - np.hypot(0.01, 0.03), abs=1e-12)


def test_wrong_quadrant_is_found(tmp_path):
    """The cable passes above the roll and is told to go below it."""
    right = arm("".join(ENDS), wraps=OVER, objects=wrap_cylinder("roll", quadrant="+y"), span=ABOVE)
    wrong = arm("".join(ENDS), wraps=OVER, objects=wrap_cylinder("roll", quadrant="-y"), span=ABOVE)
    assert kinds(examine(tmp_path, right)) == []
    summary = examine(tmp_path, wrong)
    assert kinds(summary) == ["wrong side"]
    found = summary["findings"][0]
    assert found["cause"] == "held by the quadrant of roll"
    assert found["size"] > 0.02
    above = [oi.System(oi.read_osim(tmp_path / "model.osim")).path_lengths([found["pose"]["angle"]])[0, 0]]
    assert found["before"]["length"] == pytest.approx(above[0], abs=1e-12)


def test_cable_dragged_round_a_roll_is_found(tmp_path):
    """Both ends below the roll, the cable held above it."""
    low = point("a", "/ground", (-0.06, -0.05, 0.0)) + point("b", "/bodyset/link", (0.06, -0.05, 0.0))
    text = arm(low, wraps=OVER, objects=wrap_cylinder("roll", quadrant="+y"))
    summary = examine(tmp_path, text)
    assert {"wrong side", "more than half a turn"} <= set(kinds(summary))
    assert all("roll" in finding["cause"] for finding in summary["findings"])


def test_flip_to_the_other_side_is_found(tmp_path):
    text = arm("".join(ENDS), wraps=OVER, objects=wrap_cylinder("roll"), span=(-1.2, 1.0))
    found = [f for f in examine(tmp_path, text)["findings"] if f["kind"] == "flips side"]
    assert len(found) == 1
    assert found[0]["cause"] == "changes side on roll"
    # the line between the ends then goes through the hinge
    assert np.cross(START, end_at(found[0]["pose"]["angle"]))[2] == pytest.approx(0.0, abs=1e-4)
    assert found[0]["before"]["moment_arm"] == pytest.approx(-found[0]["after"]["moment_arm"], abs=1e-3)


def test_conditional_point_that_jumps_is_found_with_pose_and_size(tmp_path):
    switch, place = 0.2, np.array([0.0, 0.2, 0.0])
    middle = point("middle", "/ground", tuple(place), when=(switch, 2.0))
    text = arm(ENDS[0] + middle + ENDS[1])
    summary = examine(tmp_path, text)
    assert kinds(summary) == ["length jumps"]
    found = summary["findings"][0]
    assert found["cause"] == "point middle comes or goes"
    assert found["pose"]["angle"] == pytest.approx(switch - 1e-5, abs=1e-8)  # OpenSim switches that much early
    end = end_at(switch - 1e-5)
    straight = np.linalg.norm(end - START)
    bent = np.linalg.norm(place - START) + np.linalg.norm(end - place)
    assert found["before"]["length"] == pytest.approx(straight, abs=1e-8)
    assert found["after"]["length"] == pytest.approx(bent, abs=1e-8)
    assert found["size"] == pytest.approx(bent - straight, abs=1e-8)


@pytest.fixture
def jumping(tmp_path) -> tuple[Path, Path]:
    """A model with a conditional point that jumps at 0.2 rad, and a motion that passes it at 1 s."""
    middle = point("middle", "/ground", (0.0, 0.2, 0.0), when=(0.2, 2.0))
    model, motion = tmp_path / "model.osim", tmp_path / "motion.mot"
    model.write_text(arm(ENDS[0] + middle + ENDS[1]), encoding="utf-8")
    time = np.linspace(0.0, 2.0, 21) + 0.013
    oi.write_table(oi.Table(("angle",), time, np.degrees(0.2 * time)[:, None], True), motion)
    return model, motion


def test_motion_is_followed_and_the_time_told(jumping):
    done = CliRunner().invoke(main, ["doctor", *map(str, jumping)])
    assert done.exit_code == 0, done.output
    assert "length jumps:\n  cable: length " in done.output
    assert "at 0.9999 s: point middle comes or goes" in done.output
    assert "1 findings on 1 paths in 21 poses" in done.output


def test_check_ends_with_exit_code_1_and_limits_can_be_set(jumping):
    model = str(jumping[0])
    assert CliRunner().invoke(main, ["doctor", model, "--check"]).exit_code == 1
    limits = ["--length-jump", "1000", "--arm-jump", "1000"]
    assert CliRunner().invoke(main, ["doctor", model, "--check", *limits]).exit_code == 0
    assert CliRunner().invoke(main, ["doctor", model, "--length-jump", "0"]).exit_code == 2


def test_plots_need_plotly_and_say_how_to_get_it(jumping, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly", None)
    done = CliRunner().invoke(main, ["doctor", str(jumping[0]), "--plot", str(tmp_path / "plots.html")])
    assert done.exit_code == 1
    assert 'pip install "osim-inertia[report]"' in done.output


def test_plots_are_a_page_of_their_own(jumping, tmp_path):
    pytest.importorskip("plotly", reason="needs the report extra")
    page = tmp_path / "plots.html"
    done = CliRunner().invoke(main, ["doctor", str(jumping[0]), "--plot", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert "cable: length jumps" in text
    assert "plotly.js" in text  # the library is inside: nothing to download
    assert CliRunner().invoke(main, ["doctor", str(jumping[0]), "--plot", "plots.gif"]).exit_code == 2
