"""Checks 11 to 15 and 18, of the robot: two arms, what is written, control, refusals, lifetimes."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import CtrlMode, Robot, retire
from tests.chains.acceptance import (
    SUBJECTS,
    Stage,
    drive,
    random_subject,
    robot_of,
)
from tests.chains.arms import state_of
from tests.chains.comparisons import base_axes

KINDS = ("position", "velocity", "motor")
MODEL_FAULTS = ("ball", "free", "two joints", "unnamed joint")
NAME_FAULTS = {
    "unknown base": {"base_body": "nobody"},
    "unknown tip": {"tip_body": "nobody"},
    "unknown tool": {"tool_body": "nobody"},
    "unknown site": {"tip_site": "nobody"},
    "unknown prefix": {"prefix": "nobody"},
}


@pytest.fixture(params=SUBJECTS, ids=lambda subject: subject.name)
def subject(request):
    return request.param


def two_arms(subject):
    """Return a model of a subject and, with the prefix r2_, of another; both driven."""
    spec, other = subject.spec(), random_subject(99)
    drive(spec, subject.joint_names(), KINDS)
    child = other.spec()
    child.option.gravity = spec.option.gravity
    child.option.disableflags = spec.option.disableflags
    drive(child, other.joint_names(), KINDS)
    spec.attach(child, prefix="r2_", frame=spec.worldbody.add_frame(pos=[3, 0, 0]))
    return spec.compile(), ((subject, ""), (other, "r2_"))


def test_11_two_arms_are_two_chains(subject):
    model, arms = two_arms(subject)
    one, two = (Stage(model, each, prefix) for each, prefix in arms)
    for stage in (one, two):
        assert stage.worst("forward_kinematics") < 1e-9
        assert stage.worst("gravity") < 1e-9
        joints = [model.joint(name) for name in stage.chain.joint_names]
        assert [joint.id for joint in joints] == list(stage.chain.joints)
        assert [joint.qposadr[0] for joint in joints] == list(stage.chain.qpos_addresses)
        assert [joint.dofadr[0] for joint in joints] == list(stage.chain.dof_addresses)
    assert all(name.startswith("r2_") for name in two.chain.joint_names)
    assert not set(one.chain.joints) & set(two.chain.joints)


@pytest.mark.parametrize("mode", CtrlMode)
def test_11_commanding_one_arm_leaves_the_other_alone(subject, mode):
    model, arms = two_arms(subject)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    robots = [
        Robot.from_mjcf(model, data, each.base, each.tip, prefix, each.tool, mode=mode)
        for each, prefix in arms
    ]
    data.qvel[:] = rng.normal(size=model.nv)
    data.ctrl[:], data.qfrc_applied[:] = rng.normal(size=model.nu), rng.normal(size=model.nv)
    for robot in robots:
        ctrl, applied = data.ctrl.copy(), data.qfrc_applied.copy()
        robot.jnt_pos_cmd, robot.jnt_vel_cmd, robot.jnt_trq_cmd = rng.normal(
            size=(3, robot.n_joints)
        )
        robot.update()
        own = [model.actuator(f"{name}_{kind}").id for name in robot.joint_names for kind in KINDS]
        assert (data.ctrl[own] != ctrl[own]).all()
        robot.ctrl_mode = CtrlMode.TORQUE
        robot.hold()
        rest = np.setdiff1d(np.arange(model.nu), own)
        np.testing.assert_array_equal(data.ctrl[rest], ctrl[rest])
        rest = np.setdiff1d(np.arange(model.nv), robot.kdl_to_mj_dof)
        np.testing.assert_array_equal(data.qfrc_applied[rest], applied[rest])


def test_12_update_writes_what_is_its_own(subject):
    """The second joint has no actuator; a finger's motor is not the robot's."""
    spec, finger = subject.spec(), subject.fingers[0]
    names = subject.joint_names()
    driven = [0, *range(2, len(names))]
    drive(spec, [names[k] for k in driven], ["position"])
    drive(spec, [finger], ["motor"])
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] += 0.1
    robot = Robot.from_mjcf(model, data, subject.base, subject.tip, tool_body=subject.tool)
    assert robot.ctrl_mode == CtrlMode.POSITION
    own = [model.actuator(f"{names[k]}_position").id for k in driven]
    assert list(robot.kdl_to_mj_ctrl) == [own[0], -1, *own[1:]]
    rest = np.setdiff1d(np.arange(model.nu), own)
    data.ctrl[:], data.qfrc_applied[:] = 7.0, 3.0

    robot.jnt_pos_cmd = command = robot.jnt_pos_msr + 1.0
    robot.update()
    np.testing.assert_array_equal(data.ctrl[own], command[driven])
    np.testing.assert_array_equal(data.qfrc_applied, 3.0)

    robot.ctrl_mode = CtrlMode.TORQUE
    robot.jnt_trq_cmd = torque = np.arange(1.0, robot.n_joints + 1)
    robot.update()
    np.testing.assert_array_equal(data.ctrl[own], robot.jnt_pos_msr[driven])
    np.testing.assert_array_equal(data.qfrc_applied[robot.kdl_to_mj_dof], torque)

    robot.ctrl_mode = CtrlMode.POSITION
    np.testing.assert_array_equal(data.qfrc_applied[robot.kdl_to_mj_dof], 0.0)
    np.testing.assert_array_equal(data.ctrl[rest], 7.0)
    others = np.setdiff1d(np.arange(model.nv), robot.kdl_to_mj_dof)
    np.testing.assert_array_equal(data.qfrc_applied[others], 3.0)


def tip_of(robot):
    return robot.data.xpos[robot.chain.tip_body].copy()


def test_13_gravity_is_compensated(subject):
    robot = robot_of(subject)
    assert robot.ctrl_mode == CtrlMode.TORQUE
    tip = tip_of(robot)
    for _ in range(500):
        robot.update()
        robot.jnt_trq_cmd = robot.chain.gravity(robot.jnt_pos_msr)
        robot.update()
        robot.step()
    assert np.abs(tip_of(robot) - tip).max() < 1e-6


def test_13_springs_dampers_and_gravity_hold_a_pose(subject):
    """Let go 0.02 rad or m beside it; gains are in proportion to what the joints have to move."""
    robot = robot_of(subject)
    home, tip = robot.jnt_pos_msr.copy(), tip_of(robot)
    inertia = robot.chain.mass_matrix(home)
    robot.set_joint_pos(home + 0.02)
    assert np.abs(tip_of(robot) - tip).max() > 5e-3
    for _ in range(500):
        robot.update()
        q, v = robot.jnt_pos_msr, robot.jnt_vel_msr
        robot.jnt_trq_cmd = inertia @ (100 * (home - q) - 20 * v) + robot.chain.gravity(q)
        robot.update()
        robot.step()
    assert np.abs(tip_of(robot) - tip).max() < 5e-3


def test_13_a_line_in_joint_space_is_followed(subject):
    robot = robot_of(subject, ["position"])
    start = robot.jnt_pos_msr.copy()
    for k in range(1000):
        line = start + 0.3 * min(k / 750, 1)
        robot.jnt_pos_cmd = line
        robot.update()
        robot.step()
        assert np.abs(robot.data.qpos[robot.kdl_to_mj_qpos] - line).max() < 0.05


def faulty(subject, fault):
    """Return a model with one fault in the middle of the chain, and the element's name."""
    spec, names = subject.spec(), subject.joint_names()
    joint = spec.joint(names[len(names) // 2])
    body = joint.parent
    if fault == "ball":
        joint.type, joint.range = mujoco.mjtJoint.mjJNT_BALL, [0, 0]
    elif fault == "two joints":
        body.add_joint(name="odd", type=mujoco.mjtJoint.mjJNT_SLIDE)
    elif fault == "unnamed joint":
        joint.name = ""
    else:
        body = spec.body(subject.base)
        for other in body.joints:
            spec.delete(other)
        body.add_freejoint(name="odd")
    return spec.compile(), body.name


@pytest.mark.parametrize("fault", MODEL_FAULTS)
def test_14_what_cannot_be_a_chain_is_refused(subject, fault):
    model, word = faulty(subject, fault)
    base = "world" if fault == "free" else subject.base
    refused(model, word, base_body=base, tip_body=subject.tip, tool_body=subject.tool)


@pytest.mark.parametrize("fault", [*NAME_FAULTS, "upside down", "tool on the chain"])
def test_14_wrong_names_are_refused(subject, fault):
    names = {"base_body": subject.base, "tip_body": subject.tip, "tool_body": subject.tool}
    word = "nobody"
    if fault == "upside down":
        names |= {"base_body": subject.tip, "tip_body": subject.base, "tool_body": None}
        word = f"'{subject.base}' is not below body '{subject.tip}'"
    elif fault == "tool on the chain":
        names["tool_body"] = word = subject.tip
    refused(subject.spec().compile(), word, **{**names, **NAME_FAULTS.get(fault, {})})


def refused(model, word, **names):
    data = mujoco.MjData(model)
    data.qpos[:] += 0.1
    before = state_of(data)
    with pytest.raises(ValueError, match=word):
        Robot.from_mjcf(model, data, **names)
    np.testing.assert_array_equal(state_of(data), before)


def test_14_wrong_lengths_and_unknown_joints_change_nothing(subject):
    robot = robot_of(subject)
    before = state_of(robot.data)
    for wrong in (robot.n_joints - 1, robot.n_joints + 1):
        with pytest.raises(ValueError, match=r"^q must have shape"):
            robot.set_joint_pos(np.zeros(wrong))
    np.testing.assert_array_equal(state_of(robot.data), before)

    def rename(spec):
        spec.joint(robot.joint_names[0]).name = "odd"

    renamed = dataclasses.replace(subject, spec=lambda: changed(subject, rename))
    other, fields = robot_of(renamed), dict(vars(robot))
    with pytest.raises(ValueError, match="'odd'"):
        robot.rebind(other.model, other.data)
    assert all(vars(robot)[name] is value for name, value in fields.items())


def changed(subject, change):
    spec = subject.spec()
    change(spec)
    return spec


def test_15_reset_goes_to_the_keyframe(subject):
    rng = np.random.default_rng(1)
    home, controls = rng.uniform(-1, 1, (2, subject.n_joints))

    def prepare(spec):
        for key in spec.keys:
            spec.delete(key)
        spec.add_key(name="home", qpos=home, ctrl=controls)

    robot = robot_of(subject, ["position"], prepare)
    robot.ctrl_mode = CtrlMode.TORQUE
    robot.jnt_trq_cmd = np.ones(robot.n_joints)
    robot.update()
    robot.step_n(20)
    robot.reset()
    data = robot.data
    np.testing.assert_array_equal(data.qpos, home)
    np.testing.assert_array_equal(data.ctrl, controls)
    np.testing.assert_array_equal(robot.jnt_pos_msr, home)
    np.testing.assert_array_equal(robot.jnt_pos_cmd, home)
    for zero in (robot.jnt_vel_msr, robot.jnt_vel_cmd, robot.jnt_trq_cmd, data.qfrc_applied):
        np.testing.assert_array_equal(zero, 0.0)
    np.testing.assert_array_equal(robot.jnt_trq_msr, data.qfrc_bias[robot.kdl_to_mj_dof])


def test_15_handles_end_with_cleanup_and_with_their_model(subject):
    robot, other = robot_of(subject, ["position"]), robot_of(subject, ["position"])
    command = robot.jnt_pos_cmd.copy()
    old, rebuilt = (robot.model, robot.data), (other.model, other.data)
    other.cleanup()
    with pytest.raises(RuntimeError, match="closed"):
        other.step()
    for model, data in (old, rebuilt):
        mujoco.mj_step(model, data)
    retire(old[0], "a box was added")
    with pytest.raises(RuntimeError, match="a box was added"):
        robot.update()
    robot.rebind(*rebuilt)
    np.testing.assert_array_equal(robot.jnt_pos_cmd, command)
    robot.update()
    robot.step()
    np.testing.assert_array_equal(rebuilt[1].ctrl, command)


def test_18_poses_are_of_the_positions_after_a_step(subject):
    """With all joints moving, contacts and passive forces as in the model's file."""
    model = subject.spec().compile()
    data = mujoco.MjData(model)
    robot = Robot.from_mjcf(model, data, subject.base, subject.tip)
    chain = robot.chain
    data.qvel[:] = np.random.default_rng(4).normal(size=model.nv) / 10
    for steps in (1, 1, 1, 7):
        robot.update()
        robot.step_n(steps)
        axes = base_axes(chain, data)
        pose = chain.forward_kinematics(data.qpos[robot.kdl_to_mj_qpos])
        place = axes.T @ (data.xpos[chain.tip_body] - data.xpos[chain.base_body])
        np.testing.assert_allclose(pose.position, place, rtol=0, atol=1e-12)
        turned = axes.T @ data.xmat[chain.tip_body].reshape(3, 3)
        np.testing.assert_allclose(pose.rotation, turned, rtol=0, atol=1e-12)
