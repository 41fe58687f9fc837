"""Points along solved cables, to draw them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.cables.geodesic import STAGES, integrate, set_row, shoot
from tendon_gym.cables.records import CONTACT, CURVE, HALF_SPACE, OBSTACLE
from tendon_gym.compiled import compiled
from tendon_gym.spatial import add, columns, row, to_world, vector

SPACING = 0.087
"""How far a curve turns between two decorative points, rad."""


@compiled
def sample(
    element: Any,
    tables: NDArray,
    curve: Any,
    node: Any,
    accuracy: float,
    spare: NDArray,
    stages: NDArray,
    out: NDArray,
) -> None:
    """Write points (m, 3), m >= 2, at equal distances along a curve, both ends included.

    Those of a lifted curve are all where the line comes closest to the surface. `spare` is one
    CURVE to work with, `stages` the integrator's workspace.
    """
    count = out.shape[0]
    if curve["status"] != CONTACT:
        for k in range(count):
            set_row(out, k, row(node["point"], 0))
        return
    axes, origin, start = columns(node["axes"]), vector(node["origin"]), curve["start"]
    apart = curve["length"] / (count - 1)
    for k in range(3):
        stages[STAGES, k], stages[STAGES, 3 + k] = start[0, k], start[1, k]
    for k in range(6, stages.shape[1]):
        stages[STAGES, k] = 0.0
    for k in range(count):
        p = row(start, 0)
        if k == count - 1:
            p = row(curve["end"], 0)
        elif element["surface"] <= HALF_SPACE:
            shoot(element, tables, spare[0], p, row(start, 1), k * apart, accuracy, stages)
            p = row(spare[0]["end"], 0)
        elif k > 0 and apart > 0.0:
            integrate(element, tables, apart, accuracy, apart, stages)
            p = (stages[STAGES, 0], stages[STAGES, 1], stages[STAGES, 2])
        set_row(out, k, add(origin, to_world(axes, p)))


@compiled
def resample(problem: Any, i: int, k: int, count: int, spare: NDArray, out: NDArray) -> None:
    """Write the points of cable k of simulation i: its fixed points, and `count` per obstacle."""
    inside = problem.value
    elements = inside.elements[i % inside.elements.shape[0]]
    cable, filled = inside.cables[k], 0
    for j in range(cable["first"], cable["last"] + 1):
        node, curve, more = inside.nodes[i, j], inside.curves[i, j], 1
        if elements[j]["role"] == OBSTACLE:
            more = count
            points = out[filled : filled + count]
            stages = inside.workspace.stages
            accuracy = cable["accuracy"]
            sample(elements[j], inside.tables, curve, node, accuracy, spare, stages, points)
        else:
            set_row(out, filled, row(node["point"], 0))
        filled += more


def decorative_count(curve: Any) -> int:
    """Return how many points a curve in contact is drawn with, by its sharpest bend."""
    bends = np.abs(np.concatenate([curve["start_bend"][:2], curve["end_bend"][:2]]))
    return max(2, math.floor(curve["length"] * float(bends.max()) / SPACING))


def spare_curve() -> NDArray:
    """Return a CURVE for `sample` to work with."""
    return np.zeros(1, CURVE)
