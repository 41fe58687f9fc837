"""What a closed environment answers: that it is closed."""

from __future__ import annotations


class Closable:
    """Can be closed for good; a class that has it sets `closed` and asks before it does anything.

    Attributes:
        closed: whether `close` was called.
    """

    closed: bool = False

    def _check_open(self, what: str) -> None:
        """Raise if this environment is closed, and say what cannot be done.

        Raises:
            RuntimeError: it is.
        """
        if self.closed:
            raise RuntimeError(
                f"this environment is closed: it cannot {what} any more; make a new one"
            )
