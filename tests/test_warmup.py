"""The first run: what is compiled beside, and that it is what commands then use."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia import demo, warmup
from osim_inertia.kernels.muscle_batch import inverse_dynamics_with_muscles


class Quiet:
    """A process that has ended."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *_: object) -> None: ...

    def wait(self) -> int:
        return 0

    def terminate(self) -> None: ...


@pytest.fixture
def started(monkeypatch) -> list[list[str]]:
    commands: list[list[str]] = []
    monkeypatch.setattr(warmup.subprocess, "Popen", lambda command, **_: commands.append(command) or Quiet())
    monkeypatch.setattr(warmup.os, "cpu_count", lambda: 2)
    return commands


def test_nothing_is_compiled_beside_when_it_is_there(started, monkeypatch):
    monkeypatch.setattr(warmup, "is_compiled", lambda work: True)
    with warmup.compiling_beside("id", "muscle mass") as wait:
        wait()
    assert started == []


def test_only_the_largest_kernels_get_a_process_of_their_own(started, monkeypatch):
    monkeypatch.setattr(warmup, "is_compiled", lambda work: False)
    with warmup.compiling_beside("id", "muscle mass") as wait:
        assert wait() == [0]
    assert [command[1:] for command in started] == [["-m", "osim_inertia.warmup", "muscle mass"]]


def test_one_processor_compiles_one_thing_after_the_other(started, monkeypatch):
    monkeypatch.setattr(warmup, "is_compiled", lambda work: False)
    monkeypatch.setattr(warmup.os, "cpu_count", lambda: 1)
    with warmup.compiling_beside("muscle mass") as wait:
        wait()
    assert started == []


def test_what_the_smallest_model_compiles_serves_a_leg_with_wraps():
    """Numba compiles anew for other types: the arrays of all models must have the same."""
    warmup.compile_muscle_mass()
    leg = oi.read_osim(demo.model_folder() / demo.MODEL)
    system = oi.System(oi.with_muscle_mass(leg, {"tibia_r": 0.8}))
    pose = system.default_pose()
    system.inverse_dynamics(pose, 0.0 * pose, 0.0 * pose)
    read_only = pose.copy()
    read_only.flags.writeable = False
    system.inverse_dynamics(read_only, read_only, read_only)
    system.inverse_dynamics(np.tile(pose, (3, 1)), pose, pose)  # one frame of speeds for three of angles
    assert len(inverse_dynamics_with_muscles.whole.signatures) == 1
    assert warmup.is_compiled("muscle mass")


@pytest.mark.parametrize("work", list(warmup.BESIDE))
def test_what_is_compiled_beside_is_what_is_looked_for(work):
    warmup.BESIDE[work]()
    assert warmup.is_compiled(work)


NO_FOLDER = """
from numba.core import caching
def refuse(self, *_): raise OSError("read-only")
for name in dir(caching):
    if name.endswith("CacheLocator"):
        getattr(caching, name).ensure_cache_path = refuse
from osim_inertia import warmup
from osim_inertia.kernels.vec3 import dot3
warmup.announce(print, "id")
print(dot3((1.0, 2.0, 3.0), (1.0, 1.0, 1.0)))
"""


def test_without_a_folder_for_compiled_kernels_everything_works_and_the_reason_is_said():
    done = subprocess.run([sys.executable, "-c", NO_FOLDER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "set NUMBA_CACHE_DIR" in done.stdout
    assert done.stdout.split()[-1] == "6.0"
