"""Natural geodesic variations: how a curve moves with the four numbers that determine it.

They are a shift of its start along the tangent, a shift along the binormal, a turn of its first
tangent towards the binormal, and its length (A. Scholz, M. Sherman, I. Stavness, S. Delp and
A. Kecskemethy 2015, A fast multi-obstacle muscle wrapping method using natural geodesic
variations). A vector fixed in a curve's frame varies by w x vector with the columns w of `turn`.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.geodesic import set_row
from tendon_gym.cables.workspace import FRAME, SHIFT, TURN, at
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Frame, Vector, add, combine, cross, row, scale, to_world, vector


@compiled
def frame_in(world: NDArray, j: int) -> tuple[Vector, Frame]:
    """Return origin and axes of element j in the world."""
    return row(world, 4 * j), (row(world, 4 * j + 1), row(world, 4 * j + 2), row(world, 4 * j + 3))


@compiled
def place(world: NDArray, j: int, curve: Any, motion: NDArray, i: int) -> None:
    """Write the FRAME of curve i, which is on element j, at both ends."""
    origin, axes = frame_in(world, j)
    for s in range(2):
        points, first = curve["start"] if s == 0 else curve["end"], at(i, s) + FRAME
        t, n = to_world(axes, row(points, 1)), to_world(axes, row(points, 2))
        set_row(motion, first, add(origin, to_world(axes, row(points, 0))))
        set_row(motion, first + 1, t)
        set_row(motion, first + 2, n)
        set_row(motion, first + 3, cross(t, n))


@compiled
def vary(curve: Any, motion: NDArray, i: int) -> None:
    """Write SHIFT and TURN of curve i, whose FRAME is known."""
    zero = (0.0, 0.0, 0.0)
    for s in range(2):
        frame, shift, turn = at(i, s) + FRAME, at(i, s) + SHIFT, at(i, s) + TURN
        t, n, b = row(motion, frame + 1), row(motion, frame + 2), row(motion, frame + 3)
        along, across, torsion = vector(curve["start_bend"] if s == 0 else curve["end_bend"])
        a, da, r, dr = 1.0, 0.0, 0.0, 1.0
        if s == 1:
            jacobi = curve["jacobi"]
            a, da, r, dr = jacobi[0], jacobi[1], jacobi[2], jacobi[3]
        forward = combine(torsion, t, 0.0, n, along, b)
        set_row(motion, shift, t)
        set_row(motion, shift + 1, scale(a, b))
        set_row(motion, shift + 2, scale(r, b))
        set_row(motion, shift + 3, t if s == 1 else zero)
        set_row(motion, turn, forward)
        set_row(motion, turn + 1, combine(-a * across, t, -da, n, -a * torsion, b))
        set_row(motion, turn + 2, combine(-r * across, t, -dr, n, -r * torsion, b))
        set_row(motion, turn + 3, forward if s == 1 else zero)
