"""Smoothing and differentiating motions as OpenSim's Inverse Dynamics tool does (OPENSIM_SEMANTICS.md §6).

All functions take time (F,) and values (F, c); `run` spreads columns over threads (System.run).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels import splines

Array = NDArray[np.float64]
Run = Callable[[int, Callable[[int, int], object]], None]
Note = Callable[[str], None]

UNIFORM = 2.220446049250313e-16  # s: OpenSim resamples when mean and smallest step differ by more
MOST_RESAMPLED = 100_000  # steps; OpenSim resamples longer records coarsely
SAME_STEP = 1e-4  # relative: steps that differ by less are rounded time stamps of a uniform recording
UNEVEN = 1.5  # times the usual step: more than rounded time stamps can be
FEWEST_TO_FILTER = 4
FEWEST_TO_DIFFERENTIATE = 6


def derivatives(time: Array, values: Array, run: Run) -> tuple[Array, Array]:
    """First and second derivative at the given times of the natural quintic spline."""
    first, second = np.empty_like(values), np.empty_like(values)
    run(values.shape[1], lambda i, j: splines.quintic_derivatives(time, values, i, j, first, second))
    return first, second


def resampled(time: Array, values: Array, at: Array, run: Run) -> Array:
    """Values of the natural quintic spline at increasing times inside the data."""
    first, second = derivatives(time, values, run)
    out = np.empty((len(at), values.shape[1]))
    run(values.shape[1], lambda i, j: splines.quintic_values(time, values, first, second, at, i, j, out))
    return out


def uneven_steps(time: Array) -> list[str]:
    """A word on the longest and the shortest step of a recording that should be uniform; nothing if it is."""
    if len(time) < 3:
        return []
    step = np.diff(time)
    usual = float(np.median(step))
    longest, shortest = int(step.argmax()), int(step.argmin())
    if step[longest] < UNEVEN * usual and step[shortest] > usual / UNEVEN:
        return []
    odd = longest if step[longest] >= UNEVEN * usual else shortest
    return [f"Times are not uniform: {step[odd]:.4g} s from {time[odd]:g} to {time[odd + 1]:g} s, where {usual:.4g} s "
            "is usual. Are frames missing?"]  # fmt: skip


def padded(x: Array, count: int) -> Array:
    """`count` samples more on both sides, the record mirrored in its end points: (F + 2 count, …)."""
    return np.concatenate([2.0 * x[0] - x[count:0:-1], x, 2.0 * x[-1] - x[-2 : -2 - count : -1]]) if count else x


def butterworth(values: Array, step: float, cutoff: float, run: Run, note: Note) -> Array:
    """Third-order low-pass filter forwards and backwards over uniform samples, without correction of the cutoff."""
    if len(values) < FEWEST_TO_FILTER:
        note(f"The motion has {len(values)} rows, too few to be filtered.")
        return values
    if cutoff >= 0.5 / step:
        note(f"The cutoff of {cutoff:g} Hz is not below half the sampling rate ({0.5 / step:g} Hz); "
             f"{0.49 / step:g} Hz is used, as OpenSim does.")  # fmt: skip
        cutoff = 0.49 / step
    w = math.tan(math.pi * cutoff * step)
    d = (1.0 + w) * (1.0 + w + w * w)
    a1 = (3.0 * w**3 + 2.0 * w**2 - 2.0 * w - 3.0) / d
    a2 = (3.0 * w**3 - 2.0 * w**2 - 2.0 * w + 3.0) / d
    a3 = (w - 1.0) * (w * w - w + 1.0) / d
    out = values.copy()
    run(values.shape[1], lambda i, j: splines.butterworth_both_ways(w**3 / d, a1, a2, a3, out, i, j))
    return out


def low_pass_like_opensim(time: Array, values: Array, cutoff: float, run: Run, note: Note) -> tuple[Array, Array]:
    """Padded by half a record on both sides, resampled at the smallest step unless perfectly uniform, then filtered.

    The result has other times than the record, the padding included.
    """
    count = len(time) // 2
    t, x = padded(time, count), padded(values, count)
    if len(t) < 2:
        return t, x
    span, step = float(t[-1] - t[0]), float(np.diff(t).min())
    if span / (len(t) - 1) - step > UNIFORM:
        if span / step > MOST_RESAMPLED:
            note(f"OpenSim resamples this long record every {span / MOST_RESAMPLED:.4g} s instead of {step:.4g} s "
                 "before it filters, which loses detail; it is done here, too. --exact (like_opensim=False) does not.")
            step = span / MOST_RESAMPLED
        at = _times(float(t[0]), float(t[-1]), step)
        if len(t) >= FEWEST_TO_DIFFERENTIATE:
            t, x = at, resampled(t, x, at, run)
    return t, butterworth(x, step, cutoff, run, note)


def low_pass(time: Array, values: Array, cutoff: float, run: Run, note: Note) -> Array:
    """The same filter on the mean step, the result at the times given: no padding remains, no detail is lost."""
    count = len(time) // 2
    t, x = padded(time, count), padded(values, count)
    step = float(t[-1] - t[0]) / (len(t) - 1)
    if np.abs(np.diff(t) - step).max() <= SAME_STEP * step:
        return butterworth(x, step, cutoff, run, note)[count : count + len(time)]
    uniform = np.linspace(t[0], t[-1], len(t))
    return resampled(uniform, butterworth(resampled(t, x, uniform, run), step, cutoff, run, note), time, run)


def _times(start: float, end: float, step: float) -> Array:
    """start, start + step … up to the end, one addition after another: OpenSim's rounding decides the last one."""
    at = np.full(int((end - start) / step) + 3, step)
    at[0] = start
    at = np.cumsum(at)
    return at[at <= end]


def interpolated(time: Array, values: Array, at: Array) -> Array:
    """Values of external loads at increasing times: natural cubic spline, straight lines for two or three rows."""
    if len(time) == 1:
        return np.repeat(values, len(at), axis=0)
    out = np.empty((len(at), values.shape[1]))
    if len(time) < 4:
        i = np.clip(np.searchsorted(time, at, "right") - 1, 0, len(time) - 2)
        share = ((at - time[i]) / (time[i + 1] - time[i]))[:, None]
        return values[i] + share * (values[i + 1] - values[i])
    slopes = np.empty_like(values)
    splines.cubic_slopes(time, values, 0, values.shape[1], slopes)
    splines.cubic_values(time, values, slopes, at, 0, values.shape[1], out)
    return out
