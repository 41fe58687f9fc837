"""Absurd sizes: a setting is refused by its name, or what it makes flies on finite numbers."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

ABSURD = (0.0, 1e-300, 1e-12, 1e6, 1e12, 1e300, -1e300)

NUMBERS = (
    *(f"start.{name}" for name in ("position", "velocity", "tilt", "yaw", "angular_velocity")),
    *("start.bend", "start.bend_rate"),
    *(f"limits.{name}" for name in ("distance", "tilt", "clearance")),
    *("horizon", "control_frequency", "preview.seconds", "reward.position.margin"),
)


def make(task: str = "Track", **settings: Any) -> Any:
    return gym.make(ENTRIES[task].id, **settings).unwrapped


@pytest.mark.parametrize("path", NUMBERS)
def test_an_absurd_size_is_refused_by_name_or_flies(path):
    *outer, name = path.split(".")
    refused = 0
    for value in ABSURD:
        settings: Any = value
        for key in reversed([*outer, name]):
            settings = {key: settings}
        try:
            env = make(**settings)
        except ValueError as error:
            assert f"{name} must be" in str(error), error
            refused += 1
            continue
        observation, _ = env.reset(seed=0)
        for _ in range(3):
            observation, reward, terminated, _, info = env.step(np.zeros(env.action_space.shape))
            assert np.isfinite(observation).all() and np.isfinite(reward)
            assert not info["sim_unstable"]
            if terminated:
                break
    assert refused >= 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preview": {"points": 101}}, "preview.points must be an integer from 0 to 100, got 101"),
        ({"preview": {"points": 10**9}}, "from 0 to 100, got 1000000000"),
        ({"preview": {"seconds": 1e300}}, "preview.seconds must be .* at most 1000"),
        ({"width": 4097}, "width must be an integer from 1 to 4096, got 4097"),
        ({"height": 10**9}, "height must be an integer from 1 to 4096, got 1000000000"),
        ({"model": {"tendons": {"n_tendons": 25}}}, "n_tendons must be an integer from 3 to 24"),
        (
            {"model": {"arm": {"bending_stiffness": 1.0}}},
            "arm.bending_stiffness must be less",
        ),
        ({"control_frequency": 1e-3}, "control_frequency must be .* at least 0.1"),
        ({"start": {"position": 1e300}}, "start.position must be .* at most 1000"),
        ({"limits": {"distance": 1e300}}, r"limits.distance must be .* at most 1e\+06"),
        ({"forces": {"external_wrench": {}}}, "^forces.external_wrench.body is required"),
        ({"reward": {"effort": {"margin": 1.0}}}, "^reward.effort.weight is required"),
        ({"horizon": np.float64(-1.0)}, r"horizon must be .*, got -1\.0$"),
        ({"start": {"tilt": np.float64(9.0)}}, r"start\.tilt must be .*, got 9\.0$"),
        ({"width": np.int64(0)}, "width must be .*, got 0$"),
    ],
)
def test_a_slip_is_told_in_the_users_words(settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


def test_the_largest_sizes_work():
    env = make(preview={"points": 100}, model={"tendons": {"n_tendons": 24}}, width=4096, height=1)
    observation, _ = env.reset(seed=0)
    assert env.observation_layout["preview_position"].size == 300
    assert env.action_space.shape == (28,)
    assert np.isfinite(observation).all()
