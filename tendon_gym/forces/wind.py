"""Wind: air that moves evenly past the whole vehicle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tendon_gym import checks, config
from tendon_gym.forces import bounds
from tendon_gym.forces.built_in import WIND, BuiltIn
from tendon_gym.forces.term import register


@dataclass(frozen=True)
class Wind:
    """Air with a constant velocity (m/s, in world axes) while start <= t < start + duration (s).

    Every body's drag is that of its motion through the air. Without a duration it blows for good.
    """

    velocity: tuple[float, float, float]
    start: float = 0.0
    duration: float | None = None

    def __post_init__(self) -> None:
        """Reject values that are not finite, and storms beyond 100 m/s."""
        velocity = checks.array("velocity", self.velocity, (3,))
        checks.number("length of velocity", math.hypot(*velocity), maximum=bounds.FASTEST)
        bounds.check_span(self.start, self.duration)

    def row(self) -> np.ndarray:
        """Return the parameters of the kernel."""
        duration = math.inf if self.duration is None else self.duration
        return np.array([self.start, self.start + duration, *self.velocity])


class WindTerm(BuiltIn):
    """The force term of a `Wind`; `set` changes it per simulation at any time."""

    def __init__(self, n: int, wind: Wind) -> None:
        """Let the same wind blow in all n simulations."""
        super().__init__(WIND, wind.row(), n)

    def set(self, i: int, wind: Wind) -> None:
        """Give simulation `i` another wind until its next reset."""
        self.put(i, wind.row())


def _make(model: mujoco.MjModel, n: int, values: Mapping[str, Any]) -> WindTerm:
    return WindTerm(n, config.from_dict(Wind, values, "forces.wind"))


register("wind", _make)
