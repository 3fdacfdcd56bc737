"""The skeleton of an OpenSim model in MuJoCo's terms: bodies, joints, inertias, equalities, and places for tendons.

    Model --here--> worldbody, equality --osim_to_mjcf.py--> + tendons, actuators, keyframe --> .xml

A joint is a chain of steps, each a turn or a shift that is constant or a function of coordinates. A step that is its
coordinate, up to sign and shift, becomes the MuJoCo joint of that name; other functions become joints of their own that
an equality binds: exactly where the function is linear, else by a quartic.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

import osim_inertia as oi
from osim_inertia.compiled.frames import Placements, rotation_xyz
from osim_inertia.compiled.functions import FunctionTable
from osim_inertia.kernels.functions import evaluate_many
from osim_inertia.model import constraints as c
from osim_inertia.model.frames import GROUND, Body
from osim_inertia.model.functions import Constant, Function, LinearFunction, MultiplierFunction
from osim_inertia.model.joints import AXIS_NAMES, CustomJoint, EllipsoidJoint, Joint, ScapulothoracicJoint
from osim_inertia.model.tree import Mobilizer, spanning_tree

X, Y, Z = np.eye(3)
SAME = LinearFunction(coefficients=(1.0, 0.0))
TINY_MASS, TINY_INERTIA = 1e-9, 1e-12  # kg, kg m²: MuJoCo wants some of both on everything that moves
CARRIER_INERTIA = 1e-6  # kg m² of a joint that stands for a coordinate without an axis of its own
EXACT = 1e-12  # rad or m: a difference not worth a line


@dataclass
class Report:
    """What became of the coordinates, and what is not the same in MuJoCo."""

    lost: list[str] = field(default_factory=list)
    driven: list[dict] = field(default_factory=list)
    coordinates: dict[str, str] = field(default_factory=dict)  # coordinate -> joint that it is, or that it follows
    path_errors: dict[str, float] = field(default_factory=dict)  # m
    added_mass: float = 0.0  # kg

    def as_json(self) -> dict:
        """All of it under names a reader understands."""
        return {"not_the_same": self.lost, "coordinates": self.coordinates, "driven": self.driven,
                "path_errors": self.path_errors, "added_mass": self.added_mass}  # fmt: skip


@dataclass
class Step:
    """One elementary motion of a joint: by `value`, plus a function of coordinates."""

    kind: str  # hinge or slide
    axis: np.ndarray
    value: float = 0.0
    label: str = ""
    coordinates: tuple[str, ...] = ()
    function: Function = field(default_factory=Constant)

    def at_rest(self) -> np.ndarray:
        """(4, 4) with the function at zero."""
        if self.kind == "hinge":
            return matrix(Rotation.from_rotvec(self.axis * self.value).as_matrix(), np.zeros(3))
        return matrix(np.eye(3), self.axis * self.value)


# ---- numbers --------------------------------------------------------------------------------------------------------
def words(numbers: ArrayLike) -> str:
    """All digits that matter."""
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in np.ravel(numbers))  # + 0.0: no negative zero


def matrix(R: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(4, 4) pose."""
    return np.block([[R, np.reshape(at, (3, 1))], [np.zeros((1, 3)), 1.0]])


def pose_of(X_: np.ndarray) -> dict[str, str]:
    """Attributes pos and quat."""
    x, y, z, w = Rotation.from_matrix(X_[:3, :3]).as_quat()
    return {"pos": words(X_[:3, 3]), "quat": words((w, x, y, z))}


def evaluated(function: Function, *arguments: float) -> float:
    """The function's value."""
    table, n = FunctionTable(), max(len(arguments), 1)
    k, x = table.add(function), np.array(arguments or (0.0,))
    return float(evaluate_many(table.arrays(), k, x, n, np.empty(n), np.empty((n, n))))


def linear(function: Function) -> tuple[np.ndarray, float] | None:
    """Slopes and intercept, or None if the function is not linear."""
    if isinstance(function, MultiplierFunction):
        inner = linear(function.function)
        return inner and (function.scale * inner[0], function.scale * inner[1])
    if isinstance(function, LinearFunction):
        return np.array(function.coefficients[:-1]), function.coefficients[-1]
    return (np.zeros(1), function.value) if isinstance(function, Constant) else None


def quartic(function: Callable[[float], float], low: float, high: float) -> tuple[np.ndarray, float]:
    """Ascending coefficients (5,) that fit best over a range, and the largest error there."""
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(65) + 0.5) / 65)  # nearly minimax
    fit = np.polynomial.Chebyshev.fit(nodes, [function(x) for x in nodes], 4, domain=[low, high])
    power = np.append(fit.convert(kind=np.polynomial.Polynomial).coef, np.zeros(5))[:5]
    x = np.linspace(low, high, 501)
    return power, float(np.abs(np.polyval(power[::-1], x) - [function(v) for v in x]).max())


def fixed(function: Function) -> bool:
    """Whether it is a constant."""
    shape = linear(function)
    return shape is not None and not shape[0].any()


# ---- joints ---------------------------------------------------------------------------------------------------------
def steps_of(mobilizer: Mobilizer, default: dict[str, float], report: Report) -> list[Step]:
    """The joint's motion from the inboard frame outwards."""
    steps = forward_steps_of(mobilizer.joint, default, report)
    return [replace(step, axis=-step.axis) for step in steps[::-1]] if mobilizer.reversed else steps


def forward_steps_of(joint: Joint, default: dict[str, float], report: Report) -> list[Step]:
    """X_FM from the parent's frame outwards."""
    names = [coordinate.name for coordinate in joint.coordinates]
    if isinstance(joint, CustomJoint):
        made = [Step("slide" if i > 2 else "hinge", np.array(a.axis) / np.linalg.norm(a.axis), 0.0,
                     f"{joint.name}:{AXIS_NAMES[i]}", a.coordinates, a.function)
                for i, a in enumerate(joint.axes)]  # fmt: skip
        return made[3:] + made[:3]

    def plain(kind: str, axes: Sequence[np.ndarray], which: Sequence[int]) -> list[Step]:
        return [Step(kind, axis, 0.0, names[i], (names[i],), SAME) for axis, i in zip(axes, which)]

    def on_sphere(radii: tuple[float, ...]) -> list[Step]:
        """The ellipsoid as the sphere of its mean radius that is right in the default pose."""
        normal = rotation_xyz(tuple(default[name] for name in names[:3]))[:, 2]
        radius = float(np.mean(radii))
        shift = (np.array(radii) - radius) * normal
        if np.ptp(radii) > EXACT:
            report.lost.append(f"joint {joint.name}: on a sphere of radius {radius:.4g} m, right in the default pose, "
                               f"in place of the ellipsoid with radii {', '.join(f'{x:.4g}' for x in radii)} m")
        return [*(Step("slide", axis, x) for axis, x in zip((X, Y, Z), shift)), *plain("hinge", (X, Y, Z), (0, 1, 2)),
                Step("slide", Z, radius)]  # fmt: skip

    if isinstance(joint, EllipsoidJoint):
        return on_sphere(joint.radii)
    if isinstance(joint, ScapulothoracicJoint):
        (a, b, c_), (x, y), d = joint.thoracic_ellipsoid_radii, joint.winging_origin, joint.winging_direction
        return [Step("hinge", Z, np.pi / 2), *on_sphere((b, a, c_)), Step("hinge", Z, -np.pi / 2), Step("slide", X, x),
                Step("slide", Y, y), *plain("hinge", [np.array([-np.sin(d), np.cos(d), 0.0])], [3]),
                Step("slide", X, -x), Step("slide", Y, -y)]  # fmt: skip
    slides = {"SliderJoint": ((X,), (0,)), "PlanarJoint": ((X, Y), (1, 2)), "FreeJoint": ((X, Y, Z), (3, 4, 5))}
    turns = {"PinJoint": ((Z,), (0,)), "PlanarJoint": ((Z,), (0,)), "UniversalJoint": ((X, Y), (0, 1))}
    turns |= dict.fromkeys(("GimbalJoint", "BallJoint", "FreeJoint"), ((X, Y, Z), (0, 1, 2)))
    none = ((), ())
    return plain("slide", *slides.get(joint.kind, none)) + plain("hinge", *turns.get(joint.kind, none))


class Skeleton:
    """Bodies, joints and equalities of the MuJoCo model."""

    def __init__(self, model: oi.Model, report: Report) -> None:
        self.model, self.report, self.placements = model, report, Placements(model)
        self.default = {q.name: q.default_value for q in model.coordinates}
        idle = [m for m in spanning_tree(model) if m.closes_loop and m.joint.kind == "FreeJoint"]
        report.lost += [f"joint {m.joint.name}: free between bodies that are joined already; left out" for m in idle]
        self.tree = [m for m in spanning_tree(model) if m not in idle]
        self.steps = [steps_of(m, self.default, report) for m in self.tree]
        self.couplers = {x.dependent: x for x in model.constraints if isinstance(x, c.CoordinateCoupler) and x.enforced}
        self.root = ET.Element("mujoco", model=model.name)
        ET.SubElement(self.root, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
        ET.SubElement(self.root, "option", gravity=words(model.gravity))
        ET.SubElement(ET.SubElement(self.root, "default"), "equality", solref="0.005 1",
                      solimp="0.9999 0.9999 0.001 0.5 2")  # fmt: skip
        self.world, self.tendon, self.equality = (
            ET.SubElement(self.root, name) for name in ("worldbody", "tendon", "equality"))  # fmt: skip
        self.body, self.sites = {GROUND: self.world}, set[str]()
        self.key = dict(self.default)  # value of every joint in the default pose
        self.aliases: dict[str, str] = {}  # coordinate without an axis -> the one that its coupler makes it follow
        self.owners = self._owners()
        self._account_for_coordinates()
        for place, mobilizer in enumerate(self.tree):
            self._make_body(place, mobilizer)
        for constraint in model.constraints:
            if constraint.enforced:
                self._constrain(constraint)

    def _owners(self) -> dict[str, Step]:
        """For each coordinate the step that is this coordinate, up to sign and shift."""
        owners: dict[str, Step] = {}
        for step in (step for steps in self.steps for step in steps if len(step.coordinates) == 1):
            shape = linear(step.function)
            if shape is not None and abs(shape[0][0]) == 1.0:
                owners.setdefault(step.coordinates[0], step)
        return owners

    def _account_for_coordinates(self) -> None:
        used = {name for steps in self.steps for step in steps if not fixed(step.function) for name in step.coordinates}
        used |= {name for x in self.couplers.values() for name in (x.dependent, *x.independent)}
        for name in self.default:
            coupler = self.couplers.get(name)
            self.report.coordinates[name] = name
            if name in self.owners:
                continue
            if name not in used:
                del self.report.coordinates[name]
                self.report.lost.append(f"coordinate {name}: moves nothing, so it has no joint")
            elif coupler and len(coupler.independent) == 1 and coupler.independent[0] in self.owners:
                self.aliases[name] = coupler.independent[0]
            else:
                self._carry(name)

    def _carry(self, name: str) -> None:
        """A joint beside the model for a coordinate that moves bodies by functions only."""
        body = ET.SubElement(self.world, "body", name=f"carrier_of_{name}")
        ET.SubElement(body, "inertial", pos="0 0 0", mass=words(TINY_MASS), diaginertia=words([CARRIER_INERTIA] * 3))
        self._finish_joint(ET.SubElement(body, "joint", name=name, type="hinge", axis="0 0 1"))
        self.report.added_mass += TINY_MASS
        self.report.lost.append(f"coordinate {name}: moves bodies only through functions; a joint of its own with "
                                f"{CARRIER_INERTIA:g} kg m² stands for it")  # fmt: skip

    def _make_body(self, place: int, mobilizer: Mobilizer) -> None:
        joint, steps = mobilizer.joint, self.steps[place]
        ends = [matrix(x.R, x.p) for x in (self.placements[joint.parent_frame], self.placements[joint.child_frame])]
        inner, outer = ends[::-1] if mobilizer.reversed else ends
        source = self.model.body(mobilizer.outboard.rsplit("/", 1)[-1])
        name = source.name + f"_closing_{joint.name}" * mobilizer.closes_loop
        body = ET.SubElement(self.body[mobilizer.inboard], "body", name=name)
        made, after = [], np.linalg.inv(outer)
        for step in steps[::-1]:  # from the body inwards; `after` leads from the step to the body at rest
            plan = self._plan(step)
            if plan:
                R, anchor = after[:3, :3], -after[:3, :3].T @ after[:3, 3]
                made.append(ET.Element("joint", name=plan[0], type=step.kind, axis=words(R.T @ step.axis * plan[1]),
                                       pos=words(anchor)))  # fmt: skip
            after = step.at_rest() @ after
        rest = inner @ after
        body.attrib.update(pose_of(rest))
        copies = sum(m.closes_loop and m.outboard == mobilizer.outboard for m in self.tree)
        self._add_inertia(body, source, 1 + copies, bool(made))
        body.extend(made[::-1])
        for element in made:
            self._finish_joint(element)
        if mobilizer.inboard != GROUND and np.linalg.norm(rest[:3, 3]) > 1e-3:  # something to look at
            ET.SubElement(self.body[mobilizer.inboard], "geom", type="capsule", fromto="0 0 0 " + words(rest[:3, 3]),
                          size="0.008", contype="0", conaffinity="0", rgba="0.8 0.8 0.75 1")  # fmt: skip
        if mobilizer.closes_loop:
            ET.SubElement(self.equality, "weld", body1=source.name, body2=name, relpose="0 0 0 1 0 0 0")
        self.body.setdefault(mobilizer.outboard, body)

    def _plan(self, step: Step) -> tuple[str, float] | None:
        """Name and sign of the joint a step needs; what is constant goes into the step's value."""
        shape = linear(step.function)
        if fixed(step.function):
            step.value += evaluated(step.function, *np.zeros(len(step.coordinates)))
            return None
        if self.owners.get(step.coordinates[0]) is step:
            step.value += shape[1]
            return step.coordinates[0], float(shape[0][0])
        if self.bind(step.label, step.coordinates, step.function, "m" if step.kind == "slide" else "rad"):
            return step.label, 1.0
        step.value += evaluated(step.function, *(self.default[name] for name in step.coordinates))
        return None

    def _finish_joint(self, element: ET.Element) -> None:
        """Range, and a lock where the coordinate has one."""
        name = element.get("name", "")
        if name not in self.default:
            return
        q = self.model.coordinate(name)
        if q.range[0] < q.range[1]:
            element.attrib.update(range=words(q.range), limited=str(q.clamped).lower())
        if q.locked:
            ET.SubElement(self.equality, "joint", name=f"{name}_locked", joint1=name,
                          polycoef=words([q.default_value, 0, 0, 0, 0]))  # fmt: skip
        if q.prescribed:
            self.report.lost.append(f"coordinate {name}: its prescribed motion is left out")

    def _add_inertia(self, body: ET.Element, source: Body, copies: int, moves: bool) -> None:
        """Mass properties, with the least change that MuJoCo accepts."""
        xx, yy, zz, xy, xz, yz = source.inertia
        mass, I = source.mass / copies, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / copies
        if mass <= TINY_MASS:
            if not moves:
                return
            self.report.added_mass += TINY_MASS - mass
            mass, I = TINY_MASS, np.eye(3) * TINY_INERTIA
            self.report.lost.append(f"body {source.name}: has no mass; it gets {TINY_MASS:g} kg, since it moves")
        moments, axes = np.linalg.eigh(I)
        a, b, most = np.maximum(moments, TINY_INERTIA)
        lack = max(most * (1 + 1e-12) - a - b, 0.0) / 2  # the largest may not exceed the sum of the others
        if moments[0] < TINY_INERTIA or lack > 0.0:
            I = axes @ np.diag([a + lack, b + lack, most]) @ axes.T
            if lack > 1e-9 * most:
                self.report.lost.append(f"body {source.name}: no rigid body has principal moments of inertia "
                                        f"{' '.join(f'{x:.4g}' for x in moments)} kg m²; MuJoCo gets the smaller two "
                                        f"larger by {lack:.3g}")  # fmt: skip
            elif moments[0] < TINY_INERTIA and mass > TINY_MASS:
                self.report.lost.append(f"body {source.name}: a moment of inertia is 0; it gets {TINY_INERTIA:g} kg m²")
        xx, yy, zz, xy, xz, yz = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
        ET.SubElement(body, "inertial", pos=words(source.mass_center), mass=words(mass),
                      fullinertia=words((xx, yy, zz, xy, xz, yz)))  # fmt: skip

    # ---- functions of coordinates, constraints ----
    def bind(self, joint: str, coordinates: tuple[str, ...], function: Function, unit: str, scale: float = 1.0) -> bool:
        """Let a joint follow a function of coordinates; False if MuJoCo has no way to say so."""
        shape, default = linear(function), [self.default[name] for name in coordinates]
        if len(coordinates) == 1:
            driver, inner = self._driver(coordinates[0])
            span = self._span(driver)
            if shape is not None and driver == coordinates[0]:
                terms, error = scale * np.array([shape[1], shape[0][0], 0.0, 0.0, 0.0]), 0.0
            else:
                terms, error = quartic(lambda x: scale * evaluated(function, inner(x)), *span)
            if error > EXACT:
                self.report.lost.append(f"{joint}: a function of {driver}, fitted by a quartic over {span[0]:.4g} … "
                                        f"{span[1]:.4g}; largest error {error:.3g} {unit}")  # fmt: skip
            ET.SubElement(self.equality, "joint", name=f"{joint}_follows", joint1=joint, joint2=driver,
                          polycoef=words(terms))  # fmt: skip
            self.report.driven.append({"joint": joint, "coordinates": [driver], "terms": terms.tolist(), "error": error,
                                       "unit": unit, "range": span})  # fmt: skip
            self.key[joint] = float(np.polyval(terms[::-1], self.default[driver]))
            return True
        if shape is None or any(name in self.aliases for name in coordinates):
            fate = "free" if joint in self.default else "held at its default"
            self.report.lost.append(f"{joint}: a function of {', '.join(coordinates)} together, which no equality of "
                                    f"MuJoCo expresses; it is {fate}")  # fmt: skip
            return False
        # joint − Σ slope·coordinate = intercept, by a fixed tendon, which is a weighted sum of joints
        slopes, intercept = scale * shape[0], scale * shape[1]
        total = ET.SubElement(self.tendon, "fixed", name=f"{joint}_sum")
        for name, slope in zip((joint, *coordinates), (1.0, *-slopes)):
            ET.SubElement(total, "joint", joint=name, coef=words(slope))
        ET.SubElement(self.equality, "tendon", name=f"{joint}_follows", tendon1=f"{joint}_sum",
                      polycoef=words([intercept, 0, 0, 0, 0]))  # fmt: skip
        self.report.driven.append({"joint": joint, "coordinates": list(coordinates), "error": 0.0, "unit": unit,
                                   "terms": [intercept, *slopes.tolist()]})  # fmt: skip
        self.key[joint] = float(intercept + slopes @ default)
        return True

    def _driver(self, name: str) -> tuple[str, Callable[[float], float]]:
        """The joint behind a coordinate, and the coordinate as a function of it."""
        if name not in self.aliases:
            return name, lambda x: x
        coupler = self.couplers[name]
        self.report.coordinates[name] = self.aliases[name]
        return self.aliases[name], lambda x: coupler.scale_factor * evaluated(coupler.function, x)

    def _span(self, name: str) -> tuple[float, float]:
        low, high = self.model.coordinate(name).range
        middle = self.default[name]
        return (low, high) if 0.0 < high - low <= 2 * np.pi else (middle - np.pi, middle + np.pi)

    def _constrain(self, constraint: c.Constraint) -> None:
        name = constraint.name
        if isinstance(constraint, c.CoordinateCoupler):
            if constraint.dependent not in self.aliases:
                unit = "m" if self.model.coordinate(constraint.dependent).motion_type == "translational" else "rad"
                self.bind(constraint.dependent, constraint.independent, constraint.function, unit,
                          constraint.scale_factor)  # fmt: skip
        elif isinstance(constraint, c.WeldConstraint | c.PointConstraint | c.ConstantDistanceConstraint):
            sites = [self.site(f"{name}_{i}", frame, at) for i, frame, at in (
                (1, constraint.frame_1, getattr(constraint, "location_1", (0, 0, 0))),
                (2, constraint.frame_2, getattr(constraint, "location_2", (0, 0, 0))))]  # fmt: skip
            kind = {"WeldConstraint": "weld", "PointConstraint": "connect"}.get(type(constraint).__name__)
            if kind:
                ET.SubElement(self.equality, kind, name=name, site1=sites[0], site2=sites[1])
                return
            self.report.lost.append(f"constraint {name}: a tendon whose length may vary by 1e-6 of the distance")
            self.spatial(name, sites, range=words(constraint.distance * np.array([1, 1 + 1e-6])), limited="true")
        else:
            self.report.lost.append(f"constraint {name}: MuJoCo has no {type(constraint).__name__}; it is left out")

    # ---- sites and tendons ----
    def site(self, name: str, frame: str, location: Sequence[float]) -> str:
        """Add a site; returns its name."""
        at = self.placements[frame]
        while name in self.sites:
            name += "_"
        self.sites.add(name)
        ET.SubElement(self.body[at.body], "site", {"name": name, **pose_of(matrix(at.R, at.point(tuple(location))))})
        return name

    def spatial(self, name: str, sites: Sequence[str], **more: str) -> ET.Element:
        """A tendon through sites."""
        tendon = ET.SubElement(self.tendon, "spatial", name=name, width="0.003", rgba="0.8 0.1 0.1 1", **more)
        for site in sites:
            ET.SubElement(tendon, "site", site=site)
        return tendon
