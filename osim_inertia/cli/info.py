"""`osim-inertia info`: what is in a model file, as tables for people or as JSON for programs.

Kept light on purpose: no Numba, no SciPy, nothing is computed but sums.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from osim_inertia.cli.common import like_opensim_option, model_argument, read_checked
from osim_inertia.model.constraints import CoordinateCoupler
from osim_inertia.model.forces import Muscle, PathForce
from osim_inertia.model.frames import GROUND
from osim_inertia.model.joints import ROTATIONAL, TRANSLATIONAL, Coordinate
from osim_inertia.model.model import Model
from osim_inertia.model.paths import FunctionBasedPath, PathPoint
from osim_inertia.model.tree import base_bodies

DENSITY = 1059.7  # kg/m³, and the specific tension below: OpenSim's metabolic probes (OPENSIM_SEMANTICS.md §9.6)
SPECIFIC_TENSION = 0.25e6  # N/m²
PATH_TYPES = ("straight", "polyline", "wrapped", "function")
UNITS = {ROTATIONAL: "rad", TRANSLATIONAL: "m"}  # a coupled coordinate is whatever its functions make of it


@click.command()
@model_argument
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON (SI units, radians).")
@like_opensim_option
def info(model: Path, as_json: bool, like_opensim: bool) -> None:
    """Show what a model file holds: bodies, joints, coordinates, muscles and what is not supported.

    Example: osim-inertia info models/leg11dof4musc/leg11dof4musc.osim
    """
    content = summary(read_checked(model, like_opensim))
    if as_json:
        click.echo(json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False))
    else:
        from osim_inertia.cli.info_tables import show

        show(content)


def summary(model: Model) -> dict[str, Any]:
    """Everything `info` tells, in plain Python types."""
    base = _bodies_of_frames(model)
    muscles = [_muscle(muscle) for muscle in model.muscles]
    return {
        "file": model.source,
        "name": model.name,
        "document_version": model.version,
        "mass_kg": model.mass,
        "gravity_m_s2": list(model.gravity),
        "bodies": [{"name": b.name, "mass_kg": b.mass, "mass_center_m": list(b.mass_center),
                    "inertia_kg_m2": list(b.inertia)} for b in model.bodies],
        "joints": [{"name": j.name, "kind": j.kind, "parent": base[j.parent_frame], "child": base[j.child_frame],
                    "parent_frame": j.parent_frame, "child_frame": j.child_frame,
                    "coordinates": [c.name for c in j.coordinates]} for j in model.joints],
        "coordinates": _coordinates(model),
        "muscles": muscles,
        "muscle_mass": _muscle_mass(muscles),
        "other_path_forces": [{"name": f.name, "kind": f.kind, "path_type": path_type(f)}
                              for f in model.path_forces if not isinstance(f, Muscle)],
        "wrap_objects": [{"name": w.name, "kind": type(w).__name__, "frame": w.frame, "active": w.active}
                         for w in model.wrap_objects],
        "constraints": [{"name": c.name, "enforced": c.enforced, "kind": "CoordinateCouplerConstraint"
                         if isinstance(c, CoordinateCoupler) else type(c).__name__} for c in model.constraints],
        "markers": [{"name": m.name, "body": base[m.frame], "frame": m.frame, "location_m": list(m.location)}
                    for m in model.markers],
        "unsupported": [{"kind": raw.kind, "name": raw.name, "path": raw.path, "line": raw.line}
                        for raw in model.unsupported],
        "notes": list(model.notes),
    }


def estimated_mass(muscle: Muscle) -> float:
    """Density times volume: cross-section from force over specific tension, length of the fibres (kg)."""
    return DENSITY * muscle.max_isometric_force * muscle.optimal_fiber_length / SPECIFIC_TENSION


def path_type(force: PathForce) -> str:
    """straight: two fixed points; polyline: more, or moving ones; wrapped: over objects; function: no points."""
    path = force.geometry
    if isinstance(path, FunctionBasedPath):
        return "function"
    if path.wraps:
        return "wrapped"
    fixed = all(isinstance(point, PathPoint) for point in path.points)
    return "straight" if fixed and len(path.points) == 2 else "polyline"


def _muscle(muscle: Muscle) -> dict[str, Any]:
    path = muscle.geometry
    points, wraps = (0, 0) if isinstance(path, FunctionBasedPath) else (len(path.points), len(path.wraps))
    return {
        "name": muscle.name,
        "kind": muscle.kind,
        "path_type": path_type(muscle),
        "points": points,
        "wraps": wraps,
        "applies_force": muscle.applies_force,
        "max_isometric_force_N": muscle.max_isometric_force,
        "optimal_fiber_length_m": muscle.optimal_fiber_length,
        "tendon_slack_length_m": muscle.tendon_slack_length,
        "pennation_angle_rad": muscle.pennation_angle,
        "estimated_mass_kg": estimated_mass(muscle),
    }


def _muscle_mass(muscles: list[dict[str, Any]]) -> dict[str, Any]:
    by_type = {}
    for kind in PATH_TYPES:
        masses = [muscle["estimated_mass_kg"] for muscle in muscles if muscle["path_type"] == kind]
        by_type[kind] = {"count": len(masses), "estimated_mass_kg": sum(masses)}
    return {
        "density_kg_m3": DENSITY,
        "specific_tension_N_m2": SPECIFIC_TENSION,
        "estimated_mass_kg": sum(muscle["estimated_mass_kg"] for muscle in muscles),
        "by_path_type": by_type,
    }


def _coordinates(model: Model) -> list[dict[str, Any]]:
    driven = {c.dependent for c in model.constraints if isinstance(c, CoordinateCoupler) and c.enforced}
    return [_coordinate(c, joint.name, driven) for joint in model.joints for c in joint.coordinates]


def _coordinate(coordinate: Coordinate, joint: str, driven: set[str]) -> dict[str, Any]:
    return {
        "name": coordinate.name,
        "joint": joint,
        "motion_type": coordinate.motion_type,
        "unit": UNITS.get(coordinate.motion_type, ""),
        "range": [value if math.isfinite(value) else None for value in coordinate.range],  # None: unbounded
        "default_value": coordinate.default_value,
        "default_speed_value": coordinate.default_speed_value,
        "locked": coordinate.locked,
        "clamped": coordinate.clamped,
        "prescribed": coordinate.prescribed,
        "dependent": coordinate.name in driven or coordinate.is_free_to_satisfy_constraints,
    }


def _bodies_of_frames(model: Model) -> dict[str, str]:
    """Frame path -> name of the body (or ground) it is fixed to."""
    names = {GROUND: "ground"} | {body.path: body.name for body in model.bodies}
    fixed = base_bodies(model.frames, (*model.stations, *model.markers))
    return names | {path: names[base] for path, base in fixed.items()}
