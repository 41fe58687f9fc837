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
from tendon_gym.cables.workspace import FRAME, SHIFT, TURN
from tendon_gym.compiled import compiled
from tendon_gym.spatial import add, columns, combine, cross, row, scale, to_world, vector


@compiled
def place(world: NDArray, curve: Any, motion: NDArray, i: int) -> None:
    """Write the FRAME of curve i, both ends; `world` (4, 3) is its surface's frame there."""
    axes, origin = columns(world[1:]), row(world, 0)
    for s in range(2):
        points, frame = curve["start"] if s == 0 else curve["end"], motion[FRAME, i, s]
        t, n = to_world(axes, row(points, 1)), to_world(axes, row(points, 2))
        set_row(frame, 0, add(origin, to_world(axes, row(points, 0))))
        set_row(frame, 1, t)
        set_row(frame, 2, n)
        set_row(frame, 3, cross(t, n))


@compiled
def vary(curve: Any, motion: NDArray, i: int) -> None:
    """Write SHIFT and TURN of curve i, whose FRAME is known."""
    zero = (0.0, 0.0, 0.0)
    for s in range(2):
        frame, shift, turn = motion[FRAME, i, s], motion[SHIFT, i, s], motion[TURN, i, s]
        t, n, b = row(frame, 1), row(frame, 2), row(frame, 3)
        along, across, torsion = vector(curve["start_bend"] if s == 0 else curve["end_bend"])
        a, da, r, dr = 1.0, 0.0, 0.0, 1.0
        if s == 1:
            jacobi = curve["jacobi"]
            a, da, r, dr = jacobi[0], jacobi[1], jacobi[2], jacobi[3]
        forward = combine(torsion, t, 0.0, n, along, b)
        set_row(shift, 0, t)
        set_row(shift, 1, scale(a, b))
        set_row(shift, 2, scale(r, b))
        set_row(shift, 3, t if s == 1 else zero)
        set_row(turn, 0, forward)
        set_row(turn, 1, combine(-a * across, t, -da, n, -a * torsion, b))
        set_row(turn, 2, combine(-r * across, t, -dr, n, -r * torsion, b))
        set_row(turn, 3, forward if s == 1 else zero)
