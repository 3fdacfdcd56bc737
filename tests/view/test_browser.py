"""The page in a real browser: it draws, plays, names what is under the pointer, and keeps quiet on the console."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import open_page

import osim_inertia as oi
from osim_inertia.view.page import fragment, page
from osim_inertia.view.scene import Scene, build_scene

LEG = Path(__file__).resolve().parents[2] / "models" / "leg11dof4musc"
VIEW = "osimInertiaViews.view"
SMALL = {"width": 640, "height": 480}  # drawing in software is slow
# Pixel (from the upper left) of a point in ground.
PIXEL = f"""(p) => {{ const v = {VIEW}, box = v.canvas.getBoundingClientRect();
  const times = (m, x) => [0, 1, 2, 3].map(i => m[i] * x[0] + m[4 + i] * x[1] + m[8 + i] * x[2] + m[12 + i] * x[3]);
  const at = times(v.camera.projection, times(v.camera.view, [...p, 1]));
  return [box.left + (at[0] / at[3] + 1) / 2 * box.width, box.top + (1 - at[1] / at[3]) / 2 * box.height]; }}"""


@pytest.fixture(scope="module")
def scene() -> Scene:
    model = oi.with_muscle_mass(oi.read_osim(LEG / "leg11dof4musc.osim"), {"tibia_r": 0.8})
    return build_scene(model, oi.read_table(LEG / "running_17kmh.mot"), every=3)


@pytest.fixture(scope="module")
def file(scene, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("view") / "view.html"
    path.write_text(page(scene), encoding="utf-8")
    return path


def picture(opened) -> np.ndarray:
    """The drawn frame (height, width, 4)."""
    size = opened.evaluate(f"[{VIEW}.canvas.height, {VIEW}.canvas.width]")
    values = opened.evaluate(f"""() => {{ const v = {VIEW}, gl = v.renderer.gl; v.drawNow();
      const p = new Uint8Array(4 * v.canvas.width * v.canvas.height);
      gl.readPixels(0, 0, v.canvas.width, v.canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, p);
      let text = ''; for (const b of p) text += String.fromCharCode(b); return text; }}""")
    return np.frombuffer(values.encode("latin-1"), np.uint8).reshape(*size, 4)[::-1]


def paper(opened) -> np.ndarray:
    return np.rint(255 * np.array(opened.evaluate(f"{VIEW}.colours.paper")))


def test_slider_and_steps_choose_the_frame_and_the_picture_changes(file, scene):
    with open_page(file, **SMALL) as opened:
        first = picture(opened)
        opened.locator(".oiv-time").fill("50")
        assert opened.evaluate(f"{VIEW}.frame") == 50
        assert f"{scene.time[50]:.3f} s" in opened.locator(".oiv-clock").inner_text()
        assert (picture(opened) != first).any()
        opened.locator(".oiv-next").click()
        opened.locator(".oiv-next").click()
        opened.locator(".oiv-back").click()
        assert opened.evaluate(f"{VIEW}.frame") == 51
        opened.locator(".oiv-time").fill("0")
        np.testing.assert_array_equal(picture(opened), first)
        assert not opened.errors


def test_playback_follows_the_clock_and_stops(file, scene):
    with open_page(file, **SMALL) as opened:
        opened.locator(".oiv-speed").select_option("0.5")
        opened.locator(".oiv-play").click()
        opened.wait_for_function(f"{VIEW}.frame >= 10", timeout=20000)
        opened.locator(".oiv-play").click()
        stopped = opened.evaluate(f"{VIEW}.frame")
        opened.wait_for_timeout(300)
        assert opened.evaluate(f"{VIEW}.frame") == stopped
        assert not opened.evaluate(f"{VIEW}.playing")
        assert not opened.errors


def test_nothing_moves_by_itself(file):
    with open_page(file, reduced_motion="reduce", **SMALL) as opened:
        opened.wait_for_timeout(300)
        assert opened.evaluate(f"[{VIEW}.frame, {VIEW}.playing]") == [0, False]
        assert not opened.errors


def test_browser_has_the_poses_and_points_of_the_scene(file, scene):
    with open_page(file, **SMALL) as opened:
        for frame in (0, 37, len(scene.time) - 1):
            opened.evaluate(f"{VIEW}.seek({frame})")
            matrices = opened.evaluate(f"{VIEW}.scene.matrices.map(m => Array.from(m))")
            ours = np.array(matrices).reshape(-1, 4, 4).swapaxes(1, 2)
            np.testing.assert_allclose(ours, scene.poses[frame], atol=3e-7)  # 32-bit numbers
            points = opened.evaluate(f"""(() => {{ const s = {VIEW}.scene;
              return Array.from(s.points.subarray(3 * s.first[{frame}], 3 * s.first[{frame} + 1])); }})()""")
            drawn = np.concatenate([scene.path(frame, k) for k in range(len(scene.lines))])
            step = np.ptp(scene.points, axis=0).max() / 65535
            np.testing.assert_allclose(np.reshape(points, (-1, 3)), drawn, atol=step)


def test_bellies_are_drawn_where_the_mass_is(file, scene):
    """Instances of the belly's colour lie between its ends along the path, and nowhere else."""
    with open_page(file, **SMALL) as opened:
        opened.evaluate(f"{VIEW}.seek(20)")
        rows = opened.evaluate(f"""(() => {{ const v = {VIEW}; return {{
            rows: Array.from(v.scene.instances.subarray(0, 12 * v.renderer.count)), belly: v.colours.belly }}; }})()""")
    values = np.array(rows["rows"]).reshape(-1, 12)
    for place, line in enumerate(scene.lines):
        mine = values[values[:, 11] == 1 + len(scene.solids) + place]
        spans = np.linalg.norm(mine[:, 3:6] - mine[:, :3], axis=1)
        ends = np.cumsum(spans)
        fleshy = np.abs(mine[:, 8:11] - rows["belly"]).max(axis=1) < 1e-3
        length = ends[-1]
        assert (ends - spans)[fleshy][0] / length == pytest.approx(line.belly[0], abs=1e-3)
        assert ends[fleshy][-1] / length == pytest.approx(line.belly[1], abs=1e-3)
        assert fleshy.sum() == np.flatnonzero(fleshy)[-1] - np.flatnonzero(fleshy)[0] + 1
        assert mine[fleshy, 6:8].max() > 2.0 * mine[~fleshy, 6:8].max()


def test_pointer_names_bones_muscles_and_wraps(file, scene):
    with open_page(file, **SMALL) as opened:
        opened.evaluate(f"{VIEW}.seek(20); {VIEW}.drawNow()")
        femur = scene.poses[20, scene.bodies.index("femur_r")]
        targets = {"femur_r": femur[:3, :3] @ [0.0, -0.2, 0.0] + femur[:3, 3]}
        for place, line in enumerate(scene.lines):
            points = scene.path(20, place)
            if line.name == "tibant_r":
                targets[line.name] = 0.5 * (points[-1] + points[-2])
        for name, point in targets.items():
            x, y = opened.evaluate(PIXEL, point.tolist())
            opened.mouse.move(x, y)
            opened.wait_for_function("!document.querySelector('.oiv-tip').hidden", timeout=20000)
            assert name in opened.locator(".oiv-tip").inner_text()
        opened.mouse.move(20, 120)  # nothing there
        opened.wait_for_function("document.querySelector('.oiv-tip').hidden", timeout=20000)
        assert not opened.errors


def test_switches_take_things_away(file, scene):
    with open_page(file, **SMALL) as opened:
        background, shown = paper(opened), {}
        for name in ("floor", "wraps", "mass", "muscles", "bones"):
            opened.locator(f'.oiv-switches input[name="{name}"]').uncheck()
            shown[name] = int((np.abs(picture(opened)[..., :3] - background) > 2).any(axis=2).sum())
        counts = list(shown.values())
        assert counts == sorted(counts, reverse=True)
        assert len(set(counts)) == len(counts), shown
        assert shown["bones"] == 0
        opened.locator('.oiv-switches input[name="markers"]').check()
        assert (np.abs(picture(opened)[..., :3] - background) > 2).any()
        assert not opened.errors


def test_mouse_and_keys_move_the_camera(file):
    with open_page(file, **SMALL) as opened:
        state = f"(() => {{ const c = {VIEW}.camera; return [c.turn, c.tilt, c.distance, ...c.target]; }})()"
        start = opened.evaluate(state)
        opened.mouse.move(300, 250)
        opened.mouse.down()
        opened.mouse.move(360, 270, steps=3)
        opened.mouse.up()
        turned = opened.evaluate(state)
        assert turned[0] < start[0]
        assert turned[1] > start[1]
        assert turned[2:] == start[2:]
        opened.mouse.wheel(0, -200)
        opened.wait_for_function(f"{VIEW}.camera.distance < {turned[2]}")
        opened.locator("canvas").press("Shift+ArrowLeft")
        assert opened.evaluate(state)[3:] != turned[3:]
        opened.locator("canvas").press(".")
        assert opened.evaluate(f"{VIEW}.frame") == 1
        opened.locator(".oiv-help").click()
        assert "Drag to turn" in opened.locator(".oiv-manual").inner_text()
        opened.locator(".oiv-help").click()
        assert not opened.locator(".oiv-manual").is_visible()
        opened.locator("canvas").press("Home")
        np.testing.assert_allclose(opened.evaluate(state), start)
        assert not opened.errors


def test_fingers_turn_and_zoom(file):
    with open_page(file, has_touch=True, **SMALL) as opened:
        devtools = opened.context.new_cdp_session(opened.page)

        def touch(kind: str, *points: tuple[int, int]) -> None:
            fingers = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
            devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

        turn, distance = opened.evaluate(f"[{VIEW}.camera.turn, {VIEW}.camera.distance]")
        touch("touchStart", (200, 200))
        touch("touchMove", (260, 200))
        touch("touchEnd")
        opened.wait_for_function(f"{VIEW}.camera.turn < {turn} - 0.1")
        assert opened.evaluate(f"{VIEW}.camera.distance") == distance
        touch("touchStart", (250, 200), (300, 200))
        touch("touchMove", (200, 200), (350, 200))
        touch("touchEnd")
        opened.wait_for_function(f"{VIEW}.camera.distance < 0.7 * {distance}")
        assert opened.evaluate(f"{VIEW}.pointers.size") == 0
        assert not opened.errors


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 780)])
@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_wide_and_narrow(file, dark, width, height):
    with open_page(file, dark=dark, width=width, height=height) as opened:
        assert (paper(opened).mean() < 128) == dark
        opened.locator('.oiv-switches input[name="floor"]').uncheck()
        drawn = (np.abs(picture(opened)[..., :3] - paper(opened)) > 2).any(axis=2)
        rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
        assert max(np.ptp(rows) / drawn.shape[0], np.ptp(columns) / drawn.shape[1]) > 0.5  # fills the view
        assert min(rows[0], columns[0]) > 0  # and is all in it
        assert rows[-1] < drawn.shape[0] - 1
        assert columns[-1] < drawn.shape[1] - 1
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes = [opened.locator(f".oiv-{part}").bounding_box() for part in ("play", "time", "speed", "switches")]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width + 1 for box in boxes)
        assert all(box["y"] + box["height"] <= height + 1 for box in boxes)
        assert not opened.errors


def test_without_webgl_the_page_says_so(file):
    with open_page(file, webgl=False, **SMALL) as opened:
        assert "needs WebGL 2" in opened.locator(".oiv-trouble").inner_text()
        assert not opened.locator("canvas").is_visible()


def test_printer_gets_the_frame_that_is_shown(file):
    with open_page(file, dark=True, **SMALL) as opened:
        opened.evaluate(f"{VIEW}.seek(30)")
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        opened.emulate_media(media="print", color_scheme="dark")
        assert opened.locator(".oiv-print").is_visible()
        assert not opened.locator(".oiv-bar").is_visible()
        size = opened.evaluate("(async () => { const i = document.querySelector('.oiv-print'); await i.decode(); "
                               "return [i.naturalWidth, i.naturalHeight]; })()")  # fmt: skip
        assert min(size) > 100
        corner = opened.evaluate("""(() => { const i = document.querySelector('.oiv-print');
            const c = document.createElement('canvas'); c.width = i.naturalWidth;
            c.height = i.naturalHeight; const x = c.getContext('2d'); x.drawImage(i, 0, 0);
            return Array.from(x.getImageData(2, 2, 1, 1).data); })()""")
        assert min(corner[:3]) > 200  # light, though the screen is dark
        assert opened.evaluate(f"{VIEW}.frame") == 30
        assert not opened.errors


def test_model_without_motion_has_no_player(scene, tmp_path):
    still = replace(scene, time=scene.time[:1], poses=scene.poses[:1], counts=scene.counts[:1],
                    points=scene.points[: scene.counts[0].sum()])  # fmt: skip
    (tmp_path / "still.html").write_text(page(still), encoding="utf-8")
    with open_page(tmp_path / "still.html", **SMALL) as opened:
        assert not opened.locator(".oiv-player").is_visible()
        assert (picture(opened)[..., :3] != paper(opened)).any()
        assert not opened.errors


def test_two_fragments_live_in_one_page_whatever_the_names_are(scene, tmp_path):
    nasty = replace(scene, title='</script><b>"&', lines=tuple(replace(line, name="</script>") for line in scene.lines))
    parts = [fragment(item, div_id=name) for item, name in ((scene, "one"), (nasty, "two"))]
    text = '<!DOCTYPE html><html><head><meta charset="utf-8"><link rel="icon" href="data:,"></head><body>' \
        f"{parts[0]}{parts[1]}</body></html>"
    (tmp_path / "two.html").write_text(text, encoding="utf-8")
    with open_page(tmp_path / "two.html", **SMALL) as opened:
        assert opened.evaluate("Object.keys(osimInertiaViews).join()") == "one,two"
        assert opened.evaluate("osimInertiaViews.two.scene.title") == nasty.title
        assert opened.locator("body > b").count() == 0
        distance = opened.evaluate("osimInertiaViews.one.camera.distance")
        opened.mouse.move(300, 150)
        opened.mouse.wheel(0, 60)  # scrolls the page …
        opened.wait_for_function("scrollY > 0")
        assert opened.evaluate("osimInertiaViews.one.camera.distance") == distance
        opened.mouse.click(300, 100)
        opened.mouse.wheel(0, 60)  # … and zooms once the view has been clicked on
        opened.wait_for_function(f"osimInertiaViews.one.camera.distance > {distance}")
        assert not opened.errors


def test_a_frame_of_eighty_muscles_costs_a_fraction_of_its_time(scene, tmp_path):
    """The page's own work; what a graphics card does afterwards is not counted. 500 frames stay well under 15 MB."""
    copies, frames = 20, 500
    rows = np.arange(frames) % len(scene.time)
    paths = [np.tile(np.concatenate([scene.path(f, k) for k in range(len(scene.lines))]), (copies, 1)) for f in rows]
    many = replace(scene, time=np.arange(frames) / 100.0, poses=scene.poses[rows], lines=scene.lines * copies,
                   counts=np.tile(scene.counts[rows], (1, copies)), points=np.concatenate(paths))  # fmt: skip
    assert len(many.lines) == 80
    text = page(many)
    assert len(text) < 8e6
    (tmp_path / "many.html").write_text(text, encoding="utf-8")
    with open_page(tmp_path / "many.html", **SMALL) as opened:
        cost = opened.evaluate(f"""(() => {{ const v = {VIEW}, took = [];
            for (let f = 0; f < 200; f++) {{
              const t = performance.now(); v.seek(f); took.push(performance.now() - t); }}
            return took.sort((a, b) => a - b)[100]; }})()""")
        assert cost < 8.0, json.dumps(cost)  # ms: half of what 60 frames a second allow
        assert not opened.errors
