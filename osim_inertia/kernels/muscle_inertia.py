"""Matter on a muscle's line: where it is, how it moves, and the forces of its inertia pulled back to the bodies.

Label ξ sits at path length σ = a₀ + a₁ ξ + ξ L; the mass is spread evenly over ξ₀ … ξ₁ (METHOD.md §2–3). On an interval
of length ℓ that starts at c, with η = (σ − c)/ℓ,

    ẋ = Ẋ + X′ η̇            ẍ = Ẍ + 2 Ẋ′ η̇ + X″ η̇² + X′ η̈                                               theory.md (9)

Integrals over matter are Gauss sums, two points on a straight piece (exact) and four on an arc. Where the line has a
corner, matter that flows round it adds μ ξ̇² J̄ᵀ(x′₊ − x′₋): theory.md (10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.geodesic_common import (
    G_A,
    G_ARC,
    G_LENGTH,
    X_DDOT,
    X_DOT,
    X_ETA,
    X_ETA2,
    X_ETA_DOT,
)
from osim_inertia.kernels.geodesic_common import X as X_POINT
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.muscle_line import (
    ACC,
    BODY,
    FIRST_WRAP,
    LAST_WRAP,
    LENGTH,
    LENGTH_PULL,
    MIX,
    MIX_PULL,
    POINT,
    PULL,
    SLIDE,
    START,
    STRAIGHT,
    WRAPPED,
    Line,
    V,
    X,
    add_vec,
    arc_gradient,
    chord,
    lengthwise,
    on_chord,
    smooth_step,
    vec,
)
from osim_inertia.kernels.paths import MOVING
from osim_inertia.kernels.rotation import push, row
from osim_inertia.kernels.shortest_record import CHAIN, OBJECT, ShortestPath, turned
from osim_inertia.kernels.vec3 import add, along, cross, dot3, load, scaled, store, sub
from osim_inertia.kernels.wrapped_interval import wrapped_points, wrapped_transpose

GAUSS_2 = 0.5773502691896257  # 1/√3
GAUSS_4 = (0.3399810435848563, 0.8611363115940526)
WEIGHT_4 = (0.6521451548625461, 0.3478548451374538)
NOTHING_YET = np.int64(0)
STRAIGHT_PIECE, ON_SURFACE = np.int64(0), np.int64(1)
NONE = 1e-15  # m: shorter pieces carry nothing


class Matter(NamedTuple):
    """Points of matter on one muscle at one instant, in order along the line."""

    number: ndarray  # (1,) int: how many there are
    interval: ndarray  # (max,) int
    eta: ndarray  # (max,) label in the interval
    xi: ndarray  # (max,) material label
    mass: ndarray  # (max,) kg
    x: ndarray  # (max, 3) m, ground
    v: ndarray  # (max, 3) m/s
    a: ndarray  # (max, 3) m/s²
    slope: ndarray  # (max, 3) dx/dσ
    apart: ndarray  # (max, 3) wrapped minus straight position, in a blended interval
    force: ndarray  # (max, 3) N
    etas: ndarray  # (max,) room
    forces: ndarray  # (max, 3)
    points: ndarray  # (max, 6, 3)
    on_object: ndarray  # (objects, 3) force
    about_object: ndarray  # (objects, 3) moment about the object's origin


@lean
def _add_point(M, k, eta, xi, mass):
    n = M.number[0]
    M.interval[n], M.eta[n], M.xi[n], M.mass[n] = k, min(max(eta, 0.0), 1.0), xi, mass
    M.number[0] = n + 1


@lean
def _add_piece(line, M, k, low, high, arc, a0, stretch, density):
    """Gauss points on path length low … high of interval k."""
    if high - low < NONE:
        return
    start, length = line.rows[k, START], line.rows[k, LENGTH]
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    mass = density * (high - low) / stretch
    if arc == STRAIGHT_PIECE:
        for side in (-GAUSS_2, GAUSS_2):
            s = middle + side * half
            _add_point(M, k, (s - start) / length, (s - a0) / stretch, 0.5 * mass)
        return
    for j in range(4):
        node = GAUSS_4[0] if j == 1 or j == 2 else GAUSS_4[1]
        weight = WEIGHT_4[0] if j == 1 or j == 2 else WEIGHT_4[1]
        s = middle + (node if j > 1 else -node) * half
        _add_point(M, k, (s - start) / length, (s - a0) / stretch, 0.5 * weight * mass)


@lean
def spread_matter(line, n, path, muscle, M):
    """Points of matter for a muscle (a0, a1, ξ0, ξ1, mass, beads): Gauss points, or beads evenly along the belly.

    Returns False when the belly has no length, as with rigid tendons longer than the path.
    """
    a0, a1, first, last, mass, beads = muscle
    stretch = a1 + line.total[0]
    M.number[0] = 0
    if stretch <= 0.0:
        return False
    if beads > 0:
        for j in range(int(beads)):
            xi = first + (last - first) * (j + 0.5) / beads
            s = a0 + xi * stretch
            k = 0
            while k < n - 2 and s > line.rows[k + 1, START]:
                k += 1
            _add_point(M, k, (s - line.rows[k, START]) / line.rows[k, LENGTH], xi, mass / beads)
        return True
    density = mass / (last - first)
    low, high = a0 + first * stretch, a0 + last * stretch
    for k in range(n - 1):
        start, length = line.rows[k, START], line.rows[k, LENGTH]
        edge = max(low, start)
        end = min(high, start + length) if k < n - 2 else high
        if end <= edge:
            continue
        scale = length / line.rows[k, WRAPPED]  # of wrapped lengths to blended ones
        at = start
        for c in range(line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP]):
            record = path.rows[path.ints[CHAIN, c]]
            meet, leave = at + scale * record[G_A], at + scale * (record[G_A] + record[G_ARC])
            if end > edge:
                _add_piece(line, M, k, edge, min(end, max(edge, meet)), STRAIGHT_PIECE, a0, stretch, density)
                edge = max(edge, meet)
            if end > edge:
                _add_piece(line, M, k, edge, min(end, max(edge, leave)), ON_SURFACE, a0, stretch, density)
                edge = max(edge, leave)
            at += scale * record[G_LENGTH]
        if end > edge:
            _add_piece(line, M, k, edge, end, STRAIGHT_PIECE, a0, stretch, density)
    return True


@lean
def move_matter(line, path, M, first, last):
    """Position, velocity, acceleration and slope of the points first … last − 1, all of one interval."""
    k = M.interval[first]
    wrapped = line.ints[k, LAST_WRAP] > line.ints[k, FIRST_WRAP]
    w, w1, w2 = vec(line.rows, k, MIX)
    l0, l1, l2 = vec(line.rows, k, LENGTH)
    _, c1, c2 = vec(line.rows, k, START)
    if wrapped:
        for m in range(first, last):
            M.etas[m - first] = M.eta[m]
        wrapped_points(
            line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP], M.etas[: last - first], path, M.points[: last - first]
        )
    for m in range(first, last):
        eta, xi = M.eta[m], M.xi[m]
        apart = d2x = (0.0, 0.0, 0.0)
        if wrapped:
            point = M.points[m - first]
            x, dx, d2x = load(point[X_POINT]), load(point[X_ETA]), load(point[X_ETA2])
            v, dv, a = load(point[X_DOT]), load(point[X_ETA_DOT]), load(point[X_DDOT])
        if not wrapped or w < 1.0:
            sx, sv, sa = on_chord(line, k, X, eta), on_chord(line, k, V, eta), on_chord(line, k, ACC, eta)
            sdx = sub(vec(line.rows, k + 1, X), vec(line.rows, k, X))
            sdv = sub(vec(line.rows, k + 1, V), vec(line.rows, k, V))
            if not wrapped:
                x, dx, v, dv, a = sx, sdx, sv, sdv, sa
            else:
                apart, drift, turn = sub(x, sx), sub(v, sv), sub(dx, sdx)
                a = add(add(along(sa, w, sub(a, sa)), scaled(2.0 * w1, drift)), scaled(w2, apart))
                v = add(along(sv, w, drift), scaled(w1, apart))
                dv = add(along(sdv, w, sub(dv, sdv)), scaled(w1, turn))
                x, dx, d2x = along(sx, w, apart), along(sdx, w, turn), scaled(w, d2x)
        eta1 = (xi * line.total[1] - c1 - eta * l1) / l0
        eta2 = (xi * line.total[2] - c2 - eta * l2 - 2.0 * eta1 * l1) / l0
        a = add(a, add(scaled(2.0 * eta1, dv), add(scaled(eta1 * eta1, d2x), scaled(eta2, dx))))
        store(M.x[m], x)
        store(M.v[m], along(v, eta1, dx))
        store(M.a[m], a)
        store(M.slope[m], scaled(1.0 / l0, dx))
        store(M.apart[m], apart)


@lean
def add_bends(line, n, path, muscle, M):
    """Corners of the line inside the belly: two points of no mass at each, with half of its bend force on either."""
    a0, a1, first, last, mass, beads = muscle
    if beads > 0:
        return
    stretch = a1 + line.total[0]
    density = mass / (last - first)
    for k in range(1, n - 1):
        xi = (line.rows[k, START] - a0) / stretch
        if not first < xi < last:
            continue
        m = M.number[0]
        _add_point(M, k - 1, 1.0, xi, 0.0)
        _add_point(M, k, 0.0, xi, 0.0)
        move_matter(line, path, M, m, m + 1)
        move_matter(line, path, M, m + 1, m + 2)
        flow = (line.rows[k, START + 1] - xi * line.total[1]) / stretch
        half = scaled(0.5 * density * flow * flow * stretch, sub(load(M.slope[m + 1]), load(M.slope[m])))
        store(M.force[m], half)
        store(M.force[m + 1], half)


@lean
def place_matter(line, n, path, muscle, M):
    """All points of matter of a muscle with their motion; False if its belly has no length."""
    if not spread_matter(line, n, path, muscle, M):
        return False
    first = NOTHING_YET
    while first < M.number[0]:
        last = first + 1
        while last < M.number[0] and M.interval[last] == M.interval[first]:
            last += 1
        move_matter(line, path, M, first, last)
        first = last
    return True


@lean
def pull_back(line, n, blend, path, M):
    """Forces on the points of matter to forces on the nodes and, added up, on the wrap objects."""
    for k in range(n):
        for j in range(3):
            line.rows[k, PULL + j] = 0.0
        line.rows[k, LENGTH_PULL] = line.rows[k, MIX_PULL] = 0.0
    everywhere = 0.0  # multiplies the variation of the whole length
    for m in range(M.number[0]):
        k, f = M.interval[m], load(M.force[m])
        t = dot3(f, load(M.slope[m]))
        everywhere += t * M.xi[m]
        line.rows[k, LENGTH_PULL] -= t * M.eta[m]
        for j in range(k):
            line.rows[j, LENGTH_PULL] -= t
        line.rows[k, MIX_PULL] += dot3(f, load(M.apart[m]))
    shrink = 0.0  # multiplies the variation of the unblended length
    for k in range(n - 1):
        line.rows[k, LENGTH_PULL] += everywhere
        w = line.rows[k, MIX]
        if w < 1.0:
            extra = line.rows[k, WRAPPED] - line.rows[k, STRAIGHT]
            line.rows[k, MIX_PULL] += line.rows[k, LENGTH_PULL] * extra
            shrink += _pull_mix(line, k, blend, path, M)
    for k in range(n - 1):
        _pull_interval(line, k, shrink, path, M)


@lean
def _pull_mix(line, k, blend, path, M):
    """Pull back the variation of a weight; what it asks of the unblended length is returned."""
    L, arc = line.unblended[0], 0.0
    for c in range(line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP]):
        arc += path.rows[path.ints[CHAIN, c], G_ARC]
    _, slope, _ = smooth_step(arc / (L * blend))
    weight = line.rows[k, MIX_PULL] * slope / (blend * L)
    for c in range(line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP]):
        wrap = path.ints[CHAIN, c]
        record, o = path.rows[wrap], path.ints[OBJECT, wrap]
        on_p, on_s = arc_gradient(record, path.arc)
        g_p, g_s = scaled(weight, turned(record, on_p)), scaled(weight, turned(record, on_s))
        add_vec(line.rows, k, PULL, g_p)
        add_vec(line.rows, k + 1, PULL, g_s)
        push(M.on_object, o, scaled(-1.0, add(g_p, g_s)))
        origin = row(line.object_p, o)
        turn = add(
            cross(sub(vec(line.rows, k, X), origin), g_p), cross(sub(vec(line.rows, k + 1, X), origin), g_s)
        )
        push(M.about_object, o, scaled(-1.0, turn))
    return -weight * arc / L


@lean
def _pull_interval(line, k, shrink, path, M):
    """Forces on the matter of interval k, and what multiplies its length, back to its nodes and objects."""
    wrapped = line.ints[k, LAST_WRAP] > line.ints[k, FIRST_WRAP]
    w = line.rows[k, MIX] if wrapped else 0.0
    pull, e = line.rows[k, LENGTH_PULL], chord(line, k)
    count = 0
    for m in range(M.number[0]):
        if M.interval[m] == k:
            f, eta = load(M.force[m]), M.eta[m]
            add_vec(line.rows, k, PULL, scaled((1.0 - w) * (1.0 - eta), f))
            add_vec(line.rows, k + 1, PULL, scaled((1.0 - w) * eta, f))
            M.etas[count] = eta
            store(M.forces[count], scaled(w, f))
            count += 1
    if not wrapped:
        lengthwise(line, k, e, pull + shrink)
        return
    lengthwise(line, k, e, (1.0 - w) * pull)
    wrapped_transpose(
        line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP], M.etas[:count], M.forces[:count], w * pull + shrink, path,
        line.rows[k, PULL : PULL + 3], line.rows[k + 1, PULL : PULL + 3], M.on_object, M.about_object,
    )


@lean
def nodes_to_bodies(P, S, line, n, moment, force, tau):
    """Node forces to wrenches at the body origins (nb, 3), and to the coordinates of moving points."""
    for k in range(n):
        f, b, at = vec(line.rows, k, PULL), line.ints[k, BODY], line.ints[k, POINT]
        if b >= 0:
            push(force, b, f)
            push(moment, b, cross(sub(vec(line.rows, k, X), row(S.p, b)), f))
        if P.kind[at] == MOVING:
            tau[P.coordinate[at]] += dot3(f, vec(line.rows, k, SLIDE))


@lean
def objects_to_bodies(P, S, line, M, moment, force):
    """Forces on the wrap objects to wrenches at the body origins; the room is cleared."""
    for o in range(P.object_body.shape[0]):
        b, f = P.object_body[o], row(M.on_object, o)
        if b >= 0:
            push(force, b, f)
            push(moment, b, add(row(M.about_object, o), cross(sub(row(line.object_p, o), row(S.p, b)), f)))
        for j in range(3):
            M.on_object[o, j] = M.about_object[o, j] = 0.0


def new_matter(most: int, objects: int) -> Matter:
    """Room for at most so many points of matter."""
    vectors = [np.empty((most, 3)) for _ in range(6)]
    return Matter(
        np.zeros(1, np.int64), np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty(most),
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5],
        np.empty(most), np.empty((most, 3)), np.empty((most, 6, 3)), np.zeros((objects, 3)), np.zeros((objects, 3)),
    )


Room = tuple[Line, ShortestPath, Matter, Line, ShortestPath, Matter]
