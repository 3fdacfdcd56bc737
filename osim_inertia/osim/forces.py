"""XML to muscles and other forces along a path."""

from __future__ import annotations

from osim_inertia.model import paths as p
from osim_inertia.model.forces import ForceGroup, Muscle, PathForce, Raw
from osim_inertia.model.frames import NO_SHIFT
from osim_inertia.osim.frames import Scope, closest, raw
from osim_inertia.osim.functions import function_of, read_function
from osim_inertia.osim.xml import Node, elements, first

PATH_KINDS = ("GeometryPath", "FunctionBasedPath")
METHODS = ("hybrid", "midpoint", "axial")
MUSCLE_PROPERTIES = {
    "max_isometric_force": (1000.0, "N"),
    "optimal_fiber_length": (0.1, "m"),
    "tendon_slack_length": (0.2, "m"),
    "pennation_angle_at_optimal": (0.0, "rad"),
    "max_contraction_velocity": (10.0, "optimal fibre lengths per second"),
}
POSITIVE = ("max_isometric_force", "optimal_fiber_length")
CONTROL_LIMITS = ("min_control", "max_control")  # may be infinite
# Numbers of OpenSim's own classes of muscles, ligaments, springs and actuators along a path.
NUMBERS = (
    *CONTROL_LIMITS, "optimal_force", "resting_length", "stiffness", "dissipation", "pcsa_force", "slack_length",
    "linear_stiffness", "transition_strain", "damping_coefficient", "default_activation", "default_fiber_length",
    "activation_time_constant", "deactivation_time_constant", "minimum_activation", "maximum_pennation_angle",
    "fiber_damping", "FmaxTendonStrain", "FmaxMuscleStrain", "KshapeActive", "KshapePassive", "Af", "Flen",
    "fv_linear_extrap_threshold", "default_normalized_tendon_force", "active_force_width_scale",
    "passive_fiber_strain_at_one_norm_force", "tendon_strain_at_one_norm_force", "activation_dynamics_smoothing",
    "time_scale", "activation1", "activation2", "damping",
)
OTHER_TAGS = ("GeometryPath", "path", "appliesForce", "ignore_tendon_compliance", "ignore_activation_dynamics",
              "ignore_passive_fiber_force", "tendon_compliance_dynamics_mode")
ALMOST_THE_SAME = 0.85  # likeness of a misspelt tag to the right one
OTHER_PATHS = ("Scholz2015GeometryPath",)


def read_force_groups(model: Node) -> tuple[ForceGroup, ...]:
    """The groups of the ForceSet."""
    forces = model.find("ForceSet")
    groups = None if forces is None else first(forces, "groups")
    found = [] if groups is None else [model.node(element) for element in elements(groups)]
    return tuple(ForceGroup(name=group.name, members=group.words("members")) for group in found)


def read_force(scope: Scope, node: Node) -> PathForce | None:
    """A force along a path; None for any other force, which is kept by class and name."""
    path_node = _path_element(node)
    if path_node is None:
        _refuse_lost_path(node)
        scope.keep(node)
        return None
    node.check_spelling((*MUSCLE_PROPERTIES, *NUMBERS, *OTHER_TAGS), ALMOST_THE_SAME)
    geometry = _geometry_path(scope, node, path_node)
    if path_node.kind == "FunctionBasedPath":
        geometry = _function_based_path(scope, path_node)
    if geometry is None:
        return None
    if not _is_muscle(node):
        properties, extras = _rest(node, ())
        return PathForce(kind=node.kind, name=node.name, geometry=geometry, properties=properties, extras=extras,
                         applies_force=node.flag("appliesForce", True))
    values = {}
    for tag, (default, unit) in MUSCLE_PROPERTIES.items():
        values[tag] = node.number(tag, default)
        if values[tag] < 0.0 or (tag in POSITIVE and values[tag] == 0.0):
            raise node.error(f"<{tag}> is {values[tag]} {unit}.",
                             expected="more than zero" if tag in POSITIVE else "zero or more")
    properties, extras = _rest(node, tuple(MUSCLE_PROPERTIES))
    return Muscle(
        kind=node.kind,
        name=node.name,
        geometry=geometry,
        applies_force=node.flag("appliesForce", True),
        properties=properties,
        extras=extras,
        max_isometric_force=values["max_isometric_force"],
        optimal_fiber_length=values["optimal_fiber_length"],
        tendon_slack_length=values["tendon_slack_length"],
        pennation_angle=values["pennation_angle_at_optimal"],
        max_contraction_velocity=values["max_contraction_velocity"],
    )


def _path_element(node: Node) -> Node | None:
    for element in elements(node.element):
        holder = element if element.tag in PATH_KINDS else None
        if element.tag == "path":
            holder = next(iter(elements(element)), None)
        if holder is not None and holder.tag in PATH_KINDS:
            return node.node(holder, f"{node.path}/path")
    return None


def _refuse_lost_path(node: Node) -> None:
    """A muscle without a path is a file with a fault, not a force to be kept."""
    tags = [child.tag for child in elements(node.element)]
    elsewhere = any(tag == "path" or tag in OTHER_PATHS for tag in tags)
    if not elsewhere and (_is_muscle(node) or node.kind in ("PathSpring", "PathActuator", "Ligament")):
        raise node.error("has no path.", expected="a <GeometryPath> with at least two points")


def _is_muscle(node: Node) -> bool:
    return "Muscle" in node.kind or first(node.element, "optimal_fiber_length") is not None


def _rest(node: Node, known: tuple[str, ...]) -> tuple[tuple[tuple[str, float], ...], tuple[Raw, ...]]:
    """Every other number by tag, and every other child as it stands."""
    numbers: list[tuple[str, float]] = []
    others: list[Raw] = []
    for child in elements(node.with_defaults()):
        if child.tag in (*known, *PATH_KINDS, "path", "appliesForce"):
            continue
        if child.tag in NUMBERS:
            numbers.append((child.tag, node.number(child.tag, infinite=child.tag in CONTROL_LIMITS)))
            continue
        try:
            numbers.append((child.tag, float(child.text or "")))
        except ValueError:
            others.append(raw(node.node(child)))
    return tuple(numbers), tuple(others)


# ---- geometry -------------------------------------------------------------------------------------------------------
def _geometry_path(scope: Scope, force: Node, node: Node) -> p.Path | None:
    if node.kind != "GeometryPath":
        return None
    points = tuple(_point(scope, item) for item in node.members("PathPointSet", node.path))
    if len(points) < 2:
        raise force.error(f"its path has {len(points)} point(s).", expected="at least an origin and an insertion")
    wraps = tuple(_wrap(scope, force, item, len(points)) for item in node.members("PathWrapSet", node.path))
    node.check_spelling(("Appearance", "VisibleObject", "display", "default_color"))
    return p.GeometryPath(points=points, wraps=wraps)


def _point(scope: Scope, node: Node) -> p.AnyPathPoint:
    frame = scope.frame(node, "parent_frame")
    if node.kind == "MovingPathPoint":
        return _moving_point(scope, node, frame)
    location = node.vector("location", 3, NO_SHIFT)
    point: p.AnyPathPoint
    if node.kind == "ConditionalPathPoint":
        low, high = node.vector("range", 2, (0.0, 0.0), infinite=True)
        if low > high:
            raise node.error("<range> is upside down.", found=f"{low} {high}", expected="minimum, then maximum")
        point = p.ConditionalPathPoint(name=node.name, frame=frame, location=location, range=(low, high),
                                       coordinate=scope.coordinate(node, "socket_coordinate"))
    elif node.kind == "PathPoint":
        point = p.PathPoint(name=node.name, frame=frame, location=location)
    else:
        raise node.error("this kind of path point is not supported.",
                         expected="PathPoint, ConditionalPathPoint or MovingPathPoint")
    node.check_spelling(("Appearance", "VisibleObject", "display", "attached_geometry"))
    return point


def _moving_point(scope: Scope, node: Node, frame: str) -> p.MovingPathPoint:
    functions, coordinates = [], []
    for axis in "xyz":
        function = function_of(node, f"{axis}_location", optional=True)
        if function is None:
            raise node.error(f"<{axis}_location> is missing.", expected="a function of the coordinate")
        functions.append(function)
        coordinates.append(scope.coordinate(node, f"socket_{axis}_coordinate"))
    if len(set(coordinates)) > 1:
        raise node.error("its three coordinates differ.", found=", ".join(coordinates), expected="one coordinate")
    node.check_spelling(("Appearance", "VisibleObject", "display", "attached_geometry", "location"))
    x, y, z = functions
    return p.MovingPathPoint(name=node.name, frame=frame, coordinate=coordinates[0], x=x, y=y, z=z)


def _wrap(scope: Scope, force: Node, node: Node, count: int) -> p.PathWrap:
    if node.kind != "PathWrap":
        raise force.error("its path has a wrap of an unknown class.", line=node.line, found=node.kind,
                          expected="PathWrap")
    name = node.text("wrap_object")
    if name not in scope.wrap_objects:
        raise force.error("wraps over an object that is not in the model.", line=node.line, found=name or "nothing",
                          expected=closest(name, scope.wrap_objects, "a wrap object of this model"))
    written = node.vector("range", 2, (-1, -1))
    start, end = (int(value) for value in written)
    outside = start > count or end > count or (start >= 1 and 1 <= end < start)
    if outside or (start, end) != written:
        raise force.error("<range> of a PathWrap lies outside the path.", line=node.line,
                          found=" ".join(f"{value:g}" for value in written),
                          expected=f"point numbers from 1 to {count}, or -1 for an open end")
    method = node.text("method", "hybrid").lower() or "hybrid"
    if method not in METHODS:
        if method != "unassigned":
            node.unknown_word("method", method, METHODS)
        method = "hybrid"  # OpenSim's own fallback ("Unassigned" among others)
    node.check_spelling(("Appearance", "VisibleObject"))
    return p.PathWrap(name=node.name, wrap_object=name, range=(start, end), method=method)


def _function_based_path(scope: Scope, node: Node) -> p.FunctionBasedPath:
    tag = "coordinate_paths"
    coordinates = tuple(scope.known_coordinate(node, path, tag) for path in node.words(tag))
    length = function_of(node, "length_function", optional=True)
    if length is None or not coordinates:
        raise node.error("has no length function or no coordinates.",
                         expected="<coordinate_paths> and <length_function>")
    arms = tuple(read_function(item) for item in node.items("moment_arm_functions", node.path))
    if arms and len(arms) != len(coordinates):
        raise node.error(f"has {len(arms)} moment arm functions for {len(coordinates)} coordinates.",
                         expected="one per coordinate, or none")
    speed = function_of(node, "lengthening_speed_function", optional=True)
    node.check_spelling(("Appearance",))
    return p.FunctionBasedPath(coordinates=coordinates, length_function=length, moment_arm_functions=arms,
                               speed_function=speed)
