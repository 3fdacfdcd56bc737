"""Training: a short one works, resumes exactly, and PyTorch stays out of everything else."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import REQUIRED
from numpy.testing import assert_allclose

from osim_inertia.cli.main import main
from osim_inertia.neural.inference import read_network
from osim_inertia.neural.sampling import Box, box_samples, canonical_samples, exact

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH and not REQUIRED, reason="PyTorch is not installed")
SHORT = ["--steps", "512", "--batch", "256", "--width", "24", "--threads", "1"]


# ---- samples --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("surface", ["cylinder", "sphere"])
def test_samples_of_the_papers_lie_on_exact_paths_and_keep_the_one_percent_rule(surface):
    inputs, points = box_samples(4000, np.random.default_rng(0), surface=surface, box=Box(ends=(0.5, 0.5)))
    truth, share = exact(inputs, surface)
    assert_allclose(points, truth)
    assert not ((share > 0.0) & (share < 0.01)).any()
    assert (share >= 0.0).all()
    assert (share > 0.0).sum() > 100
    size = np.linalg.norm(points[:, :2] if surface == "cylinder" else points, axis=1) / inputs[:, 7]
    assert size[share > 0.0].min() > 1.0 - 1e-9  # none is inside the surface
    for label, end in ((0.0, inputs[:, :3]), (1.0, inputs[:, 3:6])):
        at_end = inputs.copy()
        at_end[:, 6] = label
        assert_allclose(exact(at_end, surface)[0], end, atol=1e-12)


def test_canonical_samples_keep_the_rule_and_the_range():
    a, b, theta, label = canonical_samples(20_000, np.random.default_rng(0))
    share = np.maximum(theta, 0.0) / (a + b + np.maximum(theta, 0.0))
    assert not ((share > 0.0) & (share < 0.01 - 1e-12)).any()
    assert np.hypot(1.0, a).min() >= 1.005 - 1e-12
    assert np.hypot(1.0, b).max() <= 16.0 + 1e-9
    assert (theta <= 4.0).all()
    assert 0.1 < (theta < 0.0).mean() < 0.2
    assert 0.0 <= label.min() <= label.max() <= 1.0


# ---- training -------------------------------------------------------------------------------------------------------
def train(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["train-wrap", "-o", str(folder), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@needs_torch
def test_a_short_training_learns(tmp_path):
    out = train(tmp_path, "--steps", "3000", "--batch", "512", "--threads", "1")
    assert "3 × 40, 3000 steps" in out
    network = read_network(tmp_path / "network.npz")
    assert network.about["median"] < 0.002  # the base curve alone: 0.0027
    assert network.about["p99"] < 0.05  # the base curve alone: 0.36
    curve = np.loadtxt(tmp_path / "curve.csv", delimiter=",", skiprows=1, ndmin=2)
    assert curve[-1, 0] == 3000
    assert curve[-1, 1] < 0.5 * curve[0, 1]


@needs_torch
def test_a_resumed_training_ends_where_an_uninterrupted_one_does(tmp_path):
    from osim_inertia.neural import train as module

    settings = module.Settings(steps=120, batch=256, width=8, pool=2048, passes=4)
    whole = module.train(settings, tmp_path / "whole", threads=1)

    class StopError(Exception):
        pass

    def stop(done, total):
        if done >= 64:
            raise StopError

    with pytest.raises(StopError):
        module.train(settings, tmp_path / "parts", advance=stop, threads=1)
    parts = module.train(settings, tmp_path / "parts", resume=True, threads=1)
    assert parts.errors == whole.errors
    assert_allclose(np.array(parts.curve), np.array(whole.curve), rtol=0)


@needs_torch
@pytest.mark.parametrize("extra", [["--jacobian", "0.1"], ["--inputs", "papers", "--depth", "2"],
                                   ["--inputs", "papers", "--depth", "2", "--surface", "sphere", "--jacobian", "0.1"]])
def test_every_kind_of_training_runs(tmp_path, extra):
    out = train(tmp_path, *SHORT, "--steps", "64", *extra)
    assert "position error" in out


@needs_torch
def test_wrong_usage_is_a_sentence(tmp_path):
    run = CliRunner().invoke
    assert "--inputs papers" in run(main, ["train-wrap", "-o", str(tmp_path), "--surface", "sphere"]).output
    done = run(main, ["train-wrap", "-o", str(tmp_path / "new"), "--resume"])
    assert done.exit_code == 1
    assert "no training to resume" in done.output


def test_without_pytorch_the_command_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["train-wrap", "-o", str(tmp_path)])
    assert done.exit_code == 1
    assert "pip install 'osim-inertia[neural]'" in done.output


# ---- who imports PyTorch --------------------------------------------------------------------------------------------
PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np, osim_inertia as oi
from limbs import double_pendulum
import osim_inertia.cli.train_wrap, osim_inertia.cli.id
points = (("rod1", (0.06, -0.15, 0.0)), ("rod2", (0.06, -0.3, 0.02)))
system = oi.System(double_pendulum(points, cylinder=0.12, wrap="neural"))
system.inverse_dynamics(np.array([0.3, -0.8]), np.ones(2), np.ones(2))
assert system.muscles.follows.all()
assert not [name for name in sys.modules if name.split(".")[0] == "torch"], "PyTorch was imported"
"""


def test_pytorch_is_imported_by_nothing_but_training():
    tests = str(Path(__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(tests=tests)], capture_output=True, text=True,
                          cwd=Path(tests).parent)
    assert done.returncode == 0, done.stderr
