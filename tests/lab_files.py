"""The files a laboratory brings, made up: `walk/` with model, markers, motion, ground reaction and setup files.

The examples of the documentation use these names. One leg swings; its markers and motion fit each other exactly.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import osim_inertia as oi
from osim_inertia.markers.data import MarkerData
from osim_inertia.markers.trc import write_trc
from osim_inertia.model.forces import Muscle
from osim_inertia.model.frames import GROUND, Body, Marker, OffsetFrame
from osim_inertia.model.joints import ROTATIONAL, TRANSLATIONAL, Coordinate, Joint
from osim_inertia.model.paths import GeometryPath, PathPoint, PathWrap, WrapCylinder

FRAMES, RATE = 41, 50.0
KNEE, ANKLE = (0.0, -0.4, 0.0), (0.0, -0.42, 0.0)
Place = tuple[str, tuple[float, float, float]]


def lab_folder(root: Path) -> Path:
    """Make root/walk; everything in it is small."""
    walk = root / "walk"
    walk.mkdir(parents=True)
    model = leg()
    oi.write_osim(model, walk / "model.osim")
    system = oi.System(model)
    time = np.arange(FRAMES) / RATE
    q = _swing(time, system.n)
    degrees = np.where(_rotations(model), np.degrees(q), q)
    oi.write_table(oi.Table(system.coordinate_names, time, degrees, True, {"name": "walk"}), walk / "ik.mot")
    write_trc(MarkerData(system.marker_names, time, system.marker_positions(q), RATE), walk / "markers.trc")
    _write_loads(walk, time)
    _write_setups(walk, system.marker_names)
    (walk / "masses.csv").write_text("muscle,mass\ngasmed_r,0.25\nsoleus_r,0.45\ntibant_r,0.15\n")
    return walk


def leg() -> oi.Model:
    """Pelvis, thigh, shank and foot in a plane, three muscles, one of them over a cylinder at the knee."""
    bodies = tuple(
        Body(name=name, mass=mass, mass_center=center, inertia=(size, size, size, 0.0, 0.0, 0.0))
        for name, mass, center, size in (
            ("pelvis", 11.0, (0.0, 0.0, 0.0), 0.1), ("femur_r", 8.0, (0.0, -0.17, 0.0), 0.12),
            ("tibia_r", 3.5, (0.0, -0.18, 0.0), 0.05), ("calcn_r", 1.2, (0.06, -0.03, 0.0), 0.004),
        )
    )  # fmt: skip
    frames = (OffsetFrame(path="/bodyset/femur_r/knee", parent="/bodyset/femur_r", translation=KNEE),
              OffsetFrame(path="/bodyset/tibia_r/ankle", parent="/bodyset/tibia_r", translation=ANKLE))  # fmt: skip
    root = tuple(Coordinate(name=name, motion_type=kind, default_value=value) for name, kind, value in (
        ("pelvis_tilt", ROTATIONAL, 0.0), ("pelvis_tx", TRANSLATIONAL, 0.0), ("pelvis_ty", TRANSLATIONAL, 0.95)))
    joints = (
        Joint(kind="PlanarJoint", name="ground_pelvis", parent_frame=GROUND, child_frame="/bodyset/pelvis",
              coordinates=root),
        _pin("hip_r", "/bodyset/pelvis", "/bodyset/femur_r", "hip_flexion_r"),
        _pin("knee_r", "/bodyset/femur_r/knee", "/bodyset/tibia_r", "knee_angle_r"),
        _pin("ankle_r", "/bodyset/tibia_r/ankle", "/bodyset/calcn_r", "ankle_angle_r"),
    )  # fmt: skip
    cylinder = WrapCylinder(name="knee_r_gas", frame="/bodyset/femur_r", translation=KNEE, radius=0.03, length=0.2,
                            quadrant="-x")  # fmt: skip
    heel = ("/bodyset/calcn_r", (-0.04, -0.03, 0.0))
    muscles = (
        _muscle("gasmed_r", ("/bodyset/femur_r", (-0.03, -0.36, 0.0)), heel, 1500.0, 0.06, 0.38,
                (PathWrap(name="pathwrap", wrap_object="knee_r_gas"),)),
        _muscle("soleus_r", ("/bodyset/tibia_r", (-0.02, -0.12, 0.0)), heel, 3500.0, 0.05, 0.24),
        _muscle("tibant_r", ("/bodyset/tibia_r", (0.03, -0.15, 0.0)), ("/bodyset/calcn_r", (0.08, -0.02, 0.0)), 900.0,
                0.1, 0.2),
    )  # fmt: skip
    markers = tuple(
        Marker(name=f"{body.name}_{place}", frame=body.path, location=(0.05 * (place == "front"), -0.1 * k, 0.02 * k))
        for body in bodies for k, place in enumerate(("top", "front", "low"))
    )  # fmt: skip
    return oi.Model(name="leg", bodies=bodies, joints=joints, frames=frames, wrap_objects=(cylinder,),
                    path_forces=muscles, markers=markers)  # fmt: skip


def _pin(name: str, parent: str, child: str, coordinate: str) -> Joint:
    angle = Coordinate(name=coordinate, range=(-2.1, 2.1))
    return Joint(kind="PinJoint", name=name, parent_frame=parent, child_frame=child, coordinates=(angle,))


def _muscle(name: str, origin: Place, insertion: Place, force: float, fibre: float, tendon: float,
            wraps: tuple[PathWrap, ...] = ()) -> Muscle:  # fmt: skip
    points = tuple(PathPoint(name=f"{name}-P{k + 1}", frame=frame, location=place)
                   for k, (frame, place) in enumerate((origin, insertion)))
    return Muscle(kind="Millard2012EquilibriumMuscle", name=name, geometry=GeometryPath(points=points, wraps=wraps),
                  max_isometric_force=force, optimal_fiber_length=fibre, tendon_slack_length=tendon)  # fmt: skip


def _swing(time: np.ndarray, n: int) -> np.ndarray:
    phase = 2.0 * np.pi * time[:, None] * np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0]) + np.arange(n)
    return np.array([0.0, 0.0, 0.95, 0.3, -0.5, 0.0]) + np.array([0.05, 0.0, 0.02, 0.4, 0.4, 0.2]) * np.sin(phase)


def _rotations(model: oi.Model) -> np.ndarray:
    return np.array([c.motion_type == ROTATIONAL for c in model.coordinates])


def _write_loads(walk: Path, time: np.ndarray) -> None:
    parts = [*(f"ground_force_v{axis}" for axis in "xyz"), *(f"ground_force_p{axis}" for axis in "xyz")]
    values = np.column_stack([20.0 * np.sin(time), 200.0 + 50.0 * np.cos(time), *np.zeros((4, len(time)))])
    oi.write_table(oi.Table(tuple(parts), time, values, metadata={"name": "grf"}), walk / "grf.mot")
    (walk / "grf.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<OpenSimDocument Version="40000"><ExternalLoads name="loads">'
        '<objects><ExternalForce name="right"><applied_to_body>calcn_r</applied_to_body>'
        "<force_identifier>ground_force_v</force_identifier><point_identifier>ground_force_p</point_identifier>"
        "</ExternalForce></objects><datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>\n"
    )


def _write_setups(walk: Path, markers: tuple[str, ...]) -> None:
    tasks = "".join(f'<IKMarkerTask name="{name}"><weight>1</weight></IKMarkerTask>' for name in markers)
    (walk / "setup_ik.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<OpenSimDocument Version="40000"><InverseKinematicsTool name="walk">'
        f"<model_file>model.osim</model_file><IKTaskSet><objects>{tasks}</objects></IKTaskSet>"
        "<marker_file>markers.trc</marker_file><output_motion_file>ik_of_setup.mot</output_motion_file>"
        "</InverseKinematicsTool></OpenSimDocument>\n"
    )
    (walk / "setup_id.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<OpenSimDocument Version="40000"><InverseDynamicsTool name="walk">'
        "<model_file>model.osim</model_file><coordinates_file>ik.mot</coordinates_file>"
        "<external_loads_file>grf.xml</external_loads_file><forces_to_exclude>Muscles</forces_to_exclude>"
        "<lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates>"
        "<output_gen_force_file>id_of_setup.sto</output_gen_force_file></InverseDynamicsTool></OpenSimDocument>\n"
    )
