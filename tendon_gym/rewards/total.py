"""The reward: named terms times weights, added up, every part of it kept for the info."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks, config
from tendon_gym.compiled import inlined
from tendon_gym.rewards import terms
from tendon_gym.rewards.terms import evaluate_one


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
        raise TypeError(f"reward must be a dict of terms, got {checks.described(values)}")
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


class Weighing(NamedTuple):
    """What `weigh_one` works on.

    Attributes:
        codes: (t,), of the built-in terms.
        margins: (t,), of the built-in terms.
        weights: (terms,), of the built-in terms and then the user's own.
        parts: (n, terms), weight times term, written; the user's own terms come in unweighted.
        total: (n,), their sum, written.
    """

    codes: NDArray[np.int64]
    margins: NDArray[np.float64]
    weights: NDArray[np.float64]
    parts: NDArray[np.float64]
    total: NDArray[np.float64]


class Reward:
    """The terms of n simulations.

    Attributes:
        names: the terms, in the order of the columns of `parts`.
        parts: (n, terms), weight times term at the last step; they add up to the reward.
        total: (n,), the reward at the last step.
        weighing: what `weigh_one` works on.
        has_own: whether there are terms of the user's, to be evaluated before `weigh_one`.
    """

    def __init__(self, rewards: Rewards, n: int) -> None:
        """Resolve the terms by name; the built-in ones come first."""
        found = {name: terms.get(name) for name in rewards}
        built_in = [name for name, term in found.items() if isinstance(term, terms.BuiltIn)]
        own = [name for name in found if name not in built_in]
        self.names = (*built_in, *own)
        self.parts = np.zeros((n, len(self.names)))
        self.total = np.zeros(n)
        self.weighing = Weighing(
            np.array([terms.BUILT_IN[name] for name in built_in], np.int64),
            np.array([rewards[name].margin for name in built_in]),
            np.array([rewards[name].weight for name in self.names]),
            self.parts,
            self.total,
        )
        self.has_own = bool(own)
        self._own = [
            (name, found[name], rewards[name].margin, self.parts[:, column])
            for column, name in enumerate(own, start=len(built_in))
        ]

    def evaluate_own(self, signals: NDArray) -> None:
        """Write the user's own terms of the signals (n,) to their columns of `parts`.

        Raises:
            ValueError: a term gave something else than n finite numbers.
        """
        for name, term, margin, column in self._own:
            values = np.asarray(term(signals, margin))
            numbers = values.dtype.kind in "iuf" and values.shape == column.shape
            if not numbers or not np.isfinite(values).all():
                legal = f"an array of {len(column)} finite numbers"
                checks.reject(f"the value of reward term {checks.shown(name)}", values, legal)
            column[...] = values

    def __call__(self, signals: NDArray) -> NDArray:
        """Return the rewards (n,) of the signals (n,): the array `total`."""
        self.evaluate_own(signals)
        for i in range(len(signals)):
            weigh_one(i, signals, self.weighing)
        return self.total


@inlined
def weigh_one(i: int, signals: NDArray, weighing: Any) -> None:
    """Evaluate the built-in terms of simulation i, weigh all of them, and add them up."""
    parts, weights = weighing.parts[i], weighing.weights
    evaluate_one(i, weighing.codes, weighing.margins, signals, parts)
    total = 0.0
    for k in range(weights.shape[0]):
        parts[k] *= weights[k]
        total += parts[k]
    weighing.total[i] = total
