"""Wind: against MuJoCo's own wind, in a span of time."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym import engines, forces
from tendon_gym.forces import Wind, WindTerm
from tendon_gym.model import Fluid, ModelParameters, build_model


@pytest.fixture(scope="module")
def model():
    """Return the vehicle in air that is thick enough to be felt."""
    return build_model(ModelParameters(fluid=Fluid(density=5.0, viscosity=1e-3), height=20.0))


@pytest.mark.parametrize("kind", ["mujoco", "compiled"])
@pytest.mark.parametrize("n", [1, 3])
def test_it_blows_as_the_wind_of_the_model_while_it_lasts(model, kind, n):
    wind = Wind((4.0, -2.0, 1.0), start=0.02, duration=0.05)
    engine = engines.make(kind, model, n, [WindTerm(n, wind)])
    engine.reset(np.arange(n), np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv)))
    data = mujoco.MjData(model)
    data.ctrl[:4] = engine.ctrl[:, :4] = 3.0
    for step in range(60):
        engine.step(1)
        model.opt.wind[:] = wind.velocity if 10 <= step < 35 else 0.0
        mujoco.mj_step(model, data)
        model.opt.wind[:] = 0.0
        np.testing.assert_allclose(engine.qpos, np.tile(data.qpos, (n, 1)), rtol=0, atol=1e-12)
    calm = mujoco.MjData(model)
    calm.ctrl[:4] = 3.0
    mujoco.mj_step(model, calm, 60)
    assert np.abs(calm.qpos - data.qpos).max() > 1e-4


def test_winds_add_up_and_differ_by_simulation(model):
    term = WindTerm(2, Wind((1.0, 0.0, 0.0)))
    term.set(1, Wind((0.0, 2.0, 0.0)))
    engine = engines.make("compiled", model, 2, [term, WindTerm(2, Wind((0.0, 0.0, 3.0)))])
    engine.step(1)
    assert np.array_equal(engine.pushes.push.wind, [[1.0, 0.0, 3.0], [0.0, 2.0, 3.0]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"velocity": [0, 0, 101.0]}, "length of velocity"),
        ({"velocity": [math.nan, 0, 0]}, "velocity"),
        ({"velocity": [1, 0, 0], "start": -1.0}, "start"),
        ({}, "forces.wind.velocity is required"),
    ],
)
def test_values_that_make_no_sense_raise(model, values, message):
    with pytest.raises(ValueError, match=message):
        forces.make("wind", model, 1, values)
