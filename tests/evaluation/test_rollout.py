"""Flights: the same as in scalar environments, only first episodes, nothing after their end."""

from __future__ import annotations

import dataclasses
import json
import math

import gymnasium
import numpy as np
import pytest

from tendon_gym import baselines, benchmarks
from tendon_gym.baselines import learned
from tendon_gym.evaluation.metrics import metrics
from tendon_gym.evaluation.rollout import SERIES, fly, label, make_env


def shortened(name, seconds):
    return dataclasses.replace(benchmarks.get(name), horizon=seconds, settle=0.0)


def scalar_flight(benchmark, policy, seed):
    """Return the episode of one seed, step by step, in a scalar environment."""
    baseline = baselines.get(policy)
    settings = benchmark.env_settings(baseline.interface(benchmark.entry))
    env = gymnasium.make(benchmark.entry.id, **settings)
    pilot = baseline.make(env.unwrapped)
    observation, info = env.reset(seed=seed)
    state, rows, over = None, [], False
    while not over:
        action, state = pilot.predict(observation, state)
        observation, reward, terminated, truncated, info = env.step(action)
        signals = env.unwrapped.core.signals[0]
        info = {**info, "reward": reward, "attitude_error": signals["attitude_error"]}
        rows.append([info[name] for name in SERIES] + signals["position"].tolist())
        over = terminated or truncated
    env.close()
    return np.array(rows), info


@pytest.mark.parametrize(
    ("name", "policy", "seconds"),
    [
        ("track-thrust", "geometric_full", 0.5),
        ("bend-tension", "geometric_paper", 0.6),
        ("armbend-tension", "geometric_paper", 0.3),
        ("hover-thrust", "zero", 8.0),  # ends early
    ],
)
def test_flies_what_scalar_environments_fly(name, policy, seconds):
    benchmark = shortened(name, seconds)
    flight = fly(benchmark, policy, episodes=3, seed=40)
    assert flight.seeds == [40, 41, 42]
    assert all(flight.reason) == (policy == "zero")
    for k, seed in enumerate(flight.seeds):
        rows, info = scalar_flight(benchmark, policy, seed)
        length = len(rows)
        assert flight.length[k] == length
        assert flight.reason[k] == info["termination_reason"]
        assert flight.success[k] == info["is_success"]
        for column, key in enumerate(SERIES):
            found = flight.series[key][k, :length]
            assert found == pytest.approx(rows[:, column], rel=1e-12, abs=1e-15), key
            assert np.isnan(flight.series[key][k, length:]).all()
        assert np.array_equal(flight.position[k, :length], rows[:, len(SERIES) :])
        assert np.isnan(flight.position[k, length:]).all()


def test_the_reference_is_the_figure_eight():
    flight = fly(shortened("track-steady", 1.0), "geometric_full", episodes=2)
    for path in flight.reference:
        phase = 2.0 * math.pi * flight.time / 8.0
        phase += math.atan2(path[0, 0] / 1.2, np.gradient(path[:, 0], flight.time)[0] / 0.9425)
        phase -= 2.0 * math.pi * flight.time[0] / 8.0
        eight = np.stack([1.2 * np.sin(phase), 0.72 * np.sin(2 * phase), 0 * phase + 1.6], 1)
        assert np.allclose(path, eight, atol=2e-3)


def test_seeds_and_numbers_come_from_the_benchmark():
    benchmark = dataclasses.replace(shortened("track-steady", 0.02), episodes=4)
    flight = fly(benchmark, "geometric_paper")
    assert flight.seeds == [10_000, 10_001, 10_002, 10_003]
    assert flight.time == pytest.approx(0.002 * np.arange(1, 11))


def test_random_flights_repeat():
    benchmark = shortened("track-thrust", 0.5)
    first, second = (fly(benchmark, "random", episodes=2) for _ in range(2))
    for name in SERIES:
        assert np.array_equal(first.series[name], second.series[name], equal_nan=True)


def test_a_watcher_sees_every_state():
    seen = []
    benchmark = shortened("armbend-tension", 0.1)
    fly(benchmark, "zero", 1, watch=lambda core: seen.append(int(core.elapsed[0])))
    assert seen == list(range(11))


def test_no_error_exceeds_its_bound():
    """The bounds fill in for a crash, so nothing that flies may be worse, but by a step."""
    for policy in ("random", "zero"):
        flight = fly(shortened("bend-tension", 4.0), policy, episodes=6)
        assert any(flight.reason)
        for name in ("tip_error", "bend_error", "attitude_error"):
            assert np.nanmax(flight.series[name]) <= flight.bounds[name] * (1 + 1e-9)
        for name in ("tension_effort", "thrust_effort"):
            assert np.nanmax(flight.series[name]) <= flight.bounds[name] * (1 + 1e-9)
        assert np.nanmin(flight.series["reward"]) >= flight.bounds["reward"]


def test_the_bounds_are_those_of_the_vehicle():
    bounds = fly(shortened("track-steady", 0.01), "zero", episodes=1).bounds
    assert bounds["position_error"] == 2.0
    assert bounds["tip_error"] == pytest.approx(2 * 0.526)
    assert bounds["bend_error"] == pytest.approx(2 * math.sqrt(3) / 2 * 0.015 * 6.0)
    assert bounds["attitude_error"] == pytest.approx(math.pi)
    assert bounds["tension_effort"] == pytest.approx(2 * 6.0)
    assert bounds["thrust_effort"] == pytest.approx(4 * 8.0 - 1.26 * 9.81, rel=1e-3)


def test_what_cannot_fly_is_refused(monkeypatch):
    benchmark = shortened("track-steady", 0.1)
    with pytest.raises(ValueError, match=r"policy must be .*geometric_paper.*got 'nobody'"):
        fly(benchmark, "nobody")
    for bad in ({"episodes": 0}, {"episodes": -1}, {"episodes": 10**9}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            fly(benchmark, "zero", **bad)
    cheat = baselines.Baseline(lambda entry: {"start": {"position": 0.0}}, baselines.Zero)
    monkeypatch.setitem(baselines.BASELINES, "cheat", cheat)
    with pytest.raises(ValueError, match="a policy's interface has no 'start'"):
        fly(benchmark, "cheat")


def test_a_flight_that_fills_the_memory_is_refused():
    benchmark = dataclasses.replace(benchmarks.get("track-steady"), horizon=1e5)
    with pytest.raises(ValueError, match=r"at most 10000000, got 1 \* 50000000"):
        fly(benchmark, "geometric_full", episodes=1)


def test_a_learned_policy_flies_from_its_folder(tmp_path):
    """One that has learned to add nothing flies the full law, whose loop runs below it."""
    benchmark = dataclasses.replace(benchmarks.get("track-steady"), horizon=3.0)
    env = make_env(benchmark, 1, benchmark.env_settings())
    layout = learned.describe(env.observation_layout)
    inputs, outputs = env.single_observation_space.shape[0], env.single_action_space.shape[0]
    env.close()
    about = {
        "format": learned.FORMAT,
        "benchmark": benchmark.name,
        "task": benchmark.task,
        "interface": dict(benchmark.interface),
        "layout": layout,
        "clip": 10.0,
    }
    folder = tmp_path / "nothing"
    folder.mkdir()
    (folder / "policy.json").write_text(json.dumps(about))
    network = {"weight_0": np.zeros((inputs, outputs)), "bias_0": np.zeros(outputs)}
    np.savez(folder / "policy.npz", mean=np.zeros(inputs), scale=np.ones(inputs), **network)
    flight = fly(benchmark, str(folder), episodes=3)
    assert (flight.policy, flight.step_time) == ("nothing", pytest.approx(0.02))
    own = metrics(flight)["position_rms"]
    full = metrics(fly(benchmark, "geometric_full", episodes=3))["position_rms"]
    assert own == pytest.approx(full, rel=0.05)
    with pytest.raises(ValueError, match="'nothing', trained on track-steady"):
        fly(benchmarks.get("bend-tension"), str(folder))


def test_labels_are_names_or_folders(tmp_path):
    assert label("zero") == "zero"
    assert label(str(tmp_path / "mine")) == "mine"
