"""osim-inertia: dynamics of OpenSim models in which the muscles have mass.

    import osim_inertia as oi
    model = oi.read_osim("gait2392.osim")
    system = oi.System(model)
    tau = system.inverse_dynamics(q, u, udot)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osim_inertia.errors import FileError, ModelError, OsimError, OsimInertiaError

if TYPE_CHECKING:
    from osim_inertia.inertia import with_muscle_mass
    from osim_inertia.inverse import inverse_dynamics_of
    from osim_inertia.markers.data import read_markers
    from osim_inertia.markers.fit import inverse_kinematics
    from osim_inertia.model.model import Model
    from osim_inertia.model_json import read_model, write_model
    from osim_inertia.osim.reader import read_osim
    from osim_inertia.osim.writer import write_osim
    from osim_inertia.rank import rank_muscles
    from osim_inertia.reactions import joint_reactions
    from osim_inertia.system import System
    from osim_inertia.tables.sto import read_table, write_table
    from osim_inertia.tables.table import Table

__version__ = "0.1.0"

# Imported when first used: `osim-inertia info` must not wait for Numba.
_LAZY = {
    "Model": "osim_inertia.model.model",
    "System": "osim_inertia.system",
    "Table": "osim_inertia.tables.table",
    "inverse_dynamics_of": "osim_inertia.inverse",
    "inverse_kinematics": "osim_inertia.markers.fit",
    "joint_reactions": "osim_inertia.reactions",
    "rank_muscles": "osim_inertia.rank",
    "read_markers": "osim_inertia.markers.data",
    "read_model": "osim_inertia.model_json",
    "read_osim": "osim_inertia.osim.reader",
    "read_table": "osim_inertia.tables.sto",
    "with_muscle_mass": "osim_inertia.inertia",
    "write_model": "osim_inertia.model_json",
    "write_osim": "osim_inertia.osim.writer",
    "write_table": "osim_inertia.tables.sto",
}

__all__ = [
    "FileError",
    "Model",
    "ModelError",
    "OsimError",
    "OsimInertiaError",
    "System",
    "Table",
    "inverse_dynamics_of",
    "inverse_kinematics",
    "joint_reactions",
    "rank_muscles",
    "read_markers",
    "read_model",
    "read_osim",
    "read_table",
    "with_muscle_mass",
    "write_model",
    "write_osim",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'osim_inertia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
