"""Checks that the parameters of the model share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks


def set_within(config: object, minimum: float, maximum: float, *names: str) -> None:
    """Check that the named fields are numbers in [minimum, maximum] and store them as floats."""
    for name in names:
        where = f"{type(config).__name__}.{name}"
        value = checks.number(where, getattr(config, name), minimum=minimum, maximum=maximum)
        object.__setattr__(config, name, value)


def floats(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the elements of an array (n,) as plain numbers."""
    return tuple(float(value) for value in values)
