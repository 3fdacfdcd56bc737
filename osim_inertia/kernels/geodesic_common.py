"""What all shortest paths over one wrap surface have in common: line - arc - line, its derivatives, its transpose.

    node p, node s, surface --> [geodesic record] --> material points, rates, pulled-back forces --> muscle inertia
                                      ^ here
A geodesic record `geo` (GEO,) holds, in the frame of the surface, one path from p to s: a straight piece of length a in
direction e1, an arc of length l on the surface, a straight piece of length b in direction e2. N is the outward normal,
B = e x N, at the two contact points Q1 and Q2. A point has the label eta, its fraction of the whole length.

First derivatives need nothing about the surface but its Gaussian curvature K along the arc. When the ends move, the
path moves sideways (along B) by j with j'' + K j = 0, K = 0 on the straight pieces, j = B1.dp at p and B2.ds at s;
points on the surface stay on it; straight pieces turn about their contact points; and the length changes by
e2.ds - e1.dp. With y1, y2 the solutions of j'' + K j = 0 that start at Q1 with (1, 0) and (0, 1), and phi = a y1 + y2
the one that leaves p, all at the end of the arc where no place is said:

    j = c_p B1.dp + c_s B2.ds     c_s = phi/D     c_p = y1 - c_s E     D = phi + b phi'     E = y1 + b y1'
    Hessian of the length:  pp  N1 N1'/a + B1 B1' E/D    ss  N2 N2'/b + B2 B2' phi'/D    ps  -B1 B2'/D
"""

import numpy as np

from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.vec3 import add, along, cross, dot3, scaled, store

# codes of a wrap tried on one segment
NO_WRAP = 0  # the segment passes
INSIDE = 1  # an end is inside the surface
WRAPPED = 2  # the segment may go round the object
MANDATORY = 3  # the straight segment cuts the object

# kinds of surface, as they stand in a record of floats
CYLINDER = 0.0
SPHERE = 1.0
ELLIPSOID = 2.0
TORUS = 3.0

# regions of a path
LINE1 = 0
ARC = 1
LINE2 = 2

# Places in records. They are NumPy integers because Numba compiles a function anew for every plain constant it is
# called with.
# geodesic record: lengths, the Jacobi constants, then vectors
G_LENGTH = np.int64(0)
G_A = np.int64(1)
G_ARC = np.int64(2)
G_B = np.int64(3)
G_D = np.int64(4)
G_E = np.int64(5)  # (y1 + b y1')(l)
G_PHI = np.int64(6)  # phi'(l)
G_THETA = np.int64(7)  # angle of the arc, cylinder and sphere
G_PLANAR = np.int64(8)  # length of the path in the cross-section, cylinder and sphere
G_KIND = np.int64(9)
G_SENSE = np.int64(10)  # cylinder: turning about +z or -z; sphere: shorter or longer way
G_SIZE = np.int64(11)  # radius | three half axes | tube radius, ring radius, 0
G_P = np.int64(14)
G_S = np.int64(17)
G_E1 = np.int64(20)
G_N1 = np.int64(23)
G_B1 = np.int64(26)
G_E2 = np.int64(29)
G_N2 = np.int64(32)
G_B2 = np.int64(35)
G_Q1 = np.int64(38)
G_Q2 = np.int64(41)
GEO = 44

# state of one point of an arc
A_X = np.int64(0)
A_T = np.int64(3)
A_N = np.int64(6)
A_B = np.int64(9)
A_Y1 = np.int64(12)
A_Y1P = np.int64(13)
A_Y2 = np.int64(14)
A_Y2P = np.int64(15)
A_KAPPA = np.int64(16)  # N' = kappa t + tau B along the arc, so t' = -kappa N and B' = -tau N
A_TAU = np.int64(17)
ARC_STATE = 18
ARC_RECORD = ARC_STATE + 100  # with the working memory of the surfaces that integrate

# motion record: how the ends and the two straight pieces move
M_RATE = np.int64(0)  # of the length
M_ACCEL = np.int64(1)
M_PDOT = np.int64(2)
M_PDDOT = np.int64(5)
M_SDOT = np.int64(8)
M_SDDOT = np.int64(11)
M_E1DOT = np.int64(14)
M_E1DDOT = np.int64(17)
M_E2DOT = np.int64(20)
M_E2DDOT = np.int64(23)
M_OWN = np.int64(26)  # from here on: what the kind of surface needs for the second rates on its arc
MOT = 26 + 2 + 4 * GEO + ARC_RECORD

# rows of one material point, (POINT, 3)
X = 0  # chi
X_ETA = 1  # chi'
X_ETA2 = 2  # chi''
X_DOT = 3  # rate at fixed eta
X_ETA_DOT = 4  # rate of chi'
X_DDOT = 5  # second rate at fixed eta
POINT = 6


@lean
def get3(record, i):
    """The vector stored at i."""
    return record[i], record[i + 1], record[i + 2]


@lean
def put3(record, i, v):
    """Store the vector v at i."""
    record[i] = v[0]
    record[i + 1] = v[1]
    record[i + 2] = v[2]


@lean
def sum3(a, u, b, v, c, w):
    """a u + b v + c w."""
    return (
        a * u[0] + b * v[0] + c * w[0],
        a * u[1] + b * v[1] + c * w[1],
        a * u[2] + b * v[2] + c * w[2],
    )


@lean
def set_ends(geo, e1, n1, e2, n2):
    """Store directions and normals at both contacts, with their binormals."""
    put3(geo, G_E1, e1)
    put3(geo, G_N1, n1)
    put3(geo, G_B1, cross(e1, n1))
    put3(geo, G_E2, e2)
    put3(geo, G_N2, n2)
    put3(geo, G_B2, cross(e2, n2))


@lean
def set_jacobi(geo, y1, y1p, y2, y2p):
    """Store D, E and phi' from the two Jacobi solutions at the end of the arc."""
    a, b = geo[G_A], geo[G_B]
    phi, phip = a * y1 + y2, a * y1p + y2p
    D = phi + b * phip
    if abs(D) < 1e-13 * geo[G_LENGTH]:  # the ends are conjugate: infinitely many geodesics, take any derivative
        D = 1e-13 * geo[G_LENGTH]
    geo[G_D] = D
    geo[G_E] = y1 + b * y1p
    geo[G_PHI] = phip


@lean
def region_of(geo, eta):
    """Which piece the label eta lies on."""
    way = eta * geo[G_LENGTH]
    if way < geo[G_A]:
        return LINE1
    if way <= geo[G_A] + geo[G_ARC]:
        return ARC
    return LINE2


@lean
def length_gradient(geo):
    """(dl/dp, dl/ds): minus the first direction, plus the last."""
    return scaled(-1.0, get3(geo, G_E1)), get3(geo, G_E2)


@lean
def length_rate(geo, pdot, sdot):
    """Rate of the length."""
    return dot3(get3(geo, G_E2), sdot) - dot3(get3(geo, G_E1), pdot)


@lean
def direction_rates(geo, pdot, sdot):
    """Rates of e1 and e2 when the ends move: (-H_pp pdot - H_ps sdot, H_sp pdot + H_ss sdot)."""
    n1, b1, n2, b2 = get3(geo, G_N1), get3(geo, G_B1), get3(geo, G_N2), get3(geo, G_B2)
    jp, js = dot3(b1, pdot), dot3(b2, sdot)
    d1 = along(scaled(-dot3(n1, pdot) / max(geo[G_A], 1e-14), n1), (js - geo[G_E] * jp) / geo[G_D], b1)
    d2 = along(scaled(dot3(n2, sdot) / max(geo[G_B], 1e-14), n2), (geo[G_PHI] * js - jp) / geo[G_D], b2)
    return d1, d2


@lean
def sideways_weights(geo, arc):
    """(c_p, c_s, c_p', c_s') at a point of the arc."""
    c_s = (geo[G_A] * arc[A_Y1] + arc[A_Y2]) / geo[G_D]
    c_sp = (geo[G_A] * arc[A_Y1P] + arc[A_Y2P]) / geo[G_D]
    return arc[A_Y1] - c_s * geo[G_E], c_s, arc[A_Y1P] - c_sp * geo[G_E], c_sp


@lean
def start_motion(geo, pdot, pddot, sdot, sddot, mot):
    """Store the motion of the ends and all first rates; l'' and the second rates of e1, e2 are left to the surface."""
    put3(mot, M_PDOT, pdot)
    put3(mot, M_PDDOT, pddot)
    put3(mot, M_SDOT, sdot)
    put3(mot, M_SDDOT, sddot)
    mot[M_RATE] = length_rate(geo, pdot, sdot)
    d1, d2 = direction_rates(geo, pdot, sdot)
    put3(mot, M_E1DOT, d1)
    put3(mot, M_E2DOT, d2)
    mot[M_ACCEL] = length_rate(geo, pddot, sddot) + dot3(d2, sdot) - dot3(d1, pdot)


@lean
def line_point(geo, mot, region, eta, out):
    """Material point on a straight piece, out (POINT, 3): chi = p + eta l e1, or s - (1 - eta) l e2."""
    if region == LINE1:
        way, start, motion, e = eta, G_P, M_PDOT, get3(geo, G_E1)
        edot, eddot = get3(mot, M_E1DOT), get3(mot, M_E1DDOT)
    else:
        way, start, motion, e = eta - 1.0, G_S, M_SDOT, get3(geo, G_E2)
        edot, eddot = get3(mot, M_E2DOT), get3(mot, M_E2DDOT)
    length, rate, accel = geo[G_LENGTH], mot[M_RATE], mot[M_ACCEL]
    drift = sum3(rate, e, length, edot, 0.0, e)
    store(out[X], along(get3(geo, start), way * length, e))
    store(out[X_ETA], scaled(length, e))
    store(out[X_ETA2], (0.0, 0.0, 0.0))
    store(out[X_DOT], along(get3(mot, motion), way, drift))
    store(out[X_ETA_DOT], drift)
    store(out[X_DDOT], along(get3(mot, motion + 3), way, sum3(accel, e, 2.0 * rate, edot, length, eddot)))


@lean
def arc_rate(geo, arc, eta, pdot, sdot):
    """(rate, rate of chi') of the arc's point at eta when the ends move."""
    slide = dot3(get3(geo, G_E1), pdot)
    rate = length_rate(geo, pdot, sdot)
    cp, cs, cpp, csp = sideways_weights(geo, arc)
    jp, js = dot3(get3(geo, G_B1), pdot), dot3(get3(geo, G_B2), sdot)
    along_t = slide + eta * rate
    j, jprime = cp * jp + cs * js, cpp * jp + csp * js
    t, n, b = get3(arc, A_T), get3(arc, A_N), get3(arc, A_B)
    turn = -(arc[A_KAPPA] * along_t + arc[A_TAU] * j)
    length = geo[G_LENGTH]
    return sum3(along_t, t, j, b, 0.0, t), sum3(rate, t, length * turn, n, length * jprime, b)


@lean
def arc_point_first(geo, mot, arc, eta, out):
    """All rows of an arc's material point but the last (the second rate), from its arc state."""
    length = geo[G_LENGTH]
    store(out[X], get3(arc, A_X))
    store(out[X_ETA], scaled(length, get3(arc, A_T)))
    store(out[X_ETA2], scaled(-length * length * arc[A_KAPPA], get3(arc, A_N)))
    v, w = arc_rate(geo, arc, eta, get3(mot, M_PDOT), get3(mot, M_SDOT))
    store(out[X_DOT], v)
    store(out[X_ETA_DOT], w)


@lean
def line_transpose(geo, region, eta, f):
    """((d chi/dp)' f, (d chi/ds)' f) on a straight piece."""
    e1, n1, b1 = get3(geo, G_E1), get3(geo, G_N1), get3(geo, G_B1)
    e2, n2, b2 = get3(geo, G_E2), get3(geo, G_N2), get3(geo, G_B2)
    length, D = geo[G_LENGTH], geo[G_D]
    if region == LINE1:
        way = eta * length
        t, side = dot3(e1, f), dot3(b1, f)
        g = sum3(-eta * t, e1, -way / max(geo[G_A], 1e-14) * dot3(n1, f), n1, -way * geo[G_E] / D * side, b1)
        return add(f, g), sum3(eta * t, e2, way / D * side, b2, 0.0, e2)
    rest = 1.0 - eta
    way = rest * length
    t, side = dot3(e2, f), dot3(b2, f)
    g = sum3(-rest * t, e2, -way / max(geo[G_B], 1e-14) * dot3(n2, f), n2, -way * geo[G_PHI] / D * side, b2)
    return sum3(rest * t, e1, way / D * side, b1, 0.0, e1), add(f, g)


@lean
def arc_transpose(geo, arc, eta, f):
    """((d chi/dp)' f, (d chi/ds)' f) on the arc."""
    cp, cs, _, _ = sideways_weights(geo, arc)
    t, side = dot3(get3(arc, A_T), f), dot3(get3(arc, A_B), f)
    e1, e2 = get3(geo, G_E1), get3(geo, G_E2)
    g_p = sum3((1.0 - eta) * t, e1, cp * side, get3(geo, G_B1), 0.0, e1)
    return g_p, sum3(eta * t, e2, cs * side, get3(geo, G_B2), 0.0, e2)
