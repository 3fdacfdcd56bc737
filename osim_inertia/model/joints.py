"""Joints and their coordinates, as the file has them."""

from __future__ import annotations

from dataclasses import dataclass, field

from osim_inertia.model.frames import Vec3
from osim_inertia.model.functions import Constant, Function

ROTATIONAL, TRANSLATIONAL, COUPLED = "rotational", "translational", "coupled"

# Motion type of each coordinate of the joints whose layout is fixed, in order (OPENSIM_SEMANTICS.md §2.2).
FIXED_LAYOUT: dict[str, tuple[str, ...]] = {
    "WeldJoint": (),
    "PinJoint": (ROTATIONAL,),
    "SliderJoint": (TRANSLATIONAL,),
    "UniversalJoint": (ROTATIONAL,) * 2,
    "GimbalJoint": (ROTATIONAL,) * 3,
    "BallJoint": (ROTATIONAL,) * 3,
    "EllipsoidJoint": (ROTATIONAL,) * 3,
    "PlanarJoint": (ROTATIONAL, TRANSLATIONAL, TRANSLATIONAL),
    "FreeJoint": (ROTATIONAL,) * 3 + (TRANSLATIONAL,) * 3,
    "ScapulothoracicJoint": (ROTATIONAL,) * 4,
}

AXIS_NAMES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinate:
    """One degree of freedom. Radians or metres."""

    name: str
    motion_type: str = ROTATIONAL  # rotational, translational or coupled: decides degrees and _moment/_force
    default_value: float = 0.0
    default_speed_value: float = 0.0
    range: tuple[float, float] = (-10.0, 10.0)
    clamped: bool = False
    locked: bool = False
    prescribed: bool = False
    prescribed_function: Function | None = None
    is_free_to_satisfy_constraints: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """A joint between two frames. `kind` is OpenSim's class name."""

    kind: str
    name: str
    parent_frame: str
    child_frame: str
    coordinates: tuple[Coordinate, ...] = ()

    @property
    def path(self) -> str:
        """Component path, as sockets refer to it."""
        return f"/jointset/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformAxis:
    """One of the six axes of a CustomJoint: how far along or about `axis`, as a function of coordinates."""

    axis: Vec3  # as written; normalised where it is used
    coordinates: tuple[str, ...] = ()
    function: Function = field(default_factory=Constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomJoint(Joint):
    """Three rotations, then three translations in the parent frame, each about or along its own axis."""

    axes: tuple[TransformAxis, ...]  # rotation1..3, translation1..3


@dataclass(frozen=True, slots=True, kw_only=True)
class EllipsoidJoint(Joint):
    """The child's origin slides on an ellipsoid fixed in the parent frame."""

    radii: Vec3  # m


@dataclass(frozen=True, slots=True, kw_only=True)
class ScapulothoracicJoint(Joint):
    """The scapula glides on the thoracic ellipsoid and wings about an axis of its own."""

    thoracic_ellipsoid_radii: Vec3  # m
    winging_origin: tuple[float, float]  # m, in the scapula plane
    winging_direction: float  # rad
