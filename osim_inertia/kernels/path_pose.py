"""Poses of the bodies that carry path points and wrap objects, and of nothing else: what path lengths need.

    q --> [poses of some bodies] --> paths.place_paths --> lengths
                  ^ here
"""

from __future__ import annotations

from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.joints import joint_pose
from osim_inertia.kernels.rotation import matrix, product, put, put_matrix, row, times, transposed
from osim_inertia.kernels.vec3 import add, scaled


@lean
def pose_carriers(A, P, q, X):
    """Fill the poses of X for the bodies P.carriers (inboard first); the other rows are left as they are."""
    for c in range(P.carriers.shape[0]):
        body = P.carriers[c]
        parent = A.parent[body]
        R, p = joint_pose(A, body, q, X)
        if A.reversed[body]:
            R = transposed(R)
            p = scaled(-1.0, times(R, p))
        if P.turned_in[body]:
            R_1 = matrix(A.in_R, body)
            R, p = product(R_1, R), times(R_1, p)
        p = add(row(A.in_p, body), p)
        if P.placed_out[body]:
            p = add(p, times(R, row(A.out_p, body)))
            R = product(R, matrix(A.out_R, body))
        if parent >= 0:
            R_in = matrix(X.R, parent)
            R, p = product(R_in, R), add(row(X.p, parent), times(R_in, p))
        put_matrix(X.R, body, R)
        put(X.p, body, p)
