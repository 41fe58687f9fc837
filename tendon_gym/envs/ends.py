"""How an episode ends: early for a reason, or at its horizon, and then well or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.envs.signals import SIGNALS
from tendon_gym.envs.task import Limits

RUNNING, CRASH, TILT, FAR, UNSTABLE, OBSTACLE, CABLE, SLAM = range(8)
REASONS = ("", "crash", "tilt", "far", "unstable", "obstacle", "cable", "slam")
"""Why an episode ended early; "" while it runs, and at its time limit."""

SUCCESS_SECONDS = 1.0
"""At the end of an episode: the time over which success is judged."""


class Ends(NamedTuple):
    """What `judge_one` works on.

    Attributes:
        limits: (5,), of clearance (m), tilt (rad), distance (m), obstacle (m), load_speed (m/s).
        lost: (n,), whether the cable has no path any more.
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
    lost: NDArray[np.bool_]
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
    limits: Limits, success: Mapping[str, float], step_time: float, horizon: int, lost: NDArray
) -> Ends:
    """Return the ends of n simulations.

    Args:
        limits: where episodes end early.
        success: signals and the largest root mean square of each.
        step_time: s, of a control step.
        horizon: control steps.
        lost: (n,), where it is told that a simulation's cable has no path any more.
    """
    n = len(lost)
    fields: Any = SIGNALS.fields
    spans = [(fields[name][1] // 8, fields[name][0].itemsize // 8) for name in success]
    first = np.array([start for start, _ in spans], np.int64)
    return Ends(
        limits=np.array(
            [limits.clearance, limits.tilt, limits.distance, limits.obstacle, limits.load_speed]
        ),
        lost=lost,
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
    reason = _reason(i, unstable, signals, ends)
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
def _reason(i: int, unstable: bool, signals: NDArray, ends: Any) -> int:
    """Return why simulation i's episode must end, RUNNING if it needn't."""
    limits = ends.limits
    if unstable:
        return CABLE if ends.lost[i] else UNSTABLE
    if signals["clearance"][i] < limits[0]:
        return CRASH
    if signals["tilt"][i] > limits[1]:
        return TILT
    if signals["obstacle_clearance"][i] < limits[3]:
        return OBSTACLE
    if _square(signals["position_error"][i]) > limits[2] * limits[2]:
        return FAR
    if _square(signals["load_velocity"][i]) > limits[4] * limits[4]:
        return SLAM
    return RUNNING


@inlined
def _square(v: NDArray) -> float:
    """Return the square of the length of a vector (3,)."""
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
