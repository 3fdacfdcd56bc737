"""Damaged model files, a few hundred of them:   python make_damaged.py FOLDER [SEED]

Every one holds a fault that would change numbers or break the model, so that a reader which accepts it is wrong. Faults
without effect (a cut in the white space at the end, a misspelt colour) are not made.
"""

from __future__ import annotations

import io
import os
import random
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / ".." / "shared" / "data"
ARM = (HERE / "arm.osim").read_text(encoding="utf-8")  # today's layout, a bit of everything
OLD_ARM = (HERE / "old_arm.osim").read_text(encoding="utf-8")  # as OpenSim 3 wrote models
LARGE = ("models/Arm26/arm26.osim", "models/BouncingBlock/bouncing_block.osim")
Fault = tuple[str, bytes]  # label, content

CUTS = 25  # per source
# Tags of ARM that hold numbers, and how many; a `range` may be infinite.
VECTORS = {
    "gravity": 3, "mass_center": 3, "inertia": 6, "translation": 3, "orientation": 3, "location": 3, "axis": 3,
    "range": 2, "xyz_body_rotation": 3, "dimensions": 3, "location_body_1": 3, "location_body_2": 3,
}  # fmt: skip
SCALARS = (
    "mass", "radius", "length", "inner_radius", "outer_radius", "default_value", "default_speed_value", "value",
    "scale", "scale_factor", "constant_distance", "max_isometric_force", "optimal_fiber_length", "tendon_slack_length",
    "pennation_angle_at_optimal", "max_contraction_velocity", "resting_length", "stiffness",
)  # fmt: skip
LISTS = ("coefficients", "x", "y")
FLAGS = ("active", "clamped", "locked", "isEnforced", "appliesForce", "fixed")
STRUCTURE = (
    "BodySet", "JointSet", "ConstraintSet", "ForceSet", "MarkerSet", "PathPointSet", "PathWrapSet", "WrapObjectSet",
    "objects", "GeometryPath", "SpatialTransform", "TransformAxis", "coordinates", "frames", "components", "function",
    "wrap_object", "method", "quadrant", "socket_parent_frame", "socket_child_frame", "socket_parent",
    "socket_coordinate", "socket_x_coordinate", "x_location", "z_location", "coupled_coordinates_function",
    "independent_coordinate_names", "dependent_coordinate_name", "socket_body_1", "Ground", "Coordinate", "Body",
    "Marker", "PathPoint", "PathWrap",
    "PinJoint", "CustomJoint", "SimmSpline", "MultiplierFunction", "WrapCylinder", "CoordinateCouplerConstraint",
    "PointConstraint", "FmaxTendonStrain", "PhysicalOffsetFrame", "ConditionalPathPoint",
)  # fmt: skip
OLD_TAGS = (
    "mass", "inertia_xx", "Joint", "parent_body", "location_in_parent", "orientation_in_parent", "location",
    "orientation", "CoordinateSet", "body", "isDisabled", "range",
)  # fmt: skip
UNKNOWN_CLASSES = ("<HingeJoint", "<BezierSpline", "<ViaPoint", "<SoftBody", "<PathPoint_")


def make_damaged(folder: str | Path, seed: int = 0) -> list[Path]:
    """Write all damaged files into a folder; their paths. One path is a folder, one file may not be read."""
    folder = Path(folder)
    paths = []
    for number, (label, content) in enumerate(faults(random.Random(seed))):
        path = folder / f"{number:03d}_{re.sub(r'[^A-Za-z0-9]+', '_', label)}.osim"
        path.write_bytes(content)
        paths.append(path)
    (folder / "a_folder.osim").mkdir()
    paths.append(folder / "a_folder.osim")
    if hasattr(os, "geteuid") and os.geteuid() != 0:  # root may read everything
        locked = folder / "no_permission.osim"
        locked.write_text(ARM)
        locked.chmod(0)
        paths.append(locked)
    return paths


def faults(rng: random.Random) -> Iterator[Fault]:
    """All faults, with a label each."""
    yield from cut_short(rng)
    yield from misspelt(rng)
    yield from unclosed(rng)
    yield from wrong_numbers()
    yield from wrong_structure()
    yield from not_a_model()
    yield from hostile()


def _edited(label: str, old: str, new: str, source: str = ARM) -> Fault:
    assert old in source, old
    return label, source.replace(old, new, 1).encode()


def cut_short(rng: random.Random) -> Iterator[Fault]:
    """Files that end too early, anywhere before the last tag."""
    sources = {"arm": ARM.encode(), "old": OLD_ARM.encode()}
    sources |= {Path(name).stem: (DATA / name).read_bytes() for name in LARGE if (DATA / name).exists()}
    for name, data in sources.items():
        end = data.rindex(b"</OpenSimDocument>")
        for place in sorted(rng.sample(range(1, end), CUTS)):
            yield f"cut {name} at {place}", data[:place]
        yield f"cut {name} in the last tag", data[: end + 5]


def misspelt(rng: random.Random) -> Iterator[Fault]:
    """One tag misspelt, opening and closing alike, so that the XML is sound: OpenSim says nothing."""
    tags = [*VECTORS, *SCALARS, *LISTS, *FLAGS, *STRUCTURE]
    for source, name, some in ((ARM, "arm", tags), (OLD_ARM, "old", OLD_TAGS)):
        for tag in some:
            for wrong in _misspellings(tag, rng):
                yield _renamed(f"{name} {tag} as {wrong}", source, tag, wrong)


def _misspellings(tag: str, rng: random.Random) -> list[str]:
    if len(tag) < 3:
        return [tag * 2]
    place = rng.choice([i for i in range(1, len(tag) - 1) if tag[i] != tag[i + 1]])
    swapped = tag[:place] + tag[place + 1] + tag[place] + tag[place + 2 :]
    place = rng.choice([i for i in range(1, len(tag)) if tag[i] != tag[i - 1]])
    doubled = tag[:place] + tag[place - 1] + tag[place:]
    place = rng.randrange(len(tag))
    dropped = tag[:place] + tag[place + 1 :]
    return [swapped, doubled, dropped]


def _renamed(label: str, source: str, tag: str, wrong: str) -> Fault:
    """The first element with the tag, renamed."""
    start = re.search(rf"<{tag}(?=[\s>/])", source)
    assert start, tag
    depth, close = 0, None
    for match in re.finditer(rf"<(/?){tag}(?=[\s>/])[^>]*?(/?)>", source[start.start() :]):
        depth += 0 if match[2] else -1 if match[1] else 1
        if depth == 0:
            close = match
            break
    assert close is not None
    begin, end = start.start(), start.start() + close.start()
    inside = source[begin + 1 + len(tag) : end]
    if close[2]:  # <tag />
        return label, f"{source[: begin + 1]}{wrong}{source[begin + 1 + len(tag) :]}".encode()
    after = source[start.start() + close.end() :]
    return label, f"{source[:begin]}<{wrong}{inside}</{wrong}>{after}".encode()


def unclosed(rng: random.Random) -> Iterator[Fault]:
    """Closing tags misspelt, missing or exchanged."""
    for tag in rng.sample([*VECTORS, *SCALARS, *STRUCTURE[:20]], 20):
        yield _edited(f"close {tag} wrongly", f"</{tag}>", f"</{tag[:-1]}>")
    for tag in ("Model", "Body", "objects", "JointSet", "mass"):
        yield _edited(f"leave {tag} open", f"</{tag}>", "")
    yield _edited("two tags exchanged", "</mass><mass_center>", "<mass_center></mass>")


def wrong_numbers() -> Iterator[Fault]:
    """Too few, too many, no numbers, not finite, far too large."""
    for tag, count in VECTORS.items():
        for label, text in (
            ("too few", " ".join(["0.1"] * (count - 1))),
            ("too many", " ".join(["0.1"] * (count + 1))),
            ("a word", " ".join(["0.1"] * (count - 1) + ["much"])),
            ("nan", " ".join(["NaN"] * count)),
            ("huge", " ".join(["1e300"] * count)),
            ("parentheses", "(" + " ".join(["0.1"] * count) + ")"),
            ("empty", ""),
        ):
            yield _with_text(f"{tag} {label}", tag, text)
        if tag != "range":
            yield _with_text(f"{tag} infinite", tag, " ".join(["Inf"] * count))
    for tag in SCALARS:
        for text in ("", "much", "NaN", "inf", "-1e300", "1 2", "0,5x"):
            if tag == "default_value" and not text:
                continue  # some published models have it empty: read as zero, with a note
            yield _with_text(f"{tag} is {text or 'empty'}", tag, text)
    for tag in LISTS:
        for text in ("", "much 1 2 3", "nan 1 2 3", "1e300 1 2 3", "1 2 3 4 5 6 7"):
            yield _with_text(f"{tag} is {text or 'empty'}", tag, text)
    for tag in FLAGS:
        for text in ("maybe", "2"):
            yield _with_text(f"{tag} is {text}", tag, text)


def _with_text(label: str, tag: str, text: str) -> Fault:
    content, count = re.subn(rf"<{tag}>[^<]*</{tag}>", f"<{tag}>{text}</{tag}>", ARM, count=1)
    assert count == 1, tag
    return label, content.encode()


def wrong_structure() -> Iterator[Fault]:
    """Sound XML and sound numbers that make no model."""
    lower = '<Body name="lower">'
    changes = {
        "mass missing": ("<mass>2.1</mass>", ""),
        "mass negative": ("<mass>2.1</mass>", "<mass>-2.1</mass>"),
        "mass twice": ("<mass>2.1</mass>", "<mass>2.1</mass><mass>3</mass>"),
        "location twice": ("<location>0 0.8 0.02</location>",
                           "<location>0 0.8 0.02</location><location>0 1 0</location>"),
        "inertia negative": ("0.02 0.01 0.02 0 0 0", "0.02 -0.01 0.02 0 0 0"),
        "axis zero": ("<axis>0 0 1</axis>", "<axis>0 0 0</axis>"),
        "axes parallel": ("<axis>0 1 0</axis>", "<axis>0 0 2</axis>"),
        "axis of no slot": ('<TransformAxis name="rotation3">', '<TransformAxis name="rotation4">'),
        "spline uneven": ("<x>0 1 2 3</x>", "<x>0 1 2</x>"),
        "spline backwards": ("<x>0 1 2 3</x>", "<x>0 2 1 3</x>"),
        "radius zero": ("<radius>0.02</radius>", "<radius>0</radius>"),
        "radius negative": ("<radius>0.03</radius>", "<radius>-0.03</radius>"),
        "range upside down": ("<range>0 2.5</range>", "<range>2.5 0</range>"),
        "clamped outside": ("<default_value>0.1</default_value>", "<default_value>-2</default_value>"),
        "degrees for radians": ("<default_value>0.2</default_value>", "<default_value>45</default_value>"),
        "quadrant unknown": ("<quadrant>+x</quadrant>", "<quadrant>+w</quadrant>"),
        "wrap method unknown": ("<method>hybrid</method>", "<method>hybird</method>"),
        "wrap range outside": ("<range>-1 -1</range>", "<range>1 9</range>"),
        "wrap range in halves": ("<range>-1 -1</range>", "<range>1.5 2</range>"),
        "wrap object missing": ("<wrap_object>elbow_cylinder<", "<wrap_object>knee_cylinder<"),
        "wrap object empty": ("<wrap_object>elbow_cylinder<", "<wrap_object><"),
        "one path point": ('<PathPoint name="band-P2">', '<PathPoint_ name="band-P2">'),
        "muscle without force": ("<max_isometric_force>600<", "<max_isometric_force>0<"),
        "fibres of no length": ("<optimal_fiber_length>0.1<", "<optimal_fiber_length>-0.1<"),
        "distance zero": ("<constant_distance>0.4<", "<constant_distance>0<"),
        "body twice": (lower, '<Body name="upper">'),
        "coordinate twice": ('<Coordinate name="shoulder_flex">', '<Coordinate name="pronation">'),
        "coordinate twice in a joint": ('<Coordinate name="pronation">', '<Coordinate name="elbow_flex">'),
        "force twice": ('<PathSpring name="band">', '<PathSpring name="biceps">'),
        "constraint twice": ('<PointConstraint name="rope_end">', '<PointConstraint name="pair">'),
        "frame twice": ('<PhysicalOffsetFrame name="upper_offset">', '<PhysicalOffsetFrame name="ground_offset">'),
        "body without name": (lower, "<Body>"),
        "slash in a name": (lower, '<Body name="low/er">'),
        "body called ground": (lower, '<Body name="ground">'),
        "joint class unknown": ("<PinJoint name", "<HingeJoint name"),
        "function unknown": ("<SimmSpline><x>0 1 2 3", "<BezierSpline><x>0 1 2 3"),
        "path point unknown": ('<PathPoint name="band-P1">', '<ViaPoint name="band-P1">'),
        "body class unknown": (lower, '<SoftBody name="lower">'),
        "frame in itself": ("<socket_parent>..</socket_parent>", "<socket_parent>/bodyset/lower/hand</socket_parent>"),
        "joint to itself": ("<socket_child_frame>/bodyset/lower<", "<socket_child_frame>/bodyset/upper<"),
        "socket to nothing": ("<socket_parent>/bodyset/upper<", "<socket_parent>/bodyset/uper<"),
        "socket empty": ("<socket_parent>/bodyset/upper<", "<socket_parent><"),
        "socket without set": ("<socket_parent>/bodyset/upper<", "<socket_parent>/upper<"),
        "socket to a joint": ("<socket_parent>/bodyset/upper<", "<socket_parent>/jointset/elbow<"),
        "child socket missing": ("<socket_child_frame>upper_offset</socket_child_frame>", ""),
        "point socket missing": ("<socket_parent_frame>/ground</socket_parent_frame><location>0 0.8",
                                 "<location>0 0.8"),
        "marker socket missing": ("<socket_parent_frame>/bodyset/lower</socket_parent_frame><location>0 -0.25",
                                  "<location>0 -0.25"),
        "coordinate of point unknown": ("<socket_coordinate>/jointset/elbow/elbow_",
                                        "<socket_coordinate>/jointset/elbow/"),
        "coordinate of point misplaced": ("<socket_coordinate>/jointset/elbow/",
                                          "<socket_coordinate>/jointset/shoulder/"),
        "coordinates of point differ": ("<socket_y_coordinate>/jointset/elbow/elbow_flex",
                                        "<socket_y_coordinate>/jointset/elbow/pronation"),
        "coordinate of axis unknown": ("<coordinates>pronation</coordinates>", "<coordinates>rotation</coordinates>"),
        "axis without coordinate": ("<coordinates>pronation</coordinates>", "<coordinates></coordinates>"),
        "dependent unknown": ("<dependent_coordinate_name>pronation", "<dependent_coordinate_name>supination"),
        "independent missing": ("<independent_coordinate_names>elbow_flex", "<independent_coordinate_names>"),
        "coupler of two": ("<coefficients>0.5 0</coefficients>", "<coefficients>0.5 1 0</coefficients>"),
        "coupler to itself": ("<dependent_coordinate_name>pronation", "<dependent_coordinate_name>elbow_flex"),
        "spaces for a name": (lower, '<Body name="  ">'),
        "two body sets": ("<JointSet", "<BodySet><objects /></BodySet><JointSet"),
        "optional function as named class": ("<z_location><Constant><value>0</value></Constant></z_location>",
                                             '<Constant name="z_location"><value>0.05</value></Constant>'),
    }  # fmt: skip
    for label, (old, new) in changes.items():
        label_, content = _edited(label, old, new)
        if new.startswith(UNKNOWN_CLASSES):
            content = _closed_alike(content.decode(), old, new).encode()
        yield label_, content


def _closed_alike(text: str, old: str, new: str) -> str:
    """The closing tag that belongs to a renamed opening one, renamed too."""
    before, after = (re.match(r"<(\w+)", part)[1] for part in (old, new))  # type: ignore[index]
    head, tail = text.split(new, 1)
    return head + new + tail.replace(f"</{before}>", f"</{after}>", 1)


def not_a_model() -> Iterator[Fault]:
    """Files that are something else."""
    yield "empty", b""
    yield "blank", b"  \n\n  "
    yield "no root", b'<?xml version="1.0" encoding="UTF-8" ?>\n'
    yield "text", b"This is not a model.\n"
    yield "binary", bytes(range(256)) * 20
    yield "zeros", bytes(5000)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("arm.osim", ARM)
    yield "zip", archive.getvalue()
    yield "utf-16 junk", b"\xff\xfe" + b"<\x00M\x00" + b"\xd8\x00" * 50
    yield "html", b"<!doctype html><html><body>404</body></html>"
    yield "other root", ARM.replace("OpenSimDocument", "Document").encode()
    for label, inside in (("tool", '<InverseDynamicsTool name="id" />'), ("no", ""), ("empty", '<Model name="m" />')):
        yield f"{label} model", f'<OpenSimDocument Version="40000">{inside}</OpenSimDocument>'.encode()
    for version in ("0", "10900", "99999", "-40000", "4.0", "forty", "", "1e5", "٤٠٠٠٠"):
        yield f"version {version}", ARM.replace('Version="40000"', f'Version="{version}"').encode()
    yield "twice", (ARM + ARM.split("\n", 1)[1]).encode()
    yield "binary after half", ARM.encode()[:3000] + bytes(range(128, 256)) * 10


def hostile() -> Iterator[Fault]:
    """Files made to hurt."""
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    bomb = f'<!DOCTYPE Model [<!ENTITY l0 "ha">{levels}]>'
    header, rest = ARM.split("\n", 1)
    yield "entity bomb", f"{header}\n{bomb}\n{rest.replace('arm', '&l9;', 1)}".encode()
    yield "entity bomb in utf-16", f"{bomb}\n{rest.replace('arm', '&l9;', 1)}".encode("utf-16")
    outside = '<!DOCTYPE Model [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    stolen = rest.replace("<gravity>", "<credits>&secret;</credits><gravity>")
    yield "external entity", f"{header}\n{outside}\n{stolen}".encode()
    yield "dtd", f'{header}\n<!DOCTYPE OpenSimDocument SYSTEM "http://example.org/osim.dtd">\n{rest}'.encode()
    yield "undefined entity", ARM.replace('name="arm"', 'name="&arm;"').encode()
    deep = "<a>" * 100_000 + "</a>" * 100_000
    yield "deep", f'<OpenSimDocument Version="40000"><Model name="m">{deep}</Model></OpenSimDocument>'.encode()
    linear = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
    nested = "<MultiplierFunction><function>" * 200 + "<Constant />" + "</function></MultiplierFunction>" * 200
    yield _edited("functions within functions", f"<function>{linear}", f"<function>{nested}")
    yield _edited("long number", "<mass>2.1<", f"<mass>{'9' * 100_000}<")
    kind = "MultivariatePolynomialFunction"
    endless = f"<{kind}><dimension>6</dimension><order>999999999</order><coefficients>1</coefficients></{kind}>"
    yield _edited("many dimensions", linear.replace("1 0", "0.5 0"), endless)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    print(len(make_damaged(target, int(sys.argv[2]) if len(sys.argv) > 2 else 0)), "damaged files in", target)
