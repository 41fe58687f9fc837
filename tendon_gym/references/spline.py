"""Interpolating splines as rows of a reference table."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from tendon_gym import checks
from tendon_gym.references.table import DEGREE, new_rows


def unit_disc(name: str, bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `bend` (2,) or (n, 2), whose magnitudes must not exceed 1."""
    magnitude = np.hypot(bend[..., 0], bend[..., 1])
    # cos and sin of a legal direction may leave the unit circle by a rounding
    if (magnitude > 1.0 + 1e-12).any():
        worst = bend.reshape(-1, 2)[int(np.argmax(magnitude))]
        checks.reject(name, worst.tolist(), "of magnitude at most 1")
    return bend


def spline_rows(
    times: NDArray[np.float64],
    values: NDArray[np.float64],
    bends: NDArray[np.float64],
    *,
    rest: bool,
) -> NDArray[np.void]:
    """Return the n - 1 rows of a quintic spline through n >= 2 samples.

    Args:
        times: (n,) s, strictly increasing.
        values: (n, 4) x, y, z in m and yaw in rad: C^4 at the inner samples.
        bends: (n, 2), joined by straight lines, which never leave the unit disc.
        rest: whether velocity and acceleration are zero at both ends. Otherwise the third and
            fourth derivatives are (the natural spline), and two samples give a straight line.
    """
    degree = DEGREE if rest or times.size > 2 else 1
    ends = [(order, np.zeros(values.shape[1])) for order in ((1, 2) if rest else (3, 4))]
    spline = make_interp_spline(times, values, degree, bc_type=(ends, ends) if degree > 1 else None)
    rows = new_rows(times.size - 1)
    rows["start"], rows["end"] = times[:-1], times[1:]
    for order in range(degree + 1):
        derivative = spline(times[:-1], nu=order)
        rows["coefficients"][:, :, order] = derivative / math.factorial(order)
    rows["bend"] = bends[:-1]
    rows["bend_slope"] = np.diff(bends, axis=0) / np.diff(times)[:, None]
    return rows
