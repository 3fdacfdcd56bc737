"""Muscle paths at a pose: nodes, lengths, and their rates by each coordinate.

    poses --> [path points in ground] --> opensim_path or shortest_path --> [lengths, moment arms]
                     ^ here                                                        ^ and here
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from osim_inertia.kernels.functions import Functions, evaluate, evaluate_many
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import move, new_motion
from osim_inertia.kernels.opensim_path import (
    PathResult,
    PathWraps,
    WrapObjects,
    new_path_result,
    opensim_path_length,
)
from osim_inertia.kernels.rotation import axis_rotation, matrix, product, put, put_matrix, row, times
from osim_inertia.kernels.vec3 import add, cross, distance, norm, scaled, sub

FIXED, CONDITIONAL, MOVING = range(3)
CONDITION_SLACK = 1e-5  # rad or m: OpenSim's tolerance on the range of a conditional point
STEP = 1e-5  # rad or m, for differences of OpenSim's wrapped lengths, which have no closed derivative


class SimplePaths(NamedTuple):
    """Paths of FIXED points without a wrap or with one on a cylinder, by what they need at a pose. np paths in all.

    A segment is named by its first point. Indices are unsigned, so that no code is made for negative ones.
    """

    rest: ndarray  # (np,) m: sum of segments that lie in one body
    open_segment: ndarray  # (k,) uint: segments between two bodies
    open_path: ndarray  # (k,) uint: their paths
    near_segment: ndarray  # (m,) uint: segments that may meet their path's cylinder, in the order of the path
    near_path: ndarray  # (m,) uint: their paths, ascending
    near_object: ndarray  # (m,) uint: the cylinders
    cylinder: ndarray  # (c,) uint: all cylinders named there
    other: ndarray  # (r,) int: the paths that are not simple


class Paths(NamedTuple):
    """All paths of a model. np paths, nx points, no wrap objects."""

    first: ndarray  # (np + 1,) int: points of a path are first[i] … first[i + 1] - 1
    kind: ndarray  # (nx,) int: FIXED, CONDITIONAL or MOVING
    body: ndarray  # (nx,) int: -1 is ground
    location: ndarray  # (nx, 3) m, in the body; for a moving point the origin of its frame
    axes: ndarray  # (nx, 3, 3) axes of the point's frame in the body
    coordinate: ndarray  # (nx,) int: of conditional and moving points
    low: ndarray  # (nx,) rad or m
    high: ndarray  # (nx,)
    function: ndarray  # (nx, 3) int: location of a moving point in its frame
    functions: Functions
    wrap_first: ndarray  # (np + 1,) int: rows of `wraps`
    wraps: PathWraps
    objects: WrapObjects
    object_body: ndarray  # (no,) int
    object_R: ndarray  # (no, 3, 3) in the body
    object_p: ndarray  # (no, 3)
    outboard: ndarray  # (nb + 1, n) bool: coordinate moves the body; row -1 is ground
    moves: ndarray  # (np, n) bool: coordinate can change the length
    length_function: ndarray  # (np,) int: of a path given by a function, else -1
    n_args: ndarray  # (np,) int
    args: ndarray  # (np, 6) int
    arm_function: ndarray  # (np, 6) int: moment arms of such a path about its coordinates, -1: by the length's slope
    carriers: ndarray  # (k,) int: bodies with points or wrap objects, and those inboard of them, inboard first
    turned_in: ndarray  # (nb,) bool: the joint frame is turned against the inboard body
    placed_out: ndarray  # (nb,) bool: the joint frame is turned or shifted against the outboard body
    simple: SimplePaths


class Nodes(NamedTuple):
    """Points of all paths at one pose, and the active ones of the path in hand. In ground."""

    everywhere: ndarray  # (nx, 3) m: all points
    active: ndarray  # (nx,) bool
    slides: ndarray  # (nx, 3) rate of a moving point by its coordinate
    x: ndarray  # (max points, 3) m: active points of one path
    index: ndarray  # type: ignore[assignment]  # (max points,) int: place in the path's own list of points
    body: ndarray  # (max points,) int
    R: ndarray  # (no, 3, 3) wrap objects
    p: ndarray  # (no, 3)
    x_moved: ndarray  # (max points, 3) room for differences
    R_moved: ndarray  # (no, 3, 3)
    p_moved: ndarray  # (no, 3)


def new_nodes(P: Paths) -> Nodes:
    """Room for all paths."""
    points, most, objects = len(P.kind), max(int(np.diff(P.first).max(initial=1)), 1), len(P.object_body)
    return Nodes(
        np.empty((points, 3)), np.empty(points, np.bool_), np.empty((points, 3)),
        np.empty((most, 3)), np.empty(most, np.int64), np.empty(most, np.int64),
        np.empty((objects, 3, 3)), np.empty((objects, 3)),
        np.empty((most, 3)), np.empty((objects, 3, 3)), np.empty((objects, 3)),
    )


@lean
def moving_location(P, k, value):
    """Location of a moving point in its body, and its rate, where its coordinate has that value."""
    inside = min(max(value, P.low[k]), P.high[k])  # beyond its range the coordinate moves the point no further
    fx, dx, _ = evaluate(P.functions, P.function[k, 0], inside)
    fy, dy, _ = evaluate(P.functions, P.function[k, 1], inside)
    fz, dz, _ = evaluate(P.functions, P.function[k, 2], inside)
    axes = matrix(P.axes, k)
    slide = times(axes, (dx, dy, dz)) if inside == value else (0.0, 0.0, 0.0)
    return add(row(P.location, k), times(axes, (fx, fy, fz))), slide


@lean
def place_paths(P, X, q, N):
    """All path points and all wrap objects in ground."""
    for o in range(P.object_body.shape[0]):
        b = P.object_body[o]
        if b < 0:
            put_matrix(N.R, o, matrix(P.object_R, o))
            put(N.p, o, row(P.object_p, o))
        else:
            R = matrix(X.R, b)
            put_matrix(N.R, o, product(R, matrix(P.object_R, o)))
            put(N.p, o, add(row(X.p, b), times(R, row(P.object_p, o))))
    for k in range(P.kind.shape[0]):
        c, b, x = P.coordinate[k], P.body[k], row(P.location, k)
        N.active[k] = True
        if P.kind[k] == CONDITIONAL:
            N.active[k] = P.low[k] - CONDITION_SLACK <= q[c] <= P.high[k] + CONDITION_SLACK
        elif P.kind[k] == MOVING:
            x, slide = moving_location(P, k, q[c])
            put(N.slides, k, times(matrix(X.R, b), slide) if b >= 0 else slide)
        if b >= 0:
            x = add(row(X.p, b), times(matrix(X.R, b), x))
        put(N.everywhere, k, x)


@lean
def take_path(P, i, N):
    """Copy the active points of path i into N.x, N.index and N.body; their number is returned."""
    n = 0
    for k in range(P.first[i], P.first[i + 1]):
        if N.active[k]:
            put(N.x, n, row(N.everywhere, k))
            N.index[n] = k - P.first[i]
            N.body[n] = P.body[k]
            n += 1
    return n


@lean
def straight_length(x, n):
    """Length of the polyline through the first n points."""
    total = 0.0
    for k in range(n - 1):
        total += distance(row(x, k), row(x, k + 1))
    return total


@lean
def length_by_function(P, i, q, X, slope):
    """Length of a path given by a function of coordinates; slope (n,) is filled, from moment arms if they are given."""
    n = P.n_args[i]
    for j in range(n):
        X.arguments[j] = q[P.args[i, j]]
    length = evaluate_many(P.functions, P.length_function[i], X.arguments, n, X.gradient, X.hessian)
    slope[:] = 0.0
    for j in range(n):
        slope[P.args[i, j]] += X.gradient[j]
    for j in range(n):
        if P.arm_function[i, j] >= 0:
            arm = evaluate_many(P.functions, P.arm_function[i, j], X.arguments, n, X.gradient, X.hessian)
            slope[P.args[i, j]] = -arm
    return length


@lean
def push_node(A, X, body, x, force, out):
    """Add to out (n,) the generalized force of a force at x (ground) on a body."""
    while body >= 0:
        moment = cross(sub(x, row(X.p, body)), force)
        for c in range(A.first[body], A.first[body] + A.dofs[body]):
            out[c] += (
                X.Hw[c, 0] * moment[0] + X.Hw[c, 1] * moment[1] + X.Hw[c, 2] * moment[2]
                + X.Hv[c, 0] * force[0] + X.Hv[c, 1] * force[1] + X.Hv[c, 2] * force[2]
            )
        body = A.parent[body]


@lean
def polyline_slopes(A, P, X, i, N, n, out):
    """dL/du (n_coordinates,) of a path without wraps: unit directions pulled back to the coordinates."""
    out[:] = 0.0
    before = (0.0, 0.0, 0.0)
    for k in range(n):
        x, after = row(N.x, k), (0.0, 0.0, 0.0)
        if k + 1 < n:
            d = sub(row(N.x, k + 1), x)
            length = norm(d)
            if length > 0.0:
                after = scaled(1.0 / length, d)
        pull = sub(before, after)
        push_node(A, X, N.body[k], x, pull, out)
        at = P.first[i] + N.index[k]
        if P.kind[at] == MOVING:
            slide = row(N.slides, at)
            out[P.coordinate[at]] += slide[0] * pull[0] + slide[1] * pull[1] + slide[2] * pull[2]
        before = after


@lean
def _displace(A, P, X, c, step, i, n, N):
    """Turn everything outboard of coordinate c about its axis: a finite step of the joint, exact to second order."""
    body = A.body_of[c]
    w, v = row(X.Hw, c), row(X.Hv, c)
    origin, rate = row(X.p, body), norm(w)
    R = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    if rate > 0.0:
        R = axis_rotation(scaled(1.0 / rate, w), rate * step)
    shift = add(origin, scaled(step, v))
    for k in range(n):
        x = row(N.x, k)
        at = P.first[i] + N.index[k]
        if P.kind[at] == MOVING and P.coordinate[at] == c:
            x = add(x, scaled(step, row(N.slides, at)))
        if P.outboard[N.body[k], c]:
            x = add(shift, times(R, sub(x, origin)))
        put(N.x_moved, k, x)
    for m in range(P.wrap_first[i], P.wrap_first[i + 1]):
        o = P.wraps.wrap_object[m]
        if P.outboard[P.object_body[o], c]:
            put_matrix(N.R_moved, o, product(R, matrix(N.R, o)))
            put(N.p_moved, o, add(shift, times(R, sub(row(N.p, o), origin))))
        else:
            put_matrix(N.R_moved, o, matrix(N.R, o))
            put(N.p_moved, o, row(N.p, o))


@lean
def _wrapped_slopes(A, P, X, i, N, n, path, out):
    """dL/du of a wrapped path as OpenSim builds it, by central differences over the coordinates that matter."""
    out[:] = 0.0
    first = P.wrap_first[i]
    count = P.wrap_first[i + 1] - first
    for c in range(out.shape[0]):
        if not P.moves[i, c]:
            continue
        _displace(A, P, X, c, STEP, i, n, N)
        plus, _ = opensim_path_length(
            N.x_moved, N.index, n, P.objects, N.R_moved, N.p_moved, P.wraps, first, count, path
        )
        _displace(A, P, X, c, -STEP, i, n, N)
        minus, _ = opensim_path_length(
            N.x_moved, N.index, n, P.objects, N.R_moved, N.p_moved, P.wraps, first, count, path
        )
        out[c] = (plus - minus) / (2.0 * STEP)


@lean
def opensim_length(P, i, N, n, path):
    """(length, number of entries) of path i as OpenSim builds it; everything else is in `path`."""
    first = P.wrap_first[i]
    count = P.wrap_first[i + 1] - first
    return opensim_path_length(N.x, N.index, n, P.objects, N.R, N.p, P.wraps, first, count, path)


@kernel
def opensim_slopes(A, P, q, start, stop, N, path, slope):
    """slope (F, np, n) = dL/du of paths as OpenSim builds them."""
    X, rest = new_motion(A), np.zeros(q.shape[1])
    for f in range(start, stop):
        move(A, q[f], rest, X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            _opensim_slope(A, P, q[f], X, i, N, path, slope[f, i])


@lean
def _opensim_slope(A, P, q, X, i, N, path, slope):
    """slope (n,) of path i at one pose."""
    if P.length_function[i] >= 0:
        length_by_function(P, i, q, X, slope)
        return
    n = take_path(P, i, N)
    size = n
    if P.wrap_first[i] < P.wrap_first[i + 1]:
        _, size = opensim_length(P, i, N, n, path)
    if size == n:
        polyline_slopes(A, P, X, i, N, n, slope)
    else:
        _wrapped_slopes(A, P, X, i, N, n, path, slope)


def new_opensim_room(P: Paths) -> tuple[Nodes, PathResult]:
    """Working memory for paths as OpenSim builds them, one per thread."""
    nodes = new_nodes(P)
    return nodes, new_path_result(len(nodes.x), max(int(np.diff(P.wrap_first).max(initial=0)), 1))
