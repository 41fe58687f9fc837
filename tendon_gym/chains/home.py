"""Where robots of a scene start: joints at home, and controls and filters that hold them there."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.chains.assembly import Part
from tendon_gym.chains.carrying import QPOS_WIDTHS
from tendon_gym.chains.specs import RobotSpec

Array = NDArray[np.float64]
_FILTERS = (int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT))
"""Kinds of actuators whose state is their control, late."""


def go_home(
    editable: mujoco.MjSpec, model: mujoco.MjModel, data: mujoco.MjData, part: Part
) -> None:
    """Write a robot's home to qpos, and controls that hold it there to ctrl.

    Its mocap bodies go where the keyframe that is its home has them.

    Home is what its specification says, else keyframe 0 of its file, else the reference position.

    Args:
        editable: the scene's editable description.
        model: what was compiled from it.
        data: written: positions, mocap poses and controls of the robot.
        part: which of them are the robot's.

    Raises:
        ValueError: a joint that the robot doesn't have, or a position out of the joint's range.
    """
    joints, actuators = editable.joints[part.joints], editable.actuators[part.actuators]
    if part.robot.home is None and part.key:
        for joint in joints:
            start = model.jnt_qposadr[joint.id]
            span = slice(start, start + QPOS_WIDTHS[model.jnt_type[joint.id]])
            data.qpos[span] = model.key_qpos[part.key, span]
            if model.jnt_type[joint.id] == mujoco.mjtJoint.mjJNT_FREE:
                _place(data.qpos[span], part.robot)
        for actuator in actuators:
            data.ctrl[actuator.id] = model.key_ctrl[part.key, actuator.id]
            _write_state(model, data, actuator.id, model.key_act[part.key])
        _place_mocaps(editable, model, data, part)
        return
    ids = {joint.name: joint.id for joint in joints}
    for name, position in (part.robot.home or {}).items():
        what = f"RobotSpec.home[{name!r}]"
        joint = _checked(model, ids, what, part.robot.prefix + name, position)
        data.qpos[model.jnt_qposadr[joint]] = position
    mujoco.mj_fwdPosition(model, data)
    for actuator in actuators:
        if model.actuator_biasprm[actuator.id, 1]:  # a spring: its control is a length
            data.ctrl[actuator.id] = data.actuator_length[actuator.id]
            _write_state(model, data, actuator.id, None)


def _place_mocaps(
    editable: mujoco.MjSpec, model: mujoco.MjModel, data: mujoco.MjData, part: Part
) -> None:
    """Put a robot's mocap bodies where its keyframe has them, if it says where."""
    key = editable.keys[part.key]
    positions = model.key_mpos[part.key].reshape(-1, 3)
    quaternions = model.key_mquat[part.key].reshape(-1, 4)
    for body in editable.bodies[part.bodies]:
        mocap = int(model.body_mocapid[body.id])
        if mocap < 0:
            continue
        pose = np.concatenate([positions[mocap], quaternions[mocap]])
        _place(pose, part.robot)
        if len(key.mpos):  # else it is the body's own place in the scene
            data.mocap_pos[mocap] = pose[:3]
        if len(key.mquat):
            data.mocap_quat[mocap] = pose[3:]


def _place(pose: Array, robot: RobotSpec) -> None:
    """Turn the pose (7,) of a free or mocap body in the robot's frame into that in the world."""
    position, turned = np.empty(3), np.empty(4)
    axis = np.array(robot.quaternion) / np.linalg.norm(robot.quaternion)
    mujoco.mju_rotVecQuat(position, pose[:3].copy(), axis)
    mujoco.mju_mulQuat(turned, axis, pose[3:].copy())
    pose[:3], pose[3:] = position + robot.position, turned


def _write_state(
    model: mujoco.MjModel, data: mujoco.MjData, actuator: int, given: Array | None
) -> None:
    """Write an actuator's own state: what is given for all (na,), or a filter at its control."""
    start, count = int(model.actuator_actadr[actuator]), int(model.actuator_actnum[actuator])
    if count and given is not None:
        data.act[start : start + count] = given[start : start + count]
    elif count and int(model.actuator_dyntype[actuator]) in _FILTERS:
        data.act[start] = data.ctrl[actuator]


def _checked(
    model: mujoco.MjModel, ids: dict[str, int], what: str, name: str, position: float
) -> int:
    """Return the joint of a name, after checking that it may stand where it is asked to."""
    if name not in ids:
        raise ValueError(f"{what}: there is no joint {name!r}, only {checks.shown(list(ids))}")
    joint = ids[name]
    if QPOS_WIDTHS[model.jnt_type[joint]] != 1:
        raise ValueError(f"{what} must be of a hinge or a slide")
    if model.jnt_limited[joint]:
        low, high = model.jnt_range[joint]
        checks.number(what, position, minimum=float(low), maximum=float(high))
    return joint
