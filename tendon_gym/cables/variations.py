"""Natural geodesic variations: how a curve moves with the four numbers that determine it.

They are a shift of its start along the tangent, a shift along the binormal, a turn of its first
tangent towards the binormal, and its length (A. Scholz, M. Sherman, I. Stavness, S. Delp and
A. Kecskemethy 2015, A fast multi-obstacle muscle wrapping method using natural geodesic
variations). A vector fixed in a curve's frame varies by w x vector with the columns w of `turn`.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined
from tendon_gym.spatial import Vector, add, columns, combine, cross, row, scale, to_world, vector


@inlined
def _put(v: Vector, out: NDArray, i: int, s: int, k: int) -> None:
    out[i, s, k, 0], out[i, s, k, 1], out[i, s, k, 2] = v[0], v[1], v[2]


@inlined
def column(a: NDArray, i: int, s: int, k: int) -> Vector:
    """Return element i, s, k of an array (m, 2, 4, 3) as a vector."""
    return (a[i, s, k, 0], a[i, s, k, 1], a[i, s, k, 2])


@compiled
def _place(origin: NDArray, axes: NDArray, points: NDArray, frame: NDArray, i: int, s: int) -> None:
    """Write to `frame` a curve's point, tangent, normal and binormal in the world."""
    world = columns(axes)
    p, t, n = (
        to_world(world, row(points, 0)),
        to_world(world, row(points, 1)),
        to_world(world, row(points, 2)),
    )
    _put(add(vector(origin), p), frame, i, s, 0)
    _put(t, frame, i, s, 1)
    _put(n, frame, i, s, 2)
    _put(cross(t, n), frame, i, s, 3)


@compiled
def place(origin: NDArray, axes: NDArray, curve: Any, frame: NDArray, i: int) -> None:
    """Write to row i of `frame` (m, 2, 4, 3) both ends of a curve in the world.

    `origin` (3,) and `axes` (3, 3) are the surface's frame there.
    """
    _place(origin, axes, curve["start"], frame, i, 0)
    _place(origin, axes, curve["end"], frame, i, 1)


@compiled
def vary(curve: Any, frame: NDArray, shift: NDArray, turn: NDArray, i: int) -> None:
    """Write the variations of curve i, placed in row i of `frame`, in world axes."""
    zero = (0.0, 0.0, 0.0)
    t, n, b = column(frame, i, 0, 1), column(frame, i, 0, 2), column(frame, i, 0, 3)
    along, across, torsion = curve["start_bend"]
    _put(t, shift, i, 0, 0)
    _put(b, shift, i, 0, 1)
    _put(zero, shift, i, 0, 2)
    _put(zero, shift, i, 0, 3)
    _put(combine(torsion, t, 0.0, n, along, b), turn, i, 0, 0)
    _put(combine(-across, t, 0.0, n, -torsion, b), turn, i, 0, 1)
    _put(scale(-1.0, n), turn, i, 0, 2)
    _put(zero, turn, i, 0, 3)
    t, n, b = column(frame, i, 1, 1), column(frame, i, 1, 2), column(frame, i, 1, 3)
    along, across, torsion = curve["end_bend"]
    a, da, r, dr = curve["jacobi"]
    _put(t, shift, i, 1, 0)
    _put(scale(a, b), shift, i, 1, 1)
    _put(scale(r, b), shift, i, 1, 2)
    _put(t, shift, i, 1, 3)
    forward = combine(torsion, t, 0.0, n, along, b)
    _put(forward, turn, i, 1, 0)
    _put(combine(-a * across, t, -da, n, -a * torsion, b), turn, i, 1, 1)
    _put(combine(-r * across, t, -dr, n, -r * torsion, b), turn, i, 1, 2)
    _put(forward, turn, i, 1, 3)
