"""Files that are either there as a whole or not at all, however a run ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, with the same suffix, then put it in its place."""
    temporary = path.with_name(f".{path.stem}.part{path.suffix}")
    write(temporary)
    os.replace(temporary, path)


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    write_file(path, lambda place: place.write_text(text, encoding="utf-8"))
