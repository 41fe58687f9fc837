"""The references of the paper and their relatives, each made by one function.

Sources: "An Open MuJoCo Simulation Framework for a Quadrotor Carrying a Tendon-Driven Soft
Continuum Arm" for the figure-eight and the mission (the split of the mission's 36 s and its bend
ramps are reconstructed); Flash and Hogan 1985, The coordination of arm movements, for the
minimum-jerk blend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.references import bounds
from tendon_gym.references.setpoint import setpoints
from tendon_gym.references.spline import spline_rows, unit_disc
from tendon_gym.references.table import CHANNELS, ROW, evaluate, new_rows

HOVER_HEIGHT = 1.6  # m, the paper's
START_HEIGHT = 1.0  # m, where the paper's mission begins and ends
TURN_RATE = 0.4 * math.pi  # rad/s, the paper's 0.2 rev/s
WIDTH_RATIO = 0.6  # the figure-eight's width over its length

Vector = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reference:
    """A motion of the base with yaw and bend, as a table of rows (see references/table.py).

    Attributes:
        name: what it is called in tables and plots.
        rows: (m,) of dtype ROW, read-only, without a gap between rows.
    """

    name: str
    rows: NDArray[np.void] = field(repr=False)

    def __post_init__(self) -> None:
        """Check the rows and take a read-only copy."""
        rows = np.array(self.rows)
        if rows.dtype != ROW or rows.ndim != 1 or rows.size == 0:
            raise ValueError(
                f"rows of {self.name!r} must have dtype ROW and shape (m,) with m > 0, "
                f"got {rows.dtype} and {rows.shape}"
            )
        _check_rows(self.name, rows)
        # numpy.concatenate makes a dtype of its own, equal to ROW, and a kernel's call with it
        # costs a microsecond more than with ROW itself
        own = new_rows(rows.size)
        own[:] = rows
        own.flags.writeable = False
        object.__setattr__(self, "rows", own)

    @property
    def duration(self) -> float:
        """The time in s at which the last row ends; inf if the reference never ends."""
        return float(self.rows["end"][-1])

    def at(self, times: ArrayLike) -> NDArray[np.void]:
        """Return the setpoints (n,) of dtype SETPOINT at `times` (n,) in s, for plots and tests."""
        time = checks.array("times", times, (None,))
        out = setpoints(time.size)
        first = np.zeros(time.size, dtype=np.int64)
        evaluate(np.array(self.rows), first, first + self.rows.size, time, out)
        return out


def _check_rows(name: str, rows: NDArray[np.void]) -> None:
    start, end = rows["start"], rows["end"]
    for column in ROW.names or ():
        finite = np.isfinite(rows[column]).reshape(rows.size, -1).all(axis=1)
        if column != "end" and not finite.all():
            k = int(np.flatnonzero(~finite)[0])
            checks.reject(f"{name}: rows[{k}][{column!r}]", rows[column][k], "finite")
    for k in range(rows.size):
        where = f"{name}: rows[{k}]"
        checks.number(f"{where}['start']", start[k], minimum=0.0, maximum=bounds.LONGEST)
        if not end[k] >= start[k] + bounds.SLACK * bounds.SHORTEST:
            legal = f"at least {bounds.SHORTEST:g} s after its start, {start[k]:g} s"
            checks.reject(f"{where}['end']", end[k], legal)
        if bounds.LONGEST < end[k] < math.inf:
            checks.reject(f"{where}['end']", end[k], f"at most {bounds.LONGEST:g} s, or inf")
        if k and start[k] != end[k - 1]:
            legal = f"where the row before it ends, {end[k - 1]:g} s"
            checks.reject(f"{where}['start']", start[k], legal)
        for ramps in (("ramp_in", "ramp_out"), ("bend_ramp_in", "bend_ramp_out")):
            for ramp in ramps:
                bounds.ramp(f"{where}[{ramp!r}]", rows[ramp][k])
            length = sum(rows[ramp][k] for ramp in ramps)
            if length > end[k] - start[k]:
                legal = f"ramps that fit into {end[k] - start[k]:g} s together"
                checks.reject(f"{where}{list(ramps)}", length, legal)
    far = bounds.beyond(rows)
    if far is not None:
        raise ValueError(
            f"{name}: rows[{far}] goes beyond {bounds.FARTHEST:g} m or {bounds.FASTEST:g} m/s"
        )


def _still(position: Vector, yaw: float = 0.0) -> NDArray[np.void]:
    """Return one endless row that stays at `position`."""
    rows = new_rows(1)
    rows["end"] = math.inf
    rows["coefficients"][0, :3, 0] = bounds.position("position", position)
    rows["coefficients"][0, 3, 0] = bounds.angle("yaw", yaw)
    return rows


def _last(rows: NDArray[np.void], duration: float) -> NDArray[np.void]:
    """Return the endless row cut to `duration`."""
    rows["end"] = bounds.duration("duration", duration)
    return rows


def _one_after_another(*parts: NDArray[np.void]) -> NDArray[np.void]:
    """Return rows that each start at time 0 as one table."""
    rows = np.concatenate(parts)
    ends = np.cumsum(rows["end"])
    rows["start"], rows["end"] = np.concatenate([[0.0], ends[:-1]]), ends
    return rows


def hover(
    position: Vector = (0.0, 0.0, HOVER_HEIGHT), yaw: float = 0.0, bend: Vector = (0.0, 0.0)
) -> Reference:
    """Stay at `position` in m with `yaw` in rad and a constant bend (mu cos beta, mu sin beta)."""
    rows = _still(position, yaw)
    rows["bend"][0] = unit_disc("bend", checks.array("bend", bend, (2,)))
    return Reference("hover", rows)


def transition(
    start: Vector = (0.0, 0.0, START_HEIGHT),
    end: Vector = (0.0, 0.0, HOVER_HEIGHT),
    duration: float = 4.0,
    start_yaw: float = 0.0,
    end_yaw: float = 0.0,
) -> Reference:
    """Move from rest to rest along a straight line with minimum jerk.

    Args:
        start: position (3,) in m.
        end: position (3,) in m.
        duration: s, long enough for FASTEST and SPINNING of references/bounds.py.
        start_yaw: rad.
        end_yaw: rad; the turn is end_yaw - start_yaw, which may exceed half a turn.
    """
    first = [*bounds.position("start", start), bounds.angle("start_yaw", start_yaw)]
    goal = [*bounds.position("end", end), bounds.angle("end_yaw", end_yaw)]
    rows = _last(_still(first[:3], first[3]), duration)
    way = np.array(goal) - first
    bounds.check_pace("duration", duration, math.hypot(*way[:3]), way[3])
    rows["coefficients"][0, :, 3] = 10.0 * way / duration**3
    rows["coefficients"][0, :, 4] = -15.0 * way / duration**4
    rows["coefficients"][0, :, 5] = 6.0 * way / duration**5
    return Reference("transition", rows)


def steady_figure_eight(
    amplitude: float = 1.2, period: float = 8.0, height: float = HOVER_HEIGHT
) -> Reference:
    """Fly (A sin wt, 0.6 A sin 2wt, height), w = 2 pi / period, for ever at full amplitude.

    Args:
        amplitude: A in m; with it and the period the speed must stay below bounds.FASTEST.
        period: s, of the whole figure, at least 0.1.
        height: m.
    """
    rows = _still((0.0, 0.0, bounds.coordinate("height", height)))
    turn = 2.0 * math.pi / checks.number("period", period, minimum=0.1, maximum=bounds.LONGEST)
    # the middle of the figure is its fastest point
    largest = bounds.FASTEST / (turn * math.hypot(1.0, 2.0 * WIDTH_RATIO))
    largest = min(bounds.FARTHEST, largest)
    amplitude = checks.number("amplitude", amplitude, minimum=0.0, maximum=largest)
    rows["frequency"][0, :2] = turn, 2.0 * turn
    rows["amplitude"][0, 0, 0] = amplitude
    rows["amplitude"][0, 1, 1] = WIDTH_RATIO * amplitude
    return Reference("steady_figure_eight", rows)


def figure_eight(
    amplitude: float = 1.2,
    period: float = 8.0,
    height: float = HOVER_HEIGHT,
    ramp: float = 2.0,
    duration: float = 16.0,
) -> Reference:
    """Fly the paper's figure-eight: its amplitude rises from 0 to A and falls back to 0.

    Args:
        amplitude: A in m, along x; 0.6 A along y.
        period: s, of the whole figure.
        height: m.
        ramp: s, of the minimum-jerk rise of the amplitude, and of its fall.
        duration: s.
    """
    rows = _last(np.array(steady_figure_eight(amplitude, period, height).rows), duration)
    rows["ramp_in"] = rows["ramp_out"] = bounds.ramp("ramp", ramp, duration)
    return Reference("figure_eight", rows)


def bend_hold(
    position: Vector = (0.0, 0.0, HOVER_HEIGHT),
    magnitude: float = 1.0,
    direction: float = 0.0,
    ramp: float = 1.0,
) -> Reference:
    """Hover and bend: the magnitude rises from 0 with minimum jerk and stays.

    Args:
        position: m.
        magnitude: mu, from 0 to 1.
        direction: beta in rad.
        ramp: s.
    """
    rows = _still(position)
    rows["bend_magnitude"] = checks.number("magnitude", magnitude, minimum=0.0, maximum=1.0)
    rows["bend_direction"] = bounds.angle("direction", direction)
    rows["bend_ramp_in"] = bounds.ramp("ramp", ramp)
    return Reference("bend_hold", rows)


def rotating_bend(
    position: Vector = (0.0, 0.0, HOVER_HEIGHT),
    magnitude: float = 1.0,
    direction: float = 0.0,
    rate: float = TURN_RATE,
    ramp: float = 2.0,
    duration: float = 10.0,
) -> Reference:
    """Hover while the bend direction turns; the magnitude rises from 0 and falls back to 0.

    Args:
        position: m.
        magnitude: mu, from 0 to 1.
        direction: beta at the start, rad.
        rate: rad/s; the paper's is 0.2 rev/s.
        ramp: s, of the minimum-jerk rise of mu, and of its fall.
        duration: s.
    """
    rows = _last(np.array(bend_hold(position, magnitude, direction).rows), duration)
    rows["bend_rate"] = bounds.rate("rate", rate)
    rows["bend_ramp_in"] = rows["bend_ramp_out"] = bounds.ramp("ramp", ramp, duration)
    return Reference("rotating_bend", rows)


def mission() -> Reference:
    """Fly the paper's 36 s: hover, climb, figure-eight, hover with a turning bend, return.

    They take 4, 4, 16, 10 and 2 s (reconstructed).
    """
    low, high = (0.0, 0.0, START_HEIGHT), (0.0, 0.0, HOVER_HEIGHT)
    rows = _one_after_another(
        _last(_still(low), 4.0),
        transition(low, high, 4.0).rows,
        figure_eight().rows,
        rotating_bend(high).rows,
        transition(high, low, 2.0).rows,
    )
    return Reference("mission", rows)


def waypoints(
    times: ArrayLike,
    positions: ArrayLike,
    yaw: ArrayLike | None = None,
    bend: ArrayLike | None = None,
) -> Reference:
    """Pass through waypoints at given times, from rest to rest.

    Position and yaw follow a quintic spline, C^4 between its ends, where velocity and acceleration
    are zero; two waypoints give the minimum-jerk motion. The bend goes straight from one waypoint's
    to the next, so that it never exceeds the larger of the two.

    Args:
        times: (n,) s, strictly increasing, from 0 or later, n >= 2.
        positions: (n, 3) m.
        yaw: (n,) rad, taken as it is (not wrapped); zero if left out.
        bend: (n, 2), (mu cos beta, mu sin beta); zero if left out.
    """
    time = checks.increasing("times", times)
    if not 2 <= time.size <= bounds.MOST or time[0] < 0.0 or time[-1] > bounds.LONGEST:
        legal = f"2 to {bounds.MOST}, from 0 to {bounds.LONGEST:g} s"
        checks.reject("times", time, legal)
    values, bends = np.zeros((time.size, CHANNELS)), np.zeros((time.size, 2))
    largest = {"minimum": -bounds.FARTHEST, "maximum": bounds.FARTHEST}
    values[:, :3] = checks.array("positions", positions, (time.size, 3), **largest)
    if yaw is not None:
        largest = {"minimum": -bounds.TURNED, "maximum": bounds.TURNED}
        values[:, 3] = checks.array("yaw", yaw, (time.size,), **largest)
    if bend is not None:
        bends = unit_disc("bend", checks.array("bend", bend, (time.size, 2)))
    bounds.check_steps("times", time, values[:, :3], values[:, 3])
    rows = spline_rows(time, values, bends, rest=True)
    far = bounds.beyond(rows)
    if far is not None:
        legal = (
            "spaced so evenly that the spline stays within "
            f"{bounds.FARTHEST:g} m and {bounds.FASTEST:g} m/s behind [{far}]"
        )
        checks.reject("times", time, legal)
    return Reference("waypoints", rows)
