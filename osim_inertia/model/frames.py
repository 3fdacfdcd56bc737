"""Bodies and the frames, stations and markers fixed to them.

Frames are named by their component path as OpenSim writes it: `/ground`, `/bodyset/tibia_r`,
`/jointset/knee_r/femur_r_offset`.
"""

from __future__ import annotations

from dataclasses import dataclass

Vec3 = tuple[float, float, float]

GROUND = "/ground"
NO_SHIFT: Vec3 = (0.0, 0.0, 0.0)
FULL_SIZE: Vec3 = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """A surface for viewers, fixed in the frame that holds it."""

    file: str  # as in the model; it is looked for when it is drawn
    scale: Vec3 = FULL_SIZE  # along the frame's axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A rigid body. Inertia is about the mass centre, in body axes."""

    name: str
    mass: float  # kg
    mass_center: Vec3 = NO_SHIFT  # m, in the body frame
    inertia: tuple[float, float, float, float, float, float] = (0.0,) * 6  # kg m²: xx yy zz xy xz yz
    meshes: tuple[Mesh, ...] = ()

    @property
    def path(self) -> str:
        """Component path, as sockets refer to it."""
        return f"/bodyset/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFrame:
    """A frame fixed in another one (PhysicalOffsetFrame)."""

    path: str
    parent: str  # path of the frame it is fixed in
    translation: Vec3 = NO_SHIFT  # m
    orientation: Vec3 = NO_SHIFT  # rad, body-fixed X-Y-Z
    meshes: tuple[Mesh, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A point fixed in a frame."""

    path: str
    parent: str
    location: Vec3 = NO_SHIFT  # m


@dataclass(frozen=True, slots=True, kw_only=True)
class StationDefinedFrame:
    """A frame spanned by stations of one body: axis ab points from a to b, c fixes the plane."""

    path: str
    ab_axis: str  # one of ±x ±y ±z
    ab_x_ac_axis: str  # the axis along ab × ac
    point_a: str  # paths of stations
    point_b: str
    point_c: str
    origin_point: str


Frame = OffsetFrame | StationDefinedFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A marker glued to a frame."""

    name: str
    frame: str
    location: Vec3 = NO_SHIFT  # m
    fixed: bool = False
