"""Where random numbers come from: the seed and the episode's number, and nothing else."""

from __future__ import annotations

import dataclasses
import json

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.envs.episodes import Episodes, check_seeds
from tendon_gym.registration import ENTRIES

TRACK = ENTRIES["Track"].id


def firsts(env, count):
    """Return the first observations of the next episodes."""
    return [env.reset()[0] for _ in range(count)]


@pytest.mark.parametrize("name", ENTRIES)
def test_episode_k_is_the_kth_reset_after_the_seed(name):
    env, other = (gym.make(ENTRIES[name].id).unwrapped for _ in range(2))
    episodes = [env.reset(seed=4)[0], *firsts(env, 3)]
    assert len(np.unique(episodes, axis=0)) == 4
    # flown, drawn from, started elsewhere, spawned from: the next episode is the next one
    rows = [other.reset(seed=4)[0]]
    for _ in range(7):
        other.step(np.full(other.action_space.shape, 0.3))
    other.np_random.random(99)
    rows += firsts(other, 1)
    other.reset(options={"qpos": other.model.qpos0})
    other.np_random.spawn(2)
    rows += firsts(other, 1)
    for mine, wanted in zip(rows, [episodes[0], episodes[1], episodes[3]], strict=True):
        assert np.array_equal(mine, wanted)


def test_a_generator_of_ones_own_begins_at_its_first_episode():
    env = gym.make(TRACK).unwrapped
    episodes = [env.reset(seed=8)[0], *firsts(env, 1)]
    env.np_random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(8)))
    for wanted in episodes:
        assert np.array_equal(env.reset()[0], wanted)


def test_episodes_differ_from_what_a_user_spawns():
    source = np.random.default_rng(3)
    episodes = Episodes(source)
    mine = [episodes.next().random()]
    episodes.count += 1
    mine.append(episodes.next().random())
    theirs = [child.random() for child in source.spawn(2)]
    assert len({*mine, *theirs, source.random()}) == 5


def test_a_state_is_plain_and_goes_on_where_it_was_taken():
    episodes = Episodes.seeded(12)
    for _ in range(5):
        episodes.source.random()
        episodes.count += 1
    again = Episodes.restored(json.loads(json.dumps(episodes.state())))
    assert again.count == 5
    assert np.array_equal(again.next().random(4), episodes.next().random(4))
    assert np.array_equal(again.source.random(4), episodes.source.random(4))


@pytest.mark.parametrize(
    "seed, expected",
    [
        (None, [None] * 3),
        (5, [5, 6, 7]),
        (np.int32(5), [5, 6, 7]),
        (True, [1, 2, 3]),
        ([1, None, 3], [1, None, 3]),
        ((np.uint8(1), 2, 3), [1, 2, 3]),
        (np.array([4, 4, 4]), [4, 4, 4]),
        ({9}, None),
        (2**70, [2**70, 2**70 + 1, 2**70 + 2]),
    ],
)
def test_seeds_that_are_taken(seed, expected):
    if expected is None:
        assert check_seeds(seed, 1) == [9]
        return
    assert check_seeds(seed, 3) == expected


BAD = [
    (-1, ValueError, "seed must be an integer of at least 0, got -1"),
    (1.5, TypeError, "seed must be an integer, got 1.5"),
    (float("nan"), TypeError, "seed must be an integer, got nan"),
    ("7", TypeError, "seed must be an integer, got '7'"),
    ({"a": 1}, TypeError, "seed must be an integer"),
]
BAD_OF_MANY = [
    *BAD,
    ([1, -2], ValueError, r"seed\[1\] must be an integer of at least 0, got -2"),
    ([1, 2.0], TypeError, r"seed\[1\] must be an integer, got 2.0"),
    (np.array([1.0, np.nan]), TypeError, r"seed\[0\] must be an integer, got 1.0"),
    ([1, 2, 3], ValueError, "2 seeds, got 3"),
]


@pytest.mark.parametrize("seed, kind, message", BAD)
def test_a_bad_seed_of_one_is_refused_before_anything_changes(seed, kind, message):
    env, twin = gym.make(TRACK).unwrapped, gym.make(TRACK).unwrapped
    for each in (env, twin):
        each.reset(seed=1)
        each.step(np.full(7, 0.1))
    with pytest.raises(kind, match=message):
        env.reset(seed=seed)
    assert np.array_equal(env.step(np.zeros(7))[0], twin.step(np.zeros(7))[0])
    assert np.array_equal(env.reset()[0], twin.reset()[0])


@pytest.mark.parametrize("seed, kind, message", BAD_OF_MANY)
def test_a_bad_seed_of_many_is_refused_before_anything_changes(seed, kind, message):
    envs, twins = (gym.make_vec(TRACK, num_envs=2) for _ in range(2))
    action = np.full((2, 7), 0.1)
    for each in (envs, twins):
        each.reset(seed=1)
        each.step(action)
    with pytest.raises(kind, match=message):
        envs.reset(seed=seed)
    assert np.array_equal(envs.step(action)[0], twins.step(action)[0])
    assert np.array_equal(envs.reset()[0], twins.reset()[0])


@pytest.mark.parametrize(
    "name, value",
    [("entropy", -1), ("spawn_key", 5), ("source", {}), ("count", -1), ("count", 1.5)],
)
def test_what_is_no_random_state_is_refused_before_anything_changes(name, value):
    envs, twins = (gym.make_vec(TRACK, num_envs=2).unwrapped for _ in range(2))
    for each in (envs, twins):
        each.reset(seed=1)
    good = envs.random_state
    bad = [good[0], {**good[1], name: value}]
    state = envs.get_state()
    lacking = {key: each for key, each in good[1].items() if key != name}
    for states in (bad, [good[0], lacking], [good[0], None]):
        with pytest.raises(ValueError, match="must be one that random_state returned, got"):
            envs.random_state = states
    with pytest.raises(ValueError, match="must be one that random_state returned, got"):
        envs.set_state(dataclasses.replace(state, episodes=tuple(bad)))
    assert np.array_equal(envs.reset()[0], twins.reset()[0])


def test_an_episode_has_a_key_of_its_own_for_its_noise():
    envs, twin = gym.make_vec(TRACK, num_envs=3).unwrapped, gym.make(TRACK).unwrapped
    keys = []
    for seed in (5, None, None):
        envs.reset(seed=seed)
        keys.append(envs.core.keys.copy())
    assert len(np.unique(keys)) == 9
    assert np.min(keys) >= 0 and np.max(keys) < 2**52
    # of the seed and the episode alone, and part of the state
    twin.reset(seed=6)
    assert twin.core.keys[0] == keys[0][1]
    state = envs.get_state()
    envs.reset()
    envs.set_state(state)
    assert np.array_equal(envs.core.keys, keys[2])
