"""Threads for compiled kernels, which hold no lock while they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")


class Workers:
    """Runs a function on several tasks at once; made anew in a process that was forked."""

    def __init__(self, count: int) -> None:
        """Use up to `count` threads, the caller's included; none is started before it is needed."""
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def run(self, function: Callable[[Task], None], tasks: Sequence[Task]) -> None:
        """Call the function on every task, the first one in this thread; raise what they raise."""
        if len(tasks) == 1:
            function(tasks[0])
            return
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.count - 1, "tendon_gym")
            self._process = os.getpid()
        others = [self._pool.submit(function, task) for task in tasks[1:]]
        try:
            function(tasks[0])
        finally:
            for other in others:
                other.exception()
        for other in others:
            other.result()


def split(size: int, parts: int) -> list[tuple[int, int]]:
    """Return ranges (first, last) of equal lengths, or nearly so, that make up 0 ... size - 1."""
    parts = max(1, min(parts, size))
    edges = [size * k // parts for k in range(parts + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))
