"""Material points of one wrapped interval, whatever its surface: positions, rates, pulled-back forces.

    geodesic record + motion of the ends --> [points at labels eta] --> muscle inertia
                                                   ^ here
Everything is in the frame of the surface. The record says what the surface is.
"""

from osim_inertia.kernels.geodesic_common import (
    ARC,
    CYLINDER,
    G_A,
    G_KIND,
    G_LENGTH,
    SPHERE,
    X_DDOT,
    arc_point_first,
    arc_transpose,
    get3,
    line_point,
    line_transpose,
    put3,
    region_of,
)
from osim_inertia.kernels.geodesic_cylinder import cylinder_arc, cylinder_arc_second, cylinder_motion
from osim_inertia.kernels.geodesic_sphere import sphere_arc, sphere_arc_second, sphere_motion
from osim_inertia.kernels.geodesic_surface import surface_arc, surface_arc_second, surface_motion
from osim_inertia.kernels.vec3 import kernel, load


@kernel
def arc_state(geo, way, arc):
    """Position, frame and Jacobi solutions at arc length `way` after the first contact, into arc (ARC_STATE,)."""
    if geo[G_KIND] == CYLINDER:
        cylinder_arc(geo, way, arc)
    elif geo[G_KIND] == SPHERE:
        sphere_arc(geo, way, arc)
    else:
        surface_arc(geo, way, arc)


@kernel
def interval_motion(geo, pdot, pddot, sdot, sddot, mot):
    """Rates of length and end directions for a motion of the ends (arrays (3,)), into mot (MOT,)."""
    pd, pdd, sd, sdd = load(pdot), load(pddot), load(sdot), load(sddot)
    if geo[G_KIND] == CYLINDER:
        cylinder_motion(geo, pd, pdd, sd, sdd, mot)
    elif geo[G_KIND] == SPHERE:
        sphere_motion(geo, pd, pdd, sd, sdd, mot)
    else:
        surface_motion(geo, pd, pdd, sd, sdd, mot)


@kernel
def interval_points(geo, mot, etas, arc, out):
    """Material points at the labels etas (n,), into out (n, POINT, 3); arc (ARC_RECORD,) is working memory.

    Rows of a point: chi, chi', chi'', rate, rate of chi', second rate (prime = d/d eta, rates at fixed eta).
    """
    for i in range(etas.shape[0]):
        eta = etas[i]
        region = region_of(geo, eta)
        if region != ARC:
            line_point(geo, mot, region, eta, out[i])
            continue
        arc_state(geo, eta * geo[G_LENGTH] - geo[G_A], arc)
        arc_point_first(geo, mot, arc, eta, out[i])
        if geo[G_KIND] == CYLINDER:
            second = cylinder_arc_second(geo, mot, arc, eta)
        elif geo[G_KIND] == SPHERE:
            second = sphere_arc_second(geo, mot, arc, eta)
        else:
            second = surface_arc_second(geo, mot, arc, eta)
        put3(out[i, X_DDOT], 0, second)


@kernel
def interval_transpose(geo, etas, forces, arc, g_p, g_s):
    """Add to g_p, g_s (3,) the forces (n, 3) on the material points etas (n,), pulled back to the ends."""
    for i in range(etas.shape[0]):
        f = get3(forces[i], 0)
        region = region_of(geo, etas[i])
        if region != ARC:
            on_p, on_s = line_transpose(geo, region, etas[i], f)
        else:
            arc_state(geo, etas[i] * geo[G_LENGTH] - geo[G_A], arc)
            on_p, on_s = arc_transpose(geo, arc, etas[i], f)
        for k in range(3):
            g_p[k] += on_p[k]
            g_s[k] += on_s[k]
