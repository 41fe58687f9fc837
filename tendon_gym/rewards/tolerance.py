"""How near is near enough: the one shape of all reward terms."""

from __future__ import annotations

import math

from tendon_gym.compiled import inlined


@inlined
def tolerance(error: float, margin: float) -> float:
    """Return exp(-|error| / margin): 1 without an error, 1/e at `margin`, in (0, 1].

    The slope never vanishes on the way to zero, so that a policy gains from every millimetre.
    """
    return math.exp(-abs(error) / margin)
