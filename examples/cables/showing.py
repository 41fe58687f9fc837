"""What all examples do: take measurements, print them, and take a picture of the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import imageio.v3 as imageio
import mujoco
import numpy as np
import tyro

from tendon_gym.cables import CableSpan, CableState
from tendon_gym.cables.drawing import draw
from tendon_gym.envs.rendering import offscreen_renderer


@dataclass(frozen=True)
class Options:
    """Of every example.

    Attributes:
        picture: PNG or JPEG file for a picture of its end.
    """

    picture: Path | None = None


@dataclass(frozen=True)
class Scene:
    """What an example ends with: a model, its state, a cable, and what was measured."""

    model: mujoco.MjModel
    data: mujoco.MjData
    cable: CableSpan
    paths: CableState
    numbers: dict[str, float]


def show(title: str, run: Callable[[], Scene], arguments: Sequence[str] | None) -> dict[str, float]:
    """Do what the command line asks for; print and return what was measured."""
    options = tyro.cli(Options, description=title, args=arguments)
    scene = run()
    for what, value in scene.numbers.items():
        print(f"{what}: {value:.6g}")
    if options.picture is not None:
        imageio.imwrite(options.picture, _picture(scene))
        print(f"wrote {options.picture}")
    return scene.numbers


def _picture(scene: Scene) -> np.ndarray:
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(scene.model, camera)
    camera.azimuth, camera.elevation = 90.0, -10.0
    renderer = offscreen_renderer(scene.model, 360, 480)
    mujoco.mj_forward(scene.model, scene.data)
    renderer.update_scene(scene.data, camera)
    points = scene.cable.decorative_points(scene.paths)
    draw(renderer.scene, points, 0.012, (0.8, 0.3, 0.1, 1.0))
    pixels = renderer.render().copy()
    renderer.close()
    return pixels
