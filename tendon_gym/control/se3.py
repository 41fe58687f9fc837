"""Geometric flight control on SE(3), one simulation at a time.

The laws of Lee, Leok and McClamroch 2010, "Geometric tracking control of a quadrotor UAV on
SE(3)", with an integral and a limited tilt. LAW_PAPER leaves the desired angular velocity and the
gyroscopic terms out, as "An Open MuJoCo Simulation Framework for a Quadrotor Carrying a
Tendon-Driven Soft Continuum Arm" does; LAW_FULL has them. Vectors are tuples of three floats
and a frame is the tuple of its three axes in world coordinates: values, which cost no heap.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.references.setpoint import Record
from tendon_gym.spatial import (
    Frame,
    Vector,
    combine,
    cross,
    dot,
    to_body,
    to_world,
    vector,
)

LAW_PAPER = 0
LAW_FULL = 1

# The vertical force never falls below this part of the weight, so that an upright attitude is
# defined whatever is asked for: rotors cannot pull the vehicle down.
_LEAST_LIFT = 0.01
# Below this length the cross product of thrust axis and heading defines no direction.
_PARALLEL = 1e-6
# Below this length a force has no direction: its square would come near the smallest floats.
_NO_FORCE = 1e-12


@inlined
def limit_tilt(acceleration: Vector, gains: Record, vehicle: Record) -> Vector:
    """Return the force m (a + g e3), N in the world, tilted by no more than the largest tilt.

    The horizontal part gives way to the vertical one.
    """
    gravity = vehicle["gravity"]
    up = max(acceleration[2] + gravity, _LEAST_LIFT * gravity)
    across = math.sqrt(acceleration[0] * acceleration[0] + acceleration[1] * acceleration[1])
    most = gains["max_slope"] * up
    share = most / across if across > most else 1.0
    m = vehicle["mass"]
    return (m * share * acceleration[0], m * share * acceleration[1], m * up)


@inlined
def position_law(
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    setpoint: Record,
    extra_acceleration: NDArray[np.float64],
    integral: NDArray[np.float64],
    gains: Record,
    vehicle: Record,
    dt: float,
) -> Vector:
    """Return the desired force, N in the world: m (a_c + g e3) with a limited tilt.

    a_c = Kp e_p + Kd e_v + Ki int e_p + a_d + extra acceleration. The integral (3,), m s, is
    advanced by dt e_p and clamped before it is used.
    """
    limit = gains["integral_limit"]
    for k in range(3):
        error = setpoint["position"][k] - position[k]
        integral[k] = min(max(integral[k] + dt * error, -limit), limit)
    return limit_tilt(
        (
            _command(0, position, velocity, setpoint, extra_acceleration, integral, gains),
            _command(1, position, velocity, setpoint, extra_acceleration, integral, gains),
            _command(2, position, velocity, setpoint, extra_acceleration, integral, gains),
        ),
        gains,
        vehicle,
    )


@inlined
def _command(
    k: int,
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    setpoint: Record,
    extra_acceleration: NDArray[np.float64],
    integral: NDArray[np.float64],
    gains: Record,
) -> float:
    """Return one component of the commanded acceleration, m/s^2."""
    return (
        gains["kp"][k] * (setpoint["position"][k] - position[k])
        + gains["kd"][k] * (setpoint["velocity"][k] - velocity[k])
        + gains["ki"][k] * integral[k]
        + setpoint["acceleration"][k]
        + extra_acceleration[k]
    )


@inlined
def desired_frame(force: Vector, yaw: float) -> Frame:
    """Return the attitude whose z axis lies along `force` and whose x axis points to `yaw`.

    b3 = F/|F|, b2 = b3 x (cos yaw, sin yaw, 0) normalised, b1 = b2 x b3. No force stands for one
    straight up; a force along the heading leaves b2 horizontal.
    """
    length = math.sqrt(dot(force, force))
    b3 = (0.0, 0.0, 1.0)
    if length > _NO_FORCE:
        b3 = (force[0] / length, force[1] / length, force[2] / length)
    heading = (math.cos(yaw), math.sin(yaw), 0.0)
    side = cross(b3, heading)
    if dot(side, side) <= _PARALLEL * _PARALLEL:
        level = (-heading[1], heading[0], 0.0)
        side = combine(1.0, level, -dot(level, b3), b3, 0.0, b3)
    length = math.sqrt(dot(side, side))
    b2 = (side[0] / length, side[1] / length, side[2] / length)
    return (cross(b2, b3), b2, b3)


@inlined
def _unit(v: Vector, v1: Vector, v2: Vector) -> tuple[Vector, Vector, Vector]:
    """Return v/|v| with its first two time derivatives, from v and its own."""
    length = math.sqrt(dot(v, v))
    u = (v[0] / length, v[1] / length, v[2] / length)
    length1 = dot(u, v1)
    u1 = combine(1.0 / length, v1, -length1 / length, u, 0.0, u)
    length2 = dot(u1, v1) + dot(u, v2)
    u2 = combine(1.0 / length, v2, -2.0 * length1 / length, u1, -length2 / length, u)
    return u, u1, u2


@inlined
def desired_rates(
    force: Vector,
    force1: Vector,
    force2: Vector,
    yaw: float,
    yaw_rate: float,
    yaw_acceleration: float,
) -> tuple[Vector, Vector]:
    """Return angular velocity and acceleration of `desired_frame`, rad/s and rad/s^2, in it.

    `force1` and `force2` are the time derivatives of `force`; any common scale of the three
    drops out. Both results are zero where the frame is degenerate.
    """
    cos, sin = math.cos(yaw), math.sin(yaw)
    h = (cos, sin, 0.0)
    h1 = (-yaw_rate * sin, yaw_rate * cos, 0.0)
    h2 = (
        -yaw_acceleration * sin - yaw_rate * yaw_rate * cos,
        yaw_acceleration * cos - yaw_rate * yaw_rate * sin,
        0.0,
    )
    zero = (0.0, 0.0, 0.0)
    if dot(force, force) <= _NO_FORCE * _NO_FORCE:
        return zero, zero
    b3, b31, b32 = _unit(force, force1, force2)
    side = cross(b3, h)
    if dot(side, side) <= _PARALLEL * _PARALLEL:
        return zero, zero
    side1 = combine(1.0, cross(b31, h), 1.0, cross(b3, h1), 0.0, h)
    side2 = combine(1.0, cross(b32, h), 2.0, cross(b31, h1), 1.0, cross(b3, h2))
    b2, b21, b22 = _unit(side, side1, side2)
    b1 = cross(b2, b3)
    b11 = combine(1.0, cross(b21, b3), 1.0, cross(b2, b31), 0.0, b1)
    b12 = combine(1.0, cross(b22, b3), 2.0, cross(b21, b31), 1.0, cross(b2, b32))
    omega = (dot(b3, b21), dot(b1, b31), dot(b2, b11))
    alpha = (
        dot(b31, b21) + dot(b3, b22),
        dot(b11, b31) + dot(b1, b32),
        dot(b21, b11) + dot(b2, b12),
    )
    return omega, alpha


@inlined
def reference_rates(setpoint: Record, gravity: float) -> tuple[Vector, Vector]:
    """Return the angular velocity and acceleration that a setpoint implies, in world axes.

    Those of the attitude built from m (a_d + g e3) and the yaw: exact on the reference. The
    feedback's part of the desired force is not differentiated, because that would need the
    measured acceleration. Zero within 1 % of free fall, where no attitude is implied.
    """
    a = setpoint["acceleration"]
    force = (a[0], a[1], a[2] + gravity)
    zero = (0.0, 0.0, 0.0)
    least = _LEAST_LIFT * gravity
    if dot(force, force) <= least * least:
        return zero, zero
    yaw = setpoint["yaw"]
    omega, alpha = desired_rates(
        force,
        vector(setpoint["jerk"]),
        vector(setpoint["snap"]),
        yaw,
        setpoint["yaw_rate"],
        setpoint["yaw_acceleration"],
    )
    frame = desired_frame(force, yaw)
    return to_world(frame, omega), to_world(frame, alpha)


@inlined
def rotation_error(frame: Frame, desired: Frame) -> Vector:
    """Return e_R = (Rd' R - R' Rd)^vee / 2 in the body's axes."""
    r1, r2, r3 = frame
    d1, d2, d3 = desired
    return (
        0.5 * (dot(d3, r2) - dot(d2, r3)),
        0.5 * (dot(d1, r3) - dot(d3, r1)),
        0.5 * (dot(d2, r1) - dot(d1, r2)),
    )


@inlined
def inertia_times(vehicle: Record, v: Vector) -> Vector:
    """Return J v."""
    j = vehicle["inertia"]
    return (
        j[0, 0] * v[0] + j[0, 1] * v[1] + j[0, 2] * v[2],
        j[1, 0] * v[0] + j[1, 1] * v[1] + j[1, 2] * v[2],
        j[2, 0] * v[0] + j[2, 1] * v[1] + j[2, 2] * v[2],
    )


@inlined
def attitude_law(
    frame: Frame,
    omega: Vector,
    desired: Frame,
    desired_omega: Vector,
    desired_alpha: Vector,
    gains: Record,
    vehicle: Record,
    law: int,
) -> Vector:
    """Return the torque, N m in the body's axes, that turns `frame` into `desired`.

    LAW_PAPER: -K_R e_R - K_w w. LAW_FULL, with w_d and dw_d seen from the body:
    -K_R e_R - K_w (w - w_d) + w x J w - J (w x w_d - dw_d). `omega` is in the body's axes,
    `desired_omega` and `desired_alpha` are in the world's. The gains are torques per rad and per
    rad/s in both laws.
    """
    error = rotation_error(frame, desired)
    rate_error = omega
    feedforward = (0.0, 0.0, 0.0)
    if law == LAW_FULL:
        ahead = to_body(frame, desired_omega)
        rate_error = (omega[0] - ahead[0], omega[1] - ahead[1], omega[2] - ahead[2])
        turned = cross(omega, ahead)
        alpha = to_body(frame, desired_alpha)
        alpha = (alpha[0] - turned[0], alpha[1] - turned[1], alpha[2] - turned[2])
        gyroscopic = cross(omega, inertia_times(vehicle, omega))
        feedforward = combine(1.0, inertia_times(vehicle, alpha), 1.0, gyroscopic, 0.0, gyroscopic)
    k_r = gains["k_rotation"]
    k_w = gains["k_omega"]
    return (
        feedforward[0] - k_r[0] * error[0] - k_w[0] * rate_error[0],
        feedforward[1] - k_r[1] * error[1] - k_w[1] * rate_error[1],
        feedforward[2] - k_r[2] * error[2] - k_w[2] * rate_error[2],
    )
