"""Damaged model files end in a sentence that names the file, quickly, and never pass."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osim_inertia.cli.main import main

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_damaged import ARM, OLD_ARM, make_damaged

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 5.0  # s for one file
AT_LEAST = 250


@pytest.fixture(scope="module")
def damaged(tmp_path_factory) -> list[Path]:
    return make_damaged(tmp_path_factory.mktemp("damaged"), seed=0)


def run(path: Path) -> Result:
    return CliRunner().invoke(main, ["info", str(path)])


def fault_of(path: Path) -> str:
    """What is wrong with the way a damaged file is refused; nothing if all is well."""
    start = time.perf_counter()
    result = run(path)
    seconds = time.perf_counter() - start
    if result.exit_code != 1:
        return f"exit code {result.exit_code}"
    if not isinstance(result.exception, SystemExit) or "Traceback" in result.output:
        return f"not in words: {result.exception!r}"
    if path.name not in result.stderr:
        return f"file not named: {result.stderr}"
    if result.stdout:
        return "printed a result"
    return f"took {seconds:.1f} s" if seconds > LONGEST else ""


@pytest.mark.parametrize("source", [ARM, OLD_ARM])
def test_the_undamaged_models_are_sound(source, tmp_path):
    path = tmp_path / "sound.osim"
    path.write_text(source)
    assert run(path).exit_code == 0


def test_every_damaged_file_is_refused_in_words(damaged):
    assert len(damaged) >= AT_LEAST
    faults = {path.name: fault for path in damaged if (fault := fault_of(path))}
    assert faults == {}


@pytest.mark.parametrize("fault", ["cut_arm_at", "mass_is_NaN", "entity_bomb", "deep", "joint_to_itself", "binary"])
def test_the_program_itself_refuses(damaged, fault):
    path = next(path for path in damaged if fault in path.name)
    command = [sys.executable, "-m", "osim_inertia", "info", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30)
    assert done.returncode == 1
    assert path.name in done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_tells_line_and_remedy(tmp_path):
    path = tmp_path / "arm.osim"
    path.write_text(ARM.replace("<mass>2.1</mass>", "<maas>2.1</maas>"))
    line = next(i for i, text in enumerate(ARM.splitlines(), start=1) if '<Body name="upper">' in text)
    assert run(path).stderr == (
        f"arm.osim, line {line}: Body 'upper': <mass> is missing.\n"
        "  expected  a number\n"
        "  to do     add <mass>…</mass>\n"
    )


places = st.integers(min_value=0, max_value=len(ARM.encode()) - 1)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(flips=st.lists(st.tuples(places, st.integers(min_value=0, max_value=255)), min_size=1, max_size=6))
def test_flipped_bytes_never_give_a_traceback(tmp_path, flips):
    data = bytearray(ARM.encode())
    for place, value in flips:
        data[place] = value
    assert_ends_in_words(tmp_path, bytes(data))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=places, length=st.integers(min_value=1, max_value=400), insert=st.text(max_size=20))
def test_lost_and_inserted_pieces_never_give_a_traceback(tmp_path, start, length, insert):
    data = ARM.encode()
    assert_ends_in_words(tmp_path, data[:start] + insert.encode("utf-8", "replace") + data[start + length :])


def assert_ends_in_words(folder: Path, data: bytes) -> None:
    path = folder / "flipped.osim"
    path.write_bytes(data)
    result = run(path)
    assert result.exit_code in (0, 1)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code == 1) == (path.name in result.stderr)
