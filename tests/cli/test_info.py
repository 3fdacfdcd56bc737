"""`osim-inertia info`: what it tells, how it fails, how fast it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from osim_inertia.cli import main as cli
from osim_inertia.cli.info import estimated_mass
from osim_inertia.cli.main import main
from osim_inertia.errors import OsimInertiaError
from osim_inertia.model.forces import Muscle
from osim_inertia.model.paths import GeometryPath

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / ".." / "shared" / "data"
ARM = DATA / "models" / "Arm26" / "arm26.osim"
RAJAGOPAL = DATA / "models" / "Rajagopal" / "Rajagopal2016.osim"
RARE = ROOT / "tests" / "osim" / "rare_parts.osim"
SLOWEST_START = 1.5  # s, the limit promised to users; measured 0.25

needs_data = pytest.mark.skipif(not ARM.exists(), reason="the shared reference data are not beside the project")


def run(*arguments: object, columns: int = 80):
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, [str(argument) for argument in arguments])


def content(*arguments: object) -> dict:
    result = run("info", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@needs_data
def test_json_counts_what_the_readme_of_the_data_counts():
    model = content(RAJAGOPAL)
    assert [len(model[key]) for key in ("bodies", "coordinates", "muscles", "constraints")] == [22, 39, 80, 2]
    assert sum(joint["kind"] == "CustomJoint" for joint in model["joints"]) == 10
    assert {item["kind"] for item in model["unsupported"]} == {"CoordinateActuator"}
    assert len(model["unsupported"]) == 17
    assert all(item["line"] > 1 and item["name"] for item in model["unsupported"])


@needs_data
def test_mass_is_the_sum_of_the_bodies_of_the_file():
    lines = RAJAGOPAL.read_text().splitlines()
    masses = [float(line.split(">")[1].split("<")[0]) for line in lines if "<mass>" in line]
    assert content(RAJAGOPAL)["mass_kg"] == pytest.approx(sum(masses), rel=1e-12)


@needs_data
def test_paths_are_sorted_by_how_they_run():
    types = {muscle["name"]: muscle["path_type"] for muscle in content(ARM)["muscles"]}
    assert types == {"TRIlong": "wrapped", "TRIlat": "wrapped", "TRImed": "wrapped", "BIClong": "wrapped",
                     "BICshort": "polyline", "BRA": "wrapped"}  # fmt: skip
    by_type = content(RAJAGOPAL)["muscle_mass"]["by_path_type"]
    assert [by_type[kind]["count"] for kind in ("straight", "polyline", "wrapped", "function")] == [14, 24, 42, 0]


def test_muscle_mass_is_that_of_opensims_metabolic_probe():
    """700 N and 0.08 m: the number OpenSim 4.6 printed (OPENSIM_SEMANTICS.md §11)."""
    muscle = Muscle(kind="Thelen2003Muscle", name="m", geometry=GeometryPath(points=()), max_isometric_force=700.0,
                    optimal_fiber_length=0.08)  # fmt: skip
    assert estimated_mass(muscle) == pytest.approx(0.2373728, rel=1e-12)


@needs_data
def test_the_masses_of_the_types_add_up():
    mass = content(RAJAGOPAL)["muscle_mass"]
    assert sum(part["estimated_mass_kg"] for part in mass["by_path_type"].values()) == pytest.approx(
        mass["estimated_mass_kg"], rel=1e-12
    )


def test_angles_are_degrees_for_people_and_radians_for_programs():
    flexion = next(c for c in content(RARE)["coordinates"] if c["name"] == "flexion")
    assert flexion["range"] == [None, 2.0]  # -Inf 2 in the file
    assert flexion["default_value"] == 0.1
    assert flexion["locked"]
    line = next(line for line in run("info", RARE).output.splitlines() if line.startswith("flexion"))
    assert "−∞ … 114.6°" in line
    assert "5.73°" in line


@needs_data
def test_driven_coordinates_are_called_dependent():
    dependent = [c["name"] for c in content(RAJAGOPAL)["coordinates"] if c["dependent"]]
    assert dependent == ["knee_angle_r_beta", "knee_angle_l_beta"]


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_screen_and_nothing_is_cut(columns):
    result = run("info", RARE, columns=columns)
    assert result.exit_code == 0
    assert max(len(line) for line in result.output.splitlines()) <= columns
    for name in ("scapulothoracic_coord_3", "triceps", "RollingOnSurfaceConstraint", "slab", "M1", "ligament"):
        assert name in result.output


@needs_data
@pytest.mark.parametrize("columns", [80, 120])
def test_a_large_model_fits_the_screen(columns):
    lines = run("info", RAJAGOPAL, columns=columns).output.splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.startswith("knee_angle_r_beta ") for line in lines)  # the name in one piece


# ---- failing ---------------------------------------------------------------------------------------------------------
def test_a_missing_file_is_named_in_one_sentence():
    result = run("info", "nowhere.osim")
    assert result.exit_code == 1
    assert result.stderr.startswith("nowhere.osim: The file cannot be read: No such file")
    assert result.stdout == ""


def test_malformed_values_are_refused_unless_asked_to_read_like_opensim(tmp_path):
    file = tmp_path / "short.osim"
    file.write_text(RARE.read_text().replace("0.01 -0.2 0.02</mass_center>", "0.01 -0.2</mass_center>"))
    assert run("info", file).exit_code == 1
    assert any("mass_center" in note for note in content(file, "--like-opensim")["notes"])


def test_wrong_usage_ends_with_two():
    assert run("info").exit_code == 2
    assert run("no-such-command").exit_code == 2
    assert run("info", "--no-such-option", "x").exit_code == 2


@pytest.mark.parametrize(("error", "code", "words"), [
    (OsimInertiaError("plain words"), 1, "plain words"),
    (KeyboardInterrupt(), 130, "Interrupted"),
    (MemoryError(), 1, "memory"),
    (RecursionError(), 1, "nested"),
    (PermissionError(13, "Permission denied", "out.sto"), 1, "out.sto: Permission denied"),
])  # fmt: skip
def test_errors_end_as_sentences(monkeypatch, error, code, words):
    import click

    @click.command()
    def fails() -> None:
        raise error

    monkeypatch.setattr(cli.Commands, "get_command", lambda *_: fails)
    result = run("fails")
    assert result.exit_code == code
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_version_is_told():
    result = run("--version")
    assert result.exit_code == 0
    assert result.output.startswith("osim-inertia, version ")


def test_the_group_lists_its_commands():
    result = run("--help")
    assert "info" in result.output
    assert "Show what a model file holds" in result.output


# ---- starting --------------------------------------------------------------------------------------------------------
def test_info_imports_neither_numba_nor_scipy_and_starts_fast():
    program = (
        "import sys, time; start = time.perf_counter()\n"
        "from osim_inertia.cli.main import main\n"
        f"main(['info', {str(RARE)!r}], standalone_mode=False)\n"
        "print('HEAVY', [m for m in ('numba', 'scipy', 'opensim') if m in sys.modules], time.perf_counter() - start)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("HEAVY [] ")
    assert float(last.split()[-1]) < SLOWEST_START


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "osim_inertia", "info", "nowhere.osim"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("nowhere.osim:")
