"""The page: one HTML file that works without a network, with its style, script, figures and plotly.js inside.

    Findings --page--> index.html      report.html.j2, report.css, report.js beside this file
"""

from __future__ import annotations

import importlib.util
import json
from datetime import datetime, timezone
from importlib.resources import files
from typing import Any

from osim_inertia.report import words
from osim_inertia.report.collect import Findings
from osim_inertia.report.comparison import LIMIT
from osim_inertia.report.curves import most_changed
from osim_inertia.report.figures import MOST_MUSCLES, all_figures, palette
from osim_inertia.report.numbers import number, percent, power, seconds

HOW_TO_GET = "pip install 'osim-inertia[report]'"
LABELS = {"percents": "percent muscle", "lowpass_hz": "low-pass (Hz)", "time_range_s": "time range (s)",
          "like_opensim": "numbers as OpenSim's"}  # fmt: skip
FEW_ROWS = 14  # of a table that is shown without being unfolded


def can_draw() -> bool:
    """Whether plotly and jinja2 are installed; they are not imported."""
    return all(importlib.util.find_spec(name) is not None for name in ("plotly", "jinja2"))


def page(findings: Findings, view: str = "") -> str:
    """The whole page as text; `view` is the 3-D view, if there is one."""
    import jinja2
    from markupsafe import Markup

    here = files("osim_inertia.report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                     undefined=jinja2.StrictUndefined)  # fmt: skip
    environment.filters |= {"number": number, "power": power, "percent": percent, "seconds": seconds}
    template = environment.from_string(here.joinpath("report.html.j2").read_text(encoding="utf-8"))
    text = template.render(
        style=Markup(here.joinpath("report.css").read_text(encoding="utf-8")),
        script=Markup(here.joinpath("report.js").read_text(encoding="utf-8")),
        plotly=Markup(plotly_js()),
        data=Markup(_data(findings)),
        view=Markup(view),
        **context(findings),
    )
    return text


def plotly_js() -> str:
    """The drawing library, as plotly's package has it."""
    text = files("plotly").joinpath("package_data/plotly.min.js").read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")


def _data(findings: Findings) -> str:
    """Figures and colours for the script; no text in it can end the script element."""
    percents = findings.percents
    data = {"percents": list(percents), "palette": palette(percents), "figures": all_figures(findings)}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


# ---- what the template shows ----------------------------------------------------------------------------------------
def context(findings: Findings) -> dict[str, Any]:
    """Everything the template names."""
    ranking = findings.ranking
    colours = palette(findings.percents)
    return {
        "findings": findings,
        "request": findings.request,
        "title": findings.request.title or f"Muscle mass and joint moments: {findings.model.name}",
        "about": findings.request.about or _about(findings),
        "made": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "sentences": words.sentences(findings),
        "warnings": [*words.peaks(findings), *findings.notes],
        "cards": cards(findings),
        "chips": list(zip(findings.percents, colours["light"], colours["dark"])),
        "compared": [curve.coordinate for curve in findings.curves if curve.opensim is not None],
        "limit": LIMIT,
        "speed": words.speed(findings),
        "versions": words.versions(findings),
        "settings": settings(findings),
        "inputs": findings.request.input_files(),
        "unsupported": words.unsupported(findings),
        "ranks": [] if ranking is None else ranks(findings),
        "most_muscles": MOST_MUSCLES,
        "few_rows": FEW_ROWS,
    }


def _about(findings: Findings) -> str:
    request, time = findings.request, findings.forces[0].time
    start, end = (abs(value) if abs(value) < 0.005 else value for value in (time[0], time[-1]))  # no -0.00
    return f"{request.model.name} · {request.source.name} · {start:.2f} to {end:.2f} s"


def cards(findings: Findings) -> list[dict[str, str]]:
    """The key figures."""
    found = []
    error = findings.largest_error
    if error is None:
        found.append({"what": "difference from OpenSim", "value": "–", "more": "OpenSim's tool was not run"})
    else:
        found.append({"what": "difference from OpenSim at 0 %", "value": power(error),
                      "more": f"largest relative RMS of {len(findings.errors)} moments and forces"})
    if findings.transfer is not None:
        curve = most_changed(findings.curves)
        change, share = curve.change(findings.most)
        where = "in swing" if curve.strides else "over the trial"
        found.append({"what": f"largest change with {findings.most} % muscle", "value": percent(share),
                      "more": f"{curve.coordinate} {where}, {number(change)} {curve.unit}"})
        found.append({"what": "mass moved to muscles", "value": f"{findings.transfer['muscle_mass_kg']:.2f} kg",
                      "more": f"of {findings.transfer['mass_kg']:.2f} kg"})
    sources = " / ".join(sorted({item.source for item in findings.strides}))
    found.append({"what": "whole strides", "value": words.stride_count(findings),
                  "more": f"found from {sources}" if sources else "not gait: curves over time"})
    ours, opensim = words.speed(findings)[0]["total_s"], findings.opensim
    more = f"OpenSim: {seconds(opensim.seconds)} s" if opensim else f"{len(findings.forces[0])} rows"
    found.append({"what": "inverse dynamics at 0 %", "value": f"{seconds(ours)} s", "more": more})
    return found


def ranks(findings: Findings) -> list[dict[str, Any]]:
    """The most important muscles, with the coordinate each changes most."""
    found = findings.ranking
    assert found is not None
    counted = [found.coordinates.index(name) for name in found.counted]
    rows = []
    for k, name in enumerate(found.muscles[:MOST_MUSCLES]):
        best = max(counted, key=lambda c: found.change[k, c])
        rows.append({"muscle": name, "kg": found.kg[k], "share": found.share[k], "coordinate": found.coordinates[best],
                     "change": found.change[k, best], "unit": found.units[best]})  # fmt: skip
    return rows


def settings(findings: Findings) -> dict[str, str]:
    """What was asked for, in words; the time range as it came out."""
    time = findings.forces[0].time
    found = findings.request.settings() | {"time_range_s": f"{time[0]:g} to {time[-1]:g}"}
    return {LABELS.get(name, name.replace("_", " ")): _setting(value) for name, value in found.items()}


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {item}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
