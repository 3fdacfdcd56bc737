"""Giving muscles their mass: who gets how much, from which body, and what is left of the bones (METHOD.md §5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import cos, isfinite

import numpy as np
from numpy.typing import NDArray

from osim_inertia.bone_lines import bones_along, nearest_name, reference_pose
from osim_inertia.errors import ModelError
from osim_inertia.mass_table import read_mass_table
from osim_inertia.model.forces import Muscle
from osim_inertia.model.frames import Body
from osim_inertia.model.model import Model
from osim_inertia.model.muscle_mass import MassiveMuscle, MuscleMass
from osim_inertia.model.paths import GeometryPath
from osim_inertia.system import System

Array = NDArray[np.float64]
MUSCLE_DENSITY = 1059.7  # kg/m³, OpenSim's default of its metabolics probes
SPECIFIC_TENSION = 0.25e6  # N/m², likewise
MAPS, RESIDUALS, WRAPS = ("uniform", "rigid-tendon"), ("proportional", "consistent"), ("blend", "neural", "exact")


def estimated_mass(muscle: Muscle) -> float:
    """kg: density times volume, the volume being optimal fibre length times force over specific tension."""
    return MUSCLE_DENSITY * muscle.max_isometric_force * muscle.optimal_fiber_length / SPECIFIC_TENSION


def with_muscle_mass(
    model: Model,
    transfer: float | Mapping[str, float] | str,
    masses: Mapping[str, float] | str | None = None,
    map: str = "uniform",
    residual: str = "proportional",
    muscles: Sequence[str] | None = None,
    beads: int | None = None,
    wrap: str | Mapping[str, str] = "blend",
    *,
    belly: str | tuple[float, float] = "model",
    tendon_split: float = 0.5,
    along: Mapping[str, str | Mapping[str, float]] | None = None,
    blend: float = 0.01,
    switch_window: float = 0.02,
) -> Model:
    """A new model in which muscles carry mass that the bodies had before; the total stays the same.

    transfer   fraction of each body's mass that is really muscle: {"tibia_r": 0.8}, or one number for every body that
               has muscle along it, or "anatomical": every muscle weighs what `masses` says, in kg
    masses     muscle masses, only their proportions counting unless anatomical: {name: mass}, a CSV or TOML file, or
               None for density × force × fibre length / specific tension
    map        "uniform": the whole path stretches evenly (the papers); "rigid-tendon": only the belly stretches
    residual   "proportional": what is left of a body keeps its shape (the papers); "consistent": the muscles are cut
               out as they lie in the default pose
    muscles    names of the muscles that may carry mass; default all
    beads      None for a continuum; else that many point masses per muscle (the papers: 20)
    wrap       "blend" mixes wrapping in smoothly; "neural" lets a trained network do it, on cylinders; "exact" shows
               the raw jump of the Jacobian; {"bfsh_r": "neural"}: this muscle neural, the others blended
    belly      "model": the part of the path that is not tendon, from fibre and tendon lengths; "whole"; or two shares
    tendon_split  share of the tendon that lies before the belly
    blend      share of the path on wraps up to which wrapping is mixed in
    switch_window  rad or m, half the window over which a conditional path point is mixed in
    along      which body a muscle takes its mass from, {"gasmed_r": "tibia_r"} or {"gasmed_r": {"tibia_r": 1.0}};
               by default each point of the belly belongs to the nearest bone
    """
    wrap, neural = _wrap_words(model, wrap)
    _check_words(map, residual, wrap, tendon_split, beads, blend)
    if map == "rigid-tendon" and belly != "model":
        raise ModelError("With map='rigid-tendon' the belly is what the tendons leave of the path; `belly` belongs to "
                         "map='uniform'.")
    chosen = _chosen(model, muscles)
    shares = _belly_shares(chosen, belly, tendon_split)
    taken = bones_along(model, chosen, shares, along)
    weights = _weights(model, chosen, masses)
    taken = {name: share if weights[name] > 0.0 else {} for name, share in taken.items()}
    anatomical = isinstance(transfer, str)
    if isinstance(transfer, str) and transfer != "anatomical":
        raise ModelError(f"transfer is '{transfer}'; expected a fraction, fractions by body, or 'anatomical'.")
    fractions = {} if isinstance(transfer, str) else _fractions(model, transfer, taken)
    gets: dict[str, dict[str, float]] = {muscle.name: {} for muscle in chosen}
    given: dict[str, float] = {}
    for body in model.bodies:
        parts = {name: weights[name] * share[body.name] for name, share in taken.items() if body.name in share}
        total = sum(parts.values())
        if total <= 0.0 or (not anatomical and body.name not in fractions):
            continue
        given[body.name] = total if anatomical else fractions[body.name] * body.mass
        for name, part in parts.items():
            gets[name][body.name] = part if anatomical else given[body.name] * part / total
    massive = tuple(
        MassiveMuscle(name=m.name, taken_from=tuple(gets[m.name].items()), belly=shares[m.name],
                      tendons=(tendon_split * m.tendon_slack_length, (1.0 - tendon_split) * m.tendon_slack_length))
        for m in chosen if sum(gets[m.name].values()) > 0.0
    )
    spec = MuscleMass(
        muscles=massive,
        transfer=tuple((name, kg / model.body(name).mass) for name, kg in given.items()),
        untouched=tuple(body.name for body in model.bodies if body.name not in given),
        map=map, residual=residual, wrap=wrap, neural=neural, blend=blend, switch_window=switch_window,
        beads=beads or 0,
    )
    return _lightened(model, spec, given)


def with_only(model: Model, inertial: Model, muscles: Collection[str]) -> Model:
    """Of what `with_muscle_mass` made of the model, the part that concerns these muscles: the others stay lumped.

    Forces and mass matrices are affine in muscle masses, so what each muscle changes adds up to what all change.
    """
    spec = inertial.muscle_mass
    assert spec is not None
    kept = tuple(muscle for muscle in spec.muscles if muscle.name in muscles)
    given: dict[str, float] = {}
    for muscle in kept:
        for body, kg in muscle.taken_from:
            given[body] = given.get(body, 0.0) + kg
    return _lightened(model, replace(spec, muscles=kept), given)


# ---- checks ---------------------------------------------------------------------------------------------------------
def _wrap_words(model: Model, wrap: str | Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The word for the whole model, and the muscles that alone are neural."""
    if isinstance(wrap, str):
        return wrap, ()
    names = [muscle.name for muscle in model.muscles]
    for name, word in wrap.items():
        if name not in names:
            raise ModelError(f"There is no muscle '{name}'. {nearest_name(name, names)}")
        if word not in ("blend", "neural"):
            raise ModelError(f"wrap of '{name}' is '{word}'; expected blend or neural.")
    neural = tuple(name for name, word in wrap.items() if word == "neural")
    return ("neural" if neural else "blend"), neural


def _check_words(
    map: str, residual: str, wrap: str, tendon_split: float, beads: int | None, blend: float
) -> None:
    for name, value, allowed in (("map", map, MAPS), ("residual", residual, RESIDUALS), ("wrap", wrap, WRAPS)):
        if value not in allowed:
            raise ModelError(f"{name} is '{value}'; expected one of {', '.join(allowed)}.")
    if not 0.0 <= tendon_split <= 1.0:
        raise ModelError(f"tendon_split is {tendon_split}; expected a share between 0 and 1.")
    if beads is not None and beads < 1:
        raise ModelError(f"beads is {beads}; expected 1 or more, or None for a continuum.")
    if not 0.0 < blend <= 1.0:
        raise ModelError(f"blend is {blend}; expected a wrapped share above 0 and up to 1.")


def _chosen(model: Model, names: Sequence[str] | None) -> list[Muscle]:
    if model.muscle_mass is not None:
        raise ModelError("The muscles of this model have mass already; start from the original model.")
    able = {muscle.name: muscle for muscle in model.muscles if isinstance(muscle.geometry, GeometryPath)}
    names = [names] if isinstance(names, str) else names
    for name in names or ():
        if name not in able:
            raise ModelError(f"There is no muscle '{name}' with a geometric path. {nearest_name(name, able)}")
    return [muscle for name, muscle in able.items() if names is None or name in names]


def _fractions(
    model: Model, transfer: float | Mapping[str, float], taken: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    has_muscle = {body for shares in taken.values() for body in shares}
    if not isinstance(transfer, Mapping):
        if not 0.0 <= transfer <= 1.0:
            raise ModelError(f"The fraction for all bodies is {transfer}; expected 0 to 1.")
        transfer = {body.name: float(transfer) for body in model.bodies if body.name in has_muscle}
    names = [body.name for body in model.bodies]
    for body, fraction in transfer.items():
        if body not in names:
            raise ModelError(f"There is no body '{body}'. {nearest_name(body, names)}")
        if not 0.0 <= fraction <= 1.0:
            raise ModelError(f"The fraction for body '{body}' is {fraction}; expected 0 to 1.")
        if body not in has_muscle:
            raise ModelError(f"No muscle lies along body '{body}', so its mass cannot go to muscles; bodies with "
                             f"muscle along them: {', '.join(n for n in names if n in has_muscle) or 'none'}.")
    return dict(transfer)


def _weights(
    model: Model, chosen: Sequence[Muscle], masses: Mapping[str, float] | str | None
) -> dict[str, float]:
    if masses is None:
        return {muscle.name: estimated_mass(muscle) for muscle in chosen}
    table = dict(masses) if isinstance(masses, Mapping) else read_mass_table(masses)
    known = [muscle.name for muscle in model.muscles]
    for name, value in table.items():
        if name not in known:
            hint = nearest_name(name, known)
            raise ModelError(f"The table of masses names '{name}', which is no muscle here. {hint}")
        if not (value >= 0.0 and isfinite(value)):
            raise ModelError(f"The mass of '{name}' is {value}; expected 0 or more.")
    return {muscle.name: float(table.get(muscle.name, 0.0)) for muscle in chosen}


def _belly_shares(
    chosen: Sequence[Muscle], belly: str | tuple[float, float], split: float
) -> dict[str, tuple[float, float]]:
    if belly == "whole":
        return {muscle.name: (0.0, 1.0) for muscle in chosen}
    if not isinstance(belly, str):
        first, last = belly
        if not 0.0 <= first < last <= 1.0:
            raise ModelError(f"belly is {belly}; expected two shares of the path, 0 ≤ first < last ≤ 1.")
        return {muscle.name: (float(first), float(last)) for muscle in chosen}
    if belly != "model":
        raise ModelError(f"belly is '{belly}'; expected 'model', 'whole' or two shares of the path.")
    shares = {}
    for muscle in chosen:
        fibre = muscle.optimal_fiber_length * cos(muscle.pennation_angle)
        if not (fibre > 0.0 and muscle.tendon_slack_length >= 0.0):
            raise ModelError(f"Muscle '{muscle.name}' has fibres of {fibre:.3g} m along its path and a tendon of "
                             f"{muscle.tendon_slack_length:.3g} m, which leaves no belly; give `belly`, or leave the "
                             "muscle out of `muscles`.")
        tendon = muscle.tendon_slack_length / (fibre + muscle.tendon_slack_length)
        shares[muscle.name] = (split * tendon, 1.0 - (1.0 - split) * tendon)
    return shares


# ---- what is left of the bones --------------------------------------------------------------------------------------
def _lightened(model: Model, spec: MuscleMass, given: Mapping[str, float]) -> Model:
    """The model with muscles as in `spec`, and bodies without what they have given (kg)."""
    for body in model.bodies:
        if given.get(body.name, 0.0) > body.mass * (1.0 + 1e-12):
            raise ModelError(f"The muscles along body '{body.name}' weigh {given[body.name]:.3g} kg, more than the "
                             f"whole body ({body.mass:.3g} kg); give smaller masses or use fractions.")
    cut = _frozen_muscles(model, spec) if spec.residual == "consistent" else {}
    left = []
    for body in model.bodies:
        kg = given.get(body.name, 0.0)
        if body.name in cut:
            body = _cut_out(body, *cut[body.name])
        elif kg > 0.0:
            kept = 1.0 - kg / body.mass
            xx, yy, zz, xy, xz, yz = (kept * value for value in body.inertia)
            body = replace(body, mass=body.mass - kg, inertia=(xx, yy, zz, xy, xz, yz))
        left.append(body)
    return replace(model, bodies=tuple(left), muscle_mass=spec)


def _cut_out(body: Body, mass: float, first: Array, second: Array) -> Body:
    """What is left when matter of that mass, first moment and inertia about the body's origin is taken off."""
    c = np.array(body.mass_center)
    xx, yy, zz, xy, xz, yz = body.inertia
    about_center = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    about_origin = about_center + body.mass * ((c @ c) * np.eye(3) - np.outer(c, c)) - second
    left = body.mass - mass
    if left <= 1e-12 * body.mass:
        raise ModelError(f"Nothing is left of body '{body.name}'; residual='consistent' needs a fraction below 1.")
    center = (body.mass * c - first) / left
    inertia = about_origin - left * ((center @ center) * np.eye(3) - np.outer(center, center))
    if np.linalg.eigvalsh(inertia).min() <= 0.0:
        raise ModelError(f"Cutting the muscles out of body '{body.name}' leaves an inertia that no body can have (not "
                         "positive definite); transfer less, or use residual='proportional'.")
    i = inertia.tolist()
    return replace(body, mass=left, mass_center=tuple(center.tolist()),
                   inertia=(i[0][0], i[1][1], i[2][2], i[0][1], i[0][2], i[1][2]))


def _frozen_muscles(model: Model, spec: MuscleMass) -> dict[str, tuple[float, Array, Array]]:
    """By body: mass, first moment and inertia about its origin, in its axes, of the muscle parts taken from it.

    The muscles lie as they do in the reference pose.
    """
    system = System(replace(model, muscle_mass=spec))
    q = reference_pose(system)
    poses = dict(zip(system.body_names, system.body_poses(q)[0]))
    sums: dict[str, tuple[float, Array, Array]] = {}
    for muscle in spec.muscles:
        points, masses = system.muscle_matter(q, muscle.name)
        if abs(masses.sum() - muscle.mass) > 1e-6 * muscle.mass:
            raise ModelError(f"In the default pose the path of '{muscle.name}' is shorter than its tendons, so that "
                             "nothing is left for the belly; use map='uniform' or residual='proportional'.")
        for body, part in muscle.taken_from:
            if part <= 0.0:
                continue
            r = (points - poses[body][:3, 3]) @ poses[body][:3, :3]
            m = masses * part / muscle.mass
            mass, first, second = sums.get(body, (0.0, np.zeros(3), np.zeros((3, 3))))
            second = second + (m @ (r**2).sum(axis=1)) * np.eye(3) - np.einsum("k,ki,kj->ij", m, r, r)
            sums[body] = mass + part, first + m @ r, second
    return sums
