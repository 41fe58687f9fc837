"""Fixed scales of the observation: what counts as much, slice by slice.

A running mean and deviation measures what a run happens to see, mostly its poor beginning: errors
of decimetres then make those of millimetres invisible. A policy that is to track within millimetres
needs them magnified from the start, so each slice is divided by the size at which it matters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.running_mean_std import RunningMeanStd

from tendon_gym.envs.core import Core

SIZES = {
    "position_error": 0.02,
    "velocity": 1.0,
    "velocity_error": 0.1,
    "rotation": 0.3,
    "angular_velocity": 0.7,
    "yaw_error": 0.1,
    "joint_angles": 0.3,
    "joint_velocities": 2.0,
    "joint_twists": 0.1,
    "joint_twist_rates": 1.0,
    "joint_stretches": 1e-3,
    "joint_stretch_rates": 0.02,
    "tip": 0.15,
    "tip_velocity": 1.0,
    "tendon_lengths": 0.02,
    "thrusts": 1.0,
    "tensions": 2.0,
    "tip_goal": 0.15,
    "reference_velocity": 1.0,
    "reference_acceleration": 1.5,
    "reference_jerk": 2.0,
    "reference_snap": 4.0,
    "reference_yaw_rate": 0.5,
    "reference_yaw_acceleration": 0.5,
    "reference_bend": 0.5,
    "preview_position": 0.5,
    "preview_velocity": 1.0,
    "preview_acceleration": 1.5,
    "preview_bend": 0.5,
    "load": 0.5,
    "load_velocity": 0.3,
    "load_error": 0.2,
    "cable_pull": 2.0,
    "cable_length": 1.0,
    "rest_length": 1.0,
    "cable_tension": 2.0,
    "turns": 0.5,
    "obstacle": 0.5,
    "obstacle_axis": 0.3,
    "obstacle_size": 0.3,
    "obstacle_kind": 1.0,
}
"""By slice, in its own unit (see `envs.observations`)."""


class FixedScales(RunningMeanStd):
    """Stands in for the running statistics of an observation, and stays as it is."""

    def __init__(self, core: Core) -> None:
        """Take centres and sizes of the observations of `core`, or name a slice without a size."""
        layout = core.observer.layout
        missing = [name for name in layout if name not in SIZES]
        if missing:
            raise ValueError(
                f"the observation's {', '.join(missing)} must have a size in "
                "tendon_gym.training.scales.SIZES, or the recipe's scales be 'running'"
            )
        super().__init__(shape=core.observation_space.shape or ())
        for part in layout.values():
            columns = slice(part.start, part.stop)
            self.mean[columns] = _centre(core, part.name)
            self.var[columns] = SIZES[part.name] ** 2

    def update(self, arr: NDArray) -> None:
        """Learn nothing from observations."""


def _centre(core: Core, name: str) -> NDArray | float:
    """Return what is observed in a hover at rest, the arm hanging straight."""
    layout = core.layout
    if name == "rotation":
        return np.eye(3).ravel()
    if name in ("tip", "tip_goal"):
        return np.array([0.0, 0.0, -core.config.model.arm.tip_depth])
    if name == "tendon_lengths":
        return core.config.model.arm.length
    if name == "thrusts":
        return layout.mass * layout.gravity / len(layout.rotor_actuators)
    return 0.0
