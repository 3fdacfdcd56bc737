"""Small limbs with one muscle, made in code: planar double pendulums of uniform rods."""

from __future__ import annotations

from math import pi

from osim_inertia.model.forces import Muscle
from osim_inertia.model.frames import GROUND, Body, OffsetFrame
from osim_inertia.model.joints import Coordinate, Joint
from osim_inertia.model.model import Model
from osim_inertia.model.muscle_mass import MassiveMuscle, MuscleMass
from osim_inertia.model.paths import GeometryPath, PathPoint, PathWrap, WrapCylinder


def double_pendulum(
    points: tuple[tuple[str, tuple[float, float, float]], ...],
    *,
    rod_mass: float = 1.0,
    rod_length: float = 0.5,
    muscle_mass: float = 1.0,
    cylinder: float = 0.0,
    quadrant: str = "all",
    **spec: object,
) -> Model:
    """Two rods hanging from ground along −y, each pinned at its upper end; a muscle through points of rods and ground.

    A cylinder of that radius sits at the second joint, fixed to the first rod.
    """
    inertia = rod_mass * rod_length**2 / 12.0
    bodies = tuple(
        Body(name=name, mass=rod_mass, mass_center=(0.0, -rod_length / 2, 0.0),
             inertia=(inertia, 0.0, inertia, 0.0, 0.0, 0.0))
        for name in ("rod1", "rod2")
    )
    frames = (
        OffsetFrame(path="/jointset/knee/rod1_offset", parent="/bodyset/rod1", translation=(0.0, -rod_length, 0.0)),
    )
    joints = (
        Joint(kind="PinJoint", name="hip", parent_frame=GROUND, child_frame="/bodyset/rod1",
              coordinates=(Coordinate(name="q1", range=(-10, 10)),)),
        Joint(kind="PinJoint", name="knee", parent_frame="/jointset/knee/rod1_offset", child_frame="/bodyset/rod2",
              coordinates=(Coordinate(name="q2", range=(-10, 10)),)),
    )
    path = GeometryPath(
        points=tuple(
            PathPoint(name=f"p{i}", frame=GROUND if body == "ground" else f"/bodyset/{body}", location=location)
            for i, (body, location) in enumerate(points)
        ),
        wraps=(PathWrap(name="w", wrap_object="pulley"),) if cylinder else (),
    )
    pulley = WrapCylinder(name="pulley", frame="/bodyset/rod1", translation=(0.0, -rod_length, 0.0), quadrant=quadrant,
                          radius=cylinder or 1.0, length=1.0)
    muscle = MassiveMuscle(name="muscle", taken_from=(("rod1", muscle_mass),), belly=(0.0, 1.0))
    return Model(
        name="double pendulum",
        bodies=bodies,
        joints=joints,
        frames=frames,
        wrap_objects=(pulley,) if cylinder else (),
        path_forces=(Muscle(kind="Thelen2003Muscle", name="muscle", geometry=path),),
        muscle_mass=MuscleMass(muscles=(muscle,), **spec) if muscle_mass else None,  # type: ignore[arg-type]
    )


def pai_limb(*, lumped: bool = False) -> Model:
    """Pai (2010) as quoted in the papers: two 4.2 kg, 0.43 m rods and a 4.2 kg muscle, straight and evenly spread."""
    ends = (("rod1", (0.0, 0.0, 0.0)), ("rod2", (0.0, -0.135 * 0.43, 0.0)))
    rod = 4.2 + (2.1 if lumped else 0.0)
    return double_pendulum(ends, rod_mass=rod, rod_length=0.43, muscle_mass=0.0 if lumped else 4.2)


PAI_START = (-45.0 * pi / 180.0, 135.0 * pi / 180.0)
