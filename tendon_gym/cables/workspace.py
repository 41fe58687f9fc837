"""The arrays that a solve needs besides its results, made once for a state of cables.

They are few and large: Numba compiles a call the longer the more arrays it hands on. Most are
tables of rows, since reading a row costs nothing, but a view of a part of an array does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.cables.geodesic import SIZE, WORKSPACE
from tendon_gym.cables.records import CURVE, NODE
from tendon_gym.compiled import compiled

FRAME, SHIFT, TURN, MOTION = 0, 4, 8, 12
"""Rows of `motion` for an end of a curve: point, tangent, normal, binormal; four variations of
the point; four of the frame; how many rows that are."""
ERROR, SLOPE, STEP, WEIGHT, RIGHT, LEFT = range(6)
"""Rows of `vectors`."""
PIN = 5
"""Column of `lines`."""
JACOBIAN, CURVATURE, BASIS, INNER, EIGEN = range(5)
"""Rows of `matrices`."""
ACTIVE, ORDER = 0, 1
"""Rows of `indices`."""
BEFORE, BEST = 0, 1
"""Rows of `curves`."""


@compiled
def zero() -> int:
    """Return 0, to count from: Numba compiles whatever takes a literal 0 once more for it."""
    return int(np.int64(0))


@compiled
def at(i: int, s: int) -> int:
    """Return the first row of `motion` for curve i's start (s = 0) or end (s = 1)."""
    return MOTION * (2 * i + s)


class Workspace(NamedTuple):
    """Arrays for a stretch of m obstacles between two fixed points, at most all in contact.

    Attributes:
        world: (4 e, 3), of every element origin and axes, in the world.
        motion: (24 m, 3), of every curve at its start and its end, in the world: FRAME, SHIFT and
            TURN by the four natural variations. `at` tells where.
        fixed: (2, 3), the points at both ends of the stretch.
        lines: (m + 1, 6), unit directions of the straight lines, one over their lengths (1/m, 0
            for a line without length), their lengths, m, and PIN: where a line's fixed point lies
            on the surface that the line leads to, the surface's size, m, else 0.
        vectors: (6, 5 m): ERROR, per curve normal and binormal at its start, then at its end;
            SLOPE of the path's length; STEP, the correction; the rest for factorisations.
        matrices: (5, 5 m, 4 m): JACOBIAN of the errors; CURVATURE, second derivatives of the
            length; the rest for factorisations.
        indices: (2, 4 m): ACTIVE, the elements in contact in path order; ORDER of columns.
        curves: (2, e) CURVE: as they were BEFORE the solve; those of its BEST attempt.
        nodes: (e,) NODE, as they were before the solve.
        stages: for the integrator.
    """

    world: NDArray
    motion: NDArray
    fixed: NDArray
    lines: NDArray
    vectors: NDArray
    matrices: NDArray
    indices: NDArray
    curves: NDArray
    nodes: NDArray
    stages: NDArray


def workspace(m: int, elements: int) -> Workspace:
    """Return a workspace for stretches of up to m obstacles in a system of so many elements."""
    m = max(m, 1)
    return Workspace(
        world=np.zeros((4 * elements, 3)),
        motion=np.zeros((2 * MOTION * m, 3)),
        fixed=np.zeros((2, 3)),
        lines=np.zeros((m + 1, 6)),
        vectors=np.zeros((6, 5 * m)),
        matrices=np.zeros((5, 5 * m, 4 * m)),
        indices=np.zeros((2, 4 * m), np.int64),
        curves=np.zeros((2, elements), CURVE),
        nodes=np.zeros(elements, NODE),
        stages=np.zeros((WORKSPACE, SIZE)),
    )
