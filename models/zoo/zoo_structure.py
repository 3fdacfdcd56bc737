"""Frames, trees and loops, and spellings of documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zoo_joints import (
    ANKLE,
    BODIES,
    HIP,
    KNEE,
    LOWER,
    MIDDLE,
    UPPER,
    X,
    Y,
    Z,
    chain,
    custom,
    joint,
    linear,
    plain_custom,
)
from zoo_xml import (
    V2,
    V3,
    V4,
    Body,
    Element,
    Joint,
    Zoo,
    el,
    function,
    named,
    offset_frame,
    part,
    sockets,
    wrapped,
)

PINS = chain(joint("PinJoint", "hip"), joint("PinJoint", "knee"))
OLD = (V2, V3)


def nested(version: int, names: str, parent: str, scale: float) -> Element:
    """Offset frames inside one another, each fixed to the one that owns it; the outermost to `parent`."""
    inner: list[Element] = []
    chain_of = names.split()
    for depth in range(len(chain_of) - 1, -1, -1):
        place = (0.1 * scale, -0.05 * scale * (depth + 1), 0.02), (0.2 * (depth + 1), -0.3 * scale, 0.1)
        owner = parent if depth == 0 else ".."
        frame = offset_frame(version, chain_of[depth], owner, *place, *inner)
        inner = [el("components", frame)]
    return inner[0][0]


def frame_models() -> list[Zoo]:
    """Frames fixed to frames."""
    joints = (
        Joint("PinJoint", "hip", "ground", "upper", inside=[lambda v: el("frames",
              offset_frame(v, "deep", "/ground/g1/g2/g3", (0.02, 0.03, -0.01), (0.1, 0.2, 0.3)))],
              sockets=("deep", "/bodyset/upper/u1/u2/u3")),
        Joint("BallJoint", "knee", "upper", "middle", inside=[lambda v: el("frames",
              nested(v, "k1 k2 k3", "/bodyset/middle", 0.4))], sockets=("../../bodyset/upper/u1", "k1/k2/k3")),
        Joint("PinJoint", "ankle", "middle", "lower", inside=[], sockets=("/loose", "/bodyset/lower")),
    )  # fmt: skip
    holder = replace(UPPER, inside=[lambda v: el("components", nested(v, "u1 u2 u3", "..", 0.5))])
    deep = Zoo(
        "frames_nested", "Offset frames three deep on ground, a body, a joint and the model", (holder, MIDDLE, LOWER),
        joints, versions=(V4,),
        ground=[lambda v: el("components", nested(v, "g1 g2 g3", "..", 1.0))],
        top=[lambda v: el("components", offset_frame(v, "loose", "/jointset/knee/k1", (0.01, -0.2, 0), (0, 0.4, 0.2)))],
    )  # fmt: skip
    in_set = Zoo(
        "frames_set", "A frame in the FrameSet that models had before 4.0", BODIES,
        (*PINS[:2], Joint("PinJoint", "ankle", "middle", "lower", sockets=("/loose", "/bodyset/lower"))),
        versions=(30510,), markers=False,
        top=[lambda v: el("FrameSet", el("objects", offset_frame(v, "loose", "/bodyset/middle", (0.01, -0.2, 0),
                                                                  (0, 0.4, 0.2))))],
    )  # fmt: skip
    return [deep, in_set, *(_station_frames(*axes) for axes in (("+x", "+y"), ("-z", "+x"), ("+y", "-z")))]


def _station_frames(ab_axis: str, ab_x_ac_axis: str) -> Zoo:
    points = {"a": (0.02, -0.2, 0.01), "b": (0.09, -0.17, 0.05), "c": (-0.01, -0.1, 0.06), "o": (0.03, -0.19, 0.02)}

    def landmarks(version: int) -> Element:
        stations = [el("Station", *sockets(version, parent_frame=".."), el("location", at), name=name)
                    for name, at in points.items()]  # fmt: skip
        frame = el("StationDefinedFrame", el("ab_axis", ab_axis), el("ab_x_ac_axis", ab_x_ac_axis),
                   *sockets(version, point_a="../a", point_b="../b", point_c="../c", origin_point="../o"),
                   name="anatomical")  # fmt: skip
        return el("components", *stations, frame)

    joints = (
        PINS[0],
        Joint("PinJoint", "knee", "upper", "middle", sockets=("/bodyset/upper/anatomical", "/bodyset/middle")),
        PINS[2],
    )
    letters = (ab_axis + ab_x_ac_axis).replace("+", "p").replace("-", "m")
    about = f"A frame spanned by stations: ab along {ab_axis}, ab x ac along {ab_x_ac_axis}"
    bodies = (replace(UPPER, inside=[landmarks]), MIDDLE, LOWER)
    return Zoo(f"frames_stations_{letters}", about, bodies, joints, versions=(40600,))


def tree_models() -> list[Zoo]:
    """Shapes of the tree: floating, welded and massless bodies, orders, loops."""
    side = Body("side", 0.9, (0.05, 0.01, 0.02), (0.006, 0.007, 0.008, 0.0005, 0.0002, -0.0004))
    twig = Body("twig", 0.4, (0.01, 0.03, 0.02), (0.002, 0.003, 0.0025, 0.0001, 0.0002, 0.0003))
    branch = Joint("UniversalJoint", "branch", "ground", "side", **KNEE)
    leaf = Joint("SliderJoint", "leaf", "side", "twig", **ANKLE)
    welded = (*chain(joint("BallJoint", "hip"), joint("WeldJoint", "knee"), ankle="WeldJoint"), branch,
              Joint("WeldJoint", "leaf", "side", "twig", **ANKLE))  # fmt: skip
    hollow = replace(MIDDLE, mass=0.0, mass_center=(0, 0, 0), inertia=(0.0,) * 6)
    return [
        Zoo("tree_floating", "A chain that is not joined to ground floats, and a body that no joint mentions",
            (*BODIES, side), PINS[1:], versions=(V4,)),
        Zoo("tree_floating_beside_pin", "A joint to ground without offset frames, and two bodies without joints",
            (UPPER, MIDDLE, LOWER), [Joint("PinJoint", "hip", "", "", sockets=("/ground", "/bodyset/upper"))],
            versions=(V4,)),
        Zoo("tree_all_floating", "No joints at all", BODIES, (), versions=(V4,)),
        Zoo("tree_all_floating", "No joints at all: an empty Joint element in every body",
            [replace(body, inside=[part("Joint")]) for body in BODIES], (), versions=OLD),
        Zoo("tree_welded", "Bodies welded to bodies and to a sliding one", (*BODIES, side, twig), welded),
        Zoo("tree_massless", "A massless body between two others", (UPPER, hollow, LOWER), PINS),
        Zoo("tree_breadth_first", "Two branches: the order of the state is not the order of the joints",
            (*BODIES, side, twig), (*PINS, branch, leaf)),
        Zoo("tree_child_first", "Joints listed before the joints of their parents", (LOWER, MIDDLE, UPPER, twig, side),
            (PINS[2], PINS[1], PINS[0], leaf, branch)),
        *loop_models(side),
    ]  # fmt: skip


def loop_models(side: Body) -> list[Zoo]:
    """Loops closed by a joint; OpenSim cuts a body in two and welds the halves."""
    bars = (UPPER, MIDDLE, LOWER)
    pins = [Joint("PinJoint", name, a, b, at_parent=(p, (0, 0, 0)), at_child=(c, (0, 0, 0))) for name, a, b, p, c in (
        ("p1", "ground", "upper", (0, 0, 0), (0, 0.1, 0)),
        ("p2", "upper", "middle", (0, -0.1, 0), (-0.1, 0, 0)),
        ("p3", "middle", "lower", (0.1, 0, 0), (0, -0.1, 0)),
        ("p4", "ground", "lower", (0.2, 0, 0), (0, 0.1, 0)))]  # fmt: skip

    def closed_by(kind: str) -> list[Joint]:
        return [pins[0], pins[1], replace(pins[2], kind=kind), pins[3]]

    swapped = replace(pins[3], reverse=True)
    return [
        Zoo("loop_four_bar", "A four-bar linkage; the last joint closes the loop", bars, pins, versions=(V4,)),
        Zoo("loop_four_bar_last_first", "The same with the closing joint listed first", bars, pins[::-1],
            versions=(V4,)),
        Zoo("loop_ball", "A loop closed by a ball joint, with a reversed joint and a branch", (*bars, side),
            [*closed_by("BallJoint")[:3], swapped, Joint("PinJoint", "branch", "lower", "side", **KNEE)],
            versions=(V4,)),
        Zoo("loop_weld", "A loop closed by a weld", bars, closed_by("WeldJoint"), versions=(V4,)),
        Zoo("loop_free", "A loop closed by a free joint, which closes nothing", bars, closed_by("FreeJoint"),
            versions=(V4,)),
        Zoo("loop_double", "A body that closes two loops is cut in three", (*bars, side),
            [*pins[:3], pins[3], Joint("PinJoint", "p5", "ground", "side", **HIP),
             Joint("PinJoint", "p6", "side", "middle", **KNEE)], versions=(V4,)),
    ]  # fmt: skip


def document_models() -> list[Zoo]:
    """Spellings: defaults, one-object properties, commas, blanks, digits, absent numbers, coordinate properties."""
    inner = function("LinearFunction", coefficients=(0.8, 0.1))
    spelt = custom(
        "hip", "a b c",
        ("rotation1", Z, "a", wrapped("function", inner)),
        ("rotation2", X, "b", named("function", inner)),
        ("rotation3", Y, "c", inner),
        ("translation1", X, "a", wrapped("function", function("Constant", value=0.04))),
        ("translation2", Y, "b", named("function", function("Sine", amplitude=0.1))),
        ("translation3", Z, "c", function("SimmSpline", x=(-1, 0, 0.5, 2), y=(0.1, 0.0, 0.05, -0.02))))  # fmt: skip
    comma = {"at_parent": ("0.03, -0.2, 0.02", "-0.15, 0.35, 0.6"), "at_child": ("0.01, 0.08, -0.03", "0.4, -0.1, 0.2")}
    commas = (PINS[0], replace(PINS[1], **comma), PINS[2])
    digits = {
        "at_parent": ((0.0312345678, -0.20000049, 1.23456789e-5), (-0.151515151, 0.3535353535, 0.6060606)),
        "at_child": ((0.0123456789, 0.0800000049, -0.0300005), (0.4444444444, -0.11111111, 0.2222222222)),
    }
    moments = (0.0181818181, 0.00909090909, 0.0171717171, -0.00101010101, 0.0008080808, 0.00121212121)
    center = (-0.0123456789, -0.0987654321, 0.0203040506)
    fine = replace(MIDDLE, mass=1.40000001234, mass_center=center, inertia=moments)
    blanks = (PINS[0], replace(PINS[1], name="the knee", coordinates={"knee angle": {}}), PINS[2])
    return [
        Zoo("doc_spellings", "The three spellings of a property that holds one object", BODIES,
            chain(spelt, joint("PinJoint", "knee"))),
        Zoo("doc_commas", "Vectors with a comma and a blank between numbers",
            (UPPER, replace(MIDDLE, mass_center="-0.01, -0.09, 0.02"), LOWER), commas, gravity="0.7, -9.6, 1.3"),
        Zoo("doc_digits", "Numbers of more than six digits, which old documents lose", (UPPER, fine, LOWER),
            (PINS[0], replace(PINS[1], **digits), PINS[2])),
        Zoo("doc_blank_names", "Blanks in the names of a joint and its coordinate, which are dropped", BODIES, blanks,
            versions=OLD),
        Zoo("doc_missing_inertia", "Absent moments of inertia, which old documents take as 1",
            (UPPER, replace(MIDDLE, inertia=None), LOWER), PINS, versions=OLD),
        _defaults(), _coordinates(), *_between_versions(),
    ]  # fmt: skip


def _defaults() -> Zoo:
    def block(version: int) -> Element:
        tags = [el("mass", 3.3), el("mass_center", (0.01, 0.02, 0.03))]
        if version >= 30500:
            tags.append(el("inertia", (0.05, 0.06, 0.07, 0.001, 0.002, 0.003)))
        coordinate = el("Coordinate", el("default_value", 0.25), el("range", (-0.5, 0.6)), name="default")
        return el("defaults", el("Body", *tags, name="default"), coordinate,
                  el("Sine", el("amplitude", 0.3), el("omega", 1.7), name="default"))  # fmt: skip

    hip = custom(
        "hip", "a b",
        ("rotation1", X, "a", wrapped("function", function("Sine"))),
        ("rotation2", Y, "b", linear(1, 0)))  # fmt: skip
    plain = Body("middle", None, None, None)
    return Zoo("doc_defaults", "A defaults block: absent properties take its values", (UPPER, plain, LOWER),
               chain(hip, joint("PinJoint", "knee")), top=[block])  # fmt: skip


def _coordinates() -> Zoo:
    sine = wrapped("prescribed_function", function("Sine", amplitude=0.2, omega=3.0, offset=0.1))
    properties: dict[str, dict[str, Any]] = {
        "hip_rx": {"default_value": 0.3, "default_speed_value": 0.2, "range": (-0.5, 0.6), "clamped": True},
        "hip_ry": {"default_value": -0.4, "locked": True},
        "hip_rz": {"prescribed": True, "prescribed_function": sine},
        "hip_tx": {"default_value": 0.1, "range": (-0.2, 0.3), "clamped": False},
        "hip_ty": {"prescribed": True},
        "hip_tz": {"default_value": -0.05, "locked": True, "is_free_to_satisfy_constraints": False},
    }
    hip = replace(plain_custom("hip"), coordinates=properties)
    knee = joint("PinJoint", "knee", coordinates={"knee_rz": {"default_value": 0.7, "locked": True}})
    return Zoo("doc_coordinates", "Coordinates with defaults, clamped, locked, prescribed", BODIES, chain(hip, knee))


def _between_versions() -> list[Zoo]:
    """Documents written between 3.3 and 4.0, with each of the spellings that sockets had."""
    backwards = chain(joint("PinJoint", "hip", reverse=True), plain_custom("knee"))
    forwards = chain(joint("PinJoint", "hip"), plain_custom("knee"))
    return [
        Zoo("doc_sockets", "Sockets as they were spelt between OpenSim 3.3 and 4.6", BODIES, forwards, markers=False,
            versions=(30508, 30510, 30513)),
        Zoo("doc_sockets_reversed", "Sockets between OpenSim 3.3 and 4.6, and a joint used backwards", BODIES,
            backwards, versions=(30500, 30501, 30505, 30507, 30514, 30516, 30517, 40500, 40600), markers=False),
    ]  # fmt: skip

