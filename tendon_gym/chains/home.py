"""Where robots of a scene start: the joints at home, and controls that hold them there."""

from __future__ import annotations

import mujoco

from tendon_gym import checks
from tendon_gym.chains.assembly import Part
from tendon_gym.chains.carrying import QPOS_WIDTHS


def go_home(model: mujoco.MjModel, data: mujoco.MjData, part: Part) -> None:
    """Write a robot's home to qpos, and controls that hold it there to ctrl.

    Home is what its specification says, else keyframe 0 of its file, else the reference position.

    Raises:
        ValueError: a joint that the robot doesn't have, or a position out of the joint's range.
    """
    if part.robot.home is None and part.key is not None:
        _take_key(model, data, part)
        return
    for name, position in (part.robot.home or {}).items():
        data.qpos[_address(model, part, name, position)] = position
    mujoco.mj_fwdPosition(model, data)
    for actuator in part.actuators:
        if model.actuator_biasprm[actuator.id, 1]:  # a spring: its control is a length
            data.ctrl[actuator.id] = data.actuator_length[actuator.id]


def _take_key(model: mujoco.MjModel, data: mujoco.MjData, part: Part) -> None:
    for joint in part.joints:
        start = model.jnt_qposadr[joint.id]
        span = slice(start, start + QPOS_WIDTHS[model.jnt_type[joint.id]])
        data.qpos[span] = model.key_qpos[part.key.id, span]
    for actuator in part.actuators:
        data.ctrl[actuator.id] = model.key_ctrl[part.key.id, actuator.id]


def _address(model: mujoco.MjModel, part: Part, name: str, position: float) -> int:
    """Return where in qpos a joint of the robot is, after checking that it may stand there."""
    joints = {joint.name: joint.id for joint in part.joints}
    full = part.robot.prefix + name
    what = f"RobotSpec.home[{name!r}]"
    if full not in joints:
        raise ValueError(f"{what}: there is no joint {full!r}, only {checks.shown(list(joints))}")
    joint = joints[full]
    if QPOS_WIDTHS[model.jnt_type[joint]] != 1:
        raise ValueError(f"{what} must be of a hinge or a slide")
    low, high = model.jnt_range[joint]
    if model.jnt_limited[joint]:
        checks.number(what, position, minimum=float(low), maximum=float(high))
    return int(model.jnt_qposadr[joint])
