"""Rows with their verdicts, and how they are printed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tendon_gym.evaluation.paper.expected import EXPECTED, Expected

PASS, FAIL, INFORMATION = "pass", "fail", "information"
BETTER, WORSE, EQUAL, NOT_HELD = "better", "worse", "equal", "bend not held"
NOT_FLOWN = "not flown"

Errors = Mapping[str, Mapping[str, tuple[float, float]]]

HOLD_MARGIN = 0.02
"""Of the full moment. The reference turns on between two actions: at 100 Hz the paper's rotating
bend is away from a held one by up to 1.3 % of it."""


@dataclass(frozen=True)
class Row:
    """One row of the table; the fields of `Expected` with what was measured.

    Attributes:
        measured: NaN if the flight ended early, None if it was not flown.
        verdict: for the paper's controller "pass", "fail" or "information"; for another one
            "better" or "worse" than the paper's number, "bend not held" or "information".
    """

    key: str
    experiment: str
    paper: float | None
    measured: float | None
    unit: str
    tolerance: str
    source: str
    verdict: str


def judged_rows(values: Mapping[str, float]) -> list[Row]:
    """Return the rows of the paper's own controller."""
    return [
        _row(key, expected, values.get(key), judge(expected, values.get(key)))
        for key, expected in EXPECTED.items()
        if key in values or expected.tolerance
    ]


def compared_rows(values: Mapping[str, float], held: Mapping[str, bool]) -> list[Row]:
    """Return the rows of another controller.

    Args:
        values: by key.
        held: by flight, whether the bend was held.
    """
    return [
        _row(key, expected, values.get(key), compare(expected, values.get(key), held))
        for key, expected in EXPECTED.items()
        if key in values or expected.tolerance
    ]


def judge(expected: Expected, measured: float | None) -> str:
    """Return whether a value is within its tolerance; what is missing or NaN is not."""
    if expected.tolerance is None:
        return INFORMATION
    low, high = expected.tolerance.limits(expected.paper)
    return PASS if measured is not None and low <= measured <= high else FAIL


def compare(expected: Expected, measured: float | None, held: Mapping[str, bool]) -> str:
    """Return whether another controller's value is better than the paper's."""
    if measured is None:
        return NOT_FLOWN
    if expected.held and not held[expected.held]:
        return NOT_HELD
    if expected.paper is None or not expected.better:
        return INFORMATION
    if measured == expected.paper:
        return EQUAL
    less = measured < expected.paper
    # NaN, after an early end, is neither less nor more
    more = measured > expected.paper
    return BETTER if (less if expected.better == "less" else more) else WORSE


def bend_held(errors: Errors, yardstick: Errors) -> dict[str, bool]:
    """Return by flight whether the bend was held as well as by the paper's controller.

    In every phase the error of the bending moment may exceed that controller's by HOLD_MARGIN, or
    else the tip must be no further from where the bend brings it to rest.

    Args:
        errors: by flight and phase, see `experiments.Result`.
        yardstick: the same of the paper's controller.
    """
    return {
        flight: all(
            moment <= yardstick[flight][phase][0] + HOLD_MARGIN or tip <= yardstick[flight][phase][1]
            for phase, (moment, tip) in phases.items()
        )
        for flight, phases in errors.items()
    }


def _row(key: str, expected: Expected, measured: float | None, verdict: str) -> Row:
    tolerance = "" if expected.tolerance is None else str(expected.tolerance)
    return Row(
        key, expected.experiment, expected.paper, measured, expected.unit, tolerance,
        expected.source, verdict,
    )  # fmt: skip


def text(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text."""
    cells = [("experiment", "paper", "measured", "unit", "tolerance", "", "verdict")]
    cells += [
        (
            row.experiment,
            _number(row.paper, row.unit),
            _number(row.measured, row.unit, ended="ended early"),
            "" if row.unit == "yes/no" else row.unit,
            row.tolerance,
            row.source,
            row.verdict,
        )
        for row in rows
    ]
    return aligned(cells, right=(1, 2))


def phases_text(phases: Sequence[Mapping[str, Any]]) -> str:
    """Return the mission's phases as aligned text."""
    cells = [("phase", "RMS", "maximum", "tip - base", "rotor thrusts")]
    cells += [
        (
            str(phase["phase"]),
            f"{phase['rms_cm']:.2f} cm",
            f"{phase['maximum_cm']:.2f} cm",
            f"{phase['tip_cm']:.1f} cm",
            f"{phase['lowest_thrust_n']:.2f} .. {phase['highest_thrust_n']:.2f} N",
        )
        for phase in phases
    ]
    return aligned(cells, right=(1, 2, 3, 4))


def aligned(cells: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    """Return rows of cells as text, the columns `right` flush right, a rule below the first."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


def _number(value: float | None, unit: str, ended: str = "-") -> str:
    if value is None:
        return "-"
    if math.isnan(value):
        return ended
    if unit == "yes/no":
        return "yes" if value else "no"
    return f"{value:.3g}" if abs(value) < 100.0 else f"{value:.0f}"
