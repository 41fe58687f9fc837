"""The figures, drawn from what the JSON holds and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tendon_gym.evaluation.plots import figure, save

CM = 100.0
Series = Mapping[str, Any]


def shapes(series: Series) -> Figure:
    """Show the arm at rest for every second magnitude of the sweep."""
    bends = series["bends"]
    picture = figure(5.6, 5.6)
    axes = picture.add_subplot()
    for magnitude, shape in list(zip(bends["magnitudes"], bends["shapes"], strict=True))[::2]:
        points = CM * _points(shape)
        (line,) = axes.plot(points[:, 0], points[:, 2], label=f"mu = {magnitude:.1f}")
        axes.plot(points[-1, 0], points[-1, 2], "o", color=line.get_color())
    axes.plot(0.0, 0.0, "ks")
    _finish(axes, "along the bend, cm", "above the base, cm", "the arm at 5 s, in body axes")
    axes.set_aspect("equal", adjustable="datalim")
    return picture


def tracking(series: Series) -> Figure:
    """Show the mission over time: the three coordinates and the distance to the reference."""
    mission = series["mission"]
    position, reference = _points(mission["position"]), _points(mission["reference"])
    picture = figure(9.0, 6.4)
    axes = picture.subplots(2, 1, sharex=True)
    for k, name in enumerate("xyz"):
        axes[0].plot(mission["time"], position[:, k], color=f"C{k}", label=name)
        axes[0].plot(mission["time"], reference[:, k], "--", color=f"C{k}", linewidth=1)
    axes[1].plot(mission["time"], CM * _numbers(mission["error"]), label="error")
    _finish(axes[0], "", "position, m", "the mission; dashed: reference")
    _finish(axes[1], "time, s", "position error, cm", "")
    return picture


def path(series: Series) -> Figure:
    """Show the mission from above: base, tip and reference."""
    mission = series["mission"]
    picture = figure(8.0, 5.6)
    axes = picture.add_subplot()
    for name, style in (("tip", "C1-"), ("position", "C0-"), ("reference", "k--")):
        points = _points(mission[name])
        label = "base" if name == "position" else name
        axes.plot(points[:, 0], points[:, 1], style, linewidth=1, label=label)
    _finish(axes, "x, m", "y, m", "the mission from above")
    axes.set_aspect("equal")
    return picture


def workspace(series: Series) -> Figure:
    """Show where the tip comes to: over the magnitude, and over the direction with both maps."""
    bends = series["bends"]
    sweep = CM * _points(bends["magnitude_tips"])
    picture = figure(10.0, 4.6)
    left = picture.add_subplot(1, 2, 1)
    left.plot(bends["magnitudes"], sweep[:, 0], "o-", label="lateral")
    left.plot(bends["magnitudes"], -sweep[:, 2], "s-", label="below the base")
    _finish(left, "bend magnitude mu", "tip at 5 s, cm", "beta = 0")
    right = picture.add_subplot(1, 2, 2)
    for key, label in (("direction_tips", "equal moment"), ("older_map_tips", "older map")):
        if bends[key]:
            tips = CM * _points(bends[key])
            closed = np.vstack([tips, tips[:1]])
            right.plot(closed[:, 0], closed[:, 1], "o-", label=label)
    _finish(right, "x, cm", "y, cm", "mu = 1, tip in body axes, every 15 degrees")
    right.set_aspect("equal", adjustable="datalim")
    return picture


def push(series: Series) -> Figure:
    """Show the response to the push."""
    values = series["push"]
    picture = figure(8.0, 7.0)
    axes = picture.subplots(3, 1, sharex=True)
    rows = (
        ("lateral", CM, "tip off the axis, cm"),
        ("error", CM, "base off its place, cm"),
        ("tilt", 1.0, "tilt, degrees"),
    )
    for k, (name, scale, label) in enumerate(rows):
        axes[k].plot(values["time"], scale * _numbers(values[name]))
        axes[k].axvspan(values["start"], values["end"], color="C3", alpha=0.3, label="push")
        _finish(axes[k], "time, s" if k == 2 else "", label, "")
    return picture


FIGURES: Mapping[str, Callable[[Series], Figure]] = {
    "arm_shapes": shapes,
    "mission_tracking": tracking,
    "mission_path": path,
    "workspace": workspace,
    "push_response": push,
}


def save_all(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw every figure of a result, fresh or read from its JSON, and return the files."""
    return [save(draw(result["series"]), folder / f"{name}.png") for name, draw in FIGURES.items()]


def _points(rows: Any) -> np.ndarray:
    """Return (n, 3) numbers; JSON's null, after an early end, is NaN."""
    return np.array(rows, dtype=float).reshape(-1, 3)


def _numbers(values: Any) -> np.ndarray:
    return np.array(values, dtype=float)


def _finish(axes: Axes, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small")
