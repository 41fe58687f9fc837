"""One correction of all curves of a stretch, by either algorithm, and its limits.

MINIMUM_LENGTH minimises the path's length while the lines stay tangent to the surfaces: Newton's
method in the null space of the constraints' derivatives. SCHOLZ_2015 finds a root of all errors,
which can be any path of stationary length.
"""

from __future__ import annotations

import math

from tendon_gym.cables import factors
from tendon_gym.cables.workspace import (
    BASIS,
    CURVATURE,
    EIGEN,
    ERROR,
    INNER,
    JACOBIAN,
    LEFT,
    ORDER,
    PIN,
    RIGHT,
    SHIFT,
    SLOPE,
    STEP,
    TURN,
    WEIGHT,
    Workspace,
    at,
)
from tendon_gym.compiled import compiled
from tendon_gym.spatial import norm, row

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
def _unit(k: int, size: float) -> float:
    """Return the unit of number k of a correction: turns are in rad, the others in `size`."""
    return 1.0 if k % 4 == 2 else size


@compiled
def _constraint(w: Workspace, m: int, r: int) -> int:
    """Return which error the r-th constraint is about: the normal ones, then those across pins."""
    if r < 2 * m:
        return 2 * r
    return 1 if r == 2 * m and w.lines[0, PIN] > 0.0 else 4 * m - 1


@compiled
def reduce_problem(w: Workspace, m: int, size: float, damping: float) -> tuple[int, bool]:
    """Separate what the constraints decide from what is left to minimise the length.

    Constraints are that the normal errors vanish, and at pins the others, too. Lengths are in units
    of `size` (m), of the surfaces, so that a path is found in the same steps in millimetres and in
    metres. In the new coordinates the first `rank` of the correction move the constraints, and the
    others don't. The first are found here; for the others equations
    remain in INNER and LEFT.

    Returns:
        The rank, and whether the length is a bowl in the remaining directions; INNER then is
        factorised.
    """
    n = 4 * m
    constraints = 2 * m + int(w.lines[0, PIN] > 0.0) + int(w.lines[m, PIN] > 0.0)
    basis, hessian, inner = w.matrices[BASIS], w.matrices[CURVATURE], w.matrices[INNER]
    weight, right, step = w.vectors[WEIGHT], w.vectors[RIGHT], w.vectors[STEP]
    order = w.indices[ORDER]
    for k in range(n):
        unit = _unit(k, size)
        right[k] = w.vectors[SLOPE, k] * unit / size
        for r in range(constraints):
            basis[k, r] = w.matrices[JACOBIAN, _constraint(w, m, r), k] * unit
        for j in range(n):
            hessian[k, j] *= unit * _unit(j, size) / size
    rank = factors.qr(basis, weight, order, n, constraints)
    for k in range(rank):
        factors.reflect(basis, weight[k], k, right, n)
        factors.reflect_both(basis, weight[k], k, hessian, n)
    for k in range(rank):
        total = -w.vectors[ERROR, _constraint(w, m, order[k])]
        for j in range(k):
            total -= basis[j, k] * step[j]
        step[k] = total / basis[k, k]
    for i in range(n - rank):
        total = -right[rank + i]
        for j in range(rank):
            total -= hessian[rank + i, j] * step[j]
        w.vectors[LEFT, i] = total
        for j in range(n - rank):
            inner[i, j] = hessian[rank + i, rank + j]
        inner[i, i] += damping
    return rank, factors.cholesky(inner, n - rank)


@compiled
def solve_indefinite(w: Workspace, rank: int, size: int, damping: float, kick: bool) -> None:
    """Write to LEFT the step where the length is no bowl: downhill along every axis.

    With `kick` it goes down even from where it is exactly level.
    """
    hessian, inner, eigen = w.matrices[CURVATURE], w.matrices[INNER], w.matrices[EIGEN]
    left, right = w.vectors[LEFT], w.vectors[RIGHT]
    for i in range(size):
        right[i], left[i] = left[i], 0.0
        for j in range(size):
            inner[i, j] = hessian[rank + i, rank + j]
    factors.eigen(inner, eigen, size)
    largest, worst = 0.0, 0
    for k in range(size):
        largest = max(largest, abs(inner[k, k]))
        if inner[k, k] < inner[worst, worst]:
            worst = k
    for k in range(size):
        along = 0.0
        for i in range(size):
            along += eigen[i, k] * right[i]
        along /= abs(inner[k, k]) + damping + 1e-300
        if kick and k == worst and inner[k, k] < -INDEFINITE * largest:
            along = math.copysign(max(abs(along), KICK), along)
        for i in range(size):
            left[i] += along * eigen[i, k]


@compiled
def minimum_length(
    w: Workspace, m: int, size: float, rank: int, bowl: bool, largest_error: float
) -> None:
    """Write to STEP the correction towards the shortest path, from the reduced problem."""
    n = 4 * m
    step, left = w.vectors[STEP], w.vectors[LEFT]
    if bowl:
        factors.cholesky_solve(w.matrices[INNER], left, n - rank)
    for i in range(n - rank):
        step[rank + i] = left[i]
    for k in range(rank - 1, -1, -1):
        factors.reflect(w.matrices[BASIS], w.vectors[WEIGHT, k], k, step, n)
    part = 1.0 if largest_error < NEAR_SOLUTION else 0.5
    for k in range(n):
        step[k] *= part * _unit(k, size)


@compiled
def scholz_2015(w: Workspace, m: int, size: float, largest_error: float) -> None:
    """Write to STEP the correction that brings all errors to zero, in least squares.

    Lengths are in units of `size`, as in `reduce_problem`. Changes of the curves' lengths are held
    back in proportion to the largest error.
    """
    n, rows = 4 * m, 5 * m
    basis, order = w.matrices[BASIS], w.indices[ORDER]
    right, left = w.vectors[RIGHT], w.vectors[LEFT]
    for i in range(rows):
        right[i] = -w.vectors[ERROR, i] if i < n else 0.0
        for k in range(n):
            held = largest_error if k == 4 * (i - n) + 3 else 0.0
            basis[i, k] = w.matrices[JACOBIAN, i, k] * _unit(k, size) if i < n else held
    rank = factors.qr(basis, w.vectors[WEIGHT], order, rows, n)
    for k in range(rank):
        factors.reflect(basis, w.vectors[WEIGHT, k], k, right, rows)
    for k in range(rank - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, rank):
            total -= basis[k, j] * left[j]
        left[k] = total / basis[k, k]
    for k in range(n):
        w.vectors[STEP, order[k]] = left[k] * _unit(order[k], size) if k < rank else 0.0


@compiled
def limit(w: Workspace, m: int, path_length: float) -> bool:
    """Shorten the correction to what one step may turn and shift; False if it is not finite."""
    ratio, step = 1.0, w.vectors[STEP]
    for i in range(m):
        for s in range(2):
            for k in range(4):
                q = abs(step[4 * i + k])
                v = row(w.motion, at(i, s) + TURN + k)
                turned = q * max(abs(v[0]), abs(v[1]), abs(v[2]))
                moved = q * norm(row(w.motion, at(i, s) + SHIFT + k))
                ratio = max(ratio, turned / MOST_TURN, moved / (MOST_SHIFT * path_length))
                if not q < math.inf:
                    return False
    for k in range(4 * m):
        step[k] /= ratio
    return ratio < math.inf
