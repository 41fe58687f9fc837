"""The posture among all joint positions with one pose of the tip, compiled.

The objective |q - posture|^2 / 2 is least where J^T times some wrench at the tip holds it. An
active-set method (Nocedal and Wright 2006, Numerical Optimization, section 16.5): joints at a limit
are held there; the others take Newton steps on the Lagrangian, each followed by a way back to the
target; where they have come to rest, the joint that is pulled off its limit most is let go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.descent import Record, copy, descend, move, solve_step
from tendon_gym.chains.linear import factorise, substitute
from tendon_gym.chains.reaching import Place, arrived, bending, differentiate
from tendon_gym.compiled import allocating, compiled

STIFFNESS = 1e7
"""How much more leaving the target costs than leaving the posture, in posture steps."""
RETURN = 6
"""Most iterations back to the target after a posture step."""
HALVINGS = 12
"""How often a step is halved before there is taken to be none that helps."""


@allocating
def pull(
    rows: int, place: Place, free: NDArray, away: NDArray, wrench: NDArray, slope: NDArray
) -> bool:
    """Write the wrench at the tip that holds it against the posture's pull, and what is left.

    Args:
        rows: 3 or 6.
        place: with the Jacobian.
        free: (n,) joints that are not at their limits.
        away: (n,) from the posture.
        wrench: (6,) written: least-squares solution of away + J^T wrench = 0 over free joints.
        slope: (n,) written: away + J^T wrench.

    Returns:
        False if the numbers fail.
    """
    jacobian = place.jacobian
    square = np.empty((rows, rows))
    size = 0.0
    for k in range(rows):
        wrench[k] = 0.0
        for j in range(k + 1):
            square[k, j] = 0.0
        for i in range(away.shape[0]):
            if free[i]:
                wrench[k] -= jacobian[k, i] * away[i]
                for j in range(k + 1):
                    square[k, j] += jacobian[k, i] * jacobian[j, i]
        size += square[k, k]
    for k in range(rows):
        square[k, k] += 1e-12 * size + 1e-300
    if not factorise(square, rows):
        return False
    substitute(square, rows, wrench)
    for i in range(away.shape[0]):
        slope[i] = away[i]
        for k in range(rows):
            slope[i] += jacobian[k, i] * wrench[k]
    return True


@compiled
def steepest(slope: NDArray, free: NDArray) -> float:
    """Return the largest slope of the objective along a free joint."""
    most = 0.0
    for i in range(slope.shape[0]):
        if free[i]:
            most = max(most, abs(slope[i]))
    return most


@compiled
def pulled_off(q: NDArray, limits: NDArray, slope: NDArray, free: NDArray, tolerance: float) -> int:
    """Return the held joint that the posture pulls off its limit most, -1 if there is none."""
    most, which = tolerance, -1
    for i in range(q.shape[0]):
        if free[i] or limits[i, 0] == limits[i, 1]:
            continue
        inward = -slope[i] if q[i] <= limits[i, 0] else slope[i]
        if inward > most:
            most, which = inward, i
    return which


@compiled
def room(q: NDArray, step: NDArray, limits: NDArray) -> tuple[float, int]:
    """Return how much of a step there is room for, and which joint is at its limit then, or -1."""
    share, which = 1.0, -1
    for i in range(q.shape[0]):
        if step[i] == 0.0:
            continue
        limit = limits[i, 1] if step[i] > 0.0 else limits[i, 0]
        if abs(limit - q[i]) < share * abs(step[i]):
            share, which = abs(limit - q[i]) / abs(step[i]), i
    return share, which


@allocating
def posture_step(
    settings: Record,
    place: Place,
    free: NDArray,
    wrench: NDArray,
    slope: NDArray,
    step: NDArray,
) -> bool:
    """Write Newton's step to the posture along the joint positions that keep the tip's pose."""
    n, rows = slope.shape[0], settings["rows"]
    jacobian = place.jacobian
    square = settings["length"] * settings["length"]
    force = (wrench[0], wrench[1], wrench[2])
    torque = (0.0, 0.0, 0.0)
    if rows == 6:
        torque = (wrench[3], wrench[4], wrench[5])
    side = np.empty(n)
    for i in range(n):
        side[i] = -slope[i]
    for exact in (True, False):
        for i in range(n):
            for j in range(i + 1):
                value = 1.0 if i == j else 0.0
                for k in range(rows):
                    weight = STIFFNESS if k < 3 else STIFFNESS * square
                    value += weight * jacobian[k, i] * jacobian[k, j]
                if exact:
                    value += bending(jacobian, i, j, force, torque)
                place.hessian[i, j] = value
        if solve_step(place, free, 0.0, side, step):
            return True
    return False


@compiled
def lagrangian(q: NDArray, posture: NDArray, wrench: NDArray, rows: int, error: NDArray) -> float:
    """Return |q - posture|^2 / 2, less what being off the target by a little gives away."""
    value = 0.0
    for i in range(q.shape[0]):
        value += 0.5 * (q[i] - posture[i]) ** 2
    for k in range(rows):
        value -= wrench[k] * error[k]
    return value


@compiled
def hold(q: NDArray, limits: NDArray, box: NDArray) -> None:
    """Write the box in which joints may move: their limits, or the one that they stand at."""
    for i in range(q.shape[0]):
        at_limit = q[i] <= limits[i, 0] or q[i] >= limits[i, 1]
        for k in range(2):
            box[i, k] = q[i] if at_limit else limits[i, k]


@allocating
def advance(
    segments: NDArray,
    target: NDArray,
    settings: Record,
    limits: NDArray,
    posture: NDArray,
    q: NDArray,
    step: NDArray,
    wrench: NDArray,
    box: NDArray,
    trial: NDArray,
    place: Place,
    other: Place,
    spare: Place,
) -> bool:
    """Write what a step and the way back to the target make of q, halved until that helps.

    A joint that hits its limit is held there from then on. `other` has the error at the trial.
    """
    rows, back = settings["rows"], min(RETURN, settings["iterations"])
    before = lagrangian(q, posture, wrench, rows, place.error)
    share, hit = room(q, step, limits)
    for _ in range(HALVINGS):
        move(q, step, share, limits, trial)
        if hit >= 0:
            trial[hit] = limits[hit, 0] if step[hit] < 0.0 else limits[hit, 1]
            box[hit, 0] = box[hit, 1] = trial[hit]
        descend(segments, target, settings, box, back, trial, other, spare)
        if arrived(other.error, settings["position_tolerance"], settings["rotation_tolerance"]):
            if lagrangian(trial, posture, wrench, rows, other.error) < before:
                return True
        if hit >= 0:
            copy(limits[hit], box[hit])
        share, hit = 0.5 * share, -1
    return False


@allocating
def settle(
    segments: NDArray,
    target: NDArray,
    settings: Record,
    limits: NDArray,
    posture: NDArray,
    q: NDArray,
    place: Place,
    other: Place,
    spare: Place,
) -> int:
    """Move q to the posture nearby that has the same pose of the tip; return the iterations.

    `place` has the error at q; all three are for working in.
    """
    n, tolerance = q.shape[0], settings["posture_tolerance"]
    away, slope, step, trial = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    wrench, free, box = np.empty(6), np.empty(n, np.bool_), np.empty((n, 2))
    hold(q, limits, box)
    for iteration in range(settings["posture_iterations"]):
        differentiate(segments, q, settings["length"], place)
        for i in range(n):
            away[i] = q[i] - posture[i]
            free[i] = box[i, 0] < box[i, 1]
        if not pull(settings["rows"], place, free, away, wrench, slope):
            return iteration
        if steepest(slope, free) <= tolerance:
            which = pulled_off(q, limits, slope, free, tolerance)
            if which < 0:
                return iteration
            copy(limits[which], box[which])
            continue
        if not posture_step(settings, place, free, wrench, slope, step):
            return iteration
        if not advance(
            segments, target, settings, limits, posture, q, step, wrench, box, trial,
            place, other, spare,
        ):  # fmt: skip
            return iteration + 1
        copy(trial, q)
        place, other = other, place
    return settings["posture_iterations"]
