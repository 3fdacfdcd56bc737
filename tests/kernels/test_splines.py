"""Natural splines and the filter, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate, signal

from osim_inertia.filters import butterworth, derivatives, interpolated, padded, resampled


def run_all(count, kernel):
    kernel(0, count)


def uneven(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(0.3, 1.7, count)) * 0.01, rng.normal(size=(count, 3))


@pytest.mark.parametrize("count", [6, 7, 40, 3000])
def test_quintic_spline_is_the_natural_one(count):
    time, values = uneven(count)
    zero = np.zeros(3)
    spline = interpolate.make_interp_spline(time, values, k=5, bc_type=([(3, zero), (4, zero)],) * 2)
    first, second = derivatives(time, values, run_all)
    np.testing.assert_allclose(first, spline(time, 1), atol=1e-12 * np.abs(first).max())
    np.testing.assert_allclose(second, spline(time, 2), atol=1e-12 * np.abs(second).max())
    at = np.linspace(time[0], time[-1], 501)
    np.testing.assert_allclose(resampled(time, values, at, run_all), spline(at), atol=1e-12)


@pytest.mark.parametrize("count", [4, 5, 40, 3000])
def test_cubic_spline_is_the_natural_one_and_straight_outside(count):
    time, values = uneven(count)
    spline = interpolate.CubicSpline(time, values, bc_type="natural")
    at = np.linspace(time[0] - 0.1, time[-1] + 0.1, 777)
    expected = spline(np.clip(at, time[0], time[-1]))
    for end in (0, -1):
        beyond = at < time[0] if end == 0 else at > time[-1]
        expected[beyond] += np.outer(at[beyond] - time[end], spline(time[end], 1))
    np.testing.assert_allclose(interpolated(time, values, at), expected, atol=1e-12)


@pytest.mark.parametrize("count", [2, 3])
def test_few_rows_are_joined_by_straight_lines(count):
    time, values = uneven(count)
    at = np.linspace(time[0] - 0.01, time[-1] + 0.01, 9)
    for k in range(3):
        line = interpolate.interp1d(time, values[:, k], fill_value="extrapolate")
        np.testing.assert_allclose(interpolated(time, values, at)[:, k], line(at), atol=1e-12)


def test_filter_is_scipys_butterworth_both_ways_with_opensims_start():
    step, cutoff = 0.01, 6.0
    values = np.random.default_rng(2).normal(size=(200, 2)).cumsum(axis=0)
    b, a = signal.butter(3, 2.0 * cutoff * step)
    expected = values
    for _ in range(2):
        start = [signal.lfiltic(b, a, expected[2::-1, k], expected[2::-1, k]) for k in range(2)]
        rest, _ = signal.lfilter(b, a, expected[3:], axis=0, zi=np.array(start).T)
        expected = np.vstack([expected[:3], rest])[::-1]
    np.testing.assert_allclose(butterworth(values, step, cutoff, run_all, pytest.fail), expected, atol=1e-9)


def test_a_cutoff_beyond_half_the_sampling_rate_is_lowered_with_a_note():
    notes = []
    values = np.random.default_rng(2).normal(size=(20, 1))
    out = butterworth(values, 0.1, 7.0, run_all, notes.append)
    np.testing.assert_allclose(out, butterworth(values, 0.1, 4.9, run_all, pytest.fail))
    assert "4.9 Hz" in notes[0]


def test_padding_mirrors_the_record_in_its_end_points():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    np.testing.assert_array_equal(padded(x, 2), [-2.0, 0.0, 1.0, 2.0, 4.0, 8.0, 12.0, 14.0])
    np.testing.assert_array_equal(padded(x, 0), x)
