"""ArmBend: bend the arm of a base that is held, with the tendons alone."""

from __future__ import annotations

from tendon_gym.envs.scalar import SoftArmEnv
from tendon_gym.envs.task import Task
from tendon_gym.envs.vector import SoftArmVectorEnv
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

TASK = Task(
    entry=ENTRIES["ArmBend"],
    reference="goal",
    clamped=True,
    observation=(
        "joint_angles",
        "joint_velocities",
        "tip",
        "tip_velocity",
        "tendon_lengths",
        "tensions",
        "reference_bend",
    ),
    reward={
        "bending_moment": RewardTerm(0.3, margin=0.2),
        "tip": RewardTerm(0.7, margin=0.05),
    },
    success={"tip_error": 0.03},
)


class ArmBendEnv(SoftArmEnv):
    """DOC."""

    task = TASK


class ArmBendVectorEnv(SoftArmVectorEnv):
    """`ArmBendEnv`, many at a time."""

    task = TASK
