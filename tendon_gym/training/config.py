"""The configuration of a training run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tendon_gym import benchmarks, checks

VALIDATION_SEED = 9_000
"""Seed of the first episode of a validation; training keeps below, the benchmarks start above."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides what a run learns.

    Attributes:
        benchmark: what is learned; validations fly it as it is, from seeds of their own.
        algo: "ppo" (Schulman et al. 2017, Proximal policy optimization algorithms).
        seed: of the run.
        total_steps: control steps of all environments together; the run ends with the rollout
            that reaches them.
        num_envs: environments side by side.
        threads: of the environments; None: as many as pay off. The result doesn't depend on it.
        interface: settings that the policy flies with, laid over the benchmark's interface.
        env: settings for training alone, laid over the benchmark's: another reference, other
            starts, rewards with a sharper margin.
        network: widths of the hidden layers, of the policy and of the value function.
        log_std_init: logarithm of the first standard deviation of the actions.
        learning_rate: at the start.
        final_learning_rate: at the end; it falls linearly.
        n_steps: steps of each environment between two updates.
        batch_size: of a gradient step.
        epochs: how often an update goes through its rollout.
        gamma: discount per control step.
        gae_lambda: of the generalised advantage estimation.
        clip: of the probability ratio.
        ent_coef: weight of the entropy.
        normalise_reward: whether rewards are divided by the running deviation of the return.
        scales: of the observation: "fixed" sizes by slice (see `scales.SIZES`), or the "running"
            mean and deviation of what the run has seen.
        clip_observation: largest magnitude of a normalised observation.
        validate_every: steps between validations.
        validation_episodes: episodes of a validation.
        checkpoint_every: steps between checkpoints. All environments start new episodes there, so
            that a resumed run goes on as the run that was never interrupted.
    """

    benchmark: str
    algo: Literal["ppo"] = "ppo"
    seed: int = 0
    total_steps: int = 500_000
    num_envs: int = 64
    threads: int | None = None
    interface: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, Any] = field(default_factory=dict)
    network: tuple[int, ...] = (128, 128)
    log_std_init: float = -1.5
    learning_rate: float = 5e-4
    final_learning_rate: float = 5e-5
    n_steps: int = 64
    batch_size: int = 1024
    epochs: int = 10
    gamma: float = 0.97
    gae_lambda: float = 0.95
    clip: float = 0.2
    ent_coef: float = 0.0
    normalise_reward: bool = True
    scales: Literal["fixed", "running"] = "fixed"
    clip_observation: float = 5.0
    validate_every: int = 50_000
    validation_episodes: int = 16
    checkpoint_every: int = 50_000

    def __post_init__(self) -> None:
        """Reject what could not be trained."""
        benchmarks.get(self.benchmark).env_settings(self.interface)
        checks.choice("algo", self.algo, ("ppo",))
        for name in (
            "total_steps", "num_envs", "n_steps", "batch_size", "epochs", "validate_every",
            "validation_episodes", "checkpoint_every",
        ):  # fmt: skip
            checks.integer(name, getattr(self, name), minimum=1)
        highest = VALIDATION_SEED // self.num_envs - 1
        checks.integer("seed", self.seed, minimum=0, maximum=highest)
        if self.threads is not None:
            checks.integer("threads", self.threads, minimum=1)
        for k, width in enumerate(self.network):
            checks.integer(f"network[{k}]", width, minimum=1)
        checks.integer("validation_episodes", self.validation_episodes, maximum=1_000)
        self._check_numbers()

    def _check_numbers(self) -> None:
        checks.number("log_std_init", self.log_std_init)
        checks.number("learning_rate", self.learning_rate, above=0.0)
        checks.number("final_learning_rate", self.final_learning_rate, minimum=0.0)
        checks.choice("scales", self.scales, ("fixed", "running"))
        for name in ("gamma", "gae_lambda"):
            checks.number(name, getattr(self, name), minimum=0.0, maximum=1.0)
        for name in ("clip", "clip_observation"):
            checks.number(name, getattr(self, name), above=0.0)
        checks.number("ent_coef", self.ent_coef, minimum=0.0)
        rollout = self.num_envs * self.n_steps
        if rollout % self.batch_size:
            checks.reject(
                "batch_size", self.batch_size, f"a divisor of num_envs * n_steps = {rollout}"
            )

    @property
    def first_seed(self) -> int:
        """Seed of the first of the training environments; no two runs share one."""
        return self.seed * self.num_envs

    @property
    def flown_interface(self) -> dict[str, Any]:
        """The settings that the policy flies with."""
        return {**benchmarks.get(self.benchmark).interface, **self.interface}

    def env_settings(self) -> dict[str, Any]:
        """Return the settings of the training environments, as plain values."""
        benchmark = benchmarks.get(self.benchmark)
        settings = {**benchmark.env_settings(self.flown_interface), **self.env}
        return {**settings, "threads": self.threads}
