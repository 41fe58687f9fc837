"""The ports of a robot, compiled: measured values out of the simulation, commands into it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined

POSITION, VELOCITY, MOTOR, NONE = range(4)
"""Kinds of actuators; the first two are also the modes that command them, the third is TORQUE. In
the last mode nothing is commanded."""

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
        ("least", np.float64),  # that MuJoCo clamps the sum of the actuators' forces to
        ("most", np.float64),
        ("exerted", np.float64),  # by the actuators, as far as they are known, and what it should
        ("meant", np.float64),  # be, N m or N
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


@inlined
def _clipped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@inlined
def _force(actuator: Any, control: float, q: float, v: float) -> float:
    """Return what an actuator exerts on its joint with a control, N m or N."""
    gear, force = actuator["gear"], actuator["gain"] * control
    if actuator["kind"] == POSITION:
        force -= actuator["gain"] * gear * q
    if actuator["kind"] != MOTOR:
        force -= actuator["damping"] * gear * v
    return gear * _clipped(force, actuator["weakest"], actuator["strongest"])


@compiled
def apply(
    mode: int,
    ports: NDArray,
    actuators: NDArray,
    ctrl: NDArray,
    act: NDArray,
    qfrc_applied: NDArray,
) -> None:
    """Write the commands of a mode, clipped to what is legal; the other actuators give no force.

    A position actuator does nothing (but damp) with ctrl at its joint's position, a velocity
    actuator at its velocity, a motor at 0; where a filter comes first, with its state there. What
    they exert all the same, since MuJoCo clamps controls to their ranges, the applied forces of
    TORQUE take off again; in other modes, which leave these to the user, it is a saturation.
    """
    torque = mode == MOTOR  # which commands no motor, but applied forces
    for i in range(ports.shape[0]):
        ports["saturated"][i], ports["exerted"][i], ports["meant"][i] = False, 0.0, 0.0
    for k in range(actuators.shape[0]):
        actuator = actuators[k]
        kind, i, gear = actuator["kind"], actuator["joint"], actuator["gear"]
        port: Any = ports[i]
        q, v = port["pos_msr"], port["vel_msr"]
        if kind == mode and not torque and actuator["leads"]:
            command = command_of(ports, i, mode)
            value = _clipped(command, actuator["lower"], actuator["upper"])
            ports["saturated"][i] |= value != command
            ctrl[actuator["index"]] = gear * value
            continue
        value = 0.0
        if kind == POSITION:
            value = q
        elif kind == VELOCITY:
            value = v
        ctrl[actuator["index"]] = control = gear * value
        ports["meant"][i] += _force(actuator, control, q, v)
        if actuator["state"] >= 0:
            act[actuator["state"]] = control
        else:
            control = _clipped(control, actuator["least"], actuator["most"])
            ports["saturated"][i] |= not torque and control != gear * value
        ports["exerted"][i] += _force(actuator, control, q, v)
    for i in range(ports.shape[0] if torque else 0):
        low, high = ports["least"][i], ports["most"][i]
        command = ports["trq_cmd"][i]
        legal = _clipped(command, ports["lower"][i], ports["upper"][i])
        ports["saturated"][i] = legal != command
        meant, exerted = ports["meant"][i], ports["exerted"][i]
        correction = _clipped(meant, low, high) - _clipped(exerted, low, high)
        qfrc_applied[ports["dof"][i]] = legal + correction


@compiled
def exchange(
    mode: int,
    ports: NDArray,
    qpos: NDArray,
    qvel: NDArray,
    qfrc_bias: NDArray,
    actuators: NDArray,
    ctrl: NDArray,
    act: NDArray,
    qfrc_applied: NDArray,
) -> int:
    """Measure, then apply; return the first joint i whose command is not finite, -1 if none is.

    It is i + n if that joint's position or velocity isn't finite. Then nothing is read or written.
    """
    n = ports.shape[0]
    for i in range(n):
        if not math.isfinite(command_of(ports, i, mode)):
            return i
        if not math.isfinite(qpos[ports["qpos"][i]] + qvel[ports["dof"][i]]):
            return i + n
    measure(ports, qpos, qvel, qfrc_bias)
    apply(mode, ports, actuators, ctrl, act, qfrc_applied)
    return -1
