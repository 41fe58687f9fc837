"""Rows with their verdicts, and how they are printed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tendon_gym.evaluation.metrics import HELD_MARGIN
from tendon_gym.evaluation.paper.expected import EXPECTED, Expected, Tolerance
from tendon_gym.evaluation.table import aligned

PASS, FAIL, INFORMATION = "pass", "fail", "information"
BETTER, WORSE, EQUAL, NOT_HELD = "better", "worse", "equal", "bend not held"
NOT_FLOWN = "not flown"

MARGIN_SHARE = 0.01
MARGIN = Tolerance(share=MARGIN_SHARE)
"""Within which another controller's value is equal, in rows without a tolerance of their own."""

Errors = Mapping[str, Mapping[str, tuple[float, float]]]


@dataclass(frozen=True)
class Row:
    """One row of the table; the fields of `Expected` with what was measured.

    Attributes:
        measured: NaN if the flight ended early, None if it was not flown.
        yardstick: beside another controller's value, the one of the paper's controller here.
        verdict: for the paper's controller "pass", "fail" or "information"; for another one see
            `compare`.
    """

    key: str
    experiment: str
    paper: float | None
    measured: float | None
    yardstick: float | None
    unit: str
    tolerance: str
    source: str
    verdict: str


def judged_rows(values: Mapping[str, float]) -> list[Row]:
    """Return the rows of the paper's own controller."""
    return [
        _row(key, expected, values.get(key), None, judge(expected, values.get(key)))
        for key, expected in EXPECTED.items()
        if key in values or expected.tolerance
    ]


def compared_rows(
    values: Mapping[str, float], yardstick: Mapping[str, float], held: Mapping[str, bool]
) -> list[Row]:
    """Return the rows of another controller.

    Args:
        values: by key.
        yardstick: the same, flown by the paper's controller.
        held: by experiment, whether the bend was held.
    """
    rows = []
    for key, expected in EXPECTED.items():
        if key in values or expected.tolerance:
            verdict = compare(expected, values.get(key), yardstick.get(key), held)
            rows.append(_row(key, expected, values.get(key), yardstick.get(key), verdict))
    return rows


def judge(expected: Expected, measured: float | None) -> str:
    """Return whether a value is within its tolerance; what is missing or NaN is not."""
    if expected.tolerance is None:
        return INFORMATION
    low, high = expected.tolerance.limits(expected.paper)
    return PASS if measured is not None and low <= measured <= high else FAIL


def compare(
    expected: Expected,
    measured: float | None,
    yardstick: float | None,
    held: Mapping[str, bool],
) -> str:
    """Return whether another controller's value is better than the paper's.

    It is equal within the row's tolerance of the paper's figure, for that is how close the paper's
    own controller comes to it here; in rows without one, and of what that controller does here
    (`yardstick`), within MARGIN.
    """
    if measured is None:
        return NOT_FLOWN
    if expected.held and not held[expected.held]:
        return NOT_HELD
    if expected.paper is None or not expected.better:
        return INFORMATION
    if _equal(expected, measured, yardstick):
        return EQUAL
    less = measured < expected.paper
    # NaN, after an early end, is neither less nor more
    more = measured > expected.paper
    return BETTER if (less if expected.better == "less" else more) else WORSE


def _equal(expected: Expected, measured: float, yardstick: float | None) -> bool:
    """Say whether a value differs too little from the paper's to be better or worse."""
    assert expected.paper is not None
    tolerance = expected.tolerance
    if tolerance is None or not tolerance.around_paper:
        tolerance = MARGIN
    low, high = tolerance.limits(expected.paper)
    if low <= measured <= high:
        return True
    return yardstick is not None and math.isclose(measured, yardstick, rel_tol=MARGIN_SHARE)


def bend_held(errors: Errors, yardstick: Errors) -> dict[str, bool]:
    """Return by experiment whether the bend was held as well as by the paper's controller.

    In every phase or flight the error of the bending moment may exceed that controller's by
    HELD_MARGIN, or else the tip must be no further from where the bend brings it to rest.

    Args:
        errors: by experiment and phase or flight, see `experiments.Result`.
        yardstick: the same of the paper's controller.
    """
    return {
        experiment: all(_kept(own, yardstick[experiment][part]) for part, own in parts.items())
        for experiment, parts in errors.items()
    }


def _kept(own: tuple[float, float], paper: tuple[float, float]) -> bool:
    return own[0] <= paper[0] + HELD_MARGIN or own[1] <= paper[1]


def _row(
    key: str, expected: Expected, measured: float | None, yardstick: float | None, verdict: str
) -> Row:
    tolerance = "" if expected.tolerance is None else str(expected.tolerance)
    return Row(
        key, expected.experiment, expected.paper, measured, yardstick, expected.unit, tolerance,
        expected.source, verdict,
    )  # fmt: skip


def text(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text."""
    compared = any(row.yardstick is not None for row in rows)
    here = ["paper, here"] if compared else []
    cells = [["experiment", "paper", *here, "measured", "unit", "tolerance", "", "verdict"]]
    cells += [
        [
            row.experiment,
            _number(row.paper, row.unit),
            *([_number(row.yardstick, row.unit)] if compared else []),
            _number(row.measured, row.unit),
            "" if row.unit == "yes/no" else row.unit,
            row.tolerance,
            row.source,
            row.verdict,
        ]
        for row in rows
    ]
    return aligned(cells) + "\n"


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
    return aligned(cells) + "\n"


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if math.isnan(value):
        return "ended early"
    if unit == "yes/no":
        return "yes" if value else "no"
    return f"{value:.3g}" if abs(value) < 100.0 else f"{value:.0f}"
