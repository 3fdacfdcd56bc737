"""The page in a real browser: no errors, the slider and switches work, dark and narrow, and it prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import open_page

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'osim-inertia[report]'")
FAMILY = "#family-ankle_angle_r"
READY = "() => document.querySelector('main').getAttribute('aria-busy') === 'false'"
# What is drawn: per trace of the figure its role, percent, width, visibility and colour.
TRACES = f"""() => document.querySelector('{FAMILY}').data.map(t => ({{role: t.meta.role, percent: t.meta.percent,
    width: t.line.width, visible: t.visible !== false, colour: t.line.color}}))"""
RANGE = f"() => document.querySelector('{FAMILY}')._fullLayout.xaxis.range"


@pytest.fixture(scope="module")
def page_file(leg_report) -> Path:
    return leg_report[1] / "index.html"


def highlighted(page) -> list[int]:
    traces = page.evaluate(TRACES)
    widest = max(t["width"] for t in traces if t["role"] == "curve")
    bands = [t["percent"] for t in traces if t["role"] == "band" and t["visible"]]
    bold = [t["percent"] for t in traces if t["role"] == "curve" and t["width"] == widest]
    assert bands == bold
    return bold


def settle(page) -> None:
    """Wait until every figure is drawn as asked for; the page hears of a new theme with the next picture only."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function(READY)


def test_the_slider_brings_out_one_share_by_mouse_keyboard_and_legend(page_file):
    with open_page(page_file) as page:
        settle(page)
        assert highlighted(page) == [80]
        page.focus("#percent")
        page.keyboard.press("Home")
        settle(page)
        assert highlighted(page) == [0]
        assert page.inner_text("#shown") == "0 %"
        page.keyboard.press("ArrowRight")
        settle(page)
        assert highlighted(page) == [20]
        assert page.get_attribute("#percent", "aria-valuetext") == "20 % muscle"
        page.click("button.chip >> text='60 %'")
        settle(page)
        assert highlighted(page) == [60]
        assert page.input_value("#percent") == "3"
        assert page.get_attribute("button.chip >> text='60 %'", "aria-pressed") == "true"
        assert page.errors == []


def test_swing_whole_stride_and_whole_trial(page_file):
    with open_page(page_file) as page:
        settle(page)
        start, end = page.evaluate(RANGE)
        assert 25.0 < start < 40.0
        assert end == 100.0
        page.check("input[value=stride]")
        settle(page)
        assert page.evaluate(RANGE) == [0, 100]
        page.check("input[value=time]")
        settle(page)
        assert page.evaluate(RANGE) == pytest.approx([0.1, 2.3], abs=0.02)
        assert page.errors == []


def test_it_follows_the_theme_also_when_it_changes(page_file):
    with open_page(page_file) as page:
        settle(page)
        light = [t["colour"] for t in page.evaluate(TRACES) if t["role"] == "curve"]
        paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        page.emulate_media(color_scheme="dark")
        settle(page)
        dark = [t["colour"] for t in page.evaluate(TRACES) if t["role"] == "curve"]
        assert paper == "rgb(255, 255, 255)"
        assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != paper
        assert not set(light) & set(dark)
        assert page.errors == []


@pytest.mark.parametrize("width", [360, 768, 1700])
def test_it_fits_narrow_and_wide_windows(page_file, width):
    with open_page(page_file, width=width, dark=width == 360) as page:
        settle(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        figure = page.eval_on_selector(FAMILY, "e => e.getBoundingClientRect().width")
        drawn = page.eval_on_selector(f"{FAMILY} .main-svg", "e => e.getBoundingClientRect().width")
        assert 0.95 * figure <= drawn <= figure + 1.0
        assert page.errors == []


def test_paper_is_light_has_all_curves_and_no_controls(page_file, tmp_path):
    with open_page(page_file, dark=True) as page:
        settle(page)
        page.emulate_media(media="print", color_scheme="dark")
        page.wait_for_selector("html.paper")  # the page hears of it a picture later
        settle(page)
        curves = [t for t in page.evaluate(TRACES) if t["role"] == "curve"]
        assert len({t["width"] for t in curves}) == 1
        assert curves[0]["colour"] == "#08306b"
        assert not page.is_visible("#percent")
        assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("() => [...document.querySelectorAll('details')].every(fold => fold.open)")
        page.emulate_media(media="screen", color_scheme="dark")
        page.wait_for_selector("html:not(.paper)")
        settle(page)
        assert highlighted(page) == [80]
        file = tmp_path / "report.pdf"
        page.pdf(path=str(file), prefer_css_page_size=True, print_background=True)
        assert 2 <= file.read_bytes().count(b"/Type /Page\n") <= 12
        assert page.errors == []


def test_every_control_and_figure_has_a_name(page_file):
    with open_page(page_file) as page:
        settle(page)
        nameless = page.evaluate("""() => [...document.querySelectorAll('input, select, button, [role=img]')]
            .filter(e => !e.closest('.modebar') && !(e.labels && e.labels.length) && !e.getAttribute('aria-label')
            && !e.title && !e.textContent.trim()).map(e => e.outerHTML)""")
        assert nameless == []
        assert page.evaluate("() => document.querySelectorAll('h1').length") == 1


def test_the_motion_plays(page_file):
    with open_page(page_file) as page:
        settle(page)
        page.wait_for_selector("#motion canvas")
        assert int(page.get_attribute("#motion .oiv-time", "max")) > 100
        assert page.errors == []
