"""Watching a flight: as a video at the right speed, or in a window as it happens."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import imageio_ffmpeg
import numpy as np

from tendon_gym import checks
from tendon_gym.envs.core import Core
from tendon_gym.envs.rendering import LARGEST, Renderer
from tendon_gym.model.appearance import CAMERAS

SHADOWS = 1024
"""Size of the shadow map; a film's frames take half the time of those with the model's own."""

WINDOW_RATE = 60.0
"""Pictures per second in a window."""


class Mp4:
    """Writes pictures to an MP4 file, which is made at the first of them."""

    def __init__(self, path: Path, fps: int, size: tuple[int, int]) -> None:
        """Choose the file, frames per second, and width and height, even, pixels."""
        if path.suffix != ".mp4":
            checks.reject("video", str(path), "the path of a file that ends in .mp4")
        self.path, self._fps, self._size = path, fps, size
        self._writer: Generator[None, Any, None] | None = None

    def __enter__(self) -> Self:
        """Start."""
        return self

    def write(self, picture: np.ndarray) -> None:
        """Write a frame (height, width, 3) uint8."""
        writer = self._writer
        if writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            writer = self._writer = imageio_ffmpeg.write_frames(
                str(self.path), self._size, fps=self._fps, codec="libx264", quality=7,
                macro_block_size=2, ffmpeg_log_level="error",
            )  # fmt: skip
            next(writer)
        writer.send(np.ascontiguousarray(picture))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()


class Film:
    """Writes the first simulation of a flight to an MP4; give it to `rollout.fly` as `watch`.

    Frame k shows the first state after the middle of its time, so that the film lasts as long as
    the flight, to half a frame, whatever the control frequency. Use it in a `with` statement.
    """

    def __init__(
        self, path: Path, fps: int = 50, camera: str = "chase", width: int = 640, height: int = 480
    ) -> None:
        """Check the choices; the file is made at the first frame.

        Args:
            path: ends in .mp4.
            fps: frames per second.
            camera: of the model, see `model.appearance.CAMERAS`.
            width: even, pixels.
            height: even, pixels.
        """
        self._mp4 = Mp4(path, fps, (width, height))
        check_view(fps, camera, width, height)
        self._fps, self._size = fps, (width, height)
        self.path, self._camera, self.frames = path, camera, 0
        self._renderer: Renderer | None = None

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __call__(self, core: Core) -> None:
        """Write the frames that are due."""
        if self._renderer is None:
            core.model.vis.quality.shadowsize = SHADOWS
            self._renderer = Renderer(core.model, "rgb_array", *self._size, camera=self._camera)
        now = float(core.elapsed[0] * core.step_time)
        picture = None
        while (self.frames + 0.5) / self._fps <= now + 1e-9:
            if picture is None:
                picture = self._renderer.render(core.engine.data(0), partial(core.draw, 0))
            assert picture is not None  # only a window has none
            self._mp4.write(picture)
            self.frames += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the file and free the graphics."""
        self._mp4.__exit__(kind, error, trace)
        if self._renderer is not None:
            self._renderer.close()


def check_view(fps: int, camera: str, width: int, height: int) -> None:
    """Raise if the film of a flight could not have these choices."""
    checks.choice("camera", camera, CAMERAS)
    check_film(fps, width, height)


def check_film(fps: int, width: int, height: int) -> None:
    """Raise if a film could not have these choices; its colours are shared by 2 x 2 pixels."""
    checks.integer("fps", fps, minimum=1, maximum=240)
    for name, pixels in (("width", width), ("height", height)):
        if checks.integer(name, pixels, minimum=16, maximum=LARGEST) % 2:
            checks.reject(name, pixels, "even for a video")


class Window:
    """Shows the first simulation of a flight in real time; give it to `rollout.fly` as `watch`."""

    def __init__(self, camera: str = "chase") -> None:
        """Choose the camera; the window opens at the first state."""
        self._camera, self._shown = camera, -1.0
        self._renderer: Renderer | None = None
        self._begin = 0.0

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __call__(self, core: Core) -> None:
        """Wait until the state is due, and show it."""
        if self._renderer is None:
            self._renderer = Renderer(core.model, "human", 640, 480, self._camera)
            self._begin = time.monotonic()
        now = float(core.elapsed[0] * core.step_time)
        if now - self._shown >= 1.0 / WINDOW_RATE:
            self._shown = now
            time.sleep(max(0.0, self._begin + now - time.monotonic()))
            self._renderer.render(core.engine.data(0), partial(core.draw, 0))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the window."""
        if self._renderer is not None:
            self._renderer.close()


def has_display() -> bool:
    """Say whether a window could be opened here."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.platform != "linux" or bool(screen)
