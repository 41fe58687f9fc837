"""gym-softrobot's TendonArmReach-v1. Its bare physics is PyElastica's own stepper.

PyElastica is Python around compiled kernels, and takes over a thousand steps per action: its own
cost hides that of the environment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import gym_softrobot  # noqa: F401  (registers the environments)
import gymnasium
import numpy as np
from serving import Case, serve

STEPS = 3
"""Environment steps in a round."""


class Tendons:
    """A tendon-driven arm on a clamped base that follows a figure-eight with its tip."""

    def __init__(self) -> None:
        """Make it."""
        self.env: Any = gymnasium.make("TendonArmReach-v1").unwrapped
        self.substeps = self.env.simulation_steps_per_action
        self.seconds = self.substeps * self.env.time_step

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per step of the environment, and of PyElastica alone with the same tensions."""
        env = self.env
        generator = np.random.default_rng(round_)
        actions = generator.uniform(0.0, 0.2, (STEPS, *env.action_space.shape)).astype(np.float32)
        env.reset(seed=round_)
        stepped = timed(lambda k: env.step(actions[k]))
        env.reset(seed=round_)
        bare = timed(lambda k: self._bare(actions[k] * env.max_tension))
        return stepped, bare

    def _bare(self, tensions: Any) -> None:
        env = self.env
        env._tensions[:] = tensions
        now, stepper, simulator, step = np.float64(0.0), env._stepper, env.simulator, env.time_step
        for _ in range(self.substeps):
            now = stepper.step(simulator, now, step)


def timed(step: Callable[[int], object]) -> float:
    """Return us per step of STEPS steps."""
    begin = time.perf_counter()
    for k in range(STEPS):
        step(k)
    return 1e6 * (time.perf_counter() - begin) / STEPS


def cases() -> Sequence[Case]:
    """Return the only case."""
    arm = Tendons()
    about = {"substeps": arm.substeps, "seconds": arm.seconds, "nv": 6 * arm.env.n_elements}
    return [
        Case("gym-softrobot TendonArmReach-v1", arm.measure, {"num_envs": 1, "threads": 1, **about})
    ]


if __name__ == "__main__":
    serve(cases, ("gym-softrobot", "pyelastica", "gymnasium", "numpy"))
