"""Inverse kinematics for many targets, compiled: starts, restarts and postures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.descent import copy, descend
from tendon_gym.chains.posture import settle
from tendon_gym.chains.reaching import arrived, evaluate, new_place
from tendon_gym.compiled import allocating
from tendon_gym.spatial import norm


@allocating
def solve(
    segments: NDArray,
    targets: NDArray,
    settings: NDArray,
    limits: NDArray,
    starts: NDArray,
    guesses: NDArray,
    q: NDArray,
    counts: NDArray,
) -> None:
    """Find joint positions for many targets.

    Each target is tried from its guess, then from `starts` until it is reached; if it never is, the
    best place stays.

    Args:
        segments: the chain's constants.
        targets: (m, 4, 3) poses: rows of a rotation matrix, and a position.
        settings: (1,) of SETTINGS.
        limits: (n, 2), rad or m.
        starts: (s, n) further places to start from.
        guesses: (1 or m, n).
        q: (m, n) written.
        counts: (m, 2) written: iterations, and starts that were used.
    """
    n = q.shape[1]
    place, other = new_place(n), new_place(n)
    best, trial = np.empty(n), np.empty(n)
    for m in range(targets.shape[0]):
        target, chosen = targets[m], settings[0]
        lowest = np.inf
        counts[m, 0] = counts[m, 1] = 0
        for start in range(starts.shape[0] + 1):
            guess = guesses[m % guesses.shape[0]] if start == 0 else starts[start - 1]
            for i in range(n):
                trial[i] = min(max(guess[i], limits[i, 0]), limits[i, 1])
            cost, used = descend(
                segments, target, chosen, limits, chosen["iterations"], trial, place, other
            )
            counts[m, 0] += used
            counts[m, 1] += 1
            if cost < lowest:
                lowest = cost
                copy(trial, best)
            if arrived(place.error, chosen["position_tolerance"], chosen["rotation_tolerance"]):
                copy(trial, best)
                break
        copy(best, q[m])


@allocating
def settle_all(
    segments: NDArray,
    targets: NDArray,
    settings: NDArray,
    limits: NDArray,
    postures: NDArray,
    q: NDArray,
    counts: NDArray,
) -> None:
    """Move joint positions that have reached their targets to postures with the same pose.

    Args:
        segments: the chain's constants.
        targets: (m, 4, 3) poses.
        settings: (1,) of SETTINGS, with finer tolerances than those of reaching: what the tip is
            off its target by must not count beside the posture.
        limits: (n, 2), rad or m.
        postures: (1 or m, n).
        q: (m, n) changed, where the target is reached.
        counts: (m, 2) iterations are added to the first column.
    """
    n = q.shape[1]
    place, other, spare = new_place(n), new_place(n), new_place(n)
    for m in range(targets.shape[0]):
        target, fine, posture = targets[m], settings[0], postures[m % postures.shape[0]]
        used = descend(segments, target, fine, limits, fine["iterations"], q[m], place, other)[1]
        used += settle(segments, target, fine, limits, posture, q[m], place, other, spare)
        counts[m, 0] += used


@allocating
def errors(segments: NDArray, targets: NDArray, rows: int, q: NDArray, out: NDArray) -> None:
    """Write distances (m) and angles (rad) of the tip from targets, (m, 2), at q (m, n)."""
    place = new_place(q.shape[1])
    for m in range(q.shape[0]):
        evaluate(segments, q[m], targets[m], rows, 1.0, place)
        error = place.error
        out[m, 0] = norm((error[0], error[1], error[2]))
        out[m, 1] = norm((error[3], error[4], error[5]))
