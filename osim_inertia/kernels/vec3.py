"""Three-vectors as plain tuples of floats, for kernels that would otherwise allocate small arrays.

A tuple lives in registers: nothing is allocated, and the compiler sees through every call. `kernel` is the decorator of
all wrapping kernels: NumPy's rules for division (1/0 is infinite, 0/0 is NaN), because OpenSim's construction runs on
NaN in its degenerate cases and the result depends on it. No C entry point is built: nobody calls these from C, and it
would cost a tenth of the compile time.
"""

from math import sqrt
from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
kernel = njit(**_OPTIONS, _nrt=True)

# For functions that read and write arrays they are given but make none: without Numba's runtime, which counts a
# reference up and down whenever an array is taken from a structure. That costs more than most of the arithmetic here.
lean = njit(**_OPTIONS, _nrt=False)

# The same for functions that take whole structures of arrays and are called in an inner loop: a call would copy them.
inlined = njit(**_OPTIONS, _nrt=False, forceinline=True)

EPS = 2.220446049250313e-16  # a vector shorter than this has no direction: OpenSim sets it to zero


@kernel
def load(a):
    """Array (3,) -> tuple."""
    return a[0], a[1], a[2]


@kernel
def store(a, v):
    """Tuple -> array (3,), in place."""
    a[0] = v[0]
    a[1] = v[1]
    a[2] = v[2]


@kernel
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def along(p, s, v):
    """p + s v."""
    return p[0] + s * v[0], p[1] + s * v[1], p[2] + s * v[2]


@kernel
def scaled(s, v):
    """s v."""
    return s * v[0], s * v[1], s * v[2]


@kernel
def dot3(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def norm(v):
    """|v|."""
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@kernel
def distance(a, b):
    """|a - b|."""
    return norm(sub(a, b))


@kernel
def unit_or_zero(v):
    """v/|v|; zero when v is shorter than EPS or NaN."""
    length = norm(v)
    if length >= EPS:
        return scaled(1.0 / length, v)
    return 0.0, 0.0, 0.0


@kernel
def largest(v):
    """Index of the component of largest size; the first of equals."""
    if abs(v[1]) > abs(v[0]):
        return 2 if abs(v[2]) > abs(v[1]) else 1
    return 2 if abs(v[2]) > abs(v[0]) else 0


@kernel
def component(v, k):
    """v[k] for k known only at run time."""
    if k == 0:
        return v[0]
    if k == 1:
        return v[1]
    return v[2]


@kernel
def with_component(v, k, value):
    """Copy of v with v[k] = value."""
    if k == 0:
        return value, v[1], v[2]
    if k == 1:
        return v[0], value, v[2]
    return v[0], v[1], value


@kernel
def on_side(value, sign):
    """Whether a coordinate lies on the side `sign` (+1 or -1) of zero; zero counts as positive, NaN as negative."""
    return (value >= 0.0) == (sign > 0)


@kernel
def to_frame(R, p, x):
    """Point x (tuple, ground) in the frame with rotation R (3, 3) and origin p (3,)."""
    d = sub(x, load(p))
    return (
        R[0, 0] * d[0] + R[1, 0] * d[1] + R[2, 0] * d[2],
        R[0, 1] * d[0] + R[1, 1] * d[1] + R[2, 1] * d[2],
        R[0, 2] * d[0] + R[1, 2] * d[1] + R[2, 2] * d[2],
    )


@kernel
def from_frame(R, p, x):
    """Point x (tuple) of the frame with rotation R (3, 3) and origin p (3,), in ground."""
    return (
        p[0] + R[0, 0] * x[0] + R[0, 1] * x[1] + R[0, 2] * x[2],
        p[1] + R[1, 0] * x[0] + R[1, 1] * x[1] + R[1, 2] * x[2],
        p[2] + R[2, 0] * x[0] + R[2, 1] * x[1] + R[2, 2] * x[2],
    )
