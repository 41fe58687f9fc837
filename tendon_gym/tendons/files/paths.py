"""Paths of files that users give, checked before anything is read or written."""

from __future__ import annotations

import os
from pathlib import Path

from tendon_gym import checks


def given_path(path: object) -> Path:
    """Return a path, which must be a string or a Path."""
    if not isinstance(path, (str, Path)):
        raise TypeError(f"path must be a string or a Path, got {checks.shown(path)}")
    return Path(path)


def output_path(path: object) -> Path:
    """Return the path of a file to write, which must not be a folder."""
    file = given_path(path)
    if not file.name or os.path.isdir(file):
        checks.reject("path", str(path), "that of a file, not of a folder")
    return file
