"""Pictures, windows, and how rendering ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import mujoco
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

CHECKOUT = Path(__file__).parent.parent.parent


def make(name="Hover", **settings):
    return gym.make(ENTRIES[name].id, **settings)


def difference(a, b):
    """Return the largest difference of two pictures; a software renderer rounds by a level."""
    return np.abs(a.astype(int) - b.astype(int)).max()


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("camera", ["chase", "side"])
def test_a_picture_has_the_size_that_is_asked_and_shows_the_vehicle(name, camera):
    env = make(name, render_mode="rgb_array", width=96, height=64, camera=camera)
    env.reset(seed=0)
    first = env.render()
    assert first.shape == (64, 96, 3) and first.dtype == np.uint8
    assert difference(env.render(), first) <= 3
    before = env.unwrapped.data.site("tip").xpos.copy()
    for _ in range(30):
        env.step(np.ones(env.action_space.shape) * 0.2)
    assert np.linalg.norm(env.unwrapped.data.site("tip").xpos - before) > 0.01
    assert difference(env.render(), first) > 30
    env.close()


@pytest.mark.parametrize("camera", ["chase", "side"])
def test_the_picture_is_the_cameras(camera):
    env = make(render_mode="rgb_array", width=96, height=64, camera=camera)
    env.reset(seed=0)
    picture = env.render()
    seen = {}
    with mujoco.Renderer(env.unwrapped.model, 64, 96) as renderer:
        for name in ("chase", "side"):
            renderer.update_scene(env.unwrapped.data, name)
            seen[name] = renderer.render()
    assert difference(picture, seen.pop(camera)) <= 3
    assert difference(picture, *seen.values()) > 30


def test_the_picture_is_of_the_present_state():
    """Not of the one a physics step ago: equal to a picture of a simulation that was set there."""
    env = make(render_mode="rgb_array", width=96, height=64)
    env.reset(seed=0)
    for _ in range(20):
        env.step(np.ones(7))
    other = make(render_mode="rgb_array", width=96, height=64)
    data = env.unwrapped.data
    other.reset(seed=1, options={"qpos": data.qpos, "qvel": data.qvel})
    assert difference(env.render(), other.render()) <= 3


def test_depths_are_metres_from_the_camera():
    env = make("ArmBend", render_mode="depth_array", width=64, height=48, camera="side")
    env.reset(seed=0)
    depth = env.render()
    assert depth.shape == (48, 64) and depth.dtype == np.float32
    data = env.unwrapped.data
    camera = env.unwrapped.model.camera("side").id
    away = np.linalg.norm(data.cam_xpos[camera] - data.body("base").xpos)
    assert depth.min() == pytest.approx(away, rel=0.35)


def test_looking_does_not_change_the_flight():
    flights = []
    for renders in (False, True):
        env = make("Track", render_mode="rgb_array", width=32, height=32)
        env.reset(seed=0)
        rows = []
        for _ in range(15):
            rows.append(env.step(np.full(7, 0.2))[0])
            if renders:
                env.render()
        flights.append(np.array(rows))
    assert np.array_equal(*flights)


def test_many_are_rendered_each_for_itself():
    envs = gym.make_vec(
        ENTRIES["Hover"].id, num_envs=3, render_mode="rgb_array", width=48, height=32
    )
    envs.reset(seed=4)
    for _ in range(5):
        envs.step(np.zeros((3, 7)))
    pictures = envs.render()
    assert isinstance(pictures, tuple) and len(pictures) == 3
    assert all(picture.shape == (32, 48, 3) for picture in pictures)
    assert difference(pictures[0], pictures[1]) > 30
    env = make(render_mode="rgb_array", width=48, height=32)
    env.reset(seed=5)
    for _ in range(5):
        env.step(np.zeros(7))
    assert difference(env.render(), pictures[1]) <= 3
    envs.close()
    with pytest.raises(RuntimeError, match="closed"):
        envs.render()


def test_a_window_follows_by_itself(window):
    env = make(render_mode="human", camera="side")
    env.reset(seed=0)
    assert (window.opened, window.synced) == (1, 1)
    for _ in range(3):
        env.step(np.zeros(7))
    assert (window.opened, window.synced) == (1, 4)
    assert env.render() is None
    assert window.camera == env.unwrapped.model.camera("side").id
    env.close()
    env.close()
    assert window.closed == 1
    with pytest.raises(RuntimeError, match="closed"):
        env.unwrapped.render()


def test_a_window_shows_a_cable_once_however_often_it_is_drawn(window):
    """A straight cable is one capsule."""
    cable = {
        "origin": {"body": "world", "station": [0, 0, 3]},
        "termination": {"body": "base"},
        "drive": {"tension": 1.0},
    }
    env = make(render_mode="human", forces={"cable": cable})
    env.reset(seed=0)
    env.step(np.zeros(7))
    assert (window.synced, window.geoms) == (2, 1)
    env.close()


def test_a_window_without_a_screen_raises(monkeypatch):
    """MuJoCo's viewer itself would end the process."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    env = make(render_mode="human")
    with pytest.raises(RuntimeError, match="'human' needs a screen"):
        env.reset(seed=0)


def test_rendering_without_a_mode_or_after_the_end_says_so():
    env = make().unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"needs a render_mode .*, one of human, rgb_array"):
        env.render()
    env = make(render_mode="rgb_array", width=16, height=16)
    env.reset(seed=0)
    env.render()
    env.close()
    env.close()
    with pytest.raises(RuntimeError, match="closed"):
        env.unwrapped.render()


@pytest.mark.parametrize(
    "frequency, rate", [(100, 100), (500, 500), (50, 50), (500 / 3, 500 / 3), (500 / 8, 62.5)]
)
@pytest.mark.parametrize("name", ["Hover", "ArmBend"])
def test_the_frame_rate_is_that_of_the_steps(name, frequency, rate):
    env = make(name, control_frequency=frequency)
    assert env.metadata["render_fps"] == pytest.approx(rate, rel=1e-12)
    envs = gym.make_vec(ENTRIES[name].id, num_envs=1, control_frequency=frequency)
    assert envs.metadata["render_fps"] == env.metadata["render_fps"]
    if rate == round(rate):
        assert isinstance(env.metadata["render_fps"], int)
    # the class is not changed by its instances
    assert type(env.unwrapped).metadata["render_fps"] == 100


def run(code, cwd, **env):
    return subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", code],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **env},
        capture_output=True,
        text=True,
        check=False,
    )


RENDER = """
import gymnasium as gym
import tendon_gym
env = gym.make("TendonGym/Hover-v0", render_mode="rgb_array", width=32, height=32)
env.reset(seed=0)
env.step(env.action_space.sample())
print(env.render().shape)
envs = gym.make_vec("TendonGym/Bend-v0", num_envs=2, render_mode="rgb_array", width=32, height=32)
envs.reset(seed=0)
print(len(envs.render()))
"""


def test_a_program_that_never_closes_ends_silently(tmp_path):
    done = run(RENDER, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["(32,", "32,", "3)", "2"]
    assert list(tmp_path.iterdir()) == []


def test_without_a_backend_the_error_says_what_to_install(monkeypatch):
    def fail(*args, **settings):
        raise RuntimeError("no display")

    monkeypatch.setattr(mujoco, "Renderer", fail)
    env = make(render_mode="rgb_array", width=16, height=16)
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="libegl1"):
        env.render()
