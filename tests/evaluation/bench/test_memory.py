"""Bytes are counted right, of things whose size is known."""

from __future__ import annotations

import numpy as np
import pytest

from tendon_gym.evaluation.bench import memory


def test_resident_memory_follows_what_is_allocated():
    before = memory.resident()
    block = np.ones(4_000_000)
    assert memory.resident() - before == pytest.approx(block.nbytes, rel=0.05)


def test_bytes_of_one_simulation_leave_out_what_all_share():
    def make(n):
        return np.ones(3_000_000), np.ones((n, 2_000))

    assert memory._bytes_each(make, 1024) == pytest.approx(16_000, rel=0.1)


def test_a_failure_in_the_process_is_told(monkeypatch):
    from tendon_gym.evaluation.bench.settings import QUICK

    with pytest.raises(RuntimeError, match=r"memory of warp: .*engine.*warp"):
        memory.memory(QUICK, ("warp",))
