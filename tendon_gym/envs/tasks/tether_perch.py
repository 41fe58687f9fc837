"""TetherPerch: wind a weighted tether around a branch, and hang from it with the rotors idle."""

from __future__ import annotations

import math

import numpy as np

from tendon_gym.cables import Winch
from tendon_gym.envs.rig import Rig, Scene
from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.task import Limits, Task
from tendon_gym.envs.vector import TendonVectorEnv
from tendon_gym.forces.cable import Cable, Obstacle, Station
from tendon_gym.model import Load
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

BOB = Load(mass=0.15, radius=0.03)
LENGTH, STIFFNESS = 1.6, 400.0
"""Of the tether: m, N/m."""
TOP = 0.03
"""Height of the tether's end above the base's origin, m."""
HOVER = 3.4
"""Height of the reference, m."""
FRICTION = 0.35


def draw_scene(rng: np.random.Generator) -> Scene:
    """Draw a branch ahead of the vehicle and below it; see `TetherPerchEnv`."""
    u = rng.random(4)
    radius, heading = 0.04 + 0.03 * u[0], 0.3 * (2.0 * u[1] - 1.0)
    place = (0.8 + 0.2 * u[2], 0.0, 2.3 + 0.2 * u[3])
    # the quarter turn that takes z to y, then the heading
    c, s = math.cos(0.5 * heading), math.sin(0.5 * heading)
    half = math.sqrt(0.5)
    axis = (half * c, -half * c, -half * s, half * s)
    branch = Obstacle("cylinder", (radius,), position=place, quaternion=axis)
    return Scene(branch, load=(0.0, 0.0, TOP - LENGTH), goal=place)


RIG = Rig(
    load=BOB,
    cable=Cable(
        origin=Station("base", (0.0, 0.0, TOP)),
        termination=Station("load"),
        drive=Winch(rest_length=LENGTH, stiffness=STIFFNESS, damping=4.0, speed=0.3),
        path=(
            Obstacle("cylinder", (0.05,), position=(0.9, 0.0, 2.4), quaternion=(1.0, -1.0, 0, 0),
                     friction=FRICTION),
        ),
    ),
    slack=-BOB.mass * 9.81 / STIFFNESS,
    hanging=True,
    draw=draw_scene,
    turns=1.5,
)  # fmt: skip

TASK = Task(
    entry=ENTRIES["TetherPerch"],
    reference={"name": "hover", "position": (0.0, 0.0, HOVER)},
    observation=(
        "velocity",
        "rotation",
        "angular_velocity",
        "yaw_error",
        "joint_angles",
        "joint_velocities",
        "tip",
        "tip_velocity",
        "tendon_lengths",
        "thrusts",
        "tensions",
        "load",
        "load_velocity",
        "cable_length",
        "rest_length",
        "cable_tension",
        "turns",
        "obstacle",
        "obstacle_axis",
        "obstacle_size",
    ),
    reward={
        "turns": RewardTerm(0.5, margin=0.5),
        "velocity": RewardTerm(0.1, margin=0.5),
        "thrust": RewardTerm(0.4, margin=3.0),
    },
    success={"missing_turns": 0.1, "velocity": 0.15, "thrust": 0.5},
    limits=Limits(distance=4.0),
    rig=RIG,
)


class TetherPerchEnv(TendonEnv):
    """Wind a weighted tether around a branch, and hang from it with the rotors idle."""

    task = TASK


class TetherPerchVectorEnv(TendonVectorEnv):
    """`TetherPerchEnv`, many at a time."""

    task = TASK
