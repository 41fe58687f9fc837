"""Hoist: lift a load on a cable that runs over a beam, and place it."""

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

LOAD = Load(mass=0.3, radius=0.06)
HOVER = 1.6
"""Height of the reference, m, over the world's origin."""
FRICTION = 0.1


def draw_scene(rng: np.random.Generator) -> Scene:
    """Draw a beam, where the load lies on the floor, and where it is to go; see `HoistEnv`."""
    kind = ("cylinder", "ellipsoid", "torus")[rng.integers(3)]
    u = rng.random(9)
    away, height = 1.0 + 0.3 * u[0], 1.3 + 0.2 * u[1]  # of the beam's middle and of its top
    yaw, middle = 0.15 * (2.0 * u[2] - 1.0), 0.1 * (2.0 * u[3] - 1.0)
    thick, wide = 0.05 + 0.05 * u[4], u[5]
    across, along = (
        np.array([math.cos(yaw), math.sin(yaw)]),
        np.array([-math.sin(yaw), math.cos(yaw)]),
    )
    centre = away * np.array([1.0, 0.0]) + middle * along
    if kind == "torus":
        ring = 0.4 + 0.2 * wide
        size, z = (ring, thick), height - thick + ring
        axes = np.array([[0, 0, -1], [*along, 0], [*across, 0]])
        width = -math.sqrt(thick * (ring - thick))
    else:
        size, z = (
            ((thick,), height - thick)
            if kind == "cylinder"
            else ((thick, thick, 0.8 + 0.4 * wide), height - thick)
        )
        axes = np.array([[0, 0, 1], [*across, 0], [*along, 0]])
        width = math.inf if kind == "cylinder" else size[2]
    distance = float(across @ centre)
    vehicle = -float(along @ centre) + 0.3 * (2.0 * u[6] - 1.0)
    arc, line = thick * (0.5 * math.pi - math.atan((HOVER - height) / distance)), distance
    if width > 0:
        gain = 1.0 / (math.cos(arc / width) - line / width * math.sin(arc / width))
    else:
        gain = 1.0 / (math.cosh(arc / width) + line / -width * math.sinh(-arc / width))
    below = centre + thick * across
    goal = below + gain * vehicle * along
    start = (
        below
        - gain * float(along @ centre) * along
        + 0.05 * (2.0 * u[7] - 1.0) * along
        + 0.02 * (2.0 * u[8] - 1.0) * across
    )
    quaternion = np.empty(4)
    import mujoco

    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(axes.T, float).ravel())
    obstacle = Obstacle(kind, size, position=(*centre, z), quaternion=tuple(quaternion))
    return Scene(obstacle, (*start, LOAD.radius), (*goal, 0.3 + 0.5 * rng.random()))


RIG = Rig(
    load=LOAD,
    cable=Cable(
        origin=Station("base"),
        termination=Station("load"),
        drive=Winch(rest_length=3.0, stiffness=200.0, damping=4.0, speed=0.5),
        path=(
            Obstacle(
                "cylinder", (0.1,), position=(1.0, 0.0, 1.4), quaternion=(0.5, 0.5, 0.5, 0.5),
                hint=(0.3, 0.0, 0.0), friction=FRICTION,
            ),
        ),
    ),
    slack=0.02,
    hanging=False,
    draw=draw_scene,
)  # fmt: skip

TASK = Task(
    entry=ENTRIES["Hoist"],
    reference="hover",
    observation=(
        "position_error",
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
        "load_error",
        "cable_pull",
        "cable_length",
        "rest_length",
        "obstacle",
        "obstacle_axis",
        "obstacle_size",
        "obstacle_kind",
    ),
    reward={
        "position": RewardTerm(0.15, margin=0.5),
        "velocity": RewardTerm(0.1, margin=1.0),
        "yaw": RewardTerm(0.1, margin=0.3),
        "load": RewardTerm(0.5, margin=0.2),
        "load_velocity": RewardTerm(0.15, margin=0.3),
    },
    success={"load_error": 0.05, "load_velocity": 0.1},
    limits=Limits(load_speed=1.5),
    rig=RIG,
)


class HoistEnv(TendonEnv):
    """Lift a load on a cable that runs over a beam, and place it."""

    task = TASK


class HoistVectorEnv(TendonVectorEnv):
    """`HoistEnv`, many at a time."""

    task = TASK
