"""What a control law is asked to do at one instant: the row that references fill and laws track."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Record = Any
"""One row of a structured array, which numpy's types do not tell from an array."""

SETPOINT = np.dtype(
    [
        ("position", np.float64, 3),
        ("velocity", np.float64, 3),
        ("acceleration", np.float64, 3),
        ("jerk", np.float64, 3),
        ("snap", np.float64, 3),
        ("yaw", np.float64),
        ("yaw_rate", np.float64),
        ("yaw_acceleration", np.float64),
        ("bend", np.float64, 2),
    ]
)
"""Position of the base origin and its first four time derivatives in world axes (m, s), the
heading of the base's x axis and its derivatives (rad, s), and the bend of the arm
(mu cos beta, mu sin beta) with 0 <= mu <= 1 in the base's x and y axes."""


def setpoints(n: int) -> NDArray[np.void]:
    """Return `n` setpoints that are all zero: rest at the world's origin, the arm straight."""
    return np.zeros(n, SETPOINT)
