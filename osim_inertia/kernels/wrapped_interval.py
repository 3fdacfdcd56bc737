"""Matter on an interval with one or more wraps, in ground: positions, rates, pulled-back forces.

    shortest_path --> [material points of a wrapped interval] --> muscle inertia
                                  ^ here
The interval is chain[i:j] of a ShortestPath; its label eta is the fraction of its whole length, from one path point to the next.
Piece k holds the length from c_k to c_k + l_k, so its own label is eta_k = (eta l - c_k)/l_k, which moves. The object of
piece k moves as a frame with origin p, rotation R, velocity v, angular velocity w, acceleration a, angular acceleration al:
arrays (n, 3) over all wrap objects, R (n, 3, 3). Exact for cylinders and spheres, in any combination.
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
    X,
    X_DDOT,
    X_DOT,
    X_ETA,
    X_ETA2,
    X_ETA_DOT,
    direction_rates,
    get3,
    put3,
    sum3,
)
from osim_inertia.kernels.geodesic_points import interval_motion, material_point, material_transpose
from osim_inertia.kernels.shortest_join import build_hessian, put_projected, set_basis, solve, turned, turned_back
from osim_inertia.kernels.vec3 import add, along, cross, dot3, kernel, load, scaled, store, sub


@kernel
def seen_from(R, p, v, w, a, al, x, xdot, xddot):
    """(rate, second rate) in a moving frame of a point x that moves with xdot, xddot in ground."""
    d = sub(x, p)
    rate = sub(sub(xdot, v), cross(w, d))
    fictitious = add(add(a, cross(al, d)), add(cross(w, cross(w, d)), scaled(2.0, cross(w, rate))))
    return turned_back(R, rate), turned_back(R, sub(xddot, fictitious))


@kernel
def carried(R, w, al, e, edot, eddot):
    """(rate, second rate) in ground of a vector that moves in a turning frame."""
    g, gdot = turned(R, e), turned(R, edot)
    second = add(cross(al, g), add(cross(w, cross(w, g)), scaled(2.0, cross(w, gdot))))
    return add(cross(w, g), gdot), add(second, turned(R, eddot))


@kernel
def _piece_motion(k, o, R, p, v, w, a, al, path):
    """Motion record of piece k from the motion of its ends and its frame."""
    pdot, pddot = _seen(k, 0, o, R, p, v, w, a, al, path)
    sdot, sddot = _seen(k, 1, o, R, p, v, w, a, al, path)
    interval_motion(path.geo[k], pdot, pddot, sdot, sddot, path.mot[k])


@kernel
def wrapped_motion(i, j, rate, accel, R, p, v, w, a, al, wraps, first, path):
    """Motion records of chain[i:j] when the path points move with rate, accel (nodes, 3) and the objects as frames.

    Also the motion of all ends, virtual nodes included: path.end_rate, path.end_accel.
    """
    row = path.where[path.chain[i]]
    for c in range(i, j):
        for x in range(3):
            k = path.chain[c]
            path.end_rate[k, 0, x] = rate[row, x] if c == i else 0.0
            path.end_accel[k, 0, x] = accel[row, x] if c == i else 0.0
            path.end_rate[k, 1, x] = rate[row + 1, x] if c == j - 1 else 0.0
            path.end_accel[k, 1, x] = accel[row + 1, x] if c == j - 1 else 0.0
    if j > i + 1:
        set_basis(i, j, R, wraps, first, path)
        for order in range(1, 3):
            _mismatch_rate(i, j, order, R, p, v, w, a, al, wraps, first, path)
            build_hessian(i, j, R, wraps, first, path)
            solve(2 * (j - i - 1), path.matrix, path.side)
            target = path.end_rate if order == 1 else path.end_accel
            for c in range(i, j - 1):
                y = 2 * (c - i)
                u, s = load(path.basis[c, 0]), load(path.basis[c, 1])
                move = sum3(-path.side[y], u, -path.side[y + 1], s, 0.0, u)
                store(target[path.chain[c], 1], move)
                store(target[path.chain[c + 1], 0], move)
    for c in range(i, j):
        k = path.chain[c]
        _piece_motion(k, wraps.wrap_object[first + k], R, p, v, w, a, al, path)


@kernel
def _mismatch_rate(i, j, order, R, p, v, w, a, al, wraps, first, path):
    """First or second rate (order) of the mismatch of directions at the virtual nodes, into path.side."""
    before = (0.0, 0.0, 0.0)
    for c in range(i, j):
        k = path.chain[c]
        o = wraps.wrap_object[first + k]
        geo, mot = path.geo[k], path.mot[k]
        if order == 1:
            vp, _ = _seen(k, 0, o, R, p, v, w, a, al, path)
            vs, _ = _seen(k, 1, o, R, p, v, w, a, al, path)
            d1, d2 = direction_rates(geo, vp, vs)
            e1, _ = carried(R[o], load(w[o]), load(al[o]), get3(geo, G_E1), d1, d1)
            e2, _ = carried(R[o], load(w[o]), load(al[o]), get3(geo, G_E2), d2, d2)
        else:
            _piece_motion(k, o, R, p, v, w, a, al, path)
            wo, alo = load(w[o]), load(al[o])
            _, e1 = carried(R[o], wo, alo, get3(geo, G_E1), get3(mot, M_E1DOT), get3(mot, M_E1DDOT))
            _, e2 = carried(R[o], wo, alo, get3(geo, G_E2), get3(mot, M_E2DOT), get3(mot, M_E2DDOT))
        if c > i:
            put_projected(i, c - 1, sub(before, e1), path)
        before = e2


@kernel
def _seen(k, end, o, R, p, v, w, a, al, path):
    """Motion of one end of piece k, seen from its object."""
    x, xd, xdd = load(path.ends[k, end]), load(path.end_rate[k, end]), load(path.end_accel[k, end])
    return seen_from(R[o], load(p[o]), load(v[o]), load(w[o]), load(a[o]), load(al[o]), x, xd, xdd)


@kernel
def wrapped_length(i, j, path):
    """(length, rate, second rate) of the interval chain[i:j]; the rates after wrapped_motion."""
    length, rate, accel = 0.0, 0.0, 0.0
    for c in range(i, j):
        k = path.chain[c]
        length += path.geo[k, G_LENGTH]
        rate += path.mot[k, M_RATE]
        accel += path.mot[k, M_ACCEL]
    return length, rate, accel


@kernel
def _piece_at(i, j, way, path):
    """(place in the chain, length before it) of the piece that holds arc length `way`."""
    start = 0.0
    c = i
    while c < j - 1 and way > start + path.geo[path.chain[c], G_LENGTH]:
        start += path.geo[path.chain[c], G_LENGTH]
        c += 1
    return c, start


@kernel
def wrapped_points(i, j, etas, R, p, v, w, a, al, wraps, first, path, out):
    """Material points of the interval chain[i:j] at the labels etas (n,), in ground, into out (n, POINT, 3). After wrapped_motion."""
    length, rate, accel = wrapped_length(i, j, path)
    for n in range(etas.shape[0]):
        eta = etas[n]
        c, start = _piece_at(i, j, eta * length, path)
        k = path.chain[c]
        _, start_rate, start_accel = wrapped_length(i, c, path)
        l_k, rate_k, accel_k = path.geo[k, G_LENGTH], path.mot[k, M_RATE], path.mot[k, M_ACCEL]
        own = min(max((eta * length - start) / l_k, 0.0), 1.0)
        own_rate = (eta * rate - start_rate - own * rate_k) / l_k
        own_accel = (eta * accel - start_accel - 2.0 * own_rate * rate_k - own * accel_k) / l_k
        material_point(path.geo[k], path.mot[k], own, path.arc, out[n])
        o = wraps.wrap_object[first + k]
        _to_ground(R[o], load(p[o]), load(v[o]), load(w[o]), load(a[o]), load(al[o]), out[n])
        _relabel(length / l_k, (rate - length * rate_k / l_k) / l_k, own_rate, own_accel, out[n])


@kernel
def _to_ground(R, p, v, w, a, al, point):
    """Turn the rows of a material point of a moving frame into ground."""
    r = turned(R, load(point[X]))
    rate, second = carried(R, w, al, load(point[X]), load(point[X_DOT]), load(point[X_DDOT]))
    slope_rate, _ = carried(R, w, al, load(point[X_ETA]), load(point[X_ETA_DOT]), load(point[X_ETA_DOT]))
    store(point[X], add(p, r))
    put3(point[X_ETA], 0, turned(R, load(point[X_ETA])))
    put3(point[X_ETA2], 0, turned(R, load(point[X_ETA2])))
    store(point[X_DOT], add(v, rate))
    store(point[X_ETA_DOT], slope_rate)
    store(point[X_DDOT], add(a, second))


@kernel
def _relabel(scale, scale_rate, u, udot, point):
    """Turn rows at a fixed label of the piece into rows at a fixed label of the interval.

    The piece's label moves with u, udot at a fixed label of the interval, and changes `scale` times as fast along the path.
    """
    d, dd = load(point[X_ETA]), load(point[X_ETA2])
    rate, slope_rate = load(point[X_DOT]), load(point[X_ETA_DOT])
    slope_here = along(slope_rate, u, dd)
    store(point[X_DDOT], add(load(point[X_DDOT]), sum3(2.0 * u, slope_rate, u * u, dd, udot, d)))
    store(point[X_DOT], along(rate, u, d))
    store(point[X_ETA_DOT], sum3(scale, slope_here, scale_rate, d, 0.0, d))
    store(point[X_ETA], scaled(scale, d))
    store(point[X_ETA2], scaled(scale * scale, dd))


@kernel
def _pull(k, o, p, g_p, g_s, path, force, moment):
    """Forces g_p, g_s (ground) on the ends of piece k, and what holds its object in balance with them."""
    origin = load(p[o])
    store(path.end_force[k, 0], add(load(path.end_force[k, 0]), g_p))
    store(path.end_force[k, 1], add(load(path.end_force[k, 1]), g_s))
    store(force[o], sub(load(force[o]), add(g_p, g_s)))
    turn = add(cross(sub(load(path.ends[k, 0]), origin), g_p), cross(sub(load(path.ends[k, 1]), origin), g_s))
    store(moment[o], sub(load(moment[o]), turn))


@kernel
def _pull_length(k, o, tension, R, p, path, force, moment):
    """Add tension times the gradient of the length of piece k."""
    e1, e2 = turned(R[o], get3(path.geo[k], G_E1)), turned(R[o], get3(path.geo[k], G_E2))
    _pull(k, o, p, scaled(-tension, e1), scaled(tension, e2), path, force, moment)


@kernel
def wrapped_transpose(i, j, etas, forces, R, p, wraps, first, path, g_start, g_stop, force, moment):
    """Pull the forces (n, 3) on the material points etas (n,) of chain[i:j] back to the path points and the objects; all in ground.

    Adds to g_start, g_stop (3,) at the two path points, to force (objects, 3) and to moment (objects, 3) about the objects' origins.
    """
    for c in range(i, j):
        for end in range(2):
            store(path.end_force[path.chain[c], end], (0.0, 0.0, 0.0))
    length = 0.0
    for c in range(i, j):
        length += path.geo[path.chain[c], G_LENGTH]
    for n in range(etas.shape[0]):
        f = load(forces[n])
        c, start = _piece_at(i, j, etas[n] * length, path)
        k = path.chain[c]
        o = wraps.wrap_object[first + k]
        own = min(max((etas[n] * length - start) / path.geo[k, G_LENGTH], 0.0), 1.0)
        _pull_point(k, o, own, f, etas[n], c, i, j, R, p, wraps, first, path, force, moment)
    _pull_virtual(i, j, R, p, wraps, first, path, force, moment)
    store(g_start, add(load(g_start), load(path.end_force[path.chain[i], 0])))
    store(g_stop, add(load(g_stop), load(path.end_force[path.chain[j - 1], 1])))


@kernel
def _pull_point(k, o, own, f, eta, c, i, j, R, p, wraps, first, path, force, moment):
    """Pull the force f back from the label `own` of piece k = chain[c], the label eta of the interval."""
    g_p, g_s, x, t = material_transpose(path.geo[k], own, turned_back(R[o], f), path.arc)
    r, tension = turned(R[o], x), dot3(turned(R[o], t), f)
    store(force[o], add(load(force[o]), f))
    store(moment[o], add(load(moment[o]), cross(r, f)))
    _pull(k, o, p, turned(R[o], g_p), turned(R[o], g_s), path, force, moment)
    if j == i + 1:
        return
    for m in range(i, j):  # the piece's label moves when lengths change
        share = eta - (1.0 if m < c else (own if m == c else 0.0))
        km = path.chain[m]
        _pull_length(km, wraps.wrap_object[first + km], tension * share, R, p, path, force, moment)


@kernel
def _pull_virtual(i, j, R, p, wraps, first, path, force, moment):
    """Pass the forces on the virtual nodes on to everything that moves them."""
    n = 2 * (j - i - 1)
    if n == 0:
        return
    set_basis(i, j, R, wraps, first, path)
    for c in range(i, j - 1):
        g = add(load(path.end_force[path.chain[c], 1]), load(path.end_force[path.chain[c + 1], 0]))
        put_projected(i, c, g, path)
    build_hessian(i, j, R, wraps, first, path)
    solve(n, path.matrix, path.side)
    before = (0.0, 0.0, 0.0)
    for c in range(i, j):
        after = (0.0, 0.0, 0.0)
        if c < j - 1:
            y = 2 * (c - i)
            u, s = load(path.basis[c, 0]), load(path.basis[c, 1])
            after = sum3(-path.side[y], u, -path.side[y + 1], s, 0.0, u)
        k = path.chain[c]
        o = wraps.wrap_object[first + k]
        d1, d2 = direction_rates(path.geo[k], turned_back(R[o], before), turned_back(R[o], after))
        _pull(k, o, p, scaled(-1.0, turned(R[o], d1)), turned(R[o], d2), path, force, moment)
        e1, e2 = turned(R[o], get3(path.geo[k], G_E1)), turned(R[o], get3(path.geo[k], G_E2))
        store(moment[o], sub(load(moment[o]), sub(cross(after, e2), cross(before, e1))))
        before = after


@kernel
def wrapped_tension(i, j, tension, R, p, wraps, first, path, g_start, g_stop, force, moment):
    """Add tension times the gradient of the interval's length, as wrapped_transpose does: minus the forces of a tight string."""
    for c in range(i, j):
        k = path.chain[c]
        for end in range(2):
            store(path.end_force[k, end], (0.0, 0.0, 0.0))
        _pull_length(k, wraps.wrap_object[first + k], tension, R, p, path, force, moment)
    store(g_start, add(load(g_start), load(path.end_force[path.chain[i], 0])))
    store(g_stop, add(load(g_stop), load(path.end_force[path.chain[j - 1], 1])))
