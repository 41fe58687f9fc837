"""The demonstration: the controllers, and what was learned, on the paper's figure-eight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tendon_gym import benchmarks
from tendon_gym.baselines import learned
from tendon_gym.evaluation import plots
from tendon_gym.evaluation.compare import compare, save
from tendon_gym.evaluation.rollout import fly
from tendon_gym.evaluation.table import table
from tendon_gym.evaluation.video import Film

POLICIES = ("zero", "random", "geometric_paper", "geometric_full")
FLOWN = ("track-steady", "track-mission")
FILMED = "track-steady"
FPS, WIDTH, HEIGHT = 25, 480, 360
"""Of the film; a quarter of a minute on a core without graphics hardware."""


def demo(folder: Path, report: Callable[[str], None]) -> None:
    """Compare on FLOWN and film the best pilot, into `folder`, which exists.

    Args:
        folder: gets a JSON and plots per benchmark, and a video.
        report: called with each line or table.
    """
    for name in FLOWN:
        benchmark = benchmarks.get(name)
        result = compare(benchmark, [*POLICIES, *shipped_policies(benchmark.task)])
        save(result, folder / f"{name}.json")
        plots.save_all(result, folder, f"{name}-")
        report(table(result) + "\n")
    benchmark = benchmarks.get(FILMED)
    pilot = [*shipped_policies(benchmark.task), "geometric_full"][0]
    path = folder / f"{FILMED}-{pilot}.mp4"
    with Film(path, FPS, width=WIDTH, height=HEIGHT) as film:
        fly(benchmark, pilot, episodes=1, watch=film)
    report(f"results, plots and video: {folder}")


def shipped_policies(task: str) -> list[str]:
    """Return the names of the learned policies that come with the package, for one task."""
    return [name for name, path in learned.shipped().items() if learned.load(path).task == task]
