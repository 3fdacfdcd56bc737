"""Figures of a report as plain data for plotly.js: no Python plotting library is needed to make them.

A trace says in `meta` what it is (curve, band, opensim, …) and of which percent; the page's script gives it the colour
of the light or dark theme, and brings out the percent that the slider points at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from osim_inertia.report.collect import Findings
from osim_inertia.report.curves import STEPS, Curve

Figure = dict[str, Any]
DIGITS = 5  # significant, of what is drawn; the files beside the page have all
TALL, PER_MUSCLE, MOST_MUSCLES = 300, 22, 20
# From dark blue (no muscle mass) to dark red, as in the dissertation; lighter on a dark page.
LIGHT = ("#08306b", "#2b83ba", "#4d9d52", "#e07b1a", "#b2182b")
DARK = ("#7aa8ff", "#4fc3d9", "#83d68a", "#ffb454", "#ff7a70")
MARGIN = {"l": 58, "r": 12, "t": 8, "b": 44}


def palette(percents: Sequence[int]) -> dict[str, list[str]]:
    """Colours by theme, one per percent."""
    most = max(percents) or 1
    return {theme: [_blend(stops, percent / most) for percent in percents]
            for theme, stops in (("light", LIGHT), ("dark", DARK))}  # fmt: skip


def _blend(stops: Sequence[str], share: float) -> str:
    at = share * (len(stops) - 1)
    low = min(int(at), len(stops) - 2)
    a, b = (np.array([int(stop[i : i + 2], 16) for i in (1, 3, 5)]) for stop in stops[low : low + 2])
    return "#" + "".join(f"{value:02x}" for value in np.rint(a + (at - low) * (b - a)).astype(int))


def numbers(values: ArrayLike) -> list[float]:
    """Rounded to a few significant digits."""
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values, dtype=float)]


def all_figures(findings: Findings) -> dict[str, Any]:
    """Figures by the id of the element they go to."""
    figures: dict[str, Any] = {}
    for curve in findings.curves:
        views = {"time": over_time(curve)}
        if curve.strides is not None:
            views["stride"] = over_stride(curve)
            views["swing"] = swing_window(curve)
        figures[f"family-{curve.coordinate}"] = views
        if curve.opensim is not None:
            figures[f"compare-{curve.coordinate}"] = against_opensim(curve)
    if findings.ranking is not None:
        figures["ranking"] = ranking(findings)
    return figures


# ---- families of curves ---------------------------------------------------------------------------------------------
def over_stride(curve: Curve) -> Figure:
    """Mean over the strides by percent, the band of one standard deviation, and swing."""
    at = numbers(np.linspace(0.0, 100.0, STEPS))
    assert curve.strides is not None
    traces = []
    for percent in curve.forces:
        mean, deviation = curve.mean(percent), curve.deviation(percent)
        if deviation is not None:
            edge = numbers(np.concatenate([mean + deviation, (mean - deviation)[::-1]]))
            traces.append({"type": "scatter", "x": at + at[::-1], "y": edge, "fill": "toself", "mode": "none",
                           "hoverinfo": "skip", "meta": {"role": "band", "percent": percent}})
    traces += [_line(at, curve.mean(percent), f"{percent} %", "curve", percent) for percent in curve.forces]
    theirs = curve.opensim_mean()
    if theirs is not None:
        traces.append(_line(at, theirs, "OpenSim", "opensim"))
    layout = _layout("stride (%)", _axis(curve), [0.0, 100.0])
    layout["shapes"] = [_shade(curve.strides.toe_off, 100.0)]
    layout["annotations"] = [{"text": "swing", "x": curve.strides.toe_off, "y": 1.0, "yref": "paper", "xshift": 4,
                              "xanchor": "left", "yanchor": "top", "showarrow": False, "font": {"size": 11}}]
    return {"data": traces, "layout": layout}


def swing_window(curve: Curve) -> dict[str, list[float]]:
    """The part of the figure over the stride that shows swing alone: ranges of both axes."""
    assert curve.strides is not None
    low, high = np.inf, -np.inf
    for percent, mean in curve.counted().items():
        deviation = curve.deviation(percent)
        spread = np.zeros_like(mean) if deviation is None else deviation[-len(mean) :]
        low, high = min(low, float((mean - spread).min())), max(high, float((mean + spread).max()))
    room = 0.08 * (high - low)
    return {"x": [float(curve.strides.toe_off), 100.0], "y": numbers([low - room, high + room])}


def over_time(curve: Curve) -> Figure:
    """The whole trial by percent, with all swing phases of the foot."""
    at = numbers(curve.time)
    traces = [_line(at, values, f"{percent} %", "curve", percent) for percent, values in curve.forces.items()]
    if curve.opensim is not None:
        traces.append(_line(at, curve.opensim, "OpenSim", "opensim"))
    layout = _layout("time (s)", _axis(curve), [at[0], at[-1]])
    layout["shapes"] = [_shade(a, b) for a, b in (curve.strides.swings if curve.strides else ())]
    return {"data": traces, "layout": layout}


def _line(x: list[float], y: ArrayLike, name: str, role: str, percent: int | None = None) -> dict[str, Any]:
    line: dict[str, Any] = {"width": 2}
    if role == "opensim":
        line["dash"] = "dot"
    return {"type": "scatter", "mode": "lines", "x": x, "y": numbers(y), "name": name, "line": line,
            "meta": {"role": role, "percent": percent}}


def _axis(curve: Curve) -> str:
    return f"{'moment' if curve.unit == 'N m' else 'force'} ({curve.unit})"


def _shade(start: float, end: float) -> dict[str, Any]:
    return {"type": "rect", "xref": "x", "yref": "paper", "x0": float(start), "x1": float(end), "y0": 0, "y1": 1,
            "line": {"width": 0}, "fillcolor": "rgba(120,150,180,0.16)", "layer": "below"}


def _layout(x: str, y: str, span: Sequence[float]) -> dict[str, Any]:
    return {
        "height": TALL,
        "margin": MARGIN,
        "showlegend": False,
        "hovermode": "x unified",
        "xaxis": {"title": {"text": x, "standoff": 8}, "range": list(span), "zeroline": False},
        "yaxis": {"title": {"text": y, "standoff": 6}, "zeroline": True},
    }


# ---- OpenSim beside ours, and muscles -------------------------------------------------------------------------------
def against_opensim(curve: Curve) -> Figure:
    """Ours at 0 % and OpenSim's over the trial, and below it the difference."""
    assert curve.opensim is not None
    at = numbers(curve.time)
    difference = _line(at, curve.forces[0] - curve.opensim, "ours − OpenSim", "difference") | {"yaxis": "y2"}
    layout = _layout("time (s)", _axis(curve), [at[0], at[-1]])
    layout |= {"height": 380, "showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
    layout["margin"] = {**MARGIN, "l": 74, "t": 30}
    layout["yaxis"]["domain"] = [0.42, 1.0]
    layout["yaxis2"] = {"domain": [0.0, 0.3], "title": {"text": f"difference ({curve.unit})", "standoff": 6},
                        "exponentformat": "e", "anchor": "x"}  # fmt: skip
    layout["xaxis"]["anchor"] = "y2"
    traces = [_line(at, curve.forces[0], "ours, 0 % muscle", "ours"), _line(at, curve.opensim, "OpenSim", "opensim")]
    return {"data": [*traces, difference], "layout": layout}


def ranking(findings: Findings) -> Figure:
    """The muscles that change most, as bars, the most important on top."""
    found = findings.ranking
    assert found is not None
    count = min(MOST_MUSCLES, len(found.muscles))
    shares = numbers(100.0 * found.share[:count])
    bars = {"type": "bar", "orientation": "h", "y": list(found.muscles[:count]), "x": shares,
            "customdata": [f"{kg:.3f}" for kg in found.kg[:count]], "meta": {"role": "bars"},
            "hovertemplate": "%{y}: %{x:.1f} %, %{customdata} kg<extra></extra>"}  # fmt: skip
    layout = _layout("share of the summed change (%)", "", [0.0, 1.08 * max(shares, default=1.0)])
    layout |= {"height": 70 + PER_MUSCLE * count, "hovermode": "closest", "margin": {**MARGIN, "l": 110}}
    layout["yaxis"] |= {"autorange": "reversed", "ticks": "", "automargin": True}
    return {"data": [bars], "layout": layout}
