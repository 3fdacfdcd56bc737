"""`osim-inertia rank`: which muscles matter for the inertia and the moments of which joint."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osim_inertia.cli.common import like_opensim_option, model_argument, read_checked
from osim_inertia.cli.progress import Phases
from osim_inertia.cli.transfer import Transfer, heavy_note, table, transfer_options, transfer_summary
from osim_inertia.errors import FileError

if TYPE_CHECKING:
    from osim_inertia.rank import Ranking

FEW = 2  # muscles named for each coordinate
ROOMY = 130  # columns of text; below this the muscles with most of the inertia are left to --json
NEGLIGIBLE = 5e-4  # shares below it print as 0.0 %


@click.command()
@model_argument
@click.argument("motion", type=click.Path(path_type=Path), required=False)
@transfer_options(default="0.4")
@click.option("--lowpass", type=float, metavar="HZ", help="Filter the coordinates of the motion with this cutoff.")
@click.option("--time-range", type=(float, float), metavar="FROM TO", help="Seconds; by default the whole motion.")
@click.option("--all", "everything", is_flag=True, help="List every muscle, not only those that explain 95 %.")
@click.option("--json", "as_json", is_flag=True, help="Print all shares as JSON (SI units).")
@like_opensim_option
def rank(
    model: Path, motion: Path | None, transfer: Transfer, lowpass: float | None,
    time_range: tuple[float, float] | None, everything: bool, as_json: bool, like_opensim: bool,
) -> None:  # fmt: skip
    """Which muscles matter: their share of every joint's effective inertia and of the change of its moment.

    The change is that between muscles with mass and the same mass lumped into the bones, as root mean square over
    MOTION. Without a motion each coordinate in turn accelerates by 10 rad/s² from rest in the default pose.

    Example: osim-inertia rank walk/model.osim walk/ik.mot --lowpass 6 --transfer tibia_r=0.8
    """
    if lowpass is not None and not 0.0 < lowpass < math.inf:
        raise click.BadParameter("the cutoff must be above zero.", param_hint="--lowpass")
    if motion is None and (lowpass is not None or time_range is not None):
        raise click.UsageError("--lowpass and --time-range need a MOTION.")
    phases = Phases()
    with phases("read", "Reading"):
        from osim_inertia.tables.sto import read_table

        before = read_checked(model, like_opensim)
        recorded = None if motion is None else read_table(motion, like_opensim=like_opensim)
    from osim_inertia.warmup import announce, compiling_beside

    announce(lambda text: click.echo(text, err=True), "id", "muscle energy", *transfer.work)
    with compiling_beside("muscle energy") as wait, phases("transfer", "Giving muscles mass"):
        after = transfer.apply(before, model)
        wait()
    with phases("rank", "Ranking") as advance:
        from osim_inertia.inverse import MotionError
        from osim_inertia.rank import rank_muscles

        try:
            ranking = rank_muscles(before, recorded, inertial=after, lowpass=lowpass, time_range=time_range,
                                   progress=advance)  # fmt: skip
        except MotionError as error:
            raise FileError(str(error), file=motion or "") from None
    notes = [f"{model.name}: {text}" for text in before.notes] + heavy_note(transfer_summary(before, after))
    notes += ranking.notes
    content = summary(ranking) | {"model": str(model), "motion": None if motion is None else str(motion)}
    if as_json:
        seconds = {name: round(value, 6) for name, value in phases.seconds.items()}
        click.echo(json.dumps(content | {"seconds": seconds, "notes": notes}, indent=1, ensure_ascii=False))
        return
    for text in notes:
        click.echo(f"note: {text}", err=True)
    show(content, everything)


def summary(ranking: Ranking) -> dict[str, Any]:
    """Everything `rank` tells, in plain Python types, most important first."""
    change_share = ranking.change_share()
    coordinates = []
    for c, name in enumerate(ranking.coordinates):
        parts: list[dict[str, Any]] = [
            {"muscle": muscle, "inertia_share": float(ranking.inertia_share[m, c]),
             "change_rms": float(ranking.change[m, c]), "change_share": float(change_share[m, c])}
            for m, muscle in enumerate(ranking.muscles) if ranking.inertia_share[m, c] or ranking.change[m, c]
        ]  # fmt: skip
        coordinates.append({
            "coordinate": name,
            "unit": ranking.units[c],
            "counted": name in ranking.counted,
            "effective_inertia": float(ranking.inertia[c]),
            "muscle_share_of_inertia": float(ranking.inertia_share[:, c].sum()),
            "change_rms": float(ranking.total_change[c]),
            "explaining": list(ranking.explaining_of(name)),
            "muscles": sorted(parts, key=lambda part: -part["change_share"]),
        })  # fmt: skip
    return {
        "frames": ranking.frames,
        "muscles": [{"muscle": name, "kg": float(kg), "share": float(share)}
                    for name, kg, share in zip(ranking.muscles, ranking.kg, ranking.share)],
        "explaining": list(ranking.explaining),
        "error_of_explaining": ranking.error_of_explaining,
        "coordinates": coordinates,
    }  # fmt: skip


def show(content: dict[str, Any], everything: bool) -> None:
    """Print the two tables: muscles, and coordinates with the muscles that matter most to each."""
    from rich.console import Console
    from rich.text import Text

    console = Console(markup=False, highlight=False, emoji=False)
    what = f"{content['frames']} instants of the motion" if content["motion"] else "each coordinate accelerated in turn"
    few = len(content["explaining"])
    console.print(Text(f"Muscles by what their mass changes in joint moments ({what})", style="bold"))
    muscles = table("muscle", "mass (kg)", "share", "added up")
    added = 0.0
    for row in content["muscles"] if everything else content["muscles"][:few]:
        added += row["share"]
        muscles.add_row(row["muscle"], f"{row['kg']:.4f}", f"{100 * row['share']:.1f} %", f"{100 * added:.1f} %")
    console.print(muscles)
    console.print(f"{few} of {len(content['muscles'])} muscles explain 95 % of the summed change; with these alone the "
                  f"moments differ by {100 * content['error_of_explaining']:.1f} % of the change.")  # fmt: skip
    console.print()
    console.print(Text("Coordinates: effective inertia (kg m², kg), RMS change (N m, N)", style="bold"))
    coordinates = table("coordinate", "inertia", "of muscles", "change", "95 %")
    leading = {"most of the change": "change_share"}
    if console.width >= ROOMY:
        leading["most of the inertia"] = "inertia_share"
    for title in leading:
        coordinates.add_column(title)
    for row in content["coordinates"]:
        if row["muscles"]:
            coordinates.add_row(row["coordinate"], f"{row['effective_inertia']:.4g}",
                                f"{100 * row['muscle_share_of_inertia']:.1f} %", f"{row['change_rms']:.3g}",
                                str(len(row["explaining"])), *(_leading(row, key) for key in leading.values()))
    console.print(coordinates)
    still = [row["coordinate"] for row in content["coordinates"] if not row["muscles"]]
    if still:
        console.print(f"No muscle with mass moves with: {', '.join(still)}")


def _leading(row: dict[str, Any], key: str) -> str:
    parts = sorted(row["muscles"], key=lambda part: -part[key])[:FEW]
    return ", ".join(f"{part['muscle']} {100 * part[key]:.1f} %" for part in parts if part[key] > NEGLIGIBLE)
