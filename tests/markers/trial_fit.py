"""What the tests of inverse kinematics share: trials, and the cost of a motion worked out apart from the solver."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import osim_inertia as oi
from osim_inertia.markers.data import MarkerData
from osim_inertia.markers.tasks import TaskSet, read_tasks
from osim_inertia.model.joints import ROTATIONAL

TRIALS = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "trials"
NAMES = ("arm26_elbow_flex", "gait10dof18musc_walk", "gait2392_walk", "hamner_run", "leg39_swing", "rajagopal_run",
         "rajagopal_walk")  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One trial of the reference data."""

    name: str

    @cached_property
    def folder(self) -> Path:
        return TRIALS / self.name

    @cached_property
    def system(self) -> oi.System:
        return oi.System(oi.read_osim(self.folder / "model.osim"))

    @cached_property
    def tasks(self) -> TaskSet:
        return read_tasks(self.folder / "setup_ik.xml")

    @cached_property
    def reference(self) -> oi.Table:
        return oi.read_table(self.folder / "ik_tight.mot")

    @cached_property
    def markers(self) -> MarkerData:
        """The frames that OpenSim was run on."""
        return oi.read_markers(self.folder / "markers.trc").between(self.reference.time[0], self.reference.time[-1])

    def poses(self, motion: oi.Table) -> np.ndarray:
        """(F, n) in the system's order, radians and metres."""
        angle = {c.name: c.motion_type == ROTATIONAL for c in self.system.model.coordinates}
        return np.column_stack([motion.column(name) * (np.pi / 180 if angle[name] else 1.0)
                                for name in self.system.coordinate_names])  # fmt: skip

    def on_couplers(self, q: np.ndarray) -> np.ndarray:
        """The poses with dependent coordinates as the couplers say: files have them rounded."""
        errors = self.system.constraints.errors(q) if self.system.constraints.names else np.zeros((len(q), 0))
        q = q.copy()
        for column, name in enumerate(self.system.constraints.names):
            coupler = next(c for c in self.system.model.constraints if c.name == name)
            q[:, self.system.coordinate_names.index(coupler.dependent)] -= errors[:, column]
        return q

    def cost(self, q: np.ndarray, positions: np.ndarray | None = None) -> np.ndarray:
        """½ Σ w |x − m|² / Σ w over the markers present, plus ½ w (q − q_ref)²: OPENSIM_SEMANTICS.md §7, in NumPy."""
        data = self.markers.positions if positions is None else positions
        weights = {task.name: task.weight for task in self.tasks.markers if task.apply}
        names = [name for name in self.markers.names if name in weights and name in self.system.marker_names]
        model = self.system.marker_positions(q)[:, [self.system.marker_names.index(name) for name in names]]
        squares = ((model - data[:, [self.markers.names.index(name) for name in names]]) ** 2).sum(axis=2)
        present = np.isfinite(squares)
        w = np.array([weights[name] for name in names]) * present
        cost = 0.5 * (w * np.where(present, squares, 0.0)).sum(axis=1) / np.maximum(w.sum(axis=1), 1e-300)
        for task in self.tasks.coordinates:
            value = self.system.model.coordinate(task.name).default_value
            cost = cost + 0.5 * task.weight * (q[:, self.system.coordinate_names.index(task.name)] - value) ** 2
        return cost
