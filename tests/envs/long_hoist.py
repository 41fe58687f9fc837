"""64 vehicles with loads on cables, at once and each of them alone: the same bits.

`make long` flies them for 10,000 steps with this program; `test_rig` flies some for a few. It fails
where a bit differs, and else writes what was flown.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import mujoco
import numpy as np

from tendon_gym.registration import ENTRIES

TASK = ENTRIES["Hoist"].id
SETTINGS = {
    "rotor_action": "residual",
    "tendon_action": "reference",
    "control_frequency": 50.0,
    "horizon": 0.5,
}
N, SEED = 64, 100
STEPS, SAVED = 10_000, 500


def strayed(env: Any, rng: np.random.Generator) -> None:
    """Save a state, go astray, and go back to it."""
    state = pickle.loads(pickle.dumps(env.get_state()))
    for _ in range(3):
        env.step(rng.uniform(-1.0, 1.0, env.action_space.shape))
    env.reset(seed=1)
    env.set_state(state)


def fly(engine: str, steps: int, saved: int, watched: Sequence[int]) -> dict[str, Any]:
    """Fly N at once and `watched` of them alone, side by side; return what happened.

    Args:
        engine: of all of them.
        steps: of the environments.
        saved: every so many steps all are saved, go astray and are put back.
        watched: sub-environments.
    """
    settings = {**SETTINGS, "engine": engine}
    envs: Any = gym.make_vec(TASK, num_envs=N, autoreset_mode="SameStep", **settings).unwrapped
    alone: dict[int, Any] = {i: gym.make(TASK, **settings).unwrapped for i in watched}
    seen, _ = envs.reset(seed=SEED)
    for i, env in alone.items():
        assert np.array_equal(env.reset(seed=SEED + i)[0], seen[i])
    rng, ended, tensions = np.random.default_rng(SEED), np.zeros(N, int), np.zeros((steps, N))
    for k in range(steps):
        if k % saved == saved - 1:
            strayed(envs, np.random.default_rng(k))
            strayed(alone[watched[k // saved % len(watched)]], np.random.default_rng(k + 1))
        actions = rng.uniform(-1.0, 1.0, envs.action_space.shape)
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        ended += terminated | truncated
        tensions[k] = envs.core.rig.pulls.tension()
        for i, env in alone.items():
            observation, *said = env.step(actions[i])[:4]
            assert said == [rewards[i], terminated[i], truncated[i]]
            if terminated[i] or truncated[i]:
                observation, _ = env.reset()
            assert np.array_equal(observation, seen[i])
    assert np.isfinite(tensions).all() and (tensions > 0.0).any() and ended.all()
    return {
        "task": TASK,
        "engine": engine,
        "environments": N,
        "steps": steps,
        "compared_alone": len(watched),
        "episodes": int(ended.sum()),
        "saved_and_put_back": steps // saved,
        "largest_tension_N": float(tensions.max()),
    }


def main() -> None:
    """Fly, check and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file for what was flown")
    out = parser.parse_args().out
    flown: dict[str, Any] = fly("compiled", STEPS, SAVED, range(N))
    flown["versions"] = {"mujoco": mujoco.__version__, "numpy": np.__version__}
    out.write_text(json.dumps(flown, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
