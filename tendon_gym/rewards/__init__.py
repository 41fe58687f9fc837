"""Rewards: named terms in [0, 1], weighted and added up."""

from tendon_gym.rewards.terms import Term, get, names, register
from tendon_gym.rewards.tolerance import tolerance
from tendon_gym.rewards.total import Reward, Rewards, RewardTerm, override

__all__ = [
    "Reward",
    "RewardTerm",
    "Rewards",
    "Term",
    "get",
    "names",
    "override",
    "register",
    "tolerance",
]
