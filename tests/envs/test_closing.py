"""A closed environment answers that it is closed, whatever it is asked to do."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

HOVER = ENTRIES["Hover"].id
FACES = {
    "scalar": lambda: gym.make(HOVER, render_mode="rgb_array", width=16, height=16),
    "vector": lambda: gym.make_vec(
        HOVER, num_envs=2, render_mode="rgb_array", width=16, height=16, autoreset_mode="SameStep"
    ),
}
CALLS = {
    "reset": lambda env, _: env.reset(seed=0),
    "step": lambda env, _: env.step(np.zeros(env.action_space.shape)),
    "render": lambda env, _: env.render(),
    "get_state": lambda env, _: env.get_state(),
    "set_state": lambda env, state: env.set_state(state),
}


@pytest.mark.parametrize("face", FACES)
def test_nothing_is_done_after_the_end_and_a_second_end_is_none(face):
    env = FACES[face]()
    env.reset(seed=0)
    state = env.unwrapped.get_state()
    copied = copy.deepcopy(env.unwrapped)
    assert not env.unwrapped.closed
    env.close()
    env.close()
    assert env.unwrapped.closed
    for name, call in CALLS.items():
        for each in (env, env.unwrapped) if name in ("reset", "step") else (env.unwrapped,):
            with pytest.raises(RuntimeError, match=f"is closed: it cannot {name} any more; make"):
                call(each, state)
    # neither others nor copies are closed
    fresh = FACES[face]().unwrapped
    for other in (fresh, copied, copy.deepcopy(env.unwrapped)):
        other.set_state(state)
        assert np.isfinite(other.step(np.zeros(other.action_space.shape))[0]).all()


def test_random_states_are_not_set_after_the_end():
    envs = FACES["vector"]()
    envs.reset(seed=0)
    states = envs.unwrapped.random_state
    envs.close()
    with pytest.raises(RuntimeError, match="cannot set its random_state any more"):
        envs.unwrapped.random_state = states
