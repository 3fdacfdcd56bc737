"""A free-flying chain of ten joints of ten kinds, made in code."""

from __future__ import annotations

import numpy as np

from osim_inertia.model import functions as f
from osim_inertia.model import joints as j
from osim_inertia.model.frames import GROUND, Body, OffsetFrame
from osim_inertia.model.model import Model

KINDS = ("FreeJoint", "PinJoint", "BallJoint", "SliderJoint", "UniversalJoint", "GimbalJoint", "CustomJoint",
         "EllipsoidJoint", "PlanarJoint", "ScapulothoracicJoint")


def mixed_chain(seed: int = 1, kinds: tuple[str, ...] = KINDS) -> Model:
    """One body per joint; masses, inertias and offsets are random but sound."""
    rng = np.random.default_rng(seed)
    bodies, joints, frames = [], [], []
    for i, kind in enumerate(kinds):
        half = rng.uniform(0.05, 0.2, 3)
        mass = rng.uniform(0.5, 2.0)
        ixx, iyy, izz = mass / 3 * (half @ half - half**2)
        bodies.append(Body(name=f"b{i}", mass=mass, mass_center=tuple(rng.uniform(-0.1, 0.1, 3)),
                           inertia=(ixx, iyy, izz, 0.0, 0.0, 0.0)))
        parent = GROUND if i == 0 else f"/bodyset/b{i - 1}"
        for side, base in (("parent", parent), ("child", f"/bodyset/b{i}")):
            frames.append(OffsetFrame(path=f"/jointset/j{i}/{side}", parent=base,
                                      translation=tuple(rng.uniform(-0.2, 0.2, 3)),
                                      orientation=tuple(rng.uniform(-1, 1, 3))))
        joints.append(_joint(kind, i, rng))
    return Model(name="mixed chain", bodies=tuple(bodies), joints=tuple(joints), frames=tuple(frames))


def _joint(kind: str, i: int, rng: np.random.Generator) -> j.Joint:
    common = {"kind": kind, "name": f"j{i}", "parent_frame": f"/jointset/j{i}/parent",
              "child_frame": f"/jointset/j{i}/child"}
    if kind == "CustomJoint":
        names = (f"j{i}_a", f"j{i}_b")
        spline = f.SimmSpline(x=(-9.0, -2.0, 0.0, 1.0, 3.0, 9.0), y=tuple(rng.uniform(-0.3, 0.3, 6)))
        axes = (
            j.TransformAxis(axis=(1.0, 0.2, 0.0), coordinates=names[:1], function=f.LinearFunction()),
            j.TransformAxis(axis=(0.0, 1.0, 0.5), coordinates=names[1:], function=f.LinearFunction()),
            j.TransformAxis(axis=(0.1, 0.0, 1.0), coordinates=names[:1], function=spline),
            j.TransformAxis(axis=(1.0, 0.0, 0.0), coordinates=names, function=f.LinearFunction(
                coefficients=(0.05, -0.02, 0.1))),
            j.TransformAxis(axis=(0.0, 1.0, 0.0), coordinates=names[1:], function=f.Sine(amplitude=0.1)),
            j.TransformAxis(axis=(0.0, 0.0, 1.0)),
        )
        return j.CustomJoint(**common, axes=axes, coordinates=tuple(j.Coordinate(name=name) for name in names))
    coordinates = tuple(j.Coordinate(name=f"j{i}_{m}", motion_type=t) for m, t in enumerate(j.FIXED_LAYOUT[kind]))
    if kind == "EllipsoidJoint":
        return j.EllipsoidJoint(**common, coordinates=coordinates, radii=(0.1, 0.15, 0.2))
    if kind == "ScapulothoracicJoint":
        return j.ScapulothoracicJoint(**common, coordinates=coordinates, thoracic_ellipsoid_radii=(0.1, 0.15, 0.2),
                                      winging_origin=(0.02, 0.03), winging_direction=0.4)
    return j.Joint(**common, coordinates=coordinates)
