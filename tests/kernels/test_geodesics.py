"""Shortest paths over one wrap surface: tangency, lengths, rates and pulled-back forces against independent answers."""

from math import acos, cos, hypot, pi, sin, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from osim_inertia.kernels import geodesic_common as gc
from osim_inertia.kernels.geodesic_cylinder import HALF_TURN, cylinder_geodesic
from osim_inertia.kernels.geodesic_points import arc_state, interval_motion, interval_points, interval_transpose
from osim_inertia.kernels.geodesic_sphere import sphere_geodesic
from osim_inertia.kernels.shortest_segment import wrap_segment

CYLINDER, SPHERE, ELLIPSOID, TORUS = 0, 1, 2, 3
TANGENT = 1e-9  # promised at every contact
STENCIL = ((-3, -1 / 60), (-2, 9 / 60), (-1, -45 / 60), (1, 45 / 60), (2, -9 / 60), (3, 1 / 60))  # sixth order


def differentiated(function, step):
    """Central difference of sixth order."""
    return sum(w * np.asarray(function(k * step)) for k, w in STENCIL) / step


def sizes(rng, kind):
    if kind == CYLINDER:
        return np.array([rng.uniform(0.1, 0.3), 10.0, 0.0])
    if kind == SPHERE:
        return np.array([rng.uniform(0.1, 0.3), 0.0, 0.0])
    if kind == ELLIPSOID:
        return rng.uniform(0.12, 0.3, 3)
    return np.array([rng.uniform(0.05, 0.1), rng.uniform(0.25, 0.4), 0.0])


def one_wrap(kind, params, p, s, axis=-1, sign=1):
    geo, arc = np.zeros(gc.GEO), np.zeros(gc.ARC_RECORD)
    code = wrap_segment(np.int64(kind), params, np.int64(axis), np.int64(sign), tuple(p), tuple(s), geo, arc)
    return (geo if code >= gc.WRAPPED else None), code


def random_wraps(kind, count, seed, axis=-1):
    """Wrapped segments that touch for more than a little, with ends not too near the surface."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        params = sizes(rng, kind)
        p, s = rng.normal(size=(2, 3)) * 0.35
        if kind == TORUS:  # across the hole
            p, s = p * [1, 1, 0] + [0, 0, -0.3], s * [1, 1, 0] + [0, 0, 0.3]
        geo, _ = one_wrap(kind, params, p, s, axis, rng.choice([-1, 1]))
        if geo is not None and geo[gc.G_ARC] > 0.01 and min(geo[gc.G_A], geo[gc.G_B]) > 0.05 and geo[gc.G_D] > 0.05:
            found += 1
            yield rng, params, p, s, geo


def vec(geo, at):
    return geo[at : at + 3]


@pytest.mark.parametrize("kind", [CYLINDER, SPHERE, ELLIPSOID, TORUS])
def test_straight_pieces_are_tangent_to_the_surface_and_to_the_arc(kind):
    arc = np.zeros(gc.ARC_RECORD)
    for _, _, p, s, geo in random_wraps(kind, 40, 1):
        for way, end, sign, normal in ((0.0, p, -1, gc.G_N1), (geo[gc.G_ARC], s, 1, gc.G_N2)):
            arc_state(geo, way, arc)
            line = sign * (end - vec(arc, gc.A_X))
            direction = line / np.linalg.norm(line)
            assert abs(direction - vec(arc, gc.A_T)).max() < TANGENT
            assert abs(direction @ vec(geo, normal)) < TANGENT


def shortest_by_force(kind, r, p, s, geo):
    """Length of the shortest path through two points of the surface that p and s can see, by brute force."""
    turn = np.sign(np.cross(vec(geo, gc.G_N1), vec(geo, gc.G_E1))[2])

    def normals(x):
        if kind == CYLINDER:
            return (np.array([cos(a), sin(a), 0.0]) for a in x[::2])
        return (np.array([sin(a) * cos(b), sin(a) * sin(b), cos(a)]) for a, b in (x[:2], x[2:]))

    def length(x):
        n1, n2 = normals(x)
        q1, q2 = r * n1, r * n2
        arc = r * acos(np.clip(n1 @ n2, -1, 1))
        if kind == CYLINDER:
            q1, q2 = q1 + np.array([0, 0, x[1]]), q2 + np.array([0, 0, x[3]])
            arc = hypot(r * ((turn * (x[2] - x[0]) + 0.5) % (2 * pi) - 0.5), x[3] - x[1])
        hidden = max(0.0, -(p - q1) @ n1) + max(0.0, -(s - q2) @ n2)
        return np.linalg.norm(q1 - p) + arc + np.linalg.norm(q2 - s) + 100.0 * hidden

    contacts = vec(geo, gc.G_Q1), vec(geo, gc.G_Q2)
    if kind == CYLINDER:
        start = [f(q) for q in contacts for f in (lambda q: np.arctan2(q[1], q[0]), lambda q: q[2])]
        start = np.add(start, [-turn * 0.05, 0.01, turn * 0.05, -0.01])
    else:
        start = [f(q) for q in contacts for f in (lambda q: acos(q[2] / r), lambda q: np.arctan2(q[1], q[0]))]
        start = np.add(start, [0.03, -0.02, 0.02, 0.03])
    for _ in range(4):
        options = {"xatol": 1e-10, "fatol": 1e-15, "maxiter": 3000}
        start = minimize(length, start, method="Nelder-Mead", options=options).x
    return length(start)


@pytest.mark.parametrize("kind", [CYLINDER, SPHERE])
def test_closed_form_is_the_minimum_over_all_contact_points(kind):
    for _, params, p, s, geo in random_wraps(kind, 12, 2):
        assert geo[gc.G_LENGTH] == pytest.approx(shortest_by_force(kind, params[0], p, s, geo), abs=1e-7)


def polygon_on_ellipsoid(params, q1, q2, middle, n):
    """Length of the tightest chain of n equal springs from q1 to q2 whose joints lie on the ellipsoid, started over
    `middle`.
    """
    t = np.linspace(0, 1, n + 1)[1:-1, None]
    start = (1 - t) * q1 + t * q2 + 4 * t * (1 - t) * (middle - (q1 + q2) / 2)

    def energy(flat):
        u = flat.reshape(n - 1, 3)
        size = np.linalg.norm(u / params, axis=1)[:, None]
        d = np.diff(np.vstack([q1, u / size, q2]), axis=0)
        g = d[:-1] - d[1:]
        return n * (d**2).sum() / 2, n * (g / size - (g * u).sum(1)[:, None] * (u / params**2) / size**3).ravel()

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-11}
    u = minimize(energy, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(n - 1, 3)
    x = np.vstack([q1, u / np.linalg.norm(u / params, axis=1)[:, None], q2])
    return np.linalg.norm(np.diff(x, axis=0), axis=1).sum()


def test_arc_on_an_ellipsoid_is_the_limit_of_tight_chains_of_springs():
    arc = np.zeros(gc.ARC_RECORD)
    for _, params, _, _, geo in random_wraps(ELLIPSOID, 5, 3):
        arc_state(geo, geo[gc.G_ARC] / 2, arc)
        middle = vec(arc, gc.A_X) * 1.01
        coarse, fine = (polygon_on_ellipsoid(params, vec(geo, gc.G_Q1), vec(geo, gc.G_Q2), middle, n) for n in (20, 40))
        assert geo[gc.G_ARC] == pytest.approx(fine + (fine - coarse) / 3.0, abs=1e-7)


def test_round_ellipsoid_agrees_with_the_sphere():
    for _, params, p, s, geo in random_wraps(SPHERE, 40, 4):
        ball, code = one_wrap(ELLIPSOID, np.full(3, params[0]), p, s)
        assert code == gc.MANDATORY
        assert ball[gc.G_LENGTH] == pytest.approx(geo[gc.G_LENGTH], abs=1e-11)
        assert ball[[gc.G_A, gc.G_B, gc.G_D]] == pytest.approx(geo[[gc.G_A, gc.G_B, gc.G_D]], abs=1e-9)


def test_known_geodesic_on_a_cylinder():
    geo, _ = one_wrap(CYLINDER, np.array([0.1, 10.0, 0.0]), (-0.3, 0.02, -0.2), (0.15, 0.03, 0.3))
    assert geo[gc.G_LENGTH] == pytest.approx(0.6917705598, abs=1e-10)  # OpenSim's own construction gives 0.69213


def points_of(geo, motion, etas):
    mot, out = np.zeros(gc.MOT), np.zeros((len(etas), gc.POINT, 3))
    interval_motion(geo, *(tuple(v) for v in motion), mot)
    interval_points(geo, mot, etas, np.zeros(gc.ARC_RECORD), out)
    return out, mot


@pytest.mark.parametrize(
    ("kind", "first", "second"), [(CYLINDER, 1e-8, 1e-7), (SPHERE, 1e-8, 1e-7), (ELLIPSOID, 1e-7, 1e-6)]
)
def test_rates_of_material_points_agree_with_differences_along_the_motion(kind, first, second):
    for rng, params, p, s, geo in random_wraps(kind, 15, 5):
        v, a, w, b = rng.normal(size=(4, 3)) * 0.1
        borders = np.array([geo[gc.G_A], geo[gc.G_A] + geo[gc.G_ARC]]) / geo[gc.G_LENGTH]
        etas = np.array([e for e in rng.uniform(size=8) if abs(e - borders).min() > 0.02])
        out, mot = points_of(geo, (v, a, w, b), etas)

        def at(t, params=params, p=p, s=s, v=v, a=a, w=w, b=b, etas=etas, kind=kind):
            moved, _ = one_wrap(kind, params, p + t * v + t * t / 2 * a, s + t * w + t * t / 2 * b)
            return points_of(moved, (v + t * a, a, w + t * b, b), etas)[0], moved[gc.G_LENGTH]

        step = 2e-3
        assert differentiated(lambda t, at=at: at(t)[0][:, gc.X], step) == pytest.approx(out[:, gc.X_DOT], abs=first)
        assert differentiated(lambda t, at=at: at(t)[0][:, gc.X_ETA], step) == pytest.approx(
            out[:, gc.X_ETA_DOT], abs=second
        )
        assert differentiated(lambda t, at=at: at(t)[0][:, gc.X_DOT], step) == pytest.approx(
            out[:, gc.X_DDOT], abs=second
        )
        assert differentiated(lambda t, at=at: at(t)[1], step) == pytest.approx(mot[gc.M_RATE], abs=1e-9)


@pytest.mark.parametrize("kind", [CYLINDER, SPHERE, ELLIPSOID])
def test_labels_run_evenly_along_the_path(kind):
    still = [np.zeros(3)] * 4
    for _, _, p, s, geo in random_wraps(kind, 10, 6):
        etas = np.linspace(0, 1, 41)
        out, _ = points_of(geo, still, etas)
        assert out[0, gc.X] == pytest.approx(p, abs=1e-12)
        assert out[-1, gc.X] == pytest.approx(s, abs=1e-12)
        assert np.linalg.norm(out[:, gc.X_ETA], axis=1) == pytest.approx(geo[gc.G_LENGTH], abs=1e-11)
        chords = np.linalg.norm(np.diff(out[:, gc.X], axis=0), axis=1)
        assert chords.max() <= geo[gc.G_LENGTH] / 40 + 1e-12


@pytest.mark.parametrize("kind", [CYLINDER, SPHERE, ELLIPSOID, TORUS])
def test_pulled_back_force_is_the_transpose_of_the_rate(kind):
    for rng, _, _, _, geo in random_wraps(kind, 15, 7):
        v, w = rng.normal(size=(2, 3))
        etas, forces = rng.uniform(size=9), rng.normal(size=(9, 3))
        out, _ = points_of(geo, (v, np.zeros(3), w, np.zeros(3)), etas)
        g_p, g_s = np.zeros(3), np.zeros(3)
        interval_transpose(geo, etas, forces, np.zeros(gc.ARC_RECORD), g_p, g_s)
        assert g_p @ v + g_s @ w == pytest.approx((forces * out[:, gc.X_DOT]).sum(), abs=1e-12)


angles = st.floats(0.0, 2 * pi)
far = st.floats(1.001, 5.0)


@settings(max_examples=300, deadline=None)
@given(r1=far, r2=far, a1=angles, a2=angles, z=st.floats(-3, 3), sense=st.sampled_from([-1.0, 1.0]))
def test_cylinder_path_read_backwards_is_the_same_path(r1, r2, a1, a2, z, sense):
    p, s = (r1 * cos(a1), r1 * sin(a1), 0.0), (r2 * cos(a2), r2 * sin(a2), z)
    there, back = np.zeros(gc.GEO), np.zeros(gc.GEO)
    cylinder_geodesic(p, s, 1.0, sense, HALF_TURN, there)
    cylinder_geodesic(s, p, 1.0, -sense, HALF_TURN, back)
    assert there[gc.G_LENGTH] == pytest.approx(back[gc.G_LENGTH], rel=1e-13)
    assert vec(there, gc.G_Q1) == pytest.approx(vec(back, gc.G_Q2), abs=1e-12)
    planar = sqrt(r1**2 - 1) + sqrt(r2**2 - 1) + (sense * (a2 - a1) - acos(1 / r1) - acos(1 / r2)) % (2 * pi)
    assert abs((there[gc.G_PLANAR] - planar + 1e-6) % (2 * pi) - 1e-6) < 1e-8


@settings(max_examples=200, deadline=None)
@given(r1=far, r2=far, a=st.floats(0.02, pi - 0.02), tilt=angles)
def test_sphere_path_is_the_cylinder_path_in_its_plane(r1, r2, a, tilt):
    flat, round_ = np.zeros(gc.GEO), np.zeros(gc.GEO)
    p, s = np.array([r1, 0.0, 0.0]), r2 * np.array([cos(a), sin(a), 0.0])
    R = Rotation.from_rotvec([tilt, 0.3, -tilt]).as_matrix()
    cylinder_geodesic(tuple(p), tuple(s), 1.0, 1.0, HALF_TURN, flat)
    sphere_geodesic(tuple(R @ p), tuple(R @ s), 1.0, 1.0, HALF_TURN, round_)
    assert round_[gc.G_LENGTH] == pytest.approx(flat[gc.G_LENGTH], rel=1e-12)


def test_sphere_between_opposite_ends_has_the_length_of_its_neighbours():
    params = np.array([0.1, 0.0, 0.0])
    through, _ = one_wrap(SPHERE, params, (-0.3, 0.0, 0.0), (0.3, 0.0, 0.0))
    beside, _ = one_wrap(SPHERE, params, (-0.3, 0.0, 0.0), (0.3, 1e-9, 0.0))
    assert through[gc.G_LENGTH] == pytest.approx(beside[gc.G_LENGTH], abs=1e-9)
    assert np.isfinite(through).all()


@pytest.mark.parametrize(
    ("kind", "params", "surface"),
    [
        (CYLINDER, (0.1, 10.0, 0.0), 0.1),
        (SPHERE, (0.1, 0.0, 0.0), 0.1),
        (ELLIPSOID, (0.2, 0.1, 0.15), 0.1),
        (TORUS, (0.05, 0.3, 0.0), 0.25),
    ],
)
def test_wrap_begins_exactly_where_the_straight_line_touches(kind, params, surface):
    """A line through (0, h, 0) that touches each surface at h = surface; the torus is touched from its hole, across
    the ring.
    """
    line = np.array([0.05, 0.0, 0.4]) if kind == TORUS else np.array([0.4, 0.0, 0.05])
    into = 1.0 if kind == TORUS else -1.0
    for depth, wrapped in ((-1e-8, False), (1e-8, True), (1e-4, True)):
        point = np.array([0.0, surface + into * depth, 0.0])
        geo, _ = one_wrap(kind, np.array(params), point - line, point + line)
        assert (geo is not None) == wrapped
        if wrapped:
            assert 0.0 < geo[gc.G_LENGTH] - 2 * np.linalg.norm(line) + 1e-14 < 100 * depth**1.5


def test_quadrants_send_the_path_round_the_active_side():
    """OpenSim's own numbers where it has no bug: planar cases, in which its construction is the shortest path."""
    params = np.array([0.1, 10.0, 0.0])
    free, code = one_wrap(CYLINDER, params, (-0.3, -0.2, 0.0), (0.3, -0.2, 0.0), axis=1, sign=1)
    assert code == gc.WRAPPED  # without contact
    assert free[gc.G_LENGTH] == pytest.approx(0.8666278240376272, abs=1e-14)
    long, _ = one_wrap(CYLINDER, params, (-0.05, -0.12, 0.0), (0.05, -0.12, 0.0), axis=1, sign=1)
    assert long[gc.G_LENGTH] == pytest.approx(0.5768608025210171, abs=1e-14)
    back, _ = one_wrap(CYLINDER, params, (0.05, -0.12, 0.0), (-0.05, -0.12, 0.0), axis=1, sign=1)
    # OpenSim counts 4 pi less the angle: 1.012
    assert back[gc.G_LENGTH] == pytest.approx(0.5768608025210171, abs=1e-14)
    ball, _ = one_wrap(SPHERE, params, (-0.09, -0.05, 0.0), (0.09, -0.05, 0.0), axis=1, sign=1)
    straight = ball[gc.G_A] + ball[gc.G_B]
    assert straight - ball[gc.G_ARC] == pytest.approx(-0.3185453442067265, abs=1e-14)  # OpenSim counts the arc negative


@pytest.mark.parametrize("kind", [CYLINDER, SPHERE, ELLIPSOID, TORUS])
def test_ends_inside_the_surface_and_segments_that_pass_are_left_alone(kind):
    params = np.array([0.2, 0.3 if kind == TORUS else (10.0 if kind == CYLINDER else 0.2), 0.2])
    inside = (0.0, 0.3, 0.01) if kind == TORUS else (0.01, 0.02, 0.03)
    passing = (0.0, 0.0, 0.0) if kind == TORUS else (0.6, 0.5, 0.1)
    assert one_wrap(kind, params, inside, (0.0, 0.9, 0.0))[1] == gc.INSIDE
    assert one_wrap(kind, params, passing, (0.0, 0.01 if kind == TORUS else 0.5, 0.7))[1] == gc.NO_WRAP


def test_cylinder_is_left_alone_only_when_both_contacts_are_beyond_its_ends():
    p, s = np.array([-0.3, 0.02, -0.2]), np.array([0.3, 0.02, 0.2])
    for height, wrapped in ((0.0, True), (0.1, True), (0.2, False)):  # contacts about 0.07 apart, cylinder up to 0.1
        shift = np.array([0.0, 0.0, height])
        geo, _ = one_wrap(CYLINDER, np.array([0.1, 0.2, 0.0]), p + shift, s + shift)
        assert (geo is not None) == wrapped
