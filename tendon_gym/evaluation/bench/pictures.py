"""The picture of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from tendon_gym.evaluation import plots

STRAIGHT = 0.98
"""Least R squared of a fit that is drawn."""

Result = Mapping[str, Any]


def picture(result: Result, path: Path) -> Path:
    """Write the picture of a result to `path`, a PNG; parts that weren't measured stay out."""
    panels = [
        panel
        for panel, there in (
            (_forms, any(row["part"] == "law at every 2 ms" for row in result["rows"])),
            (_numbers, any(row["part"] == "native" for row in result["rows"])),
            (_links, bool(result["fits"])),
            (_phases, bool(result["phases"])),
        )
        if there
    ]
    columns = min(2, max(1, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    figure = plots.figure(6.6 * columns, 4.4 * rows)
    for place, panel in enumerate(panels):
        panel(figure.add_subplot(rows, columns, place + 1), result)
    machine, versions = result["machine"], result["versions"]
    usable = len(machine["affinity"] or []) or machine["cores"]
    figure.suptitle(f"{machine['processor']}, {usable} cores; MuJoCo {versions['mujoco']}")
    return plots.save(figure, path)


def _colour(result: Result, engine: str) -> str:
    return f"C{result['engines'].index(engine)}"


def _forms(axes: Axes, result: Result) -> None:
    """Show the speed of every form of environment over bare MuJoCo."""
    rows = [row for row in result["rows"] if row["part"] == "law at every 2 ms" and row["speed"]]
    cases = list(dict.fromkeys(row["case"] for row in rows))
    height = 0.8 / len(result["engines"])
    for row in rows:
        place = cases.index(row["case"]) + height * result["engines"].index(row["engine"])
        speed = row["speed"]
        axes.barh(place, speed["median"], height, color=_colour(result, row["engine"]))
        axes.plot([speed["low"], speed["high"]], [place, place], color="black", linewidth=1)
        axes.text(speed["high"] * 1.05, place, f"{speed['median']:.2g}", va="center", fontsize=8)
    for engine in result["engines"]:
        axes.barh(0, 0, color=_colour(result, engine), label=engine)
    axes.axvline(1.0, color="black", linestyle="--", linewidth=1, label="bare mj_step")
    axes.set_yticks(np.arange(len(cases)) + 0.4 - height / 2, cases, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_xlabel("speed over bare mj_step on as many threads")
    axes.set_title("law at every 2 ms, observation and reward in", fontsize=10)
    axes.legend(fontsize=8)


def _numbers(axes: Axes, result: Result) -> None:
    """Show environment steps per second over the number of simulations."""
    rows = [row for row in result["rows"] if row["part"] == "native" and row["speed"]]
    for engine in result["engines"]:
        for threads in sorted({row["threads"] for row in rows}):
            found = [row for row in rows if (row["engine"], row["threads"]) == (engine, threads)]
            axes.plot(
                [row["num_envs"] for row in found],
                [row["env_steps_per_second"] for row in found],
                "o-" if threads == 1 else "s--",
                color=_colour(result, engine),
                label=f"{engine}, {threads} thread{'s' if threads > 1 else ''}",
            )
    bare = [row for row in result["rows"] if row["part"] == "native" and row["case"] == "mj_step"]
    for row in bare:
        axes.axhline(
            row["env_steps_per_second"], color="black", linewidth=1, label="bare mj_step, 1 thread"
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("environments")
    axes.set_ylabel("environment steps per second")
    axes.set_title("native vector environment, law at every 2 ms", fontsize=10)
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)


def _links(axes: Axes, result: Result) -> None:
    """Show the time of a physics step over the number of links, with the lines that fit."""
    rows = [row for row in result["rows"] if row["part"] == "links" and row["speed"]]
    for engine, fit in result["fits"].items():
        found = [row for row in rows if row["engine"] == engine]
        count = np.array([row["links"] for row in found])
        times = [row["us"]["median"] / row["substeps"] for row in found]
        colour = _colour(result, engine)
        if fit["r_squared"] < STRAIGHT:
            axes.plot(count, times, "o-", color=colour, label=engine)
            continue
        line = fit["intercept"] + fit["slope"] * count
        axes.plot(count, times, "o", color=colour, label=engine)
        label = f"{fit['intercept']:.2g} + {fit['slope']:.2g} N"
        axes.plot(count, line, "--", color=colour, linewidth=1, label=label)
    axes.set_yscale("log")
    axes.set_xlabel("links N")
    axes.set_ylabel("us per physics step and simulation")
    axes.set_title("engines alone, 64 simulations, one thread", fontsize=10)
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)


def _phases(axes: Axes, result: Result) -> None:
    """Show where the time of a step goes, as shares of the whole."""
    phases = result["phases"]
    names = list(phases[0]["us"])
    left = np.zeros(len(phases))
    for k, name in enumerate(names):
        shares = np.array([100.0 * each["us"][name] / each["total_us"] for each in phases])
        axes.barh(range(len(phases)), shares, left=left, color=f"C{k}", label=name)
        left += shares
    labels = [f"{each['name']}: {each['total_us']:.3g} us" for each in phases]
    axes.set_yticks(range(len(phases)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.axvline(100.0, color="black", linewidth=1)
    axes.set_xlabel("share of env.step, %")
    axes.set_title("phases of a step, one thread", fontsize=10)
    axes.legend(fontsize=8, ncols=5, loc="upper center", bbox_to_anchor=(0.3, -0.12))
