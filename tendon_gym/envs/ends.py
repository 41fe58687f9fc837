"""How an episode ends: early for a reason, or at its horizon, and then well or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.envs.signals import SIGNALS
from tendon_gym.envs.task import Limits

RUNNING, CRASH, TILT, FAR, UNSTABLE = range(5)
REASONS = ("", "crash", "tilt", "far", "unstable")
"""Why an episode ended early; "" while it runs, and at its time limit."""

SUCCESS_SECONDS = 1.0
"""At the end of an episode: the time over which success is judged."""


class Ends(NamedTuple):
    """What `judge_one` works on.

    Attributes:
        limits: (3,), of clearance (m), tilt (rad) and distance (m).
        first: (criteria,), first column of a criterion's signal in SIGNALS read as a matrix.
        last: (criteria,), the column after its last one.
        largest: (criteria,), the largest mean of squares over the time that is judged.
        judged: (1,), control steps at the end of an episode over which success is judged, at most.
        horizon: (n,), control steps after which an episode is truncated.
        elapsed: (n,), control steps since its start.
        squares: (n, criteria), sums of squares so far.
        reason: (n,), an index of REASONS.
        truncated: (n,), whether it has just reached its horizon.
        success: (n,), whether it ended well.
    """

    limits: NDArray[np.float64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    largest: NDArray[np.float64]
    judged: NDArray[np.int64]
    horizon: NDArray[np.int64]
    elapsed: NDArray[np.int64]
    squares: NDArray[np.float64]
    reason: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    success: NDArray[np.bool_]


def make_ends(
    limits: Limits, success: Mapping[str, float], step_time: float, horizon: int, n: int
) -> Ends:
    """Return the ends of n simulations.

    Args:
        limits: where episodes end early.
        success: signals and the largest root mean square of each.
        step_time: s, of a control step.
        horizon: control steps.
        n: number of simulations.
    """
    fields: Any = SIGNALS.fields
    spans = [(fields[name][1] // 8, fields[name][0].itemsize // 8) for name in success]
    first = np.array([start for start, _ in spans], np.int64)
    return Ends(
        limits=np.array([limits.clearance, limits.tilt, limits.distance]),
        first=first,
        last=first + np.array([size for _, size in spans], np.int64),
        largest=np.array(list(success.values())) ** 2,
        judged=np.array([max(1, round(SUCCESS_SECONDS / step_time))]),
        horizon=np.full(n, horizon),
        elapsed=np.zeros(n, np.int64),
        squares=np.zeros((n, len(success))),
        reason=np.zeros(n, np.int64),
        truncated=np.zeros(n, bool),
        success=np.zeros(n, bool),
    )


@inlined
def judge_one(i: int, unstable: bool, signals: NDArray, matrix: NDArray, ends: Any) -> None:
    """Count simulation i's step; say why its episode ends now, or that it is at its horizon.

    Args:
        i: the simulation.
        unstable: whether its physics failed.
        signals: (n,) of SIGNALS.
        matrix: the same, read as a float64 matrix.
        ends: `Ends`.
    """
    ends.elapsed[i] += 1
    elapsed, horizon = ends.elapsed[i], ends.horizon[i]
    reason = _reason(i, unstable, signals, ends.limits)
    ends.reason[i] = reason
    ends.truncated[i] = reason == RUNNING and elapsed >= horizon
    ends.success[i] = False
    count = min(horizon, ends.judged[0])
    if elapsed <= horizon - count:
        return
    good = True
    for c in range(ends.first.shape[0]):
        for k in range(ends.first[c], ends.last[c]):
            ends.squares[i, c] += matrix[i, k] * matrix[i, k]
        good = good and ends.squares[i, c] <= count * ends.largest[c]
    ends.success[i] = ends.truncated[i] and good


@inlined
def _reason(i: int, unstable: bool, signals: NDArray, limits: NDArray) -> int:
    """Return why simulation i's episode must end, RUNNING if it needn't."""
    if unstable:
        return UNSTABLE
    if signals["clearance"][i] < limits[0]:
        return CRASH
    if signals["tilt"][i] > limits[1]:
        return TILT
    square = 0.0
    for k in range(3):
        square += signals["position_error"][i, k] * signals["position_error"][i, k]
    if square > limits[2] * limits[2]:
        return FAR
    return RUNNING
