"""All frames of a problem: a robust first pose, then frame by frame, on several threads.

Frame f starts from the frames before it, which leaves nothing to do side by side. So the trial is cut into chunks of
fixed length; a coarse pass finds a pose for the head of each, the chunks are fitted in parallel, and each seam is
fitted once more from the end of the chunk before it, on and on until the poses agree with those found. The answer is
that of going through all frames in order, and does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
from numpy.typing import NDArray

from osim_inertia.kernels import ik
from osim_inertia.markers.problem import Problem

Array = NDArray[np.float64]
CHUNK = 64  # frames
CHUNKS_AT_ONCE = 32  # between two reports of progress
TRACKING_LIMIT, FIRST_LIMIT = 60, 200  # iterations
SAME = 1e-7  # rad or m: poses of a seam agree
GOOD_RIGID_FIT = 1.05  # times the best possible rigid fit of the base
TURNS = (0.0, 2.1, -2.1)  # rad: first guesses for the angles of the base
MARKERS_OF_A_FRAME = 3


class Solver:
    """Fits the frames of one problem."""

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self.problem, self.tolerance = problem, tolerance
        frames = len(problem.start)
        self.q = problem.start.copy()
        self.cost = np.zeros(frames)
        self.iterations = np.zeros(frames, dtype=np.int64)
        self._depth = _depths(problem.system.arrays.parent)

    def run(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Fill q (F, n), cost (F,) and iterations (F,). `progress` is told how many frames are done, of how many."""
        frames, block = len(self.q), CHUNK * CHUNKS_AT_ONCE
        if not frames:
            return
        self._fit_anew(0, None)
        with ThreadPoolExecutor(self.problem.system.threads) as pool:
            for first in range(0, frames, block):
                heads = list(range(first, min(first + block, frames), CHUNK))
                for head in heads:
                    if head:
                        self._track(head, head + 1, step=CHUNK, origin=frames)
                list(pool.map(self._fit_chunk, heads))
                for head in heads:
                    if head:
                        self._close_seam(head)
                if progress:
                    progress(min(first + block, frames), frames)

    def _track(self, start: int, stop: int, *, origin: int, step: int = 1) -> int:
        P = self.problem
        found = ik.fit_frames(
            P.system.arrays, P.fit, P.rows, self.q, P.target, P.weight, P.reference, P.hold, P.fit.lower, P.fit.upper,
            self.tolerance, TRACKING_LIMIT, start, stop, step, origin, self.cost, self.iterations,
        )  # fmt: skip
        return int(found)

    def _fit_chunk(self, head: int) -> None:
        self._follow(head + 1, min(head + CHUNK, len(self.q)), head)

    def _follow(self, start: int, stop: int, origin: int) -> None:
        """Track; a frame that suddenly fits badly is fitted anew from several poses."""
        while start < stop:
            found = self._track(start, stop, origin=origin)
            if found < stop:
                self._fit_anew(found, found - 1)
            start, origin = found + 1, found

    def _close_seam(self, head: int) -> None:
        """Go on from the chunk before until the poses found there and here agree."""
        end, start, count = min(head + CHUNK, len(self.q)), head, 1
        while start < end:
            stop = min(start + count, end)
            old = self.q[stop - 1].copy()
            self._follow(start, stop, max(0, start - CHUNK))
            if np.abs(self.q[stop - 1] - old).max() < SAME:
                return
            start, count = stop, min(2 * count, 16)

    # ---- one frame from nowhere -----------------------------------------------------------------------------------
    def _fit_anew(self, frame: int, last: int | None) -> None:
        """The best of several fits of one frame: from the default pose, from a fitted base, from the base outwards."""
        default = self.problem.start[frame]
        free = self.problem.fit.free
        previous = default[free] if last is None else self.q[last, free]
        near = default.copy()
        near[free] = previous
        found = [self._single(frame, pose, previous) for pose in ([near] if last is None else [near, default])]
        if last is None:
            near = self._pose_of_fullest(near)
            found.append(self._single(frame, near, previous))
        based = self._fit_base(frame, near, previous)
        found.append(self._single(frame, based, previous))
        found.append(self._single(frame, self._grow(frame, based, previous), previous))
        if last is not None:
            found.append((self.cost[frame], int(self.iterations[frame]), self.q[frame].copy()))
        lowest = min(cost for cost, _, _ in found)
        as_good = [item for item in found if item[0] <= lowest * (1.0 + 1e-9) + 1e-18]
        best = min(as_good, key=lambda item: (item[1] < 0, float(np.abs(item[2][free] - previous).sum())))
        if last is None:  # the default pose is no frame before: what the markers determine need not stay near it
            best = self._single(frame, best[2], best[2][free])
        self.cost[frame], self.iterations[frame], self.q[frame] = best

    def _pose_of_fullest(self, pose: Array) -> Array:
        """If the first frame lacks markers: the pose of the frame that lacks the fewest, to start from."""
        count = np.count_nonzero(self.problem.weight, axis=1)
        fullest = int(count.argmax())
        if count[0] == count[fullest]:
            return pose
        free = self.problem.fit.free
        based = self._fit_base(fullest, pose, pose[free])
        grown = self._grow(fullest, based, pose[free])
        fits = [self._single(fullest, start, pose[free]) for start in (based, grown)]
        return min(fits, key=lambda item: item[0])[2]

    def _single(
        self, frame: int, pose: Array, previous: Array, unknown: NDArray[np.bool_] | None = None,
        weight: Array | None = None,
    ) -> tuple[float, int, Array]:  # fmt: skip
        """Fit one frame from a pose: (φ, iterations, q). If told so, only some unknowns move and some markers count."""
        P = self.problem
        lower, upper = P.fit.lower, P.fit.upper
        pose = pose.copy()
        pose[P.fit.free] = held = np.clip(pose[P.fit.free], lower, upper)
        if unknown is not None:
            lower, upper = np.where(unknown, lower, held), np.where(unknown, upper, held)
        q = np.array([pose, pose])
        q[0, P.fit.free] = previous
        twice = [frame, frame]
        weights = P.weight[twice]
        if weight is not None:
            weights[1] = weight
        cost, iterations = np.zeros(2), np.zeros(2, dtype=np.int64)
        rows = P.rows if unknown is None else None  # a part of the joints cannot close loops
        ik.fit_frames(P.system.arrays, P.fit, rows, q, P.target[twice], weights, P.reference[twice], P.hold[twice],
                      lower, upper, self.tolerance, FIRST_LIMIT, 1, 2, ik.JUMP, 0, cost, iterations)  # fmt: skip
        return float(cost[1]), int(iterations[1]), q[1]

    def _moved_by(self, depth: int) -> NDArray[np.bool_]:
        """Unknowns of the joints up to that depth."""
        A, fit = self.problem.system.arrays, self.problem.fit
        return self._depth[A.body_of[fit.free]] <= depth

    def _weights_within(self, frame: int, depth: int) -> Array:
        """Shares of the markers on bodies up to that depth."""
        body, weight = self.problem.fit.marker_body, self.problem.weight[frame]
        share = np.where((body < 0) | (self._depth[body] <= depth), weight, 0.0)
        return share / max(share.sum(), np.finfo(float).tiny)

    def _fit_base(self, frame: int, pose: Array, previous: Array) -> Array:
        """The pose with its outermost joints fitted to the markers next to ground, the rest stiff."""
        P = self.problem
        unknown = self._moved_by(0)
        weight = self._weights_within(frame, 0)
        for depth in range(1, int(self._depth.max(initial=0)) + 1):
            if np.count_nonzero(weight) < MARKERS_OF_A_FRAME:
                weight = self._weights_within(frame, depth)
        if not unknown.any() or np.count_nonzero(weight) < MARKERS_OF_A_FRAME:
            return pose
        places = np.empty((1, *P.target.shape[1:]))
        ik.marker_places(P.system.arrays, P.fit, pose[None], 0, 1, places)
        rigid = _best_rigid_fit(places[0], P.target[frame], weight)
        angles = np.flatnonzero(unknown & P.fit.turns)[:3]
        best = (np.inf, 0, pose)
        for turn in product(TURNS, repeat=len(angles)):
            guess = pose.copy()
            guess[P.fit.free[angles]] += turn
            best = min(best, self._single(frame, guess, previous, unknown, weight), key=lambda item: item[0])
            if best[0] <= GOOD_RIGID_FIT * rigid + 1e-9:
                break
        return best[2]

    def _grow(self, frame: int, pose: Array, previous: Array) -> Array:
        """Fit joint after joint outwards."""
        for depth in range(1, int(self._depth.max(initial=0)) + 1):
            unknown, weight = self._moved_by(depth), self._weights_within(frame, depth)
            if unknown.any() and weight.any():
                pose = self._single(frame, pose, previous, unknown, weight)[2]
        return pose


def _depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    depth = np.zeros(len(parent), dtype=np.int64)
    for body, inner in enumerate(parent):
        depth[body] = 0 if inner < 0 else depth[inner] + 1
    return depth


def _best_rigid_fit(x: Array, y: Array, weight: Array) -> float:
    """½ Σ w |R x + t − y|² of the best rotation and shift (Kabsch)."""
    x, y = x - weight @ x, y - weight @ y
    U, s, V = np.linalg.svd((x * weight[:, None]).T @ y)
    s[2] *= np.sign(np.linalg.det(U @ V)) or 1.0
    return max(0.0, float(0.5 * weight @ (x**2 + y**2).sum(axis=1) - s.sum()))
