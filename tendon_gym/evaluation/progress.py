"""One line of progress on stderr, where somebody may be watching."""

from __future__ import annotations

import sys
import time

EVERY = 0.2
"""Least time between two updates, s."""


class Progress:
    """Shows how far a task is; silent where stderr is no terminal."""

    def __init__(self, label: str, total: int) -> None:
        """Name what is done, in `total` steps."""
        self._label, self._total, self._done, self._shown = label, max(total, 1), 0, 0.0
        self._live = sys.stderr.isatty()

    def step(self) -> None:
        """Count one step."""
        self._done += 1
        now = time.monotonic()
        if self._live and now - self._shown >= EVERY:
            self._shown = now
            sys.stderr.write(f"\r{self._label} {100 * self._done // self._total:3d} %")
            sys.stderr.flush()

    def close(self) -> None:
        """Wipe the line."""
        if self._live and self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
