"""Differential inverse kinematics, compiled: joint velocities for a twist of the tip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.kinematics import tip_jacobian
from tendon_gym.chains.linear import factorise, substitute
from tendon_gym.compiled import allocating


@allocating
def velocities(
    segments: NDArray,
    q: NDArray,
    twist: NDArray,
    rows: int,
    length: float,
    bounds: NDArray,
    preferred: NDArray,
    damping: float,
    out: NDArray,
) -> None:
    """Write the joint velocities that are least in damping^2 |v - preferred|^2 + |twist - J v|^2.

    Joints that would go beyond their bounds are held there, the worst first, and the others make
    up for them (Flacco, De Luca and Khatib 2012, Motion control of redundant robots under joint
    constraints: Saturation in the null space).

    Args:
        segments: the chain's constants.
        q: (n,), rad or m.
        twist: (6,), m/s and rad/s.
        rows: 3 if only the velocity counts, else 6.
        length: m/rad, by which angular velocities are made comparable.
        bounds: (n, 2) of the velocities.
        preferred: (n,) velocities where the twist leaves a choice.
        damping: m.
        out: (n,) written.
    """
    n = q.shape[0]
    jacobian = np.empty((6, n))
    tip_jacobian(segments, q, jacobian)
    free = np.empty(n, np.bool_)
    for i in range(n):
        free[i] = True
        for k in range(3, 6):
            jacobian[k, i] *= length
    square, wrench = np.empty((rows, rows)), np.empty(rows)
    for _ in range(n + 1):
        for k in range(rows):
            wrench[k] = twist[k] if k < 3 else length * twist[k]
            for i in range(n):
                if free[i]:
                    out[i] = preferred[i]
                wrench[k] -= jacobian[k, i] * out[i]
            for j in range(k + 1):
                square[k, j] = damping * damping if j == k else 0.0
                for i in range(n):
                    if free[i]:
                        square[k, j] += jacobian[k, i] * jacobian[j, i]
        factorise(square, rows)
        substitute(square, rows, wrench)
        worst, which, bound = 0.0, -1, 0.0
        for i in range(n):
            if not free[i]:
                continue
            for k in range(rows):
                out[i] += jacobian[k, i] * wrench[k]
            beyond = max(out[i] - bounds[i, 1], bounds[i, 0] - out[i])
            if beyond > worst:
                worst, which = beyond, i
                bound = bounds[i, 1] if out[i] > bounds[i, 1] else bounds[i, 0]
        if which < 0:
            return
        free[which] = False
        out[which] = bound
