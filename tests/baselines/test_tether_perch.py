"""The controller of TetherPerch: it perches; doing nothing, and anything at all, never does."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym import baselines
from tendon_gym.baselines.tether_perch import ANGLE, SIDE, PerchGains, TetherPerch
from tendon_gym.registration import ENTRIES

ENTRY = ENTRIES["TetherPerch"]


def make(name, n, **settings):
    """Return environments with a policy's interface, and the policy."""
    baseline = baselines.get(name)
    settings = {**baseline.interface(ENTRY), "engine": "compiled", **settings}
    envs = gym.make_vec(ENTRY.id, n, **settings).unwrapped
    return envs, baseline.make(envs)


def successes(name, n, **settings):
    """Return the share of the first episodes of n seeds that are a success."""
    envs, policy = make(name, n, **settings)
    observation, state = envs.reset(seed=list(range(10000, 10000 + n)))[0], None
    over, well = np.zeros(n, bool), np.zeros(n, bool)
    while not over.all():
        actions, state = policy.predict(observation, state)
        observation, _, ended, cut, _ = envs.step(actions)
        now = (ended | cut) & ~over
        well[now] = envs.core.success[now]
        over |= now
    return well.mean()


def test_it_perches():
    assert successes("tether_perch", 16) >= 0.9


def test_it_perches_on_the_other_engine_and_at_another_rate():
    assert successes("tether_perch", 2, engine="mujoco", control_frequency=250.0) == 1.0


def test_it_perches_from_the_other_side():
    """A reference beyond the branch: the vehicle comes back over it, and winds the other way."""
    reference = {"name": "hover", "position": [1.8, 0.0, 3.4]}
    assert successes("tether_perch", 4, reference=reference) == 1.0


@pytest.mark.parametrize("name", ["zero", "random"])
def test_nothing_and_anything_never_perch(name):
    assert successes(name, 40) == 0.0


def test_the_angle_is_followed_over_turns_and_starts_anew_with_an_episode():
    envs, policy = make("tether_perch", 2)
    observation, state = envs.reset(seed=[0, 1])[0], None
    angles = []
    for _ in range(5600):
        actions, state = policy.predict(observation, state)
        angles.append(state[0, ANGLE])
        observation = envs.step(actions)[0]
    assert angles[0] < 0.0 and angles[-1] > 2.0 * np.pi
    assert np.abs(np.diff(angles)).max() < 0.1
    kept = state.copy()
    _, fresh = policy.predict(observation, state, np.array([True, False]))
    assert np.array_equal(state, kept)
    assert abs(fresh[0, ANGLE]) < np.pi and fresh[1, ANGLE] > 2.0 * np.pi
    assert abs(fresh[0, SIDE]) == 1.0


def test_one_and_many_are_treated_alike():
    envs, policy = make("tether_perch", 3)
    observations, state, states = envs.reset(seed=0)[0], None, [None] * 3
    for _ in range(20):
        actions, state = policy.predict(observations, state)
        for i in range(3):
            action, states[i] = policy.predict(observations[i], states[i])
            assert np.array_equal(action, actions[i])
        observations = envs.step(actions)[0]


def test_other_tasks_and_bad_gains_are_refused():
    hover = gym.make(ENTRIES["Hover"].id).unwrapped
    with pytest.raises(ValueError, match=r"task of tether_perch must be .* got 'Hover'"):
        TetherPerch(hover)
    with pytest.raises(ValueError, match=r"PerchGains\.speed must be"):
        PerchGains(speed=0.0)
