"""Track: follow a moving reference in position, heading and bend."""

from __future__ import annotations

from tendon_gym.envs.scalar import SoftArmEnv
from tendon_gym.envs.task import PreviewConfig, Task
from tendon_gym.envs.vector import SoftArmVectorEnv
from tendon_gym.registration import ENTRIES
from tendon_gym.rewards import RewardTerm

TASK = Task(
    entry=ENTRIES["Track"],
    reference="steady_figure_eight",
    observation=(
        "position_error",
        "velocity",
        "velocity_error",
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
        "reference_acceleration",
        "reference_jerk",
        "reference_snap",
        "reference_yaw_rate",
        "reference_yaw_acceleration",
        "reference_bend",
        "preview_position",
        "preview_velocity",
        "preview_acceleration",
        "preview_bend",
    ),
    preview=PreviewConfig(seconds=0.5, points=5),
    reward={
        "position": RewardTerm(0.7, margin=0.05),
        "yaw": RewardTerm(0.1, margin=0.2),
        "bending_moment": RewardTerm(0.2, margin=0.2),
    },
    success={"position_error": 0.05, "bend_error": 0.1},
)


class TrackEnv(SoftArmEnv):
    """DOC."""

    task = TASK


class TrackVectorEnv(SoftArmVectorEnv):
    """`TrackEnv`, many at a time."""

    task = TASK
