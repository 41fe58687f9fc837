"""The registry of force terms, and the joint forces and the motion that a term may use."""

from __future__ import annotations

import gymnasium as gym
import mujoco
import numpy as np
import pytest

from tendon_gym import engines, forces
from tendon_gym.model import ModelParameters, build_model


class Damper:
    """Brakes the hinges, and pushes the base by its own velocity; counts its calls."""

    needs_motion = True

    def __init__(self, model, n):
        self.base, self.calls = model.body("base").id, np.zeros(n, int)

    def reset(self, ids):
        self.calls[ids] = 0

    def add(self, time, motion, push):
        self.calls += 1
        push.wrench[:, self.base, :3] -= 0.5 * motion.body_velocity[:, self.base]
        push.joint_force[:, 6:] += 0.001


@pytest.fixture
def damper():
    forces.register("damper", lambda model, n, values: Damper(model, n))
    yield "damper"
    del forces.term._MAKERS["damper"]


@pytest.mark.parametrize(("kind", "rounding"), [("mujoco", 1e-14), ("compiled", 1e-12)])
def test_a_term_sees_the_motion_at_every_physics_step_and_pushes_joints(damper, kind, rounding):
    model = build_model(ModelParameters())
    term = forces.make(damper, model, 2)
    engine = engines.make(kind, model, 2, [term])
    qvel = np.zeros((2, model.nv))
    qvel[:, 0] = 0.5, -1.0
    engine.reset(np.arange(2), np.tile(model.qpos0, (2, 1)), qvel)
    engine.ctrl[:, :4] = 3.09
    engine.step(40)
    assert np.array_equal(term.calls, [40, 40])
    for i in range(2):
        data = mujoco.MjData(model)
        data.qvel = qvel[i]
        for _ in range(40):
            data.ctrl[:4] = 3.09
            data.xfrc_applied[term.base, :3] = -0.5 * data.qvel[:3]
            data.qfrc_applied[6:] = 0.001
            mujoco.mj_step(model, data)
        np.testing.assert_allclose(engine.qpos[i], data.qpos, rtol=0, atol=rounding)
    engine.reset(np.array([1]), model.qpos0[None], qvel[:1])
    assert np.array_equal(term.calls, [40, 0])


def test_a_registered_term_is_a_setting(damper):
    env = gym.make("TendonGym/Hover-v0", forces={damper: {}}).unwrapped
    env.reset(seed=0)
    env.step(np.zeros(7))
    assert env.core.engine.pushes.terms[0].calls[0] == 5


def test_a_name_that_is_taken_is_refused(damper):
    for name in (damper, "external_wrench"):
        with pytest.raises(ValueError, match=f"'{name}' is registered already"):
            forces.register(name, lambda model, n, values: Damper(model, n))


def test_an_unknown_term_raises_with_the_names():
    with pytest.raises(ValueError, match="'external_wrench'"):
        forces.make("gravity", build_model(ModelParameters()), 1)
