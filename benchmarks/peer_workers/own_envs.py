"""The environments of this package on MuJoCo, measured as the others are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from mujoco_replay import Flight, Replay, actions_of
from numpy.typing import NDArray
from serving import CORES, Case, serve

import tendon_gym  # noqa: F401  (registers the environments)

STEPS = 400
"""Environment steps of one environment in a round."""

MANY = 64
SEGMENT = 10
"""Environment steps after which a replay is put back onto the flight."""

THREADS = tuple(dict.fromkeys((1, CORES)))


@dataclass(frozen=True)
class Setup:
    """An environment, the threads of its vector forms, and how large its random actions are."""

    env_id: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    threads: tuple[int, ...] = THREADS
    scale: float = 1.0


SETUPS = {
    "Hover, controls held": Setup("TendonGym/Hover-v0"),
    # Much physics per step, behind which an environment hides, as that of the slowest peer does;
    # it holds its hover, since large actions held for so long end a flight at once.
    "Hover, controls held for 0.2 s": Setup(
        "TendonGym/Hover-v0", {"control_frequency": 5}, threads=(), scale=0.0
    ),
    "Track, SE(3) law at every 2 ms": Setup(
        "TendonGym/Track-v0", {"rotor_action": "residual", "tendon_action": "reference"}
    ),
}


class Scalar:
    """One environment, without wrappers."""

    def __init__(self, setup: Setup) -> None:
        """Make it."""
        self._scale = setup.scale
        self.env: Any = gymnasium.make(setup.env_id, **setup.settings).unwrapped
        self.substeps = self.env.core.substeps
        self._bare = Replay(self.env.model, self.substeps)

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per step of the environment, and of MuJoCo alone through the same flights."""
        seconds, flights = self.fly(round_)
        return 1e6 * seconds / STEPS, self._bare(flights)

    def fly(self, seed: int) -> tuple[float, list[Flight]]:
        """Return the seconds of STEPS steps with random actions, and the flights they made."""
        env = self.env
        drawn = actions_of(seed, STEPS, *env.action_space.shape, scale=self._scale)
        actions = drawn.astype(np.float32)
        seconds, first, flights = 0.0, 0, []
        while first < STEPS:
            flown, _ = self._episode(1000 * seed + first, actions[first:], True)
            _, spent = self._episode(1000 * seed + first, actions[first:], False)
            flights += flown
            seconds += spent
            first += sum(len(flight.controls) for flight in flown)
        return seconds, flights

    def _episode(self, seed: int, actions: NDArray, recorded: bool) -> tuple[list[Flight], float]:
        """Fly one episode; return its pieces, if it is recorded, and its seconds.

        A law changes the controls within a step, so that a flight with those at the end of each
        step strays: it is put back every few steps.
        """
        env, engine, rows = self.env, self.env.core.engine, []
        env.reset(seed=seed)
        begin = time.perf_counter()
        for action in actions:
            if recorded:
                before = engine.qpos[0].copy(), engine.qvel[0].copy()
            _, _, terminated, truncated, _ = env.step(action)
            if recorded:
                rows.append((*before, engine.ctrl[0].copy()))
            if terminated or truncated:
                break
        seconds = time.perf_counter() - begin
        pieces = (rows[k : k + SEGMENT] for k in range(0, len(rows), SEGMENT))
        flights = [Flight(*piece[0][:2], np.array([row[2] for row in piece])) for piece in pieces]
        return flights, seconds


class Native:
    """The vector environment; its bare physics is that of the scalar one, on as many threads."""

    def __init__(self, scalar: Scalar, setup: Setup, threads: int) -> None:
        """Make it."""
        self._scalar = scalar
        self._env: Any = gymnasium.make_vec(
            setup.env_id, num_envs=MANY, threads=threads, **setup.settings
        )
        self._bare = Replay(scalar.env.model, scalar.substeps, threads)
        self._env.reset(seed=0)
        self._ended = np.zeros(MANY, bool)

    def measure(self, round_: int) -> tuple[float, float]:
        """Return us per environment step, and of MuJoCo alone."""
        env, steps = self._env, max(20, 2 * STEPS // MANY)
        actions = actions_of(round_, steps, *env.action_space.shape).astype(np.float32)
        count = 0
        begin = time.perf_counter()
        for action in actions:
            count += MANY - np.count_nonzero(self._ended)
            _, _, terminated, truncated, _ = env.step(action)
            self._ended = terminated | truncated
        seconds = time.perf_counter() - begin
        return 1e6 * seconds / count, self._bare(self._scalar.fly(round_)[1])


def cases() -> Sequence[Case]:
    """Return all cases."""
    found = []
    for name, setup in SETUPS.items():
        scalar = Scalar(setup)
        about = {
            "substeps": scalar.substeps,
            "seconds": scalar.env.core.step_time,
            "nv": scalar.env.model.nv,
        }
        found.append(Case(name, scalar.measure, {"num_envs": 1, "threads": 1, **about}))
        for threads in setup.threads:
            native = Native(scalar, setup, threads)
            more = {"num_envs": MANY, "threads": threads, **about}
            found.append(
                Case(
                    f"{name}, {MANY} envs, {threads} thread" + "s" * (threads > 1),
                    native.measure,
                    more,
                )
            )
    return found


if __name__ == "__main__":
    serve(cases, ("tendon-gym", "mujoco", "numpy"))
