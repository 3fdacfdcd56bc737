"""Muscles that have mass: how much each has, where it came from and where along the path it sits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MassiveMuscle:
    """One muscle's matter. Labels run from 0 at the origin to 1 at the insertion of the path (or of the belly)."""

    name: str
    taken_from: tuple[tuple[str, float], ...]  # body, kg
    belly: tuple[float, float] = (0.0, 1.0)  # share of the path the belly covers when the whole path stretches evenly
    tendons: tuple[float, float] = (0.0, 0.0)  # m, rigid, before and after the belly; then the belly is all the rest

    @property
    def mass(self) -> float:
        """kg."""
        return sum(kg for _, kg in self.taken_from)


@dataclass(frozen=True, slots=True, kw_only=True)
class MuscleMass:
    """All muscles of a model that have mass, and how their matter is mapped onto their paths."""

    muscles: tuple[MassiveMuscle, ...]
    transfer: tuple[tuple[str, float], ...] = ()  # body, fraction of its mass given to muscles
    untouched: tuple[str, ...] = ()  # bodies with no muscle along them, which keep their mass
    map: str = "uniform"  # uniform: the whole path stretches evenly; rigid-tendon: only the belly stretches
    residual: str = "proportional"  # what is left of the bones: proportional or consistent
    wrap: str = "blend"  # blend; neural: a trained network; or exact: the raw jump of the Jacobian at touch-down
    neural: tuple[str, ...] = ()  # with neural: only these muscles, the others are blended; empty: all that can
    blend: float = 0.01  # wrapped share of the path over which wrapping is blended in
    switch_window: float = 0.02  # rad or m: half the window over which a conditional path point is blended in
    beads: int = 0  # 0: a continuum; else that many point masses, as in the papers
