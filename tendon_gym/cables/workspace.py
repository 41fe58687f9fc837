"""The arrays that a solve needs besides its results, made once for a system of cables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.cables.geodesic import SIZE, WORKSPACE
from tendon_gym.cables.records import CURVE


class Workspace(NamedTuple):
    """Arrays for a stretch of m obstacles between two fixed points, at most all in contact.

    Attributes:
        origin: (e, 3), axes: (e, 3, 3), of the elements' frames in the world.
        active: (m,), the elements in contact, in path order.
        shift: (m, 2, 4, 3), natural variations of position at start and end of each curve.
        turn: (m, 2, 4, 3), of orientation, as rotation vectors.
        frame: (m, 2, 4, 3), point, tangent, normal, binormal in the world, at start and end.
        fixed: (2, 3), the points at both ends of the stretch.
        line: (m + 1, 3), unit directions of the straight lines.
        closeness: (m + 1,), one over their lengths, 1/m; 0 for a line without length.
        error: (4 m,), per curve normal and binormal at its start, then at its end.
        jacobian: (4 m, 4 m), of the errors.
        slope: (4 m,), of the length.
        curvature: (4 m, 4 m), second derivatives of the length.
        step: (4 m,), the correction.
        basis: (5 m, 4 m), `weight`: (5 m,), `order`: (4 m,): a QR factorisation.
        inner: (4 m, 4 m), `vectors`: (4 m, 4 m): of the reduced problem.
        right: (5 m,), `left`: (5 m,): right-hand sides.
        stages: for the integrator.
        before, best: (e,), curves before the solve, and of the best attempt.
    """

    origin: NDArray
    axes: NDArray
    active: NDArray
    shift: NDArray
    turn: NDArray
    frame: NDArray
    fixed: NDArray
    line: NDArray
    closeness: NDArray
    error: NDArray
    jacobian: NDArray
    slope: NDArray
    curvature: NDArray
    step: NDArray
    basis: NDArray
    weight: NDArray
    order: NDArray
    inner: NDArray
    vectors: NDArray
    right: NDArray
    left: NDArray
    stages: NDArray
    before: NDArray
    best: NDArray


def workspace(m: int, elements: int) -> Workspace:
    """Return a workspace for stretches of up to m obstacles in a system of so many elements."""
    m = max(m, 1)
    n = 4 * m
    square = [np.zeros((n, n)) for _ in range(4)]
    return Workspace(
        origin=np.zeros((elements, 3)),
        axes=np.zeros((elements, 3, 3)),
        active=np.zeros(m, np.int64),
        shift=np.zeros((m, 2, 4, 3)),
        turn=np.zeros((m, 2, 4, 3)),
        frame=np.zeros((m, 2, 4, 3)),
        fixed=np.zeros((2, 3)),
        line=np.zeros((m + 1, 3)),
        closeness=np.zeros(m + 1),
        error=np.zeros(n),
        jacobian=square[0],
        slope=np.zeros(n),
        curvature=square[1],
        step=np.zeros(n),
        basis=np.zeros((5 * m, n)),
        weight=np.zeros(5 * m),
        order=np.zeros(n, np.int64),
        inner=square[2],
        vectors=square[3],
        right=np.zeros(5 * m),
        left=np.zeros(5 * m),
        stages=np.zeros((WORKSPACE, SIZE)),
        before=np.zeros(elements, CURVE),
        best=np.zeros(elements, CURVE),
    )
