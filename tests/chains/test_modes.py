"""Modes of robots: what is written for which actuator, switching without a jump, and limits."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest

from tendon_gym.chains import CtrlMode, Robot
from tests.chains.arms import JOINTS, arm, drives, simulation, state_of

POSITION, VELOCITY, TORQUE = CtrlMode
ENDS = ("base", "slider")
ALL = drives("motor") + drives("velocity") + drives("position")
HOME = np.array([0.4, -0.5, 0.12])


def robot_of(actuators="", mode=None, **options):
    model, data = simulation(actuators, **options)
    data.qpos[:3] = HOME
    return Robot.from_mjcf(model, data, *ENDS, tool_body="gripper", mode=mode)


def ctrl_of(robot, kind):
    return np.array([robot.data.ctrl[robot.model.actuator(f"{j}_{kind}").id] for j in JOINTS])


@pytest.mark.parametrize(
    ("actuators", "mode"),
    [
        ("", TORQUE),
        (drives("position"), POSITION),
        (drives("velocity"), VELOCITY),
        (drives("motor"), TORQUE),
        (ALL, POSITION),
        (drives("position", ["lift"]), POSITION),  # a joint that nothing drives may go without
        (drives("position", ["lift"]) + drives("motor", ["turn"]), TORQUE),
        (drives("position", JOINTS, options='group="3"'), POSITION),
        (drives("muscle"), TORQUE),
        (drives("integrated"), TORQUE),
    ],
)
def test_the_first_mode_is_one_that_there_are_actuators_for(actuators, mode):
    assert robot_of(actuators).ctrl_mode == mode


@pytest.mark.parametrize("mode", CtrlMode)
@pytest.mark.parametrize("gear", [1.0, 2.5, -3.0])
def test_what_is_written_depends_on_the_actuators_kind(mode, gear):
    options = f'gear="{gear}"'
    kinds = ("position", "velocity", "motor")
    robot = robot_of("".join(drives(kind, options=options) for kind in kinds), mode)
    data = robot.data
    data.qvel[:] = [0.3, -0.2, 0.1, 0]
    robot.jnt_pos_cmd, robot.jnt_vel_cmd, robot.jnt_trq_cmd = HOME + 1, [4, 5, 6], [7, 8, 9]
    robot.update()
    position = HOME + 1 if mode == POSITION else HOME
    velocity = [4, 5, 6] if mode == VELOCITY else data.qvel[:3]
    np.testing.assert_allclose(ctrl_of(robot, "position"), gear * np.array(position), rtol=1e-15)
    np.testing.assert_allclose(ctrl_of(robot, "velocity"), gear * np.array(velocity), rtol=1e-15)
    np.testing.assert_array_equal(ctrl_of(robot, "motor"), 0)
    np.testing.assert_array_equal(data.qfrc_applied, [7, 8, 9, 0] if mode == TORQUE else 0)


def test_actuators_of_other_kinds_are_left_alone():
    robot = robot_of(drives("muscle") + drives("integrated") + drives("motor"))
    robot.data.ctrl[:] = 0.5
    robot.update()
    np.testing.assert_array_equal(robot.data.ctrl, [0.5] * 6 + [0] * 3)


def test_only_the_first_of_a_kind_is_commanded():
    second = drives("position").replace("_position", "_second")
    robot = robot_of(drives("position") + second)
    robot.jnt_pos_cmd = HOME + 1
    robot.update()
    np.testing.assert_allclose(ctrl_of(robot, "position"), HOME + 1)
    np.testing.assert_allclose(ctrl_of(robot, "second"), HOME)


def test_disabled_actuators_do_not_count():
    model, data = simulation(drives("position", options='group="2"') + drives("motor"))
    model.opt.disableactuator = 1 << 2
    robot = Robot.from_mjcf(model, data, *ENDS)
    assert robot.ctrl_mode == TORQUE
    with pytest.raises(ValueError, match="no position actuators"):
        robot.ctrl_mode = POSITION


@pytest.mark.parametrize(
    ("actuators", "mode", "word"),
    [
        ("", POSITION, "POSITION"),
        (drives("position"), VELOCITY, "VELOCITY"),
        (drives("position", ["turn"]) + drives("motor", ["lift"]), POSITION, "'lift'"),
        (drives("muscle", ["turn"]), POSITION, "POSITION"),
        (ALL, 7, "ctrl_mode must be one of"),
        (ALL, "TORQUE", "ctrl_mode must be one of"),
        (ALL, True, "ctrl_mode must be one of"),
    ],
)
def test_a_mode_without_actuators_is_refused(actuators, mode, word):
    model, data = simulation(actuators)
    before = state_of(data)
    with pytest.raises(ValueError, match=word):
        Robot.from_mjcf(model, data, *ENDS, mode=mode)
    np.testing.assert_array_equal(state_of(data), before)
    robot = robot_of(actuators)
    own, before = robot.ctrl_mode, state_of(robot.data)
    ports = [robot.jnt_pos_cmd.copy(), robot.jnt_vel_cmd.copy(), robot.jnt_trq_cmd.copy()]
    with pytest.raises(ValueError, match=word):
        robot.ctrl_mode = mode
    assert robot.ctrl_mode == own
    np.testing.assert_array_equal(state_of(robot.data), before)
    np.testing.assert_array_equal(ports, [robot.jnt_pos_cmd, robot.jnt_vel_cmd, robot.jnt_trq_cmd])


def test_leaving_torque_clears_its_own_forces_only():
    robot = robot_of(ALL, TORQUE)
    robot.jnt_trq_cmd = [1, 2, 3]
    robot.update()
    robot.data.qfrc_applied[3] = 4
    robot.ctrl_mode = POSITION
    np.testing.assert_array_equal(robot.data.qfrc_applied, [0, 0, 0, 4])


@pytest.mark.parametrize(("first", "second"), list(itertools.product(CtrlMode, CtrlMode)))
@pytest.mark.parametrize("gear", [1.0, -2.0])
def test_switching_does_not_jump(first, second, gear):
    """Not even in motion: accelerations just after the switch are those just before."""
    options = f'gear="{gear}"'
    actuators = "".join(drives(k, options=options) for k in ("position", "velocity", "motor"))
    robot = robot_of(actuators, first)
    robot.jnt_pos_cmd, robot.jnt_vel_cmd = HOME + 0.05, [0.3, -0.2, 0.1]
    robot.jnt_trq_cmd = [1, -8, 2]
    for _ in range(20):
        robot.update()
        robot.step()
    data = robot.data
    before, force = data.qacc.copy(), data.qfrc_actuator + data.qfrc_applied
    assert np.abs(data.qvel[:3]).min() > 1e-3
    robot.ctrl_mode = second
    for _ in range(2):  # at once, and after a control cycle
        mujoco.mj_forward(robot.model, data)
        np.testing.assert_allclose(data.qfrc_actuator + data.qfrc_applied, force, atol=1e-9)
        np.testing.assert_allclose(data.qacc, before, atol=1e-6)
        robot.update()


def test_a_held_pose_is_held_through_all_modes():
    robot = robot_of(ALL, POSITION)
    robot.model.dof_damping[:] = 2
    for _ in range(1000):
        robot.update()
        robot.step()
    held = robot.data.qpos[:3].copy()
    for mode in (TORQUE, POSITION, VELOCITY, POSITION, TORQUE, VELOCITY, TORQUE):
        robot.ctrl_mode = mode
        for _ in range(100):
            robot.update()
            robot.step()
        assert np.abs(robot.data.qpos[:3] - held).max() < 1e-4


def test_a_joint_without_actuators_goes_on_from_where_it_is():
    robot = robot_of(drives("position", ["lift"]), TORQUE)
    robot.data.qvel[:3] = [0.1, 0.2, 0.3]
    mujoco.mj_forward(robot.model, robot.data)
    robot.ctrl_mode = POSITION
    np.testing.assert_array_equal(robot.jnt_pos_cmd[[0, 2]], HOME[[0, 2]])


def test_commands_beyond_the_control_range_are_clipped_and_flagged():
    limited = drives("position", options='gear="-2" ctrlrange="-1 .5"')
    robot = robot_of(limited)
    robot.jnt_pos_cmd = [0.6, -0.3, 0.2]  # legal from -.25 to .5
    robot.update()
    np.testing.assert_allclose(robot.data.ctrl, [-1, 0.5, -0.4])
    np.testing.assert_array_equal(robot.jnt_saturated, [True, True, False])
    robot.jnt_pos_cmd = [0.5, -0.25, 0.2]
    robot.update()
    np.testing.assert_array_equal(robot.jnt_saturated, False)


def test_torques_beyond_what_actuators_have_are_clipped_and_flagged():
    actuators = drives("motor", ["turn"], options='gear="-3" forcerange="-20 35"')
    actuators += drives("position", ["turn", "lift"], options='forcerange="-10 10"')
    robot = robot_of(actuators, TORQUE, bodies=arm(limit='actuatorfrcrange="-7 9"'))
    np.testing.assert_array_equal(
        robot.joint_force_limits, [[-105, 60], [-7, 9], [-np.inf, np.inf]]
    )
    for command, legal in (([200, -8, 1e6], [60, -7, 1e6]), ([-200, 10, 0], [-105, 9, 0])):
        robot.jnt_trq_cmd = command
        robot.update()
        np.testing.assert_array_equal(robot.data.qfrc_applied[:3], legal)
        np.testing.assert_array_equal(robot.jnt_saturated, [True, True, False])
        np.testing.assert_array_equal(robot.jnt_trq_cmd, command)


def total(robot):
    """Return what actuators and applied forces do to the joints at the present controls."""
    mujoco.mj_forward(robot.model, robot.data)
    return (robot.data.qfrc_actuator + robot.data.qfrc_applied)[robot.kdl_to_mj_dof]


def flown(actuators, mode, steps=200):
    robot = robot_of(actuators, mode)
    robot.jnt_pos_cmd = HOME + 0.05
    for _ in range(steps):
        robot.update()
        robot.step()
    return robot


@pytest.mark.parametrize("modes", [(2,), (2, 2), (2, 0), (1, 2), (0, 0), (2, 1, 0, 2)])
def test_switching_again_before_a_step_changes_no_force(modes):
    robot = flown("".join(drives(k) for k in ("position", "velocity", "motor")), 0)
    force = total(robot)
    for mode in modes:
        robot.ctrl_mode = mode
        np.testing.assert_allclose(total(robot), force, atol=1e-9)


@pytest.mark.parametrize("options", ['timeconst=".1"', 'timeconst=".02" gear="-2"'])
def test_filters_of_actuators_switch_with_them(options):
    """They would let go of the old command by and by, and pull at where the joint was."""
    robot = flown(drives("position", options=options), 0)
    force = total(robot)
    robot.ctrl_mode = CtrlMode.TORQUE
    np.testing.assert_allclose(total(robot), force, atol=1e-9)
    robot.jnt_trq_cmd = [1.0, -2.0, 0.5]
    for _ in range(5):
        robot.update()
        mujoco.mj_forward(robot.model, robot.data)
        damping = robot.data.qfrc_actuator[robot.kdl_to_mj_dof]
        moving = robot.data.qvel[robot.kdl_to_mj_dof]
        assert (damping * moving <= 1e-12).all()  # all that a position actuator goes on with
        robot.step()
    force = total(robot)
    robot.ctrl_mode = CtrlMode.POSITION
    np.testing.assert_allclose(total(robot), force, atol=1e-9)


def test_delayed_actuators_take_no_commands():
    """What they do now was asked for earlier, so that no switch is without a jump."""
    if not hasattr(mujoco.MjModel.from_xml_string("<mujoco/>"), "actuator_delay"):
        pytest.skip("this MuJoCo has no delays")
    options = 'delay=".02" nsample="11"'
    robot = robot_of(drives("position", options=options))
    assert robot.ctrl_mode == CtrlMode.TORQUE
    with pytest.raises(ValueError, match="no position actuators"):
        robot.ctrl_mode = CtrlMode.POSITION


LIMITED = """
<mujoco><worldbody><body name="base"><body name="arm" pos="0 0 1">
  <joint name="j" axis="0 1 0" {joint}/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/>
</body></body></worldbody><actuator>{actuators}</actuator></mujoco>"""


def limited(actuators, joint="", mode=None):
    text = LIMITED.format(actuators=actuators, joint=joint)
    model = mujoco.MjModel.from_xml_string(text)
    return Robot.from_mjcf(model, mujoco.MjData(model), "base", "arm", mode=mode)


@pytest.mark.parametrize(
    ("actuators", "joint"),
    [
        ('<position joint="j" kp="300" kv="9"/>', 'actuatorfrcrange="-2 2"'),
        ('<position joint="j" kp="300" kv="9" forcerange="-3 3"/>', ""),
        (
            '<position joint="j" kp="300" kv="90" forcerange="-3 3"/><velocity joint="j" kv="8"/>',
            'actuatorfrcrange="-4 4"',
        ),
    ],
)
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_a_switch_gives_what_a_clamped_joint_felt(actuators, joint, speed):
    robot = limited(actuators, joint)
    for _ in range(100):
        robot.update()
        robot.step()
    robot.data.qvel[:] = speed
    force = total(robot)
    assert abs(force) < 4.0 + 1e-9
    robot.ctrl_mode = CtrlMode.TORQUE
    np.testing.assert_allclose(total(robot), force, atol=1e-9)


@pytest.mark.parametrize(
    ("actuators", "q", "v"),
    [
        ('<velocity joint="j" kv="30" ctrlrange="-.1 .1"/>', 0.0, 2.0),
        ('<position joint="j" kp="300" ctrlrange="-.1 .1" gear="2"/>', 0.5, 0.0),
        ('<position joint="j" kp="300" kv="9" ctrlrange="0 1" gear="-2"/>', 0.5, 0.3),
        ('<motor joint="j" ctrlrange="1 5" gear="3"/>', 0.0, 0.0),
    ],
)
@pytest.mark.parametrize("joint", ["", 'actuatorfrcrange="-20 20"'])
def test_torque_is_all_that_acts_whatever_the_control_ranges_are(actuators, q, v, joint):
    """MuJoCo clamps the controls with which the actuators would do nothing."""
    robot = limited(actuators, joint, CtrlMode.TORQUE)
    robot.data.qvel[:] = v
    robot.set_joint_pos([q])
    robot.jnt_trq_cmd = [1.5]
    robot.update()
    damping = -9.0 * 4.0 * v if 'kv="9"' in actuators else 0.0
    assert total(robot) == pytest.approx([1.5 + damping], abs=1e-9)


def test_other_modes_tell_of_actuators_that_can_not_do_nothing():
    robot = limited('<position joint="j" kp="300"/><velocity joint="j" kv="9" ctrlrange="-.1 .1"/>')
    robot.update()
    assert not robot.jnt_saturated.any()
    robot.data.qvel[:] = 0.5
    robot.update()
    assert robot.jnt_saturated.all()


def test_measured_values_that_are_not_finite_are_written_nowhere():
    robot = robot_of(drives("position"))
    robot.update()
    before = robot.data.ctrl.copy()
    for values in (robot.data.qpos, robot.data.qvel):
        values[0], kept = np.nan, values[0]
        with pytest.raises(ValueError, match="position and velocity of joint 'turn' in data must"):
            robot.update()
        values[0] = kept
    np.testing.assert_array_equal(robot.data.ctrl, before)
