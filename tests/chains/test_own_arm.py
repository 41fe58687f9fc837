"""The suite's own arm as a chain, on the base that flies: every link has two joints."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import Chain, Robot
from tendon_gym.model import Layout, build_model, preset
from tests.chains.comparisons import base_axes, close


@pytest.fixture
def flight():
    """Return the model and a state of it in flight, everything moving."""
    model = build_model(preset("paper"))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    data.qpos[:3], data.qpos[3:7] = [1, 2, 3], [0.8, 0.4, -0.4, 0.2]
    data.qpos[7:] = rng.uniform(-0.2, 0.2, model.nq - 7)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    return model, data


def names(model):
    return "base", model.body(Layout.of(model).link_bodies[-1]).name


def test_the_arm_is_felt_as_it_flies(flight):
    model, data = flight
    robot = Robot.from_mjcf(model, data, *names(model), tip_site="tip", compound=True)
    chain, layout = robot.chain, Layout.of(model)
    np.testing.assert_array_equal(chain.dof_addresses, layout.joint_dofs)
    robot.update()
    bias = chain.bias(robot.jnt_pos_msr, robot.jnt_vel_msr, robot.base_motion())
    close(bias, robot.jnt_trq_msr, 1e-9)
    axes = base_axes(chain, data)
    pose = chain.forward_kinematics(robot.jnt_pos_msr)
    close(pose.position, axes.T @ (data.site("tip").xpos - data.xpos[chain.base_body]), 1e-12)
    full = np.zeros((2, 3, model.nv))
    mujoco.mj_jacSite(model, data, full[0], full[1], layout.tip_site)
    jacobian = (axes.T @ full).reshape(6, -1)[:, chain.dof_addresses]
    close(chain.jacobian(robot.jnt_pos_msr), jacobian, 1e-10)


def test_it_must_be_said_that_links_have_two_joints(flight):
    model, _ = flight
    with pytest.raises(ValueError, match="'link_1' has 2 joints"):
        Chain.from_model(model, *names(model))
