"""Pickles and deep copies of environments, which are built again: physics cannot be copied."""

from __future__ import annotations

import copy
from typing import Any


class Rebuilt:
    """Is pickled and copied by its class and the arguments that it was made with.

    A copy is a new environment at the start: it has neither the simulation's state nor the random
    generators of the original, so reset it with a seed, or `set_state` the state of the original.
    """

    spec: Any
    _arguments: dict[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to build it again."""
        return _build, (type(self), copy.deepcopy(self._arguments), self.spec)


def _build(kind: type, arguments: dict[str, Any], spec: Any) -> Any:
    env = kind(**arguments)
    env.spec = spec
    return env
