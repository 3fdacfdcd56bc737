"""Forces that act along a path, muscles among them, and what is kept without being understood."""

from __future__ import annotations

from dataclasses import dataclass

from osim_inertia.model.paths import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A component kept as the file has it: its class, its name and its XML in today's layout."""

    kind: str
    name: str
    path: str  # component path, e.g. /forceset/foot_floor
    line: int  # in the source file
    xml: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathForce:
    """A force along a path: muscle, ligament, path spring, path actuator. `kind` is OpenSim's class name."""

    kind: str
    name: str
    geometry: Path
    applies_force: bool = True
    properties: tuple[tuple[str, float], ...] = ()  # every other number of the element, by its tag
    extras: tuple[Raw, ...] = ()  # curves and other nested objects

    def value(self, tag: str, default: float | None = None) -> float | None:
        """Number written under `tag`, or the default."""
        return dict(self.properties).get(tag, default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Muscle(PathForce):
    """A musculotendon actuator of any class. SI units, radians, no derived values."""

    max_isometric_force: float = 1000.0  # N
    optimal_fiber_length: float = 0.1  # m
    tendon_slack_length: float = 0.2  # m
    pennation_angle: float = 0.0  # rad, at optimal fibre length
    max_contraction_velocity: float = 10.0  # optimal fibre lengths per second


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceGroup:
    """A name for several forces of any class, by which setup files of OpenSim's tools refer to all of them."""

    name: str
    members: tuple[str, ...] = ()  # names of forces
