"""The program as a process: what it prints is complete and its exit code is right, though it ends at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LEG = Path(__file__).resolve().parents[2] / "models" / "leg11dof4musc" / "leg11dof4musc.osim"
FULL = Path("/dev/full")


def program(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "osim_inertia", *map(str, arguments)]
    return subprocess.run(command, text=True, stderr=subprocess.PIPE, check=False, **options)


def test_all_output_arrives_in_a_pipe():
    done = program("info", LEG, "--json", stdout=subprocess.PIPE)
    assert done.returncode == 0
    assert done.stdout.endswith("}\n")


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (("info", "nowhere.osim"), 1, "nowhere.osim: The file cannot be read"),
    (("info",), 2, "Missing argument"),
    (("fly",), 2, "No such command"),
])  # fmt: skip
def test_exit_codes_and_their_words(arguments, code, words):
    done = program(*arguments, stdout=subprocess.PIPE)
    assert done.returncode == code
    assert words in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_output_that_cannot_be_written_is_a_failure():
    with FULL.open("w") as full:
        assert program("info", LEG, stdout=full).returncode == 1
