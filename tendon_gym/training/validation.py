"""Validation: the benchmark as it is, flown from seeds that are kept for this."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tendon_gym import benchmarks
from tendon_gym.baselines.policy import Policy
from tendon_gym.envs.core import Core
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.training.config import VALIDATION_SEED

ERRORS = ("position_error", "tip_error", "bend_error")


class Validation:
    """Flies a policy on the same episodes each time, all of them side by side."""

    def __init__(
        self,
        benchmark: str,
        interface: dict[str, Any],
        episodes: int,
        threads: int | None = None,
        engine: str = "mujoco",
    ) -> None:
        """Make the environments of a benchmark for policies with `interface`."""
        self._benchmark = benchmarks.with_engine(benchmarks.get(benchmark), engine)
        env = gymnasium.make_vec(
            self._benchmark.entry.id,
            num_envs=episodes,
            threads=threads,
            **self._benchmark.env_settings(interface),
        )
        assert isinstance(env, TendonVectorEnv)
        self.env = env

    def __call__(self, policy: Policy) -> dict[str, float]:
        """Return what the policy is worth, over all episodes.

        reward: mean per control step of the whole horizon. position_error, tip_error (m) and
        bend_error (N m): root mean squares, without the benchmark's settling time. early_end_rate
        and success_rate: shares of the episodes. After an early end the reward is 0 and the errors
        are the largest possible.
        """
        env, core = self.env, self.env.core
        reward, squares = np.zeros(env.num_envs), np.zeros((env.num_envs, len(ERRORS)))
        flying, success = np.ones(env.num_envs, bool), np.zeros(env.num_envs, bool)
        worst = _worst(core) ** 2
        settled = round(self._benchmark.settle / core.step_time)
        observation, _ = env.reset(seed=VALIDATION_SEED)
        state, begins = None, np.ones(env.num_envs, bool)
        for k in range(core.horizon):
            action, state = policy.predict(observation, state, begins)
            observation, rewards, terminated, truncated, _ = env.step(action)
            reward += rewards * flying
            if k >= settled:
                now = np.stack([(core.signals[name] ** 2).sum(axis=1) for name in ERRORS], axis=1)
                squares += np.where(flying[:, None], now, worst)
            success |= core.success & flying
            flying &= ~terminated
            begins = terminated | truncated
        errors = np.sqrt(squares.mean(axis=0) / (core.horizon - settled))
        errors[2] *= core.interface.full_moment
        return {
            "reward": float(reward.mean() / core.horizon),
            **dict(zip(ERRORS, errors.tolist(), strict=True)),
            "early_end_rate": float(1.0 - flying.mean()),
            "success_rate": float(success.mean()),
        }

    def close(self) -> None:
        """Let go of the environments."""
        self.env.close()


def _worst(core: Core) -> NDArray[np.float64]:
    """Return the largest errors: the limit of the distance, opposite tips, opposite full bends."""
    return np.array([core.config.limits.distance, 2.0 * core.config.model.arm.tip_depth, 2.0])
