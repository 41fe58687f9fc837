"""The yardstick steps MuJoCo through the very states that the environments fly through."""

from __future__ import annotations

import gymnasium
import mujoco
import numpy as np
import pytest

from tendon_gym.evaluation.bench import flights
from tendon_gym.evaluation.bench.flights import SEGMENT, STEPS, bare, make_actions, record
from tendon_gym.evaluation.bench.settings import HELD, LAW


@pytest.fixture(scope="module")
def held():
    return record(*HELD)


@pytest.fixture(scope="module")
def wild():
    return record(*HELD, random=True)


def test_a_flight_is_what_the_environment_flies(held):
    env = gymnasium.make(HELD[0], **HELD[1]).unwrapped
    env.reset(seed=0)
    for k in range(40):
        assert np.array_equal(env.core.engine.qpos[0], held.qpos[k])
        assert np.array_equal(env.core.engine.qvel[0], held.qvel[k])
        env.step(np.zeros(env.action_space.shape))
        assert np.array_equal(env.core.engine.ctrl[0], held.ctrl[k])
    assert held.about == {"substeps": 5, "timestep": 0.002, "nv": 30}


def test_random_actions_end_episodes_and_move_the_controls(held, wild):
    assert held.fresh[0] and wild.fresh.sum() > 1
    assert np.ptp(wild.ctrl, axis=0).min() > 1.0
    # where no episode begins the state goes on from the one before
    moved = np.abs(np.diff(wild.qpos[:, :3], axis=0)).max(axis=1)
    assert moved[~wild.fresh[1:]].max() < 0.2


def test_no_action_hovers():
    assert not make_actions(False, 3, 4).any()
    drawn = make_actions(True, 500, 4)
    assert drawn.dtype == np.float32 and drawn.min() < -0.9 and drawn.max() > 0.9


@pytest.mark.parametrize("count", [1, SEGMENT - 1, SEGMENT + 3, 40])
def test_bare_steps_end_where_the_environment_went(held, count):
    """With held controls the flight without the environment is the flight itself."""
    stepper = flights._Bare(held)
    assert stepper.run(count) == count
    assert np.array_equal(stepper._data.qpos, held.qpos[count])
    assert np.array_equal(stepper._data.qvel, held.qvel[count])


def test_bare_steps_stay_near_a_flight_with_the_law_inside():
    flight = record(*LAW)
    stepper = flights._Bare(flight)
    for _ in range(2):  # it goes on from the beginning
        for k in range(1, STEPS):
            stepper.run(1)
            assert np.abs(stepper._data.qpos[:3] - flight.qpos[k, :3]).max() < 0.01
        stepper.run(1)


def test_bare_steps_on_two_threads_do_the_same(held):
    stepper = flights._BareThreads(held, 2)
    assert stepper.run(STEPS) == 2 * STEPS  # both threads share them
    # the last state of a segment is the first one of the next
    size = held.model.nq
    ends = stepper._states[:, -1, 1 : 1 + size]
    ahead = np.arange(SEGMENT, STEPS, SEGMENT)
    quiet = [
        k for k in range(len(ahead)) if not held.fresh[ahead[k] - SEGMENT + 1 : ahead[k] + 1].any()
    ]
    assert len(quiet) > 10
    assert np.array_equal(ends[quiet], held.qpos[ahead[quiet]])


def test_the_contestant_tells_what_it_is(held):
    made = bare("mj_step", held, 2)
    assert made.against is None
    assert made.about["threads"] == 2 and made.about["case"] == "mj_step"
    assert isinstance(held.model, mujoco.MjModel)
