"""The policies that come with the package fly what they were trained for, and fly it well.

Seeds are those of the benchmarks, which neither training nor the choice of the seed has seen.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from tendon_gym import baselines, benchmarks
from tendon_gym.baselines import learned
from tendon_gym.training import recipe

CHECKOUT = Path(__file__).parents[2]
NAMES = ("bend-tension", "track-residual", "track-thrust")
EPISODES = 6


def flown(benchmark: benchmarks.Benchmark, policy: str) -> dict[str, Any]:
    """Fly a policy from the benchmark's seeds; return root mean squares after settling."""
    baseline = baselines.get(policy)
    settings = benchmark.env_settings(baseline.interface(benchmark.entry))
    env: Any = gymnasium.make_vec(benchmark.entry.id, num_envs=EPISODES, **settings)
    pilot = baseline.make(env)
    observation, _ = env.reset(seed=benchmark.first_seed)
    errors, rewards, state = [], [], None
    for _ in range(env.core.horizon):
        action, state = pilot.predict(observation, state)
        assert env.action_space.contains(action)
        observation, reward, terminated, _, infos = env.step(action)
        assert not terminated.any()
        names = ("position_error", "tip_error", "bend_error")
        errors.append([infos[name] for name in names])
        rewards.append(reward)
    settled = np.array(errors[round(benchmark.settle / env.core.step_time) :])
    position, tip, bend = np.sqrt(np.mean(settled**2, axis=(0, 2)))
    env.close()
    return {"position": position, "tip": tip, "bend": bend, "reward": float(np.mean(rewards))}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_by_its_name_and_matches_its_recipe(name):
    assert set(learned.shipped()) >= set(NAMES)
    artefact = learned.load(learned.shipped()[name])
    settings = recipe(name)
    assert artefact.benchmark == name
    assert artefact.settings == settings.flown_interface
    assert artefact.network.weights[0].shape[1] == settings.network[0]
    files = [path for path in learned.shipped()[name].iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 300_000


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_median_of_the_seeds(name):
    results = sorted((CHECKOUT / "training" / "results" / name).glob("seed-*/result.json"))
    rewards = {}
    for path in results:
        about = json.loads(path.read_text(encoding="utf-8"))
        rewards[about["seed"]] = about["validation"]["reward"]
        assert {file.name for file in path.parent.iterdir()} == {
            "curve.csv",
            "curve.png",
            "result.json",
        }
    assert len(rewards) >= 3
    about = json.loads((learned.shipped()[name] / "policy.json").read_text(encoding="utf-8"))
    assert rewards[about["seed"]] == np.median(list(rewards.values()))


@pytest.mark.slow
def test_on_the_figure_eight_it_beats_the_papers_controller_ten_times():
    benchmark = benchmarks.get("track-steady")
    ours, theirs = flown(benchmark, "track-residual"), flown(benchmark, "geometric_paper")
    assert ours["position"] < 0.1 * theirs["position"]
    assert ours["bend"] <= theirs["bend"] + 1e-4  # N m: the slack arm stays slack


@pytest.mark.slow
def test_with_thrusts_alone_it_beats_both_laws():
    benchmark = benchmarks.get("track-thrust")
    ours, paper, full = (
        flown(benchmark, name)["position"]
        for name in ("track-thrust", "geometric_paper", "geometric_full")
    )
    assert ours < 0.5 * full < 0.5 * paper


@pytest.mark.slow
def test_the_bending_policy_comes_close_to_the_classical_controller():
    """It has to find the allocation of the tendons by itself, which the controller is given."""
    benchmark = benchmarks.get("bend-tension")
    ours, theirs = flown(benchmark, "bend-tension"), flown(benchmark, "geometric_full")
    assert ours["reward"] > 0.8 * theirs["reward"]
    assert ours["tip"] < 1.2 * theirs["tip"]
    assert ours["position"] < 1.2 * theirs["position"]
