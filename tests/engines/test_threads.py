"""The threads of the process: ranges, errors, forks, and leftovers."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
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


INTERRUPTED = """
import random, signal, sys, time
from tendon_gym.engines import threads

def interrupt(*_):
    raise KeyboardInterrupt

random.seed(int(sys.argv[1]))
signal.signal(signal.SIGALRM, interrupt)
running, caught, begin = [0], 0, time.monotonic()

def work():
    running[0] += 1
    time.sleep(0.0005)
    running[0] -= 1

while caught < 150:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-4, 2e-3))
        while True:
            threads.run([work] * 3)
    except KeyboardInterrupt:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0.0)
ended = []
threads.run([lambda: ended.append(1)] * 3)
assert len(ended) == 3
print("interrupted", caught)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="Windows has no alarms")
@pytest.mark.parametrize("seed", [0, 1])
def test_interrupts_neither_hang_nor_get_lost(seed):
    """Wherever Ctrl-C strikes, `run` ends with it, and the threads go on working."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(seed)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "interrupted 150", done.stderr


def test_an_interrupt_as_a_task_is_told_finished(monkeypatch):
    """The item of the queue is lost with it; the task is finished all the same."""

    class Interrupting(queue.SimpleQueue):
        def get(self, *arguments):
            item = super().get(*arguments)
            if struck:
                raise struck.pop()
            return item

    struck = [KeyboardInterrupt()]
    threads.run([lambda: None] * 2)  # the workers are there
    monkeypatch.setattr(threads, "SimpleQueue", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        threads.run([lambda: None] * 2)
    assert not struck


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
