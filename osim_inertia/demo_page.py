"""The demonstration as one HTML file that works without a network: plotly.js is inside it.

    Demo --demo_page--> osim-inertia-demo/index.html
"""

from __future__ import annotations

import html
import importlib.util
from typing import Any

import numpy as np

import osim_inertia
from osim_inertia.demo import JOINTS, PERCENTS, POSITIVE, SPEED, STEPS, Demo, summary

HOW_TO_GET = "pip install 'osim-inertia[report]'"
COLOURS = {0: "#08306b", 20: "#2b83ba", 40: "#5aae61", 60: "#f08a24", 80: "#b2182b"}  # blue … red, as in the papers
OPENSIM_COLOUR = "#888888"
STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --paper: #ffffff; --soft: #5b6673; --line: #dde3ea; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --paper: #14191f; --soft: #9aa7b4; --line: #2c3641; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 2rem 0 0; }
.lead { color: var(--soft); margin-top: 0; } li { margin: .35rem 0; }
table { border-collapse: collapse; margin-top: .6rem; } td, th { padding: .25rem .9rem .25rem 0; text-align: right;
border-bottom: 1px solid var(--line); } td:first-child, th:first-child { text-align: left; }
footer { color: var(--soft); font-size: .85rem; margin-top: 2rem; }
"""
# Plots follow the page's colours, also when the system turns dark or light later.
SCRIPT = """
const dark = matchMedia('(prefers-color-scheme: dark)');
function ink() {
  const style = getComputedStyle(document.documentElement);
  const text = style.getPropertyValue('--ink').trim(), line = style.getPropertyValue('--line').trim();
  for (const plot of document.querySelectorAll('.js-plotly-plot')) Plotly.relayout(plot, {'font.color': text,
    'xaxis.gridcolor': line, 'yaxis.gridcolor': line, 'xaxis.zerolinecolor': line, 'yaxis.zerolinecolor': line});
}
dark.addEventListener('change', ink);
ink();
"""


def can_draw() -> bool:
    """Whether plotly is installed; it is not imported."""
    return importlib.util.find_spec("plotly") is not None


def page(demo: Demo) -> str:
    """The whole page as text."""
    parts = [_figure(demo, joint, first=i == 0) for i, joint in enumerate(JOINTS)]
    points = "".join(f"<li>{html.escape(line)}</li>\n" for line in [*summary(demo), *demo.notes])
    plots = "".join(f"<h2>{joint.capitalize()}</h2>\n{part}\n" for joint, part in zip(JOINTS, parts))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'  # else the browser asks for one
        f"<title>osim-inertia: demonstration</title><style>{STYLE}</style></head><body><main>\n"
        "<h1>What muscle mass does to joint moments</h1>\n"
        f'<p class="lead">Right leg, running at {SPEED:g} km/h: inverse dynamics with 0 to {PERCENTS[-1]} % of the '
        f"shank's mass moved to its four muscles.</p>\n<ul>\n{points}</ul>\n{_changes(demo)}\n{plots}"
        f"<footer>osim-inertia {osim_inertia.__version__}. The trial is synthetic, drawn from what is published of "
        "running; the model's README names the sources.</footer>\n"
        f"</main><script>{SCRIPT}</script></body></html>\n"
    )


def _changes(demo: Demo) -> str:
    """Largest change in swing by joint and share of mass, as a table."""
    head = "".join(f"<th>{percent} %</th>" for percent in PERCENTS[1:])
    rows = "".join(
        f"<tr><td>{joint}</td>"
        + "".join(f"<td>{100.0 * demo.largest_change(joint, percent):.1f} %</td>" for percent in PERCENTS[1:])
        + "</tr>\n"
        for joint in JOINTS
    )
    return ("<h2>Largest change of the moment in swing</h2>\n<table><thead><tr>"
            f"<th>share of the shank that is muscle</th>{head}</tr></thead>\n<tbody>{rows}</tbody></table>")


def _figure(demo: Demo, joint: str, first: bool) -> str:
    """One joint's family of curves; the first figure brings plotly.js along."""
    import plotly.graph_objects as go  # type: ignore[import-not-found, import-untyped, unused-ignore]

    stride = np.linspace(0.0, 100.0, STEPS).tolist()
    figure: Any = go.Figure()
    for percent in PERCENTS:
        curve = demo.curve(demo.forces[percent], joint)
        figure.add_scatter(x=stride, y=curve.round(4).tolist(), name=f"{percent} % muscle", mode="lines",
                           line={"color": COLOURS[percent], "width": 2})  # fmt: skip
    if demo.opensim is not None:
        figure.add_scatter(x=stride, y=demo.curve(demo.opensim, joint).round(4).tolist(), name="OpenSim", mode="lines",
                           line={"color": OPENSIM_COLOUR, "width": 2, "dash": "dot"})  # fmt: skip
    figure.add_vrect(x0=demo.toe_off, x1=100.0, fillcolor="#7f9fbf", opacity=0.15, line_width=0,
                     annotation_text="swing", annotation_position="top left")  # fmt: skip
    figure.update_layout(
        height=380, margin={"l": 60, "r": 10, "t": 20, "b": 50}, hovermode="x unified",
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", legend={"orientation": "h", "y": -0.2},
        xaxis={"title": {"text": "stride (%), from foot strike to foot strike"}, "range": [0, 100]},
        yaxis={"title": {"text": f"moment (N m), {POSITIVE[joint]} positive"}, "range": _view(demo, joint)},
    )  # fmt: skip
    config = {"displaylogo": False, "responsive": True}
    return str(figure.to_html(full_html=False, include_plotlyjs=first, config=config, div_id=f"{joint}-moment"))


def _view(demo: Demo, joint: str) -> list[float]:
    """The range of moments to show: all that happens in swing, with some room."""
    swing = demo.in_swing()
    curves = np.array([demo.curve(table, joint)[swing] for table in demo.forces.values()])
    room = 0.15 * float(np.ptp(curves))
    return [float(curves.min()) - room, float(curves.max()) + room]
