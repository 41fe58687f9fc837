"""One PPO run in one folder: learn, validate, save, and at the end export."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure as configure_logger
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecNormalize
from tqdm import tqdm

from tendon_gym import benchmarks, config
from tendon_gym.sb3 import SB3VecEnv, make_vec_env
from tendon_gym.training import checkpoint, export
from tendon_gym.training.config import TrainConfig
from tendon_gym.training.curve import plot_curve, read_curve, write_curve
from tendon_gym.training.files import write_file, write_text
from tendon_gym.training.scales import FixedScales
from tendon_gym.training.validation import Validation

CONFIG, CURVE, CHECKPOINTS, MODEL = "config.json", "curve.csv", "checkpoints", "model.zip"


def make_env(settings: TrainConfig) -> SB3VecEnv:
    """Return the training environments."""
    id = benchmarks.get(settings.benchmark).entry.id
    return make_vec_env(id, settings.num_envs, **settings.env_settings())


def make_model(settings: TrainConfig, env: VecNormalize, device: str) -> PPO:
    """Return a model that has learned nothing yet."""
    hidden = list(settings.network)
    return PPO(
        "MlpPolicy",
        env,
        learning_rate=LinearSchedule(settings.learning_rate, settings.final_learning_rate, 1.0),
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        ent_coef=settings.ent_coef,
        policy_kwargs={
            "net_arch": {"pi": hidden, "vf": hidden},
            "activation_fn": torch.nn.Tanh,
            "log_std_init": settings.log_std_init,
        },
        seed=settings.seed,
        device=device,
    )


class Run:
    """A training run; `learn` does all of it.

    Attributes:
        config: of the run.
        folder: of its files.
        rows: of the learning curve.
        model: the model.
        normaliser: of the observations and rewards, around the environments.
        wall: s that the run has taken so far, interruptions left out.
    """

    def __init__(
        self, settings: TrainConfig, folder: Path, device: str = "cpu", resume: bool = False
    ) -> None:
        """Prepare a new run, or one that goes on from its last checkpoint.

        Args:
            settings: of the run; a resumed run takes those that it was started with, but for
                total_steps.
            folder: of its files; it exists.
            device: of the networks: "cpu", "cuda", ...
            resume: whether to go on; without a checkpoint the run starts anew.
        """
        torch.set_num_threads(1)  # as many as help networks of this size
        self.config, self.folder = settings, folder
        self.env = make_env(settings)
        self.normaliser = VecNormalize(
            self.env,
            norm_reward=settings.normalise_reward,
            clip_obs=settings.clip_observation,
            gamma=settings.gamma,
        )
        if settings.scales == "fixed":
            self.normaliser.obs_rms = FixedScales(self.env.env.core)
        self._validation = self._make_validation("mujoco")
        saved = checkpoint.found(folder / CHECKPOINTS) if resume else []
        self.rows: list[dict[str, float]] = []
        if saved:
            self.model, progress = checkpoint.load(saved[-1], self.normaliser, self.env, device)
            self.rows = read_curve(folder / CURVE, self.model.num_timesteps)
        else:
            self.model, progress = make_model(settings, self.normaliser, device), {}
            self.env.seed(settings.first_seed)
        self.model.set_logger(configure_logger(str(folder / "tensorboard"), ["tensorboard"]))
        self._start = time.perf_counter() - progress.get("wall_time", 0.0)
        self._earned, self._counted = progress.get("earned", 0.0), progress.get("counted", 0)

    def _make_validation(self, engine: str) -> Validation:
        settings = self.config
        return Validation(
            settings.benchmark,
            settings.flown_interface,
            settings.validation_episodes,
            settings.threads,
            engine,
        )

    @property
    def wall(self) -> float:
        """Seconds that the run has taken so far, interruptions left out."""
        return time.perf_counter() - self._start

    def learn(self, about: dict[str, Any] | None = None) -> dict[str, float]:
        """Learn to the end, export the policy and return the last validation.

        Args:
            about: what else the artefact is to tell.
        """
        write_text(self.folder / CONFIG, json.dumps(config.to_dict(self.config), indent=2) + "\n")
        done = self.model.num_timesteps
        with tqdm(
            total=self.config.total_steps, initial=done, unit="step", disable=None
        ) as progress:
            watcher = _Between(self, done, progress.update)
            if done < self.config.total_steps:
                self.model.learn(self.config.total_steps - done, watcher, reset_num_timesteps=False)
        return self._finish(about or {})

    def count_rewards(self) -> None:
        """Add the rewards of the last step to the mean that the next validation reports."""
        self._earned += float(self.normaliser.get_original_reward().mean())
        self._counted += 1

    def validate(self) -> None:
        """Add a row to the learning curve and write it."""
        step = self.model.num_timesteps
        self.rows = [row for row in self.rows if row["step"] != step]
        self.rows.append(
            {
                "step": step,
                "wall_time": self.wall,
                "training_reward": self._earned / self._counted if self._counted else math.nan,
                **self._validation(export.policy_of(self.model, self.normaliser, self.config)),
            }
        )
        self._earned, self._counted = 0.0, 0
        write_curve(self.folder / CURVE, self.rows)
        for name, value in self.rows[-1].items():
            self.model.logger.record(f"validation/{name}", value)

    def save(self) -> None:
        """Write a checkpoint."""
        folder = self.folder / CHECKPOINTS
        progress = {"wall_time": self.wall, "earned": self._earned, "counted": self._counted}
        checkpoint.save(folder, self.model, self.normaliser, self.env, progress)

    def restart_environments(self) -> None:
        """Start new episodes everywhere, as a resumed run must."""
        observation: Any = self.normaliser.reset()
        self.model._last_obs = observation
        self.model._last_episode_starts = np.ones(self.config.num_envs, bool)

    def _finish(self, about: dict[str, Any]) -> dict[str, float]:
        if not self.rows or self.rows[-1]["step"] != self.model.num_timesteps:
            self.validate()
        told = {"validation": self.rows[-1], **self._validate_as_learned(), **about}
        self.save()
        write_file(self.folder / MODEL, self.model.save)
        title = f"{self.config.benchmark}, {self.config.algo}, seed {self.config.seed}"
        plot_curve(self.folder / "curve.png", self.rows, title)
        export.write_artefact(
            self.folder,
            export.network_of(self.model, self.normaliser),
            self.config,
            self.env.env.observation_layout,
            {"wall_time": round(self.wall, 1), **told},
        )
        self.close()
        return self.rows[-1]

    def _validate_as_learned(self) -> dict[str, Any]:
        """Return the last validation once more on the engine of the training, if it is another."""
        if self.config.engine == "mujoco":
            return {}
        validation = self._make_validation(self.config.engine)
        try:
            policy = export.policy_of(self.model, self.normaliser, self.config)
            return {f"validation_{self.config.engine}": validation(policy)}
        finally:
            validation.close()

    def close(self) -> None:
        """Let go of all environments."""
        self.model.logger.close()
        self._validation.close()
        self.env.close()


class _Between(BaseCallback):
    """Validates and saves between an update and the next rollout, when nothing is half done."""

    def __init__(self, run: Run, step: int, progress: Callable[[int], object]) -> None:
        super().__init__()
        self._run, self._last, self._progress = run, step, progress

    def _on_rollout_start(self) -> None:
        step, settings = self.num_timesteps, self._run.config
        if step == 0 or self._passed(step, settings.validate_every):
            self._run.validate()
        if self._passed(step, settings.checkpoint_every):
            self._run.save()
            self._run.restart_environments()
        self._last = step

    def _passed(self, step: int, every: int) -> bool:
        """Say whether the steps passed a multiple of `every` since the last rollout's start."""
        return step // every > self._last // every

    def _on_step(self) -> bool:
        self._run.count_rewards()
        self._progress(self._run.config.num_envs)
        return True
