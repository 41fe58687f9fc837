"""Bytes are counted right, of things whose size is known."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tendon_gym.evaluation.bench import memory


def alone(code: str) -> float:
    """Return what code prints in a process of its own, whose memory nothing else has used."""
    head = "import numpy as np\nfrom tendon_gym.evaluation.bench import memory\n"
    words = [sys.executable, "-c", head + code]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def test_resident_memory_follows_what_is_allocated():
    code = "before = memory.resident()\nblock = np.ones(4_000_000)\n"
    grown = alone(code + "print(memory.resident() - before)")
    assert grown == pytest.approx(8 * 4_000_000, rel=0.05)


def test_bytes_of_one_simulation_leave_out_what_all_share():
    code = "def make(n):\n    return np.ones(3_000_000), np.ones((n, 2_000))\n"
    each = alone(code + "print(memory._bytes_each(make, 1024))")
    assert each == pytest.approx(16_000, rel=0.1)


def test_a_failure_in_the_process_is_told(monkeypatch):
    from tendon_gym.evaluation.bench.settings import QUICK

    with pytest.raises(RuntimeError, match=r"memory of warp: .*engine.*warp"):
        memory.memory(QUICK, ("warp",))
