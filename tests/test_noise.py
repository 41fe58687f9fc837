"""Numbers from keys and counts: the distributions, independence, and the same with any compiler."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tendon_gym.compiled import compiled
from tendon_gym.noise import KEYS, hashed, normals, uniforms

PCG4D = 0xFFFFFFFF


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def by_numpy(key, count, channel):
    """Return the hash by its definition, in numpy's wrapping 32-bit arithmetic."""
    v = np.array([key & PCG4D, key >> 32, count, channel], np.uint32)
    v = v * np.uint32(1664525) + np.uint32(1013904223)
    for last in (False, True):
        v[0:1] += v[1] * v[3:4]
        v[1:2] += v[2] * v[0:1]
        v[2:3] += v[0] * v[1:2]
        v[3:4] += v[1] * v[2:3]
        if not last:
            v ^= v >> np.uint32(16)
    return tuple(int(x) for x in v)


@compiled
def fill(draw, keys, counts, channel, out):
    for k in range(len(keys)):
        a, b, c, d = draw(keys[k], counts[k], channel)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = a, b, c, d


def drawn(draw, keys, counts, channel=0):
    """Return numbers (k, 4)."""
    out = np.zeros((len(keys), 4))
    fill(draw, keys, counts, channel, out)
    return out


def test_it_is_the_published_hash(rng):
    for _ in range(200):
        key = int(rng.integers(KEYS))
        count, channel = (int(x) for x in rng.integers(2**32, size=2))
        assert hashed(key, count, channel) == by_numpy(key, count, channel)
    assert hashed(KEYS - 1, 2**32 - 1, 2**32 - 1) == by_numpy(KEYS - 1, 2**32 - 1, 2**32 - 1)


def test_the_numbers_are_evenly_spread_and_normal(rng):
    keys = rng.integers(KEYS, size=20_000)
    counts = np.arange(20_000)
    for column in drawn(uniforms, keys, counts).T:
        assert 0.0 < column.min() < column.max() < 1.0
        assert stats.kstest(column, "uniform").pvalue > 1e-3
    for column in drawn(normals, keys, counts).T:
        assert np.isfinite(column).all()
        assert stats.kstest(column, "norm").pvalue > 1e-3


@pytest.mark.parametrize("what", ["key", "count", "channel"])
def test_neighbours_have_nothing_in_common(what, rng):
    n = 20_000
    key, count = np.full(n, 7), np.full(n, 3)
    if what == "key":
        key = np.arange(n)
    else:
        count = np.arange(n)
    mine = drawn(normals, key, count, 0)
    if what == "channel":
        other = drawn(normals, key, count, 1)
    else:
        other = np.roll(mine, 1, axis=0)
    both = np.hstack([mine, other])
    correlation = np.corrcoef(both.T) - np.eye(8)
    # the standard deviation of a correlation of n independent pairs is 1 / sqrt(n)
    assert np.abs(correlation).max() < 5.0 / np.sqrt(n)
