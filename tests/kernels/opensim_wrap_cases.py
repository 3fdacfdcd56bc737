"""Small wrapping models, described once and answered twice: by the OpenSim wheel and by our kernels.

Path points are the origins of bodies on FreeJoints, so that one state vector moves them anywhere; wrap objects sit in
ground. Each `Path` becomes one PathActuator.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from osim_inertia.kernels.opensim_path import (
    PathWraps,
    WrapObjects,
    new_path_result,
    opensim_path_length,
    path_positions,
)

KINDS = ("cylinder", "sphere", "ellipsoid", "torus")
METHODS = ("hybrid", "midpoint", "axial")
QUADRANTS = ("all", "+x", "-x", "+y", "-y", "+z", "-z")


@dataclass(frozen=True)
class Wrap:
    """A wrap object and the PathWrap that uses it."""

    kind: str
    params: tuple[float, ...]
    quadrant: str = "all"
    translation: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = (0.0, 0.0, 0.0)
    method: str = "hybrid"
    range: tuple[int, int] = (-1, -1)
    active: bool = True
    share: int = -1  # use the object of this earlier PathWrap of the same path instead


@dataclass(frozen=True)
class Path:
    """A path through the bodies `points`; a body in `conditional` takes part only while its x is not positive."""

    points: tuple[int, ...]
    wraps: tuple[Wrap, ...] = ()
    conditional: tuple[int, ...] = ()


def rotation_xyz(angles: Sequence[float]) -> np.ndarray:
    """Body-fixed XYZ angles -> rotation matrix, rounded as Simbody rounds it."""
    (c0, c1, c2), (s0, s1, s2) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [c1 * c2, s2 * -c1, s1],
            [s2 * c0 + s0 * s1 * c2, c0 * c2 - s0 * s1 * s2, s0 * -c1],
            [s0 * s2 - s1 * (c0 * c2), s0 * c2 + s1 * (s2 * c0), c0 * c1],
        ]
    )


# ---------------------------------------------------------------- OpenSim's answer


def _numbers(values: Sequence[float]) -> str:
    return " ".join(repr(float(v)) for v in values)


def _wrap_object_xml(name: str, wrap: Wrap) -> str:
    dims = {
        "cylinder": "<radius>{0!r}</radius><length>{1!r}</length>",
        "sphere": "<radius>{0!r}</radius>",
        "ellipsoid": "<dimensions>{0!r} {1!r} {2!r}</dimensions>",
        "torus": "<inner_radius>{0!r}</inner_radius><outer_radius>{1!r}</outer_radius>",
    }[wrap.kind].format(*wrap.params)
    tag = f"Wrap{wrap.kind.capitalize()}"
    return (
        f'<{tag} name="{name}"><active>{str(wrap.active).lower()}</active><quadrant>{wrap.quadrant}</quadrant>'
        f"<xyz_body_rotation>{_numbers(wrap.rotation)}</xyz_body_rotation>"
        f"<translation>{_numbers(wrap.translation)}</translation>{dims}</{tag}>"
    )


def _path_xml(i: int, path: Path) -> str:
    points, wraps = "", ""
    for k, b in enumerate(path.points):
        frame = f"<socket_parent_frame>/bodyset/b{b}</socket_parent_frame><location>0 0 0</location>"
        if b in path.conditional:
            points += (
                f'<ConditionalPathPoint name="p{i}_{k}">{frame}'
                f"<socket_coordinate>/jointset/j{b}/x{b}</socket_coordinate><range>-1000 0</range>"
                "</ConditionalPathPoint>"
            )
        else:
            points += f'<PathPoint name="p{i}_{k}">{frame}</PathPoint>'
    for k, wrap in enumerate(path.wraps):
        wraps += (
            f'<PathWrap name="pw{i}_{k}"><wrap_object>w{i}_{k if wrap.share < 0 else wrap.share}</wrap_object>'
            f"<method>{wrap.method}</method><range>{wrap.range[0]} {wrap.range[1]}</range></PathWrap>"
        )
    return (
        f'<PathActuator name="path{i}"><GeometryPath name="geometrypath">'
        f"<PathPointSet><objects>{points}</objects></PathPointSet><PathWrapSet><objects>{wraps}</objects></PathWrapSet></GeometryPath></PathActuator>"
    )


def _model_xml(paths: Sequence[Path]) -> str:
    bodies, joints = "", ""
    for b in range(1 + max(max(path.points) for path in paths)):
        bodies += (
            f'<Body name="b{b}"><mass>1</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body>'
        )
        names = (f"a{b}", f"e{b}", f"g{b}", f"x{b}", f"y{b}", f"z{b}")
        coordinates = "".join(f'<Coordinate name="{n}"/>' for n in names)
        joints += (
            f'<FreeJoint name="j{b}"><socket_parent_frame>/ground</socket_parent_frame>'
            f"<socket_child_frame>/bodyset/b{b}</socket_child_frame><coordinates>{coordinates}</coordinates></FreeJoint>"
        )
    objects = "".join(
        _wrap_object_xml(f"w{i}_{k}", wrap)
        for i, path in enumerate(paths)
        for k, wrap in enumerate(path.wraps)
        if wrap.share < 0
    )
    forces = "".join(_path_xml(i, path) for i, path in enumerate(paths))
    return (
        '<?xml version="1.0" encoding="UTF-8"?><OpenSimDocument Version="40000"><Model name="wraps">'
        f'<Ground name="ground"><WrapObjectSet><objects>{objects}</objects></WrapObjectSet></Ground>'
        f"<BodySet><objects>{bodies}</objects></BodySet><JointSet><objects>{joints}</objects></JointSet>"
        f"<ForceSet><objects>{forces}</objects></ForceSet></Model></OpenSimDocument>"
    )


class LiveModel:
    """The paths in OpenSim."""

    def __init__(self, opensim: Any, paths: Sequence[Path]) -> None:
        opensim.Logger.setLevelString("error")
        with tempfile.TemporaryDirectory() as folder:
            file = FilePath(folder) / "wraps.osim"
            file.write_text(_model_xml(paths), encoding="utf-8")
            self._model = opensim.Model(str(file))
        self._vector = opensim.Vector
        self._state = self._model.initSystem()
        self._q = np.zeros(self._state.getNQ())
        forces = self._model.getForceSet()
        self._paths = [
            opensim.GeometryPath.safeDownCast(opensim.PathActuator.safeDownCast(forces.get(i)).getPath())
            for i in range(len(paths))
        ]

    def lengths(self, points: np.ndarray) -> np.ndarray:
        """Lengths of all paths with the bodies at points (nb, 3)."""
        for b, p in enumerate(points):
            self._q[7 * b + 3 : 7 * b + 6] = p  # three angles, three translations, one slot unused
        self._state.setQ(self._vector.createFromMat(self._q))
        self._model.realizePosition(self._state)
        return np.array([path.getLength(self._state) for path in self._paths])

    def current_points(self, i: int) -> np.ndarray:
        """Ground positions of the points of path i, wrap points at their cached positions."""
        current = self._paths[i].getCurrentPath(self._state)
        return np.array([current.get(k).getLocationInGround(self._state).to_numpy() for k in range(current.getSize())])


# ---------------------------------------------------------------- our answer


class OurModel:
    """The same paths in the flat arrays of `opensim_path`."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self.first, self.count = [], []
        objects: list[Wrap] = []
        rows: list[tuple[int, int, int, int]] = []
        for path in paths:
            self.first.append(len(rows))
            self.count.append(len(path.wraps))
            own: list[int] = []
            for wrap in path.wraps:
                if wrap.share < 0:
                    objects.append(wrap)
                own.append(len(objects) - 1 if wrap.share < 0 else own[wrap.share])
                rows.append((own[-1], METHODS.index(wrap.method), *wrap.range))
        axes = [-1 if w.quadrant == "all" else "xyz".index(w.quadrant[1]) for w in objects]
        self.objects = WrapObjects(
            kind=np.array([KINDS.index(w.kind) for w in objects], np.int64),
            params=np.array([(*w.params, 0.0, 0.0)[:3] for w in objects]).reshape(-1, 3),
            axis=np.array(axes, np.int64),
            sign=np.array([-1 if w.quadrant[0] == "-" else 1 for w in objects], np.int64),
            active=np.array([w.active for w in objects], np.bool_),
        )
        self.R_GW = np.array([rotation_xyz(w.rotation) for w in objects]).reshape(-1, 3, 3)
        self.p_GW = np.array([w.translation for w in objects], float).reshape(-1, 3)
        self.wraps = PathWraps(*np.array(rows, np.int64).reshape(-1, 4).T.copy())
        self.result = new_path_result(max(len(p.points) for p in paths), max(1, *self.count))
        self.size = 0

    def length(self, i: int, points: np.ndarray) -> float:
        """Length of path i with the bodies at points (nb, 3)."""
        path = self.paths[i]
        active = [k for k, b in enumerate(path.points) if b not in path.conditional or points[b, 0] <= 1e-5]
        self.nodes = points[[path.points[k] for k in active]]
        length, self.size = opensim_path_length(
            self.nodes, np.array(active), len(active), self.objects, self.R_GW, self.p_GW, self.wraps,
            self.first[i], self.count[i], self.result,
        )  # fmt: skip
        return length

    def lengths(self, points: np.ndarray) -> np.ndarray:
        """Lengths of all paths."""
        return np.array([self.length(i, points) for i in range(len(self.paths))])

    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """Latest and cached positions along the path whose length was asked last, (n, 3) each."""
        latest, cached = np.empty((self.size, 3)), np.empty((self.size, 3))
        path_positions(self.nodes, self.size, self.result, latest, cached)
        return latest, cached
