"""What the benchmark holds itself to: lower quartiles of speeds, bytes, and phases that add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tendon_gym.evaluation.bench.parts import MANY

MUJOCO, OWN = "mujoco", "compiled"

STRAY = 0.05
"""Share by which the sum of the phases may miss the whole step."""

GROWTH = 1e6
"""Bytes of growth that count as none: what the allocator keeps at hand."""


@dataclass(frozen=True)
class Requirement:
    """A bound and what was measured.

    Attributes:
        name: what is bounded.
        value: measured; of a speed the lower quartile, over bare `mj_step` on as many threads.
        must: the bound: from below for speeds, from above for all others.
        aim: what would be better still; None if there is no such thing.
        holds: whether the bound is kept.
    """

    name: str
    value: float
    must: float
    aim: float | None
    holds: bool


def judge(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all requirements that the measured parts and engines allow to judge."""
    return [asdict(each) for each in (*_speeds(result), *_memory(result), *_phases(result))]


def _speeds(result: Mapping[str, Any]) -> Iterator[Requirement]:
    for row in result["rows"]:
        if row["speed"] is None:
            continue
        for part, case, engine, must, aim in _bounds():
            if row["part"] == part and row["engine"] == engine and row["case"].startswith(case):
                low = row["speed"]["low"]
                yield Requirement(f"{part}: {row['name']}", low, must, aim, low >= must)


def _bounds() -> Iterator[tuple[str, str, str, float, float | None]]:
    """Yield part, beginning of the case, engine, and the speeds over bare that are asked for."""
    yield "engine alone", "engine alone, 1 simulation,", OWN, 8.0, 12.0
    yield "engine alone", f"engine alone, {MANY} simulations", OWN, 18.0, 25.0
    yield "engine alone", "engine alone, 256 simulations", OWN, 18.0, 25.0
    yield "native", f"native, {MANY} envs", OWN, 8.0, 12.0
    yield "native", f"native, {MANY} envs", MUJOCO, 0.85, None
    yield "law at every 2 ms, 50 Hz", "native", MUJOCO, 0.90, None
    yield "held actions", "scalar", MUJOCO, 1.0 / 1.15, None
    yield "mission", "scalar", OWN, 6.0, None


def _memory(result: Mapping[str, Any]) -> Iterator[Requirement]:
    for engine, found in result["memory"].items():
        bound = {MUJOCO: 100e3, OWN: 20e3}[engine]
        for name in ("engine_bytes", "environment_bytes"):
            value = found[name]
            yield Requirement(f"memory: {name}, {engine}", value, bound, None, value <= bound)
        for name in ("growth_over_steps", "growth_over_resets"):
            value = found[name]
            yield Requirement(f"memory: {name}, {engine}", value, GROWTH, None, value <= GROWTH)


def _phases(result: Mapping[str, Any]) -> Iterator[Requirement]:
    for each in result["phases"]:
        stray = abs(each["sum_over_total"] - 1.0)
        name = f"phases add up: {each['name']}"
        yield Requirement(name, stray, STRAY, None, stray <= STRAY)
