"""Exact paths over one cylinder or sphere for many samples at once: what networks are trained on."""

from osim_inertia.kernels.geodesic_common import (
    A_X,
    G_A,
    G_ARC,
    G_E1,
    G_E2,
    G_LENGTH,
    INSIDE,
    WRAPPED,
    get3,
)
from osim_inertia.kernels.geodesic_cylinder import HALF_TURN, cylinder_arc, cylinder_geodesic, cylinder_rule
from osim_inertia.kernels.geodesic_sphere import sphere_arc, sphere_geodesic, sphere_rule
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import along, load, store, sub


@lean
def _wrap(sphere, p, s, radius, geo):
    """Code of the segment; its path in geo."""
    if sphere:
        code, sense = sphere_rule(p, s, radius, -1, 1)
        if code >= WRAPPED:
            sphere_geodesic(p, s, radius, sense, HALF_TURN, geo)
        return code
    code, sense = cylinder_rule(p, s, radius, -1, 1)
    if code >= WRAPPED:
        cylinder_geodesic(p, s, radius, sense, HALF_TURN, geo)
    return code


@lean
def exact_points(sphere, p, s, radius, label, geo, arc, x, share):
    """Points x (N, 3) at the labels (N,) of the paths from p to s (N, 3), and the wrapped share (N,) of their length.

    A share of -1 marks an end inside the surface. geo (GEO,) and arc (ARC_RECORD,) are room.
    """
    for i in range(p.shape[0]):
        first, last, eta = load(p[i]), load(s[i]), label[i]
        code = _wrap(sphere, first, last, radius[i], geo)
        share[i] = -1.0 if code == INSIDE else 0.0
        if code < WRAPPED:
            store(x[i], along(first, eta, sub(last, first)))
            continue
        share[i] = geo[G_ARC] / geo[G_LENGTH]
        way = eta * geo[G_LENGTH]
        if way < geo[G_A]:
            store(x[i], along(first, way, get3(geo, G_E1)))
        elif way > geo[G_A] + geo[G_ARC]:
            store(x[i], along(last, way - geo[G_LENGTH], get3(geo, G_E2)))
        else:
            if sphere:
                sphere_arc(geo, way - geo[G_A], arc)
            else:
                cylinder_arc(geo, way - geo[G_A], arc)
            store(x[i], get3(arc, A_X))
