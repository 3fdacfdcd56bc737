"""The arrays that kernels read. Bodies are in tree order (parents first); coordinates in the order of u."""

from __future__ import annotations

from typing import NamedTuple

from numpy import ndarray

from osim_inertia.kernels.functions import Functions


class Arrays(NamedTuple):
    """A multibody tree. nb bodies (slaves of closed loops included), n coordinates, na active custom-joint axes."""

    # bodies
    parent: ndarray  # (nb,) int: inboard body, -1 is ground
    mass: ndarray  # (nb,) kg
    com: ndarray  # (nb, 3) m, body frame
    inertia: ndarray  # (nb, 3, 3) kg m², about the mass centre, body axes
    gravity: ndarray  # (3,) m/s²
    # the joint that carries each body
    kind: ndarray  # (nb,) int: kernels.joints
    reversed: ndarray  # (nb,) bool: the joint's child frame is on the inboard side
    first: ndarray  # (nb,) int: its first coordinate
    dofs: ndarray  # (nb,) int: how many
    in_R: ndarray  # (nb, 3, 3) joint frame in the inboard body
    in_p: ndarray  # (nb, 3)
    out_R: ndarray  # (nb, 3, 3) outboard body in its joint frame (the inverse of the frame in the body)
    out_p: ndarray  # (nb, 3)
    params: ndarray  # (nb, 6) radii and winging axis of the ellipsoid joints
    like_opensim: ndarray  # (nb,) bool: axis rates of this custom joint as in OpenSim
    # axes of custom joints
    axis_first: ndarray  # (nb,) int
    axis_last: ndarray  # (nb,) int
    axis_slot: ndarray  # (na,) int: 0-2 rotations, 3-5 translations
    axis: ndarray  # (na, 3) unit
    axis_function: ndarray  # (na,) int
    axis_n_args: ndarray  # (na,) int
    axis_args: ndarray  # (na, 6) int: coordinates of the joint, counted from its first
    body_of: ndarray  # (n,) int: body a coordinate moves
    functions: Functions
