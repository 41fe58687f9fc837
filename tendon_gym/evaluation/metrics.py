"""From flights to numbers: one per metric and episode.

An episode that ended early counts with the worst value (`Flight.bounds`) for the rest of its time,
so that a crash never looks better than flying on badly. Nothing counts with more than that: the
state that ended an episode may lie beyond a limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tendon_gym.evaluation.rollout import Flight

Array = NDArray[np.float64]

HELD_MARGIN = 0.02
"""Share of the full moment by which a bend's error may exceed the paper's controller's.

A policy with 100 actions per second holds its tensions for 10 ms, in which the mission's bend
(0.2 rev/s) turns by 1.3 % of its moment; one that commands nothing is off by the whole bend.
"""


@dataclass(frozen=True)
class Metric:
    """How a metric is shown.

    Attributes:
        title: of its column.
        unit: that it is shown in.
        scale: from SI to that unit.
        digits: after the point.
        higher_is_better: whether a policy wants more of it.
    """

    title: str
    unit: str
    scale: float = 1.0
    digits: int = 2
    higher_is_better: bool = False


METRICS = {
    "position_rms": Metric("position", "cm", 100.0),
    "position_max": Metric("largest", "cm", 100.0),
    "tip_rms": Metric("tip", "cm", 100.0),
    "tip_max": Metric("largest tip", "cm", 100.0),
    "bend_rms": Metric("bend", "mN m", 1000.0),
    "bend_max": Metric("largest bend", "mN m", 1000.0),
    "attitude_rms": Metric("attitude", "deg", 180.0 / np.pi),
    "attitude_max": Metric("largest attitude", "deg", 180.0 / np.pi),
    "tension_effort": Metric("tension", "N"),
    "thrust_effort": Metric("thrust", "N"),
    "reward": Metric("reward", "1/s", 1.0, 3, True),
    "ended_early": Metric("ended early", "%", 100.0, 0),
    "success": Metric("success", "%", 100.0, 0, True),
}
"""By name; root mean squares and maxima of error lengths, mean efforts, and rates."""


def metrics(flight: Flight) -> dict[str, Array]:
    """Return METRICS by name, each (episodes,), in SI units.

    Errors and efforts leave out the first `benchmark.settle` seconds; the reward is the return
    times the control step over the horizon, so it is the same at any control frequency.
    """
    counted = flight.time > flight.benchmark.settle + 1e-9
    result: dict[str, Array] = {}
    for short in ("position", "tip", "bend", "attitude"):
        error = filled(flight, f"{short}_error")[:, counted]
        result[f"{short}_rms"] = np.sqrt((error**2).mean(axis=1))
        result[f"{short}_max"] = error.max(axis=1)
    for name in ("tension_effort", "thrust_effort"):
        result[name] = filled(flight, name)[:, counted].mean(axis=1)
    result["reward"] = filled(flight, "reward").mean(axis=1)
    result["ended_early"] = np.array([reason != "" for reason in flight.reason], float)
    result["success"] = flight.success.astype(float)
    return result


def filled(flight: Flight, name: str) -> Array:
    """Return a series (episodes, T) with its worst value after an episode's end, and never above.

    The reward, whose worst is the least, is left as it is.
    """
    values, worst = flight.series[name], flight.bounds[name]
    after = np.arange(values.shape[1]) >= flight.length[:, None]
    within = values if name == "reward" else np.minimum(values, worst)
    return np.where(after, worst, within)


def bend_held(own: dict[str, Array], paper: dict[str, Array], full_moment: float) -> bool:
    """Say whether a policy bends the arm as asked, no worse than the paper's controller.

    A policy can win position by not bending. So its position counts only where, over the same
    episodes, the mean of its RMS error of the bending moment is no larger than that of
    geometric_paper plus HELD_MARGIN of the full moment.
    """
    limit = paper["bend_rms"].mean() + HELD_MARGIN * full_moment
    return bool(own["bend_rms"].mean() <= limit)
