"""A world's tendons in a model of one's own, with actuators that the world doesn't know."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import JointTerm, Properties, via
from tendon_gym.tendons.embedding import embed, structure
from tests.tendons.scenes import hanging, sliders


def test_motors_on_tendons_of_a_world():
    world = hanging(gravity=-9.81)
    path = [via(None, (0, 0, 2)), via("load")]
    properties = Properties(
        stiffness=40.0, damping=3.0, spring_lower=0.9, spring_upper=0.9, friction_loss=0.1,
        lower_limit=0.5, upper_limit=1.3, armature=0.4,
    )  # fmt: skip
    world.add_spatial_tendon("t", path, properties)
    lock = world.add_spatial_tendon("u", [via(None, (1, 0, 1)), via("load")])
    lock.properties = Properties(lower_limit=1.0, upper_limit=1.0)
    spec = structure(world)
    motor = spec.add_actuator(name="winch", target="t")
    motor.trntype = mujoco.mjtTrn.mjTRN_TENDON
    motor.gear = np.array([-1.0, 0, 0, 0, 0, 0])
    model = spec.compile()
    embedded = embed(world, model)
    assert embedded.first == 0 and model.nu == 1
    assert embedded.law["upper"].tolist()[0] == 1.3
    data = mujoco.MjData(model)
    tendon = world.tendons[0]
    tendon.set_tension(2.0)
    data.ctrl[0] = 2.0
    for _ in range(100):  # before the limit acts
        world.step()
        mujoco.mj_step(model, data)
    assert data.qpos == pytest.approx(world.data.qpos, abs=1e-10)
    assert abs(data.ten_length[0] - 1.0) > 1e-3
    assert data.ten_length[1] == pytest.approx(1.0, abs=1e-6)


def test_models_without_the_tendons_are_refused():
    world = sliders(1.0, 1.0)
    for k in range(2):
        world.add_fixed_tendon(f"t_{k}", [JointTerm(f"slide_{k}")])
    other = sliders(1.0, 1.0)
    other.add_fixed_tendon("t_1", [JointTerm("slide_1")])
    other.add_fixed_tendon("t_0", [JointTerm("slide_0")])
    for model in (sliders(1.0).model, other.model):
        with pytest.raises(ValueError, match="t_0, t_1"):
            embed(world, model)
