"""PyFlyt's QuadX-Hover-v4. Its bare physics is Bullet's `stepSimulation` from the same states."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import PyFlyt.gym_envs  # noqa: F401  (registers the environments)
from serving import Case, serve

STEPS = 60
"""Environment steps in a round."""


class Hover:
    """The environment without wrappers."""

    def __init__(self) -> None:
        """Make it."""
        self.env: Any = gymnasium.make("PyFlyt/QuadX-Hover-v4").unwrapped
        self.env.reset(seed=0)
        aviary = self.env.env
        self.substeps = self.env.env_step_ratio * aviary.updates_per_step
        self.seconds = self.substeps / aviary.physics_hz

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per step of the environment, and of Bullet alone."""
        env = self.env
        space = env.action_space
        actions = np.random.default_rng(round_).uniform(space.low, space.high, (STEPS, 4))
        seconds, states, ended = 0.0, [], True
        for action in actions:
            if ended:
                env.reset(seed=round_)
            states.append(self._state())
            begin = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(action)
            seconds += time.perf_counter() - begin
            ended = terminated or truncated
        return 1e6 * seconds / STEPS, 1e6 * self._bare(states) / STEPS

    def _state(self) -> tuple[Any, ...]:
        bullet = self.env.env
        body = bullet.drones[0].Id
        return (*bullet.getBasePositionAndOrientation(body), *bullet.getBaseVelocity(body))

    def _bare(self, states: Sequence[tuple[Any, ...]]) -> float:
        """Return the seconds of Bullet's own steps from the states of the flight."""
        bullet, seconds = self.env.env, 0.0
        body = bullet.drones[0].Id
        for position, orientation, velocity, angular_velocity in states:
            bullet.resetBasePositionAndOrientation(body, position, orientation)
            bullet.resetBaseVelocity(body, velocity, angular_velocity)
            begin = time.perf_counter()
            for _ in range(self.substeps):
                bullet.stepSimulation()
            seconds += time.perf_counter() - begin
        return seconds


def cases() -> Sequence[Case]:
    """Return the only case."""
    hover = Hover()
    about = {"substeps": hover.substeps, "seconds": hover.seconds, "nv": 6}
    return [Case("PyFlyt QuadX-Hover-v4", hover.measure, {"num_envs": 1, "threads": 1, **about})]


if __name__ == "__main__":
    serve(cases, ("PyFlyt", "pybullet", "gymnasium", "numpy"))
