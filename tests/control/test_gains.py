from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tendon_gym.config import from_dict, to_dict
from tendon_gym.control import PAPER_ATTITUDE_SETS, PAPER_GAINS, GeometricGains, Vehicle

INERTIA = ((6.7e-3, 0.0, 0.0), (0.0, 6.7e-3, 0.0), (0.0, 0.0, 1.2e-2))


def test_the_papers_gains() -> None:
    assert (PAPER_GAINS.kp, PAPER_GAINS.kd, PAPER_GAINS.ki) == ((6, 6, 10), (4, 4, 6), (1, 1, 2))
    assert math.degrees(PAPER_GAINS.max_tilt) == pytest.approx(35.0)
    assert list(PAPER_ATTITUDE_SETS) == ["softest", "soft", "medium", "nominal"]
    assert PAPER_ATTITUDE_SETS["nominal"] == PAPER_GAINS
    # The paper: sqrt(K_R / J) runs from 7 to 24 rad/s.
    bandwidths = [math.sqrt(s.k_rotation[0] / 6.7e-3) for s in PAPER_ATTITUDE_SETS.values()]
    assert bandwidths == sorted(bandwidths)
    assert round(bandwidths[0]) == 7 and round(bandwidths[-1]) == 24


def test_records_hold_what_the_configs_say() -> None:
    gains = GeometricGains(kp=(1.0, 2.0, 3.0), k_rate=(4.0, 5.0, 6.0), max_tilt=math.pi / 4)
    row = gains.record()
    assert row.shape == (1,)
    np.testing.assert_array_equal(row[0]["kp"], [1, 2, 3])
    np.testing.assert_array_equal(row[0]["k_rate"], [4, 5, 6])
    np.testing.assert_array_equal(row[0]["kd"], gains.kd)
    np.testing.assert_array_equal(row[0]["k_omega"], gains.k_omega)
    assert row[0]["max_slope"] == pytest.approx(1.0)
    assert row[0]["integral_limit"] == 1.0
    vehicle = Vehicle(1.26, INERTIA, 9.81).record()
    np.testing.assert_array_equal(vehicle[0]["inertia"], INERTIA)
    assert (vehicle[0]["mass"], vehicle[0]["gravity"]) == (1.26, 9.81)


def test_configs_survive_plain_values() -> None:
    gains = PAPER_ATTITUDE_SETS["soft"]
    assert from_dict(GeometricGains, to_dict(gains)) == gains
    vehicle = Vehicle(1.26, INERTIA)
    assert from_dict(Vehicle, to_dict(vehicle)) == vehicle


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"kp": (1.0, 1.0)}, "kp"),
        ({"kd": (1.0, -1.0, 1.0)}, r"kd\[1\]"),
        ({"k_rotation": (1.0, 1.0, math.nan)}, r"k_rotation\[2\]"),
        ({"k_rate": (math.inf, 1.0, 1.0)}, r"k_rate\[0\]"),
        ({"max_tilt": 0.0}, "max_tilt"),
        ({"max_tilt": math.pi / 2}, "max_tilt"),
        ({"integral_limit": -1.0}, "integral_limit"),
    ],
)
def test_bad_gains_are_refused(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        GeometricGains(**bad)


@pytest.mark.parametrize(
    ("mass", "inertia", "gravity", "words"),
    [
        (0.0, INERTIA, 9.81, "mass"),
        (1.0, INERTIA, -9.81, "gravity"),
        (1.0, np.eye(2), 9.81, "inertia"),
        (1.0, -np.eye(3), 9.81, "inertia"),
        (1.0, [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], 9.81, "inertia"),
        (1.0, np.zeros((3, 3)), 9.81, "inertia"),
    ],
)
def test_bad_vehicles_are_refused(mass: float, inertia: Any, gravity: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Vehicle(mass, inertia, gravity)
