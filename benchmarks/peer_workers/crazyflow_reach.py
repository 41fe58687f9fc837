"""crazyflow's DroneReachPos-v0 on JAX's CPU backend. Its bare physics is `Sim.step` alone.

The actions are on the device before the clock runs, and only the last result of a round is waited
for, so that JAX may run ahead. 50 actions per second: ten physics steps share the cost of one
environment step; the environment's default is one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import crazyflow.envs  # noqa: F401  (registers the environments)
import gymnasium
import jax
import numpy as np
from serving import CORES, Case, serve

FREQUENCY = 50
STEPS = 50
"""Vector steps in a round."""


class Reach:
    """`n` environments."""

    def __init__(self, n: int) -> None:
        """Make them."""
        self._n = n
        env: Any = gymnasium.make_vec("DroneReachPos-v0", num_envs=n, freq=FREQUENCY)
        self.env = env.unwrapped
        space = env.action_space
        actions = np.random.default_rng(0).uniform(space.low, space.high, (STEPS, *space.shape))
        self._actions = [jax.numpy.array(action, np.float32) for action in actions]

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per environment step, and of the simulation alone."""
        env, sim = self.env, self.env.sim
        jax.block_until_ready(env.reset(seed=round_)[0])
        begin = time.perf_counter()
        for action in self._actions:
            result = env.step(action)
        jax.block_until_ready(result)
        stepped = time.perf_counter() - begin
        jax.block_until_ready(env.reset(seed=round_)[0])
        begin = time.perf_counter()
        for _ in self._actions:
            sim.step(env.n_substeps)
        jax.block_until_ready(sim.data)
        bare = time.perf_counter() - begin
        count = STEPS * self._n
        return 1e6 * stepped / count, 1e6 * bare / count


def cases() -> Sequence[Case]:
    """Return all cases."""
    found = []
    for n in (1, 64, 1024):
        reach = Reach(n)
        substeps = reach.env.n_substeps
        about = {"num_envs": n, "threads": CORES, "substeps": substeps, "nv": 6}
        about["seconds"] = 1.0 / FREQUENCY
        found.append(
            Case(f"crazyflow DroneReachPos-v0, {n} env" + "s" * (n > 1), reach.measure, about)
        )
    return found


if __name__ == "__main__":
    serve(cases, ("crazyflow", "jax", "gymnasium", "numpy"))
