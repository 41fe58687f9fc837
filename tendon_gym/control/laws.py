"""The flight laws over many simulations: what a policy or a reference may command.

Each law has a function for one simulation (`..._one`), for loops that do more, and one for n.
Rotations (3, 3) map body to world, angular velocities are in body axes, everything else is in
world axes; `gains` and `vehicle` are `GAINS` and `VEHICLE` arrays of length 1 or n, and `law` is
LAW_PAPER or LAW_FULL. Every law writes the collective thrust `force` (n,), N along the body's z
axis, and `torque` (n, 3), N m in body axes, for `mix`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined
from tendon_gym.control.se3 import (
    LAW_FULL,
    attitude_law,
    desired_frame,
    desired_rates,
    inertia_times,
    limit_tilt,
    position_law,
    reference_rates,
)
from tendon_gym.references.setpoint import Record
from tendon_gym.spatial import (
    Frame,
    columns,
    combine,
    cross,
    dot,
    store,
    to_world,
    vector,
)

Floats = NDArray[np.float64]
Records = NDArray[np.void]


@inlined
def geometric_one(
    position: Floats,
    velocity: Floats,
    rotation: Floats,
    angular_velocity: Floats,
    setpoint: Record,
    extra_acceleration: Floats,
    integral: Floats,
    gains: Record,
    vehicle: Record,
    dt: float,
    law: int,
    torque: Floats,
) -> float:
    """Track one setpoint: write `torque` (3,), advance `integral` (3,), return the thrust."""
    force = position_law(
        position, velocity, setpoint, extra_acceleration, integral, gains, vehicle, dt
    )
    frame = columns(rotation)
    omega = (0.0, 0.0, 0.0)
    alpha = (0.0, 0.0, 0.0)
    if law == LAW_FULL:
        omega, alpha = reference_rates(setpoint, vehicle["gravity"])
    desired = desired_frame(force, setpoint["yaw"])
    spin = vector(angular_velocity)
    store(attitude_law(frame, spin, desired, omega, alpha, gains, vehicle, law), torque)
    return dot(force, frame[2])


@compiled
def geometric_law(
    position: Floats,
    velocity: Floats,
    rotation: Floats,
    angular_velocity: Floats,
    setpoint: Records,
    extra_acceleration: Floats,
    integral: Floats,
    gains: Records,
    vehicle: Records,
    dt: float,
    law: int,
    force: Floats,
    torque: Floats,
) -> None:
    """Track setpoints: position, then attitude.

    Args:
        position: (n, 3), of the base origin, m.
        velocity: (n, 3), m/s.
        rotation: (n, 3, 3).
        angular_velocity: (n, 3), rad/s.
        setpoint: (n,) of SETPOINT.
        extra_acceleration: (n, 3) or (1, 3), added to the commanded acceleration, m/s^2.
        integral: (n, 3), of the position error, m s; advanced by `dt`.
        gains: (1 or n,) of GAINS.
        vehicle: (1 or n,) of VEHICLE.
        dt: time since the last call, s.
        law: LAW_PAPER or LAW_FULL.
        force: (n,), written.
        torque: (n, 3), written.
    """
    for i in range(force.shape[0]):
        force[i] = geometric_one(
            position[i],
            velocity[i],
            rotation[i],
            angular_velocity[i],
            setpoint[i],
            extra_acceleration[i % extra_acceleration.shape[0]],
            integral[i],
            gains[i % gains.shape[0]],
            vehicle[i % vehicle.shape[0]],
            dt,
            law,
            torque[i],
        )


@inlined
def acceleration_one(
    acceleration: Floats,
    yaw: float,
    yaw_rate: float,
    rotation: Floats,
    angular_velocity: Floats,
    gains: Record,
    vehicle: Record,
    law: int,
    torque: Floats,
) -> float:
    """Follow one commanded acceleration (3,): write `torque` (3,), return the thrust."""
    force = limit_tilt(vector(acceleration), gains, vehicle)
    desired = desired_frame(force, yaw)
    frame = columns(rotation)
    omega = (0.0, 0.0, 0.0)
    alpha = (0.0, 0.0, 0.0)
    if law == LAW_FULL:
        # The commanded acceleration is held, so that only the yaw turns the desired attitude.
        still = (0.0, 0.0, 0.0)
        turn, turn_rate = desired_rates(force, still, still, yaw, yaw_rate, 0.0)
        omega, alpha = to_world(desired, turn), to_world(desired, turn_rate)
    spin = vector(angular_velocity)
    store(attitude_law(frame, spin, desired, omega, alpha, gains, vehicle, law), torque)
    return dot(force, frame[2])


@compiled
def acceleration_law(
    acceleration: Floats,
    yaw: Floats,
    yaw_rate: Floats,
    rotation: Floats,
    angular_velocity: Floats,
    gains: Records,
    vehicle: Records,
    law: int,
    force: Floats,
    torque: Floats,
) -> None:
    """Follow accelerations (n, 3), m/s^2 without gravity, with yaw (n,) and yaw rate (n,).

    No position loop; the tilt is limited as in `geometric_law`.
    """
    for i in range(force.shape[0]):
        force[i] = acceleration_one(
            acceleration[i],
            yaw[i],
            yaw_rate[i],
            rotation[i],
            angular_velocity[i],
            gains[i % gains.shape[0]],
            vehicle[i % vehicle.shape[0]],
            law,
            torque[i],
        )


@inlined
def roll_pitch_yaw_frame(roll: float, pitch: float, yaw: float) -> Frame:
    """Return the axes of Rz(yaw) Ry(pitch) Rx(roll), rad."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    b1 = (cy * cp, sy * cp, -sp)
    b2 = (cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr)
    return (b1, b2, cross(b1, b2))


@inlined
def attitude_command_one(
    roll: float,
    pitch: float,
    yaw: float,
    yaw_rate: float,
    rotation: Floats,
    angular_velocity: Floats,
    gains: Record,
    vehicle: Record,
    law: int,
    torque: Floats,
) -> None:
    """Follow one commanded attitude: write `torque` (3,)."""
    desired = roll_pitch_yaw_frame(roll, pitch, yaw)
    # Roll and pitch are held: the desired attitude turns about the world's vertical.
    omega = (0.0, 0.0, yaw_rate)
    alpha = (0.0, 0.0, 0.0)
    spin = vector(angular_velocity)
    frame = columns(rotation)
    store(attitude_law(frame, spin, desired, omega, alpha, gains, vehicle, law), torque)


@compiled
def attitude_command_law(
    collective: Floats,
    roll: Floats,
    pitch: Floats,
    yaw: Floats,
    yaw_rate: Floats,
    rotation: Floats,
    angular_velocity: Floats,
    gains: Records,
    vehicle: Records,
    law: int,
    force: Floats,
    torque: Floats,
) -> None:
    """Follow collective thrusts (n,), N, and attitudes Rz(yaw) Ry(pitch) Rx(roll) (n,), rad."""
    for i in range(force.shape[0]):
        force[i] = collective[i]
        attitude_command_one(
            roll[i],
            pitch[i],
            yaw[i],
            yaw_rate[i],
            rotation[i],
            angular_velocity[i],
            gains[i % gains.shape[0]],
            vehicle[i % vehicle.shape[0]],
            law,
            torque[i],
        )


@inlined
def rate_one(
    rates: Floats, angular_velocity: Floats, gains: Record, vehicle: Record, torque: Floats
) -> None:
    """Follow one commanded angular velocity (3,): write J K (w_d - w) + w x J w to `torque`."""
    k = gains["k_rate"]
    omega = vector(angular_velocity)
    demand = (
        k[0] * (rates[0] - omega[0]),
        k[1] * (rates[1] - omega[1]),
        k[2] * (rates[2] - omega[2]),
    )
    turn = inertia_times(vehicle, demand)
    gyroscopic = cross(omega, inertia_times(vehicle, omega))
    store(combine(1.0, turn, 1.0, gyroscopic, 0.0, omega), torque)


@compiled
def rate_law(
    collective: Floats,
    rates: Floats,
    angular_velocity: Floats,
    gains: Records,
    vehicle: Records,
    force: Floats,
    torque: Floats,
) -> None:
    """Follow collective thrusts (n,), N, and angular velocities (n, 3), rad/s in body axes."""
    for i in range(force.shape[0]):
        force[i] = collective[i]
        rate_one(
            rates[i],
            angular_velocity[i],
            gains[i % gains.shape[0]],
            vehicle[i % vehicle.shape[0]],
            torque[i],
        )
