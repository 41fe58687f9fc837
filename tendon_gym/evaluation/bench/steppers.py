"""What takes turns with bare `mj_step`: engines alone, and environments of every form."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tendon_gym import engines
from tendon_gym.evaluation.bench.flights import SEGMENT, STEPS, Flight, Settings, make_actions
from tendon_gym.evaluation.bench.timing import Contestant

ACTIONS = 64
"""Different actions of an environment, used in turns."""


class _Engine:
    """An engine without an environment, through the states of a recorded flight.

    Simulation i is ahead of simulation 0 by 7 i control steps, so that no two do the same.
    """

    def __init__(self, name: str, flight: Flight, n: int, threads: int) -> None:
        self._engine = engines.make(name, flight.model, n, (), threads)
        self._substeps, self._at = flight.substeps, 0
        rows = (np.arange(STEPS)[:, None] + 7 * np.arange(n)) % STEPS
        self._ctrl = flight.ctrl[rows]
        self._qpos, self._qvel = flight.qpos[rows[::SEGMENT]], flight.qvel[rows[::SEGMENT]]
        self._engine.reset(np.arange(n), self._qpos[0], self._qvel[0])

    def run(self, count: int) -> int:
        engine, substeps = self._engine, self._substeps
        for k in range(self._at, self._at + count):
            k %= STEPS
            if k % SEGMENT == 0:
                engine.qpos[...], engine.qvel[...] = (
                    self._qpos[k // SEGMENT],
                    self._qvel[k // SEGMENT],
                )
            engine.ctrl[...] = self._ctrl[k]
            engine.step(substeps)
        self._at = (self._at + count) % STEPS
        return count * engine.n


def engine_alone(engine: str, flight: Flight, n: int, threads: int, against: str) -> Contestant:
    """Return an engine with `n` simulations and held controls."""
    case = f"engine alone, {_plural(n, 'simulation')}, {_plural(threads, 'thread')}"
    about = {**flight.about, "case": case, "engine": engine, "num_envs": n, "threads": threads}
    run = _Engine(engine, flight, n, threads).run
    return Contestant(f"{case}, {engine}", run, about, against)


class Scalar:
    """A scalar environment that starts anew when its episode has ended.

    Attributes:
        env: the environment.
        steps: made so far.
        resets: made so far.
    """

    def __init__(self, env_id: str, settings: Settings, random: bool) -> None:
        """Make it; the clock of `run` counts resets, its result doesn't."""
        self.env: Any = gymnasium.make(env_id, **settings).unwrapped
        self._actions = make_actions(random, ACTIONS, *self.env.action_space.shape)
        self.env.reset(seed=0)
        self.steps, self.resets = 0, 0
        self._ended = False

    def run(self, count: int) -> int:
        """Make `count` steps."""
        env = self.env
        for k in range(self.steps, self.steps + count):
            if self._ended:
                env.reset()
                self.resets += 1
            _, _, terminated, truncated, _ = env.step(self._actions[k % ACTIONS])
            self._ended = terminated or truncated
        self.steps += count
        return count


class Vector:
    """A vector environment in Gymnasium's default mode: an ended episode costs one step to reset.

    Those steps take time and are not counted as steps of an environment.

    Attributes:
        env: the environment.
        steps: of its environments, counted so far.
        resets: made so far.
    """

    def __init__(self, env: Any, random: bool = False, policy: Any = None) -> None:
        """Drive `env` with no action, with random ones, or by a policy."""
        self.env, self._policy = env, policy
        self._actions = make_actions(random, ACTIONS, *env.action_space.shape)
        self._observation, _ = env.reset(seed=0)
        self.steps, self.resets = 0, 0
        self._ended, self._at = np.zeros(env.num_envs, bool), 0

    def run(self, count: int) -> int:
        """Make `count` vector steps."""
        env, steps = self.env, 0
        for k in range(self._at, self._at + count):
            steps += env.num_envs - int(np.count_nonzero(self._ended))
            self._observation, _, terminated, truncated, _ = env.step(self._action(k % ACTIONS))
            self._ended = terminated | truncated
        self._at = (self._at + count) % ACTIONS
        self.steps += steps
        self.resets += count * env.num_envs - steps
        return max(steps, 1)

    def _action(self, k: int) -> NDArray:
        if self._policy is None:
            return self._actions[k]
        return self._policy.predict(self._observation)[0]


def make_native(env_id: str, settings: Settings, engine: str, n: int, threads: int) -> Any:
    """Return the native vector environment."""
    return gymnasium.make_vec(
        env_id, num_envs=n, **{**settings, "engine": engine, "threads": threads}
    )


def native_case(n: int, threads: int) -> str:
    """Return what rows of the native vector environment are called, whatever the engine."""
    return f"native, {_plural(n, 'env')}, {_plural(threads, 'thread')}"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}"
