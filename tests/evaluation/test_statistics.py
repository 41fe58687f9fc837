"""Intervals cover what they claim, on data whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tendon_gym.evaluation import statistics
from tendon_gym.evaluation.statistics import difference, interval, summary, worst


@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_intervals_cover_the_true_mean_about_as_often_as_they_say(draw, monkeypatch):
    """The bootstrap's mean of 40 is known to cover a little less than 95 %."""
    monkeypatch.setattr(statistics, "RESAMPLES", 999)
    rng = np.random.default_rng(3)
    truth, hits, times = {"normal": 0.0, "exponential": 1.0}[draw], 0, 300
    for _ in range(times):
        low, high = interval(getattr(rng, draw)(size=40))
        hits += low <= truth <= high
    assert 0.88 <= hits / times <= 0.98


def test_intervals_of_normal_data_are_nearly_those_of_student():
    values = np.random.default_rng(5).normal(2.0, 0.5, 60)
    low, high = stats.t.interval(0.95, 59, values.mean(), stats.sem(values))
    found = interval(values)
    assert found == pytest.approx((low, high), abs=0.1 * (high - low))


def test_pairing_takes_the_common_part_away():
    rng = np.random.default_rng(6)
    common = rng.normal(10.0, 5.0, 30)
    noise = rng.normal(0.0, 0.1, 30)
    gap = difference(common + 1.0 + noise, common)
    assert gap["mean"] == pytest.approx(1.0 + noise.mean())
    low, high = gap["interval"]
    assert 0.8 < low < 1.0 + noise.mean() < high < 1.2
    with pytest.raises(ValueError, match=r"equal shapes, got \(3,\) and \(2,\)"):
        difference(np.zeros(3), np.zeros(2))


def test_intervals_repeat():
    values = np.random.default_rng(7).normal(size=12)
    assert interval(values) == interval(values.copy())


def test_few_values_have_no_interval():
    values = np.random.default_rng(8).normal(size=6)
    for count in range(1, 5):
        assert interval(values[:count]) is None
        assert difference(values[:count], np.zeros(count))["interval"] is None
    assert interval(values[:5]) is not None


def test_equal_values_leave_no_doubt():
    assert interval(np.full(9, 0.3)) == (0.3, 0.3)
    assert interval(np.zeros(9)) == (0.0, 0.0)
    low, high = interval(np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert 0.0 <= low < 0.125 < high <= 1.0


@pytest.mark.parametrize(
    ("count", "expected"), [(1, 1.0), (7, 7.0), (20, 20.0), (21, 20.5), (40, 39.5), (100, 98.0)]
)
def test_the_worst_twentieth_is_at_least_one_episode(count, expected):
    values = np.random.default_rng(0).permutation(np.arange(1.0, count + 1))
    assert worst(values) == expected
    assert worst(-values, higher_is_better=True) == -expected
    assert worst(values, higher_is_better=True) == count + 1 - expected


def test_a_summary_is_plain():
    values = np.arange(20.0)
    result = summary(values)
    assert result == {"mean": 9.5, "interval": interval(values), "worst": 19.0}
    assert type(result["mean"]) is float
