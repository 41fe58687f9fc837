"""The ports of a robot, compiled: measured values out of the simulation, commands into it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined

POSITION, VELOCITY, MOTOR = 0, 1, 2
"""Kinds of actuators; the first two are also the modes that command them, the third is TORQUE."""

PORT = np.dtype(
    [
        ("pos_msr", np.float64),  # rad or m
        ("vel_msr", np.float64),
        ("trq_msr", np.float64),  # N m or N
        ("pos_cmd", np.float64),
        ("vel_cmd", np.float64),
        ("trq_cmd", np.float64),
        ("saturated", np.bool_),
        ("qpos", np.int64),  # addresses
        ("dof", np.int64),
        ("lower", np.float64),  # torque limits
        ("upper", np.float64),
    ],
    align=True,
)


@inlined
def command_of(ports: NDArray, i: int, mode: int) -> float:
    """Return the command of joint i in a mode."""
    if mode == POSITION:
        return ports["pos_cmd"][i]
    if mode == VELOCITY:
        return ports["vel_cmd"][i]
    return ports["trq_cmd"][i]


@compiled
def measure(ports: NDArray, qpos: NDArray, qvel: NDArray, qfrc_bias: NDArray) -> None:
    """Read positions, velocities and bias torques of the joints."""
    for i in range(ports.shape[0]):
        dof = ports["dof"][i]
        ports["pos_msr"][i] = qpos[ports["qpos"][i]]
        ports["vel_msr"][i] = qvel[dof]
        ports["trq_msr"][i] = qfrc_bias[dof]


@compiled
def apply(
    mode: int, ports: NDArray, actuators: NDArray, ctrl: NDArray, qfrc_applied: NDArray
) -> None:
    """Write the commands of a mode, clipped to what is legal; the other actuators give no force.

    A position actuator does nothing (but damp) with ctrl at its joint's position, a velocity
    actuator at its velocity, a motor at 0.
    """
    torque = mode == MOTOR  # which commands no motor, but applied forces
    for i in range(ports.shape[0]):
        ports["saturated"][i] = False
        if torque:
            command = ports["trq_cmd"][i]
            legal = min(max(command, ports["lower"][i]), ports["upper"][i])
            ports["saturated"][i] = legal != command
            qfrc_applied[ports["dof"][i]] = legal
    for k in range(actuators.shape[0]):
        kind, i = actuators["kind"][k], actuators["joint"][k]
        value = 0.0
        if kind == mode and not torque and actuators["leads"][k]:
            command = command_of(ports, i, mode)
            value = min(max(command, actuators["lower"][k]), actuators["upper"][k])
            ports["saturated"][i] = value != command
        elif kind == POSITION:
            value = ports["pos_msr"][i]
        elif kind == VELOCITY:
            value = ports["vel_msr"][i]
        ctrl[actuators["index"][k]] = actuators["gear"][k] * value


@compiled
def exchange(
    mode: int,
    ports: NDArray,
    qpos: NDArray,
    qvel: NDArray,
    qfrc_bias: NDArray,
    actuators: NDArray,
    ctrl: NDArray,
    qfrc_applied: NDArray,
) -> int:
    """Measure, then apply; return the first joint whose command is not finite, -1 if none is.

    Nothing is read or written if there is one.
    """
    for i in range(ports.shape[0]):
        if not math.isfinite(command_of(ports, i, mode)):
            return i
    measure(ports, qpos, qvel, qfrc_bias)
    apply(mode, ports, actuators, ctrl, qfrc_applied)
    return -1
