"""The arrays that a solve needs besides its results, made once for a state of cables.

They are few and large: numba compiles a call the longer the more arrays it hands on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.cables.geodesic import SIZE, WORKSPACE
from tendon_gym.cables.records import CURVE
from tendon_gym.compiled import inlined

FRAME, SHIFT, TURN = 0, 1, 2
"""Rows of `motion`: point, tangent, normal, binormal; variations of the point; of the frame."""
ERROR, SLOPE, STEP, WEIGHT, RIGHT, LEFT = range(6)
"""Rows of `vectors`."""
JACOBIAN, CURVATURE, BASIS, INNER, EIGEN = range(5)
"""Rows of `matrices`."""
ACTIVE, ORDER = 0, 1
"""Rows of `indices`."""
BEFORE, BEST = 0, 1
"""Rows of `curves`."""


@inlined
def zero() -> int:
    """Return 0, to count from: Numba compiles whatever takes a literal 0 once more for it."""
    return 0


class Workspace(NamedTuple):
    """Arrays for a stretch of m obstacles between two fixed points, at most all in contact.

    Attributes:
        world: (e, 4, 3), of every element origin and axes (in columns) in the world.
        motion: (3, m, 2, 4, 3), of every curve at its start and its end, in the world: FRAME,
            SHIFT and TURN by the four natural variations.
        fixed: (2, 3), the points at both ends of the stretch.
        lines: (m + 1, 4), unit directions of the straight lines, and one over their lengths, 1/m,
            0 for a line without length.
        vectors: (6, 5 m): ERROR, per curve normal and binormal at its start, then at its end;
            SLOPE of the path's length; STEP, the correction; the rest for factorisations.
        matrices: (5, 5 m, 4 m): JACOBIAN of the errors; CURVATURE, second derivatives of the
            length; the rest for factorisations.
        indices: (2, 4 m): ACTIVE, the elements in contact in path order; ORDER of columns.
        curves: (2, e) CURVE: as they were BEFORE the solve; those of its BEST attempt.
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
    stages: NDArray


def workspace(m: int, elements: int) -> Workspace:
    """Return a workspace for stretches of up to m obstacles in a system of so many elements."""
    m = max(m, 1)
    return Workspace(
        world=np.zeros((elements, 4, 3)),
        motion=np.zeros((3, m, 2, 4, 3)),
        fixed=np.zeros((2, 3)),
        lines=np.zeros((m + 1, 4)),
        vectors=np.zeros((6, 5 * m)),
        matrices=np.zeros((5, 5 * m, 4 * m)),
        indices=np.zeros((2, 4 * m), np.int64),
        curves=np.zeros((2, elements), CURVE),
        stages=np.zeros((WORKSPACE, SIZE)),
    )
