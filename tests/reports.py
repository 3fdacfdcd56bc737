"""What the tests make reports of: the shipped leg's run, without OpenSim unless asked for."""

from __future__ import annotations

from pathlib import Path

from osim_inertia.report.request import Request

LEG = Path(__file__).resolve().parents[1] / "models" / "leg11dof4musc"


def leg_request(**more: object) -> Request:
    """Three strides of the run at 17 km/h, with the shank's mass in its muscles."""
    given = {"model": LEG / "leg11dof4musc.osim", "motion": LEG / "running_17kmh.mot", "lowpass": 12.0,
             "time_range": (0.1, 2.3), "bodies": ("tibia_r",), "opensim": False}  # fmt: skip
    return Request(**{**given, **more})  # type: ignore[arg-type]

