"""The reward: named terms times weights, added up, every part of it kept for the info."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks, config
from tendon_gym.compiled import Prepared, compiled
from tendon_gym.rewards import terms
from tendon_gym.rewards.terms import evaluate


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
        total: (n,), the reward at the last call, written anew by the next one.
    """

    def __init__(self, rewards: Rewards, n: int) -> None:
        """Resolve the terms by name; the built-in ones come first and are evaluated together."""
        found = {name: terms.get(name) for name in rewards}
        built_in = [name for name, term in found.items() if isinstance(term, terms.BuiltIn)]
        own = [name for name in found if name not in built_in]
        self.names = (*built_in, *own)
        self.parts = np.zeros((n, len(self.names)))
        self.total = np.zeros(n)
        self._evaluate = Prepared(
            _total,
            np.array([terms.BUILT_IN[name] for name in built_in], np.int64),
            np.array([rewards[name].margin for name in built_in]),
            np.array([rewards[name].weight for name in self.names]),
            self.parts,
            self.total,
        )
        self._signals: NDArray | None = None
        self._own = [
            (name, found[name], rewards[name].margin, self.parts[:, column])
            for column, name in enumerate(own, start=len(built_in))
        ]

    def __call__(self, signals: NDArray) -> NDArray:
        """Return the rewards (n,) of the signals (n,): the array `total`.

        Raises:
            ValueError: a term of the user's gave something else than n finite numbers.
        """
        for name, term, margin, column in self._own:
            values = np.asarray(term(signals, margin))
            if values.shape != column.shape or not np.isfinite(values).all():
                legal = f"an array of {len(column)} finite numbers"
                checks.reject(f"the value of reward term {name!r}", values, legal)
            column[...] = values
        if signals is not self._signals:
            self._signals, self._run = signals, self._evaluate.bound(signals)
        self._run()
        return self.total


@compiled
def _total(
    signals: NDArray,
    codes: NDArray,
    margins: NDArray,
    weights: NDArray,
    parts: NDArray,
    total: NDArray,
) -> None:
    """Evaluate the built-in terms, weigh all of them, and add them up."""
    evaluate(codes, margins, signals, parts)
    for i in range(total.shape[0]):
        total[i] = 0.0
        for k in range(weights.shape[0]):
            parts[i, k] *= weights[k]
            total[i] += parts[i, k]
