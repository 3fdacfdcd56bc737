"""The page as text: complete, without a network, and safe with any names."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from reports import leg_request

from osim_inertia import opensim_bridge
from osim_inertia.opensim_bridge import ToolRun
from osim_inertia.report.collect import collect
from osim_inertia.report.comparison import compare
from osim_inertia.report.figures import DARK, LIGHT, palette
from osim_inertia.report.page import page

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'osim-inertia[report]'")
pytest.importorskip("jinja2", reason="jinja2 is not installed: pip install 'osim-inertia[report]'")


def figures(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1))


def body(text: str) -> str:
    """What is read, without scripts and styles."""
    return re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)


def test_it_asks_for_nothing_from_outside_and_has_all_parts(leg_report):
    text = (leg_report[1] / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=[\"'](https?:)?//", text)
    assert len(text) < 15e6
    for part in ("curves", "view", "opensim", "muscles", "masses", "strides", "speed", "notes", "provenance"):
        assert f'<section id="{part}"' in text
    assert text.count("plotly.js v") == 1  # the library is there once


def test_every_number_of_the_families_is_in_the_page(leg_report):
    findings, folder = leg_report
    data = figures((folder / "index.html").read_text(encoding="utf-8"))
    assert data["percents"] == [0, 20, 40, 60, 80]
    for curve in findings.curves:
        family = data["figures"][f"family-{curve.coordinate}"]
        lines = {t["meta"]["percent"]: t for t in family["stride"]["data"] if t["meta"]["role"] == "curve"}
        bands = {t["meta"]["percent"]: t for t in family["stride"]["data"] if t["meta"]["role"] == "band"}
        for p in findings.percents:
            np.testing.assert_allclose(lines[p]["y"], curve.mean(p), rtol=1e-4, atol=1e-9)
            width = np.array(bands[p]["y"][:101]) - np.array(bands[p]["y"][:100:-1])
            np.testing.assert_allclose(width, 2.0 * curve.deviation(p), atol=1e-3 * np.abs(curve.mean(p)).max())
        assert family["stride"]["layout"]["shapes"][0]["x0"] == findings.strides[0].toe_off
        assert len(family["time"]["data"]) == 5


def test_without_opensim_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(opensim_bridge, "is_installed", lambda: False)
    findings = collect(leg_request(opensim=True, percents=(0, 80), rank=False), tmp_path)
    text = body(page(findings))
    assert opensim_bridge.HOW_TO_GET.replace("'", "&#39;") in text
    assert "OpenSim&#39;s tool was not run" in text
    assert "Agrees" not in text


def test_agreement_and_disagreement_are_told(leg_report):
    findings = leg_report[0]
    ours = findings.forces[0]
    for factor, said in ((1.0 + 1e-9, "Agrees."), (1.001, "Does not agree.")):
        theirs = ours.with_values(ours.values * factor)
        curves = tuple(replace(curve, opensim=theirs.column(curve.column)) for curve in findings.curves)
        told = replace(findings, opensim=ToolRun(theirs, 1.5, "4.6"), errors=compare(ours, theirs), curves=curves)
        text = page(told)
        assert said in body(text)
        assert text.count('<option>ankle_angle_r</option>') == 1
        assert figures(text)["figures"]["compare-ankle_angle_r"]["data"][2]["name"] == "ours − OpenSim"


def test_names_from_files_cannot_become_markup(leg_report):
    findings = leg_report[0]
    evil = "</script><script>alert(1)</script>"
    curve = replace(findings.curves[0], coordinate=evil)
    model = replace(findings.model, name=evil)
    text = page(replace(findings, curves=(curve,), model=model, notes=(evil,)))
    assert "<script>alert" not in text


def test_without_strides_curves_go_over_time_and_the_page_says_so(leg_report):
    findings = leg_report[0]
    curves = tuple(replace(curve, strides=None) for curve in findings.curves)
    text = page(replace(findings, strides=(), curves=curves))
    assert "No whole stride was found" in body(text)
    assert 'name="over"' not in body(text)
    assert "stride" not in figures(text)["figures"]["family-ankle_angle_r"]


def test_colours_go_from_dark_blue_to_dark_red():
    assert palette([0, 40, 80])["light"] == [LIGHT[0], LIGHT[2], LIGHT[4]]
    assert palette([0, 20, 40, 60, 80])["dark"] == list(DARK)
    assert palette([0])["light"] == [LIGHT[0]]
