"""Dynamics of a chain, compiled: what gravity and motion ask of the joints.

All in the axes of the base body. What the base does is one array (3, 3) in its own axes: its
angular velocity, its angular acceleration, and the acceleration of its origin minus gravity. Each
kernel takes one state and returns whether all inputs were finite; `batches` has those of many.

Newton-Euler as in Featherstone 2008, Rigid Body Dynamics Algorithms, on second moments instead of
inertias.
"""

from __future__ import annotations

from numpy.typing import NDArray

from tendon_gym.chains.kinematics import AXIS, BASE, ORIGIN, PLACE, finite, moved, placed
from tendon_gym.compiled import brief, inlined
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

# Further rows of work arrays; PLACE is the joint's origin, or its arm from the joint before.
FORCE, MOMENT = 2, 3


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


@brief
def gravity_torques(
    segments: NDArray, q: NDArray, base: NDArray, work: NDArray, out: NDArray
) -> bool:
    """Write what holds the chain at rest against the third row of `base`, N m or N."""
    if not (finite(q) and finite(base[2])):
        return False
    lift = row(base, 2)
    n = q.shape[0]
    frame, origin = BASE, ORIGIN
    for i in range(n):
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        store_at(frame[2], work, i, AXIS)
        store_at(origin, work, i, PLACE)
        first = to_world(frame, row(segments["moment"], i))
        store_at(add(first, scale(segments["mass"][i], origin)), work, i, MOMENT)
    mass, first = 0.0, ORIGIN
    for i in range(n - 1, -1, -1):
        mass += segments["mass"][i]
        first = add(first, vector_at(work, i, MOMENT))
        axis = vector_at(work, i, AXIS)
        if segments["slides"][i]:
            out[i] = mass * dot(axis, lift)
        else:
            about = subtract(first, scale(mass, vector_at(work, i, PLACE)))
            out[i] = dot(axis, cross(about, lift))
    return True


@brief
def joint_torques(
    segments: NDArray,
    q: NDArray,
    v: NDArray,
    a: NDArray,
    base: NDArray,
    work: NDArray,
    out: NDArray,
) -> bool:
    """Write what moves the joints with accelerations a at velocities v, N m or N.

    `out` may be `a`.
    """
    if not (finite(q) and finite(v) and finite(a)):
        return False
    if not (finite(base[0]) and finite(base[1]) and finite(base[2])):
        return False
    n = q.shape[0]
    frame, origin = BASE, ORIGIN
    omega, alpha, acceleration = row(base, 0), row(base, 1), row(base, 2)
    for i in range(n):
        before = origin
        frame, origin = moved(segments, i, q[i], placed(segments, i, frame, origin))
        axis, arm = frame[2], subtract(origin, before)
        acceleration = add(acceleration, accelerated(alpha, omega, arm))
        bend = scale(v[i], cross(omega, axis))
        if segments["slides"][i]:
            acceleration = add(acceleration, add(scale(2.0, bend), scale(a[i], axis)))
        else:
            alpha = add(alpha, add(bend, scale(a[i], axis)))
            omega = add(omega, scale(v[i], axis))
        first = to_world(frame, row(segments["moment"], i))
        force = scale(segments["mass"][i], acceleration)
        store_at(axis, work, i, AXIS)
        store_at(arm, work, i, PLACE)
        store_at(add(force, accelerated(alpha, omega, first)), work, i, FORCE)
        second = segments["second"]
        trace = second[i, 0, 0] + second[i, 1, 1] + second[i, 2, 2]
        moment = subtract(scale(trace, alpha), second_times(segments, i, frame, alpha))
        moment = add(moment, cross(second_times(segments, i, frame, omega), omega))
        store_at(add(moment, cross(first, acceleration)), work, i, MOMENT)
    force, moment = ORIGIN, ORIGIN
    for i in range(n - 1, -1, -1):
        force = add(force, vector_at(work, i, FORCE))
        moment = add(moment, vector_at(work, i, MOMENT))
        along = force if segments["slides"][i] else moment
        out[i] = dot(vector_at(work, i, AXIS), along) + segments["armature"][i] * a[i]
        moment = add(moment, cross(vector_at(work, i, PLACE), force))
    return True


@inlined
def accelerated(alpha: Vector, omega: Vector, arm: Vector) -> Vector:
    """Return the acceleration of a point of a turning body, seen from where `arm` starts."""
    return add(cross(alpha, arm), cross(omega, cross(omega, arm)))


@brief
def bias_torques(
    segments: NDArray, q: NDArray, v: NDArray, base: NDArray, work: NDArray, out: NDArray
) -> bool:
    """Write what keeps the joints at constant velocities v, N m or N."""
    for i in range(q.shape[0]):
        out[i] = 0.0
    return joint_torques(segments, q, v, out, base, work, out)
