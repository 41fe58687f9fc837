"""Bend: hold the hover while the arm does what is asked."""

from __future__ import annotations

from tendon_gym.envs.scalar import SoftArmEnv
from tendon_gym.envs.task import Task
from tendon_gym.envs.vector import SoftArmVectorEnv
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

TASK = Task(
    entry=ENTRIES["Bend"],
    reference="goal",
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
        "reference_bend",
    ),
    reward={
        "position": RewardTerm(0.3, margin=0.1),
        "yaw": RewardTerm(0.1, margin=0.3),
        "bending_moment": RewardTerm(0.3, margin=0.2),
        "tip": RewardTerm(0.3, margin=0.05),
    },
    success={"position_error": 0.05, "tip_error": 0.03},
)


class BendEnv(SoftArmEnv):
    """DOC."""

    task = TASK


class BendVectorEnv(SoftArmVectorEnv):
    """`BendEnv`, many at a time."""

    task = TASK
