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


def recipe(benchmark: str, algo: str = "ppo") -> TrainConfig:
    """Return the recipe for a benchmark.

    Raises:
        ValueError: there is none (those that there are are listed), or a bad value in it.
    """
    name = checks.choice("recipe", f"{benchmark}-{algo}", recipe_names())
    values = json.loads((recipe_folder() / f"{name}.json").read_text(encoding="utf-8"))
    return config.from_dict(TrainConfig, values, f"{name}.json")
