"""Which reference each simulation follows, and where it stands on it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.references import Reference, SmoothDistribution
from tendon_gym.references.goals import BendGoals
from tendon_gym.references.setpoint import setpoints
from tendon_gym.references.table import evaluate_one, new_rows

PREVIEW_WIDTH = 11
"""Numbers per preview point: position relative to the base now, velocity, acceleration, bend."""


class Course(NamedTuple):
    """The references of n simulations as kernels take them; see `Schedule`."""

    rows: NDArray[np.void]
    first_row: NDArray[np.int64]
    row_count: NDArray[np.int64]
    phase: NDArray[np.float64]
    setpoint: NDArray[np.void]


class Ahead(NamedTuple):
    """What `look_one` works on: how far ahead each point is, scratch (n,), and all points."""

    seconds: NDArray[np.float64]
    setpoint: NDArray[np.void]
    values: NDArray[np.float64]


class Schedule:
    """References of n simulations: one for all of them, or one drawn for each at its reset.

    Attributes:
        rows: the table of all references.
        first: (n,), each simulation's first row.
        count: (n,), its number of rows.
        phase: (n,), s, added to the simulation's time.
        setpoint: (n,) of SETPOINT, written by `follow_one`.
        course: all of these as kernels take them.
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
        self.course = Course(self.rows, self.first, self.count, self.phase, self.setpoint)

    @property
    def duration(self) -> float:
        """Seconds until the reference ends; inf where it never does."""
        return self.source.duration if isinstance(self.source, Reference) else math.inf

    @property
    def drawn(self) -> bool:
        """Whether every episode has a reference of its own."""
        return not isinstance(self.source, Reference)

    def sample(self, rng: np.random.Generator) -> np.void:
        """Return the row of a drawn reference; always the same draws."""
        assert not isinstance(self.source, Reference)
        return self.source.sample(rng)[0]


class Preview:
    """The reference's next seconds, sampled: `points` points, the last one `seconds` ahead.

    Attributes:
        values: (n, points * PREVIEW_WIDTH), written by `look_one`.
        ahead: what that works on.
    """

    def __init__(self, n: int, seconds: float, points: int) -> None:
        """Make room for n simulations."""
        self.values = np.zeros((n, points * PREVIEW_WIDTH))
        times = seconds * np.arange(1, points + 1) / max(points, 1)
        self.ahead = Ahead(times, setpoints(n), self.values)


@inlined
def follow_one(i: int, time: float, course: Any) -> None:
    """Write the setpoint of simulation i at `time`, s since its reset."""
    now = time + course.phase[i]
    evaluate_one(course.rows, course.first_row[i], course.row_count[i], now, course.setpoint, i)


@inlined
def look_one(i: int, time: float, position: NDArray, course: Any, ahead: Any) -> None:
    """Write simulation i's points as seen at `time` from the base's position (3,) in the world."""
    values, seen = ahead.values, ahead.setpoint
    place, speed, acceleration = seen["position"], seen["velocity"], seen["acceleration"]
    bend = seen["bend"]
    for p in range(ahead.seconds.shape[0]):
        then = time + course.phase[i] + ahead.seconds[p]
        evaluate_one(course.rows, course.first_row[i], course.row_count[i], then, seen, i)
        c = p * PREVIEW_WIDTH
        for k in range(3):
            values[i, c + k] = place[i, k] - position[k]
            values[i, c + 3 + k] = speed[i, k]
            values[i, c + 6 + k] = acceleration[i, k]
        for k in range(2):
            values[i, c + 9 + k] = bend[i, k]
