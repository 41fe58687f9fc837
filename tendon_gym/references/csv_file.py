"""References from CSV files."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.references import bounds
from tendon_gym.references.library import Reference
from tendon_gym.references.spline import spline_rows

REQUIRED = ("time", "x", "y", "z")
OPTIONAL = ("yaw", "beta", "mu")
LEGAL = {
    "time": (0.0, bounds.LONGEST),
    **dict.fromkeys("xyz", (-bounds.FARTHEST, bounds.FARTHEST)),
    **dict.fromkeys(("yaw", "beta"), (-bounds.TURNED, bounds.TURNED)),
    "mu": (0.0, 1.0),
}
"""The range of each column, in its unit."""
LINE = "#"
"""Where a sample stands in its file, beside its columns."""


def load_csv(path: str | Path) -> Reference:
    """Return the spline through the samples of a file.

    The header names the columns, in any order: time in s, from 0 or later, increasing by 0.1 ms at
    least; x, y, z in m; optionally yaw in rad, and beta in rad with mu from 0 to 1. All must be in
    LEGAL, and position and yaw no faster than FASTEST and SPINNING in references/bounds.py.
    Position and yaw (unwrapped) follow the natural quintic spline, so that a file may begin and end
    in motion; the bend goes straight from sample to sample.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: what is wrong, with the file, the line and the column.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no reference file {str(path)!r}")
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            columns = _read(path, csv.reader(stream))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: not a CSV file in UTF-8: {error}") from error
    lines = columns.pop(LINE)
    zero = np.zeros_like(columns["time"])
    yaw = np.unwrap(columns.get("yaw", zero))
    values = np.column_stack([columns["x"], columns["y"], columns["z"], yaw])
    beta, mu = columns.get("beta", zero), columns.get("mu", zero)
    bends = np.column_stack([mu * np.cos(beta), mu * np.sin(beta)])
    rows = spline_rows(columns["time"], values, bends, rest=False)
    far = bounds.beyond(rows)
    if far is not None:
        raise ValueError(
            f"{path}, line {lines[far]:g}, column 'time': the spline from here to line "
            f"{lines[far + 1]:g} goes beyond {bounds.FARTHEST:g} m or {bounds.FASTEST:g} m/s; "
            "the times must be spaced more evenly"
        )
    return Reference(path.stem, rows)


def _read(path: Path, lines: Iterator[list[str]]) -> dict[str, NDArray[np.float64]]:
    """Return the columns by name, and LINE, each of at least two checked numbers."""
    header = [cell.strip() for cell in next(lines, [])]
    _check_header(path, header)
    samples: list[dict[str, float]] = []
    line = 1
    for cells in lines:
        line = lines.line_num  # type: ignore[attr-defined]
        if len(samples) == bounds.MOST and cells:
            raise ValueError(f"{path}, line {line}: a reference has at most {bounds.MOST} samples")
        if cells:
            samples.append({LINE: line, **_sample(path, line, header, cells)})
            _check_step(path, samples[-2:])
    if len(samples) < 2:
        raise ValueError(
            f"{path}, line {line}, column 'time': the file ends after {len(samples)} samples, "
            "a reference needs at least 2"
        )
    table = np.array([list(sample.values()) for sample in samples])
    return dict(zip([LINE, *header], table.T.copy(), strict=True))


def _check_header(path: Path, header: list[str]) -> None:
    where = f"{path}, line 1"
    for name in header:
        if name not in REQUIRED + OPTIONAL:
            legal = ", ".join(REQUIRED + OPTIONAL)
            raise ValueError(f"{where}: unknown column {name!r}; a header names {legal}")
        if header.count(name) > 1:
            raise ValueError(f"{where}: column {name!r} is there {header.count(name)} times")
    needed = REQUIRED + (("beta", "mu") if {"beta", "mu"} & set(header) else ())
    for name in needed:
        if name not in header:
            raise ValueError(f"{where}: the header lacks column {name!r}, it has {header}")


def _sample(path: Path, line: int, header: list[str], cells: list[str]) -> dict[str, float]:
    """Return one line's numbers by column."""
    if len(cells) != len(header):
        column = header[len(cells)] if len(cells) < len(header) else header[-1]
        raise ValueError(
            f"{path}, line {line}, column {column!r}: the line has {len(cells)} cells, "
            f"the header {len(header)}"
        )
    numbers = {}
    for name, cell in zip(header, cells, strict=True):
        try:
            number = float(cell)
        except ValueError:
            number = math.nan
        low, high = LEGAL[name]
        if not low <= number <= high:
            raise ValueError(
                f"{path}, line {line}, column {name!r}: {checks.shown(cell)} is not a number from "
                f"{low:g} to {high:g}"
            )
        numbers[name] = number
    return numbers


def _check_step(path: Path, samples: list[dict[str, float]]) -> None:
    """Check the time of the latest of up to two successive samples."""
    if len(samples) < 2:
        return
    before, after = samples
    where = f"{path}, line {after[LINE]}, column 'time'"
    if not before["time"] < after["time"]:
        raise ValueError(f"{where}: {after['time']!r} does not come after {before['time']!r}")
    way = math.dist(*([sample[axis] for axis in "xyz"] for sample in samples))
    turn = after.get("yaw", 0.0) - before.get("yaw", 0.0)
    least = bounds.least_step(way, abs(math.remainder(turn, 2.0 * math.pi)))
    if after["time"] - before["time"] < bounds.SLACK * least:
        raise ValueError(
            f"{where}: {after['time']!r} must be at least {least:.4g} s after {before['time']!r}; "
            f"no step shorter than {bounds.SHORTEST:g} s, faster than {bounds.FASTEST:g} m/s "
            f"or faster than {bounds.SPINNING:g} rad/s"
        )
