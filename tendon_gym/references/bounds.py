"""How far, how long and how fast a reference may be: beyond is a slip, or breaks arithmetic."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks

FARTHEST = 1e4
"""Largest magnitude of a coordinate, m."""
LONGEST = 1e6
"""Latest time, and longest duration of anything that ends, s."""
SHORTEST = 1e-4
"""Shortest time between two points, and shortest ramp, s."""
FASTEST = 1e3
"""Largest speed, m/s."""
TURNED = 1e4
"""Largest magnitude of an angle, rad."""
SPINNING = 1e3
"""Largest rate of an angle, rad/s."""
SLACK = 0.999
"""Share of a shortest time that is enough: decimals make times come a little early."""
MOST = 100_000
"""Most samples of a spline."""

_INSIDE = np.linspace(0.0, 1.0, 9)
"""Where in a row its polynomials are tried, as shares of its length."""


def position(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return a position (3,), m."""
    return checks.array(name, value, (3,), minimum=-FARTHEST, maximum=FARTHEST)


def coordinate(name: str, value: object) -> float:
    """Return one coordinate, m."""
    return checks.number(name, value, minimum=-FARTHEST, maximum=FARTHEST)


def angle(name: str, value: object) -> float:
    """Return an angle, rad."""
    return checks.number(name, value, minimum=-TURNED, maximum=TURNED)


def rate(name: str, value: object) -> float:
    """Return the rate of an angle, rad/s."""
    return checks.number(name, value, minimum=-SPINNING, maximum=SPINNING)


def duration(name: str, value: object) -> float:
    """Return a duration, s."""
    return checks.number(name, value, minimum=SHORTEST, maximum=LONGEST)


def ramp(name: str, value: object, whole: float = 2.0 * LONGEST) -> float:
    """Return the length of a ramp, s, of which two must fit into `whole`; 0 is none at all."""
    result = checks.number(name, value, minimum=0.0, maximum=whole / 2.0)
    if 0.0 < result < SHORTEST:
        checks.reject(name, value, f"0 or at least {SHORTEST:g} s")
    return result


def check_pace(name: str, value: float, way: float, turn: float) -> None:
    """Raise if `value` seconds are too short for a minimum-jerk way, m, and turn, rad."""
    peak = 1.875  # of the speed, over its mean
    for size, most, words in ((way, FASTEST, "m"), (turn, SPINNING, "rad")):
        least = peak * abs(size) / most
        if value < least:
            legal = (
                f"at least {least:g} s for {abs(size):g} {words}, to stay below {most:g} {words}/s"
            )
            checks.reject(name, value, legal)


def beyond(rows: NDArray[np.void]) -> int | None:
    """Return the first row that leaves FARTHEST or FASTEST, of rows that each are finite.

    An endless row is looked at for its first second.
    """
    length = np.where(np.isinf(rows["end"]), 1.0, rows["end"] - rows["start"])
    u = length[:, None, None] * _INSIDE[:, None]
    coefficients = rows["coefficients"][:, None, :3, :]
    place, speed = np.zeros(1), np.zeros(1)
    with np.errstate(over="ignore", invalid="ignore"):
        for order in reversed(range(coefficients.shape[-1])):
            speed = speed * u + place
            place = place * u + coefficients[..., order]
        waves = np.abs(rows["amplitude"][:, :, :3])
        swing = waves.sum(axis=1)
        swiftness = (waves * np.abs(rows["frequency"])[:, :, None]).sum(axis=1)
        far = np.abs(place).max(axis=1) + swing
        fast = np.abs(speed).max(axis=1) + swiftness
    # what is not a number is beyond, too
    bad = ~((far <= 1.001 * FARTHEST) & (fast <= 1.001 * FASTEST)).all(axis=1)
    return int(np.flatnonzero(bad)[0]) if bad.any() else None


def check_steps(
    name: str, times: NDArray[np.float64], values: NDArray[np.float64], yaw: NDArray[np.float64]
) -> None:
    """Raise if samples are too close in time for how far they are apart.

    Args:
        name: of the times.
        times: (n,) s, strictly increasing.
        values: (n, 3) m.
        yaw: (n,) rad.
    """
    for k in range(1, len(times)):
        way, turn = math.dist(values[k], values[k - 1]), abs(yaw[k] - yaw[k - 1])
        least = least_step(way, turn)
        if times[k] - times[k - 1] < SLACK * least:
            before = checks.shown(times[k - 1])
            legal = f"at least {least:.4g} s after [{k - 1}], {before} s ({way:g} m, {turn:g} rad)"
            checks.reject(f"{name}[{k}]", times[k], legal)


def least_step(way: float, turn: float) -> float:
    """Return the shortest time, s, between two samples `way` m and `turn` rad apart."""
    return max(SHORTEST, way / FASTEST, turn / SPINNING)
