"""Shortest path over the inner side of a torus (ring in z = 0), in its frame: start of the shooting, and when it acts.

    path segment --> [start] --> geodesic_surface --> geodesic record --> geodesic_points, shortest_path
                        ^ here
OpenSim replaces the torus by a straight cylinder of the tube's radius at the ring point C nearest to the segment (found
loosely), and lets it act on its inner half. Here C is the exact nearest ring point, at which the cylinder and the torus
are touched by the same segments; the same rule for the half decides whether and which way to wrap; the path itself is
the geodesic of the torus, the cylinder's path being its start. A path so oblique that it would lift off the saddle in
the middle of its contact keeps to the surface. Where the shooting finds no path the torus is left alone.
"""

from math import sqrt

import numpy as np

from osim_inertia.kernels.geodesic_common import (
    G_ARC,
    G_B1,
    G_KIND,
    G_P,
    G_Q1,
    G_Q2,
    G_S,
    G_SIZE,
    INSIDE,
    NO_WRAP,
    TORUS,
    WRAPPED,
    get3,
    put3,
    sum3,
)
from osim_inertia.kernels.geodesic_cylinder import HALF_TURN, cylinder_geodesic, cylinder_rule
from osim_inertia.kernels.geodesic_surface import height, surface_geodesic, touch
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import along, component, dot3, on_side, sub

INWARD = np.int64(0)  # axis of the tube's frame that points to the centre of the ring
POSITIVE = np.int64(1)
SAMPLES = 24  # of the segment, to find the nearest stretch of the ring
REFINE = 60  # halvings of the stretch


@lean
def _slope(p, d, ring, t):
    """Half the derivative of the squared distance to the ring along p + t d."""
    x = along(p, t, d)
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    c = 1.0 - ring / max(rho, 1e-12)
    return c * (x[0] * d[0] + x[1] * d[1]) + x[2] * d[2]


@lean
def _ring_distance2(x, ring):
    """Squared distance to the ring."""
    rho = sqrt(x[0] * x[0] + x[1] * x[1]) - ring
    return rho * rho + x[2] * x[2]


@lean
def nearest_to_ring(p, s, ring, axis, sign):
    """(found, point): the point of the segment p-s nearest to the ring, on the active side if there is one."""
    d = sub(s, p)
    best, nearest, found = 1e300, p, False
    for i in range(SAMPLES):
        low, high = i / SAMPLES, (i + 1.0) / SAMPLES
        if _slope(p, d, ring, low) > 0.0:
            if i > 0:
                continue
            high = low
        elif _slope(p, d, ring, high) < 0.0:
            if i < SAMPLES - 1:
                continue
            low = high
        for _ in range(REFINE):
            t = 0.5 * (low + high)
            if _slope(p, d, ring, t) > 0.0:
                high = t
            else:
                low = t
        x = along(p, 0.5 * (low + high), d)
        if axis >= 0 and not on_side(component(x, axis), sign):
            continue
        far = _ring_distance2(x, ring)
        if far < best:
            best, nearest, found = far, x, True
    return found, nearest


@lean
def _to_tube(x, c, ring):
    """Torus coordinates to those of the cylinder at the ring direction c: x inward, y = -z, z against the ring's
    turning.
    """
    return ring - (c[0] * x[0] + c[1] * x[1]), -x[2], c[1] * x[0] - c[0] * x[1]


@lean
def _from_tube(x, c, ring):
    """Cylinder coordinates back to those of the torus."""
    out = ring - x[0]
    return c[0] * out + c[1] * x[2], c[1] * out - c[0] * x[2], -x[1]


@lean
def torus_rule(p, s, size, axis, sign):
    """(code, sense, ring direction) of the segment p-s; size = (tube radius, ring radius, 0)."""
    none = (1.0, 0.0, 0.0)
    if height(TORUS, size, p) < 0.0 or height(TORUS, size, s) < 0.0:
        return INSIDE, 1.0, none
    found, x = nearest_to_ring(p, s, size[1], axis, sign)
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    if not found or rho == 0.0:
        return NO_WRAP, 1.0, none
    c = (x[0] / rho, x[1] / rho, 0.0)
    code, sense = cylinder_rule(_to_tube(p, c, size[1]), _to_tube(s, c, size[1]), size[0], INWARD, POSITIVE)
    return (WRAPPED if code >= WRAPPED else NO_WRAP), sense, c


@lean
def torus_geodesic(p, s, size, sense, c, geo, arc):
    """Path from p to s over the inner side near the ring direction c, into geo (GEO,): whether the shooting
    converged.
    """
    cylinder_geodesic(_to_tube(p, c, size[1]), _to_tube(s, c, size[1]), size[0], sense, HALF_TURN, geo)
    q1, q2 = get3(geo, G_Q1), get3(geo, G_Q2)
    b1 = get3(geo, G_B1)
    across = sub(_from_tube(b1, c, 0.0), _from_tube((0.0, 0.0, 0.0), c, 0.0))
    geo[G_KIND] = TORUS
    put3(geo, G_SIZE, size)
    put3(geo, G_P, p)
    put3(geo, G_S, s)
    shift = 0.5 * (q1[2] + q2[2])  # the straight tube leaves the ring away from C: start in C's cross-section
    start = _onto_tube(_from_tube((q1[0], q1[1], q1[2] - shift), c, size[1]), size)
    found, q = touch(TORUS, size, p, across, start)
    put3(geo, G_Q1, q)
    geo[G_ARC] = max(geo[G_ARC], 0.0)
    return found and surface_geodesic(geo, arc)


@lean
def _onto_tube(x, size):
    """Nearest point of the torus."""
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    ring = (x[0] / rho * size[1], x[1] / rho * size[1], 0.0)
    d = sub(x, ring)
    return sum3(1.0, ring, size[0] / sqrt(dot3(d, d)), d, 0.0, d)
