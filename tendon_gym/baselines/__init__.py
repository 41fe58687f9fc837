"""Policies to compare with: classical controllers, and what was learned."""

from tendon_gym.baselines.geometric import Geometric, geometric_full, geometric_paper
from tendon_gym.baselines.policy import Policy, View, as_batch
from tendon_gym.baselines.registry import BASELINES, Baseline, get
from tendon_gym.baselines.simple import Random, Zero
from tendon_gym.baselines.tip_control import TipControl, TipGains

__all__ = [
    "BASELINES",
    "Baseline",
    "Geometric",
    "Policy",
    "Random",
    "TipControl",
    "TipGains",
    "View",
    "Zero",
    "as_batch",
    "geometric_full",
    "geometric_paper",
    "get",
]
