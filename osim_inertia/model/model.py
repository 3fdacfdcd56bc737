"""The whole model: tuples of frozen elements, and lookup by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from osim_inertia.model.constraints import Constraint
from osim_inertia.model.forces import ForceGroup, Muscle, PathForce, Raw
from osim_inertia.model.frames import Body, Frame, Marker, Mesh, Station, Vec3
from osim_inertia.model.joints import Coordinate, Joint
from osim_inertia.model.muscle_mass import MuscleMass
from osim_inertia.model.paths import AnyWrapObject

STANDARD_GRAVITY: Vec3 = (0.0, -9.80665, 0.0)


@dataclass(frozen=True, kw_only=True)
class Model:
    """A musculoskeletal model. SI units and radians throughout."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    stations: tuple[Station, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    markers: tuple[Marker, ...] = ()
    wrap_objects: tuple[AnyWrapObject, ...] = ()
    path_forces: tuple[PathForce, ...] = ()  # muscles and everything else that pulls along a path
    force_groups: tuple[ForceGroup, ...] = ()
    muscle_mass: MuscleMass | None = None  # None: massless muscles, as in OpenSim
    unsupported: tuple[Raw, ...] = ()  # kept by class and name, not computed with
    notes: tuple[str, ...] = ()  # what the reader wants the user to know
    gravity: Vec3 = STANDARD_GRAVITY  # m/s², in ground
    assembly_accuracy: float = 1e-9
    ground_meshes: tuple[Mesh, ...] = ()
    credits: str = ""
    publications: str = ""
    source: str = ""  # file it was read from
    version: int = 40000  # document version of that file

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """All coordinates, joint by joint (OpenSim's CoordinateSet order)."""
        return tuple(c for joint in self.joints for c in joint.coordinates)

    @property
    def muscles(self) -> tuple[Muscle, ...]:
        """The path forces that are muscles."""
        return tuple(f for f in self.path_forces if isinstance(f, Muscle))

    @property
    def mass(self) -> float:
        """Total mass, kg: bodies, and muscles that have mass."""
        muscles = self.muscle_mass.muscles if self.muscle_mass else ()
        return sum(body.mass for body in self.bodies) + sum(muscle.mass for muscle in muscles)

    def body(self, name: str) -> Body:
        """The body of that name."""
        for body in self.bodies:
            if body.name == name:
                return body
        raise KeyError(f"The model '{self.name}' has no body '{name}'.")

    def coordinate(self, name: str) -> Coordinate:
        """The coordinate of that name."""
        for coordinate in self.coordinates:
            if coordinate.name == name:
                return coordinate
        raise KeyError(f"The model '{self.name}' has no coordinate '{name}'.")
