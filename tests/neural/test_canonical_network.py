"""The canonical network by itself: ends, symmetry, derivatives, and how close it is to the exact path."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from osim_inertia.errors import FileError
from osim_inertia.kernels import neural_wrap as kernel
from osim_inertia.neural.canonical import Reach, canonical
from osim_inertia.neural.inference import SHIPPED, canonical_inputs, read_network, shipped_network
from osim_inertia.neural.sampling import canonical_samples, exact

NETWORK = shipped_network()


def placed(a, b, theta, radius, rise, turn, height, sense):
    """Ends (N, 3) of paths with tangents a, b radii long and an arc theta, anywhere about a cylinder."""
    away = turn + sense * (np.arctan(a) + np.arctan(b) + theta)
    first, second = np.hypot(1.0, a) * radius, np.hypot(1.0, b) * radius
    p = np.stack([first * np.cos(turn), first * np.sin(turn), height], axis=1)
    return p, np.stack([second * np.cos(away), second * np.sin(away), height + rise * radius], axis=1)


def samples(n, rng, threshold=0.01):
    """Ends, label, radius and sense of paths in range, in the frame of the cylinder."""
    a, b, theta, label = canonical_samples(n, rng, threshold=threshold)
    radius, sense = rng.uniform(0.005, 0.3, n), rng.choice([-1.0, 1.0], n)
    ends = placed(a, b, theta, radius, rng.uniform(-5, 5, n), rng.uniform(-3, 3, n), rng.uniform(-1, 1, n), sense)
    return *ends, label, radius, sense, a, b, theta


def test_both_ends_are_exact():
    p, s, _, radius, sense, *_ = samples(2000, np.random.default_rng(1))
    for label, end in ((0.0, p), (1.0, s)):
        found = NETWORK.points(canonical(p, s, label, radius, sense))
        assert_allclose(found, end, rtol=0, atol=2e-14)


def test_a_path_without_contact_is_straight():
    p, s, label, radius, sense, a, b, _ = samples(2000, np.random.default_rng(2))
    theta = -np.minimum(0.08 * (a + b) + 0.01, 0.9 * (np.arctan(a) + np.arctan(b)))
    p, s = placed(a, b, theta, radius, np.ones(2000), np.zeros(2000), np.zeros(2000), sense)
    found = NETWORK.points(canonical(p, s, label, radius))
    assert_allclose(found, p + label[:, None] * (s - p), rtol=0, atol=1e-12)


def test_shipped_network_is_within_its_errors_on_fresh_samples():
    """Median at most 0.2 %, 99th percentile at most 1 % of the radius: 0.06 mm and 0.3 mm on a 3 cm cylinder."""
    p, s, label, radius, sense, a, b, theta = samples(100_000, np.random.default_rng(20240617))
    found = NETWORK.points(canonical(p, s, label, radius, sense))
    shorter = np.arctan(a) + np.arctan(b) + theta < np.pi  # the others go the long way, which the library never does
    truth, share = exact(np.concatenate([p, s, label[:, None], radius[:, None]], axis=1))
    assert_allclose((share > 0.0)[shorter], (theta > 0.0)[shorter])
    _, _, _, beside = canonical_inputs(a, b, theta, label)
    closed_form = canonical(p, s, label, radius, sense).point(beside)
    assert_allclose(truth[shorter], closed_form[shorter], rtol=0, atol=1e-12)  # two independent exact paths
    error = np.linalg.norm(found - closed_form, axis=1) / radius
    for part in (np.ones(len(error), bool), theta > 0.0):  # all, and those in contact
        assert np.median(error[part]) <= 0.002
        assert np.quantile(error[part], 0.99) <= 0.01
    about = NETWORK.about
    assert np.median(error) == pytest.approx(about["median"], rel=0.2)
    assert np.quantile(error, 0.99) == pytest.approx(about["p99"], rel=0.2)


@settings(max_examples=60, deadline=None)
@given(scale=st.floats(0.05, 20.0), turn=st.floats(-7.0, 7.0), slide=st.floats(-2.0, 2.0),
       mirror=st.sampled_from("-xyz"), seed=st.integers(0, 2**20))
def test_answers_scale_turn_slide_and_mirror_with_the_cylinder(scale, turn, slide, mirror, seed):
    p, s, label, radius, sense, *_ = samples(20, np.random.default_rng(seed))
    c, d = np.cos(turn), np.sin(turn)
    R = np.array([[c, -d, 0.0], [d, c, 0.0], [0.0, 0.0, 1.0]])
    if mirror != "-":
        flip = np.ones(3)
        flip["xyz".index(mirror)] = -1.0
        R = R * flip
        sense = sense if mirror == "z" else -sense

    def moved(x):
        return scale * (x @ R.T) + [0.0, 0.0, slide]

    before = NETWORK.points(canonical(p, s, label, radius, sense if mirror in "-z" else -sense))
    after = NETWORK.points(canonical(moved(p), moved(s), label, scale * radius, sense))
    assert_allclose(after, moved(before), rtol=0, atol=1e-10 * scale)


# ---- derivatives ----------------------------------------------------------------------------------------------------
def beside(y, rates=(0.0, 0.0, 0.0, 0.0)):
    """C (2, JET) of the network at (a, b, ϑ, η)."""
    features, base, scale = np.empty((1, 7, 7)), np.empty((1, 2, 7)), np.empty((1, 7))
    kernel.canonical_jets(*map(float, y), tuple(map(float, rates)), features[0], base[0], scale[0])
    NETWORK.add_to(features, scale, base)
    return base[0]


@pytest.mark.parametrize("seed", range(8))
def test_derivatives_of_the_network_are_those_of_its_values(seed):
    rng = np.random.default_rng(seed)
    y = np.array([rng.uniform(0.3, 6.0), rng.uniform(0.3, 6.0), rng.uniform(0.1, 3.0), rng.uniform(0.05, 0.95)])
    rates, h = rng.normal(size=4), 1e-4
    found = beside(y, rates)
    slopes = np.stack([(beside(y + h * e)[:, 0] - beside(y - h * e)[:, 0]) / (2 * h) for e in np.eye(4)], axis=1)
    assert_allclose(found[:, 1:5], slopes, atol=2e-6)
    assert_allclose(found[:, 5], slopes @ rates, atol=1e-5)
    ahead, behind = beside(y + h * rates, rates), beside(y - h * rates, rates)
    assert_allclose(found[:, 6], (ahead[:, 5] - behind[:, 5]) / (2 * h), atol=1e-4)


def path_point(p, s, radius, sense, label, pdot, sdot, pddot, sddot):
    """(position, rate, second rate), length with rates, and the pull-back of unit forces of one point."""
    E = np.zeros(kernel.ENDS)
    ends = [tuple(map(float, v)) for v in (p, pdot, pddot, s, sdot, sddot)]
    kernel.set_ends(*ends, radius, sense, 1, E)
    C = beside([*E[[0, 3, 6]], label], [*E[[1, 4, 7]], 0.0])
    x, v, a, _ = kernel.bent_point(*ends, np.array([label, 0.0, 0.0]), C, E)
    G = [kernel.bent_transpose(tuple(f), label, C, E) for f in np.eye(3)]
    return np.array([x, v, a]), E[20:23].copy(), np.array(G).reshape(3, 6), E[23:29].copy()


@pytest.mark.parametrize("seed", range(6))
def test_point_and_length_move_as_differences_say(seed):
    rng = np.random.default_rng(seed)
    sense = rng.choice([-1.0, 1.0])
    a, b = np.exp(rng.uniform(-1, 1.5, 2))
    theta = (0.003 * (a + b), 0.5, 1.5)[seed % 3]
    p, s = (x[0] for x in placed(*(np.array([v]) for v in (a, b, theta, 0.05, 1.3, 0.4, 0.1, sense))))
    (pdot, sdot, pddot, sddot), label, h = rng.normal(size=(4, 3)) * 0.02, 0.37, 1e-4

    def at(t):
        return path_point(p + t * pdot + 0.5 * t * t * pddot, s + t * sdot + 0.5 * t * t * sddot, 0.05, sense, label,
                          pdot + t * pddot, sdot + t * sddot, pddot, sddot)

    x, length, G, slope = at(0.0)
    (x1, l1, *_), (x0, l0, *_) = at(h), at(-h)
    assert_allclose(x[1], (x1[0] - x0[0]) / (2 * h), atol=1e-6)
    assert_allclose(x[2], (x1[1] - x0[1]) / (2 * h), atol=2e-4 * np.abs(x[2]).max() + 1e-6)
    assert_allclose(G @ np.concatenate([pdot, sdot]), x[1], atol=1e-12)
    assert_allclose(length[1], (l1[0] - l0[0]) / (2 * h), atol=1e-7)
    assert_allclose(length[2], (l1[1] - l0[1]) / (2 * h), atol=1e-5)
    assert_allclose(slope @ np.concatenate([pdot, sdot]), length[1], atol=1e-12)


# ---- the file -------------------------------------------------------------------------------------------------------
def test_shipped_file_is_small_and_says_what_it_is():
    assert SHIPPED.stat().st_size < 1_000_000
    card = SHIPPED.with_name("cylinder.md").read_text(encoding="utf-8")
    for key in ("median", "p99"):
        assert f"{100 * NETWORK.about[key]:.3f} %" in card
    assert NETWORK.reach == Reach(**NETWORK.about["reach"])
    assert all(word in card for word in ("osim-inertia train-wrap", "Range", "Data", "Errors"))


def test_what_is_no_network_is_refused(tmp_path):
    (tmp_path / "a.npz").write_text("no")
    np.savez(tmp_path / "b.npz", about=np.array(json.dumps({})))
    for name in ("a.npz", "b.npz", "missing.npz"):
        with pytest.raises(FileError):
            read_network(tmp_path / name)
