"""The configuration of a training run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tendon_gym import benchmarks, checks

VALIDATION_SEED = 9_000
"""Seed of the first episode of a validation; training keeps below, the benchmarks start above."""


LARGEST = {
    "total_steps": 10**10,
    "num_envs": 1_000,
    "n_steps": 10_000,
    "batch_size": 1_000_000,
    "epochs": 1_000,
    "validate_every": 10**10,
    "validation_episodes": 1_000,
    "checkpoint_every": 10**10,
}
"""Largest values of what is counted."""

WIDEST, DEEPEST, MOST_SAMPLES = 4_096, 8, 1_000_000
"""Most units of a hidden layer, most hidden layers, and most steps of all environments between two
updates."""


def highest_seed(num_envs: int) -> int:
    """Return the largest seed of a run: it has `num_envs` below VALIDATION_SEED of its own."""
    return VALIDATION_SEED // num_envs - 1


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
        engine: that the environments learn on; validations fly on "mujoco".
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
    engine: Literal["compiled", "mujoco"] = "compiled"
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
        checks.choice("engine", self.engine, ("compiled", "mujoco"))
        for name, largest in LARGEST.items():
            checks.integer(name, getattr(self, name), minimum=1, maximum=largest)
        checks.integer("seed", self.seed, minimum=0, maximum=highest_seed(self.num_envs))
        if self.threads is not None:
            checks.integer("threads", self.threads, minimum=1)
        if len(self.network) > DEEPEST:
            checks.reject("network", self.network, f"at most {DEEPEST} layers")
        for k, width in enumerate(self.network):
            checks.integer(f"network[{k}]", width, minimum=1, maximum=WIDEST)
        self._check_numbers()

    def _check_numbers(self) -> None:
        checks.number("log_std_init", self.log_std_init, minimum=-20.0, maximum=2.0)
        checks.number("learning_rate", self.learning_rate, minimum=1e-9, maximum=1.0)
        checks.number("final_learning_rate", self.final_learning_rate, minimum=0.0, maximum=1.0)
        checks.choice("scales", self.scales, ("fixed", "running"))
        for name in ("gamma", "gae_lambda"):
            checks.number(name, getattr(self, name), minimum=0.0, maximum=1.0)
        checks.number("clip", self.clip, minimum=1e-6, maximum=1e3)
        checks.number("clip_observation", self.clip_observation, minimum=1e-3, maximum=1e6)
        checks.number("ent_coef", self.ent_coef, minimum=0.0, maximum=1e3)
        rollout = self.num_envs * self.n_steps
        if rollout > MOST_SAMPLES:
            checks.reject("num_envs * n_steps", rollout, f"at most {MOST_SAMPLES}")
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
        return {**settings, "threads": self.threads, "engine": self.engine}
