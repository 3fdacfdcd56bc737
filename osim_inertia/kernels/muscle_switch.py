"""Muscles at the switch of a conditional path point: two lines, before and after, and a smooth way between them.

A conditional point comes and goes at once. Matter would jump with it, so over a small window of its coordinate the
position of every label is a mixture of its positions on the two lines (METHOD.md §4, last paragraph):

    x = (1 − w) x_A + w x_B        w = S((q_c − q_switch + δ)/(2δ))                                   theory.md (11)
"""

from __future__ import annotations

import numpy as np

from osim_inertia.kernels.geodesic_common import G_A, G_ARC, G_LENGTH
from osim_inertia.kernels.jit import lean
from osim_inertia.kernels.muscle_inertia import GAUSS_4, NONE, WEIGHT_4, add_bends, move_matter, pull_back
from osim_inertia.kernels.muscle_line import (
    FIRST_WRAP,
    LAST_WRAP,
    LENGTH,
    START,
    WRAPPED,
    build_line,
    smooth_step,
)
from osim_inertia.kernels.paths import CONDITION_SLACK, CONDITIONAL
from osim_inertia.kernels.shortest_record import CHAIN
from osim_inertia.kernels.vec3 import add, along, dot3, load, scaled, store, sub

NONE_YET = np.int64(0)
NO_SWITCH = np.int64(-1)


@lean
def near_switch(P, i, q, window):
    """(coordinate, value at which points of path i switch) if one is within the window of a switch, else NO_SWITCH."""
    if window > 0.0:
        for k in range(P.first[i], P.first[i + 1]):
            if P.kind[k] == CONDITIONAL:
                c = P.coordinate[k]
                low, high = P.low[k] - CONDITION_SLACK, P.high[k] + CONDITION_SLACK
                if abs(q[c] - low) < window:
                    return c, low
                if abs(q[c] - high) < window:
                    return c, high
    return NO_SWITCH, 0.0


@lean
def switch_weight(value, switch, window):
    """Weight of the line after the switch and its two derivatives by the coordinate."""
    f, f1, f2 = smooth_step((value - switch + window) / (2.0 * window))
    return f, f1 / (2.0 * window), f2 / (4.0 * window * window)


@lean
def _put_label(line, n, path, muscle, M, m, xi):
    """Place point m of the matter at the label ξ of this line."""
    s = muscle[0] + xi * (muscle[1] + line.total[0])
    k = 0
    while k < n - 2 and s > line.rows[k + 1, START]:
        k += 1
    M.interval[m], M.xi[m] = k, xi
    M.eta[m] = min(max((s - line.rows[k, START]) / line.rows[k, LENGTH], 0.0), 1.0)
    move_matter(line, path, M, m, m + 1)


@lean
def _add_breaks(line, n, path, muscle, breaks, count):
    """Append the labels at which a line changes from one piece to the next; new count."""
    stretch = muscle[1] + line.total[0]
    for k in range(n - 1):
        at = line.rows[k, START]
        breaks[count] = (at - muscle[0]) / stretch
        count += 1
        scale = line.rows[k, LENGTH] / line.rows[k, WRAPPED]
        for c in range(line.ints[k, FIRST_WRAP], line.ints[k, LAST_WRAP]):
            record = path.rows[path.ints[CHAIN, c]]
            breaks[count] = (at + scale * record[G_A] - muscle[0]) / stretch
            breaks[count + 1] = (at + scale * (record[G_A] + record[G_ARC]) - muscle[0]) / stretch
            at += scale * record[G_LENGTH]
            count += 2
    return count


@lean
def _sort(values, count):
    """Insertion sort of the first few values, in place; they come in two sorted runs."""
    for i in range(1, count):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@lean
def place_on_both(nA, lineA, pathA, MA, nB, lineB, pathB, MB, muscle):
    """The same matter on both lines: beads, or Gauss points between all breaks of either line."""
    if muscle[1] + lineA.total[0] <= 0.0 or muscle[1] + lineB.total[0] <= 0.0:
        return False
    total = 0
    first, last, mass, beads = muscle[2], muscle[3], muscle[4], int(muscle[5])
    if beads > 0:
        for j in range(beads):
            MA.xi[j], MA.mass[j] = first + (last - first) * (j + 0.5) / beads, mass / beads
        total = beads
    else:
        breaks = MA.etas
        count = _add_breaks(lineA, nA, pathA, muscle, breaks, NONE_YET)
        count = _add_breaks(lineB, nB, pathB, muscle, breaks, count)
        breaks[count] = last
        _sort(breaks, count + 1)
        low = first
        for j in range(count + 1):
            high = min(breaks[j], last)
            if high - low > NONE:
                for g in range(4):
                    node = GAUSS_4[0] if g == 1 or g == 2 else GAUSS_4[1]
                    weight = WEIGHT_4[0] if g == 1 or g == 2 else WEIGHT_4[1]
                    MA.xi[total] = 0.5 * (low + high) + (node if g > 1 else -node) * 0.5 * (high - low)
                    MA.mass[total] = 0.5 * weight * mass * (high - low) / (last - first)
                    total += 1
            low = max(low, high)
    for m in range(total):
        MB.mass[m] = MA.mass[m]
        _put_label(lineA, nA, pathA, muscle, MA, m, MA.xi[m])
        _put_label(lineB, nB, pathB, muscle, MB, m, MA.xi[m])
    MA.number[0] = MB.number[0] = total
    return True


@lean
def mix_matter(MA, MB, w, rate, second):
    """Positions, velocities and accelerations of the mixture, into MA.x, MA.v, MA.a; MB.a becomes x_B − x_A."""
    for m in range(MA.number[0]):
        xA, xB, vA, vB = load(MA.x[m]), load(MB.x[m]), load(MA.v[m]), load(MB.v[m])
        gap, drift = sub(xB, xA), sub(vB, vA)
        a = along(load(MA.a[m]), w, sub(load(MB.a[m]), load(MA.a[m])))
        store(MA.x[m], along(xA, w, gap))
        store(MA.v[m], add(along(vA, w, drift), scaled(rate, gap)))
        store(MA.a[m], add(a, add(scaled(2.0 * rate, drift), scaled(second, gap))))
        store(MB.a[m], gap)


@lean
def _bend_on_both(n, line, path, M, other_n, other_line, other_path, other, muscle, share, other_share):
    """Corners of one line: their bend forces, times its share, on this line and on the other at the same labels.

    The sum of force · (position on the other line − position on this one) is returned.
    """
    first = M.number[0]
    add_bends(line, n, path, muscle, M)
    work = 0.0
    for m in range(first, M.number[0]):
        f = scaled(share, load(M.force[m]))
        k = other.number[0]
        _put_label(other_line, other_n, other_path, muscle, other, k, M.xi[m])
        other.mass[k] = 0.0
        other.number[0] = k + 1
        store(M.force[m], scaled(share, f))
        store(other.force[k], scaled(other_share, f))
        work += dot3(f, sub(load(other.x[k]), load(M.x[m])))
    return work


@lean
def switching_muscle(nA, sizeA, lineA, pathA, MA, nB, sizeB, lineB, pathB, MB, blend, muscle, w, slope, rate, second):
    """Inertia forces of a muscle between two lines, on the nodes of both; (ok, force on the switching coordinate).

    w, slope: weight of line B and its derivative by the coordinate | rate, second: its rates in time
    """
    build_line(nA, sizeA, blend, lineA, pathA)
    build_line(nB, sizeB, blend, lineB, pathB)
    if not place_on_both(nA, lineA, pathA, MA, nB, lineB, pathB, MB, muscle):
        return False, 0.0
    mix_matter(MA, MB, w, rate, second)
    work = 0.0
    for m in range(MA.number[0]):
        f = scaled(MA.mass[m], load(MA.a[m]))
        work += dot3(f, load(MB.a[m]))
        store(MA.force[m], scaled(1.0 - w, f))
        store(MB.force[m], scaled(w, f))
    work += _bend_on_both(nA, lineA, pathA, MA, nB, lineB, pathB, MB, muscle, 1.0 - w, w)
    work -= _bend_on_both(nB, lineB, pathB, MB, nA, lineA, pathA, MA, muscle, w, 1.0 - w)
    pull_back(lineA, nA, blend, pathA, MA)
    pull_back(lineB, nB, blend, pathB, MB)
    return True, slope * work
