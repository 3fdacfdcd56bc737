"""What a unit tension does to the coordinates, as OpenSim counts it: its `computeMomentArm`.

Tension acts between consecutive path points on different bodies. Directions come from the cached positions of tangent
points, forces act at their latest ones (OPENSIM_SEMANTICS.md §5.2, §5.4), and the arc between two tangent points is
taken to move rigidly with its object. For wrapped paths this is not the derivative of OpenSim's length, which the
moment arms elsewhere in this package are.
"""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.functions import evaluate
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import move, new_motion
from osim_inertia.kernels.opensim_path import path_positions
from osim_inertia.kernels.paths import MOVING, length_by_function, opensim_length, place_paths, push_node, take_path
from osim_inertia.kernels.rotation import matrix, row, times
from osim_inertia.kernels.vec3 import dot3, norm, scaled, sub


@kernel
def unit_tension(A, P, q, start, stop, N, path, latest, cached, force):
    """Generalized forces (F, np, n), conjugate to u, of a unit tension in each path."""
    X, rest = new_motion(A), np.zeros(q.shape[1])
    for f in range(start, stop):
        move(A, q[f], rest, X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            if P.length_function[i] >= 0:
                length_by_function(P, i, q[f], X, force[f, i])
                for c in range(q.shape[1]):
                    force[f, i, c] = -force[f, i, c]
                continue
            force[f, i] = 0.0
            n = take_path(P, i, N)
            _, size = opensim_length(P, i, N, n, path)
            path_positions(N.x, size, path, latest, cached)
            _pull(A, P, X, i, q[f], N, path, latest, cached, size, force[f, i])


@lean
def _body_of(P, i, N, entry):
    """Body that carries an entry of the path: a node, or a tangent point of a wrap."""
    if entry >= 0:
        return N.body[entry]
    return P.object_body[P.wraps.wrap_object[P.wrap_first[i] + (-1 - entry) // 2]]


@lean
def _pull(A, P, X, i, q, N, path, latest, cached, size, out):
    """Add the pull of each straight segment between two bodies."""
    for k in range(size - 1):
        here, there = path.entry[k], path.entry[k + 1]
        b1, b2 = _body_of(P, i, N, here), _body_of(P, i, N, there)
        if b1 == b2:
            continue
        d = sub(row(cached, k + 1), row(cached, k))
        length = norm(d)
        if length == 0.0:
            continue
        e = scaled(1.0 / length, d)
        push_node(A, X, b1, row(latest, k), e, out)
        push_node(A, X, b2, row(latest, k + 1), scaled(-1.0, e), out)
        _slide(P, X, i, q, N, here, e, 1.0, out)
        _slide(P, X, i, q, N, there, e, -1.0, out)


@lean
def _slide(P, X, i, q, N, entry, e, sign, out):
    """A moving point also works on its coordinate; OpenSim takes its slope at the coordinate's unclamped value."""
    if entry < 0:
        return
    at = P.first[i] + N.index[entry]
    if P.kind[at] != MOVING:
        return
    c, b = P.coordinate[at], P.body[at]
    _, dx, _ = evaluate(P.functions, P.function[at, 0], q[c])
    _, dy, _ = evaluate(P.functions, P.function[at, 1], q[c])
    _, dz, _ = evaluate(P.functions, P.function[at, 2], q[c])
    slide = times(matrix(P.axes, at), (dx, dy, dz))
    if b >= 0:
        slide = times(matrix(X.R, b), slide)
    out[c] += sign * dot3(slide, e)
