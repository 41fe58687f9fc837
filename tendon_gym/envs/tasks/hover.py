"""Hover: hold a point and a heading while the arm swings."""

from __future__ import annotations

from tendon_gym.envs.scalar import SoftArmEnv
from tendon_gym.envs.task import Task
from tendon_gym.envs.vector import SoftArmVectorEnv
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

TASK = Task(
    entry=ENTRIES["Hover"],
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
    ),
    reward={
        "position": RewardTerm(0.5, margin=0.2),
        "yaw": RewardTerm(0.1, margin=0.3),
        "velocity": RewardTerm(0.1, margin=1.0),
        "tip": RewardTerm(0.2, margin=0.2),
        "effort": RewardTerm(0.1, margin=4.0),
    },
    success={"position_error": 0.05, "tip_error": 0.05},
)


class HoverEnv(SoftArmEnv):
    """DOC."""

    task = TASK


class HoverVectorEnv(SoftArmVectorEnv):
    """`HoverEnv`, many at a time."""

    task = TASK
