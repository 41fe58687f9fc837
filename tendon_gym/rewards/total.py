"""The reward: named terms times weights, added up, every part of it kept for the info."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks, config
from tendon_gym.compiled import compiled
from tendon_gym.rewards import terms


@dataclass(frozen=True)
class RewardTerm:
    """Weight of a term, and the error at which the term has fallen to 1/e (see the term)."""

    weight: float
    margin: float = 1.0

    def __post_init__(self) -> None:
        """Reject what is not finite, and margins that are not positive."""
        checks.number("weight", self.weight)
        checks.number("margin", self.margin, above=0.0)


Rewards = Mapping[str, RewardTerm]


def override(defaults: Rewards, values: Mapping[str, Any]) -> dict[str, RewardTerm]:
    """Lay plain values over a task's terms.

    Args:
        defaults: the task's own.
        values: {name: weight} or {name: {"weight": w, "margin": m}}; a weight of 0 drops the term,
            a new name adds one.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"reward must be a dict of terms, got {values!r}")
    result = dict(defaults)
    for name, value in values.items():
        where = f"reward.{name}"
        terms.get(name)
        plain = value if isinstance(value, Mapping) else {"weight": value}
        if name in result:
            result[name] = config.override(result[name], plain, where)
        else:
            result[name] = config.from_dict(RewardTerm, plain, where)
    kept = {name: term for name, term in result.items() if term.weight != 0.0}
    if not kept:
        raise ValueError("reward must keep at least one term with a weight other than 0")
    return kept


class Reward:
    """Evaluates the terms of n simulations.

    Attributes:
        names: the terms, in the order of the columns of `parts`.
        parts: (n, terms), weight times term at the last call; they add up to the reward.
    """

    def __init__(self, rewards: Rewards, n: int) -> None:
        """Resolve the terms by name."""
        self.names = tuple(rewards)
        self.parts = np.zeros((n, len(rewards)))
        self._weights = np.array([term.weight for term in rewards.values()])
        self._terms = [
            (self.parts[:, column], terms.get(name), rewards[name].margin)
            for column, name in enumerate(rewards)
        ]

    def __call__(self, signals: NDArray) -> NDArray:
        """Return the rewards (n,) of the signals (n,)."""
        for part, term, margin in self._terms:
            part[...] = term(signals, margin)
        total = np.empty(len(self.parts))
        _weigh(self._weights, self.parts, total)
        return total


@compiled
def _weigh(weights: NDArray, parts: NDArray, total: NDArray) -> None:
    for i in range(total.shape[0]):
        total[i] = 0.0
        for k in range(weights.shape[0]):
            parts[i, k] *= weights[k]
            total[i] += parts[i, k]
