"""What a simulation takes in memory, and whether that grows; measured in processes of their own.

As a program it takes an engine, and the numbers of simulations, steps and resets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from tendon_gym import engines
from tendon_gym.evaluation.bench.settings import HELD, LAW, Scope
from tendon_gym.evaluation.bench.steppers import Vector, make_native
from tendon_gym.evaluation.progress import Progress
from tendon_gym.model import build_model, preset

FEW, MANY = 64, 64
"""Simulations of the smaller build; of the environment that is flown for long."""


def memory(scope: Scope, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return by engine: bytes per simulation beyond the shared model, and growth over time."""
    progress = Progress("memory", len(names))
    result = {}
    for name in names:
        steps = scope.flat_steps // (10 if name == "mujoco" else 1)
        numbers = [str(value) for value in (scope.memory, steps, scope.flat_resets)]
        command = [sys.executable, "-m", __name__, name, *numbers]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"memory of {name}: {run.stderr.strip().splitlines()[-1]}")
        result[name] = json.loads(run.stdout)
        progress.step()
    progress.close()
    return result


def _measure(engine: str, simulations: int, steps: int, resets: int) -> dict[str, float]:
    model = build_model(preset("default"))

    def alone(n: int) -> Any:
        made = engines.make(engine, model, n, (), 1)
        start = np.tile(model.qpos0, (n, 1))
        made.reset(np.arange(n), start, np.zeros((n, model.nv)))
        made.step(5)
        return made

    def whole(n: int) -> Any:
        env = make_native(*LAW, engine, n, 1)
        Vector(env).run(2)
        return env

    return {
        "engine_bytes": _bytes_each(alone, simulations),
        "environment_bytes": _bytes_each(whole, simulations),
        "steps": steps,
        "growth_over_steps": _growth_over_steps(engine, steps),
        "resets": resets,
        "growth_over_resets": _growth_over_resets(engine, resets),
    }


def _bytes_each(make: Callable[[int], Any], simulations: int) -> float:
    """Return the bytes of one simulation: what is made once, whatever their number, drops out."""
    kept = [make(FEW)]
    before = resident()
    kept.append(make(FEW))
    between = resident()
    kept.append(make(FEW + simulations))
    return (resident() - between - (between - before)) / simulations


def _growth_over_steps(engine: str, steps: int) -> float:
    """Return the bytes by which the process grows over `steps` environment steps."""
    env = make_native(*LAW, engine, MANY, 1)
    vector = Vector(env)
    vector.run(max(200, steps // MANY // 10))
    before = resident()
    done = 0
    while done < steps:
        done += vector.run(100)
    growth = resident() - before
    env.close()
    return float(growth)


def _growth_over_resets(engine: str, resets: int) -> float:
    """Return the bytes by which the process grows over resets of a scalar environment."""
    settings: dict[str, Any] = {**HELD[1], "engine": engine}
    env = gymnasium.make(HELD[0], **settings).unwrapped
    action = np.zeros(env.action_space.shape or (), np.float32)

    def run(count: int) -> None:
        for seed in range(count):
            env.reset(seed=seed)
            env.step(action)

    run(100)
    before = resident()
    run(resets)
    growth = resident() - before
    env.close()
    return float(growth)


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    found = _measure(sys.argv[1], *map(int, sys.argv[2:]))
    sys.stdout.write(json.dumps(found))
