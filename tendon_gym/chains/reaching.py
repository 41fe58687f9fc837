"""The objective of inverse kinematics, compiled: how far the tip is from where it is wanted.

The error is e = (target - position, length * r), in m, with the rotation vector r from the tip's
axes to the target's, in the axes of the base; the objective is |e|^2 / 2. Its first derivatives are
-J^T e exactly, with the Jacobian J whose angular rows are multiplied with `length`, because r is an
eigenvector of the derivative of the rotation vector. Its second derivatives are J^T J with a
factor on the part of rotation across r, minus how the Jacobian's columns turn with the joints
before them (Erleben and Andrews 2019, Solving inverse kinematics using exact Hessian matrices).

For positions only, the rows of rotation are left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.kinematics import tip_jacobian, tip_pose
from tendon_gym.compiled import allocating, compiled, inlined
from tendon_gym.spatial import Vector, columns, cross, dot, norm, scale


class Place(NamedTuple):
    """A point in the space of joints, and what is known there."""

    pose: NDArray
    """(4, 3): rows of the tip's rotation matrix, and its position."""
    error: NDArray
    """(6,): position in m, rotation vector in rad (not multiplied with `length`)."""
    jacobian: NDArray
    """(6, n): of position and rotation, as the chain's."""
    descent: NDArray
    """(n,): minus the gradient of the objective."""
    hessian: NDArray
    """(n, n): its second derivatives, lower triangle."""


@allocating
def new_place(n: int) -> Place:
    """Return the memory for a point in the space of n joints."""
    return Place(np.empty((4, 3)), np.empty(6), np.empty((6, n)), np.empty(n), np.empty((n, n)))


@compiled
def rotation_vector(turned: NDArray, wanted: NDArray) -> Vector:
    """Return the rotation vector (rad, at most pi long) that takes one rotation to another.

    Args:
        turned: (3, 3) and more rows: a rotation matrix.
        wanted: the same; the result v has exp(v) turned = wanted.
    """
    fx, fy, fz = columns(turned)
    wx, wy, wz = columns(wanted)
    # The entries of wanted turned^T, row by row.
    xx = wx[0] * fx[0] + wy[0] * fy[0] + wz[0] * fz[0]
    xy = wx[0] * fx[1] + wy[0] * fy[1] + wz[0] * fz[1]
    xz = wx[0] * fx[2] + wy[0] * fy[2] + wz[0] * fz[2]
    yx = wx[1] * fx[0] + wy[1] * fy[0] + wz[1] * fz[0]
    yy = wx[1] * fx[1] + wy[1] * fy[1] + wz[1] * fz[1]
    yz = wx[1] * fx[2] + wy[1] * fy[2] + wz[1] * fz[2]
    zx = wx[2] * fx[0] + wy[2] * fy[0] + wz[2] * fz[0]
    zy = wx[2] * fx[1] + wy[2] * fy[1] + wz[2] * fz[1]
    zz = wx[2] * fx[2] + wy[2] * fy[2] + wz[2] * fz[2]
    twice = (zy - yz, xz - zx, yx - xy)  # the axis times twice the sine
    sine, cosine = 0.5 * norm(twice), 0.5 * (xx + yy + zz - 1.0)
    if sine > 1e-7:
        return scale(0.5 * math.atan2(sine, cosine) / sine, twice)
    if cosine > 0.0:
        return scale(0.5, twice)
    # Half a turn: the matrix is 2 a a^T - 1.
    if xx >= yy and xx >= zz:
        axis = (xx + 1.0, 0.5 * (xy + yx), 0.5 * (xz + zx))
    elif yy >= zz:
        axis = (0.5 * (xy + yx), yy + 1.0, 0.5 * (yz + zy))
    else:
        axis = (0.5 * (xz + zx), 0.5 * (yz + zy), zz + 1.0)
    return scale(math.pi / norm(axis), axis)


@compiled
def evaluate(
    segments: NDArray, q: NDArray, target: NDArray, rows: int, length: float, place: Place
) -> float:
    """Write pose and error at q, and return the objective |e|^2 / 2, m^2."""
    tip_pose(segments, q, place.pose)
    error = place.error
    away = 0.0
    for k in range(3):
        error[k] = target[3, k] - place.pose[3, k]
        error[3 + k] = 0.0
        away += error[k] * error[k]
    if rows == 6:
        r = rotation_vector(place.pose, target)
        error[3], error[4], error[5] = r
        away += length * length * dot(r, r)
    return 0.5 * away


@inlined
def linear(jacobian: NDArray, i: int) -> Vector:
    """Return how the tip moves with joint i."""
    return (jacobian[0, i], jacobian[1, i], jacobian[2, i])


@inlined
def angular(jacobian: NDArray, i: int) -> Vector:
    """Return how the tip turns with joint i."""
    return (jacobian[3, i], jacobian[4, i], jacobian[5, i])


@inlined
def bending(jacobian: NDArray, i: int, j: int, force: Vector, torque: Vector) -> float:
    """Return the second derivative of the tip's pose by joints j <= i, times a wrench.

    Of the rotation this is the second derivative of the rotation vector at zero.
    """
    before = angular(jacobian, j)
    turning = 0.5 * dot(torque, cross(before, angular(jacobian, i)))
    return dot(force, cross(before, linear(jacobian, i))) + turning


@compiled
def differentiate(segments: NDArray, q: NDArray, length: float, place: Place) -> None:
    """Write Jacobian and first derivatives of the objective at a place that was evaluated."""
    tip_jacobian(segments, q, place.jacobian)
    jacobian, error = place.jacobian, place.error
    square = length * length
    for i in range(q.shape[0]):
        descent = 0.0
        for k in range(3):
            descent += jacobian[k, i] * error[k] + square * jacobian[3 + k, i] * error[3 + k]
        place.descent[i] = descent


@compiled
def curve(n: int, rows: int, length: float, exact: bool, place: Place) -> None:
    """Write the second derivatives of the objective, or J^T J alone if not `exact`."""
    jacobian, error = place.jacobian, place.error
    square = length * length if rows == 6 else 0.0
    force = (error[0], error[1], error[2])
    r = (error[3], error[4], error[5])
    across = across_factor(norm(r)) if exact else 0.0
    torque = scale(square, r)
    for i in range(n):
        for j in range(i + 1):
            a, b = angular(jacobian, i), angular(jacobian, j)
            turned = dot(a, b)
            value = dot(linear(jacobian, i), linear(jacobian, j)) + square * turned
            if exact:
                value -= square * across * (dot(r, r) * turned - dot(a, r) * dot(b, r))
                value -= bending(jacobian, i, j, force, torque)
            place.hessian[i, j] = value


@inlined
def across_factor(angle: float) -> float:
    """Return (1 - x cot x) / angle^2 with x = angle / 2: how much less a turn across r counts."""
    x = 0.5 * angle
    if x < 1e-3:
        return (1.0 + x * x / 15.0) / 12.0
    return (1.0 - x / math.tan(x)) / (angle * angle)


@inlined
def arrived(error: NDArray, position_tolerance: float, rotation_tolerance: float) -> bool:
    """Return whether an error is within both tolerances, m and rad."""
    away = norm((error[0], error[1], error[2]))
    turned = norm((error[3], error[4], error[5]))
    return away <= position_tolerance and turned <= rotation_tolerance
