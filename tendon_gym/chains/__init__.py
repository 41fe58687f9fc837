"""Kinematic chains of any compiled MuJoCo model."""

from tendon_gym.chains.chain import Chain
from tendon_gym.chains.segments import Pose

__all__ = ["Chain", "Pose"]
