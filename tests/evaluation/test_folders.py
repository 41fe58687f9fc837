"""New results never replace old ones, and progress shows only where somebody watches."""

from __future__ import annotations

import io
import sys

import pytest

from tendon_gym.evaluation.folders import fresh_file, fresh_folder
from tendon_gym.evaluation.progress import Progress


def test_a_folder_that_holds_something_stays(tmp_path):
    wanted = tmp_path / "a" / "out"
    for k, name in enumerate(["out", "out-2", "out-3"]):
        folder = fresh_folder(wanted)
        assert folder == tmp_path / "a" / name
        assert not any(folder.iterdir())
        (folder / "result").write_text(str(k))
    assert (wanted / "result").read_text() == "0"


def test_an_empty_folder_is_used(tmp_path):
    assert fresh_folder(tmp_path) == tmp_path


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        fresh_folder(tmp_path / "out")


def test_a_file_that_exists_stays(tmp_path):
    for name in ("film.mp4", "film-2.mp4", "film-3.mp4"):
        path = fresh_file(tmp_path / "new" / "film.mp4")
        assert path == tmp_path / "new" / name
        path.write_text("")


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
