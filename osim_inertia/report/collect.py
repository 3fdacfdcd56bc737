"""All that a report shows, computed: moments with 0 … 80 % muscle, OpenSim's own, strides, and which muscles matter.

    Request --collect--> Findings      writes ik.mot and id_00.sto … id_80.sto into a folder on the way
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from osim_inertia import opensim_bridge
from osim_inertia.errors import FileError, ModelError, OsimInertiaError
from osim_inertia.inertia import with_muscle_mass
from osim_inertia.inverse import MotionError, forces_of, inverse_dynamics_of, kinematics_of, loads_at
from osim_inertia.loads import ExternalLoads, read_external_loads
from osim_inertia.markers.data import read_markers
from osim_inertia.markers.fit import InverseKinematics, inverse_kinematics
from osim_inertia.markers.tasks import read_tasks
from osim_inertia.model.model import Model
from osim_inertia.model.tree import spanning_tree
from osim_inertia.osim.reader import read_osim
from osim_inertia.rank import Ranking, rank_muscles
from osim_inertia.report.comparison import ColumnError, compare
from osim_inertia.report.curves import Curve, curves_of
from osim_inertia.report.masses import heavy_note, transfer_summary
from osim_inertia.report.request import Request
from osim_inertia.report.strides import Strides, find_strides
from osim_inertia.setup import forces_left_out
from osim_inertia.system import System
from osim_inertia.tables.sto import UNITS_REMARK, read_table, write_table
from osim_inertia.tables.table import Table
from osim_inertia.view.scene import Scene, build_scene

Advance = Callable[[int, int], object]
Phase = Callable[[str, str], AbstractContextManager[Advance]]  # name, label
FEW = 8  # frames, to load compiled code before anything is timed
MOST_FRAMES = 300  # of the motion in 3-D
STRIDE_LOWPASS = 12.0  # Hz: strides need more of a foot's motion than moments do


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that was computed."""

    request: Request
    model: Model  # as read
    heavy: Model | None  # with the largest percent of muscle; None if no muscle can take mass
    motion: Table
    fit: InverseKinematics | None  # if markers were given
    forces: dict[int, Table]  # by percent
    scene: Scene | None  # the motion in 3-D, with the largest percent of muscle; None if it is not to be drawn
    opensim: opensim_bridge.ToolRun | None
    errors: tuple[ColumnError, ...]  # against OpenSim at 0 %; empty without it
    strides: tuple[Strides, ...]
    curves: tuple[Curve, ...]
    transfer: dict[str, Any] | None  # what went where at the largest percent
    ranking: Ranking | None
    seconds: dict[str, float]
    notes: tuple[str, ...]
    missing: tuple[str, ...] = ()  # what would be there with a package that is not installed

    @property
    def percents(self) -> tuple[int, ...]:
        """Those computed, 0 first."""
        return tuple(self.forces)

    @property
    def most(self) -> int:
        """The largest of them."""
        return max(self.forces)

    @property
    def largest_error(self) -> float | None:
        """Largest relative RMS difference of any column from OpenSim's at 0 %."""
        return max((row.relative for row in self.errors), default=None)


@contextmanager
def quiet(name: str, label: str = "") -> Iterator[Advance]:
    """A phase that shows nothing."""
    yield lambda done, total: None


@dataclass
class _Work:
    """What the steps share: where to write, how to show progress, what was noticed and how long it took."""

    request: Request
    folder: Path
    phase: Phase
    span: tuple[float, float] = (0.0, 0.0)  # s: the time range asked for, or the whole record
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, label: str) -> Iterator[Advance]:
        """Shown as a phase, and timed under its name."""
        began = clock.perf_counter()
        with self.phase(name, label) as advance:
            yield advance
        self.seconds[name] = self.seconds.get(name, 0.0) + clock.perf_counter() - began

    def note(self, texts: Sequence[str], file: Path | None = None) -> None:
        """Remember what the user should know, once."""
        for text in texts:
            text = text if file is None else f"{file.name}: {text}"
            if text not in self.notes:
                self.notes.append(text)


def collect(
    request: Request,
    folder: Path,
    phase: Phase = quiet,
    *,
    draw: bool = True,
    before_muscles: Callable[[], object] = lambda: None,
) -> Findings:
    """Compute everything; motion and forces are written into `folder`. `draw`: the motion in 3-D, too.

    `before_muscles` is called when all that needs no muscle inertia is done: a first run compiles it meanwhile.
    """
    work = _Work(request, folder, phase, notes=list(request.notes))
    with work.step("read", "Reading"):
        model, motion, markers, loads = _read(work)
    fit = None
    if markers is not None:
        fit, motion = _fit(work, model, markers)
    assert motion is not None
    work.span = _span(request, motion)
    system = System(model)
    try:
        forces = {0: _solve(work, 0, system, motion, loads)}
    except MotionError as error:
        raise FileError(str(error), file=request.source) from None
    opensim = _opensim(work)
    strides = _strides(work, system, motion, loads, forces[0])
    models = _with_mass(work, model)
    heavy = models[max(models)] if models else None
    scene = _scene(work, heavy or model, motion) if draw else None
    before_muscles()
    for percent, heavier in models.items():
        forces[percent] = _solve(work, percent, System(heavier), motion, loads)
    theirs = None if opensim is None else opensim.forces
    return Findings(
        request=request, model=model, heavy=heavy, motion=motion, fit=fit, forces=forces, scene=scene, opensim=opensim,
        errors=() if theirs is None else compare(forces[0], theirs), strides=strides,
        curves=curves_of(system, forces, theirs, strides, request.coordinates),
        transfer=None if heavy is None else transfer_summary(model, heavy),
        ranking=_rank(work, model, heavy, motion), seconds=work.seconds, notes=tuple(work.notes),
        missing=tuple(work.missing),
    )  # fmt: skip


# ---- steps ----------------------------------------------------------------------------------------------------------
def _read(work: _Work) -> tuple[Model, Table | None, Any, ExternalLoads | None]:
    request, like_opensim = work.request, work.request.like_opensim
    try:
        model = read_osim(request.model, like_opensim=like_opensim)
        spanning_tree(model)
    except ModelError as error:
        raise FileError(str(error), file=request.model) from None
    work.note(model.notes, request.model)
    motion = markers = loads = None
    if request.motion is not None:
        motion = read_table(request.motion, like_opensim=like_opensim)
        work.note(motion.notes, request.motion)
    if request.markers is not None:
        markers = read_markers(request.markers)
    if request.loads is not None:
        loads = read_external_loads(request.loads, folder=request.folder, like_opensim=like_opensim)
        work.note(loads.notes)
    left_out = forces_left_out(model, request.excluded)
    if left_out:
        work.note(["These forces of the model are left out here, but OpenSim applies them unless forces_to_exclude "
                   f"names them: {', '.join(left_out)}."])  # fmt: skip
    return model, motion, markers, loads


def _fit(work: _Work, model: Model, markers: Any) -> tuple[InverseKinematics, Table]:
    """Inverse kinematics; the motion is read back as it was written, with its rounding: what OpenSim gets, too."""
    request, system = work.request, System(model)
    if request.time_range is not None:
        markers = markers.between(*request.time_range)
    tasks = None if request.tasks is None else read_tasks(request.tasks)
    with work.step("inverse kinematics", "Joint angles from markers") as advance:
        fit = inverse_kinematics(system, markers, tasks=tasks, progress=advance)
        write_table(fit.coordinates, work.folder / "ik.mot", remark=UNITS_REMARK)
    work.note(fit.notes)
    return fit, read_table(work.folder / "ik.mot")


def _span(request: Request, motion: Table) -> tuple[float, float]:
    """The time range asked for; where it is open, the record: not the rows that OpenSim's filter adds around it."""
    start, end = request.time_range or (-math.inf, math.inf)
    first, last = float(motion.time[0]), float(motion.time[-1])
    return (start if math.isfinite(start) else first, end if math.isfinite(end) else last)


def _solve(work: _Work, percent: int, system: System, motion: Table, loads: ExternalLoads | None) -> Table:
    """Inverse dynamics with that percent of muscle; written, too."""
    lowpass = work.request.lowpass
    with work.step(f"prepare {percent} %", "Preparing"):
        few = None if loads is None else replace(loads, data=loads.data.rows(0, FEW))
        inverse_dynamics_of(system, motion.rows(0, FEW), external_loads=few, lowpass=lowpass)
    with work.step(f"solve {percent} %", f"Inverse dynamics with {percent} % muscle"):
        moved = kinematics_of(system, motion, lowpass=lowpass, time_range=work.span)
        forces = forces_of(system, moved, loads_at(system, loads, moved))
    with work.step(f"write {percent} %", "Writing"):
        write_table(forces, work.folder / f"id_{percent:02d}.sto")
    work.note([*system.warnings, *moved.notes])
    return forces


def _strides(
    work: _Work, system: System, motion: Table, loads: ExternalLoads | None, forces: Table
) -> tuple[Strides, ...]:
    """The whole strides within the rows of the result, found in the whole record."""
    with work.step("strides", "Finding strides"):
        record = (float(motion.time[0]), float(motion.time[-1]))
        moved = kinematics_of(system, motion, lowpass=STRIDE_LOWPASS, time_range=record)
        first, last = float(forces.time[0]), float(forces.time[-1])
        inside = (strides.within(first, last) for strides in find_strides(system, moved, loads))
        return tuple(strides for strides in inside if len(strides.times))


def _with_mass(work: _Work, model: Model) -> dict[int, Model]:
    """The model with muscle mass, by percent above 0."""
    if not model.muscles:
        work.note(["The model has no muscles that could take mass: only 0 % is shown."])
        return {}
    with work.step("transfer", "Giving muscles mass"):
        percents = sorted({percent for percent in work.request.percents if percent})
        models = {percent: with_muscles(model, percent, work.request) for percent in percents}
    if models:
        work.note(heavy_note(transfer_summary(model, models[percents[-1]]), "--bodies leaves them out"))
    return models


def _scene(work: _Work, model: Model, motion: Table) -> Scene:
    """The motion in 3-D, thinned out to what a page can hold."""
    with work.step("scene", "Drawing the motion"):
        start, end = work.span
        shown = motion.between(start - 1e-6, end + 1e-6)
        every = -(-len(shown) // MOST_FRAMES)  # rounded up
        return build_scene(model, shown, geometry=work.request.geometry, every=every)


def with_muscles(model: Model, percent: int, request: Request) -> Model:
    """The model with that much of the bodies' mass in muscles."""
    fraction = percent / 100.0
    transfer: Any = fraction if request.bodies is None else dict.fromkeys(request.bodies, fraction)
    try:
        return with_muscle_mass(model, transfer, **request.options)
    except ModelError as error:
        raise FileError(str(error), file=request.model) from None


def _opensim(work: _Work) -> opensim_bridge.ToolRun | None:
    """OpenSim's own forces, or a word on why they are not there."""
    request = work.request
    if not request.opensim:
        return None
    if not opensim_bridge.is_installed():
        work.missing.append(f"For OpenSim's own curve beside ours: {opensim_bridge.HOW_TO_GET}")
        return None
    try:
        with work.step("OpenSim", "The same with OpenSim"):
            run = opensim_bridge.inverse_dynamics(
                request.model, request.motion or work.folder / "ik.mot", external_loads=request.loads,
                load_data=request.load_data, lowpass=request.lowpass, time_range=work.span,
                excluded=request.excluded,
            )  # fmt: skip
            write_table(run.forces, work.folder / "opensim_id.sto")
            return run
    except OsimInertiaError as error:
        work.note([str(error)])
        return None


def _rank(work: _Work, model: Model, heavy: Model | None, motion: Table) -> Ranking | None:
    if heavy is None or not work.request.rank:
        return None
    with work.step("rank", "Which muscles matter") as advance:
        return rank_muscles(model, motion, inertial=heavy, lowpass=work.request.lowpass,
                            time_range=work.span, progress=advance)  # fmt: skip
