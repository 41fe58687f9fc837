"""The learning curve: one row per validation, as CSV and as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from tendon_gym.training.files import write_file, write_text

COLUMNS = (
    "step",
    "wall_time",
    "training_reward",
    "reward",
    "position_error",
    "tip_error",
    "bend_error",
    "early_end_rate",
    "success_rate",
)
"""training_reward: mean per step since the last row, as training rewards it and with the policy's
noise. The others are those of `Validation`; wall_time in s."""

Row = Mapping[str, float]


def read_curve(path: Path, last_step: int) -> list[dict[str, float]]:
    """Return the rows up to a step."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    return [row for row in rows if row["step"] <= last_step]


def write_curve(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([[f"{row[name]:.6g}" for name in COLUMNS] for row in rows])
    write_text(path, text.getvalue())


def plot_curve(path: Path, rows: Sequence[Row], title: str) -> None:
    """Draw the rewards and the errors over the steps into a PNG."""
    # a figure of its own instead of pyplot's, which would choose a backend for the process
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.5), layout="constrained")
    rewards, errors = figure.subplots(1, 2)
    steps = [row["step"] for row in rows]
    for name, label in (("reward", "validation"), ("training_reward", "training")):
        rewards.plot(steps, [row[name] for row in rows], label=label)
    rewards.set(xlabel="steps", ylabel="reward per step", title=title)
    for name, label in (("position_error", "position"), ("tip_error", "tip")):
        errors.semilogy(steps, [100.0 * row[name] for row in rows], label=label)
    errors.set(xlabel="steps", ylabel="RMS error, cm", title="validation")
    for axes in (rewards, errors):
        axes.grid(True, alpha=0.3)
        axes.legend()
    write_file(path, lambda place: figure.savefig(place, dpi=100))
