"""Plots of a comparison, made from its JSON alone; no window and no global state of matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tendon_gym.evaluation.metrics import METRICS

SHOWN = ("position_rms", "tip_rms", "bend_rms")
LEAST = 1e-5
"""What a logarithmic axis shows of a zero, SI units."""


def figure(width: float = 6.4, height: float = 4.4) -> Figure:
    """Return an empty figure, inches, that `save` turns into a picture."""
    result = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(result)
    return result


def save(picture: Figure, path: Path) -> Path:
    """Write a figure to `path`, a PNG, and return the path."""
    picture.savefig(path, dpi=120)
    return path


def intervals(result: Mapping[str, Any]) -> Figure:
    """Show the RMS errors of position, tip and bend with their 95 % intervals."""
    policies = result["policies"]
    picture = figure(11.0, 1.6 + 0.32 * len(policies))
    labels = [_label(name, row) for name, row in policies.items()]
    for column, name in enumerate(SHOWN):
        axes = picture.add_subplot(1, len(SHOWN), column + 1)
        metric = METRICS[name]
        for place, row in enumerate(policies.values()):
            value = row["metrics"][name]
            low, high = value["interval"] or (value["mean"], value["mean"])
            span = metric.scale * np.maximum([low, high], LEAST)
            axes.plot(span, [place, place], color=f"C{place % 10}", linewidth=3)
            mean = metric.scale * max(value["mean"], LEAST)
            axes.plot(mean, place, "o", color=f"C{place % 10}", markeredgecolor="black")
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.tick_params(labelleft=column == 0)
        axes.set_xscale("log")
        axes.grid(alpha=0.3)
        axes.set_xlabel(f"RMS error of the {metric.title}, {metric.unit}")
    picture.suptitle(_title(result))
    return picture


def paths(result: Mapping[str, Any]) -> Figure:
    """Show the way of the base in the first episode from above, with the reference."""
    picture = figure()
    axes = picture.add_subplot()
    longest = max(result["policies"].values(), key=lambda row: len(row["curves"]["reference"]))
    reference = np.array(longest["curves"]["reference"]).reshape(-1, 3)
    axes.plot(reference[:, 0], reference[:, 1], "k--", linewidth=1, label="reference", zorder=5)
    for name, row in result["policies"].items():
        path = np.array(row["curves"]["path"]).reshape(-1, 3)
        axes.plot(path[:, 0], path[:, 1], linewidth=1, label=name)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x, m")
    axes.set_ylabel("y, m")
    return _finished(axes, result)


def errors(result: Mapping[str, Any]) -> Figure:
    """Show the distance to the reference over time, mean over the episodes."""
    picture = figure()
    axes = picture.add_subplot()
    for name, row in result["policies"].items():
        error = 100.0 * np.maximum(row["curves"]["position_error"], LEAST)
        axes.plot(row["curves"]["time"], error, linewidth=1, label=name)
    axes.set_yscale("log")
    axes.set_xlabel("time, s")
    axes.set_ylabel("position error, cm")
    return _finished(axes, result)


PLOTS: Mapping[str, Callable[[Mapping[str, Any]], Figure]] = {
    "intervals": intervals,
    "paths": paths,
    "errors": errors,
}


def save_all(result: Mapping[str, Any], folder: Path, prefix: str = "") -> list[Path]:
    """Write all plots of a comparison into `folder` and return their paths."""
    return [save(plot(result), folder / f"{prefix}{name}.png") for name, plot in PLOTS.items()]


def _finished(axes: Axes, result: Mapping[str, Any]) -> Figure:
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    axes.set_title(_title(result), fontsize="medium")
    picture = axes.figure
    assert isinstance(picture, Figure)
    return picture


def _title(result: Mapping[str, Any]) -> str:
    count = len(result["seeds"])
    return f"{result['benchmark']['name']}, {count} episode{'s' if count > 1 else ''}"


def _label(name: str, row: Mapping[str, Any]) -> str:
    return name if row["bend_held"] else f"{name}\n(bend not held)"
