"""One correction of all curves of a stretch, by either algorithm, and its limits.

MINIMUM_LENGTH minimises the path's length while the lines stay tangent to the surfaces: Newton's
method in the null space of the normal errors' derivatives. SCHOLZ_2015 finds a root of all errors,
which can be any path of stationary length.
"""

from __future__ import annotations

import math

from tendon_gym.cables import factors
from tendon_gym.cables.variations import column
from tendon_gym.cables.workspace import Workspace
from tendon_gym.compiled import compiled
from tendon_gym.spatial import norm

NEAR_SOLUTION = 0.02
"""Largest error from which full steps of Newton's method are taken; farther away, half ones."""
MOST_TURN = math.radians(10.0)
"""How far one correction may turn a frame, about any axis and by any of the four numbers."""
MOST_SHIFT = 0.5
"""How far it may move a contact point, as a part of the path's length."""
KICK = 1e-3
"""How far it leaves a path that is longest, not shortest, in some direction."""
INDEFINITE = 1e-6
"""An eigenvalue this far below zero, as a part of the largest, is not rounding."""


@compiled
def _reduce(w: Workspace, m: int) -> int:
    """Change to coordinates whose first `rank` move the normal errors and the others don't."""
    n = 4 * m
    for r in range(2 * m):
        for k in range(n):
            w.basis[k, r] = w.jacobian[2 * r, k]
    rank = factors.qr(w.basis, w.weight, w.order, n, 2 * m)
    for k in range(n):
        w.right[k] = w.slope[k]
    for k in range(rank):
        factors.reflect(w.basis, w.weight[k], k, w.right, n)
        factors.reflect_both(w.basis, w.weight[k], k, w.curvature, n)
    return rank


@compiled
def _solve_indefinite(w: Workspace, rank: int, size: int, damping: float) -> None:
    """Write the step in the null space where the length is no bowl: downhill along every axis."""
    for i in range(size):
        for j in range(size):
            w.inner[i, j] = w.curvature[rank + i, rank + j]
    factors.eigen(w.inner, w.vectors, size)
    largest, worst = 0.0, 0
    for k in range(size):
        largest = max(largest, abs(w.inner[k, k]))
        if w.inner[k, k] < w.inner[worst, worst]:
            worst = k
    for i in range(size):
        w.step[rank + i] = 0.0
    for k in range(size):
        along = 0.0
        for i in range(size):
            along += w.vectors[i, k] * w.left[i]
        along /= abs(w.inner[k, k]) + damping + 1e-300
        if k == worst and w.inner[k, k] < -INDEFINITE * largest:
            along = math.copysign(max(abs(along), KICK), along)
        for i in range(size):
            w.step[rank + i] += along * w.vectors[i, k]


@compiled
def minimum_length(w: Workspace, m: int, largest_error: float) -> None:
    """Write to `w.step` the correction towards the shortest path."""
    n = 4 * m
    rank = _reduce(w, m)
    size = n - rank
    for k in range(rank):
        total = -w.error[2 * w.order[k]]
        for j in range(k):
            total -= w.basis[j, k] * w.step[j]
        w.step[k] = total / w.basis[k, k]
    for i in range(size):
        total = -w.right[rank + i]
        for j in range(rank):
            total -= w.curvature[rank + i, j] * w.step[j]
        w.left[i] = total
        for j in range(size):
            w.inner[i, j] = w.curvature[rank + i, rank + j]
        w.inner[i, i] += largest_error
    if factors.cholesky(w.inner, size):
        factors.cholesky_solve(w.inner, w.left, size)
        for i in range(size):
            w.step[rank + i] = w.left[i]
    else:
        _solve_indefinite(w, rank, size, largest_error)
    for k in range(rank - 1, -1, -1):
        factors.reflect(w.basis, w.weight[k], k, w.step, n)
    if largest_error >= NEAR_SOLUTION:
        for k in range(n):
            w.step[k] *= 0.5


@compiled
def scholz_2015(w: Workspace, m: int, largest_error: float) -> None:
    """Write to `w.step` the correction that brings all errors to zero, in least squares.

    Changes of the curves' lengths are held back in proportion to the largest error.
    """
    n, rows = 4 * m, 5 * m
    for i in range(rows):
        w.right[i] = -w.error[i] if i < n else 0.0
        for k in range(n):
            held = largest_error if k == 4 * (i - n) + 3 else 0.0
            w.basis[i, k] = w.jacobian[i, k] if i < n else held
    rank = factors.qr(w.basis, w.weight, w.order, rows, n)
    for k in range(rank):
        factors.reflect(w.basis, w.weight[k], k, w.right, rows)
    for k in range(rank - 1, -1, -1):
        total = w.right[k]
        for j in range(k + 1, rank):
            total -= w.basis[k, j] * w.left[j]
        w.left[k] = total / w.basis[k, k]
    for k in range(n):
        w.step[w.order[k]] = w.left[k] if k < rank else 0.0


@compiled
def limit(w: Workspace, m: int, path_length: float) -> bool:
    """Shorten the correction to what one step may turn and shift; False if it is not finite."""
    ratio = 1.0
    for i in range(m):
        for s in range(2):
            for k in range(4):
                q = abs(w.step[4 * i + k])
                v = column(w.turn, i, s, k)
                turned = q * max(abs(v[0]), abs(v[1]), abs(v[2]))
                moved = q * norm(column(w.shift, i, s, k))
                ratio = max(ratio, turned / MOST_TURN, moved / (MOST_SHIFT * path_length))
                if not q < math.inf:
                    return False
    for k in range(4 * m):
        w.step[k] /= ratio
    return ratio < math.inf
