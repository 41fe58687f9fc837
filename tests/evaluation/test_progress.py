"""Progress shows only where somebody watches."""

from __future__ import annotations

import io
import sys

from tendon_gym.evaluation.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_progress_is_one_line_that_goes_away(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress("flying", 4)
    for _ in range(4):
        progress.step()
    progress.close()
    assert terminal.getvalue().startswith("\rflying  25 %")
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_progress_is_silent_in_a_file(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    progress = Progress("flying", 4)
    progress.step()
    progress.close()
    assert not sys.stderr.getvalue()
