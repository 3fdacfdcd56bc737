"""Small 3-vector and rotation algebra. All arrays float64; results go to the last argument."""

from __future__ import annotations

from math import cos, sin

from numba import njit


@njit(cache=True, nogil=True, inline="always")
def dot3(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, nogil=True, inline="always")
def cross(a, b, out):
    """out = a × b; out may not alias a or b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True, nogil=True, inline="always")
def add_cross(a, b, out):
    """out += a × b; out may not alias a or b."""
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@njit(cache=True, nogil=True, inline="always")
def matvec(R, a, out):
    """out = R a; out may not alias a."""
    for i in range(3):
        out[i] = R[i, 0] * a[0] + R[i, 1] * a[1] + R[i, 2] * a[2]


@njit(cache=True, nogil=True, inline="always")
def matvec_t(R, a, out):
    """out = Rᵀ a; out may not alias a."""
    for i in range(3):
        out[i] = R[0, i] * a[0] + R[1, i] * a[1] + R[2, i] * a[2]


@njit(cache=True, nogil=True)
def matmul(A, B, out):
    """out = A B (3 × 3); out may not alias A or B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@njit(cache=True, nogil=True)
def matmul_nt(A, B, out):
    """out = A Bᵀ (3 × 3); out may not alias A or B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[j, 0] + A[i, 1] * B[j, 1] + A[i, 2] * B[j, 2]


@njit(cache=True, nogil=True)
def rotation_xyz(a, b, c, out):
    """out = Rx(a) Ry(b) Rz(c): body-fixed X-Y-Z angles."""
    ca, sa, cb, sb, cc, sc = cos(a), sin(a), cos(b), sin(b), cos(c), sin(c)
    out[0, 0], out[0, 1], out[0, 2] = cb * cc, -cb * sc, sb
    out[1, 0], out[1, 1], out[1, 2] = ca * sc + sa * sb * cc, ca * cc - sa * sb * sc, -sa * cb
    out[2, 0], out[2, 1], out[2, 2] = sa * sc - ca * sb * cc, sa * cc + ca * sb * sc, ca * cb


@njit(cache=True, nogil=True)
def rotation_about(axis, angle, out):
    """out = rotation by an angle about a unit axis (Rodrigues)."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis[0], axis[1], axis[2]
    k = 1.0 - c
    out[0, 0], out[0, 1], out[0, 2] = c + k * x * x, k * x * y - s * z, k * x * z + s * y
    out[1, 0], out[1, 1], out[1, 2] = k * x * y + s * z, c + k * y * y, k * y * z - s * x
    out[2, 0], out[2, 1], out[2, 2] = k * x * z - s * y, k * y * z + s * x, c + k * z * z
