"""Chains of real robots against MuJoCo, Pinocchio (its own reading of the URDF too), and steps."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import Chain, CtrlMode, Robot
from tests.chains.comparisons import (
    agree_on_dynamics,
    agree_on_kinematics,
    agree_with_pinocchio,
    base_axes,
    close,
)
from tests.chains.oracles import branches_of, pinocchio_of, reference
from tests.chains.real_robots import MJCF, URDF, load, load_spec, urdf_text

ROBOTS = [*URDF, *MJCF]


def name_of(robot):
    return robot.name


@pytest.fixture(params=ROBOTS, ids=name_of)
def robot(request):
    return request.param


def simulation(robot):
    """Return a chain with all that hangs on it, and data with its other joints somewhere."""
    model = load(robot)
    bits = mujoco.mjtDisableBit
    for bit in (bits.mjDSBL_CONSTRAINT, bits.mjDSBL_SPRING, bits.mjDSBL_DAMPER):
        model.opt.disableflags |= int(bit)
    data = mujoco.MjData(model)
    data.qpos[:] += np.random.default_rng(0).uniform(0, 0.04, model.nq)
    mujoco.mj_forward(model, data)
    chain = Chain.from_model(model, robot.base, robot.tip, branches=True, qpos=data.qpos)
    assert chain.n_joints == robot.joints
    return chain, data


def test_it_moves_as_mujoco_says(robot):
    chain, data = simulation(robot)
    rng = np.random.default_rng(1)
    for _ in range(20):
        agree_on_kinematics(chain, data, rng)
        agree_on_dynamics(chain, data, rng)


def test_it_moves_as_pinocchio_says(robot):
    pin = pytest.importorskip("pinocchio")
    chain, data = simulation(robot)
    model, tip = pinocchio_of(pin, chain, branches_of(chain, data))
    model.gravity.linear = base_axes(chain, data).T @ chain.model.opt.gravity
    rng = np.random.default_rng(2)
    for _ in range(5):
        agree_with_pinocchio(pin, chain, model, tip, lambda q: q - reference(chain), rng)


@pytest.mark.parametrize("robot", URDF, ids=name_of, indirect=True)
def test_it_is_what_pinocchio_reads(robot):
    pin = pytest.importorskip("pinocchio")
    chain, data = simulation(robot)
    whole = pin.buildModelFromXML(urdf_text(robot))
    stand = pin.neutral(whole)
    others = [name for name in whole.names[1:] if name not in chain.joint_names]
    for name in others:
        stand[whole.joints[whole.getJointId(name)].idx_q] = data.joint(name).qpos[0]
    model = pin.buildReducedModel(whole, [whole.getJointId(name) for name in others], stand)
    assert tuple(model.names[1:]) == chain.joint_names
    kinds = [model.joints[k + 1].nq for k in range(model.njoints - 1)]

    def angles(q):
        """Return Pinocchio's positions: a joint without limits is a cosine and a sine."""
        parts = [[x] if n == 1 else [np.cos(x), np.sin(x)] for x, n in zip(q, kinds, strict=True)]
        return np.concatenate(parts)

    rng = np.random.default_rng(3)
    for _ in range(5):
        agree_with_pinocchio(pin, chain, model, model.getFrameId(robot.tip), angles, rng)


def test_poses_are_current_after_a_step(robot):
    model = load(robot)
    data = mujoco.MjData(model)
    mjrobot = Robot.from_mjcf(model, data, robot.base, robot.tip, branches=True)
    chain = mjrobot.chain
    data.qvel[:] = np.random.default_rng(4).normal(size=model.nv) / 10
    for _ in range(10):
        mjrobot.update()
        mjrobot.step()
        axes = base_axes(chain, data)
        pose = chain.forward_kinematics(data.qpos[mjrobot.kdl_to_mj_qpos])
        place = axes.T @ (data.xpos[chain.tip_body] - data.xpos[chain.base_body])
        close(pose.position, place, 1e-12)
        close(pose.rotation, axes.T @ data.xmat[chain.tip_body].reshape(3, 3), 1e-12)


ARMS = [*URDF, MJCF[1]]


def alone(robot):
    """Return a robot in the air whose other joints are welded, with position actuators."""
    spec = load_spec(robot)
    own = Chain.from_model(spec.compile(), robot.base, robot.tip).joint_names
    for joint in spec.joints:
        if joint.name not in own:
            spec.delete(joint)
    for equality in spec.equalities:
        spec.delete(equality)
    for name in own:
        actuator = spec.add_actuator(name=f"{name}_position", target=name)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.set_to_position(kp=4000, kv=300)
    spec.option.timestep = 0.002
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    bits = mujoco.mjtDisableBit  # some of Fetch's joints have springs
    spec.option.disableflags |= int(bits.mjDSBL_CONSTRAINT) | int(bits.mjDSBL_SPRING)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = np.random.default_rng(5).uniform(-1, 1, model.nq)
    return Robot.from_mjcf(model, data, robot.base, robot.tip, branches=True)


@pytest.mark.parametrize("robot", ARMS, ids=name_of, indirect=True)
def test_gravity_is_compensated(robot):
    robot = alone(robot)
    robot.model.actuator_gainprm[:] = robot.model.actuator_biasprm[:] = 0
    robot = Robot(robot.chain, robot.data)
    assert robot.ctrl_mode == CtrlMode.TORQUE
    tip = robot.data.xpos[robot.chain.tip_body].copy()
    for _ in range(500):
        robot.jnt_trq_cmd = robot.chain.gravity(robot.data.qpos)
        robot.update()
        robot.step()
    assert np.abs(robot.data.xpos[robot.chain.tip_body] - tip).max() < 1e-6


@pytest.mark.parametrize("robot", ARMS, ids=name_of, indirect=True)
def test_a_line_in_joint_space_is_followed(robot):
    robot = alone(robot)
    start = robot.jnt_pos_msr.copy()
    for k in range(1000):
        robot.jnt_pos_cmd = start + 0.3 * min(k / 750, 1)
        robot.update()
        robot.step()
    assert np.abs(robot.data.qpos - start - 0.3).max() < 0.05
