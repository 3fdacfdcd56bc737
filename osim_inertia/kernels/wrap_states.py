"""How paths stand to their wrap objects at a pose: points inside an object, and how far round it a path goes.

    poses --> path points, wrap objects in ground --> [depth of points, turn of arcs] --> doctor
                                                                  ^ here
Rows are PathWraps of all paths, as in Paths.wraps.
"""

from __future__ import annotations

from math import sqrt

from osim_inertia.kernels.geodesic_common import G_KIND, G_THETA
from osim_inertia.kernels.jit import kernel, lean
from osim_inertia.kernels.kinematics import new_motion, pose
from osim_inertia.kernels.opensim_path import CYLINDER, ELLIPSOID, SPHERE
from osim_inertia.kernels.paths import opensim_length, place_paths, take_path
from osim_inertia.kernels.shortest_batch import shortest_length
from osim_inertia.kernels.shortest_record import CHAIN
from osim_inertia.kernels.vec3 import load, norm, to_frame


@lean
def depth_in_object(kind, params, x):
    """How far the point x (frame of the object) lies under the surface, in m; negative outside."""
    if kind == CYLINDER:
        if abs(x[2]) > 0.5 * params[1]:
            return -1.0
        return params[0] - sqrt(x[0] * x[0] + x[1] * x[1])
    if kind == SPHERE:
        return params[0] - norm(x)
    if kind == ELLIPSOID:
        scaled = sqrt((x[0] / params[0]) ** 2 + (x[1] / params[1]) ** 2 + (x[2] / params[2]) ** 2)
        return (1.0 - scaled) * min(params[0], params[1], params[2])
    ring = sqrt(x[0] * x[0] + x[1] * x[1]) - params[1]
    return params[0] - sqrt(ring * ring + x[2] * x[2])


@kernel
def point_depths(A, P, q, start, stop, N, depth, point):
    """Deepest point of each path in the range of each wrap: depth (F, nw) in m, point (F, nw) its place in the path.

    depth is negative where all points are outside.
    """
    X = new_motion(A)
    for f in range(start, stop):
        pose(A, q[f], X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            for w in range(P.wrap_first[i], P.wrap_first[i + 1]):
                o = P.wraps.wrap_object[w]
                depth[f, w], point[f, w] = -1.0, -1
                for k in range(P.first[i], P.first[i + 1]):
                    place = k - P.first[i]
                    within = place >= P.wraps.range_start[w] - 1
                    within = within and (P.wraps.range_end[w] < 1 or place <= P.wraps.range_end[w] - 1)
                    if not (within and N.active[k] and P.objects.active[o]):
                        continue
                    x = to_frame(N.R[o], N.p[o], load(N.everywhere[k]))
                    deep = depth_in_object(P.objects.kind[o], P.objects.params[o], x)
                    if deep > depth[f, w]:
                        depth[f, w], point[f, w] = deep, place


@kernel
def opensim_turns(A, P, q, start, stop, N, path, turn):
    """turn (F, nw): angle (rad) by which each path goes round a cylinder or sphere, as OpenSim counts it; else 0."""
    X = new_motion(A)
    for f in range(start, stop):
        pose(A, q[f], X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            first = P.wrap_first[i]
            turn[f, first : P.wrap_first[i + 1]] = 0.0
            if first == P.wrap_first[i + 1]:
                continue
            _, size = opensim_length(P, i, N, take_path(P, i, N), path)
            for e in range(size):
                entry = path.entry[e]
                if entry >= 0 or (-1 - entry) % 2 == 1:
                    continue
                k = (-1 - entry) // 2
                o = P.wraps.wrap_object[first + k]
                arc, radius = path.arc[k], P.objects.params[o, 0]
                if P.objects.kind[o] == SPHERE:  # OpenSim counts the long way negative
                    turn[f, first + k] = abs(arc) / radius
                elif P.objects.kind[o] == CYLINDER:
                    z1 = to_frame(N.R[o], N.p[o], load(path.latest[k, 0]))[2]
                    z2 = to_frame(N.R[o], N.p[o], load(path.latest[k, 1]))[2]
                    turn[f, first + k] = sqrt(max(arc * arc - (z2 - z1) * (z2 - z1), 0.0)) / radius


@kernel
def shortest_turns(A, P, q, start, stop, N, path, turn):
    """As opensim_turns, of the shortest path."""
    X = new_motion(A)
    for f in range(start, stop):
        pose(A, q[f], X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            first = P.wrap_first[i]
            turn[f, first : P.wrap_first[i + 1]] = 0.0
            if first == P.wrap_first[i + 1]:
                continue
            _, size = shortest_length(P, i, N, take_path(P, i, N), path)
            for c in range(size):
                k = path.ints[CHAIN, c]
                if path.rows[k, G_KIND] <= SPHERE:
                    turn[f, first + k] = abs(path.rows[k, G_THETA])
