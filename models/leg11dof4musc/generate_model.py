"""Writes leg11dof4musc.osim: pelvis and right leg, 11 degrees of freedom, four muscles about the ankle.

    python models/leg11dof4musc/generate_model.py

README.md says where each number is from. Axes as in OpenSim's gait models: x forward, y up, z to the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

FILE = Path(__file__).with_name("leg11dof4musc.osim")
Vec3 = tuple[float, float, float]

# ---- the person, and segments after de Leva (1996), men --------------------------------------------------------------
MASS, STATURE, STATURE_OF_DE_LEVA = 75.0, 1.80, 1.741  # kg, m, m
# name: length (m) in a man of 1.741 m, mass / body mass, mass centre / length, radii of gyration / length about the
# sagittal (forward), transverse (to the right) and longitudinal axis
DE_LEVA = {
    "pelvis": (0.1457, 0.1117, 0.6115, 0.615, 0.551, 0.587),  # navel to middle of the hips
    "thigh": (0.4222, 0.1416, 0.4095, 0.329, 0.329, 0.149),  # hip to knee
    "shank": (0.4403, 0.0433, 0.4395, 0.251, 0.246, 0.102),  # knee to ankle
    "foot": (0.2581, 0.0137, 0.4415, 0.257, 0.245, 0.124),  # heel to tip of the toes
}
LENGTH = {name: row[0] * STATURE / STATURE_OF_DE_LEVA for name, row in DE_LEVA.items()}  # m
THIGH, SHANK = round(LENGTH["thigh"], 4), round(LENGTH["shank"], 4)

# ---- places (m) ------------------------------------------------------------------------------------------------------
HIP: Vec3 = (-0.059, -0.083, 0.082)  # in the pelvis, whose origin is midway between the front iliac spines
ANKLE: Vec3 = (0.055, 0.070, 0.0)  # in the foot, whose origin is the back of the heel on the sole
ACHILLES: Vec3 = (0.008, 0.058, 0.003)  # in the foot
CYLINDER_RADIUS, CYLINDER_LENGTH = 0.030, 0.12  # of the femoral condyles; the axis is the knee's

# name: force (N), fibre length (m), tendon slack length (m), pennation (rad), wraps?, points (body, place)
MUSCLES: dict[str, tuple[float, float, float, float, bool, tuple[tuple[str, Vec3], ...]]] = {
    "soleus_r": (6195.0, 0.044, 0.325, 0.381, False, (
        ("tibia_r", (-0.008, -0.104, 0.010)), ("calcn_r", ACHILLES))),
    "tibant_r": (1227.0, 0.0683, 0.284, 0.195, False, (
        ("tibia_r", (0.016, -0.149, 0.016)), ("tibia_r", (0.026, -0.217, 0.013)),
        ("tibia_r", (0.024, -0.416, -0.013)), ("calcn_r", (0.127, 0.044, -0.024)))),
    "gasmed_r": (3116.0, 0.051, 0.459, 0.166, True, (
        ("femur_r", (-0.002, -THIGH + 0.034, -0.022)), ("calcn_r", ACHILLES))),
    "gaslat_r": (1575.0, 0.0588, 0.452, 0.210, True, (
        ("femur_r", (-0.002, -THIGH + 0.034, 0.024)), ("calcn_r", ACHILLES))),
}  # fmt: skip

MARKERS: dict[str, tuple[str, Vec3]] = {
    "RASI": ("pelvis", (0.010, 0.000, 0.128)), "LASI": ("pelvis", (0.010, 0.000, -0.128)),
    "RPSI": ("pelvis", (-0.160, 0.035, 0.048)), "LPSI": ("pelvis", (-0.160, 0.035, -0.048)),
    "RTH1": ("femur_r", (0.020, -0.160, 0.085)), "RTH2": ("femur_r", (0.085, -0.220, 0.035)),
    "RTH3": ("femur_r", (0.015, -0.290, 0.075)), "RLFC": ("femur_r", (0.000, -THIGH, 0.055)),
    "RTB1": ("tibia_r", (0.010, -0.130, 0.060)), "RTB2": ("tibia_r", (0.045, -0.190, 0.010)),
    "RTB3": ("tibia_r", (0.005, -0.270, 0.052)), "RLMAL": ("tibia_r", (0.000, -SHANK, 0.042)),
    "RCAL": ("calcn_r", (-0.008, 0.040, 0.000)), "RMT5": ("calcn_r", (0.160, 0.020, 0.052)),
    "RMT1": ("calcn_r", (0.180, 0.035, -0.040)), "RTOE": ("calcn_r", (0.240, 0.030, 0.000)),
}  # fmt: skip


# ---- text ------------------------------------------------------------------------------------------------------------
def words(values: Sequence[float]) -> str:
    """Numbers as OpenSim writes them, to six decimals."""
    return " ".join(f"{round(value, 6) + 0.0:.10g}" for value in values)


def body(name: str, segment: str, center: Vec3, long_axis: int, wrap_objects: str = "") -> str:
    """A segment of de Leva as a body; `long_axis` is the number of the axis along which its length is measured."""
    length, share, _, sagittal, transverse, longitudinal = DE_LEVA[segment]
    mass, length = share * MASS, LENGTH[segment]
    about = [sagittal, longitudinal, transverse] if long_axis == 1 else [longitudinal, sagittal, transverse]
    inertia = [mass * (radius * length) ** 2 for radius in about]
    return (f'<Body name="{name}"><mass>{words([mass])}</mass><mass_center>{words(center)}</mass_center>'
            f"<inertia>{words([*inertia, 0.0, 0.0, 0.0])}</inertia>{wrap_objects}</Body>\n")  # fmt: skip


def condyles() -> str:
    """The cylinder that carries the gastrocnemii behind the knee; the quadrant keeps them from its front."""
    return ('<WrapObjectSet><objects><WrapCylinder name="condyles_r"><xyz_body_rotation>0 0 0</xyz_body_rotation>'
            f"<translation>{words([0.0, -THIGH, 0.0])}</translation><quadrant>-x</quadrant>"
            f"<radius>{CYLINDER_RADIUS}</radius><length>{CYLINDER_LENGTH}</length></WrapCylinder></objects></WrapObjectSet>")


def bodies() -> str:
    """The four segments."""
    at = {name: row[2] * LENGTH[name] for name, row in DE_LEVA.items()}
    pelvis_y = HIP[1] + LENGTH["pelvis"] - at["pelvis"]  # measured down from the navel, above the middle of the hips
    return "".join([
        body("pelvis", "pelvis", (HIP[0], pelvis_y, 0.0), 1),
        body("femur_r", "thigh", (0.0, -at["thigh"], 0.0), 1, condyles()),
        body("tibia_r", "shank", (0.0, -at["shank"], 0.0), 1),
        body("calcn_r", "foot", (at["foot"], 0.5 * ANKLE[1], 0.0), 0),
    ])  # fmt: skip


def axis(name: str, direction: str, coordinate: str) -> str:
    """One axis of a custom joint, moved by one coordinate or by none."""
    function = ("<LinearFunction><coefficients>1 0</coefficients></LinearFunction>" if coordinate
                else "<Constant><value>0</value></Constant>")  # fmt: skip
    return (f'<TransformAxis name="{name}"><coordinates>{coordinate}</coordinates><axis>{direction}</axis>'
            f"<function>{function}</function></TransformAxis>\n")  # fmt: skip


def joint(
    name: str, parent: str, child: str, at: Vec3, child_at: Vec3,
    coordinates: dict[str, tuple[float, float, float]], axes: Sequence[tuple[str, str]],
) -> str:  # fmt: skip
    """A custom joint; coordinates are name: (default, lowest, highest), axes (coordinate or "", direction)."""
    frames, sockets = "", ""
    for role, owner, place in (("parent", parent, at), ("child", child, child_at)):
        frame = f"{owner}_offset"
        path = "/ground" if owner == "ground" else f"/bodyset/{owner}"
        sockets += f"<socket_{role}_frame>{frame}</socket_{role}_frame>"
        frames += (f'<PhysicalOffsetFrame name="{frame}"><socket_parent>{path}</socket_parent>'
                   f"<translation>{words(place)}</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>\n")
    given = "".join(f'<Coordinate name="{key}"><default_value>{words([default])}</default_value>'
                    f"<range>{words([low, high])}</range></Coordinate>\n"
                    for key, (default, low, high) in coordinates.items())  # fmt: skip
    labels = [f"{kind}{i}" for kind in ("rotation", "translation") for i in (1, 2, 3)]
    moves = "".join(axis(label, direction, key) for label, (key, direction) in zip(labels, axes))
    return (f'<CustomJoint name="{name}">{sockets}<coordinates>{given}</coordinates><frames>{frames}</frames>'
            f"<SpatialTransform>{moves}</SpatialTransform></CustomJoint>\n")  # fmt: skip


def joints() -> str:
    """Pelvis 6, hip 3, knee 1, ankle 1, named and signed as in OpenSim's gait models (knee flexion positive)."""
    turn, half_turn, far = 1.570796, 2.094395, 5.0
    x, y, z = "1 0 0", "0 1 0", "0 0 1"
    fixed = (("", x), ("", y), ("", z))
    one = lambda name, direction: ((name, direction), ("", y), ("", x), *fixed)
    rotations = {"pelvis_tilt": (0.0, -turn, turn), "pelvis_list": (0.0, -turn, turn),
                 "pelvis_rotation": (0.0, -turn, turn)}  # fmt: skip
    shifts = {"pelvis_tx": (0.0, -far, far), "pelvis_ty": (0.95, -1.0, 2.0), "pelvis_tz": (0.0, -far, far)}
    hip = {"hip_flexion_r": (0.0, -half_turn, half_turn), "hip_adduction_r": (0.0, -turn, turn),
           "hip_rotation_r": (0.0, -turn, turn)}  # fmt: skip
    return "".join([
        joint("ground_pelvis", "ground", "pelvis", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), rotations | shifts,
              (("pelvis_tilt", z), ("pelvis_list", x), ("pelvis_rotation", y),
               ("pelvis_tx", x), ("pelvis_ty", y), ("pelvis_tz", z))),
        joint("hip_r", "pelvis", "femur_r", HIP, (0.0, 0.0, 0.0), hip,
              (("hip_flexion_r", z), ("hip_adduction_r", x), ("hip_rotation_r", y), *fixed)),
        joint("knee_r", "femur_r", "tibia_r", (0.0, -THIGH, 0.0), (0.0, 0.0, 0.0),
              {"knee_angle_r": (0.0, -0.174533, 2.443461)}, one("knee_angle_r", "0 0 -1")),
        joint("ankle_r", "tibia_r", "calcn_r", (0.0, -SHANK, 0.0), ANKLE,
              {"ankle_angle_r": (0.0, -1.047198, 0.698132)}, one("ankle_angle_r", z)),
    ])  # fmt: skip


def muscle(name: str) -> str:
    """One of the four muscles."""
    force, fibre, tendon, pennation, wraps, points = MUSCLES[name]
    places = "".join(f'<PathPoint name="{name}-P{i}"><socket_parent_frame>/bodyset/{owner}</socket_parent_frame>'
                     f"<location>{words(place)}</location></PathPoint>\n"
                     for i, (owner, place) in enumerate(points, 1))  # fmt: skip
    wrap = ('<PathWrapSet><objects><PathWrap name="knee"><wrap_object>condyles_r</wrap_object><range>-1 -1</range>'
            "</PathWrap></objects></PathWrapSet>" if wraps else "")  # fmt: skip
    return (f'<Millard2012EquilibriumMuscle name="{name}"><GeometryPath name="geometrypath">'
            f"<PathPointSet><objects>{places}</objects></PathPointSet>{wrap}</GeometryPath>"
            f"<max_isometric_force>{force:g}</max_isometric_force><optimal_fiber_length>{fibre:g}</optimal_fiber_length>"
            f"<tendon_slack_length>{tendon:g}</tendon_slack_length>"
            f"<pennation_angle_at_optimal>{pennation:g}</pennation_angle_at_optimal>"
            "<max_contraction_velocity>10</max_contraction_velocity></Millard2012EquilibriumMuscle>\n")  # fmt: skip


def document() -> str:
    """The whole model as text."""
    from xml.dom import minidom

    markers = "".join(f'<Marker name="{name}"><socket_parent_frame>/bodyset/{owner}</socket_parent_frame>'
                      f"<location>{words(place)}</location><fixed>true</fixed></Marker>\n"
                      for name, (owner, place) in MARKERS.items())  # fmt: skip
    text = (
        '<OpenSimDocument Version="40000"><Model name="leg11dof4musc">'
        "<credits>The osim-inertia developers; sources of all numbers in the README beside this file.</credits>"
        "<length_units>meters</length_units><force_units>N</force_units><gravity>0 -9.80665 0</gravity>"
        f'<Ground name="ground" /><BodySet><objects>{bodies()}</objects></BodySet>'
        f"<JointSet><objects>{joints()}</objects></JointSet>"
        f"<ForceSet><objects>{''.join(map(muscle, MUSCLES))}</objects></ForceSet>"
        f"<MarkerSet><objects>{markers}</objects></MarkerSet></Model></OpenSimDocument>"
    )
    pretty = minidom.parseString(text.replace("\n", "")).toprettyxml(indent="\t")
    return pretty.replace('<?xml version="1.0" ?>', '<?xml version="1.0" encoding="UTF-8" ?>')


if __name__ == "__main__":
    FILE.write_text(document(), encoding="utf-8")
