"""What a user writes to the one simulation's MjData: it counts from the next step on, alike on both
engines, until the next reset."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

ENGINES = pytest.mark.parametrize("engine", ["mujoco", "compiled"])
PUSH = {"external_wrench": {"body": "base", "force": [0.3, 0, 0], "start": 1.0, "duration": 0.1}}


def make(engine, name="Hover", **settings):
    env = gym.make(ENTRIES[name].id, engine=engine, **settings).unwrapped
    env.reset(seed=0)
    return env


def step(env, count=1):
    """Return the info after some steps."""
    for _ in range(count):
        *_, info = env.step(np.zeros(env.action_space.shape))
    return info


@ENGINES
@pytest.mark.parametrize("rotor_action", ["thrust", "attitude"])
@pytest.mark.parametrize(
    "written, steps", [(1.0, 500), (0.0, 0), (0.0013, 1), (0.0009, 0), (7.123, 3562), (1e6, 5e8)]
)
def test_a_time_that_was_written_is_gone_on_from(engine, rotor_action, written, steps):
    """As the nearest count of physics steps of 2 ms, which is how the time is kept."""
    env = make(engine, rotor_action=rotor_action)
    step(env, 7)
    kept = env.data
    assert kept.time == 35 * 0.002
    kept.time = written
    assert env.data.time == written
    assert step(env)["time"] == (steps + 5) * 0.002 == env.data.time == kept.time
    assert step(env, 2)["time"] == (steps + 15) * 0.002 == kept.time
    assert env.reset()[1]["time"] == 0.0 == env.data.time


@ENGINES
def test_forces_go_by_the_time_that_was_written(engine):
    env, other = make(engine, forces=PUSH), make(engine, forces=PUSH)
    flights = []
    for each, time in ((env, 0.98), (other, 0.0)):
        each.data.time = time
        flights.append([each.step(np.zeros(7))[0][3] for _ in range(12)])
    velocities = np.subtract(*flights)
    assert not velocities[:2].any()  # until 1.0 s
    mass = env.core.layout.mass
    assert velocities[2] == pytest.approx(0.3 * 0.01 / mass, rel=0.5)
    assert (np.diff(velocities[1:]) > 0.0).all()


@ENGINES
def test_the_reference_goes_by_the_time_that_was_written_and_the_horizon_does_not(engine):
    settings = {"reference": "steady_figure_eight", "horizon": 0.3}
    env, other = (make(engine, "Track", **settings) for _ in range(2))
    start = {"qpos": env.model.qpos0}
    env.reset(options={**start, "phase": 0.0})
    other.reset(options={**start, "phase": 2.5})
    env.data.time = 2.5
    ends = []
    for _ in range(30):
        mine, theirs = env.step(np.zeros(7)), other.step(np.zeros(7))
        np.testing.assert_allclose(mine[0], theirs[0], rtol=0, atol=1e-5)
        ends.append(mine[3])
    assert ends == [False] * 29 + [True]


@ENGINES
@pytest.mark.parametrize("time", [math.nan, math.inf, -0.1, 1e7])
def test_a_time_that_is_none_is_refused_and_a_reset_helps(engine, time):
    env = make(engine)
    step(env, 3)
    before = env.core.engine.qpos.copy()
    env.data.time = time
    for call in (lambda: step(env), env.get_state):
        with pytest.raises(ValueError, match=r"data.time must be finite .* at most 1e\+06, got "):
            call()
    assert np.array_equal(env.core.engine.qpos, before)
    env.reset(seed=0)
    assert step(env)["time"] == 0.01


@ENGINES
def test_a_written_time_is_in_the_state(engine):
    env, other = make(engine), make(engine)
    env.data.time = 3.0
    other.set_state(env.get_state())
    assert other.data.time == 3.0
    assert step(other)["time"] == step(env)["time"] == 1505 * 0.002


@ENGINES
def test_forces_that_were_written_end_with_the_episode(engine):
    env, other = make(engine), make(engine)
    env.data.xfrc_applied[1, 2], env.data.qfrc_applied[7] = 2.0, 0.01
    step(env, 5)
    step(other, 5)
    assert not np.array_equal(env.core.observation, other.core.observation)
    for each in (env, other):
        each.reset(seed=3)
        step(each, 5)
    assert not env.data.xfrc_applied.any() and not env.data.qfrc_applied.any()
    assert np.array_equal(env.core.observation, other.core.observation)


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_a_step_that_is_refused_for_its_time_forgets_the_action(engine):
    env = gym.make(ENTRIES["Hover"].id, engine=engine, rotor_action="thrust").unwrapped
    env.reset(seed=0)
    action = np.zeros(env.action_space.shape, np.float32)
    env.step(action)
    env.data.time = -1.0
    with pytest.raises(ValueError, match=r"data\.time"):
        env.step(action + 1.0)
    env.data.time = 0.01
    assert env.step(action)[4]["action_rate"] == 0.0


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_a_force_that_was_written_ends_with_the_state_that_it_ruined(engine):
    env = gym.make(ENTRIES["Hover"].id, engine=engine).unwrapped
    env.reset(seed=0)
    action = np.zeros(env.action_space.shape, np.float32)
    env.data.xfrc_applied[1, 0] = 1e300
    reasons = [env.step(action)[4]["termination_reason"] for _ in range(3)]
    assert reasons == ["unstable", "", ""]
    assert not env.data.xfrc_applied.any()
