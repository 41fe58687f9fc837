"""Switching between the modes of a robot: what is possible, and without a jump of the force."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.chains.actuators import CtrlMode

Array = NDArray[np.float64]


def check_mode(value: object, actuators: NDArray[np.void], joint_names: Sequence[str]) -> CtrlMode:
    """Return a mode; ValueError if it is none, or if the joints have no actuators for it.

    Joints that no actuator acts on at all may go without, but not all of them.
    """
    known = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not known or value not in list(CtrlMode):
        legal = ", ".join(f"CtrlMode.{mode.name}" for mode in CtrlMode)
        checks.reject("ctrl_mode", value, f"one of {legal}")
    mode = CtrlMode(value)
    if mode == CtrlMode.TORQUE:
        return mode
    kind = mode.name.lower()
    able = set(actuators["joint"][actuators["kind"] == mode])
    if not able:
        raise ValueError(f"ctrl_mode {mode.name}: the robot's joints have no {kind} actuators")
    lacking = [joint_names[i] for i in sorted(set(actuators["joint"]) - able)]
    if lacking:
        words = checks.shown(lacking)
        raise ValueError(f"ctrl_mode {mode.name}: no {kind} actuator acts on the joints {words}")
    return mode


def first_mode(actuators: NDArray[np.void], joint_names: Sequence[str]) -> CtrlMode:
    """Return the first mode that there are actuators for."""
    for mode in (CtrlMode.POSITION, CtrlMode.VELOCITY):
        try:
            return check_mode(mode, actuators, joint_names)
        except ValueError:
            continue
    return CtrlMode.TORQUE


def command_for(
    mode: CtrlMode, ports: NDArray[np.void], actuators: NDArray[np.void], force: Array
) -> Array:
    """Return the commands (n,) in a mode that exert a force (n,) more than none would, N m or N.

    Position and velocity commands of joints without an actuator are the measured ones.
    """
    if mode == CtrlMode.TORQUE:
        return force
    command = ports["pos_msr" if mode == CtrlMode.POSITION else "vel_msr"].copy()
    for actuator in actuators[(actuators["kind"] == mode) & (actuators["leads"] == 1)]:
        i = actuator["joint"]
        command[i] += force[i] / (actuator["gear"] ** 2 * actuator["gain"])
    return command


def fill_filters(mode: CtrlMode, command: Array, actuators: NDArray[np.void], act: Array) -> None:
    """Put the filters of the actuators that take the commands of a mode at these at once."""
    for actuator in actuators[(actuators["kind"] == mode) & (actuators["leads"] == 1)]:
        if actuator["state"] >= 0 and mode != CtrlMode.TORQUE:
            value = min(max(command[actuator["joint"]], actuator["lower"]), actuator["upper"])
            act[actuator["state"]] = actuator["gear"] * value
