"""Gymnasium's Ant-v5 and Humanoid-v5, alone and in its vector environments, as `make` gives them.

The vector environments go on from round to round and restart what has ended; steps that only reset
are not counted as steps, as in Gymnasium's own `benchmark_vector_step`. The scalar rows leave
resets out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from mujoco_replay import Flight, Replay, actions_of
from serving import CORES, Case, counted, serve

STEPS = 400
"""Environment steps of one environment in a round."""
SYNC = 16
"""Sub-environments of the SyncVectorEnv."""


class Scalar:
    """One environment, as fast as it is without wrappers."""

    def __init__(self, env_id: str) -> None:
        """Make it."""
        self.env: Any = gymnasium.make(env_id).unwrapped
        self.substeps = self.env.frame_skip
        self.scale = float(self.env.action_space.high[0])
        self._bare = Replay(self.env.model, self.substeps)

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per step of the environment, and of MuJoCo alone through the same flights."""
        seconds, flights = self.fly(round_)
        return 1e6 * seconds / STEPS, self._bare(flights)

    def fly(self, seed: int) -> tuple[float, list[Flight]]:
        """Return the seconds of STEPS steps with random actions, and the flights they made."""
        env, data = self.env, self.env.data
        actions = actions_of(seed, STEPS, env.model.nu, scale=self.scale)
        seconds, first, flights = 0.0, 0, []
        while first < STEPS:
            env.reset(seed=1000 * seed + first)
            start = data.qpos.copy(), data.qvel.copy()
            last = first
            begin = time.perf_counter()
            for action in actions[first:]:
                last += 1
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    break
            seconds += time.perf_counter() - begin
            flights.append(Flight(*start, actions[first:last]))
            first = last
        return seconds, flights


class Vector:
    """A vector environment; its bare physics is that of the scalar one, on as many threads."""

    def __init__(self, scalar: Scalar, env_id: str, mode: str, n: int, threads: int) -> None:
        """Make it."""
        self._env: Any = gymnasium.make_vec(env_id, num_envs=n, vectorization_mode=mode)
        self._scalar, self._n = scalar, n
        self._env.reset(seed=0)
        self._ended = np.zeros(n, bool)
        self._bare = Replay(scalar.env.model, scalar.substeps, threads)

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per environment step, and of MuJoCo alone."""
        env, scalar = self._env, self._scalar
        steps = max(2, STEPS // self._n)
        actions = actions_of(round_, steps, self._n, scalar.env.model.nu, scale=scalar.scale)
        count = 0
        begin = time.perf_counter()
        for action in actions:
            count += self._n - np.count_nonzero(self._ended)
            _, _, terminated, truncated, _ = env.step(action)
            self._ended = terminated | truncated
        seconds = time.perf_counter() - begin
        return 1e6 * seconds / count, self._bare(scalar.fly(round_)[1])


def cases() -> Sequence[Case]:
    """Return all cases."""
    found = []
    for env_id in ("Ant-v5", "Humanoid-v5"):
        scalar = Scalar(env_id)
        about = {
            "substeps": scalar.substeps,
            "seconds": scalar.env.dt,
            "nv": scalar.env.model.nv,
        }
        found.append(Case(env_id, scalar.measure, {"num_envs": 1, "threads": 1, **about}))
        for mode, n, threads in (("sync", SYNC, 1), ("async", CORES, CORES)):
            name = f"{env_id}, {mode.capitalize()}VectorEnv, {counted(n, 'env')}"
            vector = Vector(scalar, env_id, mode, n, threads)
            found.append(Case(name, vector.measure, {"num_envs": n, "threads": threads, **about}))
    return found


if __name__ == "__main__":
    serve(cases, ("gymnasium", "mujoco", "numpy"))
