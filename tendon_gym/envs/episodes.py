"""Where the random numbers of an episode come from: a seed and the episode's number, nothing else.

Episode k of a simulation has a generator of its own, so that it is the same however long the
episodes before it were, whatever options they had, and whoever else drew from the seed's generator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from tendon_gym import checks
from tendon_gym.noise import KEYS

# Keeps the episodes apart from what a user may `spawn` from the same generator.
_BRANCH = 0x7E4D04
# Keeps an episode's key apart from its generator.
_KEY = 1


class Episodes:
    """The episodes of one simulation since it was seeded.

    Attributes:
        source: the generator that was seeded; it is never drawn from.
        count: number of episodes so far.
    """

    def __init__(self, source: np.random.Generator, count: int = 0) -> None:
        """Begin with the first episode, or go on with another."""
        self.source, self.count = source, count

    @classmethod
    def seeded(cls, seed: int | None) -> Episodes:
        """Return the episodes of a seed; None stands for a random one."""
        return cls(seeding.np_random(seed)[0])

    def next(self) -> np.random.Generator:
        """Return the next episode's generator; count it when it has begun."""
        return np.random.Generator(np.random.PCG64(self._sequence()))

    def key(self) -> int:
        """Return the key of the next episode's noise, 0 to KEYS - 1; see `noise`."""
        return int(self._sequence(_KEY).generate_state(1, np.uint64)[0]) % KEYS

    def _sequence(self, *branch: int) -> np.random.SeedSequence:
        """Return where the next episode's numbers come from."""
        root: Any = self.source.bit_generator.seed_seq
        spawn_key = (*root.spawn_key, _BRANCH, self.count, *branch)
        return np.random.SeedSequence(root.entropy, spawn_key=spawn_key)

    def state(self) -> dict[str, Any]:
        """Return what `restored` needs, as plain values."""
        root: Any = self.source.bit_generator.seed_seq
        return {
            "entropy": root.entropy,
            "spawn_key": list(root.spawn_key),
            "source": dict(self.source.bit_generator.state),
            "count": self.count,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Episodes:
        """Return episodes that go on where `state` was taken.

        Raises:
            ValueError: it is no such state.
        """
        try:
            root = np.random.SeedSequence(state["entropy"], spawn_key=tuple(state["spawn_key"]))
            source = np.random.Generator(np.random.PCG64(root))
            source.bit_generator.state = state["source"]
            count = checks.integer("count", state["count"], minimum=0)
        except (KeyError, TypeError, ValueError) as error:
            told = checks.shown(state)
            raise ValueError(
                f"a random state must be one that random_state returned, got {told}"
            ) from error
        return cls(source, count)


def check_seed(name: str, seed: Any) -> int | None:
    """Return a seed as a plain integer, None for none; True is 1, as it is to Gymnasium."""
    if seed is None:
        return None
    plain = int(seed) if isinstance(seed, (bool, np.bool_)) else seed
    return checks.integer(name, plain, minimum=0)


def check_seeds(seed: Any, n: int) -> list[int | None]:
    """Return one seed for each of n simulations: s + i from one seed s, or those of a sequence."""
    if seed is None:
        return [None] * n
    if isinstance(seed, (str, bytes, Mapping)) or not np.iterable(seed):
        first = check_seed("seed", seed)
        assert first is not None
        return [first + i for i in range(n)]
    seeds = list(seed)
    if len(seeds) != n:
        raise ValueError(f"seed must be a list of {n} seeds, got {len(seeds)}")
    return [check_seed(f"seed[{i}]", each) for i, each in enumerate(seeds)]
