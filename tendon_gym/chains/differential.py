"""Differential inverse kinematics, compiled: joint velocities for a twist of the tip.

What is asked for is the v within its bounds with the least damping^2 |v - preferred|^2 +
|twist - J v|^2. Optimal are v = clip(preferred + J^T w) with damping^2 w = twist - J v: a wrench w
at the tip, of no more than six numbers, that minimises a convex function which is quadratic in
pieces. Newton's method with an exact line search finds it in a finite number of steps (Li and
Swetits 1997, A new algorithm for solving strictly convex quadratic programs); where no bound is
met, in one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.kinematics import tip_jacobian
from tendon_gym.chains.linear import factorise, substitute
from tendon_gym.compiled import allocating, compiled, inlined

STEPS = 100
"""Most Newton steps: far more than it takes, if rounding doesn't go round in circles."""
FLOOR = 1e-6
"""Least damping over the size of the Jacobian, so that systems can be solved in floating point."""


@inlined
def clipped(value: float, bounds: NDArray, i: int) -> float:
    """Return a value within the bounds of joint i."""
    return min(max(value, bounds[i, 0]), bounds[i, 1])


@inlined
def inside(value: float, bounds: NDArray, i: int) -> bool:
    """Return whether a value is strictly within the bounds of joint i."""
    return bounds[i, 0] < value and value < bounds[i, 1]


@compiled
def to_lengths(length: float, jacobian: NDArray, twist: NDArray) -> float:
    """Turn angular rows into m/s, and return the sum of squares of the Jacobian's rows in use."""
    size = 0.0
    for k in range(twist.shape[0]):
        scale = 1.0 if k < 3 else length
        twist[k] *= scale
        for i in range(jacobian.shape[1]):
            jacobian[k, i] *= scale
            size += jacobian[k, i] * jacobian[k, i]
    return size


@compiled
def pull(jacobian: NDArray, preferred: NDArray, wrench: NDArray, out: NDArray) -> None:
    """Write preferred + J^T w: the velocities that there would be without bounds."""
    for i in range(out.shape[0]):
        out[i] = preferred[i]
        for k in range(wrench.shape[0]):
            out[i] += jacobian[k, i] * wrench[k]


@compiled
def aim(
    jacobian: NDArray,
    preferred: NDArray,
    bounds: NDArray,
    damping: float,
    pulled: NDArray,
    square: NDArray,
    wrench: NDArray,
) -> None:
    """Replace the twist in `wrench` by the w that is best if the same joints stay at their bounds.

    Args:
        jacobian: (rows, n).
        preferred: (n,).
        bounds: (n, 2).
        damping: squared.
        pulled: (n,) velocities without bounds, which tell the joints that are at theirs.
        square: (rows, rows) scratch.
        wrench: (rows,) the twist; overwritten.
    """
    n, rows = pulled.shape[0], wrench.shape[0]
    for k in range(rows):
        for j in range(k + 1):
            square[k, j] = damping if j == k else 0.0
    for i in range(n):
        free = inside(pulled[i], bounds, i)
        velocity = preferred[i] if free else clipped(pulled[i], bounds, i)
        for k in range(rows):
            wrench[k] -= jacobian[k, i] * velocity
            for j in range(k + 1 if free else 0):
                square[k, j] += jacobian[k, i] * jacobian[j, i]
    factorise(square, rows)
    substitute(square, rows, wrench)


@compiled
def settled(here: NDArray, there: NDArray, bounds: NDArray) -> bool:
    """Return whether the same joints are at the same bounds for two velocities without bounds."""
    for i in range(here.shape[0]):
        free = inside(here[i], bounds, i)
        if free != inside(there[i], bounds, i):
            return False
        if not free and clipped(here[i], bounds, i) != clipped(there[i], bounds, i):
            return False
    return True


@compiled
def lowest(slope: float, bend: float, here: NDArray, there: NDArray, bounds: NDArray) -> float:
    """Return how far from here to there the function is least, by its slope: it bends at bounds.

    Args:
        slope: of the part that doesn't know the joints, here.
        bend: how that grows.
        here: (n,) velocities without bounds at 0.
        there: (n,) at 1.
        bounds: (n, 2).
    """
    share = 0.0
    for _ in range(2 * here.shape[0] + 1):
        rate, change, edge = slope + bend * share, bend, math.inf
        for i in range(here.shape[0]):
            by = there[i] - here[i]
            if by == 0.0:
                continue
            rate += by * clipped(here[i] + share * by, bounds, i)
            first, last = (bounds[i, 0] - here[i]) / by, (bounds[i, 1] - here[i]) / by
            if by < 0.0:
                first, last = last, first
            if first <= share and share < last:
                change += by * by
            if share < first and first < edge:
                edge = first
            if share < last and last < edge:
                edge = last
        further = share - rate / change
        if further <= edge:
            return further
        share = edge
    return share


@allocating
def velocities(
    segments: NDArray,
    q: NDArray,
    twist: NDArray,
    length: float,
    bounds: NDArray,
    preferred: NDArray,
    damping: float,
    out: NDArray,
) -> None:
    """Write the joint velocities that are least in damping^2 |v - preferred|^2 + |twist - J v|^2.

    Args:
        segments: the chain's constants.
        q: (n,), rad or m.
        twist: (3,) if only the velocity counts, else (6,), m/s and rad/s.
        length: m/rad, by which angular velocities are made comparable.
        bounds: (n, 2) of the velocities.
        preferred: (n,) velocities where the twist leaves a choice.
        damping: m; no less counts than `FLOOR` times the Jacobian's size.
        out: (n,) written.
    """
    n, rows = q.shape[0], twist.shape[0]
    jacobian, wanted = np.empty((6, n)), twist.copy()
    tip_jacobian(segments, q, jacobian)
    size = to_lengths(length, jacobian, wanted)
    damping = max(damping * damping, FLOOR * FLOOR * size)
    wrench, goal, square = np.zeros(rows), np.empty(rows), np.empty((rows, rows))
    here, there = np.empty(n), np.empty(n)
    for _ in range(STEPS):
        pull(jacobian, preferred, wrench, here)
        goal[:] = wanted
        aim(jacobian, preferred, bounds, damping, here, square, goal)
        pull(jacobian, preferred, goal, there)
        if settled(here, there, bounds):
            break
        slope, bend = 0.0, 0.0
        for k in range(rows):
            goal[k] -= wrench[k]
            slope += goal[k] * (damping * wrench[k] - wanted[k])
            bend += damping * goal[k] * goal[k]
        share = lowest(slope, bend, here, there, bounds)
        for k in range(rows):
            wrench[k] += share * goal[k]
    for i in range(n):
        out[i] = clipped(there[i], bounds, i)
