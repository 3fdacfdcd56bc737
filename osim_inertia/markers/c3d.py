"""Read .c3d files: markers, and force plates as a table of ground reaction forces. Needs ezc3d (extra `c3d`).

Everything comes in metres and newtons with the Y axis up, as OpenSim's gait models have it. Laboratories mostly have Z
up; which axis it is, the file says (POINT:Y_SCREEN), or the plates do, which only push upwards, or the markers do,
which are never under the floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import FileError, OsimInertiaError
from osim_inertia.markers.data import Array, MarkerData
from osim_inertia.markers.trc import METRES
from osim_inertia.tables.table import Table

# Rows: x, y, z of the model in terms of the file's axes, by the file's axis that points up.
Y_UP = {
    "x": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "y": np.eye(3),
    "z": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
}
FLOOR = -0.1  # m: no marker is lower
LENGTHS = METRES | {"": 0.001}  # a file that does not say is in mm, as almost all are


@dataclass(frozen=True, eq=False)
class Recording:
    """What a .c3d file holds."""

    markers: MarkerData
    forces: Table | None  # ground_force_<plate>_vx … px … and ground_torque_<plate>_x …: N, m, N m; None without plates
    up: str  # the file's axis that points up


def read_c3d(path: str | Path, *, up: str | None = None) -> Recording:
    """Read markers and force plates. `up` is the file's vertical axis, "x", "y" or "z"; by default it is found out."""
    path = Path(path)
    try:
        import ezc3d  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise OsimInertiaError("Reading .c3d files needs ezc3d: pip install 'osim-inertia[c3d]'") from None
    if not path.is_file():
        raise FileError("The file does not exist.", file=path)
    try:
        content = ezc3d.c3d(str(path), extract_forceplat_data=True)
    except Exception as error:  # ezc3d raises bare C++ errors of any class
        raise FileError(f"The file cannot be read as C3D: {error}.", file=path) from None
    return recording(content, path, up)


def recording(content: Mapping[str, Any], path: Path, up: str | None) -> Recording:
    """The content of a file, as ezc3d lays it out, in the model's axes."""
    parameters, data = content["parameters"], content["data"]
    plates = [plate for plate in data.get("platform", []) if np.size(plate["force"])]
    if up is not None and up not in Y_UP:
        raise ValueError(f"up is {up!r}; expected 'x', 'y' or 'z'.")
    markers = _markers(content, path)
    axis = up or _vertical(parameters, plates, markers)
    notes = () if up or plates or _screen(parameters) else (
        f"The file does not say which axis points up; {axis} is taken, along which no marker is under the floor.",)
    markers = replace(markers, positions=np.ascontiguousarray(markers.positions @ Y_UP[axis].T), notes=notes)
    first = float(markers.time[0]) if len(markers) else 0.0
    forces = _forces(plates, float(content["header"]["analogs"]["frame_rate"]), first, Y_UP[axis]) if plates else None
    return Recording(markers, forces, axis)


def _value(parameters: Mapping[str, Any], group: str, name: str) -> Sequence[Any]:
    return parameters.get(group, {}).get(name, {}).get("value", ())


def _screen(parameters: Mapping[str, Any]) -> str:
    """The axis that is drawn upwards, if the file says so."""
    word = "".join(str(word) for word in _value(parameters, "POINT", "Y_SCREEN")).strip().lower()
    return word[-1:] if word[-1:] in Y_UP else ""


def _vertical(parameters: Mapping[str, Any], plates: Sequence[Mapping[str, Any]], markers: MarkerData) -> str:
    if _screen(parameters):
        return _screen(parameters)
    if plates:
        return "xyz"[int(sum(np.nansum(np.abs(plate["force"]), axis=1) for plate in plates).argmax())]
    known = markers.positions[np.isfinite(markers.positions).all(axis=2)]
    lowest = known.min(axis=0, initial=np.inf)
    return "y" if lowest[1] > FLOOR > lowest[2] else "z"


def _markers(content: Mapping[str, Any], path: Path) -> MarkerData:
    """Markers in metres, in the axes of the file."""
    parameters = content["parameters"]
    points = np.asarray(content["data"]["points"], dtype=np.float64)[:3]
    rate = float(content["header"]["points"]["frame_rate"])
    first = int(content["header"]["points"]["first_frame"])
    names = [str(label).strip() for label in _value(parameters, "POINT", "LABELS")][: points.shape[1]]
    if not names or rate <= 0.0 or not points.shape[2]:
        raise FileError("The file holds no marker trajectories.", file=path)
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise FileError(f"Two markers are called '{twice}'.", file=path, to_do="rename one of them")
    unit = "".join(str(word) for word in _value(parameters, "POINT", "UNITS")[:1]).strip()
    if unit.lower() not in LENGTHS:
        raise FileError("The unit of length is not known.", file=path, found=f"POINT:UNITS '{unit}'",
                        expected="mm, cm or m")
    positions = points.transpose(2, 1, 0) * LENGTHS[unit.lower()]
    residual = np.asarray(content["data"].get("meta_points", {}).get("residuals", np.zeros((1, *points.shape[1:]))))
    missing = (residual[0].T < 0.0) | ~np.isfinite(positions).all(axis=2)
    positions[missing] = np.nan
    time = (first + np.arange(points.shape[2])) / rate
    return MarkerData(tuple(names), time, np.ascontiguousarray(positions), rate, unit or "mm", str(path))


def _forces(plates: Sequence[Mapping[str, Any]], rate: float, first: float, turn: NDArray) -> Table:
    """Forces on the body, where they act, and the free moments, of all plates."""
    names: list[str] = []
    columns: list[Array] = []
    total = sum(float(np.nansum(turn[1] @ plate["force"])) for plate in plates)
    sign = -1.0 if total < 0.0 else 1.0  # some files have what the foot does to the plate
    for number, plate in enumerate(plates, 1):
        force = sign * (turn @ np.asarray(plate["force"]))
        metre = LENGTHS.get(plate.get("unit_position", "mm").lower(), 0.001)
        centre = turn @ np.asarray(plate["center_of_pressure"]) * metre
        per_newton_metre = LENGTHS.get(plate.get("unit_moment", "Nmm").lower().removeprefix("n"), 0.001)
        torque = sign * (turn @ np.asarray(plate["Tz"])) * per_newton_metre
        for block, kind, axes in ((force, "force", ("vx", "vy", "vz")), (centre, "force", ("px", "py", "pz")),
                                  (torque, "torque", ("x", "y", "z"))):  # fmt: skip
            names += [f"ground_{kind}_{number}_{axis}" for axis in axes]
            columns += list(np.nan_to_num(block))
    values = np.array(columns).T
    time = first + np.arange(len(values)) / rate
    return Table(tuple(names), time, values, metadata={"name": "Ground reaction forces"})
