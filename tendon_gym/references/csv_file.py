"""References from CSV files."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tendon_gym.references.library import Reference
from tendon_gym.references.spline import spline_rows

REQUIRED = ("time", "x", "y", "z")
OPTIONAL = ("yaw", "beta", "mu")


def load_csv(path: str | Path) -> Reference:
    """Return the spline through the samples of a file.

    The header names the columns, in any order: time in s, from 0 or later, strictly increasing;
    x, y, z in m; optionally yaw in rad, and beta in rad with mu from 0 to 1. Position and yaw
    (unwrapped) follow the natural quintic spline, so that a file may begin and end in motion; the
    bend goes straight from sample to sample.

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
    zero = np.zeros_like(columns["time"])
    yaw = np.unwrap(columns.get("yaw", zero))
    values = np.column_stack([columns["x"], columns["y"], columns["z"], yaw])
    beta, mu = columns.get("beta", zero), columns.get("mu", zero)
    bends = np.column_stack([mu * np.cos(beta), mu * np.sin(beta)])
    return Reference(path.stem, spline_rows(columns["time"], values, bends, rest=False))


def _read(path: Path, lines: Iterator[list[str]]) -> dict[str, NDArray[np.float64]]:
    """Return the columns by name, each of at least two checked numbers."""
    header = [cell.strip() for cell in next(lines, [])]
    _check_header(path, header)
    samples: list[list[float]] = []
    line = 1
    for cells in lines:
        line = lines.line_num  # type: ignore[attr-defined]
        if cells:
            samples.append(_sample(path, line, header, cells))
            _check_time(path, line, [sample[header.index("time")] for sample in samples[-2:]])
    if len(samples) < 2:
        raise ValueError(
            f"{path}, line {line}, column 'time': the file ends after {len(samples)} samples, "
            "a reference needs at least 2"
        )
    return dict(zip(header, np.array(samples).T.copy(), strict=True))


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


def _sample(path: Path, line: int, header: list[str], cells: list[str]) -> list[float]:
    """Return one line's numbers."""
    if len(cells) != len(header):
        column = header[len(cells)] if len(cells) < len(header) else header[-1]
        raise ValueError(
            f"{path}, line {line}, column {column!r}: the line has {len(cells)} cells, "
            f"the header {len(header)}"
        )
    numbers = []
    for name, cell in zip(header, cells, strict=True):
        try:
            number = float(cell)
        except ValueError:
            number = math.nan
        legal = 0.0 <= number <= 1.0 if name == "mu" else math.isfinite(number)
        if not legal:
            words = "a number from 0 to 1" if name == "mu" else "a finite number"
            raise ValueError(f"{path}, line {line}, column {name!r}: {cell!r} is not {words}")
        numbers.append(number)
    return numbers


def _check_time(path: Path, line: int, times: list[float]) -> None:
    """Check the latest of up to two successive times."""
    where = f"{path}, line {line}, column 'time'"
    if times[-1] < 0.0:
        raise ValueError(f"{where}: {times[-1]!r} is before 0")
    if len(times) == 2 and not times[0] < times[1]:
        raise ValueError(f"{where}: {times[1]!r} does not come after {times[0]!r}")
