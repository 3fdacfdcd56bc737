"""Matter on an interval with one or more wraps, in ground: positions, rates, pulled-back forces.

    shortest_path --> [material points of a wrapped interval] --> muscle inertia
                                  ^ here
The interval is chain[i:j] of a ShortestPath; its label eta is the fraction of its whole length, from one path point
to the next. Piece k holds the length from c_k to c_k + l_k, so its own label is eta_k = (eta l - c_k)/l_k, which
moves. First `object_motion` for every wrap of the chain, then `wrapped_motion`, then `wrapped_points`;
`wrapped_transpose` needs neither. Exact for cylinders and spheres, in any combination.
"""

from osim_inertia.kernels.geodesic_common import (
    G_E1,
    G_E2,
    G_LENGTH,
    M_ACCEL,
    M_E1DDOT,
    M_E1DOT,
    M_E2DDOT,
    M_E2DOT,
    M_RATE,
    X_DDOT,
    X_DOT,
    X_ETA,
    X_ETA2,
    X_ETA_DOT,
    X,
    direction_rates,
    get3,
    length_gradient,
    put3,
    sum3,
)
from osim_inertia.kernels.geodesic_points import interval_motion, material_point, material_transpose
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.shortest_join import put_projected, set_basis, solution, solve_virtual
from osim_inertia.kernels.shortest_record import (
    CHAIN,
    FIRST,
    OBJECT,
    SECOND,
    W_A,
    W_ACCEL,
    W_AL,
    W_END,
    W_FORCE,
    W_MOMENT,
    W_MOT,
    W_P,
    W_PULL,
    W_RATE,
    W_V,
    W_W,
    WHERE,
    turned,
    turned_back,
)
from osim_inertia.kernels.vec3 import add, along, cross, dot3, load, scaled, store, sub

ZERO = (0.0, 0.0, 0.0)


@lean
def object_motion(k, v, w, a, al, path):
    """Motion of the object of wrap k: velocity and acceleration of its origin v, a (3,), angular w, al (3,), in
    ground.
    """
    row = path.rows[k]
    put3(row, W_V, load(v))
    put3(row, W_W, load(w))
    put3(row, W_A, load(a))
    put3(row, W_AL, load(al))


@lean
def _seen(row, end):
    """(rate, second rate) of one end of a piece (FIRST or SECOND), seen from its object."""
    w = get3(row, W_W)
    d = sub(get3(row, W_END + end), get3(row, W_P))
    rate = sub(sub(get3(row, W_RATE + end), get3(row, W_V)), cross(w, d))
    spin = add(cross(get3(row, W_AL), d), add(cross(w, cross(w, d)), scaled(2.0, cross(w, rate))))
    return turned_back(row, rate), turned_back(row, sub(sub(get3(row, W_ACCEL + end), get3(row, W_A)), spin))


@lean
def _carried(row, e, edot, eddot):
    """(rate, second rate) in ground of a vector that moves in the object's frame."""
    w, g, gdot = get3(row, W_W), turned(row, e), turned(row, edot)
    second = add(cross(get3(row, W_AL), g), add(cross(w, cross(w, g)), scaled(2.0, cross(w, gdot))))
    return add(cross(w, g), gdot), add(second, turned(row, eddot))


@lean
def _piece_motion(row):
    """Motion record of a piece from the motion of its ends and its object."""
    pdot, pddot = _seen(row, FIRST)
    sdot, sddot = _seen(row, SECOND)
    interval_motion(row, pdot, pddot, sdot, sddot, row[W_MOT:])


@lean
def wrapped_motion(i, j, rate, accel, path):
    """Motion records of chain[i:j] when the path points move with rate, accel (nodes, 3) and the objects as set before.

    Also the motion of the virtual nodes.
    """
    node = path.ints[WHERE, path.ints[CHAIN, i]]
    for c in range(i, j):
        row = path.rows[path.ints[CHAIN, c]]
        put3(row, W_RATE, load(rate[node]) if c == i else ZERO)
        put3(row, W_ACCEL, load(accel[node]) if c == i else ZERO)
        put3(row, W_RATE + SECOND, load(rate[node + 1]) if c == j - 1 else ZERO)
        put3(row, W_ACCEL + SECOND, load(accel[node + 1]) if c == j - 1 else ZERO)
    if j > i + 1:
        set_basis(i, j, path)
        _move_virtual(i, j, W_RATE, path)
        for c in range(i, j):
            _piece_motion(path.rows[path.ints[CHAIN, c]])
        _move_virtual(i, j, W_ACCEL, path)
    for c in range(i, j):
        _piece_motion(path.rows[path.ints[CHAIN, c]])


@lean
def _move_virtual(i, j, target, path):
    """Rates (target W_RATE) or accelerations (W_ACCEL) of the virtual nodes from the mismatch of directions without
    them.
    """
    before = ZERO
    for c in range(i, j):
        row = path.rows[path.ints[CHAIN, c]]
        e1, e2, mot = get3(row, G_E1), get3(row, G_E2), row[W_MOT:]
        if target == W_ACCEL:
            _, r1 = _carried(row, e1, get3(mot, M_E1DOT), get3(mot, M_E1DDOT))
            _, r2 = _carried(row, e2, get3(mot, M_E2DOT), get3(mot, M_E2DDOT))
        else:
            pdot, _ = _seen(row, FIRST)
            sdot, _ = _seen(row, SECOND)
            d1, d2 = direction_rates(row, pdot, sdot)
            r1, _ = _carried(row, e1, d1, ZERO)
            r2, _ = _carried(row, e2, d2, ZERO)
        if c > i:
            put_projected(i, c - 1, sub(before, r1), path)
        before = r2
    solve_virtual(i, j, path)
    for c in range(i, j - 1):
        move = solution(i, c, path)
        put3(path.rows[path.ints[CHAIN, c]], target + SECOND, move)
        put3(path.rows[path.ints[CHAIN, c + 1]], target, move)


@lean
def wrapped_length(i, j, path):
    """(length, rate, second rate) of the pieces chain[i:j]; the rates after wrapped_motion."""
    length, rate, accel = 0.0, 0.0, 0.0
    for c in range(i, j):
        row = path.rows[path.ints[CHAIN, c]]
        length += row[G_LENGTH]
        rate += row[W_MOT + M_RATE]
        accel += row[W_MOT + M_ACCEL]
    return length, rate, accel


@lean
def _piece_at(i, j, way, path):
    """(place in the chain, its own label) of the piece that holds arc length `way`."""
    c = i
    while c < j - 1 and way > path.rows[path.ints[CHAIN, c], G_LENGTH]:
        way -= path.rows[path.ints[CHAIN, c], G_LENGTH]
        c += 1
    return c, min(max(way / path.rows[path.ints[CHAIN, c], G_LENGTH], 0.0), 1.0)


@lean
def wrapped_points(i, j, etas, path, out):
    """Material points of the interval chain[i:j] at the labels etas (n,), in ground, into out (n, POINT, 3).

    Rows: x, x', x'', rate, rate of x', second rate (prime = d/d eta, rates at fixed eta).
    """
    length, rate, accel = wrapped_length(i, j, path)
    for n in range(etas.shape[0]):
        eta = etas[n]
        c, own = _piece_at(i, j, eta * length, path)
        row = path.rows[path.ints[CHAIN, c]]
        _, start_rate, start_accel = wrapped_length(i, c, path)
        l_k, rate_k, accel_k = row[G_LENGTH], row[W_MOT + M_RATE], row[W_MOT + M_ACCEL]
        u = (eta * rate - start_rate - own * rate_k) / l_k
        udot = (eta * accel - start_accel - 2.0 * u * rate_k - own * accel_k) / l_k
        material_point(row, row[W_MOT:], own, path.arc, out[n])
        _to_ground(row, out[n])
        if j > i + 1:
            _relabel(length / l_k, (rate - length * rate_k / l_k) / l_k, u, udot, out[n])


@lean
def _to_ground(row, point):
    """Turn the rows of a material point of the object's frame into ground."""
    x, slope, slope_rate = load(point[X]), load(point[X_ETA]), load(point[X_ETA_DOT])
    rate, second = _carried(row, x, load(point[X_DOT]), load(point[X_DDOT]))
    slope_rate, _ = _carried(row, slope, slope_rate, ZERO)
    store(point[X], add(get3(row, W_P), turned(row, x)))
    store(point[X_ETA], turned(row, slope))
    store(point[X_ETA2], turned(row, load(point[X_ETA2])))
    store(point[X_DOT], add(get3(row, W_V), rate))
    store(point[X_ETA_DOT], slope_rate)
    store(point[X_DDOT], add(get3(row, W_A), second))


@lean
def _relabel(scale, scale_rate, u, udot, point):
    """Turn rows at a fixed label of the piece into rows at a fixed label of the interval.

    The piece's label moves with u, udot at a fixed label of the interval, and changes `scale` times as fast along the
    path.
    """
    d, dd = load(point[X_ETA]), load(point[X_ETA2])
    rate, slope_rate = load(point[X_DOT]), load(point[X_ETA_DOT])
    store(point[X_DDOT], add(load(point[X_DDOT]), sum3(2.0 * u, slope_rate, u * u, dd, udot, d)))
    store(point[X_DOT], along(rate, u, d))
    store(point[X_ETA_DOT], sum3(scale, along(slope_rate, u, dd), scale_rate, d, 0.0, d))
    store(point[X_ETA], scaled(scale, d))
    store(point[X_ETA2], scaled(scale * scale, dd))


@lean
def _grow(row, at, v):
    """Add v to the vector stored at `at`."""
    put3(row, at, add(get3(row, at), v))


@lean
def _pull(row, g_p, g_s):
    """Add forces g_p, g_s (ground) on the ends of a piece, and what holds its object in balance with them."""
    origin = get3(row, W_P)
    _grow(row, W_PULL, g_p)
    _grow(row, W_PULL + SECOND, g_s)
    _grow(row, W_FORCE, scaled(-1.0, add(g_p, g_s)))
    turn = add(cross(sub(get3(row, W_END), origin), g_p), cross(sub(get3(row, W_END + SECOND), origin), g_s))
    _grow(row, W_MOMENT, scaled(-1.0, turn))


@lean
def wrapped_transpose(i, j, etas, forces, tension, path, g_start, g_stop, force, moment):
    """Pull forces (n, 3) on the material points etas (n,) of chain[i:j] back to path points and objects; all in ground.

    Adds also `tension` times the gradient of the interval's length: minus the forces of a string under that tension.
    Adds to g_start, g_stop (3,) at the two path points, to force (objects, 3) and to moment (objects, 3) about the
    objects' origins.
    """
    length = 0.0
    for c in range(i, j):
        row = path.rows[path.ints[CHAIN, c]]
        length += row[G_LENGTH]
        put3(row, W_PULL, ZERO)
        put3(row, W_PULL + SECOND, ZERO)
        put3(row, W_FORCE, ZERO)
        put3(row, W_MOMENT, ZERO)
    pull = tension  # on every piece; the pieces before a force and its own get less
    for n in range(etas.shape[0]):
        c, own = _piece_at(i, j, etas[n] * length, path)
        t = _pull_point(path.rows[path.ints[CHAIN, c]], own, load(forces[n]), path.arc)
        if j > i + 1:
            pull += etas[n] * t
            for m in range(i, c + 1):
                _pull_length(path.rows[path.ints[CHAIN, m]], -t if m < c else -own * t)
    for c in range(i, j):
        _pull_length(path.rows[path.ints[CHAIN, c]], pull)
    if j > i + 1:
        _pull_virtual(i, j, path)
    store(g_start, add(load(g_start), get3(path.rows[path.ints[CHAIN, i]], W_PULL)))
    store(g_stop, add(load(g_stop), get3(path.rows[path.ints[CHAIN, j - 1]], W_PULL + SECOND)))
    for c in range(i, j):
        k = path.ints[CHAIN, c]
        o = path.ints[OBJECT, k]
        store(force[o], add(load(force[o]), get3(path.rows[k], W_FORCE)))
        store(moment[o], add(load(moment[o]), get3(path.rows[k], W_MOMENT)))


@lean
def _pull_length(row, tension):
    """Add tension times the gradient of the length of a piece."""
    g_p, g_s = length_gradient(row)
    _pull(row, scaled(tension, turned(row, g_p)), scaled(tension, turned(row, g_s)))


@lean
def _pull_point(row, own, f, arc):
    """Pull the force f back from the label `own` of a piece; its component along the path."""
    g_p, g_s, x, t = material_transpose(row, own, turned_back(row, f), arc)
    _grow(row, W_FORCE, f)
    _grow(row, W_MOMENT, cross(turned(row, x), f))
    _pull(row, turned(row, g_p), turned(row, g_s))
    return dot3(turned(row, t), f)


@lean
def _pull_virtual(i, j, path):
    """Pass the forces on the virtual nodes on to everything that moves them."""
    set_basis(i, j, path)
    for c in range(i, j - 1):
        row, other = path.rows[path.ints[CHAIN, c]], path.rows[path.ints[CHAIN, c + 1]]
        put_projected(i, c, add(get3(row, W_PULL + SECOND), get3(other, W_PULL)), path)
    solve_virtual(i, j, path)
    before = ZERO
    for c in range(i, j):
        row = path.rows[path.ints[CHAIN, c]]
        after = solution(i, c, path) if c < j - 1 else ZERO
        d1, d2 = direction_rates(row, turned_back(row, before), turned_back(row, after))
        _pull(row, scaled(-1.0, turned(row, d1)), turned(row, d2))
        e1, e2 = turned(row, get3(row, G_E1)), turned(row, get3(row, G_E2))
        _grow(row, W_MOMENT, sub(cross(before, e1), cross(after, e2)))
        before = after
