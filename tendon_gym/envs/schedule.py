"""Which reference each simulation follows, and where it stands on it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import Prepared, compiled
from tendon_gym.control.setpoint import SETPOINT, setpoints
from tendon_gym.references import Reference, SmoothDistribution
from tendon_gym.references.goals import BendGoals
from tendon_gym.references.table import evaluate_one, new_rows

PREVIEW_WIDTH = 11
"""Numbers per preview point: position relative to the base now, velocity, acceleration, bend."""


class Schedule:
    """References of n simulations: one for all of them, or one drawn for each at its reset.

    Attributes:
        rows: the table of all references.
        first: (n,), each simulation's first row.
        count: (n,), its number of rows.
        phase: (n,), s, added to the simulation's time.
        setpoint: (n,) of SETPOINT, written by `evaluate`.
    """

    def __init__(self, source: Reference | SmoothDistribution | BendGoals, n: int) -> None:
        """Share the rows of a reference, or make room for one drawn row per simulation."""
        self.source = source
        self.phase = np.zeros(n)
        self.setpoint = setpoints(n)
        if isinstance(source, Reference):
            # of the dtype object ROW itself, which the kernels' dispatch knows without comparing
            self.rows = new_rows(len(source.rows))
            self.rows[:] = source.rows
            self.first = np.zeros(n, np.int64)
            self.count = np.full(n, len(source.rows), np.int64)
        else:
            self.rows = new_rows(n)
            self.rows["end"] = math.inf
            self.first, self.count = np.arange(n), np.ones(n, np.int64)
        self.evaluate = Prepared(
            _follow, self.phase, self.rows, self.first, self.count, self.setpoint
        )
        """Write the setpoints (n,) at each simulation's time (n,), in s since its reset."""

    @property
    def duration(self) -> float:
        """Seconds until the reference ends; inf where it never does."""
        return self.source.duration if isinstance(self.source, Reference) else math.inf

    def draw(self, i: int, rng: np.random.Generator) -> None:
        """Give simulation `i` another reference, where they are drawn; always the same draws."""
        if not isinstance(self.source, Reference):
            self.rows[i] = self.source.sample(rng)[0]

    def at(self, i: int, time: float) -> NDArray:
        """Return the setpoint of simulation `i` at one time, as a SETPOINT array of length 1."""
        out = setpoints(1)
        evaluate_one(self.rows, self.first[i], self.count[i], time + self.phase[i], out, 0)
        return out


class Preview:
    """The reference's next seconds, sampled: `points` points, the last one `seconds` ahead."""

    def __init__(self, schedule: Schedule, seconds: float, points: int) -> None:
        """Make room for n simulations."""
        n = len(schedule.phase)
        ahead = seconds * np.arange(1, points + 1) / max(points, 1)
        self.values = np.zeros((n, points * PREVIEW_WIDTH))
        self.look = Prepared(
            _look,
            schedule.rows,
            schedule.first,
            schedule.count,
            schedule.phase,
            ahead,
            np.zeros(1, SETPOINT),
            self.values,
        )
        """Write the points as seen at times (n,) from the bases' positions (n, 3) in world axes."""


@compiled
def _follow(
    time: NDArray,
    phase: NDArray,
    rows: NDArray,
    first: NDArray,
    count: NDArray,
    out: NDArray,
) -> None:
    for i in range(out.shape[0]):
        evaluate_one(rows, first[i], count[i], time[i] + phase[i], out, i)


@compiled
def _look(
    time: NDArray,
    position: NDArray,
    rows: NDArray,
    first: NDArray,
    count: NDArray,
    phase: NDArray,
    ahead: NDArray,
    scratch: NDArray,
    out: NDArray,
) -> None:
    for i in range(out.shape[0]):
        for p in range(ahead.shape[0]):
            evaluate_one(rows, first[i], count[i], time[i] + phase[i] + ahead[p], scratch, 0)
            c = p * PREVIEW_WIDTH
            for k in range(3):
                out[i, c + k] = scratch["position"][0, k] - position[i, k]
                out[i, c + 3 + k] = scratch["velocity"][0, k]
                out[i, c + 6 + k] = scratch["acceleration"][0, k]
            for k in range(2):
                out[i, c + 9 + k] = scratch["bend"][0, k]
