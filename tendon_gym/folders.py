"""Where results go: never over older ones, and only where they can be written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path


@contextmanager
def results(path: Path, fresh: bool = True) -> Iterator[Path]:
    """Make a folder for results and try it; one that is left empty is taken away again.

    Args:
        path: of the folder.
        fresh: whether path-2, path-3, ... is made instead where the folder holds something.

    Raises:
        ValueError: at once, before anything long begins: it cannot be written.
    """
    missing: list[Path] = []
    try:
        try:
            folder = _fresh(path) if fresh else path
            # unlike Path's methods, os.path's take an impossible path for one that isn't there
            missing = [place for place in (folder, *folder.parents) if not os.path.exists(place)]
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            why = "it is a file" if os.path.isfile(path) else error.strerror
            raise ValueError(f"the output folder {str(path)!r} cannot be written: {why}") from error
        yield folder
    finally:
        for place in missing:  # the innermost first
            with contextlib.suppress(OSError):
                place.rmdir()


def _fresh(path: Path) -> Path:
    """Return `path`, or, where it holds something, path-2, path-3, ..."""
    if path.name in ("", ".."):
        raise ValueError(f"the output folder must have a name of its own, got {str(path)!r}")
    for k in count(1):
        folder = path if k == 1 else path.with_name(f"{path.name}-{k}")
        if not os.path.isdir(folder) or not any(folder.iterdir()):
            return folder
    raise AssertionError


def fresh_file(path: Path) -> Path:
    """Return `path`, or, where it exists, the same with -2, -3, ... before its suffix.

    Raises:
        ValueError: it is a folder.
    """
    if os.path.isdir(path) or not path.name:
        raise ValueError(f"the output file {str(path)!r} is a folder")
    for k in count(1):
        file = path if k == 1 else path.with_stem(f"{path.stem}-{k}")
        if not os.path.lexists(file):
            return file
    raise AssertionError
