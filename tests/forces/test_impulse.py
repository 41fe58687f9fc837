"""Blows: the momentum that they are to give, on any part, and where the moment goes."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tendon_gym import engines, forces
from tendon_gym.forces import Impulse, ImpulseTerm
from tendon_gym.model import Fluid, ModelParameters, build_model


@pytest.fixture(scope="module")
def model():
    """Return the vehicle without air and weight: nothing but the blow changes its momentum."""
    model = build_model(ModelParameters(fluid=Fluid(density=0.0, viscosity=0.0), height=20.0))
    model.opt.gravity[:] = 0.0
    return model


def momentum(model, qpos, qvel):
    """Return the linear momentum, and the angular one about the centre of mass."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    linear = data.subtree_linvel[1] * model.body_subtreemass[1]
    return linear, data.subtree_angmom[1], data


@pytest.mark.parametrize("kind", ["mujoco", "compiled"])
@pytest.mark.parametrize("target", ["base", "link_5", "link_12", "tip"])
@pytest.mark.parametrize("duration", [0.0, 0.011])
def test_a_blow_gives_its_momentum_and_the_moment_of_its_place(model, kind, target, duration):
    gentle = (3e-5, -2e-5, 5e-5)  # N s: nothing has moved much by the time it is over
    blow = Impulse(target, gentle, start=0.004, duration=duration)
    engine = engines.make(kind, model, 1, [ImpulseTerm(model, 1, blow)])
    engine.reset(np.zeros(1, np.int64), model.qpos0[None], np.zeros((1, model.nv)))
    engine.step(2)
    assert not engine.qvel.any(), "it came too early"
    _, _, before = momentum(model, engine.qpos[0], engine.qvel[0])
    steps = max(1, round(duration / model.opt.timestep))
    engine.step(steps)
    linear, angular, _ = momentum(model, engine.qpos[0], engine.qvel[0])
    error = 1e-3
    np.testing.assert_allclose(linear, blow.impulse, rtol=0, atol=error * 6e-5)
    place = before.site("tip").xpos if target == "tip" else before.body(target).xipos
    expected = np.cross(place - before.subtree_com[1], blow.impulse)
    np.testing.assert_allclose(angular, expected, rtol=0, atol=error * 3e-5)
    engine.step(1)
    later, _, _ = momentum(model, engine.qpos[0], engine.qvel[0])
    np.testing.assert_allclose(later, linear, rtol=0, atol=error * 6e-5)


def test_each_simulation_has_its_own_until_its_reset(model):
    term = ImpulseTerm(model, 2, Impulse("base", (0.01, 0.0, 0.0)))
    term.set(1, Impulse("tip", (0.0, 0.02, 0.0), start=1.0))
    assert term.parameters[0, 0] == 0.0
    assert term.parameters[1, 0] == pytest.approx(1.0)
    term.reset(np.array([1]))
    assert np.array_equal(term.parameters[0], term.parameters[1])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"target": "wing", "impulse": [0, 0, 1]}, "target must be one of 'base'"),
        ({"target": "tip", "impulse": [0, math.inf, 1]}, "impulse"),
        ({"target": "tip", "impulse": [0, 1]}, "impulse"),
        ({"target": "tip", "impulse": [0, 0, 1], "duration": -1.0}, "duration"),
        ({"target": "tip"}, "forces.impulse.impulse is required"),
        ({"target": "tip", "impulse": [0, 0, 1], "strength": 2}, "strength"),
    ],
)
def test_values_that_make_no_sense_raise(model, values, message):
    with pytest.raises(ValueError, match=message):
        forces.make("impulse", model, 1, values)
