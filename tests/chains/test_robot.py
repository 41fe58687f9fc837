"""Robots: ports, cycles, resets, and handles that are no longer good."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import Chain, CtrlMode, Robot, retire
from tests.chains.arms import JOINTS, arm, drives, simulation, state_of

HOME = np.array([0.4, -0.5, 0.12])
ENDS = ("base", "slider")


def robot_of(actuators="", tool="gripper", **options):
    model, data = simulation(actuators, **options)
    return Robot.from_mjcf(model, data, *ENDS, tool_body=tool)


def test_fields_are_those_of_the_chain():
    robot = robot_of(drives("motor", ["lift"]) + drives("position", ["lift", "reach"]))
    assert robot.n_joints == 3 and robot.joint_names == JOINTS
    model = robot.model
    np.testing.assert_array_equal(robot.kdl_to_mj_qpos, [model.joint(j).qposadr[0] for j in JOINTS])
    np.testing.assert_array_equal(robot.kdl_to_mj_dof, [model.joint(j).dofadr[0] for j in JOINTS])
    np.testing.assert_array_equal(robot.kdl_to_mj_ctrl, [-1, 0, 2])
    limits = [np.radians([-170, 170]), [-np.inf, np.inf], [-np.inf, np.inf]]
    np.testing.assert_allclose(robot.joint_limits, limits)
    assert robot.init_robot_from_mjcf == Robot.from_mjcf


def test_ports_begin_at_rest_where_the_robot_is():
    model, data = simulation()
    data.qpos[:3] = HOME
    robot = Robot.from_mjcf(model, data, *ENDS)
    np.testing.assert_array_equal(robot.jnt_pos_msr, HOME)
    np.testing.assert_array_equal(robot.jnt_pos_cmd, HOME)
    np.testing.assert_array_equal(robot.jnt_trq_msr, data.qfrc_bias[:3])
    for port in (robot.jnt_vel_msr, robot.jnt_vel_cmd, robot.jnt_trq_cmd, robot.jnt_saturated):
        np.testing.assert_array_equal(port, np.zeros(3))
    assert np.abs(data.qfrc_bias[:3]).max() > 1  # data has been forwarded


def test_ports_are_copied_into_and_stay_themselves():
    robot = robot_of()
    port, given = robot.jnt_trq_cmd, np.ones(3)
    robot.jnt_trq_cmd = given
    given[:] = 7
    np.testing.assert_array_equal(port, np.ones(3))
    robot.jnt_trq_cmd[1] = 5
    robot.reset()
    np.testing.assert_array_equal(port, np.zeros(3))
    for name in ("jnt_pos_msr", "jnt_vel_msr", "jnt_trq_msr", "jnt_saturated"):
        with pytest.raises(AttributeError, match=name):
            setattr(robot, name, np.zeros(3))
    for bad in (np.zeros(2), np.full(3, np.nan)):
        with pytest.raises(ValueError, match="jnt_pos_cmd"):
            robot.jnt_pos_cmd = bad


def test_update_reads_what_is_measured():
    robot = robot_of()
    robot.data.qvel[:] = [1, 2, 3, 4]
    robot.step()
    robot.update()
    np.testing.assert_array_equal(robot.jnt_pos_msr, robot.data.qpos[:3])
    np.testing.assert_array_equal(robot.jnt_vel_msr, robot.data.qvel[:3])
    np.testing.assert_array_equal(robot.jnt_trq_msr, robot.data.qfrc_bias[:3])


def test_a_command_that_is_not_finite_is_refused_before_anything():
    robot = robot_of(drives("position"))
    robot.data.ctrl[:] = 0.3
    robot.data.qpos[:] += 0.1
    measured = robot.jnt_pos_msr.copy()
    robot.jnt_pos_cmd[1] = np.inf
    with pytest.raises(ValueError, match=r"jnt_pos_cmd of joint 'lift' must be finite, got inf"):
        robot.update()
    np.testing.assert_array_equal(robot.data.ctrl, 0.3)
    np.testing.assert_array_equal(robot.jnt_pos_msr, measured)
    robot.ctrl_mode = CtrlMode.TORQUE  # other ports don't matter
    robot.update()


def test_steps_are_mujocos():
    robot = robot_of()
    other = mujoco.MjData(robot.model)
    other.qpos[:], other.qvel[:] = robot.data.qpos, robot.data.qvel
    robot.step()
    robot.step_n(4)
    mujoco.mj_step(robot.model, other, 5)
    np.testing.assert_allclose(robot.data.qpos, other.qpos, atol=1e-12)
    assert robot.data.time == pytest.approx(0.01)
    before = state_of(robot.data)
    robot.step_n(0)
    robot.paused = True
    robot.step()
    robot.step_n(5)
    np.testing.assert_array_equal(state_of(robot.data), before)
    for bad, error in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match=r"^n must"):
            robot.step_n(bad)


def test_positions_are_set_where_they_belong():
    robot = robot_of()
    robot.data.qpos[3] = 0.7
    robot.data.qvel[:] = 1
    robot.set_joint_pos(HOME)
    np.testing.assert_array_equal(robot.data.qpos, [*HOME, 0.7])
    np.testing.assert_array_equal(robot.data.qvel, 1)
    tip = robot.data.xpos[robot.chain.tip_body].copy()
    robot.set_joint_pos(HOME + 0.1, call_forward=False)
    np.testing.assert_array_equal(robot.data.xpos[robot.chain.tip_body], tip)
    before = state_of(robot.data)
    for bad in (np.zeros(2), np.zeros(4), [0, np.nan, 0], np.zeros((1, 3))):
        with pytest.raises(ValueError, match=r"^q"):
            robot.set_joint_pos(bad)
    np.testing.assert_array_equal(state_of(robot.data), before)


@pytest.mark.parametrize("keyframe", ["", ".4 -.5 .12 .01"])
def test_reset_goes_to_the_keyframe_and_holds(keyframe):
    robot = robot_of(drives("position"), keyframe=keyframe)
    robot.ctrl_mode = CtrlMode.TORQUE
    robot.jnt_trq_cmd = [1, 2, 3]
    robot.update()
    robot.step_n(50)
    robot.reset()
    start = [0.4, -0.5, 0.12, 0.01] if keyframe else robot.model.qpos0
    data = robot.data
    np.testing.assert_array_equal(data.qpos, start)
    assert data.time == 0
    np.testing.assert_array_equal(data.qfrc_applied, 0)
    np.testing.assert_array_equal(robot.jnt_pos_msr, data.qpos[:3])
    np.testing.assert_array_equal(robot.jnt_pos_cmd, data.qpos[:3])
    np.testing.assert_array_equal(robot.jnt_trq_cmd, 0)
    assert robot.ctrl_mode == CtrlMode.TORQUE
    again = mujoco.MjData(robot.model)
    again.qpos[:] = data.qpos
    mujoco.mj_forward(robot.model, again)
    np.testing.assert_allclose(data.xpos, again.xpos, atol=1e-15)


def test_the_tool_is_locked_as_data_has_it():
    model, data = simulation()
    data.qpos[3] = 0.05
    robot = Robot.from_mjcf(model, data, *ENDS, tool_body="gripper")
    full = np.zeros((4, 4))

    def error():
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, full)
        return np.abs(robot.chain.mass_matrix(data.qpos[:3]) - full[:3, :3]).max()

    assert error() < 1e-12
    data.qpos[3] = 0.09
    assert error() > 1e-5
    robot.refresh_tool()
    assert error() < 1e-12


def test_a_flying_base_is_felt():
    bodies = arm().replace('<body name="column"', '<freejoint name="f"/><body name="column"')
    bodies = bodies.replace(
        '<freejoint name="f"/>', '<freejoint/><inertial pos="0 0 0" mass="5" diaginertia="1 1 1"/>'
    )
    model, data = simulation(bodies=bodies)
    robot = Robot.from_mjcf(model, data, *ENDS, tool_body="gripper")
    rng = np.random.default_rng(0)
    data.qpos[3:7] = [0.1, 0.7, -0.7, 0.1]
    data.qvel[:] = [*rng.normal(size=9), 0]
    robot.step()
    data.qvel[-1] = 0  # the finger is locked
    mujoco.mj_forward(model, data)
    robot.refresh_tool()
    robot.update()
    bias = robot.chain.bias(robot.jnt_pos_msr, robot.jnt_vel_msr, robot.base_motion())
    np.testing.assert_allclose(bias, robot.jnt_trq_msr, atol=1e-9)


def test_a_closed_robot_does_nothing():
    robot = robot_of(drives("position"))
    model, data = robot.model, robot.data
    before = state_of(data)
    robot.cleanup()
    robot.cleanup()
    assert robot.model is robot.data is robot.chain is None
    assert robot.n_joints == 0 and robot.joint_names == ()
    for name in vars(Robot):
        if name.startswith("jnt_"):
            assert getattr(robot, name).shape == (0,)
    for use in (robot.step, robot.update, robot.reset, robot.hold, robot.base_motion):
        with pytest.raises(RuntimeError, match="closed"):
            use()
    for use in (robot.step_n, robot.set_joint_pos):
        with pytest.raises(RuntimeError, match="closed"):
            use(1)
    with pytest.raises(RuntimeError, match="closed"):
        robot.ctrl_mode = CtrlMode.TORQUE
    with pytest.raises(RuntimeError, match="closed"):
        robot.jnt_pos_cmd = []
    with pytest.raises(RuntimeError, match="closed"):
        robot.rebind(model, data)
    np.testing.assert_array_equal(state_of(data), before)
    mujoco.mj_step(model, data)


def test_a_robot_of_a_replaced_model_raises_until_it_takes_the_new_one():
    robot = robot_of(drives("position"))
    old = robot.model
    robot.jnt_pos_cmd = HOME
    ball = '<body name="ball" pos="5 0 0"><freejoint/><geom size=".1"/></body>'
    model, data = simulation(drives("position"), bodies=ball + arm())
    retire(old, "a ball was added")
    for use in (robot.step, robot.update, robot.reset):
        with pytest.raises(RuntimeError, match="a ball was added"):
            use()
    with pytest.raises(RuntimeError, match="a ball was added"):
        Robot.from_mjcf(old, mujoco.MjData(old), *ENDS)
    robot.rebind(model, data)
    np.testing.assert_array_equal(robot.kdl_to_mj_qpos, [7, 8, 9])
    np.testing.assert_array_equal(robot.jnt_pos_cmd, HOME)
    robot.update()
    np.testing.assert_allclose(data.ctrl, HOME)
    robot.step()


def test_a_robot_that_cannot_be_rebound_stays_as_it_is():
    robot = robot_of(drives("position"))
    fields = dict(vars(robot))
    for model, data, word in (
        (*simulation(bodies=arm("other_")), "base"),
        (*simulation(), "POSITION"),
        (*simulation(drives("position").replace("lift", "up"), arm().replace("lift", "up")), "up"),
        (simulation(drives("position"))[0], robot.data, "data"),
    ):
        with pytest.raises(ValueError, match=word):
            robot.rebind(model, data)
        assert all(vars(robot)[name] is value for name, value in fields.items())
    robot.update()


def test_model_and_data_must_belong_together():
    model, data = simulation()
    other, _ = simulation()
    with pytest.raises(ValueError, match="data must be a simulation of the model"):
        Robot.from_mjcf(other, data, *ENDS)
    with pytest.raises(TypeError, match=r"data must be a mujoco\.MjData"):
        Robot.from_mjcf(model, model, *ENDS)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"model must be a mujoco\.MjModel"):
        Robot.from_mjcf(data, data, *ENDS)  # type: ignore[arg-type]
    chain = Chain.from_model(other, *ENDS)
    with pytest.raises(ValueError, match="data must be a simulation of the model"):
        Robot(chain, data)
