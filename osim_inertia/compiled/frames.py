"""Where frames, stations and markers are fixed: body index, rotation and position in the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from osim_inertia.errors import ModelError
from osim_inertia.model.frames import GROUND, OffsetFrame, StationDefinedFrame
from osim_inertia.model.model import Model

COINCIDENT = 1e-12


def rotation_xyz(angles: tuple[float, ...]) -> NDArray[np.float64]:
    """Rx(a) Ry(b) Rz(c)."""
    (ca, cb, cc), (sa, sb, sc) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cb * cc, -cb * sc, sb],
            [ca * sc + sa * sb * cc, ca * cc - sa * sb * sc, -sa * cb],
            [sa * sc - ca * sb * cc, sa * cc + ca * sb * sc, ca * cb],
        ]
    )


@dataclass(frozen=True)
class Placement:
    """A frame fixed in a body (or ground)."""

    body: str  # component path
    R: NDArray[np.float64]  # (3, 3) frame axes in the body
    p: NDArray[np.float64]  # (3,) m

    def point(self, location: tuple[float, ...]) -> NDArray[np.float64]:
        """A point of the frame, in the body."""
        return self.p + self.R @ np.asarray(location)


class Placements:
    """Placements of all frames of a model, looked up by component path."""

    def __init__(self, model: Model) -> None:
        self._frames = {frame.path: frame for frame in model.frames}
        self._points = {s.path: (s.parent, s.location) for s in model.stations}
        self._points |= {f"/markerset/{m.name}": (m.frame, m.location) for m in model.markers}
        here = np.eye(3), np.zeros(3)
        self._known = {path: Placement(path, *here) for path in (GROUND, *(body.path for body in model.bodies))}

    def __getitem__(self, path: str) -> Placement:
        if path not in self._known:
            frame = self._frames.get(path)
            if frame is None:
                raise ModelError(f"There is no frame {path} in the model.")
            self._known[path] = self._spanned(frame) if isinstance(frame, StationDefinedFrame) else self._shifted(frame)
        return self._known[path]

    def point(self, path: str) -> tuple[str, NDArray[np.float64]]:
        """Body and position of a station or marker."""
        parent, location = self._points[path]
        placement = self[parent]
        return placement.body, placement.point(location)

    def _shifted(self, frame: OffsetFrame) -> Placement:
        parent = self[frame.parent]
        return Placement(parent.body, parent.R @ rotation_xyz(frame.orientation), parent.point(frame.translation))

    def _spanned(self, frame: StationDefinedFrame) -> Placement:
        points = [self.point(path) for path in (frame.point_a, frame.point_b, frame.point_c, frame.origin_point)]
        if len({body for body, _ in points}) > 1:
            raise ModelError(f"The stations of frame {frame.path} are not all on one body.")
        a, b, c, origin = (position for _, position in points)
        normal = np.cross(b - a, c - a)
        if np.linalg.norm(normal) < COINCIDENT:
            raise ModelError(f"The stations of frame {frame.path} do not form a triangle.")
        R = np.zeros((3, 3))
        columns = []
        for axis, direction in ((frame.ab_axis, b - a), (frame.ab_x_ac_axis, normal)):
            column = "xyz".index(axis[-1])
            R[:, column] = direction / np.linalg.norm(direction) * (-1.0 if axis[0] == "-" else 1.0)
            columns.append(column)
        third = 3 - sum(columns)
        R[:, third] = np.cross(R[:, (third + 1) % 3], R[:, (third + 2) % 3])
        return Placement(points[0][0], R, origin)
