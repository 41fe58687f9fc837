from __future__ import annotations

import numpy as np

from tendon_gym.references import SETPOINT, setpoints


def test_setpoints_are_at_rest_and_independent() -> None:
    rows = setpoints(3)
    assert rows.dtype == SETPOINT and rows.shape == (3,)
    assert SETPOINT.itemsize == 8 * (5 * 3 + 3 + 2)
    rows[1]["position"][2] = 1.5
    rows["bend"][0] = 0.5
    assert rows["position"].tolist() == [[0, 0, 0], [0, 0, 1.5], [0, 0, 0]]
    assert rows["bend"].tolist() == [[0.5, 0.5], [0, 0], [0, 0]]
    assert all(not np.any(rows[name]) for name in ("velocity", "jerk", "snap", "yaw"))
