"""The threads of the process: ranges, errors, forks, and leftovers."""

from __future__ import annotations

import os
import threading
import time
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tendon_gym.engines import threads


def own() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tendon_gym"]


@given(st.integers(1, 300), st.data())
def test_ranges_make_up_all_and_are_about_equal(n, data):
    count = data.draw(st.integers(1, n))
    ranges = threads.ranges(n, count)
    assert len(ranges) == count
    assert np.array_equal(np.concatenate([np.arange(*each) for each in ranges]), np.arange(n))
    sizes = [last - first for first, last in ranges]
    assert max(sizes) - min(sizes) <= 1 and min(sizes) >= 1


def test_tasks_run_at_the_same_time_and_all_are_waited_for():
    meeting, done = threading.Barrier(3, timeout=20.0), []

    def task(k):
        meeting.wait()  # passes only when all three are here
        time.sleep(0.02 * k)
        done.append(k)

    threads.run([lambda k=k: task(k) for k in range(3)])
    assert sorted(done) == [0, 1, 2]


def test_one_task_runs_in_the_caller():
    seen = []
    threads.run([lambda: seen.append(threading.current_thread())])
    assert seen == [threading.current_thread()]


@pytest.mark.parametrize("where", [0, 1, 2])
def test_an_error_arrives_after_all_have_ended(where):
    ended = []

    def task(k):
        if k == where:
            raise ZeroDivisionError(f"task {k}")
        time.sleep(0.05)
        ended.append(k)

    with pytest.raises(ZeroDivisionError, match=f"task {where}"):
        threads.run([lambda k=k: task(k) for k in range(3)])
    assert sorted(ended) == [k for k in range(3) if k != where]
    threads.run([ended.clear] * 3)  # and the threads go on working
    assert not ended


def test_threads_are_kept_and_shared():
    threads.run([lambda: None] * 4)
    before = len(own())
    assert before >= 3
    for _ in range(50):
        threads.run([lambda: None] * 4)
    assert len(own()) == before


def test_several_callers_at_once_get_their_own_results():
    sums = np.zeros(4)

    def caller(c):
        for _ in range(200):
            parts = np.zeros(3)
            threads.run([lambda k=k, p=parts: p.__setitem__(k, c) for k in range(3)])
            sums[c] += parts.sum()

    callers = [threading.Thread(target=caller, args=(c,)) for c in range(4)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert np.array_equal(sums, 600.0 * np.arange(4))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_makes_threads_of_its_own():
    threads.run([lambda: None] * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's warning of forks with threads
        child = os.fork()
    if child == 0:
        seen: list[int] = []
        threads.run([lambda: seen.append(1)] * 3)
        os._exit(0 if len(seen) == 3 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    threads.run([lambda: None] * 3)
