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


class _Order:
    """A task that a worker is to run, unless whoever asked for it takes it back first.

    Attributes:
        finished: whether there is nothing to wait for any more.
        error: what the task raised.
    """

    def __init__(self, task: Task, told: SimpleQueue[None]) -> None:
        """`told` gets an item once the task has been run."""
        self._task, self._told = task, told
        self._owner: dict[str, str] = {}
        self.finished = False
        self.error: BaseException | None = None

    def _take(self, who: str) -> bool:
        """Say whether it is `who` that has it: the first one who asks, then and ever after."""
        return self._owner.setdefault("owner", who) == who

    def run(self) -> None:
        """Run the task, if it hasn't been taken back."""
        if not self._take("worker"):
            return
        try:
            self._task()
        except BaseException as error:  # goes to who asked for the task
            self.error = error
        self.finished = True
        self._told.put(None)

    def take_back(self) -> None:
        """Make sure that the task doesn't begin, if it hasn't."""
        if self._take("asker"):
            self.finished = True


class _Worker(threading.Thread):
    """Carries out one order after the other."""

    def __init__(self) -> None:
        super().__init__(name="tendon_gym", daemon=True)
        self.orders: SimpleQueue[_Order] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            self.orders.get().run()


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
    told: SimpleQueue[None] = SimpleQueue()
    orders = [_Order(task, told) for task in tasks[1:]]
    try:
        for worker, order in zip(_workers, orders, strict=False):
            worker.orders.put(order)
        failure = _failure(tasks[0])
        _wait(orders, told)
    except BaseException:  # Ctrl-C: the others still work on the arrays
        _give_up(orders, told)
        raise
    for error in (failure, *(order.error for order in orders)):
        if error is not None:
            raise error


def _failure(task: Task) -> Exception | None:
    try:
        task()
    except Exception as error:
        return error
    return None


def _wait(orders: Sequence[_Order], told: SimpleQueue[None]) -> None:
    """Wait until all orders are finished.

    Whether one is, it says itself: an item of the queue may be lost to an interrupt.
    """
    while not all(order.finished for order in orders):
        told.get()


def _give_up(orders: Sequence[_Order], told: SimpleQueue[None]) -> None:
    """Take back what hasn't begun, and wait for the rest, however often the user interrupts."""
    while True:
        try:
            for order in orders:
                order.take_back()
            _wait(orders, told)
        except BaseException:
            continue
        return


def ranges(n: int, count: int) -> list[tuple[int, int]]:
    """Return `count` ranges (first, last) of about equal size that make up 0..n-1, n >= count."""
    edges = [n * k // count for k in range(count + 1)]
    return list(pairwise(edges))
