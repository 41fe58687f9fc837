"""How long PPO takes from random weights: wall time to a position error, validations included.

Each recipe learns with three seeds, one after the other, until the root mean square of its
validation (the benchmark as it is, on MuJoCo, from seeds that nothing else uses) is at the goal:

- track-thrust, four thrusts without any controller, to the 3.1 cm that the paper reports;
- track-residual, to what geometric_full flies on the same episodes.

    python benchmarks/time_to_learn.py --out out/bench/time_to_learn.json
"""

from __future__ import annotations

import contextlib
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import tyro

from tendon_gym import benchmarks, config
from tendon_gym.evaluation.bench.machine import machine
from tendon_gym.evaluation.metrics import metrics
from tendon_gym.evaluation.rollout import fly
from tendon_gym.folders import results
from tendon_gym.training import recipe
from tendon_gym.training.config import VALIDATION_SEED, TrainConfig
from tendon_gym.training.ppo import Run

PAPER = 0.031
"""m, the paper's figure on its mission."""

STEPS_BETWEEN_VALIDATIONS = {"track-thrust": 25_000, "track-residual": 12_500}


@dataclass(frozen=True)
class Options:
    """What to measure, and where to write it."""

    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of the runs."""
    out: Path = Path("out/bench/time_to_learn.json")
    """Results as JSON; an older file is replaced."""


class _Reached(Exception):
    """The goal is reached."""


class _Race(Run):
    """A run that ends at the first validation that reaches the goal."""

    goal = 0.0

    def validate(self) -> None:
        """Validate, and look whether that is enough."""
        super().validate()
        if self.rows[-1]["position_error"] <= self.goal:
            raise _Reached


def goal(benchmark: str, episodes: int) -> float:
    """Return the position error to reach, m."""
    if benchmark == "track-thrust":
        return PAPER
    flight = fly(benchmarks.get(benchmark), "geometric_full", episodes, VALIDATION_SEED)
    return float(np.sqrt(np.mean(metrics(flight)["position_rms"] ** 2)))


def learn(settings: TrainConfig, target: float) -> dict[str, float | None]:
    """Train one seed to the goal; return seconds (None: never), steps, and the error reached."""
    with tempfile.TemporaryDirectory() as folder:
        run = _Race(settings, Path(folder))
        run.goal = target
        with contextlib.suppress(_Reached):
            run.learn()
        last = run.rows[-1]
        run.close()
    reached = last["position_error"] <= target
    return {
        "seconds": last["wall_time"] if reached else None,
        "steps": last["step"],
        "position_error": last["position_error"],
    }


def measure(benchmark: str, seeds: tuple[int, ...]) -> dict[str, Any]:
    """Return the times of all seeds, and their median."""
    settings = recipe(benchmark, "ppo")
    target = goal(benchmark, settings.validation_episodes)
    runs = []
    for seed in seeds:
        changes = {"seed": seed, "validate_every": STEPS_BETWEEN_VALIDATIONS[benchmark]}
        runs.append(learn(config.override(settings, changes), target))
    times = sorted(math.inf if run["seconds"] is None else run["seconds"] for run in runs)
    middle = median(times)
    return {"goal": target, "runs": runs, "seconds": middle if middle < math.inf else None}


def _shown(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.0f}"


def main(options: Options) -> None:
    """Measure both, show a table, and write the JSON."""
    rows = {name: measure(name, options.seeds) for name in STEPS_BETWEEN_VALIDATIONS}
    with results(options.out.parent, fresh=False):
        text = json.dumps({"machine": machine(), "benchmarks": rows}, indent=1)
        options.out.write_text(text + "\n", encoding="utf-8")
    print(f"{'benchmark':16s} {'goal, cm':>9s} {'median, s':>10s}   seeds, s")
    for name, row in rows.items():
        seconds = ", ".join(_shown(run["seconds"]) for run in row["runs"])
        print(f"{name:16s} {100 * row['goal']:9.2f} {_shown(row['seconds']):>10s}   {seconds}")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main(tyro.cli(Options))
