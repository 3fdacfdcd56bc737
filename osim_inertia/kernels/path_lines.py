"""Polylines of all paths over frames, for drawing.

    q --> poses --> path points --> opensim_path --> [points and arcs, in order]
                                                            ^ here
"""

from __future__ import annotations

from osim_inertia.kernels.jit import kernel
from osim_inertia.kernels.kinematics import new_motion
from osim_inertia.kernels.opensim_path import path_arc_points
from osim_inertia.kernels.path_pose import pose_carriers
from osim_inertia.kernels.paths import opensim_length, place_paths, take_path
from osim_inertia.kernels.rotation import put, row


@kernel
def path_lines(A, P, q, start, stop, N, path, on_arc, count, line):
    """count (F, np) and line (F, np, most, 3) of paths as OpenSim builds them, with `on_arc` points on each arc.

    `most` is at least the active points of a path and `on_arc` for each of its wraps. A path given by a function has
    no points.
    """
    X = new_motion(A)
    for f in range(start, stop):
        pose_carriers(A, P, q[f], X)
        place_paths(P, X, q[f], N)
        for i in range(P.moves.shape[0]):
            k = 0
            if P.length_function[i] < 0:
                n = take_path(P, i, N)
                _, size = opensim_length(P, i, N, n, path)
                for e in range(size):
                    entry = path.entry[e]
                    if entry >= 0:
                        put(line[f, i], k, row(N.x, entry))
                        k += 1
                    elif (-1 - entry) % 2 == 0:  # the first of two tangent points
                        drawn = line[f, i, k : k + on_arc]
                        path_arc_points((-1 - entry) // 2, P.objects, N.R, N.p, P.wraps, P.wrap_first[i], path, drawn)
                        k += on_arc
            count[f, i] = k
