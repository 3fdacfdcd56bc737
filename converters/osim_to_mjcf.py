# /// script
# requires-python = ">=3.10"
# dependencies = ["osim-inertia"]
#
# [tool.uv.sources]
# osim-inertia = { path = ".." }
# ///
"""OSIM -> MJCF: an OpenSim model as MuJoCo's XML, and a list of what MuJoCo cannot express.

    MODEL.osim --> Model --mjcf_skeleton--> bodies, joints --here--> + tendons, actuators, keyframe --> MODEL.xml

Every body keeps its OpenSim frame, and every coordinate that moves something by itself becomes a joint of its name.
Paths become spatial tendons through sites, over cylinders and spheres. README.md beside this file tells the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from mjcf_skeleton import Report, Skeleton, evaluated, matrix, pose_of, words
from scipy.spatial.transform import Rotation

import osim_inertia as oi
from osim_inertia.compiled.frames import rotation_xyz
from osim_inertia.errors import FileError, ModelError, OsimInertiaError
from osim_inertia.files import atomic_write_text
from osim_inertia.model import paths as p
from osim_inertia.model.constraints import CoordinateCoupler
from osim_inertia.model.forces import Muscle, PathForce
from osim_inertia.model.frames import GROUND
from osim_inertia.path_shape import PathContacts

EXAMPLES = """examples:
  python converters/osim_to_mjcf.py leg.osim                    leg.xml beside it, and a list of what is not the same
  python converters/osim_to_mjcf.py leg.osim -o out/leg.xml --json > report.json
"""
POSES = 40  # random ones, at which paths are compared
FIBRE_RANGE = (0.5, 1.6)  # optimal fibre lengths at the ends of MuJoCo's muscle length range
STAND_INS = ("nothing", "fixed points", "a sphere", "a cylinder about x", "a cylinder about y", "a cylinder about z")


@dataclass
class Draft:
    """A path as MuJoCo could have it."""

    force: PathForce
    objects: list[p.AnyWrapObject]  # that stand in for others
    told: list[str]  # how it differs


# ---- paths ----------------------------------------------------------------------------------------------------------
def sampled_poses(system: oi.System) -> np.ndarray:
    """The default pose, random ones, and every coordinate at its ends; they keep to ranges and couplers."""
    rng, low, high = np.random.default_rng(0), [], []
    for q in map(system.model.coordinate, system.coordinate_names):
        reach = 1.0 if q.motion_type == "translational" else np.pi / 2
        low.append(max(q.range[0], q.default_value - reach))
        high.append(max(min(q.range[1], q.default_value + reach), low[-1]))
    default, n = system.default_pose(), system.n
    ends = [np.where(np.eye(n, dtype=bool), end, default) for end in (low, high)]
    poses = np.vstack([default, rng.uniform(low, high, (POSES, n)), *ends])
    at = {name: i for i, name in enumerate(system.coordinate_names)}
    for x in system.model.constraints:
        if isinstance(x, CoordinateCoupler) and x.enforced:
            for q in poses[1:]:
                q[at[x.dependent]] = x.scale_factor * evaluated(x.function, *(q[at[name]] for name in x.independent))
    return poses


def fixed_points(force: PathForce, system: oi.System, told: list[str]) -> list[p.PathPoint]:
    """The points as they are in the default pose."""
    points = []
    for point in force.geometry.points:
        location = getattr(point, "location", None)
        if isinstance(point, p.ConditionalPathPoint):
            value = system.model.coordinate(point.coordinate).default_value
            counts = point.range[0] <= value <= point.range[1]
            told.append(f"{point.name} counts {'always' if counts else 'never'}")
            if not counts:
                continue
        elif isinstance(point, p.MovingPathPoint):
            told.append(f"{point.name} stays where it is in the default pose")
            coordinate = system.model.coordinate(point.coordinate)
            at = float(np.clip(coordinate.default_value, *coordinate.range))
            location = tuple(evaluated(function, at) for function in (point.x, point.y, point.z))
        points.append(p.PathPoint(name=point.name, frame=point.frame, location=location))
    return points


def stand_in(item: p.AnyWrapObject, choice: str) -> p.AnyWrapObject | None:
    """A surface MuJoCo knows in place of an ellipsoid."""
    if not isinstance(item, p.WrapEllipsoid) or choice in STAND_INS[:2]:
        return None
    same = {"frame": item.frame, "translation": item.translation, "name": f"{item.name}_{choice.split()[1]}"}
    size = np.array(item.dimensions)
    if choice == "a sphere":
        return p.WrapSphere(**same, rotation=item.rotation, quadrant=item.quadrant, radius=float(size.mean()))
    k = "xyz".index(choice[-1])
    turn = np.roll(np.eye(3), -1 - k, axis=1)  # z of the cylinder is axis k of the ellipsoid
    axes = Rotation.from_matrix(rotation_xyz(item.rotation) @ turn).as_euler("XYZ")
    quadrant = item.quadrant
    if quadrant != "all":
        axis = ("xyz".index(quadrant[-1]) - k - 1) % 3
        quadrant = "all" if axis == 2 else quadrant[:-1] + "xyz"[axis]
    same["name"] += choice[-1]
    return p.WrapCylinder(**same, rotation=tuple(map(float, axes)), quadrant=quadrant, length=2 * float(size[k]),
                          radius=float(np.delete(size, k).mean()))  # fmt: skip


def arc_points(item: p.AnyWrapObject, contacts: list[PathContacts], system: oi.System,
               poses: np.ndarray) -> list[p.PathPoint]:  # fmt: skip
    """Both ends and the middle of the arc on an object, fixed to its body, at the first pose that touches it."""
    k = next(i for i, at in enumerate(contacts) if item.name in at.wraps)
    line = contacts[k].arc_points[contacts[k].wraps.index(item.name)]
    home = system.compiled.placements[item.frame].body
    X_GB = np.eye(4)
    if home != GROUND:
        X_GB = system.body_poses(poses[k])[0][system.body_names.index(home.rsplit("/", 1)[-1])]
    return [p.PathPoint(name=f"{item.name}_{i}", frame=home, location=tuple(X_GB[:3, :3].T @ (x - X_GB[:3, 3])))
            for i, x in enumerate(line[[0, len(line) // 2, -1]])]  # fmt: skip


def draft(force: PathForce, system: oi.System, poses: np.ndarray, contacts: list[PathContacts], choice: str) -> Draft:
    """The force with a path of fixed points, with at most one cylinder or sphere between any two of them."""
    made = Draft(force, [], [])
    points = fixed_points(force, system, made.told)
    objects = {x.name: x for x in reversed(system.model.wrap_objects)}
    behind: dict[str, p.AnyWrapObject] = {}  # by the point before
    for name in dict.fromkeys(wrap.wrap_object for wrap in force.geometry.wraps):
        item, places = objects[name], [x.name for x in points]
        touched = Counter(at.node_names[i] for at in contacts for w, i in zip(at.wraps, at.after) if w == name)
        start = next((x for x, _ in touched.most_common() if x in places[:-1]), None)
        if start is None:
            made.told.append(f"{name} is left out, as it is not touched in {len(poses)} poses")
            continue
        if not isinstance(item, p.WrapCylinder | p.WrapSphere):
            made.told.append(f"{choice} in place of {name}, a {type(item).__name__}")
            if choice == "fixed points":
                at = places.index(start) + 1
                points[at:at] = arc_points(item, contacts, system, poses)
            item = stand_in(item, choice)
            if item is None:
                continue
            made.objects.append(item)
        if start in behind:
            made.told.append(f"{item.name} is left out, as {behind[start].name} lies between the same points")
        else:
            behind[start] = item
    places = [x.name for x in points]
    wraps = tuple(p.PathWrap(name=x.name, wrap_object=x.name, range=(places.index(k) + 1, places.index(k) + 2))
                  for k, x in behind.items())  # fmt: skip
    geometry = p.GeometryPath(points=tuple(points), wraps=wraps)
    made.force = replace(force, name=f"{force.name}, {choice}", geometry=geometry)
    return made


def best_drafts(model: oi.Model, drawn: tuple[PathForce, ...]) -> list[tuple[PathForce, Draft, float]]:
    """For each path the draft whose length is nearest to the true one, and how far it is off (m)."""
    system = oi.System(replace(model, path_forces=drawn))
    poses = sampled_poses(system)
    known = {x.name for x in model.wrap_objects if isinstance(x, p.WrapCylinder | p.WrapSphere)}
    drafts: list[tuple[int, Draft]] = []
    for i, force in enumerate(drawn):
        wraps = {wrap.wrap_object for wrap in force.geometry.wraps}
        contacts = system.path_contacts(poses, force.name) if wraps else []
        drafts += [(i, draft(force, system, poses, contacts, choice))
                   for choice in (STAND_INS if wraps - known else STAND_INS[:1])]  # fmt: skip
    objects = {x.name: x for _, made in drafts for x in made.objects}
    tried = replace(model, path_forces=tuple(made.force for _, made in drafts),
                    wrap_objects=model.wrap_objects + tuple(objects.values()))  # fmt: skip
    theirs, ours = system.path_lengths(poses), oi.System(tried).path_lengths(poses)
    best: dict[int, tuple[float, Draft]] = {}
    for k, (i, made) in enumerate(drafts):
        error = float(np.abs(ours[:, k] - theirs[:, i]).max())
        if i not in best or error < best[i][0]:
            best[i] = error, made
    return [(force, best[i][1], best[i][0]) for i, force in enumerate(drawn)]


def add_paths(skeleton: Skeleton, actuators: ET.Element) -> None:
    """Tendons and actuators of everything that pulls along a path."""
    model, report = skeleton.model, skeleton.report
    drawn = tuple(x for x in model.path_forces if isinstance(x.geometry, p.GeometryPath))
    report.lost += [f"{x.kind} {x.name}: its path is a function, without points" for x in model.path_forces
                    if x not in drawn]  # fmt: skip
    for force, made, error in best_drafts(model, drawn) if drawn else ():
        if made.told:
            report.path_errors[force.name] = error
            report.lost.append(f"path of {force.name}: {'; '.join(made.told)}; its length changes by up to "
                               f"{error * 1000:.3g} mm")  # fmt: skip
        objects = {x.name: x for x in (*reversed(model.wrap_objects), *made.objects)}
        path = made.force.geometry
        sites = [skeleton.site(f"{force.name}:{x.name}", x.frame, x.location) for x in path.points]
        spring = {}
        if force.kind == "PathSpring" and force.applies_force:
            spring = {"stiffness": words(force.value("stiffness", 0.0)),
                      "springlength": words((0.0, force.value("resting_length", 0.0)))}  # fmt: skip
        tendon = skeleton.spatial(force.name, sites, **spring)
        for wrap in sorted(path.wraps, key=lambda x: -x.range[0]):  # from the end, so that places stay right
            tendon.insert(wrap.range[0], wrap_geom(skeleton, objects[wrap.wrap_object]))
        add_actuator(actuators, force, report)


def wrap_geom(skeleton: Skeleton, item: p.WrapCylinder | p.WrapSphere) -> ET.Element:
    """The object as part of a tendon, with a site on the side that paths keep to; it is made when first used."""
    used, at = ET.Element("geom", geom=item.name), skeleton.placements[item.frame]
    if item.quadrant != "all":
        used.set("sidesite", f"{item.name}:side")
    body = skeleton.body[at.body]
    if any(geom.get("name") == item.name for geom in body.findall("geom")):
        return used
    R, centre = at.R @ rotation_xyz(item.rotation), at.point(item.translation)
    length = (item.length / 2,) if isinstance(item, p.WrapCylinder) else ()
    ET.SubElement(body, "geom", {
        "name": item.name, "type": "cylinder" if length else "sphere", "size": words((item.radius, *length)),
        "contype": "0", "conaffinity": "0", "rgba": "0.3 0.6 0.9 0.3", "group": "3"} | pose_of(matrix(R, centre)))
    if item.quadrant != "all":
        axis = R[:, "xyz".index(item.quadrant[-1])] * (-1.0 if item.quadrant[0] == "-" else 1.0)
        ET.SubElement(body, "site", name=f"{item.name}:side", pos=words(centre + 2 * item.radius * axis), group="4")
    return used


# ---- actuators ------------------------------------------------------------------------------------------------------
def add_actuator(actuators: ET.Element, force: PathForce, report: Report) -> None:
    """A muscle with OpenSim's peak force, fibre and tendon length, or a motor."""
    if not force.applies_force:
        report.lost.append(f"{force.kind} {force.name}: does not apply its force; only its tendon is there")
    elif isinstance(force, Muscle):
        cosine = np.cos(force.pennation_angle)
        lengths = force.tendon_slack_length + cosine * force.optimal_fiber_length * np.array(FIBRE_RANGE)
        times = [force.value(f"{x}activation_time_constant", t) for x, t in (("", 0.01), ("de", 0.04))]
        ET.SubElement(actuators, "muscle", name=force.name, tendon=force.name, lengthrange=words(lengths),
                      force=words(force.max_isometric_force * cosine), range=words(FIBRE_RANGE),
                      vmax=words(force.max_contraction_velocity), timeconst=words(times), ctrllimited="true",
                      ctrlrange="0 1")  # fmt: skip
    elif force.kind == "PathActuator":
        gear = words(-force.value("optimal_force", 1.0))  # tension shortens the path
        ET.SubElement(actuators, "motor", name=force.name, tendon=force.name, gear=gear)
    elif force.kind == "PathSpring":
        report.lost.append(f"PathSpring {force.name}: has no dissipation in MuJoCo")
    else:
        report.lost.append(f"{force.kind} {force.name}: a tendon without force")


def add_other_forces(skeleton: Skeleton, actuators: ET.Element) -> None:
    """Motors for coordinate actuators; everything else is listed."""
    others: Counter[str] = Counter()
    for raw in skeleton.model.unsupported:
        element = ET.fromstring(raw.xml) if raw.kind == "CoordinateActuator" else ET.Element("other")
        joint = element.findtext("coordinate", "").strip()
        if joint and skeleton.report.coordinates.get(joint) == joint:
            gear = words(float(element.findtext("optimal_force", "1")))
            ET.SubElement(actuators, "motor", name=raw.name, joint=joint, gear=gear)
        else:
            others[raw.kind] += 1
    skeleton.report.lost += [f"{count} × {kind}: left out" for kind, count in others.items()]


# ---- the whole ------------------------------------------------------------------------------------------------------
def convert(model: oi.Model) -> tuple[str, Report]:
    """The XML, and what is not the same."""
    if model.muscle_mass:
        raise ModelError("Muscles of this model have mass, which MuJoCo's tendons cannot carry.")
    report = Report()
    skeleton, actuators = Skeleton(model, report), ET.Element("actuator")
    add_paths(skeleton, actuators)
    add_other_forces(skeleton, actuators)
    for marker in model.markers:
        skeleton.site(marker.name, marker.frame, marker.location)
    skeleton.root.append(actuators)
    joints = [joint.get("name") for joint in skeleton.world.iter("joint")]
    if joints:
        key = ET.SubElement(ET.SubElement(skeleton.root, "keyframe"), "key", name="default")
        key.set("qpos", words([skeleton.key[name] for name in joints]))
    story = "\n".join(["", f"{model.name}, from OpenSim. Not the same in MuJoCo:", *(report.lost or ["nothing"]), ""])
    skeleton.root.insert(0, ET.Comment(story.replace("--", "- -")))
    ET.indent(skeleton.root)
    return ET.tostring(skeleton.root, encoding="unicode") + "\n", report


def main(arguments: list[str] | None = None) -> int:
    """Convert one file; 0 if it is written, 1 with a message if not."""
    parser = argparse.ArgumentParser(description="Convert an OpenSim model to MuJoCo's MJCF.", epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the .osim file")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.xml", help="default: beside the model")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    options = parser.parse_args(arguments)
    output = options.output or options.model.with_suffix(".xml")
    try:
        if output.resolve() == options.model.resolve():
            raise FileError("The result would replace its own source.", file=output, to_do="give another name")
        text, report = convert(oi.read_osim(options.model))
        atomic_write_text(output, text)
    except OsimInertiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps({"output": str(output), **report.as_json()}, indent=1, ensure_ascii=False))
        return 0
    print(f"{output}: {len(report.coordinates)} coordinates; {len(report.lost)} things are not the same in MuJoCo")
    for story in report.lost:
        print(f"  {story}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
