"""The whole state of an environment, to go back to: what `get_state` returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks

FIELD = "model."
"""What the names of model fields begin with among the arrays of a state."""


@dataclass(frozen=True, eq=False)
class EnvState:
    """A moment of an environment, whole: what follows from it is the same, bit for bit.

    It can be pickled and copied, and put into any environment that was made alike, in this process
    or in another one on the same machine with the same versions.

    Attributes:
        maker: what the environment is: its task, its settings and its number of simulations.
        arrays: (n, ...) each, by name: the physics with its warm start, the model fields that
            simulations have had for their own, the controllers, the references, the counts of the
            episode, and the memory of the force terms.
        episodes: of each simulation, where its random numbers come from.
    """

    maker: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    episodes: tuple[Mapping[str, Any], ...]


def maker_of(config: Any, **others: Any) -> dict[str, Any]:
    """Return what an environment is, as a dict; the number of threads makes no difference."""
    fields = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    del fields["threads"]
    return {**others, **fields}


def check_maker(mine: Mapping[str, Any], state: Any) -> None:
    """Raise if a state doesn't belong to an environment that is made like this one."""
    if not isinstance(state, EnvState):
        raise TypeError(f"state must be what get_state returned, got {checks.shown(state)}")
    for name, value in mine.items():
        other = state.maker.get(name)
        if other != value:
            raise ValueError(
                f"state is of another environment: its {name} is {checks.shown(other)}, here it "
                f"is {checks.shown(value)}"
            )


def check_arrays(mine: Mapping[str, NDArray[Any]], given: Mapping[str, NDArray[Any]]) -> None:
    """Raise if the arrays of a state don't fit those that they are to be written to.

    Raises:
        ValueError: one is missing, has another shape, or is an engine's and not finite.
    """
    for name, array in mine.items():
        if name not in given:
            raise ValueError(f"state has no array {name!r}")
        other = np.asarray(given[name])
        if other.shape != array.shape or other.dtype != array.dtype:
            legal = f"an array of shape {array.shape} and type {array.dtype}"
            raise ValueError(f"state's {name} must be {legal}, got {checks.described(other)}")
    if "engine" in mine and not np.isfinite(given["engine"]).all():
        raise ValueError("state's engine must be finite")


def copied(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return copies of arrays."""
    return {name: np.array(array) for name, array in arrays.items()}
