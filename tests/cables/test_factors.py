"""Small matrices against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tendon_gym.cables import factors


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(0, 9999))
def test_qr_with_pivots(rows, columns, rank, seed):
    rng = np.random.default_rng(seed)
    rank = min(rank, rows, columns)
    given = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    a, weight, order = np.zeros((10, 10)), np.zeros(10), np.zeros(10, np.int64)
    a[:rows, :columns] = given
    assert factors.qr(a, weight, order, rows, columns) == rank == np.linalg.matrix_rank(given)
    assert sorted(order[:columns]) == list(range(columns))
    upper = np.triu(a[:rows, :columns])
    upper[rank:] = 0.0
    back = np.zeros((rows, columns))
    for j in range(columns):
        v = np.zeros(rows)
        v[:] = upper[:, j]
        for k in range(rank - 1, -1, -1):
            factors.reflect(a, weight[k], k, v, rows)
        back[:, order[j]] = v
    np.testing.assert_allclose(back, given, atol=1e-10 * max(1.0, np.abs(given).max()))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8), st.integers(0, 9999))
def test_cholesky(n, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    a, v = root @ root.T + 1e-3 * np.eye(n), rng.normal(size=n)
    factor, x = a.copy(), v.copy()
    assert factors.cholesky(factor, n)
    factors.cholesky_solve(factor, x, n)
    np.testing.assert_allclose(a @ x, v, atol=1e-8)
    a[0, 0] -= 1.1 * np.linalg.eigvalsh(a)[-1] + a[0, 0]
    assert not factors.cholesky(a, n)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 9), st.integers(0, 9999))
def test_eigenvalues_and_vectors(n, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, n))
    a += a.T
    values, vectors = a.copy(), np.zeros((n, n))
    factors.eigen(values, vectors, n)
    np.testing.assert_allclose(np.sort(np.diag(values)), np.linalg.eigvalsh(a), atol=1e-11)
    np.testing.assert_allclose(vectors @ np.diag(np.diag(values)) @ vectors.T, a, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)


@pytest.mark.parametrize("rows", [1, 4])
def test_reflections_from_both_sides(rows):
    rng = np.random.default_rng(2)
    basis, weight, order = rng.normal(size=(rows, 1)), np.zeros(1), np.zeros(1, np.int64)
    factors.qr(basis, weight, order, rows, 1)
    whole = np.eye(rows)
    for j in range(rows):
        factors.reflect_column(basis, weight[0], 0, whole, j, rows)
    a = rng.normal(size=(rows, rows))
    a += a.T
    expected = whole @ a @ whole.T
    factors.reflect_both(basis, weight[0], 0, a, rows)
    np.testing.assert_allclose(a, expected, atol=1e-13)
