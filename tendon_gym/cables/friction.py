"""How far a cable turns on an obstacle, which friction goes by."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from tendon_gym.cables.geodesic import STAGES, integrate
from tendon_gym.cables.records import HALF_SPACE
from tendon_gym.cables.shape import bend, tangent_at
from tendon_gym.compiled import compiled

PANEL = 0.25
"""How far a curve may turn over two steps of Simpson's rule, rad, where it bends most."""
FEWEST, MOST = 8, 200


@compiled
def turning(element: Any, tables: NDArray, curve: Any, accuracy: float, work: NDArray) -> float:
    """Return the angle (rad) through which a curve's tangent turns in all.

    It is the integral of the normal curvature: a geodesic has no other. On spheres, cylinders and
    planes that is constant along it; elsewhere Simpson's rule goes along. `work` is the
    integrator's workspace.
    """
    length, start = curve["length"], curve["start"]
    if element["surface"] <= HALF_SPACE:
        return length * abs(curve["start_bend"][0])
    sharpest = max(abs(curve["start_bend"][0]), abs(curve["end_bend"][0]))
    panels = int(min(max(FEWEST, math.ceil(length * sharpest / PANEL)), MOST))
    step = 0.5 * length / panels
    for k in range(3):
        work[STAGES, k], work[STAGES, 3 + k] = start[0, k], start[1, k]
    for k in range(6, work.shape[1]):
        work[STAGES, k] = 0.0
    total = abs(curve["start_bend"][0]) + abs(curve["end_bend"][0])
    if not step > 0.0:
        return 0.0
    for k in range(1, 2 * panels):
        integrate(element, tables, step, accuracy, step, work)
        p = (work[STAGES, 0], work[STAGES, 1], work[STAGES, 2])
        t = (work[STAGES, 3], work[STAGES, 4], work[STAGES, 5])
        _, t, n = tangent_at(element, tables, p, t)
        total += (4.0 if k % 2 else 2.0) * abs(bend(element, tables, p, t, n)[0])
    return total * step / 3.0
