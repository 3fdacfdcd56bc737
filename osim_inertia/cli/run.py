"""`osim-inertia run`: the whole way from markers to joint moments, each step as `ik` and `id` do it.

    MODEL, MARKERS --ik--> ik.mot, ik_marker_errors.sto --id--> id.sto, and with muscle mass id_muscle_mass.sto

Everything is computed before the first file is written, and the files appear together or not at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from osim_inertia.cli import id as dynamics
from osim_inertia.cli import ik as kinematics
from osim_inertia.cli.common import refuse_to_overwrite, say_notes, write_results
from osim_inertia.cli.id import force_options
from osim_inertia.cli.ik import tracking_options
from osim_inertia.cli.progress import Phases
from osim_inertia.cli.transfer import Transfer, transfer_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from osim_inertia.loads import ExternalLoads
    from osim_inertia.markers.fit import InverseKinematics
    from osim_inertia.model.model import Model
    from osim_inertia.tables.table import Table

FOLDER = Path("results")
MOTION, ERRORS, FORCES, WITH_MASS = "ik.mot", "ik_marker_errors.sto", "id.sto", "id_muscle_mass.sto"
file_path = click.Path(path_type=Path)


def _plates(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[int, str]:
    plates = {}
    for text in texts:
        number, _, body = (part.strip() for part in text.partition("="))
        if not number.isdigit() or not body:
            raise click.BadParameter(f"'{text}' is not PLATE=BODY, such as 1=calcn_r.")
        if int(number) in plates:
            raise click.BadParameter(f"plate {number} is there twice.")
        plates[int(number)] = body
    return plates


@dataclass(frozen=True, kw_only=True)
class Job:
    """Both steps, and what joins them."""

    ik: kinematics.Job
    loads: Path | None
    plates: dict[int, str]
    lowpass: float | None
    exact: bool
    transfer: Transfer | None
    folder: Path

    def id(self, name: str, time_range: tuple[float, float]) -> dynamics.Job:
        """The step from the motion to the forces in the file of that name."""
        return dynamics.Job(
            model=self.ik.model, motion=self.folder / MOTION, loads=self.loads, folder=None, lowpass=self.lowpass,
            time_range=time_range, excluded=dynamics.EXCLUDED, output=self.folder / name, exact=self.exact,
            like_opensim=self.ik.like_opensim,
        )  # fmt: skip


@click.command("run")
@click.argument("model", type=file_path)
@click.argument("markers", type=file_path)
@tracking_options
@click.option("--time-range", type=(float, float), metavar="FROM TO", help="Seconds; by default all frames.")
@force_options
@click.option("--plates", multiple=True, metavar="PLATE=BODY", callback=_plates,
              help="The body that stands on a force plate of the .c3d file, 1=calcn_r; may be repeated.")  # fmt: skip
@transfer_options()
@click.option("-o", "--output", "folder", type=file_path, default=FOLDER, show_default=True, metavar="FOLDER",
              help="Where to write; made if it does not exist.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a summary with times as JSON.")
def run(
    model: Path, markers: Path, tasks: Path | None, marker_set: Path | None, weights: dict[str, float],
    hold_missing: float, time_range: tuple[float, float] | None, loads: Path | None, lowpass: float | None,
    like_opensim: bool | None, plates: dict[int, str], transfer: Transfer | None, folder: Path, as_json: bool,
) -> None:  # fmt: skip
    """Joint moments and forces from MARKERS (.trc, .c3d): inverse kinematics and inverse dynamics in one go.

    Writes ik.mot, ik_marker_errors.sto and id.sto, as OpenSim's tools give them. With --transfer also
    id_muscle_mass.sto, in which the inertia of the muscles is counted. All files appear, or none.

    Example: osim-inertia run walk/model.osim walk/markers.trc --external-loads walk/grf.xml --lowpass 6 -o results

    Example: osim-inertia run walk/model.osim walk/markers.trc --tasks walk/setup_ik.xml --transfer 0.4 -o results
    """
    if plates and loads is not None:
        raise click.UsageError("--plates and --external-loads would count the ground reaction twice: give one of them.")
    if plates and markers.suffix.lower() != ".c3d":
        raise click.UsageError("--plates needs markers in a .c3d file, which holds the forces, too.")
    first = kinematics.Job(
        model=model, markers=markers, like_opensim=bool(like_opensim), tasks=tasks, weights=weights,
        time_range=time_range, output=folder / MOTION, errors=folder / ERRORS, hold_missing=hold_missing,
        marker_set=marker_set,
    )  # fmt: skip
    summary = run_job(Job(
        ik=first, loads=loads, plates=plates, lowpass=lowpass if lowpass and lowpass > 0.0 else None,
        exact=like_opensim is False, transfer=transfer, folder=folder,
    ))  # fmt: skip
    if as_json:
        click.echo(json.dumps(summary, indent=1, ensure_ascii=False))
        return
    say_notes(summary["notes"])
    names, seconds = ", ".join(Path(name).name for name in summary["outputs"]), summary["seconds"]
    rms, largest = 1000 * summary["marker_error_rms_m"], 1000 * summary["marker_error_max_m"]
    click.echo(f"{folder}/{{{names}}}: {summary['frames']} frames, marker error {rms:.1f} mm RMS, {largest:.1f} mm at "
               f"most, {seconds['solve']:.3g} s to solve, {sum(seconds.values()):.3g} s in all")


def run_job(job: Job) -> dict[str, Any]:
    """Read, solve both steps and write; the summary that --json prints."""
    from osim_inertia.warmup import announce, compiling_beside

    phases, notes = Phases(), list[str]()
    outputs = [job.folder / name for name in (MOTION, ERRORS, FORCES, WITH_MASS)[: 4 if job.transfer else 3]]
    refuse_to_overwrite((job.ik.model, job.ik.markers, job.ik.marker_set, job.loads), outputs)
    trial = kinematics.read(job.ik, phases)
    notes += [f"{job.ik.model.name}: {text}" for text in trial.model.notes]
    loads = _loads(job, trial.forces, phases, notes)
    works = ("id", *(job.transfer.work if job.transfer else ()))
    announce(lambda text: click.echo(text, err=True), *works)
    with compiling_beside(*works) as wait:
        # muscles that cannot take the mass asked for are told before the long work begins
        massive = dynamics.with_mass(job.transfer, trial.model, job.ik.model, phases, notes)
        found = kinematics.solve(job.ik, trial, phases)
        notes += found.notes
        seconds_ik = phases.seconds["solve"]
        tables, remarks = kinematics.tables_of(found, job.ik)
        models = {FORCES: trial.model} | ({WITH_MASS: massive} if job.transfer else {})
        tables |= _forces(job, models, found, loads, phases, notes, wait)
    with phases("write", "Writing"):
        write_results(tables, remarks)
    return {
        "model": str(job.ik.model),
        "markers_file": str(job.ik.markers),
        "external_loads": None if job.loads is None else str(job.loads),
        "plates": {str(number): body for number, body in job.plates.items()},
        "outputs": [str(path) for path in tables],
        **kinematics.quality(found),
        "lowpass_hz": job.lowpass,
        "like_opensim": not job.exact,
        "muscle_mass_kg": 0.0 if massive.muscle_mass is None else sum(m.mass for m in massive.muscle_mass.muscles),
        "seconds": {name: round(value, 6) for name, value in phases.seconds.items()},
        "solve_seconds": {"ik": round(seconds_ik, 6), "id": round(phases.seconds["solve"] - seconds_ik, 6)},
        "notes": list(dict.fromkeys(notes)),  # both solutions may say the same
    }


def _loads(job: Job, plates: Table | None, phases: Phases, notes: list[str]) -> ExternalLoads | None:
    """External loads of the file, or of the force plates that came with the markers."""
    from osim_inertia.loads import loads_of_plates, read_external_loads

    with phases("read", "Reading"):
        if job.loads is not None:
            return read_external_loads(job.loads, like_opensim=job.ik.like_opensim)
    if plates is None:
        if job.plates:
            raise dynamics.FileError("The file has no force plates.", file=job.ik.markers,
                                     to_do="leave out --plates, or give --external-loads")
        return None
    if job.plates:
        return loads_of_plates(plates, job.plates, str(job.ik.markers))
    numbers = sorted({int(name.split("_")[2]) for name in plates.names})
    notes.append(f"{job.ik.markers.name} has force plates ({', '.join(map(str, numbers))}), whose forces are not "
                 f"applied: say which body stands on which, --plates {numbers[0]}=calcn_r.")  # fmt: skip
    return None


def _forces(
    job: Job, models: dict[str, Model], found: InverseKinematics, loads: ExternalLoads | None, phases: Phases,
    notes: list[str], wait: Callable[[], object],
) -> dict[Path, Table]:  # fmt: skip
    """Inverse dynamics of each model, by the file it goes to."""
    motion = found.coordinates
    tables: dict[Path, Table] = {}
    for name, model in models.items():
        step = job.id(name, (float(motion.time[0]), float(motion.time[-1])))
        dynamics.note_forces_left_out(model, step.excluded, notes)
        tables |= dynamics.solve(step, model, motion, loads, phases, notes, wait if model.muscle_mass else lambda: None)
    return tables
