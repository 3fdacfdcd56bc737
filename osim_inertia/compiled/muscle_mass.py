"""Muscle mass of the model to arrays (kernels.muscle_batch)."""

from __future__ import annotations

import numpy as np

from osim_inertia.errors import ModelError
from osim_inertia.kernels.muscle_batch import Muscles
from osim_inertia.model.model import Model


def compile_muscles(model: Model) -> Muscles:
    """The muscles with mass, of which there must be some."""
    spec = model.muscle_mass
    if spec is None:
        raise ModelError("No muscle of this model has mass.")
    massive = [muscle for muscle in spec.muscles if muscle.mass > 0.0]
    names = [force.name for force in model.path_forces]
    rows = []
    for muscle in massive:
        if muscle.name not in names:
            raise ModelError(f"Muscle '{muscle.name}' has mass but is not in the model.")
        before, after = muscle.tendons
        if spec.map == "uniform":
            rows.append((0.0, 0.0, *muscle.belly, muscle.mass, float(spec.beads)))
        else:  # σ = ℓ_p + ξ (L − ℓ_p − ℓ_d)
            rows.append((before, -(before + after), 0.0, 1.0, muscle.mass, float(spec.beads)))
    return Muscles(
        path=np.array([names.index(muscle.name) for muscle in massive], dtype=np.int64),
        material=np.array(rows),
        blend=spec.blend if spec.wrap != "exact" else 0.0,
        window=spec.switch_window if spec.wrap != "exact" else 0.0,
    )
