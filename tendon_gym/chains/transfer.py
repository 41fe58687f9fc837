"""Switching between the modes of a robot: what is possible, and without a jump of the force."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.chains.actuators import CtrlMode
from tendon_gym.chains.ports import POSITION


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


def bumpless_command(
    mode: CtrlMode, ports: NDArray[np.void], actuators: NDArray[np.void], data: mujoco.MjData
) -> NDArray[np.float64]:
    """Return the commands (n,) in a mode that exert what the robot exerts now.

    What it exerts is what its actuators and `qfrc_applied` did at the last forward pass. Position
    and velocity commands of joints without an actuator are the measured ones.
    """
    q, v = ports["pos_msr"], ports["vel_msr"]
    wanted = data.qfrc_applied[ports["dof"]] + 0.0
    np.add.at(
        wanted, actuators["joint"], actuators["gear"] * data.actuator_force[actuators["index"]]
    )
    leads = (actuators["kind"] == mode) & (mode != CtrlMode.TORQUE) & (actuators["leads"] == 1)
    damps = actuators[(actuators["kind"] == POSITION) & ~leads]  # though set to do nothing
    np.add.at(wanted, damps["joint"], damps["gear"] ** 2 * damps["damping"] * v[damps["joint"]])
    if mode == CtrlMode.TORQUE:
        return wanted
    command = (q if mode == CtrlMode.POSITION else v).copy()
    for actuator in actuators[leads]:
        i = actuator["joint"]
        force = wanted[i] / actuator["gear"] ** 2
        if mode == CtrlMode.POSITION:
            force += actuator["damping"] * v[i]
        command[i] += force / actuator["gain"]
    return command
