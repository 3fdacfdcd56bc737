"""Lengths, lengthening speeds and moment arms of all muscles along a motion, as OpenSim's MuscleAnalysis gives them.

    motion (Table) --> q, u --> System.path_lengths, moment arms --> [one Table per quantity] --> .sto files
                                                                              ^ here
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from osim_inertia.inverse import kinematics_of
from osim_inertia.system import System
from osim_inertia.tables.table import Table

Array = NDArray[np.float64]
Progress = Callable[[int, int], object]  # frames done, frames in all
FRAMES_AT_ONCE = 256  # moment arms of all muscles about all coordinates: 80 × 39 numbers a frame
REMARK = (
    "\nThis analysis gathers basic information about muscles during a simulation (e.g., forces, tendon lengths, "
    "moment arms, etc).\nUnits are S.I. units (second, meters, Newtons, ...)\n"
    "If the header above contains a line with 'inDegrees', this indicates whether rotational values are in degrees "
    "(yes) or radians (no).\n\n"
)  # the words of OpenSim's own files


def muscle_analysis(
    system: System,
    motion: Table,
    *,
    paths: str = "opensim",
    time_range: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> dict[str, Table]:
    """Tables by the name OpenSim's MuscleAnalysis gives them: Length, LengtheningSpeed, MomentArm_<coordinate>.

    One column per muscle. Poses are put on the model's constraints first, as OpenSim does, and moment arms include the
    coordinates that a coupler moves along. With paths="opensim" they are OpenSim's own (computeMomentArm), which on
    wraps is not the slope of its length; with "shortest" length and moment arms belong together exactly.
    LengtheningSpeed, which MuscleAnalysis lacks, is the rate of Length. Moment arms come in the order of the joints.
    """
    moved = kinematics_of(system, motion, time_range=time_range, like_opensim=False)
    muscles = [system.path_names.index(muscle.name) for muscle in system.model.muscles]
    names = tuple(system.path_names[i] for i in muscles)
    frames = len(moved.q)
    length, speed = np.empty((frames, len(names))), np.empty((frames, len(names)))
    arms = np.empty((frames, len(names), system.n))
    for rows in _blocks(frames):
        q = system.constraints.project_q(moved.q[rows], time=moved.time[rows])
        u = system.constraints.project_u(q, moved.u[rows])
        length[rows] = system.path_lengths(q, paths=paths)[:, muscles]
        speed[rows] = system.path_speeds(q, u, paths=paths)[:, muscles]
        arms[rows] = _moment_arms(system, q, paths)[:, muscles]
        if progress is not None:
            progress(rows.stop, frames)
    values = {"Length": length, "LengtheningSpeed": speed}
    for coordinate in system.model.coordinates:
        values[f"MomentArm_{coordinate.name}"] = arms[..., system.coordinate_names.index(coordinate.name)]
    notes = tuple(moved.notes)
    return {name: Table(names, moved.time, value, False, {"name": name}, notes) for name, value in values.items()}


def _moment_arms(system: System, q: Array, paths: str) -> Array:
    if paths == "opensim":
        return system.opensim_moment_arms(q)
    return system.moment_arms(q, paths=paths, couplers=True)


def _blocks(frames: int) -> Iterator[slice]:
    for start in range(0, frames, FRAMES_AT_ONCE):
        yield slice(start, min(start + FRAMES_AT_ONCE, frames))
