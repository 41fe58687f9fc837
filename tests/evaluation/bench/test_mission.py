"""All ways to fly the mission fly the same mission."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.evaluation.bench import mission
from tendon_gym.evaluation.paper.cost import BLOCK, STEPS
from tendon_gym.model import build_model

BLOCKS = 12
"""Blocks after which the vehicle is on the figure-eight."""


@pytest.fixture(scope="module")
def numpy():
    return mission._Numpy(build_model(mission.PARAMETERS))


@pytest.fixture(scope="module")
def flown(numpy):
    """Return the state after some blocks of the controller in NumPy."""
    assert numpy.run(BLOCKS) == BLOCKS * BLOCK
    return numpy._data.qpos.copy(), numpy._data.qvel.copy()


def test_the_model_is_the_papers_with_eulers_integrator(numpy):
    option = numpy._model.opt
    assert option.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert option.timestep == 0.002


@pytest.mark.parametrize("engine", ["mujoco", "compiled"])
def test_the_environment_flies_what_the_controller_flies(engine, flown):
    env = mission._Env(engine)
    assert env.run(BLOCKS) == BLOCKS * BLOCK
    core = env.env.core
    assert core.model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert core.horizon * core.substeps == STEPS
    assert np.abs(core.engine.qpos[0] - flown[0]).max() < 1e-6
    assert np.abs(flown[0][7:]).max() > 0.01  # the arm moves
    env.env.close()


def test_bare_steps_repeat_the_last_block(numpy, flown):
    stepper = mission._Bare(numpy._model, numpy)
    assert stepper.run(1) == BLOCK
    assert np.array_equal(stepper._data.qpos, flown[0])
    assert np.array_equal(stepper._data.qvel, flown[1])


def test_the_mission_begins_anew_at_its_end(monkeypatch):
    monkeypatch.setattr(mission, "STEPS", 2 * BLOCK)
    stepper = mission._Numpy(build_model(mission.PARAMETERS))
    stepper.run(1)
    first = stepper.controls.copy()
    stepper.run(1)
    assert not np.array_equal(stepper.controls, first)
    stepper.run(1)
    assert np.array_equal(stepper.controls, first)
