"""Configurations and recipes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import gymnasium
import pytest

from tendon_gym import benchmarks, config
from tendon_gym.training import TrainConfig, recipe, recipe_names
from tendon_gym.training.config import VALIDATION_SEED
from tendon_gym.training.recipes import recipe_folder

CHECKOUT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_fits_its_benchmark(name):
    benchmark, _, algo = name.rpartition("-")
    settings = recipe(benchmark, algo)
    assert (settings.benchmark, settings.algo) == (benchmark, algo)
    plain = json.loads(json.dumps(config.to_dict(settings)))
    assert config.from_dict(TrainConfig, plain) == settings
    env = gymnasium.make_vec(
        benchmarks.get(benchmark).entry.id, num_envs=2, **settings.env_settings()
    )
    env.reset(seed=0)
    env.close()


def test_the_recipes_are_those_of_the_checkout():
    assert recipe_folder() == CHECKOUT / "training" / "recipes"
    assert {"bend-tension-ppo", "track-residual-ppo"} <= set(recipe_names())


def test_the_wheels_copy_comes_first(tmp_path, monkeypatch):
    from tendon_gym.training import recipes as module

    monkeypatch.setattr(module, "PACKAGE", tmp_path / "tendon_gym")
    with pytest.raises(FileNotFoundError, match="no folder of recipes"):
        recipe_folder()
    for place in ("training/recipes", "tendon_gym/_data/training/recipes"):
        (tmp_path / place).mkdir(parents=True)
        assert recipe_folder() == tmp_path / place


def test_an_unknown_recipe_lists_those_that_there_are():
    with pytest.raises(ValueError, match=r"one of .*'track-residual'.*, got 'hover-sideways'"):
        recipe("hover-sideways")


def test_no_two_runs_share_a_seed_and_none_meets_the_others():
    highest = VALIDATION_SEED // 64 - 1
    first = [TrainConfig("hover-thrust", seed=seed).first_seed for seed in range(highest + 1)]
    assert all(later - sooner >= 64 for sooner, later in itertools.pairwise(first))
    assert first[-1] + 64 <= VALIDATION_SEED
    assert VALIDATION_SEED + 1_000 <= benchmarks.FIRST_SEED
    with pytest.raises(ValueError, match=f"at most|to {highest}"):
        TrainConfig("hover-thrust", seed=highest + 1)


@pytest.mark.parametrize(
    "values",
    [
        {"benchmark": "nothing"},
        {"algo": "magic"},
        {"total_steps": 0},
        {"batch_size": 1000},
        {"gamma": 1.5},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"network": [0]},
        {"clip": -0.2},
        {"total_steps": 10**30},
        {"num_envs": 10**6, "batch_size": 64},
        {"num_envs": 1_000, "n_steps": 10_000, "batch_size": 1_000},
        {"n_steps": 10**9, "batch_size": 64},
        {"epochs": 10**9},
        {"network": [10**9]},
        {"network": [8] * 9},
        {"learning_rate": 1e300},
        {"learning_rate": 1e-300},
        {"final_learning_rate": 1e300},
        {"log_std_init": 1e300},
        {"clip": 1e-300},
        {"clip_observation": 1e300},
        {"ent_coef": 1e300},
        {"threads": 0},
        {"seed": -1},
        {"interface": {"reward": {}}},
        {"validation_episodes": 2_000},
        {"surprise": 1},
    ],
    ids=str,
)
def test_bad_values_are_refused(values):
    with pytest.raises(ValueError):
        config.from_dict(TrainConfig, {"benchmark": "hover-thrust", **values})
