"""What takes turns: engines through the recorded states, environments whose resets don't count."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from tendon_gym.evaluation.bench import steppers
from tendon_gym.evaluation.bench.flights import SEGMENT, STEPS, record
from tendon_gym.evaluation.bench.settings import HELD, LAW
from tendon_gym.evaluation.bench.steppers import Scalar, Vector, engine_alone, make_native

ENGINES = ("mujoco", "compiled")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [1, 3])
def test_an_engine_alone_flies_the_recorded_flight(engine, n):
    flight = record(*HELD)
    stepper = steppers._Engine(engine, flight, n, 1)
    assert stepper.run(SEGMENT) == SEGMENT * n
    for i in range(n):
        k = 7 * i + SEGMENT
        assert np.allclose(stepper._engine.qpos[i], flight.qpos[k], atol=1e-9)
        assert np.allclose(stepper._engine.qvel[i], flight.qvel[k], atol=1e-7)


def test_an_engine_alone_never_leaves_the_flight():
    flight = record(*LAW)
    stepper = steppers._Engine("mujoco", flight, 2, 1)
    stepper.run(3 * STEPS + SEGMENT // 2)
    assert np.abs(stepper._engine.qpos[0, :3] - flight.qpos[SEGMENT // 2, :3]).max() < 0.01
    made = engine_alone("mujoco", flight, 2, 1, "mj_step")
    assert made.about["case"] == "engine alone, 2 simulations, 1 thread"
    assert (made.name, made.against) == ("engine alone, 2 simulations, 1 thread, mujoco", "mj_step")


class Counting(gymnasium.vector.VectorEnv):
    """Three environments with episodes of 2, 3 and 5 steps."""

    def __init__(self):
        self.num_envs = 3
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, 3)
        self.lengths, self.real, self.actions = np.array([2, 3, 5]), 0, []

    def reset(self, *, seed=None, options=None):
        self.elapsed, self.over = np.zeros(3, int), np.zeros(3, bool)
        return np.zeros((3, 1)), {}

    def step(self, actions):
        self.actions.append(actions)
        self.real += np.count_nonzero(~self.over)
        self.elapsed = np.where(self.over, 0, self.elapsed + 1)
        self.over = self.elapsed == self.lengths
        none = np.zeros(3, bool)
        return self.elapsed[:, None], np.zeros(3), self.over, none, {}


def test_steps_that_only_reset_are_not_counted():
    env = Counting()
    vector = Vector(env)
    counted = [vector.run(count) for count in (1, 7, 2, 30)]
    assert sum(counted) == env.real
    assert env.real < 3 * 40  # there were resets
    assert not np.any(env.actions)


def test_a_policy_sees_the_last_observation():
    class Echo:
        def predict(self, observation):
            return np.repeat(observation, 2, axis=1), None

    env = Counting()
    Vector(env, policy=Echo()).run(3)
    assert [actions[:, 0].tolist() for actions in env.actions] == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]


def test_a_scalar_environment_starts_anew_by_itself(monkeypatch):
    scalar = Scalar(*HELD, random=True)
    resets = []
    reset = scalar.env.reset
    monkeypatch.setattr(scalar.env, "reset", lambda **kwargs: resets.append(reset(**kwargs)))
    assert scalar.run(1000) == 1000
    assert len(resets) > 3
    scalar.env.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_native_environment_is_made_as_asked(engine):
    env = make_native(*LAW, engine, 4, 2)
    config = env.core.config
    assert (env.num_envs, config.engine, config.threads) == (4, engine, 2)
    assert (config.rotor_action, config.tendon_action) == ("residual", "reference")
    env.close()
