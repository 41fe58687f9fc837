"""The adapter against Stable-Baselines3's own DummyVecEnv of scalar environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor, VecNormalize

from tendon_gym.registration import ENTRIES
from tendon_gym.sb3 import SB3VecEnv, make_vec_env

N, SEED = 3, 5
# short episodes that start anywhere and end early at times
SETTINGS: dict[str, Any] = {
    "rotor_action": "thrust",
    "horizon": 0.6,
    "limits": {"distance": 0.4},
    "threads": 1,
}


def adapter(task: str = "Hover", n: int = N, **settings: Any) -> SB3VecEnv:
    entry = ENTRIES[task]
    chosen = {**SETTINGS, **settings}
    return SB3VecEnv(
        gymnasium.make_vec(entry.id, num_envs=n, autoreset_mode="SameStep", **chosen)  # type: ignore[arg-type]
    )


def dummy(task: str = "Hover", n: int = N, **settings: Any) -> DummyVecEnv:
    chosen = {**SETTINGS, **settings}

    def one() -> gymnasium.Env:
        return Monitor(gymnasium.make(ENTRIES[task].id, **chosen))

    return DummyVecEnv([one] * n)


def test_it_equals_the_scalar_environments_step_by_step():
    ours, theirs = adapter(), dummy()
    ours.seed(SEED)
    theirs.seed(SEED)
    assert ours.reset().dtype == np.float32
    ours.seed(SEED)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    rng = np.random.default_rng(0)
    ends = {True: 0, False: 0}
    for _ in range(250):
        actions = rng.uniform(-1.0, 1.0, (N, *ours.action_space.shape)).astype(np.float32)
        mine, yours = ours.step(actions), theirs.step(actions)
        for a, b in zip(mine[:3], yours[:3], strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        for done, info, other in zip(mine[2], mine[3], yours[3], strict=True):
            if not done:
                assert info == {}
                continue
            ends[other["TimeLimit.truncated"]] += 1
            for name in ("TimeLimit.truncated", "is_success", "termination_reason"):
                assert info[name] == other[name]
            np.testing.assert_array_equal(
                info["terminal_observation"], other["terminal_observation"]
            )
            assert info["episode"]["l"] == other["episode"]["l"]
            assert info["episode"]["r"] == pytest.approx(other["episode"]["r"], abs=1e-5)
    assert min(ends.values()) > 0, "both kinds of ends must have occurred"


class Recorder(BaseCallback):
    """Keeps every observation and reward that the learner sees, and what ends episodes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[np.ndarray] = []
        self.ends: list[np.ndarray] = []

    def _on_step(self) -> bool:
        values = self.locals
        self.seen += [values["new_obs"].copy(), values["rewards"].copy()]
        self.ends.append(values["dones"].copy())
        last = [each.get("terminal_observation") for each in values["infos"]]
        self.seen += [each for each in last if each is not None]
        return True


def test_ppo_sees_and_learns_the_same_as_on_dummy_vec_env():
    """Every observation, reward and end of training is equal, and so is what was learned."""
    torch.set_num_threads(1)

    def learn(env: Any) -> tuple[Recorder, dict[str, torch.Tensor]]:
        model = PPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=2, seed=3, device="cpu")
        recorder = Recorder()
        return recorder, model.learn(3 * 64 * N, callback=recorder).policy.state_dict()

    (mine, weights), (theirs, wanted) = learn(adapter()), learn(dummy())
    assert len(mine.seen) == len(theirs.seen) > 2 * 3 * 64
    assert all(np.array_equal(a, b) for a, b in zip(mine.seen, theirs.seen, strict=True))
    assert np.array_equal(mine.ends, theirs.ends) and np.sum(mine.ends) > 5
    assert all(torch.equal(weights[name], wanted[name]) for name in wanted)


def test_environments_are_made_by_id_and_seeded():
    id = ENTRIES["Track"].id
    env = make_vec_env(id, 3, seed=SEED, horizon=0.3, engine="compiled")
    assert isinstance(env, SB3VecEnv) and env.num_envs == 3
    bare = gymnasium.make_vec(id, num_envs=3, horizon=0.3, engine="compiled")
    np.testing.assert_array_equal(env.reset(), bare.reset(seed=SEED)[0])
    again = make_vec_env("tendon_gym:" + id, 3, seed=SEED)
    np.testing.assert_array_equal(again.action_space.sample(), env.action_space.sample())
    env.step(np.zeros((3, *env.action_space.shape), np.float32))
    assert env.get_attr("observation_space")[0] == env.observation_space
    assert env.get_attr("action_space", indices=1) == [env.action_space]


def test_what_is_no_vector_environment_of_ours_is_refused_with_the_way_out():
    scalar = gymnasium.make(ENTRIES["Hover"].id)
    others = [scalar, scalar.unwrapped, gymnasium.make_vec("CartPole-v1", num_envs=2), None]
    for env in others:
        with pytest.raises(TypeError, match=r"vector environment of this package.*make_vec_env"):
            SB3VecEnv(env)
    with pytest.raises(TypeError, match="a scalar environment"):
        SB3VecEnv(scalar)


def test_seeds_count_for_one_reset_alone():
    env = adapter()
    assert env.seed(SEED) == [SEED, SEED + 1, SEED + 2]
    first = env.reset()
    second = env.reset()
    assert not np.array_equal(first, second)
    env.seed(SEED)
    np.testing.assert_array_equal(env.reset(), first)
    assert env.reset_infos == [{}] * N


BAD_SEEDS: list[tuple[Any, type[Exception], str]] = [
    (-1, ValueError, "seed must be an integer of at least 0, got -1"),
    (1.5, TypeError, "seed must be an integer, got 1.5 of type float"),
    ("a", TypeError, "seed must be an integer, got 'a' of type str"),
    ([1, 2, 3], TypeError, r"seed must be an integer, got \[1, 2, 3\] of type list"),
    (
        np.arange(3.0),
        TypeError,
        r"got \[0.0, 1.0, 2.0\], an array of shape \(3,\) and type float64",
    ),
]


@pytest.mark.parametrize("seed, kind, message", BAD_SEEDS, ids=str)
def test_a_bad_seed_is_refused_in_our_words(seed, kind, message):
    with pytest.raises(kind, match=message):
        make_vec_env(ENTRIES["Hover"].id, N, seed=seed)
    env = adapter()
    env.seed(SEED)
    with pytest.raises(kind, match=message):
        env.seed(seed)
    np.testing.assert_array_equal(env.reset(), env.env.reset(seed=SEED)[0])


def test_numpys_integers_and_large_ones_are_seeds():
    for seed in (np.int64(SEED), np.uint8(SEED)):
        env = make_vec_env(ENTRIES["Hover"].id, N, seed=seed, **SETTINGS)
        np.testing.assert_array_equal(env.reset(), env.env.reset(seed=SEED)[0])
    env = make_vec_env(ENTRIES["Hover"].id, N, seed=2**80, **SETTINGS)
    np.testing.assert_array_equal(env.reset(), env.env.reset(seed=2**80)[0])


def test_options_reach_the_environments_once():
    env = adapter("Track", reference="steady_figure_eight")
    phases = [0.5, 1.0, 1.5]
    env.set_options([{"phase": phase} for phase in phases])
    env.reset()
    np.testing.assert_array_equal(env.env.core.schedule.phase, phases)
    env.reset()
    assert not np.array_equal(env.env.core.schedule.phase, phases)
    env.set_options([{"phase": 0.0}, {}, {}])
    with pytest.raises(ValueError, match="same for all"):
        env.reset()
    env.set_options([{"qpos": np.zeros(500)}, {}, {}])
    with pytest.raises(ValueError, match=r"same for all .*, got .*\.\.\.$"):
        env.reset()


def test_the_random_state_can_be_put_back():
    env = adapter()
    env.seed(SEED)
    env.reset()
    state = env.random_state
    wanted = env.reset()
    env.seed(SEED)  # waits for a reset, and must not win
    env.random_state = state
    np.testing.assert_array_equal(env.reset(), wanted)


def test_attributes_are_those_of_the_vector_environment():
    env = adapter()
    assert env.render_mode is None
    assert env.get_attr("render_mode") == [None] * N
    assert env.get_attr("control_frequency", indices=[0, 2]) == [100.0] * 2
    assert not env.has_attr("nothing_of_this_name")
    env.set_attr("note", 1)
    assert env.env.note == 1  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"indices=\[0\]"):
        env.set_attr("note", 2, indices=[0])
    assert env.env_method("close_extras") == [None] * N
    assert env.env_is_wrapped(Monitor) == [True] * N
    assert env.env_is_wrapped(VecMonitor) == [False] * N
    env.close()


def test_pictures_come_from_every_environment():
    env = adapter(n=2, render_mode="rgb_array", width=32, height=24)
    env.reset()
    images = env.get_images()
    assert [np.shape(image) for image in images] == [(24, 32, 3)] * 2
    env = adapter(n=4, render_mode="rgb_array", width=32, height=24, render_ids=[3])
    assert len(env.get_images()) == 1


def test_evaluate_policy_takes_it_without_a_warning():
    env = adapter()
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu")
    returns, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True)
    assert isinstance(lengths, list)
    assert isinstance(returns, list)
    assert len(returns) == 4
    assert max(lengths) <= 60


def test_normalised_terminal_observations():
    """VecNormalize must find the last observation of an ended episode and normalise it too."""
    env = VecNormalize(adapter(), norm_reward=False)
    env.reset()
    for _ in range(100):
        _, _, done, infos = env.step(np.zeros((N, 7), np.float32))
        for i in np.flatnonzero(done):
            assert np.abs(infos[i]["terminal_observation"]).max() <= env.clip_obs
        if done.any():
            return
    pytest.fail("no episode ended")


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_other_autoreset_modes_are_refused(mode):
    env = gymnasium.make_vec(ENTRIES["Hover"].id, num_envs=2, autoreset_mode=mode, threads=1)
    with pytest.raises(ValueError, match=f"SameStep.*{mode}"):
        SB3VecEnv(env)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_adapter_is_closed_with_its_environments(wrapped):
    env: VecEnv = make_vec_env(ENTRIES["Hover"].id, 2, render_mode="rgb_array", width=16, height=16)
    env = VecNormalize(env) if wrapped else env
    env.reset()
    env.close()
    env.close()
    for name, call in (
        ("reset", lambda: env.reset()),
        ("step", lambda: env.step(np.zeros((2, 7), np.float32))),
        ("render", lambda: env.get_images()),
        ("get_state", lambda: env.env_method("get_state")),
    ):
        with pytest.raises(RuntimeError, match=f"is closed: it cannot {name} any more"):
            call()
