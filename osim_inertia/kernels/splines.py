"""Natural splines and OpenSim's low-pass filter, over the columns of a table.

A natural spline is the interpolant with the smallest ∫ (f″)² (cubic) or ∫ (f‴)² (quintic). With the derivatives at
the knots as unknowns, that is a linear system with a symmetric, positive definite, (block-)tridiagonal matrix, so
elimination needs no pivoting. Derivatives at the knots are the unknowns themselves; nothing has to be evaluated.

t (F,) knots | y (F, c) values | columns first..last are done, so that threads can share them
"""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.jit import kernel


@kernel
def quintic_system(t, inverse):
    """Eliminate the system of the quintic: inverse (F, 3) of each pivot, a symmetric 2 × 2 block: 11, 12, 22."""
    n = t.shape[0]
    left3, left2, left1 = 0.0, 0.0, 0.0  # 1/h³, 1/h², 1/h of the interval before
    p11, p12, p22 = 0.0, 0.0, 0.0  # what elimination takes off the next diagonal block
    for i in range(n):
        r1 = 1.0 / (t[i + 1] - t[i]) if i + 1 < n else 0.0
        r2, r3 = r1 * r1, r1 * r1 * r1
        d11 = 192.0 * (left3 + r3) - p11
        d12 = 36.0 * (r2 - left2) - p12
        d22 = 9.0 * (left1 + r1) - p22
        scale = 1.0 / (d11 * d22 - d12 * d12)
        i11, i12, i22 = d22 * scale, -d12 * scale, d11 * scale
        inverse[i, 0], inverse[i, 1], inverse[i, 2] = i11, i12, i22
        # coupling to the next knot: U = [[168 r3, -24 r2], [24 r2, -3 r1]];  p = Uᵀ D⁻¹ U
        a, b, c, d = 168.0 * r3, -24.0 * r2, 24.0 * r2, -3.0 * r1
        v11, v12 = i11 * a + i12 * c, i11 * b + i12 * d
        v21, v22 = i12 * a + i22 * c, i12 * b + i22 * d
        p11, p12, p22 = a * v11 + c * v21, a * v12 + c * v22, b * v12 + d * v22
        left3, left2, left1 = r3, r2, r1


@kernel
def quintic_derivatives(t, y, first, last, rate, second):
    """First and second derivative at the knots of the natural quintic spline: rate, second (F, c)."""
    n = t.shape[0]
    inverse = np.empty((n, 3))
    quintic_system(t, inverse)
    for i in range(n):
        right = 1.0 / (t[i + 1] - t[i]) if i + 1 < n else 0.0
        left = 1.0 / (t[i] - t[i - 1]) if i > 0 else 0.0
        for k in range(first, last):
            after = (y[i + 1, k] - y[i, k]) * right * right * right if i + 1 < n else 0.0
            before = (y[i, k] - y[i - 1, k]) * left * left * left if i > 0 else 0.0
            b1 = 360.0 * (before * left + after * right)
            b2 = 60.0 * (after - before)
            if i > 0:  # minus Uᵀ D⁻¹ b of the knot before, which is stored in its place
                x1, x2 = rate[i - 1, k], second[i - 1, k]
                b1 -= left * left * (168.0 * left * x1 + 24.0 * x2)
                b2 -= left * (-24.0 * left * x1 - 3.0 * x2)
            rate[i, k] = inverse[i, 0] * b1 + inverse[i, 1] * b2
            second[i, k] = inverse[i, 1] * b1 + inverse[i, 2] * b2
    for i in range(n - 2, -1, -1):
        r = 1.0 / (t[i + 1] - t[i])
        for k in range(first, last):
            x1, x2 = rate[i + 1, k], second[i + 1, k]
            c1 = r * r * (168.0 * r * x1 - 24.0 * x2)
            c2 = r * (24.0 * r * x1 - 3.0 * x2)
            rate[i, k] -= inverse[i, 0] * c1 + inverse[i, 1] * c2
            second[i, k] -= inverse[i, 1] * c1 + inverse[i, 2] * c2


@kernel
def quintic_values(t, y, rate, second, at, first, last, out):
    """The quintic spline at increasing times `at` (k,) inside the knots: out (k, c)."""
    i = 0
    for j in range(at.shape[0]):
        while i + 2 < t.shape[0] and t[i + 1] <= at[j]:
            i += 1
        h = t[i + 1] - t[i]
        s = (at[j] - t[i]) / h
        for k in range(first, last):
            rise = y[i + 1, k] - y[i, k]
            a, b = h * rate[i, k], h * rate[i + 1, k]
            A, B = h * h * second[i, k], h * h * second[i + 1, k]
            c3 = 10.0 * rise - 6.0 * a - 4.0 * b - 1.5 * A + 0.5 * B
            c4 = -15.0 * rise + 8.0 * a + 7.0 * b + 1.5 * A - B
            c5 = 6.0 * rise - 3.0 * (a + b) + 0.5 * (B - A)
            out[j, k] = y[i, k] + s * (a + s * (0.5 * A + s * (c3 + s * (c4 + s * c5))))


@kernel
def cubic_slopes(t, y, first, last, slope):
    """Slopes (F, c) at the knots of the natural cubic spline."""
    n = t.shape[0]
    pivot = np.empty(n)
    left = 0.0
    for i in range(n):
        right = 1.0 / (t[i + 1] - t[i]) if i + 1 < n else 0.0
        pivot[i] = 1.0 / (2.0 * (left + right) - (left * left * pivot[i - 1] if i > 0 else 0.0))
        for k in range(first, last):
            b = 0.0
            if i + 1 < n:
                b += 3.0 * (y[i + 1, k] - y[i, k]) * right * right
            if i > 0:
                b += 3.0 * (y[i, k] - y[i - 1, k]) * left * left - left * slope[i - 1, k]
            slope[i, k] = b * pivot[i]
        left = right
    for i in range(n - 2, -1, -1):
        right = pivot[i] / (t[i + 1] - t[i])
        for k in range(first, last):
            slope[i, k] -= right * slope[i + 1, k]


@kernel
def cubic_values(t, y, slope, at, first, last, out):
    """The cubic spline at increasing times `at` (k,), straight beyond its ends: out (k, c)."""
    i, end = 0, t.shape[0] - 1
    for j in range(at.shape[0]):
        while i + 1 < end and t[i + 1] <= at[j]:
            i += 1
        h = t[i + 1] - t[i]
        s = (at[j] - t[i]) / h
        for k in range(first, last):
            if at[j] < t[0]:
                out[j, k] = y[0, k] + slope[0, k] * (at[j] - t[0])
            elif at[j] > t[end]:
                out[j, k] = y[end, k] + slope[end, k] * (at[j] - t[end])
            else:
                rise, a, b = y[i + 1, k] - y[i, k], h * slope[i, k], h * slope[i + 1, k]
                out[j, k] = y[i, k] + s * (a + s * (3.0 * rise - 2.0 * a - b + s * (a + b - 2.0 * rise)))


@kernel
def butterworth_both_ways(b0, a1, a2, a3, y, first, last):
    """Third-order Butterworth filter b0 (1, 3, 3, 1) / (1, a1, a2, a3), forwards then backwards, in place on y (F, c).

    In each pass the first three values stay as they are: OpenSim's start.
    """
    n = y.shape[0]
    for k in range(first, last):
        for step in (1, -1):
            i = 0 if step > 0 else n - 1
            x3, x2, x1 = y[i, k], y[i + step, k], y[i + 2 * step, k]
            y3, y2, y1 = x3, x2, x1
            i += 3 * step
            for _ in range(n - 3):
                x0 = y[i, k]
                y0 = b0 * (x0 + 3.0 * x1 + 3.0 * x2 + x3) - a1 * y1 - a2 * y2 - a3 * y3
                y[i, k] = y0
                x3, x2, x1 = x2, x1, x0
                y3, y2, y1 = y2, y1, y0
                i += step
