"""What a transfer of mass did, in plain Python types and in sentences: for commands and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from osim_inertia.model.model import Model

INERTIAL_ONLY = "Muscles act by their mass alone here: their contraction forces are not part of the result."
HEAVY = 2.0  # times the expected mass
SHOWN = 8


def transfer_summary(before: Model, after: Model) -> dict[str, Any]:
    """The whole transfer in plain Python types."""
    spec = after.muscle_mass
    assert spec is not None
    heavy = {muscle.name for muscle in spec.muscles}
    fractions = dict(spec.transfer)
    return {
        "map": spec.map,
        "residual": spec.residual,
        "wrap": spec.wrap,
        "neural": list(spec.neural),
        "beads": spec.beads or None,
        "mass_kg": before.mass,
        "muscle_mass_kg": sum(muscle.mass for muscle in spec.muscles),
        "bodies": [{"body": old.name, "mass_before_kg": old.mass, "mass_after_kg": new.mass,
                    "fraction": fractions[old.name]}
                   for old, new in zip(before.bodies, after.bodies) if old.name in fractions],
        "untouched": list(spec.untouched),
        "muscles": [{"muscle": muscle.name, "body": body, "kg": kg, "belly_start": muscle.belly[0],
                     "belly_end": muscle.belly[1]} for muscle in spec.muscles for body, kg in muscle.taken_from],
        "heavy_muscles": _heavy(before, after),
        "massless_muscles": [muscle.name for muscle in before.muscles if muscle.name not in heavy],
    }  # fmt: skip


def _heavy(before: Model, after: Model) -> dict[str, float]:
    """Muscles that got more than twice what their volume suggests, and how many times as much."""
    from osim_inertia.inertia import estimated_mass

    expected = {muscle.name: estimated_mass(muscle) for muscle in before.muscles}
    masses = {muscle.name: muscle.mass for muscle in after.muscle_mass.muscles} if after.muscle_mass else {}
    return {name: kg / expected[name] for name, kg in masses.items() if kg > HEAVY * expected[name] > 0.0}


def heavy_note(
    summary: Mapping[str, Any], advice: str = "BODY=FRACTION gives them a smaller one"
) -> list[str]:
    """A warning where a body has hardly any muscle along it, and what there is gets all the mass."""
    heavy = sorted(summary["heavy_muscles"].items(), key=lambda item: -item[1])
    if not heavy:
        return []
    names = ", ".join(f"{name} ({times:.1f}×)" for name, times in heavy[:SHOWN]) + (" …" if len(heavy) > SHOWN else "")
    return [f"These muscles got more than {HEAVY:g} times the mass that force × fibre length suggests: {names}. The "
            f"bodies it came from have little muscle along them in this model; {advice}."]


def transfer_note(summary: Mapping[str, Any]) -> str:
    """The transfer in one sentence."""
    muscles = len({row["muscle"] for row in summary["muscles"]})
    bodies = len(summary["bodies"])
    moved = f"{summary['muscle_mass_kg']:.4g} of {summary['mass_kg']:.4g} kg moved"
    ends = f"from {bodies} {'body' if bodies == 1 else 'bodies'} to {muscles} {'muscle' if muscles == 1 else 'muscles'}"
    return f"{moved} {ends} (map {summary['map']}, residual {summary['residual']}). {INERTIAL_ONLY}"
