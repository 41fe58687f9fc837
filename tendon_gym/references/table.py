"""Every reference is a table of rows; one compiled kernel evaluates it with exact derivatives.

A row holds for start <= t < end. With u = t - start, and c = x, y, z, yaw,

    value_c(u) = sum_k coefficients[c, k] u^k
               + envelope(u) sum_h amplitude[h, c] sin(frequency[h] u + phase[h])
    bend(u)    = bend + bend_slope u + bend_magnitude bend_envelope(u) (cos b, sin b),
                 b = bend_direction + bend_rate u

An envelope rises from 0 to 1 over its ramp at the row's start and falls back over its ramp before
the row's end, both with the minimum-jerk blend; a ramp of zero seconds leaves it at 1. A straight
minimum-jerk motion is a quintic, so hover, transition, spline and Lissajous figures are all rows.

A derivative is that of the row that holds at t. The blend has zero first and second derivative at
its ends, so a table of the library's makers is C^2 in time and its jerk may jump at the edge of a
ramp; a spline is C^4 at its inner points. Before the first row and from the end of the last one
on, the reference stays at the nearest value, with all derivatives zero.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined

DEGREE = 5
HARMONICS = 4
CHANNELS = 4  # x, y, z, yaw

ROW = np.dtype(
    [
        ("start", np.float64),  # s
        ("end", np.float64),  # s, may be inf
        ("coefficients", np.float64, (CHANNELS, DEGREE + 1)),  # m/s^k, yaw rad/s^k
        ("frequency", np.float64, HARMONICS),  # rad/s; 0: the harmonic is unused
        ("phase", np.float64, HARMONICS),  # rad, at the row's start
        ("amplitude", np.float64, (HARMONICS, CHANNELS)),  # m, yaw rad
        ("ramp_in", np.float64),  # s
        ("ramp_out", np.float64),  # s
        ("bend", np.float64, 2),  # (mu cos beta, mu sin beta)
        ("bend_slope", np.float64, 2),  # 1/s
        ("bend_magnitude", np.float64),  # mu, from 0 to 1
        ("bend_direction", np.float64),  # rad
        ("bend_rate", np.float64),  # rad/s
        ("bend_ramp_in", np.float64),  # s
        ("bend_ramp_out", np.float64),  # s
    ]
)


def new_rows(n: int) -> NDArray[np.void]:
    """Return `n` rows of zeros (n,), for a maker to fill."""
    return np.zeros(n, dtype=ROW)


@inlined
def _minimum_jerk(s: float, rate: float) -> tuple[float, float, float, float, float]:
    """Return 10 s^3 - 15 s^4 + 6 s^5 and four time derivatives, for ds/dt = rate.

    Flash and Hogan 1985, The coordination of arm movements.
    """
    r = 1.0 - s
    return (
        s * s * s * (10.0 + s * (6.0 * s - 15.0)),
        30.0 * s * s * r * r * rate,
        60.0 * s * r * (1.0 - 2.0 * s) * rate**2,
        (60.0 - 360.0 * s * r) * rate**3,
        (720.0 * s - 360.0) * rate**4,
    )


@inlined
def _envelope(
    u: float, length: float, ramp_in: float, ramp_out: float
) -> tuple[float, float, float, float, float]:
    """Return the envelope of a row of `length` seconds and its four time derivatives at u."""
    if u < ramp_in:
        return _minimum_jerk(u / ramp_in, 1.0 / ramp_in)
    if length - u < ramp_out:
        return _minimum_jerk((length - u) / ramp_out, -1.0 / ramp_out)
    return 1.0, 0.0, 0.0, 0.0, 0.0


@inlined
def _wave(
    frequency: float, phase: float, u: float, envelope: tuple[float, float, float, float, float]
) -> tuple[float, float, float, float, float]:
    """Return envelope times sine and its four time derivatives, by Leibniz's rule."""
    if frequency == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    e0, e1, e2, e3, e4 = envelope
    angle = frequency * u + phase
    w0 = math.sin(angle)
    w1 = math.cos(angle) * frequency
    w2 = -w0 * frequency**2
    w3 = -w1 * frequency**2
    w4 = -w2 * frequency**2
    return (
        e0 * w0,
        e1 * w0 + e0 * w1,
        e2 * w0 + 2.0 * e1 * w1 + e0 * w2,
        e3 * w0 + 3.0 * (e2 * w1 + e1 * w2) + e0 * w3,
        e4 * w0 + 4.0 * (e3 * w1 + e1 * w3) + 6.0 * e2 * w2 + e0 * w4,
    )


@inlined
def _channel(
    rows: NDArray[np.void],
    row: int,
    c: int,
    u: float,
    waves: tuple[tuple[float, float, float, float, float], ...],
) -> tuple[float, float, float, float, float]:
    """Return the value of channel c at u seconds into the row and its four time derivatives."""
    k = rows["coefficients"][row, c]
    p = k[0] + u * (k[1] + u * (k[2] + u * (k[3] + u * (k[4] + u * k[5]))))
    v = k[1] + u * (2.0 * k[2] + u * (3.0 * k[3] + u * (4.0 * k[4] + u * 5.0 * k[5])))
    a = 2.0 * k[2] + u * (6.0 * k[3] + u * (12.0 * k[4] + u * 20.0 * k[5]))
    j = 6.0 * k[3] + u * (24.0 * k[4] + u * 60.0 * k[5])
    s = 24.0 * k[4] + u * 120.0 * k[5]
    for h in range(HARMONICS):
        amplitude = rows["amplitude"][row, h, c]
        p += amplitude * waves[h][0]
        v += amplitude * waves[h][1]
        a += amplitude * waves[h][2]
        j += amplitude * waves[h][3]
        s += amplitude * waves[h][4]
    return p, v, a, j, s


@inlined
def _find(rows: NDArray[np.void], first: int, count: int, time: float) -> int:
    """Return the last row of the block that starts at or before `time`, or the first one."""
    low, high = first, first + count
    while high - low > 1:
        middle = (low + high) // 2
        if rows["start"][middle] <= time:
            low = middle
        else:
            high = middle
    return low


@inlined
def _bend(rows: NDArray[np.void], row: int, u: float, out: NDArray[np.void], i: int) -> None:
    """Write the bend at u seconds into the row."""
    length = rows["end"][row] - rows["start"][row]
    ramp_in, ramp_out = rows["bend_ramp_in"][row], rows["bend_ramp_out"][row]
    magnitude = rows["bend_magnitude"][row]
    x, y = 0.0, 0.0
    if magnitude != 0.0:
        angle = rows["bend_direction"][row] + rows["bend_rate"][row] * u
        magnitude *= _envelope(u, length, ramp_in, ramp_out)[0]
        x, y = magnitude * math.cos(angle), magnitude * math.sin(angle)
    out["bend"][i, 0] = rows["bend"][row, 0] + rows["bend_slope"][row, 0] * u + x
    out["bend"][i, 1] = rows["bend"][row, 1] + rows["bend_slope"][row, 1] * u + y


@inlined
def evaluate_one(
    rows: NDArray[np.void], first: int, count: int, time: float, out: NDArray[np.void], i: int
) -> None:
    """Write the setpoint of one reference to out[i].

    Args:
        rows: table (m,) of dtype ROW.
        first: index of the reference's first row.
        count: number of its rows, which follow one another without a gap.
        time: s, finite.
        out: setpoints (n,) of dtype SETPOINT.
        i: element of `out` to write.
    """
    row = _find(rows, first, count, time)
    start, end = rows["start"][row], rows["end"][row]
    u = min(max(time, start), end) - start
    moves = 1.0 if start <= time < end else 0.0
    envelope = _envelope(u, end - start, rows["ramp_in"][row], rows["ramp_out"][row])
    frequency, phase = rows["frequency"][row], rows["phase"][row]
    waves = (
        _wave(frequency[0], phase[0], u, envelope),
        _wave(frequency[1], phase[1], u, envelope),
        _wave(frequency[2], phase[2], u, envelope),
        _wave(frequency[3], phase[3], u, envelope),
    )
    for c in range(3):
        p, v, a, j, s = _channel(rows, row, c, u, waves)
        out["position"][i, c] = p
        out["velocity"][i, c] = moves * v
        out["acceleration"][i, c] = moves * a
        out["jerk"][i, c] = moves * j
        out["snap"][i, c] = moves * s
    p, v, a, j, s = _channel(rows, row, 3, u, waves)
    out["yaw"][i] = p
    out["yaw_rate"][i] = moves * v
    out["yaw_acceleration"][i] = moves * a
    _bend(rows, row, u, out, i)


@compiled
def evaluate(
    rows: NDArray[np.void],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    time: NDArray[np.float64],
    out: NDArray[np.void],
) -> None:
    """Write the setpoints of n simulations to `out` (n,).

    Args:
        rows: table (m,) of dtype ROW; simulations may share rows or own them.
        first: (n,) index of each simulation's first row.
        count: (n,) number of its rows.
        time: (n,) s, finite, any phase offset already added.
        out: setpoints (n,) of dtype SETPOINT: position m, velocity m/s, acceleration, jerk and
            snap in world axes; yaw in rad; bend (mu cos beta, mu sin beta) in the base's axes.
    """
    for i in range(time.shape[0]):
        evaluate_one(rows, first[i], count[i], time[i], out, i)
