"""Whether the parts of a model that refer to one another by name find each other, and have the shape they should.

The reader of .osim files checks this line by line while it reads; a model that comes from elsewhere is checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from osim_inertia.errors import ModelError
from osim_inertia.model.constraints import CoordinateCoupler, PointOnLineConstraint
from osim_inertia.model.frames import GROUND, OffsetFrame
from osim_inertia.model.functions import Function, MultiplierFunction
from osim_inertia.model.joints import AXIS_NAMES, FIXED_LAYOUT, CustomJoint, EllipsoidJoint, ScapulothoracicJoint
from osim_inertia.model.model import Model
from osim_inertia.model.paths import ConditionalPathPoint, FunctionBasedPath, MovingPathPoint
from osim_inertia.model.tree import spanning_tree

OWN_CLASS = {"CustomJoint": CustomJoint, "EllipsoidJoint": EllipsoidJoint, "ScapulothoracicJoint": ScapulothoracicJoint}
WORDS = {"map": ("uniform", "rigid-tendon"), "residual": ("proportional", "consistent"),
         "wrap": ("blend", "neural", "exact")}  # fmt: skip
QUADRANTS = ("all", *(sign + axis for axis in "xyz" for sign in ("", "+", "-")))
Reference = tuple[str, str]  # who refers, to what


def check_references(model: Model) -> None:
    """Raise a ModelError that names the first part which refers to nothing, and refuse names that occur twice."""
    for kind, names in _names(model).items():
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise ModelError(f"There are two {kind} '{name}'.")
            seen.add(name)
    frames = {GROUND, *(body.path for body in model.bodies), *(frame.path for frame in model.frames)}
    stations = {*(s.path for s in model.stations), *(f"/markerset/{m.name}" for m in model.markers)}
    _find(_frame_references(model), frames, "frame")
    _find(_station_references(model), stations, "station")
    _find(_coordinate_references(model), {c.name for c in model.coordinates}, "coordinate")
    _find(_wrap_references(model), {wrap.name for wrap in model.wrap_objects}, "wrap object")
    if model.muscle_mass is not None:
        _check_muscle_mass(model)
    _refuse_circles(model)
    _check_joints(model)
    _check_paths(model)
    spanning_tree(model)


def _find(references: Iterable[Reference], known: set[str], kind: str) -> None:
    for who, name in references:
        if name not in known:
            raise ModelError(f"{who} refers to the {kind} '{name}', which is not in the model.")


def _names(model: Model) -> dict[str, list[str]]:
    return {
        "bodies": [body.name for body in model.bodies],
        "joints": [joint.name for joint in model.joints],
        "coordinates": [coordinate.name for coordinate in model.coordinates],
        "frames": [frame.path for frame in model.frames],
        "forces": [force.name for force in model.path_forces],
        "constraints": [constraint.name for constraint in model.constraints],
        "markers": [marker.name for marker in model.markers],
    }


def _frame_references(model: Model) -> Iterator[Reference]:
    for frame in model.frames:
        if isinstance(frame, OffsetFrame):
            yield f"frame '{frame.path}'", frame.parent
    for station in model.stations:
        yield f"station '{station.path}'", station.parent
    for joint in model.joints:
        yield f"joint '{joint.name}'", joint.parent_frame
        yield f"joint '{joint.name}'", joint.child_frame
    for marker in model.markers:
        yield f"marker '{marker.name}'", marker.frame
    for wrap in model.wrap_objects:
        yield f"wrap object '{wrap.name}'", wrap.frame
    for force in model.path_forces:
        if not isinstance(force.geometry, FunctionBasedPath):
            for point in force.geometry.points:
                yield f"point '{point.name}' of '{force.name}'", point.frame
    for constraint in model.constraints:
        who = f"constraint '{constraint.name}'"
        if isinstance(constraint, PointOnLineConstraint):
            yield who, constraint.line_frame
            yield who, constraint.follower_frame
        elif not isinstance(constraint, CoordinateCoupler):
            yield who, constraint.frame_1
            yield who, constraint.frame_2


def _station_references(model: Model) -> Iterator[Reference]:
    for frame in model.frames:
        if not isinstance(frame, OffsetFrame):
            for path in (frame.point_a, frame.point_b, frame.point_c, frame.origin_point):
                yield f"frame '{frame.path}'", path


def _coordinate_references(model: Model) -> Iterator[Reference]:
    for joint in model.joints:
        if isinstance(joint, CustomJoint):
            for axis in joint.axes:
                yield from ((f"joint '{joint.name}'", name) for name in axis.coordinates)
    for constraint in model.constraints:
        if isinstance(constraint, CoordinateCoupler):
            for name in (*constraint.independent, constraint.dependent):
                yield f"constraint '{constraint.name}'", name
    for force in model.path_forces:
        path = force.geometry
        if isinstance(path, FunctionBasedPath):
            yield from ((f"the path of '{force.name}'", name) for name in path.coordinates)
            continue
        for point in path.points:
            if isinstance(point, (ConditionalPathPoint, MovingPathPoint)):
                yield f"point '{point.name}' of '{force.name}'", point.coordinate


def _wrap_references(model: Model) -> Iterator[Reference]:
    for force in model.path_forces:
        if not isinstance(force.geometry, FunctionBasedPath):
            for wrap in force.geometry.wraps:
                yield f"the path of '{force.name}'", wrap.wrap_object


def _check_muscle_mass(model: Model) -> None:
    spec = model.muscle_mass
    assert spec is not None
    bodies = {body.name for body in model.bodies}
    _find((("the muscle mass", muscle.name) for muscle in spec.muscles), {m.name for m in model.muscles}, "muscle")
    _find(((f"muscle '{m.name}'", body) for m in spec.muscles for body, _ in m.taken_from), bodies, "body")
    _find((("the transfer", body) for body, _ in spec.transfer), bodies, "body")
    for field, allowed in WORDS.items():
        if getattr(spec, field) not in allowed:
            raise ModelError(f"{field} is '{getattr(spec, field)}'; expected {' or '.join(allowed)}.")
    for muscle in spec.muscles:
        if not muscle.mass >= 0.0:
            raise ModelError(f"The mass of muscle '{muscle.name}' is {muscle.mass}; expected 0 or more.")


def _refuse_circles(model: Model) -> None:
    """A frame fixed in itself, by way of others."""
    parent = {frame.path: frame.parent for frame in model.frames if isinstance(frame, OffsetFrame)}
    for path in parent:
        at, steps = path, 0
        while at in parent:
            at, steps = parent[at], steps + 1
            if steps > len(parent):
                raise ModelError(f"Frame '{path}' is fixed in itself.")


def _check_joints(model: Model) -> None:
    for joint in model.joints:
        if joint.kind not in (*FIXED_LAYOUT, "CustomJoint"):
            kinds = ", ".join(FIXED_LAYOUT)
            raise ModelError(f"Joint '{joint.name}' is a '{joint.kind}'; expected {kinds} or CustomJoint.")
        own = OWN_CLASS.get(joint.kind)
        if own is not None and not isinstance(joint, own):
            raise ModelError(f"Joint '{joint.name}' lacks what a {joint.kind} has.")
        if isinstance(joint, CustomJoint):
            if len(joint.axes) != len(AXIS_NAMES):
                raise ModelError(f"Joint '{joint.name}' has {len(joint.axes)} axes; expected {len(AXIS_NAMES)}.")
            for axis in joint.axes:
                _check_function(axis.function, f"joint '{joint.name}'")
        elif len(joint.coordinates) != len(FIXED_LAYOUT[joint.kind]):
            raise ModelError(f"Joint '{joint.name}' has {len(joint.coordinates)} coordinates; "
                             f"a {joint.kind} has {len(FIXED_LAYOUT[joint.kind])}.")
    for constraint in model.constraints:
        if isinstance(constraint, CoordinateCoupler):
            _check_function(constraint.function, f"constraint '{constraint.name}'")


def _check_paths(model: Model) -> None:
    for wrap in model.wrap_objects:
        if wrap.quadrant not in QUADRANTS:
            raise ModelError(f"The quadrant of '{wrap.name}' is '{wrap.quadrant}'; expected {', '.join(QUADRANTS)}.")
    for force in model.path_forces:
        path, who = force.geometry, f"the path of '{force.name}'"
        if isinstance(path, FunctionBasedPath):
            for function in (path.length_function, *path.moment_arm_functions):
                _check_function(function, who)
            continue
        if len(path.points) < 2:
            raise ModelError(f"The path of '{force.name}' has {len(path.points)} points; expected 2 or more.")
        for point in path.points:
            if isinstance(point, MovingPathPoint):
                for function in (point.x, point.y, point.z):
                    _check_function(function, who)
        for method in (wrap.method for wrap in path.wraps):
            if method not in ("hybrid", "midpoint", "axial"):
                raise ModelError(f"The path of '{force.name}' wraps by '{method}'; expected hybrid, midpoint or axial.")


def _check_function(function: Function, who: str) -> None:
    while isinstance(function, MultiplierFunction):
        function = function.function
    x, y = getattr(function, "x", (0.0, 1.0)), getattr(function, "y", (0.0, 1.0))
    if len(x) != len(y) or len(x) < 2:
        raise ModelError(f"A {type(function).__name__} of {who} has {len(x)} abscissae and {len(y)} values; expected "
                         "two or more, as many of each.")
