"""Comparisons as plain text, at most 120 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from tendon_gym.evaluation.metrics import METRICS
from tendon_gym.evaluation.statistics import FEWEST

WIDTH, NAME_WIDTH = 120, 24


def table(result: Mapping[str, Any]) -> str:
    """Return a comparison (see `compare.compare`) as text: errors, then worth and differences."""
    benchmark, reference = result["benchmark"], result["reference"]
    seeds, policies = result["seeds"], result["policies"]
    flown = f"{len(seeds)} episode{'s' if len(seeds) > 1 else ''} of {_seconds(benchmark)}"
    conditions = f"{benchmark['conditions']} conditions"
    parts = [
        f"{benchmark['name']}: {flown}, seeds from {seeds[0]}, {conditions}; "
        f"reference policy: {_short(reference)}",
        aligned(_error_rows(policies)),
        aligned(_worth_rows(policies, reference, len(seeds))),
    ]
    notes = [textwrap.fill(note, WIDTH) for note in _notes(policies, len(seeds))]
    return "\n\n".join([*parts, "\n".join(notes)] if notes else parts)


def _notes(policies: Mapping[str, Any], episodes: int) -> list[str]:
    """Return what the table's numbers need to be understood."""
    notes = []
    loose = [name for name, row in policies.items() if not row["bend_held"]]
    if loose:
        names = ", ".join(map(_short, loose))
        notes.append(f"bend not held, so that the position does not count: {names}")
    ended = [f"{_short(name)} ({words})" for name, row in policies.items() if (words := _ends(row))]
    if ended:
        notes.append(f"episodes that ended early, by reason: {', '.join(ended)}")
    if episodes < FEWEST:
        notes.append(f"no intervals: {episodes} of the {FEWEST} episodes that they need at least")
    return notes


def _ends(row: Mapping[str, Any]) -> str:
    """Return the reasons of early ends with their numbers."""
    return " ".join(f"{count} {reason}" for reason, count in row["ended_early"].items() if count)


def _seconds(benchmark: Mapping[str, Any]) -> str:
    horizon = benchmark["horizon"]
    return "the reference's length" if horizon is None else f"{horizon:g} s"


def _error_rows(policies: Mapping[str, Any]) -> list[list[str]]:
    rows = [
        ["RMS errors, mean", "position", "worst", "largest", "tip", "worst", "bend", "bend",
         "attitude", "tension", "thrust"],
        ["over the episodes", "cm", "5 %, cm", "cm", "cm", "5 %, cm", "mN m", "held", "deg", "N",
         "N"],
    ]  # fmt: skip
    for name, row in policies.items():
        values = row["metrics"]
        rows.append(
            [
                _short(name),
                shown("position_rms", values["position_rms"]["mean"]),
                shown("position_rms", values["position_rms"]["worst"]),
                shown("position_max", max(values["position_max"]["values"])),
                shown("tip_rms", values["tip_rms"]["mean"]),
                shown("tip_rms", values["tip_rms"]["worst"]),
                shown("bend_rms", values["bend_rms"]["mean"]),
                "yes" if row["bend_held"] else "no",
                shown("attitude_rms", values["attitude_rms"]["mean"]),
                shown("tension_effort", values["tension_effort"]["mean"]),
                shown("thrust_effort", values["thrust_effort"]["mean"]),
            ]
        )
    return rows


def _worth_rows(policies: Mapping[str, Any], reference: str, episodes: int) -> list[list[str]]:
    interval = " [95 % interval]" if episodes >= FEWEST else ""
    rows = [
        ["", "reward", "ended early", "success", "decision", "position - reference's",
         "reward - reference's"],
        ["", "1/s", "%", "%", "us", f"cm{interval}", f"1/s{interval}"],
    ]  # fmt: skip
    for name, row in policies.items():
        values = row["metrics"]
        means = [shown(key, values[key]["mean"]) for key in ("reward", "ended_early", "success")]
        gaps = [_gap(key, values[key]["difference"]) for key in ("position_rms", "reward")]
        own = name == reference
        decision = f"{1e6 * row['decision_time']:.0f}"
        rows.append([_short(name), *means, decision, *(["-", "-"] if own else gaps)])
    return rows


def _gap(name: str, gap: Mapping[str, Any]) -> str:
    text = shown(name, gap["mean"], "+")
    if gap["interval"] is None:
        return text
    low, high = gap["interval"]
    return f"{text} [{shown(name, low, '+')}, {shown(name, high, '+')}]"


def shown(metric: str, value: float, sign: str = "") -> str:
    """Return a value in the unit and with the digits of its metric."""
    how = METRICS[metric]
    return f"{how.scale * value:{sign}.{how.digits}f}"


def _short(name: str) -> str:
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1] + "~"


def aligned(rows: Sequence[Sequence[str]], numbers: bool = True) -> str:
    """Return rows of cells as text, the first column to the left, `numbers` to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if numbers and column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
