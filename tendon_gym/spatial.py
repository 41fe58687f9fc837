"""Vectors, quaternions and frames for compiled code, as tuples: values, which cost no heap.

A quaternion is (w, x, y, z) and of unit length. A frame is the tuple of its three axes in world
coordinates: the columns of the rotation matrix that maps its coordinates to the world's.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from tendon_gym.compiled import inlined

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Frame = tuple[Vector, Vector, Vector]


@inlined
def vector(a: NDArray) -> Vector:
    """Return an array (3,) as a vector."""
    return (a[0], a[1], a[2])


@inlined
def row(a: NDArray, k: int) -> Vector:
    """Return row k of an array (m, 3) as a vector.

    Reading elements one by one is much cheaper than making a view: Numba counts its references.
    """
    return (a[k, 0], a[k, 1], a[k, 2])


@inlined
def vector_at(a: NDArray, i: int, k: int) -> Vector:
    """Return element i, k of an array (n, m, 3) as a vector."""
    return (a[i, k, 0], a[i, k, 1], a[i, k, 2])


@inlined
def store_at(v: Vector, out: NDArray, i: int, k: int) -> None:
    """Write a vector to element i, k of an array (n, m, 3)."""
    out[i, k, 0], out[i, k, 1], out[i, k, 2] = v[0], v[1], v[2]


@inlined
def store(v: Vector, out: NDArray) -> None:
    """Write a vector to an array (3,)."""
    out[0], out[1], out[2] = v[0], v[1], v[2]


@inlined
def dot(a: Vector, b: Vector) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def norm(a: Vector) -> float:
    """Return |a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inlined
def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inlined
def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inlined
def scale(x: float, a: Vector) -> Vector:
    """Return x a."""
    return (x * a[0], x * a[1], x * a[2])


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@inlined
def combine(x: float, a: Vector, y: float, b: Vector, z: float, c: Vector) -> Vector:
    """Return x a + y b + z c."""
    return (
        x * a[0] + y * b[0] + z * c[0],
        x * a[1] + y * b[1] + z * c[1],
        x * a[2] + y * b[2] + z * c[2],
    )


@inlined
def columns(rotation: NDArray) -> Frame:
    """Return the axes of a rotation matrix (3, 3), its columns."""
    return (
        (rotation[0, 0], rotation[1, 0], rotation[2, 0]),
        (rotation[0, 1], rotation[1, 1], rotation[2, 1]),
        (rotation[0, 2], rotation[1, 2], rotation[2, 2]),
    )


@inlined
def store_columns(frame: Frame, out: NDArray) -> None:
    """Write a frame as a rotation matrix (3, 3)."""
    for c in range(3):
        axis = frame[c]
        out[0, c], out[1, c], out[2, c] = axis[0], axis[1], axis[2]


@inlined
def frame_at(a: NDArray, i: int, k: int) -> Frame:
    """Return the axes of the rotation matrix at i, k of an array (n, m, 3, 3), its columns."""
    return (
        (a[i, k, 0, 0], a[i, k, 1, 0], a[i, k, 2, 0]),
        (a[i, k, 0, 1], a[i, k, 1, 1], a[i, k, 2, 1]),
        (a[i, k, 0, 2], a[i, k, 1, 2], a[i, k, 2, 2]),
    )


@inlined
def store_frame_at(frame: Frame, out: NDArray, i: int, k: int) -> None:
    """Write a frame as the rotation matrix at i, k of an array (n, m, 3, 3)."""
    for c in range(3):
        axis = frame[c]
        out[i, k, 0, c], out[i, k, 1, c], out[i, k, 2, c] = axis[0], axis[1], axis[2]


@inlined
def to_world(frame: Frame, v: Vector) -> Vector:
    """Return the world coordinates of a vector that is given in a frame."""
    return combine(v[0], frame[0], v[1], frame[1], v[2], frame[2])


@inlined
def to_body(frame: Frame, v: Vector) -> Vector:
    """Return the coordinates in a frame of a vector that is given in the world."""
    return (dot(frame[0], v), dot(frame[1], v), dot(frame[2], v))


@inlined
def within(outer: Frame, inner: Frame) -> Frame:
    """Return in the world's coordinates a frame that is given in those of another."""
    return (to_world(outer, inner[0]), to_world(outer, inner[1]), to_world(outer, inner[2]))


@inlined
def unit(q: Quaternion) -> Quaternion:
    """Return a quaternion of any length with unit length; zeros become the identity."""
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if length < 1e-15:
        return (1.0, 0.0, 0.0, 0.0)
    return (q[0] / length, q[1] / length, q[2] / length, q[3] / length)


@inlined
def quaternion(a: NDArray) -> Quaternion:
    """Return an array (4,) as a quaternion of unit length; zeros become the identity."""
    return unit((a[0], a[1], a[2], a[3]))


@inlined
def frame_of(q: Quaternion) -> Frame:
    """Return the frame of a unit quaternion."""
    w, x, y, z = q
    return (
        (w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z),
    )


@inlined
def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """Return the quaternion product p q."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@inlined
def turn(axis: Vector, angle: float) -> Quaternion:
    """Return the unit quaternion of a turn by `angle` (rad) about the unit vector `axis`."""
    s = math.sin(0.5 * angle)
    return (math.cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2])
