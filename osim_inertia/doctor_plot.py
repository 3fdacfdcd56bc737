"""Plots of what the wrap doctor found: length and moment arm along the line it was found on. Needs plotly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from osim_inertia.doctor import Finding
from osim_inertia.doctor_lines import Line
from osim_inertia.errors import OsimInertiaError
from osim_inertia.files import atomic_writer
from osim_inertia.system import System

MOST = 30  # findings drawn
POINTS = 400  # along a line
HEIGHT = 320  # pixels of a row


def require_plotly() -> None:
    """Say how to get plotly if it is not there."""
    try:
        import plotly  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
    except ImportError:
        raise OsimInertiaError("Plots need plotly, which is not installed: "
                               'pip install "osim-inertia[report]"') from None  # fmt: skip


def write_plots(
    system: System, lines: Sequence[Line], findings: Sequence[Finding], file: Path, *, paths: str = "opensim"
) -> None:
    """One page (.html, nothing to download) with a row of two plots for each finding, the first MOST of them."""
    require_plotly()
    from plotly.graph_objects import Scatter
    from plotly.subplots import make_subplots

    drawn = list(findings[:MOST])
    titles = [title for item in drawn for title in (f"{item.path}: {item.kind} ({item.cause or item.where})", "")]
    figure = make_subplots(rows=max(len(drawn), 1), cols=2, subplot_titles=titles,
                           vertical_spacing=0.3 / max(len(drawn), 1))
    for row, item in enumerate(drawn, 1):
        line = lines[item.line]
        at = np.linspace(0.0, len(line.q) - 1.0, POINTS)
        length, arm, coordinate = _curves(system, line, at, item, paths)
        x = np.interp(at, np.arange(len(line.q)), line.values)
        here = float(np.interp(item.at, np.arange(len(line.q)), line.values))
        unit = " (s)" if line.label == "time" else ""
        for column, (values, name) in enumerate(((length, "length (m)"), (arm, f"moment arm, {coordinate} (m)")), 1):
            figure.add_trace(Scatter(x=x, y=values, mode="lines", name=name, showlegend=False), row=row, col=column)
            figure.add_vline(x=here, line_dash="dot", row=row, col=column)
            figure.update_yaxes(title_text=name, row=row, col=column)
            figure.update_xaxes(title_text=line.label + unit, row=row, col=column)
    figure.update_layout(height=HEIGHT * max(len(drawn), 1), title=f"{system.model.name}: {len(findings)} findings")
    page: Any = figure.to_html(include_plotlyjs=True, full_html=True)
    with atomic_writer(file) as out:
        out.write(page)


def _curves(system: System, line: Line, at: np.ndarray, item: Finding, paths: str) -> tuple[Any, Any, str]:
    """Length and moment arm of the path along the line, and about which coordinate."""
    q = line.poses(at)
    path = system.path_names.index(item.path)
    arms = system.moment_arms(q, paths=paths)[:, path]
    names = system.coordinate_names
    if item.coordinate:
        about = names.index(item.coordinate)
    elif line.label in names:
        about = names.index(line.label)
    else:
        about = int(np.ptp(arms, axis=0).argmax())
    return system.path_lengths(q, paths=paths)[:, path], arms[:, about], names[about]
