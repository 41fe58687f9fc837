"""Threads that run compiled kernels on ranges of simulations, made when they are first needed.

They belong to the process and not to an environment: making and closing many environments leaves
no threads behind. After a fork the child makes its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

Task = Callable[[], Any]


class _Worker(threading.Thread):
    """Runs one task after the other, and says of each how it ended."""

    def __init__(self) -> None:
        super().__init__(name="tendon_gym", daemon=True)
        self.tasks: SimpleQueue[tuple[Task, SimpleQueue[BaseException | None]]] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            task, done = self.tasks.get()
            try:
                task()
            except BaseException as error:  # goes to who asked for the task
                done.put(error)
            else:
                done.put(None)


_workers: list[_Worker] = []
_growing = threading.Lock()


def _forget() -> None:
    """Start anew in the child of a fork: threads don't come along."""
    global _growing
    _workers.clear()
    _growing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def run(tasks: Sequence[Task]) -> None:
    """Run all tasks at the same time, the first one in this thread; return when all are done.

    Raises:
        Exception: what one of the tasks raised, after all have ended.
    """
    if len(tasks) == 1:
        tasks[0]()
        return
    with _growing:
        while len(_workers) < len(tasks) - 1:
            _workers.append(_Worker())
    done: SimpleQueue[BaseException | None] = SimpleQueue()
    for worker, task in zip(_workers, tasks[1:], strict=False):
        worker.tasks.put((task, done))
    failure = _failure(tasks[0])
    waiting = len(tasks) - 1
    while waiting:
        try:
            failure = done.get() or failure
        except BaseException as error:  # Ctrl-C: the others still work on the arrays
            failure = error
        else:
            waiting -= 1
    if failure is not None:
        raise failure


def _failure(task: Task) -> BaseException | None:
    try:
        task()
    except BaseException as error:
        return error
    return None


def ranges(n: int, count: int) -> list[tuple[int, int]]:
    """Return `count` ranges (first, last) of about equal size that make up 0..n-1, n >= count."""
    edges = [n * k // count for k in range(count + 1)]
    return list(pairwise(edges))
