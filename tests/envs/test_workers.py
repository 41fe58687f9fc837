"""The environments in other processes, and in a clean interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv

from tendon_gym import rewards
from tendon_gym.registration import ENTRIES

CHECKOUT = Path(__file__).parent.parent.parent
IDS = [entry.id for entry in ENTRIES.values()]

OWN_TERM = """
import numpy as np
import tendon_gym
from tendon_gym import rewards

def low(signals, margin):
    return np.exp(-np.abs(signals["position"][:, 2]) / margin)

rewards.register("low", low)
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """Return a module's name that workers can import; it registers the reward term "low"."""
    name = "a_users_own_reward_terms"
    (tmp_path / f"{name}.py").write_text(OWN_TERM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{CHECKOUT}{os.pathsep}{tmp_path}")
    yield name
    rewards.terms._terms.pop("low", None)
    sys.modules.pop(name, None)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12's, with threads
@pytest.mark.parametrize("context", ["spawn", "forkserver", "fork"])
def test_workers_know_the_ids_and_a_users_own_reward(context, own_module):
    settings = {"reward": {"low": {"weight": 0.5, "margin": 2.0}}}
    id = f"{own_module}:{IDS[0]}"
    here = gym.make_vec(id, num_envs=2, **settings)
    there = AsyncVectorEnv([partial(gym.make, id, **settings)] * 2, context=context)
    try:
        first, _ = there.reset(seed=3)
        assert np.array_equal(first, here.reset(seed=3)[0])
        for _ in range(5):
            action = np.full((2, 7), 0.1, np.float32)
            mine, other = there.step(action), here.step(action)
            assert np.array_equal(mine[0], other[0]) and np.array_equal(mine[1], other[1])
            low = other[4]["reward_terms"]["low"]
            height = here.unwrapped.core.signals["position"][:, 2]
            np.testing.assert_allclose(low, 0.5 * np.exp(-height / 2.0))
            np.testing.assert_allclose(mine[4]["reward_terms"]["low"], low)
    finally:
        there.close()
        here.close()


def test_the_ids_are_registered_by_naming_the_package(tmp_path):
    code = (
        "import gymnasium as gym\n"
        f"for id in {IDS!r}:\n"
        "    gym.make('tendon_gym:' + id).reset(seed=0)\n"
        "    gym.make_vec('tendon_gym:' + id, num_envs=2).reset(seed=0)\n"
    )
    assert run(code, tmp_path) == ""


SNIPPET = """
import gymnasium as gym
import tendon_gym

env = gym.make("TendonGym/Hover-v0")
observation, info = env.reset(seed=0)
for _ in range(100):
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    if terminated or truncated:
        observation, info = env.reset()
env.close()

envs = gym.make_vec("TendonGym/Track-v0", num_envs=4, reference="smooth", model="paper")
observations, infos = envs.reset(seed=0)
for _ in range(100):
    observations, *_ = envs.step(envs.action_space.sample())
envs.close()
print(observations.shape)
"""


def test_a_first_program_runs_in_a_clean_interpreter(tmp_path):
    assert run(SNIPPET, tmp_path).strip() == "(4, 154)"
    assert list(tmp_path.iterdir()) == []


FLIGHTS = """
import gymnasium as gym
import numpy as np
import tendon_gym
from tendon_gym.registration import ENTRIES

def flights():
    for entry in ENTRIES.values():
        for rotor, tendon in ((0, 0), (-1, -1), (1, 1), (2, 1), (3, 0)):
            rotor = entry.rotor_actions[rotor if abs(rotor) < len(entry.rotor_actions) else 0]
            tendon = entry.tendon_actions[tendon]
            env = gym.make(entry.id, rotor_action=rotor, tendon_action=tendon)
            observation, _ = env.reset(seed=0)
            for k in range(4):
                step = env.step(np.full(env.action_space.shape, 0.1 * k))
            yield *step[0].tolist(), step[1]
"""


def test_the_kernels_are_plain_python_too(tmp_path):
    """With NUMBA_DISABLE_JIT=1, for a debugger: the same flights, and no warning of NumPy's."""
    said = run(FLIGHTS + "print(*[x for row in flights() for x in row])", tmp_path, "1")
    space: dict = {}
    exec(FLIGHTS, space)
    compiled = [x for row in space["flights"]() for x in row]
    np.testing.assert_allclose(np.array(said.split(), float), compiled, rtol=1e-6, atol=1e-9)


def run(code: str, cwd: Path, disable_jit: str = "0") -> str:
    """Return what a program prints, with every warning an error; it must say nothing else."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "NUMBA_DISABLE_JIT": disable_jit},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
