"""Print what OpenSim computes from a model file at a few poses, as JSON:   opensim_numbers.py MODEL"""

from __future__ import annotations

import json
import sys

import numpy as np
import opensim

POSES = 3


def main(file: str) -> None:
    opensim.Logger.setLevelString("Off")
    model = opensim.Model(file)
    state = model.initSystem()
    parts = list(model.getComponentsList())
    frames = _all(opensim.PhysicalFrame, parts)
    paths = _all(opensim.AbstractGeometryPath, parts)
    points = _all(opensim.Station, parts)  # markers are stations too
    coordinates = _all(opensim.Coordinate, parts)
    random = np.random.default_rng(5)
    found: dict[str, list] = {"pose": [], "mass_matrix": [], "length": [], "point": []}
    for _ in range(POSES):
        for coordinate in coordinates:
            low, high = max(coordinate.getRangeMin(), -1.0), min(coordinate.getRangeMax(), 1.0)
            coordinate.setLocked(state, False)
            coordinate.setValue(state, float(random.uniform(min(low, high), high)), False)
        model.realizePosition(state)
        found["pose"] += [_pose(frame, state) for frame in frames]
        found["length"] += [path.getLength(state) for path in paths]
        found["point"] += [_numbers(point.getLocationInGround(state)) for point in points]
        matrix = opensim.Matrix()
        model.getMatterSubsystem().calcM(state, matrix)
        found["mass_matrix"] += matrix.to_numpy().ravel().tolist()
    found["defaults"] = [c.getDefaultValue() for c in coordinates] + [c.getDefaultSpeedValue() for c in coordinates]
    found["gravity"] = _numbers(model.getGravity())
    found["mass"] = [model.getTotalMass(state)]
    found["muscle"] = [value for muscle in _all(opensim.Muscle, parts) for value in _number_properties(muscle)]
    print(json.dumps(found))


def _all(kind: type, parts: list) -> list:
    """Components of a class, in the order of their paths (the written file may order them otherwise)."""
    cast = [kind.safeDownCast(part) for part in parts]
    return sorted((part for part in cast if part), key=lambda part: part.getAbsolutePathString())


def _pose(frame: opensim.PhysicalFrame, state: opensim.State) -> list[float]:
    transform = frame.getTransformInGround(state)
    return _numbers(transform.p()) + [transform.R().get(i, j) for i in range(3) for j in range(3)]


def _number_properties(muscle: opensim.Muscle) -> list[float]:
    values = []
    for i in range(muscle.getNumProperties()):
        try:
            value = float(muscle.getPropertyByIndex(i).toString())
        except ValueError:
            continue
        values.append(min(max(value, -1e30), 1e30))  # infinite limits of controls
    return values


def _numbers(vector: opensim.Vec3) -> list[float]:
    return [vector.get(i) for i in range(3)]


main(sys.argv[1])
