"""Pictures and windows, with an OpenGL backend that is chosen where the user has not."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

import mujoco
from numpy.typing import NDArray

from tendon_gym import checks

MODES = ("human", "rgb_array", "depth_array")

LARGEST = 4096
"""Largest width and height of a picture, pixels; every OpenGL has room for it."""


class Renderer:
    """Renders one model; OpenGL is first touched by the first `render`."""

    def __init__(
        self, model: mujoco.MjModel, mode: str | None, width: int, height: int, camera: str
    ) -> None:
        """Check the choices, and touch no graphics yet."""
        if mode is not None:
            checks.choice("render_mode", mode, MODES)
        self._model, self._mode = model, mode
        self._width = checks.integer("width", width, minimum=1, maximum=LARGEST)
        self._height = checks.integer("height", height, minimum=1, maximum=LARGEST)
        cameras = [model.camera(k).name for k in range(model.ncam)]
        self._camera = checks.choice("camera", camera, cameras)
        self._offscreen: Any = None
        self._window: Any = None
        self._closed = False

    def render(
        self, data: mujoco.MjData, draw: Callable[[mujoco.MjvScene], None] | None = None
    ) -> NDArray[Any] | None:
        """Return an RGB picture (height, width, 3) uint8 or depths (height, width) float32, m.

        Args:
            data: what is shown.
            draw: adds to the scene what is no part of the model.
        """
        if self._closed:
            raise RuntimeError("this environment is closed: it cannot render any more")
        if self._mode is None:
            raise ValueError(f"render needs a render_mode at gym.make, one of {', '.join(MODES)}")
        if self._mode == "human":
            self._show(data, draw)
            return None
        if self._offscreen is None:
            self._offscreen = offscreen_renderer(self._model, self._height, self._width)
            if self._mode == "depth_array":
                self._offscreen.enable_depth_rendering()
        self._offscreen.update_scene(data, self._camera)
        if draw is not None:
            draw(self._offscreen.scene)
        return self._offscreen.render()

    def _show(self, data: mujoco.MjData, draw: Callable[[mujoco.MjvScene], None] | None) -> None:
        if self._window is None:
            if not _has_screen():  # MuJoCo's viewer would end the process
                raise RuntimeError(
                    "render_mode 'human' needs a screen, and neither DISPLAY nor WAYLAND_DISPLAY "
                    "is set; 'rgb_array' needs none"
                )
            import mujoco.viewer as viewer

            self._window = viewer.launch_passive(self._model, data)
            self._window.cam.type = mujoco.mjtCamera.mjCAMERA_FIXED
            self._window.cam.fixedcamid = self._model.camera(self._camera).id
        if draw is not None:
            with self._window.lock():
                self._window.user_scn.ngeom = 0
                draw(self._window.user_scn)
        self._window.sync()

    def close(self) -> None:
        """Close the window and free the graphics; calling it again does nothing."""
        self._closed = True
        if self._offscreen is not None:
            self._offscreen.close()
            self._offscreen = None
        if self._window is not None:
            self._window.close()
            self._window = None


def offscreen_renderer(model: mujoco.MjModel, height: int, width: int) -> mujoco.Renderer:
    """Return MuJoCo's renderer, on EGL where no screen and no other choice is given.

    Raises:
        RuntimeError: no OpenGL backend works; says what to install.
    """
    choose_backend()
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    try:
        renderer = mujoco.Renderer(model, height, width)
    except Exception as error:
        raise RuntimeError(
            f"no OpenGL context could be made ({error}); install libegl1 (or libosmesa6 and set "
            "MUJOCO_GL=osmesa)"
        ) from error
    # what is still open when the program ends must be closed before EGL itself is gone
    atexit.register(_close_if_alive, weakref.ref(renderer))
    return renderer


def _close_if_alive(renderer: weakref.ref[mujoco.Renderer]) -> None:
    alive = renderer()
    if alive is not None:
        alive.close()


def choose_backend() -> None:
    """Choose EGL on a Linux machine without a screen, unless MUJOCO_GL already says otherwise.

    MuJoCo reads MUJOCO_GL when it is imported, which was before anybody thought of rendering, so
    that its choice of the context's class is put right here as well.
    """
    if _has_screen() or os.environ.get("MUJOCO_GL"):
        return
    os.environ["MUJOCO_GL"] = "egl"
    from mujoco import egl
    from mujoco.rendering.classic import gl_context

    gl_context.GLContext = egl.GLContext


def _has_screen() -> bool:
    if sys.platform != "linux":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
