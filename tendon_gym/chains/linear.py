"""Small symmetric systems for compiled code: Cholesky's factor of the leading part of an array."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from tendon_gym.compiled import compiled


@compiled
def factorise(matrix: NDArray, n: int) -> bool:
    """Write L with L L^T = matrix[:n, :n] to its lower triangle, from its lower triangle.

    Returns:
        Whether the matrix is positive definite; if not, what was written is of no use.
    """
    for j in range(n):
        rest = matrix[j, j]
        for k in range(j):
            rest -= matrix[j, k] * matrix[j, k]
        if not rest > 1e-14 * abs(matrix[j, j]):
            return False
        diagonal = math.sqrt(rest)
        matrix[j, j] = diagonal
        for i in range(j + 1, n):
            rest = matrix[i, j]
            for k in range(j):
                rest -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = rest / diagonal
    return True


@compiled
def substitute(factor: NDArray, n: int, x: NDArray) -> None:
    """Replace the right side, the first n of x, by the solution, given what `factorise` wrote."""
    for i in range(n):
        rest = x[i]
        for k in range(i):
            rest -= factor[i, k] * x[k]
        x[i] = rest / factor[i, i]
    for i in range(n - 1, -1, -1):
        rest = x[i]
        for k in range(i + 1, n):
            rest -= factor[k, i] * x[k]
        x[i] = rest / factor[i, i]
