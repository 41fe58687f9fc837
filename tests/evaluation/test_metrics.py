"""Metrics of flights made by hand, whose values are known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tendon_gym.benchmarks import Benchmark
from tendon_gym.evaluation.metrics import METRICS, bend_held, metrics
from tendon_gym.evaluation.rollout import SERIES, Flight

BOUNDS = {
    "position_error": 2.0,
    "tip_error": 1.0,
    "bend_error": 0.16,
    "attitude_error": math.pi,
    "tension_effort": 12.0,
    "thrust_effort": 20.0,
    "action_rate": math.nan,
    "reward": 0.0,
}


def made(values, seconds=4.0, rate=100.0, settle=0.0, ended=None):
    """Return a flight of one episode; `values`: of each series, functions of time."""
    steps = round(seconds * rate)
    time = np.arange(1, steps + 1) / rate
    length = steps if ended is None else round(ended * rate)
    series = {}
    for name in SERIES:
        series[name] = np.broadcast_to(values.get(name, lambda t: 0 * t)(time), (1, steps)).copy()
        series[name][:, length:] = np.nan
    empty = np.zeros((1, steps, 3))
    return Flight(
        benchmark=Benchmark("made", "Track", "by hand", seconds, settle),
        policy="made",
        settings={},
        seeds=[0],
        step_time=1.0 / rate,
        series=series,
        position=empty,
        reference=empty,
        length=np.array([length]),
        reason=["" if ended is None else "far"],
        success=np.array([ended is None]),
        bounds=BOUNDS,
        full_moment=0.08,
    )


def constant(value):
    return lambda time: np.full_like(time, value)


def values_of(flight):
    return {name: float(value[0]) for name, value in metrics(flight).items()}


def test_every_metric_is_there_for_every_episode():
    result = metrics(made({}))
    assert list(result) == list(METRICS)
    assert all(value.shape == (1,) for value in result.values())


def test_constant_errors_are_their_own_mean_and_maximum():
    flight = made({name: constant(0.125) for name in SERIES})
    result = values_of(flight)
    for name in ("position", "tip", "bend", "attitude"):
        assert result[f"{name}_rms"] == pytest.approx(0.125)
        assert result[f"{name}_max"] == pytest.approx(0.125)
    assert result["tension_effort"] == pytest.approx(0.125)
    assert result["thrust_effort"] == pytest.approx(0.125)
    assert (result["ended_early"], result["success"]) == (0.0, 1.0)


def test_the_rms_of_a_sine_is_its_amplitude_over_the_root_of_two():
    wave = made({"position_error": lambda t: 0.3 * np.sin(2 * math.pi * t)})
    result = values_of(wave)
    assert result["position_rms"] == pytest.approx(0.3 / math.sqrt(2))
    assert result["position_max"] == pytest.approx(0.3, rel=1e-3)


def test_errors_leave_out_the_time_to_settle_and_the_reward_does_not():
    def decaying(t):
        return np.where(t <= 1.0 + 1e-9, 1.0, 0.1)

    names = ("position_error", "tip_error", "tension_effort", "reward")
    flight = made(dict.fromkeys(names, decaying), settle=1.0)
    result = values_of(flight)
    assert result["position_rms"] == pytest.approx(0.1)
    assert result["position_max"] == pytest.approx(0.1)
    assert result["tip_rms"] == pytest.approx(0.1)
    assert result["tension_effort"] == pytest.approx(0.1)
    assert result["reward"] == pytest.approx((1.0 * 1.0 + 3.0 * 0.1) / 4.0)


@pytest.mark.parametrize("rate", [500.0, 100.0, 50.0])
def test_nothing_depends_on_the_control_frequency(rate):
    values = {"reward": constant(0.7), "bend_error": lambda t: 0.1 * (np.floor(t - 1e-9) % 2)}
    result = values_of(made(values, rate=rate))
    assert result["reward"] == pytest.approx(0.7)
    assert result["bend_rms"] == pytest.approx(0.1 / math.sqrt(2))


def test_an_early_end_counts_with_the_worst_for_the_rest():
    flight = made({name: constant(0.1) for name in SERIES}, ended=1.0)
    result = values_of(flight)
    for name in ("position", "tip", "bend", "attitude"):
        worst = BOUNDS[f"{name}_error"]
        rms = math.sqrt((1.0 * 0.1**2 + 3.0 * worst**2) / 4.0)
        assert result[f"{name}_rms"] == pytest.approx(rms)
        assert result[f"{name}_max"] == pytest.approx(worst)
    for name in ("tension_effort", "thrust_effort"):
        assert result[name] == pytest.approx((0.1 + 3.0 * BOUNDS[name]) / 4.0)
    assert result["reward"] == pytest.approx(0.1 / 4.0)
    assert (result["ended_early"], result["success"]) == (1.0, 0.0)


def test_the_state_that_ended_an_episode_counts_as_the_worst_and_no_more():
    flight = made({name: lambda t: np.where(t > 0.995, 5.0, 0.1) for name in SERIES}, ended=1.0)
    far = made({name: lambda t: np.where(t > 0.995, 1e9, 0.1) for name in SERIES}, ended=1.0)
    for result in (values_of(flight), values_of(far)):
        for name in ("position", "tip", "bend", "attitude"):
            assert result[f"{name}_max"] == BOUNDS[f"{name}_error"]
            assert result[f"{name}_rms"] < BOUNDS[f"{name}_error"]
        assert result["tension_effort"] < BOUNDS["tension_effort"]


def test_ending_earlier_is_never_better():
    ends = [0.5, 1.0, 2.0, 3.5, None]
    values = {name: constant(0.1) for name in SERIES}
    rows = [values_of(made(values, settle=0.5, ended=end)) for end in ends]
    for name, metric in METRICS.items():
        column = [row[name] * (1 if metric.higher_is_better else -1) for row in rows]
        assert column == sorted(column), name
        assert column[0] < column[-1]


def test_a_bend_is_held_up_to_two_percent_of_the_full_moment():
    paper = {"bend_rms": np.array([0.001, 0.003])}
    limit = 0.002 + 0.02 * 0.08
    for shift, held in ((-1e-6, True), (1e-6, False)):
        own = {"bend_rms": np.array([limit + shift + 0.001, limit + shift - 0.001])}
        assert bend_held(own, paper, 0.08) is held
    assert bend_held(paper, paper, 0.08)


def test_slack_tendons_do_not_hold_the_bend_of_the_mission():
    """A tenth of the time at full bend is enough to tell."""

    def asked(t):
        return np.where(t > 3.6, 0.08, 0.0)

    slack = metrics(made({"bend_error": asked}))
    paper = metrics(made({"bend_error": constant(0.0001)}))
    assert not bend_held(slack, paper, 0.08)


def test_flights_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        made({}).policy = "other"
