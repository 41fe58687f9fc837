"""What an environment costs on top of the physics, and how long it takes to make one.

Every figure is a ratio from one interleaved run: `env.step` of the scalar environment against the
bare `mj_step` of the same substeps from the same states with the same controls.

    python benchmarks/step_cost.py --out out/bench/step_cost.json
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import tyro
from numpy.typing import NDArray

import tendon_gym  # noqa: F401  (registers the environments)

CASES: dict[str, dict[str, Any]] = {
    "Hover, actions held": {"id": "TendonGym/Hover-v0"},
    "Track, actions held": {"id": "TendonGym/Track-v0"},
    "Track, law at every 2 ms": {
        "id": "TendonGym/Track-v0",
        "rotor_action": "residual",
        "tendon_action": "reference",
    },
    "ArmBend, actions held": {"id": "TendonGym/ArmBend-v0"},
}

START_UP = """
import time; begin = time.perf_counter()
import gymnasium; gym = time.perf_counter()
import tendon_gym; package = time.perf_counter()
env = gymnasium.make("TendonGym/Track-v0"); made = time.perf_counter()
env.reset(seed=0); env.step(env.action_space.sample()); first = time.perf_counter()
gymnasium.make("TendonGym/Track-v0").reset(seed=0); again = time.perf_counter()
print(package - gym, first - package, again - first)
"""


@dataclass(frozen=True)
class Options:
    """How much to measure, and where to write it."""

    rounds: int = 60
    """Interleaved rounds; the medians of their ratios are reported."""
    steps: int = 50
    """Steps per round, from one start."""
    out: Path = Path("out/bench/step_cost.json")
    """Results as JSON; an older file is replaced."""


def measure(settings: dict[str, Any], options: Options) -> dict[str, float]:
    """Return medians over the rounds: us per env.step and per bare step, and their ratio."""
    settings = {"horizon": 1e6, "limits": {"distance": 1e6, "tilt": np.pi}, **settings}
    env = gymnasium.make(settings.pop("id"), **settings).unwrapped
    core = env.core  # type: ignore[attr-defined]
    data = mujoco.MjData(core.model)
    # small actions around the hover: the arm moves, and the vehicle stays in the air
    actions = np.random.default_rng(0).uniform(-0.02, 0.02, (options.steps, core.interface.size))
    stepped, bare = [], []
    for seed in range(options.rounds):
        env.reset(seed=seed)
        data.qpos[:], data.qvel[:] = core.engine.qpos[0], core.engine.qvel[0]
        begin = time.perf_counter()
        for action in actions:
            env.step(action)
        stepped.append((time.perf_counter() - begin) / options.steps * 1e6)
        controls = controls_of(env, seed, actions)
        begin = time.perf_counter()
        for control in controls:
            data.ctrl[:] = control
            mujoco.mj_step(core.model, data, core.substeps)
        bare.append((time.perf_counter() - begin) / options.steps * 1e6)
    ratio = np.array(stepped) / np.array(bare)
    low, high = np.percentile(ratio, [25, 75])
    return {
        "env_step_us": float(np.median(stepped)),
        "bare_us": float(np.median(bare)),
        "ratio": float(np.median(ratio)),
        "ratio_25": float(low),
        "ratio_75": float(high),
    }


def controls_of(env: Any, seed: int, actions: NDArray) -> NDArray:
    """Return the controls (steps, nu) at the end of every step of the same flight."""
    env.reset(seed=seed)
    controls = []
    for action in actions:
        env.step(action)
        controls.append(env.core.engine.ctrl[0].copy())
    return np.array(controls)


def start_up(repeats: int = 3) -> dict[str, float]:
    """Return medians over fresh processes, s: to import, to make first, and again (warm cache)."""
    rows = []
    for _ in range(repeats):
        run = subprocess.run(
            [sys.executable, "-c", START_UP], capture_output=True, text=True, check=True
        )
        rows.append([float(value) for value in run.stdout.split()])
    names = ("import_s", "first_make_and_step_s", "further_make_and_reset_s")
    return dict(zip(names, np.median(rows, axis=0).tolist(), strict=True))


def main(options: Options) -> None:
    """Measure every case, show a table, and write the JSON."""
    cases = {name: measure(dict(settings), options) for name, settings in CASES.items()}
    result = {
        "cases": cases,
        "start_up": start_up(),
        "options": {**asdict(options), "out": str(options.out)},
        "versions": {name: version(name) for name in ("tendon-gym", "mujoco", "numpy", "numba")},
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{'case':28s} {'env.step us':>12s} {'bare us':>9s} {'ratio (quartiles)':>22s}")
    for name, row in cases.items():
        spread = f"{row['ratio']:.2f} ({row['ratio_25']:.2f}-{row['ratio_75']:.2f})"
        print(f"{name:28s} {row['env_step_us']:12.1f} {row['bare_us']:9.1f} {spread:>22s}")
    for name, seconds in result["start_up"].items():
        print(f"{name:28s} {seconds:12.3f} s")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main(tyro.cli(Options))
