"""One wrap object tried on one straight segment, whatever its kind: does it act, and along which shortest path.

    nodes, wraps --> [one segment, one wrap] --> geodesic record --> shortest_path
                              ^ here
Everything is in the frame of the wrap object. The rules that decide whether it acts and which way round are OpenSim's
(one function per kind, `*_rule`); the path is the true geodesic.
"""

from osim_inertia.kernels.geodesic_common import (
    CYLINDER,
    ELLIPSOID,
    G_B1,
    G_KIND,
    G_P,
    G_Q1,
    G_S,
    G_SENSE,
    G_SIZE,
    G_THETA,
    NO_WRAP,
    SPHERE,
    WRAPPED,
    get3,
    put3,
)
from osim_inertia.kernels.geodesic_cylinder import HALF_TURN, beyond_ends, cylinder_geodesic, cylinder_rule
from osim_inertia.kernels.geodesic_ellipsoid import ellipsoid_geodesic, ellipsoid_rule
from osim_inertia.kernels.geodesic_sphere import sphere_geodesic, sphere_rule
from osim_inertia.kernels.geodesic_surface import height, surface_geodesic, touch
from osim_inertia.kernels.geodesic_torus import torus_geodesic, torus_rule
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import dot3, load


@lean
def wrap_segment(kind, params, axis, sign, p, s, geo, arc):
    """Code of the segment p-s (tuples); for WRAPPED and MANDATORY its path in geo (GEO,). A failed search counts as
    NO_WRAP.

    params (3,): cylinder radius, length | sphere radius | ellipsoid half axes | torus tube radius, ring radius
    axis -1 = any side, else 0, 1, 2 with sign +1 or -1 | arc (ARC_RECORD,) working memory
    """
    size = load(params)
    if kind == CYLINDER:
        code, sense = cylinder_rule(p, s, size[0], axis, sign)
        if code >= WRAPPED:
            cylinder_geodesic(p, s, size[0], sense, HALF_TURN, geo)
            if beyond_ends(geo, size[1]):
                return NO_WRAP
    elif kind == SPHERE:
        code, sense = sphere_rule(p, s, size[0], axis, sign)
        if code >= WRAPPED:
            sphere_geodesic(p, s, size[0], sense, HALF_TURN, geo)
    elif kind == ELLIPSOID:
        code, guide = ellipsoid_rule(p, s, size, axis, sign)
        if code >= WRAPPED and not ellipsoid_geodesic(p, s, size, guide, geo, arc):
            return NO_WRAP
    else:
        code, sense, ring = torus_rule(p, s, size, axis, sign)
        if code >= WRAPPED and not torus_geodesic(p, s, size, sense, ring, geo, arc):
            return NO_WRAP
    return code


@lean
def follow(geo, p, s, arc):
    """Re-solve the path in geo for moved ends, keeping its way round: whether there is one.

    When the ends have moved so that the surface is no longer touched, the arc of a cylinder or sphere turns negative.
    """
    kind, size = geo[G_KIND], get3(geo, G_SIZE)
    if kind == CYLINDER:
        if min(p[0] * p[0] + p[1] * p[1], s[0] * s[0] + s[1] * s[1]) < size[0] * size[0]:
            return False
        cylinder_geodesic(p, s, size[0], geo[G_SENSE], geo[G_THETA], geo)
        return True
    if kind == SPHERE:
        if min(dot3(p, p), dot3(s, s)) < size[0] * size[0]:
            return False
        sphere_geodesic(p, s, size[0], geo[G_SENSE], geo[G_THETA], geo)
        return True
    if height(kind, size, p) < 0.0 or height(kind, size, s) < 0.0:
        return False
    put3(geo, G_P, p)
    put3(geo, G_S, s)
    found, q = touch(kind, size, p, get3(geo, G_B1), get3(geo, G_Q1))
    put3(geo, G_Q1, q)
    return found and surface_geodesic(geo, arc)
