"""`osim-inertia id` as a user meets it: setup files, options, notes, errors in words, no half-written files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import osim_inertia as oi
from osim_inertia.cli.main import main

ZOO = Path(__file__).resolve().parents[2] / "models" / "zoo"


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["id", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """A pin-jointed chain with a motion, a load and a setup file in a folder of its own."""
    folder = tmp_path / "trial"
    folder.mkdir()
    shutil.copy(ZOO / "joint_gimbal_40000.osim", folder / "model.osim")
    system = oi.System(oi.read_osim(folder / "model.osim"))
    time = np.arange(50) * 0.02
    values = 30.0 * np.sin(np.outer(time, np.arange(1, system.n + 1)))
    oi.write_table(oi.Table(system.coordinate_names, time, values, True), folder / "motion.mot")
    names = ("f_vx", "f_vy", "f_vz")
    oi.write_table(oi.Table(names, time, np.outer(time, [1.0, 20.0, 3.0])), folder / "grf.mot")
    (folder / "loads.xml").write_text(
        '<OpenSimDocument Version="40000"><ExternalLoads name="l"><objects><ExternalForce name="push">'
        "<applied_to_body>lower</applied_to_body><force_identifier>f_v</force_identifier></ExternalForce></objects>"
        "<datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>")
    write_setup(folder)
    return folder


def write_setup(folder: Path, extra: str = "", model: str = "model.osim", name: str = "forces.sto") -> None:
    (folder / "setup.xml").write_text(
        '<OpenSimDocument Version="40000"><InverseDynamicsTool name="t"><results_directory>out</results_directory>'
        f"<model_file>{model}</model_file><coordinates_file>motion.mot</coordinates_file>"
        "<external_loads_file>loads.xml</external_loads_file><forces_to_exclude>Muscles</forces_to_exclude>"
        f"<output_gen_force_file>{name}</output_gen_force_file>{extra}</InverseDynamicsTool></OpenSimDocument>")


def test_a_setup_file_runs_from_any_folder_and_writes_beside_itself(trial, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("trial/setup.xml")
    assert (code, err) == (0, "")
    assert "50 instants" in out
    assert len(oi.read_table(trial / "out/forces.sto")) == 50


def test_a_model_and_a_motion_give_what_the_setup_gives(trial, tmp_path):
    run(trial / "setup.xml")
    code, _, _ = run(trial / "model.osim", trial / "motion.mot", "--external-loads", trial / "loads.xml",
                     "-o", tmp_path / "mine.sto")
    assert code == 0
    assert (tmp_path / "mine.sto").read_bytes() == (trial / "out/forces.sto").read_bytes()


def test_json_tells_times_and_files(trial):
    code, out, err = run(trial / "setup.xml", "--json", "--time-range", 0.2, 0.4, "--lowpass", 6)
    summary = json.loads(out)
    assert (code, err) == (0, "")
    assert {"read", "solve", "write"} <= set(summary["seconds"])
    assert summary["lowpass_hz"] == 6.0
    assert summary["rows"] == len(oi.read_table(trial / "out/forces.sto"))
    assert 0.18 <= summary["time_range"][0] <= 0.2


def test_joint_reactions_are_written_on_request(trial, tmp_path):
    code, out, _ = run(trial / "setup.xml", "--reactions", tmp_path / "r.sto", "--reactions-in", "child", "--json")
    assert code == 0
    assert json.loads(out)["reactions"] == str(tmp_path / "r.sto")
    table = oi.read_table(tmp_path / "r.sto")
    assert len(table) == 50
    assert table.names[0] == "hip_on_upper_in_upper_fx"


def test_exact_differs_from_opensim_where_speeds_are_angular_velocities(tmp_path):
    system = oi.System(oi.read_osim(ZOO / "joint_ball_40000.osim"))
    time = np.arange(50) * 0.02
    values = 30.0 * np.sin(np.outer(time, np.arange(1, system.n + 1)))
    oi.write_table(oi.Table(system.coordinate_names, time, values, True), tmp_path / "m.mot")
    files = []
    for option in ("--like-opensim", "--exact"):
        files.append(tmp_path / f"{option}.sto")
        assert run(ZOO / "joint_ball_40000.osim", tmp_path / "m.mot", option, "-o", files[-1])[0] == 0
    like, exact = (oi.read_table(file) for file in files)
    q, u, a = (np.radians(x) for x in (values, *derivatives_of(time, values)))
    np.testing.assert_allclose(exact.values, system.inverse_dynamics(q, *system.speeds(q, u, a)), atol=1e-7)
    np.testing.assert_allclose(like.values, system.inverse_dynamics(q, u, a), atol=1e-7)
    assert np.abs(like.values - exact.values).max() > 0.01


def derivatives_of(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of SciPy's natural quintic spline."""
    interpolate = pytest.importorskip("scipy.interpolate")
    zero = np.zeros(values.shape[1])
    rounded = np.round(values, 8)  # as in the file
    spline = interpolate.make_interp_spline(time, rounded, k=5, bc_type=([(3, zero), (4, zero)],) * 2)
    return spline(time, 1), spline(time, 2)


@pytest.mark.parametrize(("extra", "words"), [
    ("<lowpass_cutoff_frequency>6</lowpass_cutoff_frequency>", "Did you mean <lowpass_cutoff_f"),
    ("<speed>3</speed>", "unknown setting <speed>"),
    ("<joints_to_report_body_forces>wrist</joints_to_report_body_forces>", "no joint 'wrist'"),
    ("<time_range>-1 0.5</time_range>", "reaches beyond the motion"),
])  # fmt: skip
def test_what_the_user_should_know_is_noted_on_stderr(trial, extra, words):
    write_setup(trial, extra)
    code, _, err = run(trial / "setup.xml")
    assert code == 0
    assert words in err


def test_an_empty_time_range_is_the_whole_motion(trial):
    write_setup(trial, "<time_range />")
    assert run(trial / "setup.xml")[0] == 0
    assert len(oi.read_table(trial / "out/forces.sto")) == 50


def test_a_folder_in_the_output_name_is_ignored_as_in_opensim(trial):
    write_setup(trial, name="elsewhere/forces")
    code, _, err = run(trial / "setup.xml")
    assert code == 0
    assert "ignored" in err
    assert (trial / "out/forces.sto").is_file()


def test_forces_that_opensim_would_apply_are_named(trial, shared_data):
    walker = shared_data / "models" / "WalkerModel" / "WalkerModel.osim"
    model = oi.read_osim(walker)
    names = tuple(c.name for c in model.coordinates)
    oi.write_table(oi.Table(names, np.arange(9) * 0.1, np.zeros((9, len(names)))), trial / "motion.mot")
    for excluded, expected in (("Muscles", True), ("ALL", False)):
        (trial / "setup.xml").write_text(
            '<OpenSimDocument Version="40000"><InverseDynamicsTool name="t"><coordinates_file>motion.mot'
            f"</coordinates_file><model_file>{walker}</model_file><forces_to_exclude>{excluded}</forces_to_exclude>"
            "</InverseDynamicsTool></OpenSimDocument>")
        code, _, err = run(trial / "setup.xml")
        assert code == 0
        assert ("CoordinateLimitForce (4)" in err) is expected
        assert ("HuntCrossleyForce (6)" in err) is expected


# ---- wrong input ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("break_it", "words"), [
    (lambda t: (t / "motion.mot").write_text((t / "motion.mot").read_text().replace("nRows=50", "nRows=60")),
     "motion.mot, line 3: The header declares 60 rows"),
    (lambda t: (t / "motion.mot").unlink(), "the file of <coordinates_file> does not exist"),
    (lambda t: (t / "grf.mot").unlink(), "The data file of the external loads does not exist"),
    (lambda t: (t / "loads.xml").write_text((t / "loads.xml").read_text().replace("lower", "foot")),
     "found     'foot'"),
    (lambda t: (t / "loads.xml").write_text((t / "loads.xml").read_text().replace("f_v<", "g_v<")),
     "0 columns of the data begin with 'g_v'"),
    (lambda t: (t / "loads.xml").write_text((t / "loads.xml").read_text().replace("f_v<", "<")), "neither a force nor"),
    (lambda t: (t / "setup.xml").write_text("<OpenSimDocument><IKTool/></OpenSimDocument>"), "no InverseDynamicsTool"),
    (lambda t: write_setup(t, "<time_range>7 8</time_range>"), "motion.mot: The time range 7 to 8 s lies outside"),
    (lambda t: write_setup(t, model=""), "<model_file> is empty"),
])  # fmt: skip
def test_wrong_input_is_explained_and_leaves_old_results_alone(trial, break_it, words):
    (trial / "out").mkdir()
    (trial / "out/forces.sto").write_text("old")
    break_it(trial)
    code, out, err = run(trial / "setup.xml")
    assert (code, out) == (1, "")
    assert words in err
    assert "Traceback" not in err
    assert os.listdir(trial / "out") == ["forces.sto"]
    assert (trial / "out/forces.sto").read_text() == "old"


def test_a_result_may_not_replace_its_inputs(trial):
    before = (trial / "motion.mot").read_bytes()
    code, _, err = run(trial / "model.osim", trial / "motion.mot", "-o", trial / "motion.mot")
    assert code == 1
    assert "would replace" in err
    assert (trial / "motion.mot").read_bytes() == before


def test_states_of_opensim_4_need_exact(trial, tmp_path):
    motion = oi.read_table(trial / "motion.mot")
    joints = {c.name: j.name for j in oi.read_osim(trial / "model.osim").joints for c in j.coordinates}
    states = tuple(f"/jointset/{joints[name]}/{name}/value" for name in motion.names)
    oi.write_table(oi.Table(states, motion.time, motion.values, True), trial / "states.mot")
    code, _, err = run(trial / "model.osim", trial / "states.mot", "-o", tmp_path / "s.sto")
    assert code == 1
    assert "states.mot: The motion has none of the model's coordinates" in err
    assert "--exact" in err
    for name in ("states", "motion"):
        assert run(trial / "model.osim", trial / f"{name}.mot", "--exact", "-o", tmp_path / f"{name}.sto")[0] == 0
    assert (tmp_path / "states.sto").read_bytes() == (tmp_path / "motion.sto").read_bytes()


def test_wrong_usage_exits_with_2(trial):
    assert run(trial / "model.osim")[0] == 2
    assert run(trial / "model.osim", trial / "motion.mot", "--lowpass", 0)[0] == 2
    assert run()[0] == 2


def test_an_interrupted_run_leaves_nothing_behind(trial, monkeypatch):
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("osim_inertia.tables.sto.write_rows", interrupt)
    code, _, err = run(trial / "setup.xml")
    assert code == 130
    assert "Interrupted" in err
    assert os.listdir(trial / "out") == []


def test_the_progress_bar_appears_when_work_takes_long(monkeypatch):
    from osim_inertia.cli import progress

    shown = []
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr("rich.console.Console.is_terminal", property(lambda self: True))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("rich.progress.Progress.start", lambda self: shown.append(self.tasks[0].description))
    monkeypatch.setattr("rich.progress.Progress.stop", lambda self: None)
    with progress.Phases()("solve", "Solving") as advance:
        for _ in range(200):
            if shown:
                break
            advance(1, 10)
            __import__("time").sleep(0.01)
    assert shown == ["Solving"]
