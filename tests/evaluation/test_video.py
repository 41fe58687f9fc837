"""Videos last as long as the flights, and show what the environments render."""

from __future__ import annotations

import dataclasses
import subprocess

import gymnasium
import imageio_ffmpeg
import numpy as np
import pytest

from tendon_gym import benchmarks
from tendon_gym.benchmarks import Benchmark
from tendon_gym.evaluation import video
from tendon_gym.evaluation.rollout import fly
from tendon_gym.evaluation.video import Film, Window
from tendon_gym.model import build_model, preset
from tendon_gym.model.appearance import CAMERAS

SMALL = {"width": 64, "height": 48}


def read(path, width, height):
    """Return the frames (n, height, width, 3) and the length in s of a film."""
    arguments = ["-loglevel", "error", "-i", str(path), "-fps_mode", "passthrough"]
    done = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), *arguments, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True,
        check=True,
    )
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3)
    return frames, imageio_ffmpeg.count_frames_and_secs(str(path))[1]


@pytest.mark.parametrize(("rate", "fps"), [(500.0, 50), (100.0, 30), (20.0, 50)])
def test_a_film_lasts_as_long_as_the_flight(tmp_path, rate, fps):
    benchmark = Benchmark("x", "Hover", "", 0.7, settings={"control_frequency": rate})
    with Film(tmp_path / "film.mp4", fps, **SMALL) as film:
        fly(benchmark, "zero", episodes=1, watch=film)
    frames, seconds = read(tmp_path / "film.mp4", **SMALL)
    assert abs(len(frames) - 0.7 * fps) <= 1.0
    assert abs(seconds - 0.7) <= 1.0 / fps + 0.005
    assert not np.array_equal(frames[0], frames[-1])
    assert film.frames == len(frames)


def test_a_film_ends_where_the_flight_does(tmp_path):
    with Film(tmp_path / "film.mp4", 25, **SMALL) as film:
        flight = fly(benchmarks.get("track-thrust"), "random", episodes=1, watch=film)
    assert flight.reason[0]
    frames, _ = read(tmp_path / "film.mp4", **SMALL)
    assert abs(len(frames) - 25 * flight.step_time * flight.length[0]) <= 1.0


def test_frames_show_the_states_of_their_times(tmp_path):
    """Frame k shows the state at (k + 1/2) / fps, as the scalar environment renders it."""
    benchmark = dataclasses.replace(benchmarks.get("track-thrust"), horizon=0.5, settle=0.0)
    size = {"width": 320, "height": 240}
    with Film(tmp_path / "film.mp4", 10, camera="side", **size) as film:
        fly(benchmark, "zero", episodes=1, seed=3, watch=film)
    frames, _ = read(tmp_path / "film.mp4", **size)
    env = gymnasium.make(
        benchmark.entry.id, render_mode="rgb_array", camera="side", **size,
        **benchmark.env_settings({"rotor_action": "thrust", "tendon_action": "tension"}),
    )  # fmt: skip
    env.reset(seed=3)
    env.unwrapped.model.vis.quality.shadowsize = video.SHADOWS
    action = np.array([0, 0, 0, 0, -1, -1, -1], np.float32)
    pictures = []
    for _ in range(50):
        env.step(action)
        pictures.append(env.render().astype(int))
    env.close()
    for k, frame in enumerate(frames):
        misses = [np.abs(picture - frame).mean() for picture in pictures]
        assert abs(int(np.argmin(misses)) - (10 * k + 4)) <= 1
        assert min(misses) < 4.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"path": "film.avi"}, r"video must be the path of a file that ends in \.mp4"),
        ({"width": 33}, "width must be even for a video, got 33"),
        ({"height": 0}, "height must be an integer from 16 to 4096, got 0"),
        ({"fps": 0}, "fps must be an integer from 1 to 240, got 0"),
        ({"camera": "bird"}, "camera must be one of 'chase', 'side', got 'bird'"),
    ],
    ids=str,
)
def test_bad_choices_are_refused(tmp_path, changes, message):
    path = tmp_path / changes.pop("path", "film.mp4")
    with pytest.raises(ValueError, match=message):
        Film(path, **changes)
    assert not list(tmp_path.iterdir())


def test_the_cameras_are_those_of_the_model():
    model = build_model(preset("default"))
    assert [model.camera(k).name for k in range(model.ncam)] == list(CAMERAS)


def test_a_window_shows_the_flight_at_its_own_speed(monkeypatch):
    """Without a screen: what the window would draw, on a clock that only sleeping moves."""
    shown, clock, renderers = [], [100.0], []

    class FakeRenderer:
        def __init__(self, model, mode, width, height, camera):
            renderers.append((mode, camera))

        def render(self, data, draw):
            shown.append((data.time, clock[0] - 100.0))

        def close(self):
            renderers.append("closed")

    monkeypatch.setattr(video, "Renderer", FakeRenderer)
    monkeypatch.setattr(video.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(video.time, "sleep", lambda s: clock.__setitem__(0, clock[0] + s))
    benchmark = dataclasses.replace(benchmarks.get("track-steady"), horizon=0.5, settle=0.0)
    with Window("side") as window:
        fly(benchmark, "geometric_full", episodes=1, watch=window)
    assert renderers == [("human", "side"), "closed"]
    simulated, real = np.array(shown).T
    assert real == pytest.approx(simulated, abs=1e-6)
    assert 0.45 < simulated[-1] <= 0.5
    assert len(shown) <= 0.5 * video.WINDOW_RATE + 1
