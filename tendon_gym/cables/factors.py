"""Small dense matrices: pivoted QR, Cholesky and the symmetric eigenvalue problem, in place.

Numba reaches LAPACK, too, but each call allocates and costs more than these sizes take. Textbook
methods: G. H. Golub and C. F. Van Loan 2013, Matrix Computations, sections 5.4, 4.2 and 8.5.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from tendon_gym.compiled import compiled

RANK = 1e-11
"""A pivot this much smaller than the first counts as zero."""
SWEEPS = 30


@compiled
def _reflector(a: NDArray, weight: NDArray, k: int, rows: int) -> None:
    """Turn column k below row k into a Householder vector (a[k, k] implied 1) and R's pivot."""
    square = 0.0
    for i in range(k + 1, rows):
        square += a[i, k] * a[i, k]
    length = math.sqrt(a[k, k] * a[k, k] + square)
    if square == 0.0:
        weight[k] = 0.0
        return
    head = a[k, k] + math.copysign(length, a[k, k])
    weight[k] = 2.0 * head * head / (head * head + square)
    for i in range(k + 1, rows):
        a[i, k] /= head
    a[k, k] = -math.copysign(length, a[k, k])


@compiled
def _pivot(a: NDArray, order: NDArray, k: int, rows: int, columns: int) -> float:
    """Bring the longest of the columns from k on to place k and return the square of its length."""
    best, where = -1.0, k
    for j in range(k, columns):
        square = 0.0
        for i in range(k, rows):
            square += a[i, j] * a[i, j]
        if square > best:
            best, where = square, j
    if where != k:
        for i in range(rows):
            a[i, k], a[i, where] = a[i, where], a[i, k]
        order[k], order[where] = order[where], order[k]
    return best


@compiled
def qr(a: NDArray, weight: NDArray, order: NDArray, rows: int, columns: int) -> int:
    """Factorise the leading (rows, columns) of `a` with column pivoting; return its rank.

    Column order[k] of what `a` was is column k of Q R. R is on and above the diagonal of `a`, the
    Householder vectors of Q are below it, with their weights.
    """
    for j in range(columns):
        order[j] = j
    first = 0.0
    for k in range(min(rows, columns)):
        square = _pivot(a, order, k, rows, columns)
        if k == 0:
            first = square
        if not square > RANK * RANK * first:
            return k
        _reflector(a, weight, k, rows)
        for j in range(k + 1, columns):
            reflect_column(a, weight[k], k, a, j, rows)
    return min(rows, columns)


@compiled
def reflect_column(q: NDArray, weight: float, k: int, a: NDArray, j: int, rows: int) -> None:
    """Apply reflector k to column j of a."""
    total = a[k, j]
    for i in range(k + 1, rows):
        total += q[i, k] * a[i, j]
    total *= weight
    a[k, j] -= total
    for i in range(k + 1, rows):
        a[i, j] -= total * q[i, k]


@compiled
def reflect(q: NDArray, weight: float, k: int, v: NDArray, rows: int) -> None:
    """Apply reflector k to a vector."""
    total = v[k]
    for i in range(k + 1, rows):
        total += q[i, k] * v[i]
    total *= weight
    v[k] -= total
    for i in range(k + 1, rows):
        v[i] -= total * q[i, k]


@compiled
def reflect_both(q: NDArray, weight: float, k: int, a: NDArray, rows: int) -> None:
    """Apply reflector k to a symmetric matrix, from both sides."""
    for j in range(rows):
        reflect_column(q, weight, k, a, j, rows)
    for j in range(rows):
        reflect(q, weight, k, a[j], rows)


@compiled
def cholesky(a: NDArray, n: int) -> bool:
    """Overwrite the lower triangle of a symmetric matrix with its factor, if it is positive."""
    for k in range(n):
        pivot = a[k, k]
        for j in range(k):
            pivot -= a[k, j] * a[k, j]
        if not pivot > 0.0:
            return False
        pivot = math.sqrt(pivot)
        a[k, k] = pivot
        for i in range(k + 1, n):
            total = a[i, k]
            for j in range(k):
                total -= a[i, j] * a[k, j]
            a[i, k] = total / pivot
    return True


@compiled
def cholesky_solve(a: NDArray, v: NDArray, n: int) -> None:
    """Overwrite v with the solution of L L' x = v."""
    for k in range(n):
        for j in range(k):
            v[k] -= a[k, j] * v[j]
        v[k] /= a[k, k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            v[k] -= a[j, k] * v[j]
        v[k] /= a[k, k]


@compiled
def eigen(a: NDArray, vectors: NDArray, n: int) -> None:
    """Turn a symmetric matrix diagonal by Jacobi's rotations; its eigenvectors are columns."""
    size = 0.0
    for i in range(n):
        for j in range(n):
            vectors[i, j] = 1.0 if i == j else 0.0
            size = max(size, abs(a[i, j]))
    for _ in range(SWEEPS):
        worst = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                worst = max(worst, abs(a[p, q]))
                if abs(a[p, q]) > 1e-16 * size:
                    _rotate(a, vectors, n, p, q)
        if worst <= 1e-14 * size:
            return


@compiled
def _rotate(a: NDArray, vectors: NDArray, n: int, p: int, q: int) -> None:
    """Make a[p, q] zero."""
    ratio = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
    t = math.copysign(1.0 / (abs(ratio) + math.sqrt(ratio * ratio + 1.0)), ratio)
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(n):
        a[k, p], a[k, q] = c * a[k, p] - s * a[k, q], s * a[k, p] + c * a[k, q]
    for k in range(n):
        a[p, k], a[q, k] = c * a[p, k] - s * a[q, k], s * a[p, k] + c * a[q, k]
    for k in range(n):
        x, y = vectors[k, p], vectors[k, q]
        vectors[k, p], vectors[k, q] = c * x - s * y, s * x + c * y
