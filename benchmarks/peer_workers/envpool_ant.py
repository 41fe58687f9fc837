"""EnvPool's Ant-v5. Its bare physics is MuJoCo through the states that EnvPool reports.

It is MuJoCo of the version that EnvPool is built with. EnvPool goes on from round to round and
restarts what has ended; steps that only reset are not counted as steps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import envpool
import envpool_assets
import mujoco
import numpy as np
from mujoco_replay import Flight, Replay, actions_of
from numpy.typing import NDArray
from serving import CORES, Case, serve

STEPS = 800
"""Environment steps of all environments together in a round, at least."""
SUBSTEPS = 5
ASSETS = Path(envpool_assets.__file__).parent / "mujoco" / "assets_gym"


def ant() -> mujoco.MjModel:
    """Return the model that EnvPool steps."""
    return mujoco.MjModel.from_xml_path(str(ASSETS / "ant.xml"))


class Pool:
    """`n` environments in a pool, stepped all together."""

    def __init__(self, n: int, threads: int, batch: int | None = None) -> None:
        """Make the pool."""
        self._n, self._batch = n, batch or n
        self._env: Any = envpool.make(
            "Ant-v5", env_type="gymnasium", num_envs=n, batch_size=self._batch, num_threads=threads
        )
        self.model = ant()
        self._bare = Replay(self.model, SUBSTEPS, threads)
        self._start()

    def _start(self) -> None:
        self._observation, _ = self._env.reset()
        self._ended = np.zeros(self._n, bool)

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per environment step, and of MuJoCo alone."""
        actions = actions_of(round_, max(20, STEPS // self._batch), self._batch, self.model.nu)
        seconds, count, flights = self._fly(actions)
        return 1e6 * seconds / count, self._bare(flights)

    def _fly(self, actions: NDArray) -> tuple[float, int, list[Flight]]:
        env, seen, ends, count = self._env, [self._observation], [self._ended], 0
        begin = time.perf_counter()
        for action in actions:
            count += self._n - np.count_nonzero(ends[-1])
            observation, _, terminated, truncated, _ = env.step(action)
            seen.append(observation)
            ends.append(terminated | truncated)
        seconds = time.perf_counter() - begin
        self._observation, self._ended = seen[-1], ends[-1]
        flights = flights_of(np.array(seen), np.array(ends), actions, self.model)
        return seconds, count, flights


class AsynchronousPool(Pool):
    """A pool that gives back whoever is done first: EnvPool's own advice for throughput."""

    def _start(self) -> None:
        self._env.async_reset()

    def _fly(self, actions: NDArray) -> tuple[float, int, list[Flight]]:
        env = self._env
        seen: dict[int, list[Any]] = {i: [] for i in range(self._n)}
        count = 0
        begin = time.perf_counter()
        for action in actions:
            observation, _, terminated, truncated, info = env.recv()
            count += np.count_nonzero(info["elapsed_step"])  # 0: this step was a reset
            env.send(action, info["env_id"])
            for k, i in enumerate(info["env_id"].tolist()):
                seen[i].append((observation[k], terminated[k] | truncated[k], action[k]))
        seconds = time.perf_counter() - begin
        flights = []
        for rows in list(seen.values())[:8]:
            observations, ends, controls = (np.array(each) for each in zip(*rows, strict=True))
            flights += flights_of(
                observations[:, None], ends[:, None], controls[:-1, None], self.model
            )
        return seconds, count, flights


def flights_of(
    observations: NDArray, ends: NDArray, actions: NDArray, model: mujoco.MjModel
) -> list[Flight]:
    """Return the flights of some environments.

    Args:
        observations: (steps + 1, n, size), the first from the reset.
        ends: (steps + 1, n).
        actions: (steps, n, nu).
        model: whose state the observation begins with, but for x and y.
    """
    steps, flights, count = len(actions), [], 0
    for i in range(observations.shape[1]):
        # a step after an end only resets, and the one after that is the flight's first
        starts = [0, *(k + 1 for k in np.flatnonzero(ends[:, i]) if k + 1 < steps)]
        for start, stop in zip(starts, [*starts[1:], steps + 1], strict=True):
            state = observations[start, i]
            flights.append(
                Flight(
                    np.concatenate([[0.0, 0.0], state[: model.nq - 2]]),
                    state[model.nq - 2 : model.nq - 2 + model.nv],
                    actions[start : min(stop - 1, steps), i],
                )
            )
            count += len(flights[-1].controls)
        if count >= STEPS:
            break
    return flights


def cases() -> Sequence[Case]:
    """Return all cases."""
    model = ant()
    about = {"substeps": SUBSTEPS, "seconds": SUBSTEPS * model.opt.timestep, "nv": model.nv}
    found = [
        Case(
            f"EnvPool Ant-v5, {n} env"
            + "s" * (n > 1)
            + f", {threads} thread"
            + "s" * (threads > 1),
            Pool(n, threads).measure,
            {"num_envs": n, "threads": threads, **about},
        )
        for n, threads in dict.fromkeys(((1, 1), (64, 1), (64, CORES)))
    ]
    pool = AsynchronousPool(64, CORES, 32)
    about = {"num_envs": 64, "threads": CORES, **about}
    return [*found, Case("EnvPool Ant-v5, 64 envs, asynchronous", pool.measure, about)]


if __name__ == "__main__":
    serve(cases, ("envpool", "mujoco", "numpy"))
