"""The options that give muscles their mass, shared by convert, id, rank and run, and how a transfer is shown.

    @transfer_options(default=None)
    def command(…, transfer: Transfer | None): model = transfer.apply(model, file)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osim_inertia.errors import FileError, ModelError
from osim_inertia.report.masses import INERTIAL_ONLY, heavy_note, transfer_note, transfer_summary

if TYPE_CHECKING:
    from osim_inertia.model.model import Model

__all__ = ["INERTIAL_ONLY", "Transfer", "heavy_note", "muscle_mass_options", "show_transfer", "table", "transfer_note",
           "transfer_options", "transfer_summary"]  # fmt: skip
NAMES = ("transfer", "masses", "map", "residual", "muscles", "belly", "tendon_split", "along", "beads", "wrap")


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """What the options ask for; `options` are arguments of with_muscle_mass."""

    all_bodies: float | None = None
    by_body: Mapping[str, float] = field(default_factory=dict)
    anatomical: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def work(self) -> tuple[str, ...]:
        """Kinds of work for warmup.announce."""
        wrap = self.options.get("wrap", "blend")
        return ("bones", "muscle mass") if wrap in ("blend", "exact") else ("bones", "muscle mass", "neural")

    def apply(self, model: Model, file: Path) -> Model:
        """The model with muscle mass; what cannot be done is an error that names the file."""
        from osim_inertia.inertia import with_muscle_mass

        if not model.muscles:
            raise FileError("The model has no muscles that could take mass.", file=file)
        try:
            fractions: Any = "anatomical" if self.anatomical else self.all_bodies
            if self.by_body:
                fractions = dict(self.by_body)
                if self.all_bodies is not None:
                    everywhere = with_muscle_mass(model, self.all_bodies, **self.options).muscle_mass
                    assert everywhere is not None
                    fractions = dict(everywhere.transfer) | fractions
            return with_muscle_mass(model, fractions, **self.options)
        except ModelError as error:
            raise FileError(str(error), file=file) from None


# ---- options --------------------------------------------------------------------------------------------------------
def transfer_options(default: str | None = None, required: bool = False) -> Callable[[Callable], Callable]:
    """Adds the options; the command gets them as one argument, `transfer`, None if nothing was asked for."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapped(*arguments: Any, **values: Any) -> Any:
            given = {name: values.pop(name) for name in NAMES}
            return function(*arguments, transfer=_parsed(given, default), **values)

        for option in reversed(_options(default, required)):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def muscle_mass_options(function: Callable) -> Callable:
    """The same without --transfer: the command gets arguments of with_muscle_mass as `options`."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **values: Any) -> Any:
        given = {name: values.pop(name) for name in NAMES[1:]}
        return function(*arguments, options=_arguments(given), **values)

    for option in reversed(_options(None, False)[1:]):
        wrapped = option(wrapped)
    return wrapped


def _options(default: str | None, required: bool) -> list[Callable]:
    shown = f" [default: {default}]" if default else ""
    return [
        click.option("--transfer", multiple=True, required=required, metavar="FRACTION|BODY=FRACTION|anatomical",
                     help="Fraction (0 to 1) of a body's mass that is muscle, or one for every body with muscle "
                          "along it; may be repeated. anatomical: each muscle as heavy as its volume or --masses "
                          f"says.{shown}"),
        click.option("--masses", type=click.Path(path_type=Path), metavar="FILE",
                     help="Muscle masses, .csv (name,mass) or .toml: proportions, or kg if anatomical. By default "
                          "force × fibre length."),
        click.option("--map", type=click.Choice(["uniform", "rigid-tendon"]),
                     help="What stretches: the whole path evenly, or only the belly.  [default: uniform]"),
        click.option("--residual", type=click.Choice(["proportional", "consistent"]),
                     help="What is left of a bone: lighter in the same shape, or with the muscles cut out as they lie "
                          "in the default pose.  [default: proportional]"),
        click.option("--muscles", multiple=True, metavar="NAMES",
                     help="Only these muscles get mass: soleus_r,gasmed_r"),
        click.option("--belly", metavar="model|whole|FIRST,LAST",
                     help="Where along the path the mass sits, as shares of its length; model: all that is not "
                          "tendon.  [default: model]"),
        click.option("--tendon-split", type=float, metavar="SHARE",
                     help="Share of the tendon before the belly.  [default: 0.5]"),
        click.option("--along", multiple=True, metavar="MUSCLE=BODY",
                     help="Take this muscle's mass from that body instead of the nearest bone; may be repeated."),
        click.option("--beads", type=click.IntRange(min=1), metavar="N",
                     help="N point masses per muscle instead of a continuum."),
        click.option("--wrap", multiple=True, metavar="blend|neural|exact|MUSCLE=neural",
                     help="Blend wrapping in smoothly, leave it to a trained network (all muscles that have one "
                          "cylinder, or those named; may be repeated), or show the raw jump.  [default: blend]"),
    ]  # fmt: skip


def _parsed(given: dict[str, Any], default: str | None) -> Transfer | None:
    asked = given.pop("transfer") or ((default,) if default else ())
    options = _arguments(given)
    if not asked:
        if options:
            option = f"--{next(iter(options)).replace('_', '-')}"
            raise click.UsageError(f"{option} needs --transfer, which says how much mass the muscles get.")
        return None
    return _fractions([word for text in asked for word in text.split(",")], options)


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of with_muscle_mass."""
    options = {name: value for name, value in given.items() if value not in (None, ())}
    if "masses" in options:
        options["masses"] = str(options["masses"])
    if "muscles" in options:
        options["muscles"] = [name.strip() for names in options["muscles"] for name in names.split(",") if name.strip()]
    if "along" in options:
        options["along"] = dict(_pair(text, "--along", "MUSCLE=BODY") for text in options["along"])
    if "belly" in options:
        options["belly"] = _belly(options["belly"])
    if "wrap" in options:
        options["wrap"] = _wrap(options["wrap"])
    return options


def _wrap(words: tuple[str, ...]) -> str | dict[str, str]:
    if any("=" in word for word in words):
        return dict(_pair(word, "--wrap", "MUSCLE=neural; one word for all muscles stands alone") for word in words)
    if len(words) > 1 or words[0] not in ("blend", "neural", "exact"):
        raise click.BadParameter(f"'{' '.join(words)}' is not blend, neural, exact or MUSCLE=neural.",
                                 param_hint="--wrap")  # fmt: skip
    return words[0]


def _fractions(words: list[str], options: dict[str, Any]) -> Transfer:
    everywhere: list[float] = []
    by_body: dict[str, float] = {}
    for word in words:
        if word.strip() == "anatomical":
            if len(words) > 1:
                raise click.BadParameter("anatomical stands alone: it sets the mass of every muscle.",
                                         param_hint="--transfer")  # fmt: skip
            return Transfer(anatomical=True, options=options)
        if "=" not in word:
            everywhere.append(_number(word, "--transfer", "0.4, tibia_r=0.4 or anatomical"))
            continue
        body, text = _pair(word, "--transfer", "BODY=FRACTION")
        if body in by_body:
            raise click.BadParameter(f"body '{body}' is there twice.", param_hint="--transfer")
        by_body[body] = _number(text, "--transfer", "a number after the =, as in tibia_r=0.4")
    if len(everywhere) > 1:
        raise click.BadParameter("there are two fractions for all bodies.", param_hint="--transfer")
    return Transfer(all_bodies=everywhere[0] if everywhere else None, by_body=by_body, options=options)


def _pair(text: str, option: str, expected: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise click.BadParameter(f"'{text}' is not of the form {expected}.", param_hint=option)
    return name, value


def _number(text: str, option: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"'{text.strip()}' is not a number; expected {expected}.", param_hint=option) from None


def _belly(text: str) -> str | tuple[float, float]:
    if text in ("model", "whole"):
        return text
    parts = text.split(",")
    if len(parts) != 2:
        raise click.BadParameter(f"'{text}' is not model, whole or two shares like 0.2,0.8.", param_hint="--belly")
    first, last = (_number(part, "--belly", "model, whole or two shares like 0.2,0.8") for part in parts)
    return first, last


# ---- what went where ------------------------------------------------------------------------------------------------
def show_transfer(summary: Mapping[str, Any]) -> None:
    """Print the transfer as tables: bodies, muscles, and who was left alone."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    bodies = table("body", "before (kg)", "after (kg)", "to muscles (kg)", "fraction")
    for row in summary["bodies"]:
        before, after = row["mass_before_kg"], row["mass_after_kg"]
        bodies.add_row(row["body"], f"{before:.5g}", f"{after:.5g}", f"{before - after:.5g}", f"{row['fraction']:.3f}")
    console.print(bodies)
    if summary["untouched"]:
        console.print(f"Bodies left as they are ({len(summary['untouched'])}): {', '.join(summary['untouched'])}")
    console.print()
    muscles = table("muscle", "from body", "mass (kg)", "belly (% of path)", text=2)
    for row in summary["muscles"]:
        belly = f"{100 * row['belly_start']:.0f} – {100 * row['belly_end']:.0f}"
        muscles.add_row(row["muscle"], row["body"], f"{row['kg']:.4f}", belly)
    console.print(muscles)
    if summary["massless_muscles"]:
        names = summary["massless_muscles"]
        console.print(f"Muscles without mass ({len(names)}): {', '.join(names)}")


def table(*columns: str, text: int = 1) -> Any:
    """An empty table whose first `text` columns hold words, the others numbers."""
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), header_style="dim")
    for place, name in enumerate(columns):
        result.add_column(name, justify="left" if place < text else "right", no_wrap=True, overflow="fold")
    return result
