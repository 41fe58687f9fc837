"""Kinematics of a chain, compiled: the tip's pose, its Jacobian and what it does under velocities.

All in the axes of the base body. Rows of Jacobians and twists: linear (of the tip's origin) first,
then angular. Each kernel takes one state; `batches` has those of many. They return
whether all inputs were finite, and write nothing that matters if not.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from tendon_gym.compiled import brief, inlined
from tendon_gym.spatial import (
    Frame,
    Vector,
    add,
    cross,
    row,
    scale,
    store_at,
    store_columns,
    subtract,
    to_world,
    vector_at,
    within,
)

BASE: Frame = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ORIGIN: Vector = (0.0, 0.0, 0.0)

# Rows of work arrays.
AXIS, PLACE, AXIS_RATE, PLACE_RATE = 0, 1, 2, 3


@inlined
def finite(values: NDArray) -> bool:
    """Return whether an array (n,) has neither NaN nor infinities in it."""
    total = 0.0
    for i in range(values.shape[0]):
        total += 0.0 * values[i]
    return total == 0.0


@inlined
def placed(segments: NDArray, i: int, frame: Frame, origin: Vector) -> tuple[Frame, Vector]:
    """Return axes and origin of frame i at its reference position, from those of the one before."""
    r = segments["rotation"]
    inner = (
        (r[i, 0, 0], r[i, 1, 0], r[i, 2, 0]),
        (r[i, 0, 1], r[i, 1, 1], r[i, 2, 1]),
        (r[i, 0, 2], r[i, 1, 2], r[i, 2, 2]),
    )
    return within(frame, inner), add(origin, to_world(frame, row(segments["position"], i)))


@inlined
def moved(segments: NDArray, i: int, q: float, rest: tuple[Frame, Vector]) -> tuple[Frame, Vector]:
    """Return axes and origin of joint frame i at position q, rad or m, from those at rest."""
    (x, y, z), origin = rest
    by = q - segments["reference"][i]
    if segments["slides"][i]:
        return (x, y, z), add(origin, scale(by, z))
    c, s = math.cos(by), math.sin(by)
    turned_x = add(scale(c, x), scale(s, y))
    turned_y = subtract(scale(c, y), scale(s, x))
    return (turned_x, turned_y, z), origin


@inlined
def rates(
    slides: int, z: Vector, arm: Vector, rate: float, omega: Vector, velocity: Vector
) -> tuple[Vector, Vector]:
    """Return angular velocity and velocity of a joint frame's origin.

    Args:
        slides: 1 for a slide joint, 0 for a hinge.
        z: the joint's axis.
        arm: from the origin of the frame before.
        rate: the joint's velocity, rad/s or m/s.
        omega: angular velocity of the frame before, rad/s.
        velocity: that of its origin, m/s.
    """
    velocity = add(velocity, cross(omega, arm))
    if slides:
        return omega, add(velocity, scale(rate, z))
    return add(omega, scale(rate, z)), velocity


@brief
def tip_pose(segments: NDArray, q: NDArray, out: NDArray) -> bool:
    """Write the tip's pose (4, 3): the three rows of its rotation matrix, and its position."""
    if not finite(q):
        return False
    frame, origin = BASE, ORIGIN
    n = q.shape[0]
    for i in range(n):
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
    frame, origin = placed(segments, n, frame, origin)
    store_columns(frame, out)
    out[3, 0], out[3, 1], out[3, 2] = origin
    return True


@brief
def tip_twist(segments: NDArray, q: NDArray, v: NDArray, out: NDArray) -> bool:
    """Write the tip's twist (6,) at joint velocities v, the base at rest."""
    if not (finite(q) and finite(v)):
        return False
    frame, origin = BASE, ORIGIN
    omega, velocity = ORIGIN, ORIGIN
    n = q.shape[0]
    slides = segments["slides"]
    for i in range(n):
        before = origin
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        arm = subtract(origin, before)
        omega, velocity = rates(slides[i], frame[2], arm, v[i], omega, velocity)
    frame, tip = placed(segments, n, frame, origin)
    velocity = add(velocity, cross(omega, subtract(tip, origin)))
    out[0], out[1], out[2] = velocity
    out[3], out[4], out[5] = omega
    return True


@brief
def tip_jacobian(segments: NDArray, q: NDArray, out: NDArray) -> bool:
    """Write the Jacobian (6, joints) of the tip's twist."""
    if not finite(q):
        return False
    frame, origin = BASE, ORIGIN
    n = q.shape[0]
    for i in range(n):
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        out[0, i], out[1, i], out[2, i] = origin
        out[3, i], out[4, i], out[5, i] = frame[2]
    frame, tip = placed(segments, n, frame, origin)
    slides = segments["slides"]
    for i in range(n):
        linear = z = (out[3, i], out[4, i], out[5, i])
        angular = ORIGIN
        if not slides[i]:
            linear = cross(z, subtract(tip, (out[0, i], out[1, i], out[2, i])))
            angular = z
        out[0, i], out[1, i], out[2, i] = linear
        out[3, i], out[4, i], out[5, i] = angular
    return True


@brief
def tip_jacobian_rate(
    segments: NDArray, q: NDArray, v: NDArray, work: NDArray, out: NDArray
) -> bool:
    """Write the Jacobian's derivative by time (6, joints) at joint velocities v."""
    if not (finite(q) and finite(v)):
        return False
    frame, origin = BASE, ORIGIN
    omega, velocity = ORIGIN, ORIGIN
    n = q.shape[0]
    slides = segments["slides"]
    for i in range(n):
        before = origin
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        arm = subtract(origin, before)
        store_at(cross(omega, frame[2]), work, i, AXIS_RATE)
        omega, velocity = rates(slides[i], frame[2], arm, v[i], omega, velocity)
        store_at(frame[2], work, i, AXIS)
        store_at(origin, work, i, PLACE)
        store_at(velocity, work, i, PLACE_RATE)
    frame, tip = placed(segments, n, frame, origin)
    tip_velocity = add(velocity, cross(omega, subtract(tip, origin)))
    for i in range(n):
        z, z_rate = vector_at(work, i, AXIS), vector_at(work, i, AXIS_RATE)
        linear, angular = z_rate, ORIGIN
        if not slides[i]:
            arm = subtract(tip, vector_at(work, i, PLACE))
            arm_rate = subtract(tip_velocity, vector_at(work, i, PLACE_RATE))
            linear = add(cross(z_rate, arm), cross(z, arm_rate))
            angular = z_rate
        out[0, i], out[1, i], out[2, i] = linear
        out[3, i], out[4, i], out[5, i] = angular
    return True
