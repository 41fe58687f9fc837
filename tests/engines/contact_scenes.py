"""Flights that touch the ground, the frame or an obstacle, as data for the tests of contacts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from tendon_gym.model import Layout, ModelParameters, build_spec

HOVER = 3.09
"""Thrust of a rotor that about carries the vehicle, N."""


@dataclass(frozen=True)
class Scene:
    """A model, one start, and controls by step.

    Attributes:
        meets: parts of the names of what meets.
        free_from: the step from which on nothing is near anything; None if it ends in contact.
    """

    model: mujoco.MjModel
    qpos: np.ndarray
    qvel: np.ndarray
    controls: Callable[[int], np.ndarray]
    steps: int
    meets: tuple[str, str]
    free_from: int | None


def vehicle(edit: Callable[[mujoco.MjSpec], None] | None = None, **settings) -> mujoco.MjModel:
    spec = build_spec(ModelParameters(**{"height": 3.0, **settings}))
    if edit is not None:
        edit(spec)
    return spec.compile()


def held(rotors: float, model: mujoco.MjModel) -> np.ndarray:
    return np.where(np.arange(model.nu) < model.nu - 3, rotors, 0.0)


def to_the_ground(comes_back: bool) -> Scene:
    """Fall tilted and moving; then, perhaps, take off again."""
    model = vehicle()
    qpos, qvel = model.qpos0.copy(), np.zeros(model.nv)
    qpos[2:7] = 0.8, 0.99, 0.05, 0.08, 0.0
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    qvel[0], qvel[4] = 0.3, 0.5

    def controls(k: int) -> np.ndarray:
        return held(6.0 if comes_back and k >= 170 else 0.0, model)

    return Scene(model, qpos, qvel, controls, 600, ("floor", ""), 450 if comes_back else None)


def touch(height: float, speed: float, steps: int, free_from: int | None) -> Scene:
    """Come down upright, the tip first."""
    model = vehicle()
    qpos, qvel = model.qpos0.copy(), np.zeros(model.nv)
    qpos[2], qvel[2] = height, -speed
    return Scene(model, qpos, qvel, lambda k: held(4.5, model), steps, ("floor", "tip"), free_from)


def fold(bend: float, rate: float, base: str, meets: str, free_from: int | None) -> Scene:
    """Swing the arm up towards the rotor that lies over (+, -)."""
    model = vehicle(base=base)
    layout = Layout.of(model)
    qpos, qvel = model.qpos0.copy(), np.zeros(model.nv)
    share = np.tile([1.0, -1.0], len(layout.link_bodies)) / np.sqrt(2.0) / len(layout.link_bodies)
    qpos[layout.joint_qpos], qvel[layout.joint_dofs] = bend * share, rate * share
    return Scene(model, qpos, qvel, lambda k: held(HOVER, model), 300, (meets, ""), free_from)


def _wall(spec: mujoco.MjSpec) -> None:
    wall = spec.worldbody.add_geom(name="wall", type=mujoco.mjtGeom.mjGEOM_BOX)
    wall.size, wall.pos = [0.05, 0.2, 0.4], [0.6, 0.0, 2.8]


def _ball(spec: mujoco.MjSpec) -> None:
    ball = spec.worldbody.add_geom(name="ball", type=mujoco.mjtGeom.mjGEOM_SPHERE)
    ball.size, ball.pos = [0.1, 0, 0], [0.45, 0.0, 2.52]


def _pillar(spec: mujoco.MjSpec) -> None:
    """Turned, on a body of its own that does not move, and with a margin of its own."""
    body = spec.worldbody.add_body(name="post", pos=[0.5, 0.4, 2.7], quat=[0.9, 0.3, 0.2, 0.1])
    pillar = body.add_geom(name="pillar", type=mujoco.mjtGeom.mjGEOM_CYLINDER)
    pillar.size, pillar.margin = [0.05, 0.5, 0], 0.1


def obstacle(name: str, edit: Callable[[mujoco.MjSpec], None]) -> Scene:
    model = vehicle(edit)
    qpos, qvel = model.qpos0.copy(), np.zeros(model.nv)
    qvel[0] = 2.0
    return Scene(model, qpos, qvel, lambda k: held(HOVER, model), 700, (name, ""), 650)


def _soft_floor(spec: mujoco.MjSpec) -> None:
    """A floor whose forces begin 20 cm above it."""
    spec.geom("floor").margin = 0.2


def soft_landing() -> Scene:
    scene = touch(0.75, 1.0, 500, 450)
    return dataclasses.replace(scene, model=vehicle(_soft_floor), meets=("floor", ""))


SCENES: dict[str, Callable[[], Scene]] = {
    "crash": lambda: to_the_ground(False),
    "crash and take-off": lambda: to_the_ground(True),
    "touch": lambda: touch(0.6, 1.0, 400, 300),
    "fast crash": lambda: touch(2.0, 10.0, 100, None),
    "tip on the hub, back": lambda: fold(3.5, 10.0, "free", "hub", 200),
    "arm on a boom": lambda: fold(3.0, 20.0, "free", "boom_4", None),
    "first links on the hub, back": lambda: fold(2.5, 30.0, "free", "hub", 255),
    "clamped, tip on the hub, back": lambda: fold(4.0, 10.0, "clamped", "hub", 220),
    "clamped, arm on a boom": lambda: fold(3.0, 20.0, "clamped", "boom_4", None),
    "wall": lambda: obstacle("wall", _wall),
    "ball": lambda: obstacle("ball", _ball),
    "pillar": lambda: obstacle("pillar", _pillar),
    "soft floor": soft_landing,
}
