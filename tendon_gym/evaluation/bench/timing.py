"""The protocol of all measurements: warm up, then take turns, and compare within each round.

A B C A B C ...: every contestant has a slice of time in every round, so that what else the machine
does falls on all alike. A ratio is taken within a round; medians and quartiles are over the rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.evaluation.progress import Progress

LEAST_ROUNDS = 5
Clock = Callable[[], float]

MOST_STEPS = 20_000
"""Steps in one slice, at most."""


@dataclass(frozen=True, eq=False)
class Contestant:
    """Something that steps.

    Attributes:
        name: of the row.
        run: makes so many steps of all its simulations together; returns how many steps of one
            environment these were, resets not counted.
        about: what else the row tells; `substeps` and `timestep` are needed for its rates.
        against: name of the contestant whose time is the yardstick; None for a yardstick.
    """

    name: str
    run: Callable[[int], int]
    about: Mapping[str, Any]
    against: str | None = None


@dataclass(frozen=True)
class Protocol:
    """How much is measured.

    Attributes:
        rounds: of turns, at least 5.
        seconds: of a slice; a slice has at least one step.
    """

    rounds: int
    seconds: float

    def __post_init__(self) -> None:
        """Reject a number of rounds that has no quartiles."""
        if self.rounds < LEAST_ROUNDS:
            raise ValueError(f"rounds must be at least {LEAST_ROUNDS}, got {self.rounds}")


def race(
    part: str,
    contestants: Sequence[Contestant],
    protocol: Protocol,
    clock: Clock = time.perf_counter,
) -> list[dict[str, Any]]:
    """Let the contestants take turns and return one row for each.

    Args:
        part: of the benchmark, for the rows and the progress.
        contestants: in the order of their turns.
        protocol: how much is measured.
        clock: s.
    """
    progress = Progress(part, len(contestants) * (protocol.rounds + 1))
    counts = []
    for each in contestants:
        counts.append(_warm_up(each, protocol.seconds, clock))
        progress.step()
    times = np.zeros((len(contestants), protocol.rounds))
    for round_ in range(protocol.rounds):
        for k, each in enumerate(contestants):
            begin = clock()
            steps = each.run(counts[k])
            times[k, round_] = (clock() - begin) / steps
            progress.step()
    progress.close()
    place = {each.name: k for k, each in enumerate(contestants)}
    return [
        _row(part, each, times[k], None if each.against is None else times[place[each.against]])
        for k, each in enumerate(contestants)
    ]


def _warm_up(contestant: Contestant, seconds: float, clock: Clock) -> int:
    """Run until everything is compiled and touched; return how many steps fill a slice."""
    contestant.run(1)
    count = 1
    while True:
        begin = clock()
        contestant.run(count)
        spent = clock() - begin
        if spent >= seconds / 4 or count >= MOST_STEPS:
            return int(min(max(1, round(count * seconds / max(spent, 1e-9))), MOST_STEPS))
        count = min(MOST_STEPS, 4 * count)


def _row(
    part: str, contestant: Contestant, times: NDArray, yardstick: NDArray | None
) -> dict[str, Any]:
    about = dict(contestant.about)
    step = float(np.median(times))
    substeps, timestep = about["substeps"], about["timestep"]
    return {
        "part": part,
        "name": contestant.name,
        **about,
        "us": quartiles(1e6 * times),
        "env_steps_per_second": 1.0 / step,
        "physics_steps_per_second": substeps / step,
        "simulated_seconds_per_second": substeps * timestep / step,
        "against": contestant.against,
        "speed": None if yardstick is None else quartiles(yardstick / times),
    }


def quartiles(values: NDArray) -> dict[str, float]:
    """Return the median and the quartiles."""
    low, median, high = np.percentile(values, [25, 50, 75]).tolist()
    return {"median": median, "low": low, "high": high}
