"""Policies to compare with: classical controllers, and what was learned."""

from tendon_gym.baselines.geometric import Geometric, geometric_full, geometric_paper
from tendon_gym.baselines.policy import Policy, View, as_batch
from tendon_gym.baselines.registry import BASELINES, Baseline, get
from tendon_gym.baselines.simple import Random, Zero

__all__ = [
    "BASELINES",
    "Baseline",
    "Geometric",
    "Policy",
    "Random",
    "View",
    "Zero",
    "as_batch",
    "geometric_full",
    "geometric_paper",
    "get",
]
