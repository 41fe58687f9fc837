"""The definitions of the paper's table on signals whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tendon_gym.evaluation.paper import metrics

STEP = 0.002
TIME = STEP * np.arange(1, 5001)  # 10 s


def test_rms_of_numbers_and_of_vectors():
    assert metrics.rms(np.array([3.0, -4.0, 0.0, 0.0])) == pytest.approx(2.5)
    # lengths 5 and 13
    vectors = np.array([[3.0, 0.0, 4.0], [0.0, 5.0, 12.0]])
    assert metrics.rms(vectors) == pytest.approx(math.sqrt((25 + 169) / 2))
    assert math.isnan(metrics.rms(np.array([1.0, math.nan])))


@pytest.mark.parametrize("frequency", [0.23, 0.47, 1.31, 7.0])
def test_dominant_frequency_is_not_bound_to_the_spectrum_of_its_duration(frequency):
    strong = np.sin(2 * np.pi * frequency * TIME + 0.7)
    weak = 0.3 * np.sin(2 * np.pi * 3.1 * frequency * TIME)
    samples = np.stack([40.0 + strong + weak, 0.5 * strong - 3.0], axis=1)
    assert metrics.dominant_frequency(samples, STEP) == pytest.approx(frequency, abs=0.03)


def test_dominant_frequency_weighs_the_columns_by_their_power():
    samples = np.stack([np.sin(2 * np.pi * TIME), 2.0 * np.sin(4 * np.pi * TIME)], axis=1)
    assert metrics.dominant_frequency(samples, STEP) == pytest.approx(2.0, abs=0.02)


def test_a_flight_that_ended_early_has_no_frequency():
    assert math.isnan(metrics.dominant_frequency(np.full((5000, 2), math.nan), STEP))


def test_settling_time_of_a_decaying_oscillation():
    # |cos| is 1 at every half second: the last peak above 1 cm is the last k/2 with exp(-k/2) > 0.1
    since = 1.0
    u = np.maximum(TIME - since, 0.0)
    distance = 0.1 * np.exp(-u) * np.abs(np.cos(2 * np.pi * u)) * (TIME >= since)
    last_peak = 0.5 * math.floor(math.log(10.0) / 0.5)
    settled = metrics.settling_time(TIME, distance, 0.01, since)
    assert last_peak <= settled < last_peak + 0.1
    after = TIME > since + settled
    assert (distance[after] <= 0.01).all()


@pytest.mark.parametrize(
    ("over", "settled"),
    [
        ((2.0, 3.0), 1.8),  # the last sample above is at 3.0
        ((0.5, 1.0), 0.0),  # only before the end of the push
        ((9.0, 99.0), 8.8),  # never settles: as long as it was watched
        ((50.0, 60.0), 0.0),  # never away
    ],
)
def test_settling_time_is_counted_from_the_push(over, settled):
    distance = np.where((TIME > over[0] - 1e-9) & (TIME < over[1] + 1e-9), 0.02, 0.01)
    assert metrics.settling_time(TIME, distance, 0.01, 1.2) == pytest.approx(settled)


def test_settling_time_of_a_flight_that_ended_early_is_unknown():
    distance = np.where(TIME < 5.0, 0.0, math.nan)
    assert math.isnan(metrics.settling_time(TIME, distance, 0.01, 1.2))


def test_spread():
    assert metrics.spread(np.array([0.98, 1.0, 1.02])) == pytest.approx(0.02)
    assert metrics.spread(np.zeros(5)) == 0.0


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (lambda x: np.tanh(1.5 * x), True),
        (lambda x: x, False),  # linear up to the end
        (lambda x: np.sqrt(x), False),  # not linear at first
        (lambda x: 0.0 * x, False),
    ],
)
def test_saturates(curve, expected):
    places = np.linspace(0.0, 1.0, 11)
    assert metrics.saturates(places, curve(places)) is expected
