"""Boxes against the tuples that are in them."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import weakref
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from tendon_gym.boxes import box
from tendon_gym.compiled import bind, compiled, entry

CHECKOUT = Path(__file__).parent.parent


class Inner(NamedTuple):
    rows: np.ndarray
    factor: float


class Outer(NamedTuple):
    inner: Inner
    out: np.ndarray


@compiled
def scaled_sum(first, last, box):
    outer = box.value
    total = 0.0
    for i in range(first, last):
        outer.out[i] = outer.inner.factor * outer.inner.rows[i].sum()
        total += outer.out[i]
    return total


def make(rows, factor=2.0):
    return Outer(Inner(rows, factor), np.zeros(len(rows)))


def test_kernels_work_on_the_very_arrays_in_a_box():
    outer = make(np.arange(12.0).reshape(4, 3))
    run = bind(scaled_sum, 1, 4, box(outer))
    assert run() == 2.0 * outer.inner.rows[1:].sum()
    outer.inner.rows[2] = 100.0
    run()
    assert outer.out.tolist() == [0.0, 24.0, 600.0, 60.0]


def test_strided_arrays_share_the_machine_code():
    wide = np.arange(40.0).reshape(4, 10)
    narrow, apart = np.ascontiguousarray(wide[:, :3]), wide[:, :3]
    results, codes = [], set()
    for rows in (narrow, apart):
        outer = make(rows)
        boxed = box(outer, (rows,))
        results.append(bind(scaled_sum, 0, 4, boxed)())
        codes.add(entry(scaled_sum, 0, 4, boxed))
    assert results[0] == results[1] == 2.0 * narrow.sum()
    assert len(codes) == 1


def test_a_box_keeps_its_arrays_and_lets_them_go():
    class Owner:  # of the memory; an array itself takes no weak references
        memory = np.ones((2, 3))
        __array_interface__ = memory.__array_interface__

    owner = Owner()
    alive = weakref.ref(owner)
    boxed = box(make(np.asarray(owner)))
    del owner
    gc.collect()
    assert alive() is not None
    assert entry(scaled_sum, 0, 2, boxed)(0, 2, boxed) == 12.0
    del boxed
    gc.collect()
    assert alive() is None


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a plain box holds no addresses")
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_box_is_not_copied(duplicate):
    """The copy would go on working on the arrays of the original, as long as they are there."""
    with pytest.raises(TypeError, match="box can't be copied"):
        duplicate(box(make(np.ones((2, 3)))))


PLAIN = """
from tests.test_boxes import bind, box, make, np, scaled_sum
print(bind(scaled_sum, 0, 2, box(make(np.ones((2, 3)))))())
"""


def test_boxes_hold_for_plain_python_too():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "12.0"
