"""Comparisons: many policies on one benchmark, as plain values that go to JSON as they are."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import tendon_gym
from tendon_gym import baselines, checks, config
from tendon_gym.benchmarks import Benchmark
from tendon_gym.envs.core import REASONS
from tendon_gym.evaluation.metrics import METRICS, bend_held, filled, metrics
from tendon_gym.evaluation.rollout import Flight, check_policy, fly, label, make_env
from tendon_gym.evaluation.statistics import difference, summary

PAPER = "geometric_paper"
ALWAYS = (PAPER, "geometric_full")
"""Controllers that fly in every comparison: beating the paper's one alone proves little."""

POINTS = 400
"""Most points of a curve that is kept for the plots."""

PACKAGES = ("gymnasium", "mujoco", "numba", "numpy", "scipy")


def compare(
    benchmark: Benchmark,
    policies: Sequence[str],
    episodes: int | None = None,
    seed: int | None = None,
    reference: str = PAPER,
) -> dict[str, Any]:
    """Fly `benchmark` with every policy from the same seeds, and compare.

    Args:
        benchmark: what to fly.
        policies: names of baselines or folders of learned policies; ALWAYS and `reference` join
            them.
        episodes: how many; None: the benchmark's own number.
        seed: of the first episode; None: the benchmark's own.
        reference: the policy that all others are paired with.

    Raises:
        FileNotFoundError, ValueError: a policy that doesn't exist, or cannot fly this benchmark.
    """
    names = list(dict.fromkeys([*policies, *ALWAYS, reference]))
    labels = _labels(names)
    for name in names:
        check_policy(benchmark, name)
    flights, seconds = {}, {}
    for name in names:
        begin = time.perf_counter()
        flights[label(name)] = fly(benchmark, name, episodes, seed)
        seconds[label(name)] = time.perf_counter() - begin
    values = {name: metrics(flight) for name, flight in flights.items()}
    first = flights[PAPER]
    rows = {}
    for spec, name in zip(names, labels, strict=True):
        rows[name] = {
            "policy": spec,
            "settings": flights[name].settings,
            "bend_held": bend_held(values[name], values[PAPER], first.full_moment),
            "metrics": _metrics(values[name], values[label(reference)]),
            "decision_time": decision_time(benchmark, spec),
            "flight_seconds": seconds[name],
            **_episodes(flights[name]),
        }
    return {
        "benchmark": config.to_dict(benchmark),
        "seeds": first.seeds,
        "reference": label(reference),
        "full_moment": first.full_moment,
        "versions": versions(),
        "machine": machine(),
        "policies": rows,
    }


def _labels(names: Sequence[str]) -> list[str]:
    """Return what each policy is called in the results; the names must differ."""
    labels = [label(name) for name in names]
    for k, name in enumerate(labels):
        if name in labels[:k]:
            both = f"{names[labels.index(name)]!r} and {names[k]!r}"
            raise ValueError(f"two policies are called {name!r}: {both}")
    return labels


def _metrics(values: Mapping[str, Any], reference: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {
            **summary(values[name], metric.higher_is_better),
            "difference": difference(values[name], reference[name]),
            "values": values[name].tolist(),
        }
        for name, metric in METRICS.items()
    }


def _episodes(flight: Flight) -> dict[str, Any]:
    """Return how the episodes went (ended_early: how many, by reason), and curves for the plots."""
    stride = max(1, math.ceil(flight.position.shape[1] / POINTS))
    shown = slice(stride - 1, None, stride)
    errors = filled(flight, "position_error")
    flown = int(flight.length[0])
    return {
        "steps": flight.length.tolist(),
        "reasons": flight.reason,
        "ended_early": {name: flight.reason.count(name) for name in REASONS if name},
        "curves": {
            "time": _rounded(flight.time[shown]),
            "position_error": _rounded(errors.mean(axis=0)[shown]),
            "path": _rounded(flight.position[0, :flown][shown]),
            "reference": _rounded(flight.reference[0, :flown][shown]),
        },
    }


def _rounded(values: np.ndarray) -> list[Any]:
    """Return values to 10 micrometres or microseconds: enough for a plot."""
    return np.round(values, 5).tolist()


def decision_time(benchmark: Benchmark, policy: str, repeats: int = 200) -> float:
    """Return the median wall time, s, of one `predict` on one observation, once warm."""
    baseline = baselines.get(policy)
    settings = benchmark.env_settings(baseline.interface(benchmark.entry))
    env = make_env(benchmark, 1, settings)
    pilot = baseline.make(env)
    observation = env.reset(seed=0)[0][0]
    times = []
    for _ in range(checks.integer("repeats", repeats, minimum=1) + 20):
        begin = time.perf_counter()
        pilot.predict(observation)
        times.append(time.perf_counter() - begin)
    env.close()
    return float(np.median(times[20:]))


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    return {
        "python": platform.python_version(),
        "tendon_gym": tendon_gym.__version__,
        **{name: metadata.version(name) for name in PACKAGES},
    }


def machine() -> dict[str, Any]:
    """Return what the times of a result depend on."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def save(result: Mapping[str, Any], path: Path) -> None:
    """Write a comparison as JSON."""
    path.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def load(path: Path) -> dict[str, Any]:
    """Read a comparison that `save` wrote.

    Raises:
        ValueError: the file isn't one.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(result, dict) or not {"benchmark", "policies"} <= set(result):
        raise ValueError(f"{path} is no comparison")
    return result
