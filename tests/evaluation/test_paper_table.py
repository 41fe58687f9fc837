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
        ("less", 9.69, True, "better"),
        ("less", 10.31, True, "worse"),
        ("more", 10.31, True, "better"),
        ("more", 9.69, True, "worse"),
        ("less", 10.0, True, "equal"),
        ("less", 9.71, True, "equal"),  # the row's tolerance is 3 %
        ("more", 10.29, True, "equal"),
        ("", 1.0, True, "information"),
        ("less", 0.1, False, "bend not held"),
        ("less", math.nan, True, "worse"),
        ("more", math.nan, True, "worse"),
        ("less", None, True, "not flown"),
    ],
)
def test_another_controller_is_compared_without_a_verdict(better, measured, held, verdict):
    row = replace(LENGTH, better=better)
    for yardstick in (None, 20.0, math.nan):
        assert table.compare(row, measured, yardstick, {"push": held}) == verdict


@pytest.mark.parametrize("tolerance", [None, Tolerance(high=15.0), Tolerance(low=0.1, high=0.2)])
def test_a_row_without_a_tolerance_around_the_figure_is_equal_within_a_percent(tolerance):
    row = replace(LENGTH, tolerance=tolerance)
    for measured, verdict in (
        (9.89, "better"),
        (9.91, "equal"),
        (10.09, "equal"),
        (10.11, "worse"),
    ):
        assert table.compare(row, measured, None, {"push": True}) == verdict


@pytest.mark.parametrize("better", ["less", "more"])
def test_what_is_as_the_papers_controller_here_is_neither_better_nor_worse(better):
    """Such as the radius over the direction: 0.48 % for every law here, 1.2 in the paper."""
    row = replace(EXPECTED["bend.radius_spread"], better=better)
    for measured, equal in (
        (0.48, True),
        (0.484, True),
        (0.476, True),
        (0.49, False),
        (2.0, False),
    ):
        verdict = table.compare(row, measured, 0.48, {"bends": True})
        assert (verdict == "equal") == equal
        assert table.compare(row, measured, 0.48, {"bends": False}) == "bend not held"


def test_every_row_of_the_papers_own_controller_is_equal_to_itself():
    """Whatever it flies to here, as long as it passes."""
    held = dict.fromkeys(("mission", "hold", "bends", "push"), True)
    for shift in (0.97, 1.0, 1.03):
        values = {key: (row.paper or 0.3) * shift for key, row in EXPECTED.items()}
        for row in table.compared_rows(values, values, held):
            assert row.verdict in ("equal", "information"), row


def test_rows_without_a_held_flight_count_whatever_the_bend():
    assert table.compare(replace(LENGTH, held=""), 9.0, None, {"push": False}) == "better"


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
