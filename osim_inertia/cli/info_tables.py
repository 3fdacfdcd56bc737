"""The tables of `osim-inertia info`, laid out for 80 columns and more."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

ROOMY = 100  # columns of text; below this the unit alone tells rotational, translational and coupled apart
FLAGS = ("locked", "clamped", "prescribed", "dependent")


def show(content: dict[str, Any]) -> None:
    """Print the summary of a model, section by section; empty sections are left out."""
    console = Console(markup=False, highlight=False, emoji=False)
    _headline(console, content)
    _bodies(console, content["bodies"])
    _joints(console, content["joints"])
    _coordinates(console, content["coordinates"])
    _muscles(console, content)
    for title, key in (("Other forces along a path", "other_path_forces"), ("Constraints", "constraints")):
        _plain(console, title, content[key])
    if content["markers"]:
        _heading(console, f"Markers ({len(content['markers'])})")
        console.print("  ".join(marker["name"] for marker in content["markers"]))
    _unsupported(console, content["unsupported"])
    if content["notes"]:
        _heading(console, f"Notes ({len(content['notes'])})")
        for note in content["notes"]:
            console.print(f"- {note}")


def _headline(console: Console, content: dict[str, Any]) -> None:
    console.print(Text(content["name"] or "(no name)", style="bold"))
    gravity = " ".join(f"{value:g}" for value in content["gravity_m_s2"])
    rows = (
        ("file", f"{content['file']} (document version {content['document_version']})"),
        ("mass", f"{content['mass_kg']:.4g} kg"),
        ("gravity", f"{gravity} m/s²"),
        ("content", f"{len(content['bodies'])} bodies, {len(content['joints'])} joints, "
                    f"{len(content['coordinates'])} coordinates, {len(content['muscles'])} muscles"),
    )
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    console.print(grid)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), header_style="dim")
    for position, name in enumerate(columns):
        right = name in numbers
        whole = right or position == 0  # numbers and the name of the row stay in one piece
        table.add_column(name, justify="right" if right else "left", no_wrap=whole, overflow="fold")
    return table


def _bodies(console: Console, bodies: list[dict[str, Any]]) -> None:
    _heading(console, f"Bodies ({len(bodies)})")
    table = _table("body", "mass (kg)", "mass centre (m)", numbers=("mass (kg)",))
    for body in bodies:
        table.add_row(body["name"], f"{body['mass_kg']:.5g}", " ".join(f"{x:.4g}" for x in body["mass_center_m"]))
    console.print(table)


def _joints(console: Console, joints: list[dict[str, Any]]) -> None:
    _heading(console, f"Joints ({len(joints)})")
    table = _table("joint", "kind", "parent → child", "coordinates", numbers=("coordinates",))
    for joint in joints:
        kind = joint["kind"].removesuffix("Joint")
        table.add_row(joint["name"], kind, f"{joint['parent']} → {joint['child']}", str(len(joint["coordinates"])))
    console.print(table)


def _coordinates(console: Console, coordinates: list[dict[str, Any]]) -> None:
    if not coordinates:
        return
    _heading(console, f"Coordinates ({len(coordinates)}), rotational ones in degrees")
    roomy = console.width >= ROOMY
    kind = ("type",) if roomy else ()
    table = _table("coordinate", "joint", *kind, "range", "default", "", numbers=("range", "default"))
    for item in coordinates:
        degrees = item["motion_type"] == "rotational"
        unit = "°" if degrees else f" {item['unit']}".rstrip()
        low, high = (_angle_or_length(value, degrees, "∞") for value in item["range"])
        low = "−∞" if low == "∞" else low
        flags = " ".join(flag for flag in FLAGS if item[flag])
        kind = (item["motion_type"],) if roomy else ()
        table.add_row(item["name"], item["joint"], *kind, f"{low} … {high}{unit}",
                      f"{_angle_or_length(item['default_value'], degrees)}{unit}", flags)
    console.print(table)


def _angle_or_length(value: float | None, degrees: bool, unbounded: str = "") -> str:
    if value is None:
        return unbounded
    return f"{math.degrees(value):.4g}" if degrees else f"{value:.4g}"


def _muscles(console: Console, content: dict[str, Any]) -> None:
    muscles = content["muscles"]
    if not muscles:
        return
    _heading(console, f"Muscles ({len(muscles)}), mass estimated as density × force × fibre length / specific tension")
    numbers = ("points", "wraps", "force (N)", "fibre (m)", "mass (kg)")
    table = _table("muscle", "path", *numbers, numbers=numbers)
    for item in muscles:
        table.add_row(item["name"], item["path_type"], str(item["points"]), str(item["wraps"]),
                      f"{item['max_isometric_force_N']:.5g}", f"{item['optimal_fiber_length_m']:.4g}",
                      f"{item['estimated_mass_kg']:.4f}")
    console.print(table)
    kinds = Counter(item["kind"] for item in muscles)
    console.print("classes: " + ", ".join(f"{kind} {count}" for kind, count in kinds.items()))
    console.print()
    sums = _table("path", "muscles", "mass (kg)", "share", numbers=("muscles", "mass (kg)", "share"))
    mass = content["muscle_mass"]
    total = mass["estimated_mass_kg"]
    for kind, part in mass["by_path_type"].items():
        if part["count"]:
            sums.add_row(kind, str(part["count"]), f"{part['estimated_mass_kg']:.4f}",
                         f"{100 * part['estimated_mass_kg'] / total:.1f} %")
    sums.add_row("all", str(len(muscles)), f"{total:.4f}", "")
    console.print(sums)
    if content["mass_kg"] > 0.0:
        console.print(f"That is {100 * total / content['mass_kg']:.1f} % of the mass of the model.")


def _plain(console: Console, title: str, items: list[dict[str, Any]]) -> None:
    if not items:
        return
    _heading(console, f"{title} ({len(items)})")
    table = _table("name", "class", "")
    for item in items:
        remark = item.get("path_type", "") if item.get("enforced", True) else "not enforced"
        table.add_row(item["name"], item["kind"], remark)
    console.print(table)


def _unsupported(console: Console, items: list[dict[str, Any]]) -> None:
    if not items:
        return
    _heading(console, f"Not supported ({len(items)}): kept when the model is written, left out of every calculation")
    table = _table("class", "name", "line", numbers=("line",))
    for item in items:
        table.add_row(item["kind"], item["name"], str(item["line"]))
    console.print(table)
