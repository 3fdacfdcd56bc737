"""Three-vectors as plain tuples of floats, for kernels that would otherwise allocate small arrays.

A tuple lives in registers: nothing is allocated, and the compiler sees through every call.
"""

from math import sqrt

from osim_inertia.kernels.jit import lean

EPS = 2.220446049250313e-16  # a vector shorter than this has no direction: OpenSim sets it to zero


@lean
def load(a):
    """Array (3,) -> tuple."""
    return a[0], a[1], a[2]


@lean
def store(a, v):
    """Tuple -> array (3,), in place."""
    a[0] = v[0]
    a[1] = v[1]
    a[2] = v[2]


@lean
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@lean
def sub(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@lean
def along(p, s, v):
    """p + s v."""
    return p[0] + s * v[0], p[1] + s * v[1], p[2] + s * v[2]


@lean
def scaled(s, v):
    """s v."""
    return s * v[0], s * v[1], s * v[2]


@lean
def dot3(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@lean
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@lean
def norm(v):
    """|v|."""
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@lean
def distance(a, b):
    """|a - b|."""
    return norm(sub(a, b))


@lean
def unit_or_zero(v):
    """v/|v|; zero when v is shorter than EPS or NaN."""
    length = norm(v)
    if length >= EPS:
        return scaled(1.0 / length, v)
    return 0.0, 0.0, 0.0


@lean
def largest(v):
    """Index of the component of largest size; the first of equals."""
    if abs(v[1]) > abs(v[0]):
        return 2 if abs(v[2]) > abs(v[1]) else 1
    return 2 if abs(v[2]) > abs(v[0]) else 0


@lean
def component(v, k):
    """v[k] for k known only at run time."""
    if k == 0:
        return v[0]
    if k == 1:
        return v[1]
    return v[2]


@lean
def with_component(v, k, value):
    """Copy of v with v[k] = value."""
    if k == 0:
        return value, v[1], v[2]
    if k == 1:
        return v[0], value, v[2]
    return v[0], v[1], value


@lean
def on_side(value, sign):
    """Whether a coordinate lies on the side `sign` (+1 or -1) of zero; zero counts as positive, NaN as negative."""
    return (value >= 0.0) == (sign > 0)


@lean
def to_frame(R, p, x):
    """Point x (tuple, ground) in the frame with rotation R (3, 3) and origin p (3,)."""
    d = sub(x, load(p))
    return (
        R[0, 0] * d[0] + R[1, 0] * d[1] + R[2, 0] * d[2],
        R[0, 1] * d[0] + R[1, 1] * d[1] + R[2, 1] * d[2],
        R[0, 2] * d[0] + R[1, 2] * d[1] + R[2, 2] * d[2],
    )


@lean
def from_frame(R, p, x):
    """Point x (tuple) of the frame with rotation R (3, 3) and origin p (3,), in ground."""
    return (
        p[0] + R[0, 0] * x[0] + R[0, 1] * x[1] + R[0, 2] * x[2],
        p[1] + R[1, 0] * x[0] + R[1, 1] * x[1] + R[1, 2] * x[2],
        p[2] + R[2, 0] * x[0] + R[2, 1] * x[1] + R[2, 2] * x[2],
    )
