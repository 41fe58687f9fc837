"""Verdicts, and the table as text."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tendon_gym.evaluation.paper import table
from tendon_gym.evaluation.paper.expected import EXPECTED, Expected, Tolerance

LENGTH = Expected("a length", 10.0, "cm", Tolerance(share=0.03), held="push")


@pytest.mark.parametrize(
    ("tolerance", "paper", "limits", "words"),
    [
        (Tolerance(share=0.1), 34.0, (30.6, 37.4), "10 %"),
        (Tolerance(margin=0.3), 52.6, (52.3, 52.9), "+-0.3"),
        (Tolerance(low=0.4, high=0.6), None, (0.4, 0.6), "0.4 .. 0.6"),
        (Tolerance(high=0.5), None, (-math.inf, 0.5), "<= 0.5"),
        (Tolerance(low=1.0, high=1.0), 1.0, (1.0, 1.0), "yes"),
    ],
)
def test_tolerances(tolerance, paper, limits, words):
    assert tolerance.limits(paper) == pytest.approx(limits)
    assert str(tolerance) == words


def test_a_share_of_nothing_is_refused():
    with pytest.raises(ValueError, match="needs the paper's value"):
        Tolerance(share=0.1).limits(None)


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (9.71, "pass"),
        (10.29, "pass"),
        (9.69, "fail"),
        (10.31, "fail"),
        (math.nan, "fail"),
        (None, "fail"),
    ],
)
def test_a_row_passes_within_its_tolerance(measured, verdict):
    assert table.judge(LENGTH, measured) == verdict
    assert table.judge(replace(LENGTH, tolerance=None), measured) == "information"


@pytest.mark.parametrize(
    ("better", "measured", "held", "verdict"),
    [
        ("less", 9.9, True, "better"),
        ("less", 10.1, True, "worse"),
        ("more", 10.1, True, "better"),
        ("more", 9.9, True, "worse"),
        ("less", 10.0, True, "equal"),
        ("", 1.0, True, "information"),
        ("less", 0.1, False, "bend not held"),
        ("less", math.nan, True, "worse"),
        ("more", math.nan, True, "worse"),
        ("less", None, True, "not flown"),
    ],
)
def test_another_controller_is_compared_without_a_verdict(better, measured, held, verdict):
    row = replace(LENGTH, better=better)
    assert table.compare(row, measured, {"push": held}) == verdict


def test_rows_without_a_held_flight_count_whatever_the_bend():
    assert table.compare(replace(LENGTH, held=""), 9.0, {"push": False}) == "better"


@pytest.mark.parametrize(
    ("own", "held"),
    [
        ((0.0, 0.3), True),
        ((0.0219, 0.3), True),  # the margin is 2 % of the full moment
        ((0.0221, 0.3), False),
        ((0.9, 0.1), True),  # the tip is where it should be, whatever the tendons do
        ((math.nan, math.nan), False),
    ],
)
def test_the_bend_is_held_by_moment_or_by_tip_in_every_part(own, held):
    paper = {"mission": {"first": (0.0, 0.0), "second": (0.002, 0.2)}}
    errors = {"mission": {"first": (0.0, 0.0), "second": own}}
    assert table.bend_held(errors, paper) == {"mission": held}


def test_judged_rows_that_were_not_measured_fail():
    rows = {row.key: row for row in table.judged_rows({})}
    judged = {key for key, expected in EXPECTED.items() if expected.tolerance}
    assert set(rows) == judged
    assert {row.verdict for row in rows.values()} == {"fail"}


def test_the_table_is_aligned_and_fits_the_terminal():
    values = {key: 1.0 for key in EXPECTED} | {"push.tilt": math.nan}
    lines = table.text(table.judged_rows(values)).splitlines()
    assert len(lines) == 1 + len(EXPECTED)
    ends = {line.index("  F  ") if "  F  " in line else line.index("  P  ") for line in lines[1:]}
    assert len(ends) == 1
    assert max(map(len, lines)) <= 120
    assert any("largest tilt" in line and "ended early" in line for line in lines)


def test_every_row_can_be_judged():
    for key, expected in EXPECTED.items():
        if expected.tolerance is not None:
            low, high = expected.tolerance.limits(expected.paper)
            assert low <= high, key
