"""Where results go: never over older ones."""

from __future__ import annotations

from itertools import count
from pathlib import Path


def check_folder(path: Path) -> None:
    """Raise ValueError if `path` is a file; to be asked before anything long begins."""
    if path.is_file():
        raise ValueError(f"the output folder {str(path)!r} is a file")


def fresh_folder(path: Path) -> Path:
    """Make and return the folder `path`, or, where it holds something, path-2, path-3, ...

    Raises:
        ValueError: `path` is a file.
    """
    check_folder(path)
    for k in count(1):
        folder = path if k == 1 else path.with_name(f"{path.name}-{k}")
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            folder.mkdir(parents=True, exist_ok=True)
            return folder
    raise AssertionError


def fresh_file(path: Path) -> Path:
    """Return `path`, or, where it exists, the same with -2, -3, ... before its suffix.

    The folder is made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for k in count(1):
        file = path if k == 1 else path.with_stem(f"{path.stem}-{k}")
        if not file.exists():
            return file
    raise AssertionError
