"""Dynamics of a chain, compiled: what gravity and motion ask of the joints.

All in the axes of the base body. What the base does is one array (3, 3) in its own axes: its
angular velocity, its angular acceleration, and the acceleration of its origin minus gravity. Each
kernel takes one state and returns whether all inputs were finite; `batches` has those of many.

Newton-Euler as in Featherstone 2008, Rigid Body Dynamics Algorithms, on second moments instead of
inertias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.kinematics import BASE, ORIGIN, finite, moved, placed, rates
from tendon_gym.compiled import compiled, inlined
from tendon_gym.spatial import (
    Frame,
    Vector,
    add,
    cross,
    dot,
    row,
    scale,
    store_at,
    subtract,
    to_body,
    to_world,
    vector_at,
)


@inlined
def second_times(segments: NDArray, i: int, frame: Frame, a: Vector) -> Vector:
    """Return P a, with the second moments P of segment i about its frame's origin."""
    b = to_body(frame, a)
    s = segments["second"]
    product = (
        s[i, 0, 0] * b[0] + s[i, 0, 1] * b[1] + s[i, 0, 2] * b[2],
        s[i, 1, 0] * b[0] + s[i, 1, 1] * b[1] + s[i, 1, 2] * b[2],
        s[i, 2, 0] * b[0] + s[i, 2, 1] * b[1] + s[i, 2, 2] * b[2],
    )
    return to_world(frame, product)


@compiled
def gravity_torques(segments: NDArray, q: NDArray, base: NDArray, out: NDArray) -> bool:
    """Write what holds the chain at rest against the third row of `base`, N m or N."""
    if not (finite(q) and finite(base[2])):
        return False
    lift = row(base, 2)
    n = q.shape[0]
    moments = np.empty((n, 3, 3))  # joint axis, origin, first moments about the base
    frame, origin = BASE, ORIGIN
    for i in range(n):
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        store_at(frame[2], moments, i, 0)
        store_at(origin, moments, i, 1)
        first = to_world(frame, row(segments["moment"], i))
        store_at(add(first, scale(segments["mass"][i], origin)), moments, i, 2)
    mass, first = 0.0, ORIGIN
    for i in range(n - 1, -1, -1):
        mass += segments["mass"][i]
        first = add(first, vector_at(moments, i, 2))
        axis = vector_at(moments, i, 0)
        if segments["slides"][i]:
            out[i] = mass * dot(axis, lift)
        else:
            about = subtract(first, scale(mass, vector_at(moments, i, 1)))
            out[i] = dot(axis, cross(about, lift))
    return True


@compiled
def joint_torques(
    segments: NDArray, q: NDArray, v: NDArray, a: NDArray, base: NDArray, out: NDArray
) -> bool:
    """Write what moves the joints with accelerations a at velocities v, N m or N."""
    if not (finite(q) and finite(v) and finite(a)):
        return False
    if not (finite(base[0]) and finite(base[1]) and finite(base[2])):
        return False
    n = q.shape[0]
    loads = np.empty((n, 4, 3))  # joint axis, arm, force, moment about the origin
    frame, origin, velocity = BASE, ORIGIN, ORIGIN
    omega, alpha, acceleration = row(base, 0), row(base, 1), row(base, 2)
    for i in range(n):
        before = origin
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        axis, arm = frame[2], subtract(origin, before)
        acceleration = add(acceleration, accelerated(alpha, omega, arm))
        bend = scale(v[i], cross(omega, axis))
        omega, velocity = rates(segments["slides"][i], axis, arm, v[i], omega, velocity)
        if segments["slides"][i]:
            acceleration = add(acceleration, add(scale(2.0, bend), scale(a[i], axis)))
        else:
            alpha = add(alpha, add(bend, scale(a[i], axis)))
        first = to_world(frame, row(segments["moment"], i))
        force = scale(segments["mass"][i], acceleration)
        store_at(axis, loads, i, 0)
        store_at(arm, loads, i, 1)
        store_at(add(force, accelerated(alpha, omega, first)), loads, i, 2)
        second = segments["second"]
        trace = second[i, 0, 0] + second[i, 1, 1] + second[i, 2, 2]
        moment = subtract(scale(trace, alpha), second_times(segments, i, frame, alpha))
        moment = add(moment, cross(second_times(segments, i, frame, omega), omega))
        store_at(add(moment, cross(first, acceleration)), loads, i, 3)
    force, moment = ORIGIN, ORIGIN
    for i in range(n - 1, -1, -1):
        force = add(force, vector_at(loads, i, 2))
        moment = add(moment, vector_at(loads, i, 3))
        along = force if segments["slides"][i] else moment
        out[i] = dot(vector_at(loads, i, 0), along) + segments["armature"][i] * a[i]
        moment = add(moment, cross(vector_at(loads, i, 1), force))
    return True


@inlined
def accelerated(alpha: Vector, omega: Vector, arm: Vector) -> Vector:
    """Return the acceleration of a point of a turning body, seen from where `arm` starts."""
    return add(cross(alpha, arm), cross(omega, cross(omega, arm)))


@compiled
def bias_torques(segments: NDArray, q: NDArray, v: NDArray, base: NDArray, out: NDArray) -> bool:
    """Write what keeps the joints at constant velocities v, N m or N."""
    return joint_torques(segments, q, v, np.zeros(q.shape[0]), base, out)
