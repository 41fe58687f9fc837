"""The extra `video` brings what Gymnasium's RecordVideo needs, and its films show the flight."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import gymnasium as gym
import imageio_ffmpeg
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

CHECKOUT = Path(__file__).parent.parent


def test_the_extra_and_its_pin_are_what_is_installed():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wanted,) = project["optional-dependencies"]["video"]
    assert wanted.startswith("moviepy>=")
    assert wanted in project["optional-dependencies"]["dev"]
    pins = (CHECKOUT / "constraints.txt").read_text(encoding="utf-8")
    pin = re.search(r"^moviepy==(.*)$", pins, re.M)
    assert pin and pin[1] == metadata.version("moviepy")


@pytest.mark.parametrize("frequency", [100.0, 50.0])
def test_a_recording_lasts_as_long_as_the_episode(tmp_path, frequency):
    env = gym.make(
        ENTRIES["Hover"].id, render_mode="rgb_array", width=64, height=48, horizon=0.5,
        control_frequency=frequency,
    )  # fmt: skip
    env = gym.wrappers.RecordVideo(
        env, str(tmp_path / "films"), episode_trigger=lambda episode: True
    )
    env.reset(seed=0)
    truncated = False
    while not truncated:
        *_, truncated, _ = env.step(np.zeros(env.action_space.shape))
    env.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(film))
    assert abs(frames - (0.5 * frequency + 1)) <= 1  # moviepy repeats the last one
    assert seconds == pytest.approx(0.5, abs=0.06)
