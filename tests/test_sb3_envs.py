"""Stable-Baselines3's expectations of the environments: its checker, and its worker processes.

Apart from tests/envs, which also runs where Stable-Baselines3 is not installed.
"""

from __future__ import annotations

import sys
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from tendon_gym import rewards
from tendon_gym.registration import ENTRIES


@pytest.mark.parametrize("name", ENTRIES)
def test_its_checker_passes_without_a_warning(name):
    env = gym.make(ENTRIES[name].id, render_mode="rgb_array", width=32, height=32)
    check_env(env.unwrapped)
    env.close()


OWN_TERM = """
import tendon_gym
from tendon_gym import rewards

rewards.register("level", lambda signals, margin: 1.0 - signals["tilt"] / margin)
"""


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12's, with threads
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_its_workers_know_the_ids_and_a_users_own_reward(method, tmp_path, monkeypatch):
    """What a module registers is known wherever the id names the module."""
    (tmp_path / "a_users_own_reward.py").write_text(OWN_TERM)
    monkeypatch.syspath_prepend(str(tmp_path))
    id = "a_users_own_reward:" + ENTRIES["Hover"].id
    reward = {"level": {"weight": 0.5, "margin": 3.2}}
    make = partial(gym.make, id, horizon=0.04, model="paper", reward=reward)
    here, there = DummyVecEnv([make] * 2), SubprocVecEnv([make] * 2, start_method=method)
    try:
        for envs in (here, there):
            envs.seed(3)
        assert np.array_equal(here.reset(), there.reset())
        for k in range(6):
            action = np.full((2, 7), 0.1, np.float32)
            mine, other = here.step(action), there.step(action)
            assert np.array_equal(mine[0], other[0]) and np.array_equal(mine[2], other[2])
            assert np.array_equal(mine[1], other[1].astype(np.float32))
            assert mine[2].all() == (k == 3)
            for info in other[3]:
                assert ("terminal_observation" in info) == (k == 3)
                assert info["TimeLimit.truncated"] == (k == 3)
                assert info["reward_terms"]["level"] == 0.5 * (1.0 - info["tilt"] / 3.2)
    finally:
        there.close()
        here.close()
        rewards.terms._terms.pop("level", None)
        sys.modules.pop("a_users_own_reward", None)
