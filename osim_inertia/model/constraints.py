"""Constraints between coordinates and bodies, as data."""

from __future__ import annotations

from dataclasses import dataclass

from osim_inertia.model.frames import NO_SHIFT, Vec3
from osim_inertia.model.functions import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateCoupler:
    """dependent = scale_factor · function(independent…)."""

    name: str
    independent: tuple[str, ...]
    dependent: str
    function: Function
    scale_factor: float = 1.0
    enforced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WeldConstraint:
    """Two frames kept coincident: six equations."""

    name: str
    frame_1: str
    frame_2: str
    enforced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PointConstraint:
    """A point of one frame kept on a point of another: three equations."""

    name: str
    frame_1: str
    frame_2: str
    location_1: Vec3 = NO_SHIFT
    location_2: Vec3 = NO_SHIFT
    enforced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantDistanceConstraint:
    """Two points kept at a distance: one equation."""

    name: str
    frame_1: str
    frame_2: str
    distance: float  # m
    location_1: Vec3 = NO_SHIFT
    location_2: Vec3 = NO_SHIFT
    enforced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PointOnLineConstraint:
    """A point of the follower kept on a line of another frame: two equations."""

    name: str
    line_frame: str
    line_direction: Vec3
    point_on_line: Vec3
    follower_frame: str
    point_on_follower: Vec3
    enforced: bool = True


Constraint = (
    CoordinateCoupler
    | WeldConstraint
    | PointConstraint
    | ConstantDistanceConstraint
    | PointOnLineConstraint
)
