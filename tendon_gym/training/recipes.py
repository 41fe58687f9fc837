"""Where the files of training/recipes/ are, in a checkout and in an installed wheel."""

from __future__ import annotations

import json
from pathlib import Path

from tendon_gym import checks, config
from tendon_gym.model.assets import PACKAGE
from tendon_gym.training.config import TrainConfig


def recipe_folder() -> Path:
    """Return the folder of recipes: the wheel's copy in the package, else the checkout's own.

    Raises:
        FileNotFoundError: neither is there.
    """
    places = [PACKAGE / "_data" / "training" / "recipes", PACKAGE.parent / "training" / "recipes"]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no folder of recipes at {places[0]} or {places[1]}")


def recipe_names() -> list[str]:
    """Return the names of all recipes: <benchmark>-<algo>."""
    return sorted(path.stem for path in recipe_folder().glob("*.json"))


def recipes() -> list[TrainConfig]:
    """Return all recipes."""
    return [_load(name) for name in recipe_names()]


def recipe(benchmark: str, algo: str = "ppo") -> TrainConfig:
    """Return the recipe for a benchmark.

    Raises:
        ValueError: there is none (those that there are are listed), or a bad value in it.
    """
    benchmarks = [name.rpartition("-")[0] for name in recipe_names()]
    checks.choice("benchmark", benchmark, benchmarks)
    algorithms = [name.rpartition("-")[2] for name in recipe_names() if name.startswith(benchmark)]
    checks.choice("algo", algo, algorithms)
    return _load(f"{benchmark}-{algo}")


def _load(name: str) -> TrainConfig:
    """Return the recipe of a name."""
    values = json.loads((recipe_folder() / f"{name}.json").read_text(encoding="utf-8"))
    return config.from_dict(TrainConfig, values, f"{name}.json")
