"""Memory of one path: what `shortest_path` finds and `wrapped_interval` adds, one row of floats per wrap.

    shortest_path, shortest_join, wrapped_interval all read and write it
A path is four arrays, because Numba's compile time grows with the number of arrays a function is given. "Wrap k" is
the path's k-th PathWrap. Its wrapped pieces, in order, are ints[CHAIN, 0 : size]; the piece of wrap k runs between
the two ends in its row, which are path points or, between two wraps on one interval, a *virtual node* in the middle
of the straight piece between them. A row begins with the geodesic record (geodesic_common) in the frame of the object
and ends with its motion record.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels.geodesic_common import ARC_RECORD, GEO, MOT
from osim_inertia.kernels.jit import lean

# rows of ints
CHAIN = 0  # wraps in path order
WHERE = 1  # row in nodes of the path point before wrap k
CHAIN_BEFORE = 2
ORDER = 3  # of the wraps in a pass
CODE = 4  # answer of the last segment tested, in that order
OBJECT = 5  # wrap object of wrap k
INTS = 6

# a row of floats, after the geodesic record; ground frame
W_R = np.int64(GEO)  # rotation of the object, row by row
W_P = np.int64(GEO + 9)  # its origin
W_V = np.int64(GEO + 12)  # velocity of the origin
W_W = np.int64(GEO + 15)  # angular velocity
W_A = np.int64(GEO + 18)  # acceleration of the origin
W_AL = np.int64(GEO + 21)  # angular acceleration
W_END = np.int64(GEO + 24)  # two ends of the piece
W_CONTACT = np.int64(GEO + 30)  # where it meets and leaves the surface
W_BEFORE = np.int64(GEO + 36)  # contacts of the previous pass
W_RATE = np.int64(GEO + 42)  # velocities of the ends
W_ACCEL = np.int64(GEO + 48)  # accelerations of the ends
W_PULL = np.int64(GEO + 54)  # forces pulled back to the ends
W_BASIS = np.int64(GEO + 60)  # two directions in which the virtual node after this piece may move
W_FORCE = np.int64(GEO + 66)  # on the object
W_MOMENT = np.int64(GEO + 69)  # on the object, about its origin
W_MOT = GEO + 72  # motion record
ROW = W_MOT + MOT
FIRST = np.int64(0)  # where the first and the second of two vectors stand
SECOND = np.int64(3)


class ShortestPath(NamedTuple):
    """Path of one muscle at one pose; also the working memory. W = most wraps of a path."""

    ints: NDArray[np.int64]  # (INTS, W)
    rows: NDArray[np.float64]  # (W + 1, ROW); the last row is scratch
    arc: NDArray[np.float64]  # (ARC_RECORD,)
    matrix: NDArray[np.float64]  # (2 W, 2 W + 1) Hessian for the virtual nodes, last column the right-hand side


def new_shortest_path(max_wraps: int) -> ShortestPath:
    """Memory for paths of at most so many PathWraps."""
    w = max(max_wraps, 1)
    return ShortestPath(
        ints=np.zeros((INTS, w), np.int64),
        rows=np.zeros((w + 1, ROW)),
        arc=np.zeros(ARC_RECORD),
        matrix=np.zeros((2 * w, 2 * w + 1)),
    )


@lean
def turned(row, v):
    """Vector v of the object's frame, in ground."""
    r = row[W_R : W_R + 9]
    return (
        r[0] * v[0] + r[1] * v[1] + r[2] * v[2],
        r[3] * v[0] + r[4] * v[1] + r[5] * v[2],
        r[6] * v[0] + r[7] * v[1] + r[8] * v[2],
    )


@lean
def turned_back(row, v):
    """Ground vector v in the object's frame."""
    r = row[W_R : W_R + 9]
    return (
        r[0] * v[0] + r[3] * v[1] + r[6] * v[2],
        r[1] * v[0] + r[4] * v[1] + r[7] * v[2],
        r[2] * v[0] + r[5] * v[1] + r[8] * v[2],
    )


@lean
def interval_end(i, size, path):
    """One past the last place in the chain on the same interval as place i."""
    j = i + 1
    where = path.ints[WHERE]
    while j < size and where[path.ints[CHAIN, j]] == where[path.ints[CHAIN, i]]:
        j += 1
    return j
