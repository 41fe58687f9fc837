"""Damped Newton steps to a target within joint limits, compiled.

Newton's method on the objective of `reaching`, projected on the box of joint limits (Bertsekas
1982, Projected Newton methods for optimization problems with simple constraints). The damping is a
multiple of what is left of the objective (Sugihara 2011, Solvability-unconcerned inverse kinematics
by the Levenberg-Marquardt method) that adapts to whether steps help. Where the second derivatives
with it are not positive definite, J^T J takes their place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.linear import factorise, substitute
from tendon_gym.chains.reaching import (
    Place,
    arrived,
    curve,
    differentiate,
    evaluate,
)
from tendon_gym.compiled import allocating, compiled

Record = Any  # one row of a structured array

SETTINGS = np.dtype(
    [
        ("rows", np.int64),  # 3: position only, 6: full pose
        ("length", np.float64),  # m that count as much as one rad
        ("position_tolerance", np.float64),  # m
        ("rotation_tolerance", np.float64),  # rad
        ("iterations", np.int64),  # most per start
        ("posture_tolerance", np.float64),  # rad
        ("posture_iterations", np.int64),
    ]
)

LONGEST = 1.0
"""Largest change of a joint in one step, rad or m."""
SHORTEST = 1e-10
"""A step so short says that there is no better place nearby, rad or m."""
TRIES = 12
"""How often a step is damped more before the place is taken for the best nearby."""
FLOOR = 1e-10
"""Smallest damping, m^2: it decides between all the ways that a redundant arm has."""


@compiled
def solve_step(place: Place, free: NDArray, damping: float, side: NDArray, step: NDArray) -> bool:
    """Write the solution of (hessian + damping) step = side for the free joints, zero elsewhere.

    The Hessian's lower triangle is overwritten. Returns whether it is positive definite.
    """
    matrix = place.hessian
    m = gather(free, damping, side, matrix, step)
    if not factorise(matrix, m):
        return False
    substitute(matrix, m, step)
    for i in range(side.shape[0] - 1, -1, -1):
        if free[i]:
            m -= 1
            step[i] = step[m]
        else:
            step[i] = 0.0
    return True


@compiled
def gather(free: NDArray, damping: float, side: NDArray, matrix: NDArray, right: NDArray) -> int:
    """Move the rows of free joints to the front, damping added; return how many there are."""
    m = 0
    for i in range(side.shape[0]):
        if not free[i]:
            continue
        k = 0
        for j in range(i + 1):
            if free[j]:
                matrix[m, k] = matrix[i, j]
                k += 1
        matrix[m, m] += damping
        right[m] = side[i]
        m += 1
    return m


@compiled
def copy(values: NDArray, out: NDArray) -> None:
    """Copy joint positions; Numba takes seconds to compile NumPy's own assignment."""
    for i in range(values.shape[0]):
        out[i] = values[i]


@compiled
def move(q: NDArray, step: NDArray, share: float, limits: NDArray, out: NDArray) -> float:
    """Write q + share * step, shortened to LONGEST and kept in the limits; return how far it is."""
    longest = 0.0
    for i in range(q.shape[0]):
        longest = max(longest, abs(step[i]))
    if longest > LONGEST:
        share *= LONGEST / longest
    moved = 0.0
    for i in range(q.shape[0]):
        out[i] = min(max(q[i] + share * step[i], limits[i, 0]), limits[i, 1])
        moved = max(moved, abs(out[i] - q[i]))
    return moved


@allocating
def descend(
    segments: NDArray,
    target: NDArray,
    settings: Record,
    limits: NDArray,
    most: int,
    q: NDArray,
    place: Place,
    other: Place,
) -> tuple[float, int]:
    """Move q to the target, or to the nearest place that can be found downhill from q.

    Returns:
        The objective at q, m^2, and the number of iterations. `place` has the error at q.
    """
    n, rows, length = q.shape[0], settings["rows"], settings["length"]
    step, trial = np.empty(n), np.empty(n)
    free = np.empty(n, np.bool_)
    cost = evaluate(segments, q, target, rows, length, place)
    eagerness = 1.0
    for iteration in range(most):
        if arrived(place.error, settings["position_tolerance"], settings["rotation_tolerance"]):
            return cost, iteration
        differentiate(segments, q, length, place)
        for i in range(n):
            stuck_low = q[i] <= limits[i, 0] and place.descent[i] <= 0.0
            stuck_high = q[i] >= limits[i, 1] and place.descent[i] >= 0.0
            free[i] = not (stuck_low or stuck_high)
        better = False
        for _ in range(TRIES):
            damping = eagerness * cost + FLOOR
            for exact in (True, False):
                curve(n, rows, length, exact, place)
                if solve_step(place, free, damping, place.descent, step):
                    break
            moved = move(q, step, 1.0, limits, trial)
            if moved < SHORTEST:
                break
            reached = evaluate(segments, trial, target, rows, length, other)
            if reached < cost:
                better = True
                break
            eagerness = max(8.0 * eagerness, 1e-6)
        if not better:
            return cost, iteration + 1
        copy(trial, q)
        cost = evaluate(segments, q, target, rows, length, place)
        eagerness *= 0.2
    return cost, most
