"""The subcommand `train`."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from tendon_gym import config
from tendon_gym.folders import results
from tendon_gym.training.config import TrainConfig, highest_seed
from tendon_gym.training.recipes import recipe, recipes

OK = 0
EXTRA = ("stable_baselines3", "tensorboard", "torch", "tqdm")
CONFIG = "config.json"


def _benchmarks() -> str:
    """Return what the help tells of the recipes."""
    return f"A benchmark with a recipe: {', '.join(each.benchmark for each in recipes())}."


def _seeds() -> str:
    """Return what the help tells of the seeds."""
    ranges = (f"0 to {highest_seed(each.num_envs)} for {each.benchmark}" for each in recipes())
    return f"Of the run; the recipe's own if left out. {', '.join(ranges)}."


def _check_device(name: str) -> None:
    """Raise if PyTorch cannot calculate on a device here."""
    import torch

    try:
        float(torch.zeros(1, device=name).sum())
    except Exception as error:  # every kind of device has exceptions of its own
        legal = "a device that PyTorch can use here, such as 'cpu'"
        raise ValueError(f"device must be {legal}, got {name!r}") from error


@dataclass(frozen=True)
class TrainCommand:
    """Learn a policy by its recipe; a run that was interrupted goes on with --resume.

    A resumed run does exactly what it would have done without the interruption; it loses what
    came after its last checkpoint.
    """

    benchmark: Annotated[Positional[str], arg(help=_benchmarks())]
    algo: str = "ppo"
    """The algorithm."""
    seed: Annotated[int | None, arg(help=_seeds())] = None
    steps: int | None = None
    """Control steps of all environments together; the recipe's own if left out."""
    out: Path | None = None
    """Folder of the run; out/train/<benchmark>-<algo>-seed-<seed> if left out."""
    resume: bool = False
    """Go on with the run in the folder; one that isn't there yet starts."""
    device: str = "cpu"
    """Of the networks: cpu, cuda, ..."""
    threads: int | None = None
    """Of the environments; as many as pay off if left out."""

    def run(self) -> int:
        """Train.

        Raises:
            ModuleNotFoundError: the extra "train" is not installed.
            FileExistsError: the folder holds something, and `resume` is off.
            ValueError: no such recipe or device, a folder that cannot be written, or another run
                than the one to resume.
        """
        settings = self._settings()
        folder = self.folder(settings)
        settings = self._check_folder(folder, settings)
        missing = [name for name in EXTRA if importlib.util.find_spec(name) is None]
        if missing:
            raise ModuleNotFoundError(
                f"training needs {', '.join(missing)}: pip install 'tendon-gym[train]'"
            )
        from tendon_gym.training.ppo import Run

        _check_device(self.device)
        with results(folder, fresh=False):
            run = Run(settings, folder, self.device, self.resume)
            last = run.learn({"command": self.repeated(settings)})
        sys.stdout.write(
            f"{settings.benchmark}, seed {settings.seed}: {last['step']:g} steps in "
            f"{last['wall_time']:.0f} s; validation: reward {last['reward']:.4f} per step, RMS "
            f"position error {100 * last['position_error']:.3f} cm, tip error "
            f"{100 * last['tip_error']:.2f} cm; policy: {folder}\n"
        )
        return OK

    def _settings(self) -> TrainConfig:
        """Return the recipe with what was asked for laid over it."""
        asked = {"seed": self.seed, "total_steps": self.steps, "threads": self.threads}
        given = {name: value for name, value in asked.items() if value is not None}
        return config.override(recipe(self.benchmark, self.algo), given)

    def repeated(self, settings: TrainConfig) -> str:
        """Return the command that trains the same policy again, wherever its folder is."""
        words = ["tendon-gym", "train", settings.benchmark, "--algo", settings.algo]
        words += ["--seed", str(settings.seed)]
        if settings.total_steps != recipe(self.benchmark, self.algo).total_steps:
            words += ["--steps", str(settings.total_steps)]
        return shlex.join(words)

    def folder(self, settings: TrainConfig) -> Path:
        """Return the folder of the run."""
        name = f"{settings.benchmark}-{settings.algo}-seed-{settings.seed}"
        return self.out or Path("out/train") / name

    def _check_folder(self, folder: Path, settings: TrainConfig) -> TrainConfig:
        """Return the settings of the run in `folder`, if there is one to go on with."""
        if not folder.is_dir() or not any(folder.iterdir()):
            return settings
        if not self.resume:
            raise FileExistsError(
                f"{str(folder)!r} holds something already: --resume goes on with it, --out names "
                "another folder"
            )
        if not (folder / CONFIG).is_file():
            raise ValueError(f"no run to resume in {str(folder)!r}: it has no {CONFIG}")
        started = self._started(folder)
        asked = (self.benchmark, self.algo, self.seed if self.seed is not None else started.seed)
        if asked != (started.benchmark, started.algo, started.seed):
            raise ValueError(
                f"the run in {str(folder)!r} is {started.benchmark}, {started.algo}, seed "
                f"{started.seed}, not {asked[0]}, {asked[1]}, seed {asked[2]}"
            )
        steps = started.total_steps if self.steps is None else self.steps
        return dataclasses.replace(started, total_steps=steps, threads=settings.threads)

    def _started(self, folder: Path) -> TrainConfig:
        """Return the settings that the run in `folder` was started with."""
        try:
            values = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{str(folder / CONFIG)!r} is no JSON: {error}") from error
        return config.from_dict(TrainConfig, values, CONFIG)
