"""Flights: a policy on a benchmark, all episodes side by side in one vector environment."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tendon_gym import baselines, checks
from tendon_gym.benchmarks import Benchmark
from tendon_gym.envs.core import REASONS, Core
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.evaluation.progress import Progress

Array = NDArray[np.float64]

LENGTHS = ("position_error", "tip_error", "bend_error")
NUMBERS = ("attitude_error", "tension_effort", "thrust_effort", "action_rate")
SERIES = (*LENGTHS, *NUMBERS, "reward")
"""What a flight keeps of every step: m, m, N m, rad, N, N, N/s, 1."""

MOST_EPISODES = 10_000
MOST_SAMPLES = 10_000_000
"""Most control steps of a flight, over all episodes: a gigabyte."""


@dataclass(frozen=True, eq=False)
class Flight:
    """What happened in n episodes of at most T control steps.

    Attributes:
        benchmark: what was flown.
        policy: by which policy.
        settings: of the environment, as plain values.
        seeds: of the episodes.
        step_time: s between two samples; sample k is taken at (k + 1) step_time.
        series: SERIES by name, each (n, T), NaN after an episode's end.
        position: of the base, (n, T, 3), m.
        reference: the position asked for, (n, T, 3), m.
        length: steps that each episode took, (n,).
        reason: why each ended early, "" where it reached its end.
        success: whether each ended well, (n,).
        bounds: the worst value of each series, which counts for the time after an early end.
        full_moment: N m, the tendons' moment at full bend.
    """

    benchmark: Benchmark
    policy: str
    settings: dict[str, Any]
    seeds: list[int]
    step_time: float
    series: Mapping[str, Array]
    position: Array
    reference: Array
    length: NDArray[np.int64]
    reason: list[str]
    success: NDArray[np.bool_]
    bounds: Mapping[str, float]
    full_moment: float

    @property
    def time(self) -> Array:
        """Times of the samples, (T,), s."""
        return self.step_time * np.arange(1, self.position.shape[1] + 1)


def fly(
    benchmark: Benchmark,
    policy: str,
    episodes: int | None = None,
    seed: int | None = None,
    watch: Callable[[Core], None] | None = None,
) -> Flight:
    """Fly the episodes with seeds seed, seed + 1, ..., each to its end.

    Args:
        benchmark: what to fly.
        policy: name of a baseline, or the folder of a learned policy.
        episodes: how many; None: the benchmark's own number.
        seed: of the first; None: the benchmark's own.
        watch: called with the simulations at the start and after every step.

    Raises:
        FileNotFoundError, ValueError: no such policy, or one that cannot fly this benchmark.
    """
    seed = benchmark.first_seed if seed is None else checks.integer("seed", seed, minimum=0)
    n = benchmark.episodes if episodes is None else episodes
    checks.integer("episodes", n, minimum=1, maximum=MOST_EPISODES)
    baseline = baselines.get(policy)
    settings = benchmark.env_settings(baseline.interface(benchmark.entry))
    env = make_env(benchmark, n, settings)
    try:
        if n * env.core.horizon > MOST_SAMPLES:
            raise ValueError(
                f"episodes times control steps must be at most {MOST_SAMPLES}, "
                f"got {n} * {env.core.horizon}"
            )
        return _fly(benchmark, policy, settings, seed, env, baseline.make(env), watch)
    finally:
        env.close()


def check_policy(benchmark: Benchmark, policy: str) -> None:
    """Raise if a policy cannot fly a benchmark, without flying it.

    Raises:
        FileNotFoundError, ValueError: as in `fly`.
    """
    baseline = baselines.get(policy)
    env = make_env(benchmark, 1, benchmark.env_settings(baseline.interface(benchmark.entry)))
    try:
        baseline.make(env)
    finally:
        env.close()


def make_env(benchmark: Benchmark, n: int, settings: Mapping[str, Any]) -> TendonVectorEnv:
    """Return the vector environment of n episodes."""
    env = gymnasium.make_vec(benchmark.entry.id, num_envs=n, **settings)
    assert isinstance(env, TendonVectorEnv)
    return env


def label(policy: str) -> str:
    """Return what a policy is called in tables: its name, or that of its folder."""
    return policy if policy in baselines.BASELINES else Path(policy).resolve().name


def _fly(
    benchmark: Benchmark,
    policy: str,
    settings: dict[str, Any],
    seed: int,
    env: TendonVectorEnv,
    pilot: baselines.Policy,
    watch: Callable[[Core], None] | None,
) -> Flight:
    core, n = env.core, env.num_envs
    log = _Log(core)
    observation, _ = env.reset(seed=seed)
    state, ended = None, np.ones(n, bool)
    progress = Progress(f"{benchmark.name}: {label(policy)}", core.horizon)
    if watch is not None:
        watch(core)
    for _ in range(core.horizon):
        begins = ended
        action, state = pilot.predict(observation, state, begins)
        observation, _, terminated, truncated, _ = env.step(action)
        log.add()
        ended = terminated | truncated
        if watch is not None:
            watch(core)
        progress.step()
        if not log.flying.any():
            break
    progress.close()
    return Flight(
        benchmark=benchmark,
        policy=label(policy),
        settings=settings,
        seeds=[seed + k for k in range(n)],
        step_time=core.step_time,
        series=log.series,
        position=log.position,
        reference=log.reference,
        length=log.length,
        reason=[REASONS[k] for k in log.reason],
        success=log.success,
        bounds=bounds(core),
        full_moment=core.interface.full_moment,
    )


def bounds(core: Core) -> dict[str, float]:
    """Return the worst that each series can become, for the time after an early end.

    The tip and its goal are each at most the straight arm's depth away from the base; the moment
    and its goal are at most a full one in opposite directions. The rate of the controls has no
    worst value: NaN.
    """
    layout = core.layout
    tensions = layout.tension_max
    hover = layout.mass * layout.gravity / max(len(layout.rotor_actuators), 1)
    thrusts = np.maximum(np.asarray(layout.thrust_max) - hover, 0.0)
    return {
        "position_error": core.config.limits.distance,
        "tip_error": 2.0 * core.config.model.arm.tip_depth,
        "bend_error": 2.0 * core.interface.full_moment,
        "attitude_error": math.pi,
        "tension_effort": float(tensions.sum() - tensions.min()),
        "thrust_effort": float(thrusts.sum()),
        "action_rate": math.nan,
        "reward": 0.0,
    }


class _Log:
    """Writes down the first episode of every simulation."""

    def __init__(self, core: Core) -> None:
        self._core, n, steps = core, core.n, core.horizon
        self.series = {name: np.full((n, steps), np.nan) for name in SERIES}
        self.position = np.full((n, steps, 3), np.nan)
        self.reference = np.full((n, steps, 3), np.nan)
        self.length, self.reason = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.success, self.flying = np.zeros(n, bool), np.ones(n, bool)
        self._step = 0

    def add(self) -> None:
        """Take down the present state of what still flies its first episode."""
        core, flying, k = self._core, self.flying, self._step
        signals = core.signals[flying]
        for name in LENGTHS:
            self.series[name][flying, k] = np.linalg.norm(signals[name], axis=1)
        self.series["bend_error"][flying, k] *= core.interface.full_moment
        for name in NUMBERS:
            self.series[name][flying, k] = signals[name]
        self.series["reward"][flying, k] = core.reward[flying]
        self.position[flying, k] = signals["position"]
        self.reference[flying, k] = signals["position"] + signals["position_error"]
        self._step += 1
        self.length[flying] = self._step
        over = flying & ((core.reason > 0) | core.truncated)
        self.reason[over], self.success[over] = core.reason[over], core.success[over]
        self.flying = flying & ~over
