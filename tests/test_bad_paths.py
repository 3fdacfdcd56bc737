"""Paths that cannot be: every fault is named with its line, what was found and what was expected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_models import arm, point, wrap_cylinder

import osim_inertia as oi


def written(folder: Path, text: str) -> Path:
    file = folder / "model.osim"
    file.write_text(text, encoding="utf-8")
    return file


TWO_POINTS = point("a", "/ground", (0.0, 0.1, 0.0)) + point("b", "/bodyset/link", (0.2, 0.05, 0.0))

FAULTS = {
    "one point": (arm(point("a", "/ground", (0.0, 0.1, 0.0))), "1 point", "at least an origin and an insertion"),
    "no points": (arm(""), "0 point", "at least an origin and an insertion"),
    "missing wrap object": (arm(TWO_POINTS, wraps=[("nowhere", "-1 -1")]), "nowhere", "the closest is|a wrap object"),
    "range beyond the path": (
        arm(TWO_POINTS, wraps=[("roll", "1 3")], objects=wrap_cylinder("roll")), "1 3", "from 1 to 2"),
    "range upside down": (
        arm(TWO_POINTS, wraps=[("roll", "2 1")], objects=wrap_cylinder("roll")), "2 1", "from 1 to 2"),
    "zero radius": (
        arm(TWO_POINTS, wraps=[("roll", "-1 -1")], objects=wrap_cylinder("roll", radius=0.0)), "radius", "zero"),
    "negative radius": (
        arm(TWO_POINTS, wraps=[("roll", "-1 -1")], objects=wrap_cylinder("roll", radius=-0.1)), "-0.1", "zero"),
    "unknown frame": (
        arm(point("a", "/ground", (0, 0, 0)) + point("b", "/bodyset/lnik", (0, 0, 0))), "lnik", "/bodyset/link"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named_with_what_was_found_and_expected(tmp_path, fault):
    text, found, expected = FAULTS[fault]
    with pytest.raises(oi.OsimInertiaError) as caught:
        oi.read_osim(written(tmp_path, text))
    message = str(caught.value)
    assert "model.osim, line " in message
    assert found in message
    assert any(words in message for words in expected.split("|")), message


def test_the_same_path_without_a_fault_is_read(tmp_path):
    text = arm(TWO_POINTS, wraps=[("roll", "1 2")], objects=wrap_cylinder("roll"))
    system = oi.System(oi.read_osim(written(tmp_path, text)))
    assert system.path_names == ("cable",)
    for paths in ("opensim", "shortest"):
        assert np.isfinite(system.path_lengths(system.default_pose(), paths=paths)).all()
