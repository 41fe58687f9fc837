"""How far a cable turns on an obstacle, which friction goes by."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.geodesic import STAGES, integrate
from tendon_gym.cables.records import HALF_SPACE
from tendon_gym.cables.shape import tangent_at
from tendon_gym.compiled import compiled
from tendon_gym.spatial import Vector, norm, row, subtract

PIECE = 0.6
"""How far a curve may turn over a piece of it, rad, where it bends most."""
FEWEST, MOST = 2, 100


@compiled
def _between(s: Vector, t: Vector) -> float:
    """Return the angle between two directions."""
    return 2.0 * math.asin(min(0.5 * norm(subtract(t, s)), 1.0))


@compiled
def turning(element: Any, tables: NDArray, curve: Any, accuracy: float, work: NDArray) -> float:
    """Return the angle (rad) through which a curve's tangent turns in all.

    It is the integral of the normal curvature: a geodesic has no other. On spheres, cylinders and
    planes that is constant along it. Elsewhere it is the sum of the angles between tangents, which
    is exact in a plane and with twist short by the square of a piece's length; that is removed by
    taking pieces of two lengths (Richardson 1911). `work` is the integrator's workspace.
    """
    length, start = curve["length"], curve["start"]
    if element["surface"] <= HALF_SPACE:
        return length * abs(curve["start_bend"][0])
    sharpest = max(abs(curve["start_bend"][0]), abs(curve["end_bend"][0]))
    pieces = int(min(max(FEWEST, math.ceil(length * sharpest / PIECE)), MOST))
    step = 0.5 * length / pieces
    if not step > 0.0:
        return 0.0
    for k in range(3):
        work[STAGES, k], work[STAGES, 3 + k] = start[0, k], start[1, k]
    for k in range(6, work.shape[1]):
        work[STAGES, k] = 0.0
    fine = coarse = 0.0
    whole = half = row(start, 1)
    for k in range(2 * pieces):
        integrate(element, tables, step, accuracy, step, work)
        p = (work[STAGES, 0], work[STAGES, 1], work[STAGES, 2])
        t = (work[STAGES, 3], work[STAGES, 4], work[STAGES, 5])
        _, t, _ = tangent_at(element, tables, p, t)
        fine += _between(half, t)
        half = t
        if k % 2:
            coarse += _between(whole, t)
            whole = t
    return (4.0 * fine - coarse) / 3.0
