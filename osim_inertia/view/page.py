"""A scene as one HTML file that works without a network, or as a piece of another page.

    Scene --page--> .html
             ^ here
Numbers travel as base64: poses as 32-bit floats, points as 16-bit steps of the box that holds them (a tenth of a
millimetre over six metres). The viewer itself is in the .js files and viewer.css beside this module.
"""

from __future__ import annotations

import base64
import html
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import osim_inertia
from osim_inertia.view.scene import Scene, Solid

HERE = Path(__file__).resolve().parent
SCRIPTS = ("viewer_math.js", "viewer_scene.js", "viewer_camera.js", "viewer_gl.js", "viewer.js")
STEPS = 65535  # of a 16-bit number
MOST_SHORT = 65536  # vertices that 16-bit triangles can name
MOST_POINTS = 255  # of a path in a frame
SPEEDS = ("0.1", "0.25", "0.5", "1", "2")
PAGE_STYLE = """
html, body { margin: 0; height: 100%; }
body { display: flex; flex-direction: column; background: #fff; color: #1d2733; font: 15px/1.45 system-ui, sans-serif;
  color-scheme: light dark; }
header { padding: .6rem 1rem .4rem; } h1 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
header p { margin: 0; color: #5b6673; font-size: .85rem; } details { font-size: .85rem; margin: .2rem 0 0; }
summary { cursor: pointer; } ul { margin: .2rem 0 0; padding-left: 1.2rem; }
body > .oiv { flex: 1 1 auto; height: auto; border-width: 1px 0 0; border-radius: 0; }
body > .oiv canvas { touch-action: none; }
@media (prefers-color-scheme: dark) { body { background: #1b2129; color: #e6ebf0; } header p { color: #9aa7b4; } }
@media print { body { display: block; } }
"""


def page(scene: Scene) -> str:
    """The whole page as text."""
    frames = len(scene.time)
    about = f"{_counted(len(scene.bodies), 'body', 'bodies')}, {_counted(len(scene.lines), 'path')}"
    if frames > 1:
        about += f", {frames} frames from {scene.time[0]:g} to {scene.time[-1]:g} s"
    mass = sum(line.mass for line in scene.lines)
    if mass:
        about += f"; {mass:.3g} kg in the muscles: the red bellies, thicker the heavier"
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in scene.notes)
    if notes:
        notes = f"<details><summary>{_counted(len(scene.notes), 'note')}</summary><ul>{notes}</ul></details>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'  # else the browser asks for one
        f'<meta name="generator" content="osim-inertia {osim_inertia.__version__}">'
        f"<title>{html.escape(scene.title)}: 3-D view</title><style>{PAGE_STYLE}</style></head><body>\n"
        f"<header><h1>{html.escape(scene.title)}</h1><p>{html.escape(about)}</p>{notes}</header>\n"
        f"{fragment(scene, div_id='view')}\n</body></html>\n"
    )


def fragment(scene: Scene, *, div_id: str) -> str:
    """The viewer as a piece of a page: style, controls, data and script, once for each `div_id`."""
    name = html.escape(div_id, quote=True)
    data = json.dumps(_data(scene), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f"<style>{_file('viewer.css')}</style>\n{_controls(name)}\n"
        f'<script type="application/json" id="{name}-data">{data}</script>\n'
        f"<script>(() => {{\n'use strict';\n{_script()}startViewer({json.dumps(div_id)});\n}})();</script>"
    )


def _controls(name: str) -> str:
    speeds = "".join(f'<option value="{s}"{" selected" if s == "1" else ""}>{s}×</option>' for s in SPEEDS)
    return (
        f'<div class="oiv" id="{name}"><div class="oiv-stage"><canvas tabindex="0" role="application"></canvas>'
        '<div class="oiv-corner"><button type="button" class="oiv-reset" title="Whole view (Home)" '
        'aria-label="Whole view">⤢</button><button type="button" class="oiv-help" aria-label="Help" title="Help" '
        'aria-expanded="false">?</button></div><p class="oiv-manual" hidden></p>'
        '<div class="oiv-tip" role="status" hidden></div></div>'
        '<div class="oiv-bar"><div class="oiv-player">'
        '<button type="button" class="oiv-back" aria-label="One frame back" title="One frame back">‹</button>'
        '<button type="button" class="oiv-play" aria-label="Play">▶</button>'
        '<button type="button" class="oiv-next" aria-label="One frame on" title="One frame on">›</button>'
        '<input type="range" class="oiv-time" min="0" max="0" value="0" step="1" aria-label="Time">'
        f'<span class="oiv-clock"></span><select class="oiv-speed" aria-label="Speed">{speeds}</select></div>'
        '<div class="oiv-switches"></div></div>'
        '<p class="oiv-trouble" hidden>The 3-D view needs WebGL 2, which this browser does not offer: it is switched '
        "off, or too old. Current versions of Firefox, Chrome, Edge and Safari have it.</p>"
        '<img class="oiv-print" alt=""></div>'
    )


@cache
def _file(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    return "".join(_file(name) for name in SCRIPTS)


# ---- data -----------------------------------------------------------------------------------------------------------
def _data(scene: Scene) -> dict[str, Any]:
    frames, bodies = scene.poses.shape[:2]
    poses = np.empty((frames, bodies, 7), dtype=np.float32)
    poses[..., :3] = scene.poses[..., :3, 3]
    turned = Rotation.from_matrix(scene.poses[..., :3, :3].reshape(-1, 3, 3))
    poses[..., 3:] = turned.as_quat().reshape(frames, bodies, 4)
    if scene.counts.max(initial=0) > MOST_POINTS:
        raise ValueError(f"A path has {scene.counts.max()} points in one frame; expected at most {MOST_POINTS}.")
    return {
        "title": scene.title,
        "up": scene.up.tolist(),
        "time": _packed(scene.time.astype(np.float32)),
        "bodies": list(scene.bodies),
        "poses": _packed(poses),
        "solids": [_solid(solid) for solid in scene.solids],
        "lines": [{"name": line.name, "kind": line.kind, "mass": line.mass, "belly": line.belly,
                   "tendons": line.tendons} for line in scene.lines],
        "counts": _packed(scene.counts.astype(np.uint8)),
        "points": _quantised(scene.points),
        "markers": [{"name": name, "body": body, "at": at.tolist()} for name, body, at in scene.markers],
    }  # fmt: skip


def _solid(solid: Solid) -> dict[str, Any]:
    wide = len(solid.surface.vertices) > MOST_SHORT
    triangles = solid.surface.triangles.astype(np.uint32 if wide else np.uint16)
    return {"name": solid.name, "kind": solid.kind, "body": solid.body, "wide": wide,
            "vertices": _quantised(solid.surface.vertices), "triangles": _packed(triangles)}


def _quantised(points: NDArray[np.float64]) -> dict[str, Any]:
    """Points (n, 3) as steps from `low`, STEPS of them to `low + size`."""
    low = points.min(axis=0) if len(points) else np.zeros(3)
    size = np.ptp(points, axis=0) if len(points) else np.zeros(3)
    steps = np.rint((points - low) / np.where(size > 0.0, size, 1.0) * STEPS)
    return {"low": low.tolist(), "size": size.tolist(), "data": _packed(steps.astype(np.uint16))}


def _packed(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _counted(number: int, word: str, words: str = "") -> str:
    return f"{number} {word if number == 1 else words or word + 's'}"
