"""Paths of muscles and of other forces that act along a line, and the objects they wrap over."""

from __future__ import annotations

from dataclasses import dataclass

from osim_inertia.model.frames import NO_SHIFT, Vec3
from osim_inertia.model.functions import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPoint:
    """A point fixed in a frame."""

    name: str
    frame: str
    location: Vec3 = NO_SHIFT  # m


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalPathPoint:
    """A fixed point that counts only while a coordinate is within range."""

    name: str
    frame: str
    location: Vec3
    coordinate: str
    range: tuple[float, float]  # rad or m


@dataclass(frozen=True, slots=True, kw_only=True)
class MovingPathPoint:
    """A point whose location in its frame is a function of one coordinate."""

    name: str
    frame: str
    coordinate: str
    x: Function
    y: Function
    z: Function


AnyPathPoint = PathPoint | ConditionalPathPoint | MovingPathPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class PathWrap:
    """Lets a path wrap over one object, between two of its points."""

    name: str
    wrap_object: str  # bare name, as in the file
    range: tuple[int, int] = (-1, -1)  # 1-based points; below 1 is an open end
    method: str = "hybrid"  # ellipsoids only: hybrid, midpoint or axial


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryPath:
    """Points in order from origin to insertion, and the wraps in the order they are tried."""

    points: tuple[AnyPathPoint, ...]
    wraps: tuple[PathWrap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionBasedPath:
    """A path known only by its length as a function of coordinates."""

    coordinates: tuple[str, ...]
    length_function: Function
    moment_arm_functions: tuple[Function, ...] = ()  # empty: minus the derivatives of the length
    speed_function: Function | None = None


Path = GeometryPath | FunctionBasedPath


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapObject:
    """What all wrap objects share: where they are, and which side of them may be used."""

    name: str
    frame: str
    translation: Vec3 = NO_SHIFT  # m
    rotation: Vec3 = NO_SHIFT  # rad, body-fixed X-Y-Z
    quadrant: str = "all"  # all, x, +x, -x, y, …
    active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapCylinder(WrapObject):
    """A cylinder about its z axis."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapSphere(WrapObject):
    """A sphere."""

    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapEllipsoid(WrapObject):
    """An ellipsoid with half-axes along x, y, z."""

    dimensions: Vec3


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapTorus(WrapObject):
    """A torus about its z axis: the tube has the inner radius, the ring the outer one."""

    inner_radius: float
    outer_radius: float


AnyWrapObject = WrapCylinder | WrapSphere | WrapEllipsoid | WrapTorus
