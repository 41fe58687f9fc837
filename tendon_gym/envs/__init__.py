"""Environments: one core, a scalar and a vector face, and the tasks."""

from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.state import EnvState
from tendon_gym.envs.vector import TendonVectorEnv

__all__ = ["EnvState", "TendonEnv", "TendonVectorEnv"]
