"""Scenes with tendons from files: a picture, or how one moves, in a window or a video."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import mujoco
import numpy as np
from tyro.conf import Positional

from tendon_gym import checks
from tendon_gym.envs.rendering import LARGEST, offscreen_renderer
from tendon_gym.evaluation.table import aligned
from tendon_gym.evaluation.video import WINDOW_RATE, Mp4, check_film, has_display
from tendon_gym.folders import fresh_file, results
from tendon_gym.tendons import TendonWorld
from tendon_gym.tendons.files import open_scene

OUTSIDE = "chase"
"""Camera that every scene has: its file's of that name, or one that sees all of it."""
BACKGROUND = (232, 236, 240)
"""Red, green and blue behind scenes without a sky."""
SUFFIXES = (".jpg", ".jpeg", ".png")


@dataclass(frozen=True)
class RenderCommand:
    """Draw a scene with tendons, native XML or MJCF, into a picture."""

    scene: Positional[Path]
    """Its file."""
    out: Path | None = None
    """PNG or JPEG to write; by default the scene's name here. One that exists stays, the new one
    gets a number."""
    seconds: float = 0.0
    """Time that the scene moves before, s."""
    camera: str = OUTSIDE
    """Camera of the scene; chase sees all of it if there is none of that name."""
    width: int = 640
    """Pixels."""
    height: int = 480
    """Pixels."""

    def run(self) -> int:
        """Draw."""
        out = fresh_file(self.out or Path(self.scene.name).with_suffix(".png"))
        check_picture(out)
        world = open_scene(self.scene)
        _advance(world, steps(world, self.seconds))
        with results(out.parent, fresh=False):
            save_picture(picture(world, self.width, self.height, self.camera), out)
        sys.stdout.write(f"picture: {out}\n")
        return 0


def picture(
    world: TendonWorld, width: int = 640, height: int = 480, camera: str = OUTSIDE
) -> np.ndarray:
    """Return a picture (height, width, 3) uint8 of a world as it is."""
    for name, pixels in (("width", width), ("height", height)):
        checks.integer(name, pixels, minimum=1, maximum=LARGEST)
    model, data = world.refresh().model, world.data
    with _Painter(model, width, height, camera) as painter:
        mujoco.mj_forward(model, data)
        return painter.paint(data)


class _Painter:
    """Draws a model, with light and a background where it has none; for a `with` statement."""

    def __init__(self, model: mujoco.MjModel, width: int, height: int, camera: str) -> None:
        self._view = _view(model, camera)
        if not model.nlight:
            model.vis.headlight.ambient = [0.4] * 3
            model.vis.headlight.diffuse = [0.6] * 3
        self._sky = (model.tex_type == int(mujoco.mjtTexture.mjTEXTURE_SKYBOX)).any()
        self._renderer = offscreen_renderer(model, height, width)

    def __enter__(self) -> Self:
        return self

    def paint(self, data: mujoco.MjData) -> np.ndarray:
        """Return a picture (height, width, 3) uint8."""
        renderer = self._renderer
        renderer.update_scene(data, self._view)
        pixels = np.array(renderer.render())
        if not self._sky:
            renderer.enable_segmentation_rendering()
            pixels[renderer.render()[..., 0] < 0] = BACKGROUND
            renderer.disable_segmentation_rendering()
        return pixels

    def __exit__(self, *_: object) -> None:
        self._renderer.close()


def save_picture(pixels: np.ndarray, path: Path) -> None:
    """Write a picture to a PNG or JPEG file."""
    import imageio.v3 as imageio

    check_picture(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    imageio.imwrite(path, pixels)


def check_picture(path: Path) -> None:
    """Raise if a file's name is none of a picture."""
    if path.suffix.lower() not in SUFFIXES:
        checks.reject("picture", str(path), f"a file that ends in {', '.join(SUFFIXES)}")


def steps(world: TendonWorld, seconds: float) -> int:
    """Return how many steps a world takes in some time, s."""
    checks.number("seconds", seconds, minimum=0.0)
    return round(seconds / world.model.opt.timestep)


@dataclass(frozen=True)
class SceneFlight:
    """How a scene is shown in motion.

    Attributes:
        scene: its file.
        seconds: how long.
        video: MP4 to write instead of a window.
        camera: as for pictures.
        width: of the video, even, pixels.
        height: of the video, even, pixels.
        fps: frames per second of the video.
    """

    scene: Path
    seconds: float = 5.0
    video: Path | None = None
    camera: str = OUTSIDE
    width: int = 640
    height: int = 480
    fps: int = 50

    def fly(self) -> str:
        """Step the scene and show it; return what its tendons were like at the end."""
        check_film(self.fps, self.width, self.height)
        world = open_scene(self.scene)
        count = steps(world, self.seconds)
        _view(world.model, self.camera)
        if self.video is not None:
            path = fresh_file(self.video)
            film = Mp4(path, self.fps, (self.width, self.height))
            with results(path.parent, fresh=False), film:
                self._film(world, count, film)
            told = f"video: {path}"
        elif has_display():
            _watch(world, count, self.camera)
            told = ""
        else:
            _advance(world, count)
            told = "no display, so that nothing was shown (--video FILE.mp4 makes a video)"
        return "\n".join(filter(None, [told, _told(self.scene, world, count)]))

    def _film(self, world: TendonWorld, count: int, film: Mp4) -> None:
        """Step a world, and write a frame for every 1 / fps."""
        h, done = world.model.opt.timestep, 0
        with _Painter(world.model, self.width, self.height, self.camera) as painter:
            for frame in range(max(round(count * h * self.fps), 1)):
                due = min(round((frame + 0.5) / self.fps / h), count)
                _advance(world, due - done)
                done = due
                film.write(painter.paint(world.data))
        _advance(world, count - done)


def _advance(world: TendonWorld, count: int) -> None:
    """Step a world, if at all: forces are those of a last step."""
    if count > 0:
        world.step(count)


def _watch(world: TendonWorld, count: int, camera: str) -> None:
    """Step a world in real time in a window, until the time or the window is over."""
    import mujoco.viewer as viewer

    h, begin, done = world.model.opt.timestep, time.monotonic(), 0
    view = _view(world.model, camera)
    with viewer.launch_passive(world.model, world.data) as window:
        if isinstance(view, str):
            window.cam.type = mujoco.mjtCamera.mjCAMERA_FIXED
            window.cam.fixedcamid = world.model.camera(view).id
        while done < count and window.is_running():
            due = min(int((time.monotonic() - begin) / h), count)
            _advance(world, due - done)
            done = due
            window.sync()
            time.sleep(1.0 / WINDOW_RATE)


def _view(model: mujoco.MjModel, camera: str) -> Any:
    """Return a camera as MuJoCo's renderer takes it: a name, or a view of the whole scene."""
    names = [model.camera(k).name for k in range(model.ncam)]
    if camera in names:
        return camera
    if camera != OUTSIDE:
        checks.choice("camera", camera, [OUTSIDE, *names])
    view = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, view)
    return view


def _told(scene: Path, world: TendonWorld, count: int) -> str:
    rows = [["tendon", "length", "force"]]
    rows += [[t.name, f"{t.length:.4f}", f"{t.force:.4g}"] for t in world.tendons]
    resets = int(world.data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number)
    end = f", unstable: MuJoCo put it back {resets} times" if resets else ""
    head = f"{scene.name}: {count * world.model.opt.timestep:g} s{end}"
    return f"{head}\n{aligned(rows)}"
