"""Table: named columns over time.

    .mot, .sto --tables--> Table --inverse, markers--> Table --tables--> .sto, .mot
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from osim_inertia.errors import OsimInertiaError

Array = NDArray[np.float64]


class ColumnError(OsimInertiaError, KeyError):
    """A column that a table does not have."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class Table:
    """Values of F instants in c columns. Times are finite and increase from row to row.

    Angles are in degrees if `in_degrees`, else in radians: a column alone does not tell whether it is an angle, so
    nothing is converted before the coordinates of a model are known.
    """

    names: tuple[str, ...]  # c, time not among them
    time: Array  # (F,) s
    values: Array  # (F, c)
    in_degrees: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)  # of the header: "name" and whatever else it says
    notes: tuple[str, ...] = ()  # what the reader of the file wants the user to know

    def __post_init__(self) -> None:
        time, values = np.asarray(self.time, dtype=np.float64), np.asarray(self.values, dtype=np.float64)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "values", values)
        if time.ndim != 1 or values.shape != (len(time), len(self.names)):
            raise ValueError(f"time has shape {time.shape} and values {values.shape}; expected (F,) and "
                             f"(F, {len(self.names)}) for {len(self.names)} names.")  # fmt: skip
        if not np.isfinite(time).all():
            raise ValueError(f"time is {time[~np.isfinite(time)][0]} in row {np.argmin(np.isfinite(time))}.")
        late = np.flatnonzero(np.diff(time) <= 0.0)
        if len(late):
            raise ValueError(f"time goes from {time[late[0]]:.10g} to {time[late[0] + 1]:.10g} s in row {late[0] + 1}; "
                             "expected times that increase.")  # fmt: skip

    def __len__(self) -> int:
        return len(self.time)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        unit = ", in degrees" if self.in_degrees else ""
        return f"Table({len(self)} rows, {len(self.names)} columns{span}{unit})"

    def find(self, name: str) -> int | None:
        """Place of a column, or None. A state of OpenSim 4 is found under its older names, too."""
        for spelling in spellings(name):
            if spelling in self.names:
                return self.names.index(spelling)
        return None

    def index(self, name: str) -> int:
        """Place of a column that has to be there."""
        place = self.find(name)
        if place is None:
            close = difflib.get_close_matches(name, self.names, n=1)
            hint = f"; the closest is '{close[0]}'" if close else ""
            raise ColumnError(f"The table has no column '{name}'{hint}.")
        return place

    def column(self, name: str) -> Array:
        """(F,) values of one column."""
        return self.values[:, self.index(name)]

    def __getitem__(self, name: str) -> Array:
        return self.column(name)

    def between(self, start: float = -np.inf, end: float = np.inf) -> Table:
        """The rows from `start` to `end`, both included (s)."""
        a, b = np.searchsorted(self.time, start, "left"), np.searchsorted(self.time, end, "right")
        return self.rows(int(a), int(b))

    def rows(self, first: int, last: int) -> Table:
        """Rows first … last − 1."""
        return replace(self, time=self.time[first:last], values=self.values[first:last])

    def select(self, names: Iterable[str]) -> Table:
        """Some columns, in the order given."""
        names = tuple(names)
        return replace(self, names=names, values=self.values[:, [self.index(name) for name in names]])

    def with_values(self, values: ArrayLike) -> Table:
        """The same columns and times with other values (F, c)."""
        return replace(self, values=np.asarray(values, dtype=np.float64))

    def to_pandas(self) -> Any:
        """A DataFrame indexed by time. Needs pandas."""
        try:
            import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError:
            raise OsimInertiaError("to_pandas needs pandas, which is not installed: pip install pandas") from None
        index = pandas.Index(self.time, name="time")
        frame: Any = pandas.DataFrame(self.values, index=index, columns=list(self.names))
        frame.attrs.update(self.metadata, in_degrees=self.in_degrees)
        return frame


def spellings(name: str) -> list[str]:
    """The labels under which files of OpenSim 4 and 3 may have a quantity, best first (OPENSIM_SEMANTICS.md §8.4)."""
    if "/" not in name:
        return [name]
    parts = name.strip("/").split("/")
    found = [name, *("/".join(parts[i:]) for i in range(len(parts)))]
    if len(parts) > 1:
        owner, state = parts[-2:]
        found.append({"value": owner, "speed": f"{owner}_u"}.get(state, f"{owner}.{state}"))
    return found
