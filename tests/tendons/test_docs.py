"""The page on tendons: its example runs, and what it says of it holds."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import tendon_gym  # noqa: F401 (registers the environments)

PAGE = (Path(__file__).parents[2] / "docs" / "tendons.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_lifts_its_load(capsys):
    names: dict = {}
    snippet, _ = SNIPPETS
    exec(compile(snippet, "docs/tendons.md", "exec"), names)
    length, tension, limit = map(float, capsys.readouterr().out.split())
    # a servo without feed-forward sags by the weight over its gain
    assert length == pytest.approx(2.5 + 9.81 / 200.0, abs=5e-3)
    assert tension == pytest.approx(9.81, abs=0.3)
    assert limit == 0.0


def test_the_example_of_an_arm_holds_its_limits():
    names: dict = {"gym": gym}
    exec(compile(SNIPPETS[1], "docs/tendons.md", "exec"), names)
    env = names["env"].unwrapped
    env.reset(seed=0, options={"qpos": env.model.qpos0, "qvel": np.zeros(env.model.nv)})
    for _ in range(100):
        env.step(np.array([1.0, -1.0, -1.0], np.float32))
        lengths = env.core.engine.motion.tendon_length[0]
        assert (abs(lengths - 0.48) < 0.0052).all()
    assert lengths[0] == pytest.approx(0.475, abs=1e-4)  # the full tension holds it there
    assert lengths[0] + lengths[1] == pytest.approx(2 * 0.48, abs=1e-4)
