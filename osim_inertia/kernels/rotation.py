"""Rotations as tuples of nine numbers, row by row, and rows of arrays as tuples: nothing is allocated."""

from __future__ import annotations

from math import cos, sin

from osim_inertia.kernels.jit import fused, lean

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@lean
def row(A, i):
    """Row i of A (k, 3), as a vector."""
    return A[i, 0], A[i, 1], A[i, 2]


@lean
def put(A, i, v):
    """Write a vector into row i of A (k, 3)."""
    A[i, 0] = v[0]
    A[i, 1] = v[1]
    A[i, 2] = v[2]


@lean
def push(A, i, v):
    """Add a vector to row i of A (k, 3)."""
    A[i, 0] += v[0]
    A[i, 1] += v[1]
    A[i, 2] += v[2]


@lean
def matrix(A, i):
    """Matrix i of A (k, 3, 3)."""
    return (
        A[i, 0, 0], A[i, 0, 1], A[i, 0, 2], A[i, 1, 0], A[i, 1, 1], A[i, 1, 2], A[i, 2, 0], A[i, 2, 1], A[i, 2, 2],
    )


@lean
def put_matrix(A, i, R):
    """Write a matrix into place i of A (k, 3, 3)."""
    A[i, 0, 0], A[i, 0, 1], A[i, 0, 2] = R[0], R[1], R[2]
    A[i, 1, 0], A[i, 1, 1], A[i, 1, 2] = R[3], R[4], R[5]
    A[i, 2, 0], A[i, 2, 1], A[i, 2, 2] = R[6], R[7], R[8]


@fused
def times(R, a):
    """R a."""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@fused
def times_t(R, a):
    """Rᵀ a."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@lean
def transposed(R):
    """Rᵀ."""
    return R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]


@fused
def product(A, B):
    """A B."""
    x = times_t(B, (A[0], A[1], A[2]))
    y = times_t(B, (A[3], A[4], A[5]))
    z = times_t(B, (A[6], A[7], A[8]))
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@fused
def xyz_rotation(a, b, c):
    """Rx(a) Ry(b) Rz(c): body-fixed X-Y-Z angles."""
    ca, sa, cb, sb, cc, sc = cos(a), sin(a), cos(b), sin(b), cos(c), sin(c)
    return (
        cb * cc, -cb * sc, sb,
        ca * sc + sa * sb * cc, ca * cc - sa * sb * sc, -sa * cb,
        sa * sc - ca * sb * cc, sa * cc + ca * sb * sc, ca * cb,
    )


@fused
def axis_rotation(axis, angle):
    """Rotation by an angle about a unit axis (Rodrigues)."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis
    k = 1.0 - c
    return (
        c + k * x * x, k * x * y - s * z, k * x * z + s * y,
        k * x * y + s * z, c + k * y * y, k * y * z - s * x,
        k * x * z - s * y, k * y * z + s * x, c + k * z * z,
    )
