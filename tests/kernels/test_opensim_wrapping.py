"""`paths="opensim"` against OpenSim 4.6: printed values, the wheel itself, and published models.

Tolerances. Cylinder and sphere are closed forms: only rounding may differ (1e-9 m). Ellipsoid and torus stop their
inner iterations at loose tolerances, so equal results need equal steps (1e-7 m). Several wraps feed each other, and
OpenSim's own answer may then jump when a point moves by 1e-15 m; such a case passes if ours lies within the answers
OpenSim gives nearby.
"""

import json
from pathlib import Path as FilePath

import numpy as np
import pytest
from opensim_wrap_cases import KINDS, METHODS, QUADRANTS, LiveModel, OurModel, Path, Wrap

from osim_inertia.kernels.opensim_path import WrapObjects, opensim_path_length, path_arc_points

SHARED = FilePath(__file__).resolve().parents[2] / ".." / "shared"
CLOSED_FORM = 1e-9  # m
ITERATED = 1e-7  # m
TOLERANCE = {"cylinder": CLOSED_FORM, "sphere": CLOSED_FORM, "ellipsoid": ITERATED, "torus": ITERATED}
CASES = 10_000  # per kind of object


@pytest.fixture(scope="module")
def opensim():
    return pytest.importorskip("opensim", reason="the opensim wheel is not installed")


# ---------------------------------------------------------------- values printed by OpenSim 4.6

CYLINDER = Wrap("cylinder", (0.1, 10.0))
CYLINDER_Y = Wrap("cylinder", (0.1, 10.0), "+y")
FAR_AWAY = Wrap("cylinder", (0.1, 10.0), translation=(50.0, 50.0, 50.0))
SPHERE = Wrap("sphere", (0.08,), translation=(0.2, 0.05, 0.0))
OBLIQUE = ((-0.3, 0.02, -0.2), (0.15, 0.03, 0.3))
ACROSS = ((-0.2, 0.03, -0.05), (0.15, 0.02, 0.1))
TWO_OBJECTS = ((-0.54, 0.1, 0.09), (0.39, -0.06, -0.066))


def ellipsoid(quadrant, method):
    return Wrap("ellipsoid", (0.06, 0.1, 0.15), quadrant, method=method)


PRINTED = {
    "cylinder, only wrap": (OBLIQUE, [CYLINDER], 0.6921301420076713),
    "cylinder with an idle second wrap": (OBLIQUE, [CYLINDER, FAR_AWAY], 0.691779765982006),
    "constrained, no contact": (((-0.3, -0.2, 0), (0.3, -0.2, 0)), [CYLINDER_Y], 0.8666278240376272),
    "constrained, long way": (((-0.05, -0.12, 0), (0.05, -0.12, 0)), [CYLINDER_Y], 0.5768608025210171),
    "constrained, long way back": (((0.05, -0.12, 0), (-0.05, -0.12, 0)), [CYLINDER_Y], 1.0120412134316232),
    "sphere, negative arc": (
        ((-0.09, -0.05, 0), (0.09, -0.05, 0)),
        [Wrap("sphere", (0.1,), "+y")],
        -0.3185453442067265,
    ),
    "ellipsoid hybrid": (ACROSS, [ellipsoid("all", "hybrid")], 0.40800914334290384),
    "ellipsoid midpoint": (ACROSS, [ellipsoid("all", "midpoint")], 0.42256379793723264),
    "ellipsoid axial": (ACROSS, [ellipsoid("all", "axial")], 0.40800914334290384),
    "ellipsoid -y hybrid": (ACROSS, [ellipsoid("-y", "hybrid")], 0.4532538766830363),
    "ellipsoid -y midpoint": (ACROSS, [ellipsoid("-y", "midpoint")], 0.4510164170179372),
    "ellipsoid -y axial": (ACROSS, [ellipsoid("-y", "axial")], 0.4532538766830363),
    "torus": (((0.09, 0.02, -0.2), (0.12, -0.03, 0.25)), [Wrap("torus", (0.03, 0.1))], 0.45873180348690823),
    "cylinder, then sphere": (TWO_OBJECTS, [CYLINDER, SPHERE], 0.9781808348630179),
    "sphere, then cylinder": (TWO_OBJECTS, [SPHERE, CYLINDER], 0.9782045631854274),
}


@pytest.mark.oracle
@pytest.mark.parametrize("case", PRINTED)
def test_length_equals_the_value_opensim_prints(case):
    points, wraps, printed = PRINTED[case]
    model = OurModel([Path((0, 1), tuple(wraps))])
    assert model.length(0, np.array(points, float)) == pytest.approx(printed, rel=1e-13, abs=1e-14)


# ---------------------------------------------------------------- random cases, live


def random_params(rng, kind):
    draw = {
        "cylinder": lambda: (rng.uniform(0.02, 0.15), rng.choice([0.1, 0.3, 10.0])),
        "sphere": lambda: (rng.uniform(0.02, 0.15),),
        "ellipsoid": lambda: rng.uniform(0.03, 0.15, 3),
        "torus": lambda: (rng.uniform(0.01, 0.05), rng.uniform(0.06, 0.15)),
    }
    return tuple(float(v) for v in draw[kind]())


def vector(rng, reach):
    return tuple(float(v) for v in rng.uniform(-reach, reach, 3))


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_single_wrap_equals_live_opensim_for_all_quadrants_and_methods(opensim, kind):
    rng = np.random.default_rng(KINDS.index(kind))
    methods = METHODS if kind == "ellipsoid" else METHODS[:1]
    paths = [
        Path((0, 1), (Wrap(kind, random_params(rng, kind), quadrant, vector(rng, 0.05), vector(rng, 3.0), method),))
        for quadrant in QUADRANTS
        for method in methods
        for _ in range(2)
    ]
    poses = CASES // len(paths) + 1
    points = rng.uniform(-0.35, 0.35, (poses, 2, 3))
    half = poses // 2  # half of the segments run close to the centre, so that most of those wrap
    points[:half, 1] = -points[:half, 0] * rng.uniform(0.5, 1.5, (half, 1)) + rng.uniform(-0.1, 0.1, (half, 3))
    live, ours = LiveModel(opensim, paths), OurModel(paths)
    theirs = np.array([live.lengths(p) for p in points])
    mine = np.array([ours.lengths(p) for p in points])
    straight = np.linalg.norm(points[:, 0] - points[:, 1], axis=1)[:, None]
    assert np.mean(np.abs(theirs - straight) > 1e-9) > 0.2, "too few cases wrap for the test to mean something"
    np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=TOLERANCE[kind], equal_nan=True)


def random_paths(rng, count):
    """Paths of 2 to 4 points, the second one conditional in half of them, over 1 to 3 objects with ranges."""
    paths = []
    for _ in range(count):
        n = int(rng.integers(2, 5))
        wraps = []
        for _ in range(int(rng.integers(1, 4))):
            kind = str(rng.choice(KINDS))
            start = int(rng.integers(1, n))
            end = int(rng.integers(start, n + 1))
            span = [(-1, -1), (-1, -1), (start, end), (start, -1), (-1, end)][rng.integers(5)]
            x, y, z = vector(rng, 0.25)
            wraps.append(
                Wrap(
                    kind,
                    random_params(rng, kind),
                    str(rng.choice(QUADRANTS)) if rng.random() < 0.5 else "all",
                    (x, 0.4 * y, 0.4 * z),
                    vector(rng, 3.0),
                    str(rng.choice(METHODS)),
                    span,
                    bool(rng.random() < 0.95),
                )
            )
        paths.append(Path(tuple(range(n)), tuple(wraps), (1,) if n > 2 and rng.random() < 0.5 else ()))
    return paths


def random_points(rng, poses):
    """Four points from left to right with two free ones between: (poses, 4, 3)."""
    points = rng.uniform(-0.2, 0.2, (poses, 4, 3))
    points[:, 0, 0] -= 0.35
    points[:, 3, 0] += 0.35
    return points


def assert_is_an_answer_of_opensim_nearby(live, i, points, mine, rng):
    """OpenSim's answer itself must spread at least as far as ours is off when the points move by a few roundings."""
    nearby = np.array([live.lengths(points + rng.uniform(-1e-15, 1e-15, points.shape))[i] for _ in range(100)])
    slack = 1e-9 * max(1.0, abs(mine))
    assert nearby.min() - slack <= mine <= nearby.max() + slack, f"path {i}: {mine}, OpenSim nearby {nearby}"


@pytest.mark.oracle
def test_paths_over_several_objects_equal_live_opensim(opensim):
    rng = np.random.default_rng(20)
    paths = random_paths(rng, 60)
    live, ours = LiveModel(opensim, paths), OurModel(paths)
    off = 0
    points = random_points(rng, 200)
    for p in points:
        theirs, mine = live.lengths(p), ours.lengths(p)
        assert np.array_equal(np.isnan(theirs), np.isnan(mine))
        for i in np.flatnonzero(np.abs(mine - theirs) > CLOSED_FORM):
            off += 1
            assert_is_an_answer_of_opensim_nearby(live, i, p, mine[i], rng)
    assert off <= 1e-3 * len(points) * len(paths)


@pytest.mark.oracle
def test_cached_positions_are_those_opensim_reports(opensim):
    rng = np.random.default_rng(21)
    paths = [path for path in random_paths(rng, 60) if len(path.wraps) > 1]
    live, ours = LiveModel(opensim, paths), OurModel(paths)
    stale = 0
    for p in random_points(rng, 20):
        theirs = live.lengths(p)
        for i, length in enumerate(theirs):
            if abs(ours.length(i, p) - length) > CLOSED_FORM or np.isnan(length):
                continue
            latest, cached = ours.positions()
            np.testing.assert_allclose(cached, live.current_points(i), rtol=0.0, atol=ITERATED)
            stale += not np.allclose(latest, cached, rtol=0.0, atol=1e-6)
    assert stale > 10, "no tangent point moved after it was first asked for"


@pytest.mark.oracle
def test_a_range_without_active_points_ends_all_wrapping(opensim):
    blocked = Wrap("sphere", (0.1,), range=(2, 2))
    path = Path((0, 1, 2), (blocked, Wrap("sphere", (0.1,))), conditional=(1,))
    live, ours = LiveModel(opensim, [path]), OurModel([path])
    points = np.array([(-0.4, 0.02, 0.0), (0.001, 0.3, 0.0), (0.4, 0.01, 0.03)])
    straight = np.linalg.norm(points[2] - points[0])
    assert ours.length(0, points) == pytest.approx(straight, abs=1e-15)
    assert live.lengths(points)[0] == pytest.approx(straight, abs=1e-15)


@pytest.mark.oracle
def test_two_pathwraps_may_share_an_object(opensim):
    first = Wrap("cylinder", (0.05, 10.0), range=(1, 2))
    path = Path((0, 1, 2), (first, Wrap("cylinder", (0.05, 10.0), range=(2, 3), share=0)))
    live, ours = LiveModel(opensim, [path]), OurModel([path])
    points = np.array([(-0.3, 0.01, 0.1), (0.3, 0.02, 0.05), (-0.3, -0.02, 0.2)])
    assert ours.length(0, points) == pytest.approx(live.lengths(points)[0], abs=CLOSED_FORM)
    assert ours.size == 7


# ---------------------------------------------------------------- published models


def live_wraps(opensim, path, state):
    """A live GeometryPath in our arrays: (WrapObjects, R_GW, p_GW, rows of PathWraps)."""
    kind, params, axis, sign, R, p, rows = [], [], [], [], [], [], []
    for k in range(path.getWrapSet().getSize()):
        pathwrap = path.getWrapSet().get(k)
        wrap = pathwrap.getWrapObject()
        name = wrap.getConcreteClassName().removeprefix("Wrap").lower()
        kind.append(KINDS.index(name))
        if name == "cylinder":
            cylinder = opensim.WrapCylinder.safeDownCast(wrap)
            params.append((cylinder.get_radius(), cylinder.get_length(), 0.0))
        else:
            params.append(tuple(opensim.WrapEllipsoid.safeDownCast(wrap).getRadii().to_numpy()))
        quadrant = wrap.get_quadrant().lower()
        axis.append(-1 if quadrant == "all" else "xyz".index(quadrant[-1]))
        sign.append(-1 if quadrant[0] == "-" else 1)
        X = wrap.getFrame().getTransformInGround(state).compose(wrap.getTransform())
        R.append([[X.R().get(i, j) for j in range(3)] for i in range(3)])
        p.append(X.p().to_numpy())
        rows.append((k, METHODS.index(pathwrap.getMethodName()), pathwrap.getStartPoint(), pathwrap.getEndPoint()))
    objects = WrapObjects(
        np.array(kind), np.array(params), np.array(axis), np.array(sign), np.ones(len(kind), np.bool_)
    )
    return objects, np.array(R), np.array(p), rows


@pytest.mark.oracle
@pytest.mark.parametrize(
    "model_file", ["Arm26/arm26.osim", "Rajagopal/Rajagopal2016.osim", "Rajagopal/RajagopalLaiUhlrich2023.osim"]
)
def test_wrapped_muscles_of_published_models_have_opensims_length(opensim, model_file):
    stored = SHARED / "data" / "oracle" / (model_file.replace("/", "-").removesuffix(".osim") + ".json")
    if not stored.exists():
        pytest.skip("the reference data beside the project are absent")
    opensim.Logger.setLevelString("off")
    model = opensim.Model(str((SHARED / "data" / "models" / model_file).resolve()))
    state = model.initSystem()
    compared = 0
    for pose in json.loads(stored.read_text(encoding="utf-8"))["poses"]:
        for name, value in pose["q"].items():
            coordinate = model.getCoordinateSet().get(name)
            coordinate.setLocked(state, False)
            coordinate.setValue(state, value, False)
        model.realizePosition(state)
        for i in range(model.getMuscles().getSize()):
            muscle = model.getMuscles().get(i)
            path = muscle.getGeometryPath()
            if path.getWrapSet().getSize() == 0:
                continue
            objects, R_GW, p_GW, rows = live_wraps(opensim, path, state)
            ours = OurModel([Path((0, 1), (Wrap("sphere", (1.0,)),) * len(rows))])
            known = pose["paths"][muscle.getName()]
            nodes = np.array([point["p"] for point in known["points"] if point["type"] != "PathWrapPoint"])
            assert len(nodes) == path.getPathPointSet().getSize(), "a point is inactive: its index would be unknown"
            wraps = ours.wraps._replace(
                **{field: np.array(column) for field, column in zip(ours.wraps._fields, zip(*rows))}
            )
            result = ours.result._replace(entry=np.zeros(len(nodes) + 2 * len(rows), np.int64))
            length, size = opensim_path_length(
                nodes, np.arange(len(nodes)), len(nodes), objects, R_GW, p_GW, wraps, 0, len(rows), result
            )
            assert length == pytest.approx(known["length"], abs=CLOSED_FORM), (muscle.getName(), pose["q"])
            assert size == len(known["points"])
            compared += 1
    assert compared > 20


# ---------------------------------------------------------------- arcs for drawing


def level(kind, params, x):
    """Zero on the surface, for points x (n, 3)."""
    if kind == "cylinder":
        return np.hypot(x[:, 0], x[:, 1]) - params[0]
    if kind == "sphere":
        return np.linalg.norm(x, axis=1) - params[0]
    return np.sum((x / np.array(params)) ** 2, axis=1) - 1.0


DRAWN = {
    "cylinder": (Wrap("cylinder", (0.1, 10.0), rotation=(0.3, -0.2, 0.1)), OBLIQUE),
    "cylinder, long way": (CYLINDER_Y, ((-0.05, -0.12, 0), (0.05, -0.12, 0))),
    "sphere": (Wrap("sphere", (0.08,), translation=(0.0, 0.01, 0.02)), ACROSS),
    "sphere, long way": (Wrap("sphere", (0.1,), "+y"), ((-0.09, -0.05, 0), (0.09, -0.05, 0))),
    "ellipsoid": (ellipsoid("all", "hybrid"), ACROSS),
    "ellipsoid, constrained": (ellipsoid("-y", "midpoint"), ACROSS),
    "torus": (Wrap("torus", (0.03, 0.1)), ((0.09, 0.02, -0.2), (0.12, -0.03, 0.25))),
}


@pytest.mark.parametrize("case", DRAWN)
def test_drawn_arc_lies_on_the_surface_and_has_the_length_of_the_arc(case):
    wrap, points = DRAWN[case]
    model = OurModel([Path((0, 1), (wrap,))])
    model.length(0, np.array(points, float))
    drawn = np.empty((2001, 3))
    path_arc_points(0, model.objects, model.R_GW, model.p_GW, model.wraps, 0, model.result, drawn)
    chords = np.linalg.norm(np.diff(drawn, axis=0), axis=1)
    assert chords.sum() == pytest.approx(abs(model.result.arc[0]), rel=1e-4)
    np.testing.assert_allclose(drawn[[0, -1]], model.result.latest[0], rtol=0.0, atol=1e-12)
    local = (drawn - model.p_GW[0]) @ model.R_GW[0]
    if wrap.kind == "torus":  # the arc lies on the cylinder along the ring's tangent at the ring point used
        ring = model.result.shape[0, :3]
        tangent = np.cross(ring, (0.0, 0.0, 1.0)) / np.linalg.norm(ring)
        away = local - ring
        off = np.linalg.norm(away - np.outer(away @ tangent, tangent), axis=1) - wrap.params[0]
    else:
        off = level(wrap.kind, wrap.params, local)
    # interior points only for the ellipsoid: its tangent points are off the surface by OpenSim's loose tolerance
    np.testing.assert_allclose(off[1:-1], 0.0, atol=1e-12)
