"""Material points of one wrapped interval, whatever its surface: positions, rates, pulled-back forces.

    geodesic record + motion of the ends --> [points at labels eta] --> muscle inertia
                                                   ^ here
Everything is in the frame of the surface. The record says what the surface is.
"""

from osim_inertia.kernels.geodesic_common import (
    A_T,
    A_X,
    ARC,
    CYLINDER,
    G_A,
    G_E1,
    G_E2,
    G_KIND,
    G_LENGTH,
    G_P,
    G_S,
    LINE1,
    SPHERE,
    X_DDOT,
    arc_point_first,
    arc_transpose,
    get3,
    line_point,
    line_transpose,
    region_of,
)
from osim_inertia.kernels.geodesic_cylinder import cylinder_arc, cylinder_arc_second, cylinder_motion
from osim_inertia.kernels.geodesic_sphere import sphere_arc, sphere_arc_second, sphere_motion
from osim_inertia.kernels.geodesic_surface import surface_arc, surface_arc_second, surface_motion
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import add, along, load, store


@lean
def arc_state(geo, way, arc):
    """Position, frame and Jacobi solutions at arc length `way` after the first contact, into arc (ARC_STATE,)."""
    if geo[G_KIND] == CYLINDER:
        cylinder_arc(geo, way, arc)
    elif geo[G_KIND] == SPHERE:
        sphere_arc(geo, way, arc)
    else:
        surface_arc(geo, way, arc)


@lean
def interval_motion(geo, pdot, pddot, sdot, sddot, mot):
    """Rates of length and end directions for a motion of the ends (tuples), into mot (MOT,)."""
    if geo[G_KIND] == CYLINDER:
        cylinder_motion(geo, pdot, pddot, sdot, sddot, mot)
    elif geo[G_KIND] == SPHERE:
        sphere_motion(geo, pdot, pddot, sdot, sddot, mot)
    else:
        surface_motion(geo, pdot, pddot, sdot, sddot, mot)


@lean
def material_point(geo, mot, eta, arc, out):
    """Material point at the label eta, into out (POINT, 3); arc (ARC_RECORD,) is working memory.

    Rows: chi, chi', chi'', rate, rate of chi', second rate (prime = d/d eta, rates at fixed eta).
    """
    region = region_of(geo, eta)
    if region != ARC:
        line_point(geo, mot, region, eta, out)
        return
    arc_state(geo, eta * geo[G_LENGTH] - geo[G_A], arc)
    arc_point_first(geo, mot, arc, eta, out)
    if geo[G_KIND] == CYLINDER:
        second = cylinder_arc_second(geo, mot, arc, eta)
    elif geo[G_KIND] == SPHERE:
        second = sphere_arc_second(geo, mot, arc, eta)
    else:
        second = surface_arc_second(geo, mot, arc, eta)
    store(out[X_DDOT], second)


@lean
def interval_points(geo, mot, etas, arc, out):
    """Material points at the labels etas (n,), into out (n, POINT, 3)."""
    for i in range(etas.shape[0]):
        material_point(geo, mot, etas[i], arc, out[i])


@lean
def material_transpose(geo, eta, f, arc):
    """(g_p, g_s, position, direction): the force f (tuple) on the material point eta pulled back to the ends, and
    where it acts.
    """
    region = region_of(geo, eta)
    if region == ARC:
        arc_state(geo, eta * geo[G_LENGTH] - geo[G_A], arc)
        g_p, g_s = arc_transpose(geo, arc, eta, f)
        return g_p, g_s, get3(arc, A_X), get3(arc, A_T)
    g_p, g_s = line_transpose(geo, region, eta, f)
    if region == LINE1:
        e = get3(geo, G_E1)
        return g_p, g_s, along(get3(geo, G_P), eta * geo[G_LENGTH], e), e
    e = get3(geo, G_E2)
    return g_p, g_s, along(get3(geo, G_S), (eta - 1.0) * geo[G_LENGTH], e), e


@lean
def interval_transpose(geo, etas, forces, arc, g_p, g_s):
    """Add to g_p, g_s (3,) the forces (n, 3) on the material points etas (n,), pulled back to the ends."""
    for i in range(etas.shape[0]):
        on_p, on_s, _, _ = material_transpose(geo, etas[i], load(forces[i]), arc)
        store(g_p, add(load(g_p), on_p))
        store(g_s, add(load(g_s), on_s))
