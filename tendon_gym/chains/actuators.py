"""The actuators of a chain's joints, by what they do with their control.

A position actuator's force is kp (ctrl - length) - kv velocity, a velocity actuator's kv (ctrl -
velocity), a motor's gain ctrl; the joint feels gear times that, and length and velocity are gear
times the joint's. Others (muscles, integrators, what acts through tendons) are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.ports import MOTOR, POSITION, VELOCITY


class CtrlMode(IntEnum):
    """What the commands of a robot are: positions, velocities or torques."""

    POSITION = 0
    VELOCITY = 1
    TORQUE = 2


ACTUATOR = np.dtype(
    [
        ("index", np.int64),  # in the model
        ("joint", np.int64),  # in the chain
        ("kind", np.int64),
        ("leads", np.int64),  # 1 for the first of its kind on its joint, which takes the commands
        ("gear", np.float64),
        ("gain", np.float64),
        ("damping", np.float64),  # kv of a position actuator, and of a velocity actuator
        ("lower", np.float64),  # legal commands in the joint's units
        ("upper", np.float64),
        ("least", np.float64),  # controls that MuJoCo clamps to
        ("most", np.float64),
        ("weakest", np.float64),  # forces that it clamps to, N m or N at the actuator
        ("strongest", np.float64),
        ("state", np.int64),  # address of its filter's state, -1 without one
    ],
    align=True,
)

# as numbers: NumPy's integers are not found among MuJoCo's enumerations
_DIRECT = {
    int(kind)
    for kind in (
        mujoco.mjtDyn.mjDYN_NONE,
        mujoco.mjtDyn.mjDYN_FILTER,
        mujoco.mjtDyn.mjDYN_FILTEREXACT,
    )
}
_JOINT = {int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)}
_FIXED = int(mujoco.mjtGain.mjGAIN_FIXED)
_UNBIASED, _AFFINE = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)


def _kind(model: mujoco.MjModel, k: int) -> int | None:
    """Return the kind of an actuator, None for one that takes no such commands.

    One with a delay is none: what it does now was asked for earlier.
    """
    gain = model.actuator_gainprm[k]
    if (
        model.actuator_dyntype[k] not in _DIRECT
        or model.actuator_gaintype[k] != _FIXED
        or gain[0] == 0.0
        or (hasattr(model, "actuator_delay") and model.actuator_delay[k] > 0.0)
    ):
        return None
    if model.actuator_biastype[k] == _UNBIASED:
        return MOTOR
    if model.actuator_biastype[k] != _AFFINE:
        return None
    constant, length, velocity = model.actuator_biasprm[k, :3]
    if constant != 0.0:
        return None
    if length == -gain[0]:
        return POSITION
    if length == 0.0 and velocity == -gain[0]:
        return VELOCITY
    return None


def _driven_joint(model: mujoco.MjModel, k: int) -> int | None:
    """Return the joint that an actuator acts on directly, None if it does not or is disabled."""
    group = int(model.actuator_group[k])
    disabled = 0 <= group < 31 and model.opt.disableactuator >> group & 1
    if disabled or model.actuator_trntype[k] not in _JOINT or model.actuator_gear[k, 0] == 0.0:
        return None
    return int(model.actuator_trnid[k, 0])


def read_actuators(model: mujoco.MjModel, joints: Sequence[int]) -> NDArray[np.void]:
    """Return the records of all actuators of known kinds on some joints, in the model's order."""
    rows: list[tuple[float, ...]] = []
    seen: set[tuple[int, int]] = set()
    for k in range(model.nu):
        joint, kind = _driven_joint(model, k), _kind(model, k)
        if joint not in joints or kind is None:
            continue
        gear = float(model.actuator_gear[k, 0])
        controls = _range(model.actuator_ctrllimited[k], model.actuator_ctrlrange[k])
        lower, upper = sorted(end / gear for end in controls)
        place = joints.index(joint)
        leads = (place, kind) not in seen
        seen.add((place, kind))
        damping = -float(model.actuator_biasprm[k, 2])
        gain = float(model.actuator_gainprm[k, 0])
        forces = _range(model.actuator_forcelimited[k], model.actuator_forcerange[k])
        state = int(model.actuator_actadr[k])
        row = (k, place, kind, leads, gear, gain, damping, lower, upper, *controls, *forces, state)
        rows.append(row)
    return np.array(rows, ACTUATOR)


def _range(limited: int, ends: NDArray[np.float64]) -> tuple[float, float]:
    """Return a range, infinite if it isn't limited."""
    return (float(ends[0]), float(ends[1])) if limited else (-np.inf, np.inf)


def joint_range(model: mujoco.MjModel, joint: int) -> tuple[float, float]:
    """Return what MuJoCo clamps the sum of the actuators' forces on a joint to."""
    return _range(model.jnt_actfrclimited[joint], model.jnt_actfrcrange[joint])


def force_limits(model: mujoco.MjModel, joints: Sequence[int]) -> NDArray[np.float64]:
    """Return (n, 2) what actuators may exert on each joint, N m or N; infinite where unlimited.

    A joint's actfrcrange counts, and the widest force range of the actuators that act on it.
    """
    limits = np.empty((len(joints), 2))
    for place, joint in enumerate(joints):
        lower, upper = joint_range(model, joint)
        ranges = []
        for k in range(model.nu):
            if _driven_joint(model, k) == joint:
                span = model.actuator_forcerange[k] * model.actuator_gear[k, 0]
                ranges.append(sorted(span) if model.actuator_forcelimited[k] else (-np.inf, np.inf))
        if ranges:
            lower = max(lower, min(low for low, _ in ranges))
            upper = min(upper, max(high for _, high in ranges))
        limits[place] = lower, upper
    return limits
