"""Goals for the arm: a hover with a bend drawn for each episode."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.references import bounds
from tendon_gym.references.library import HOVER_HEIGHT
from tendon_gym.references.table import new_rows


@dataclass(frozen=True)
class BendGoals:
    """A hover at a fixed point with any bend, drawn so that the unit disc is filled evenly.

    Attributes:
        height: m.
        yaw: rad; the heading is drawn from [-yaw, yaw].
        ramp: s, in which the bend rises from 0.
    """

    height: float = HOVER_HEIGHT
    yaw: float = math.pi
    ramp: float = 0.5

    def __post_init__(self) -> None:
        """Reject values that are not finite."""
        bounds.coordinate("height", self.height)
        checks.number("yaw", self.yaw, minimum=0.0, maximum=math.pi)
        bounds.ramp("ramp", self.ramp)

    def sample(self, rng: np.random.Generator) -> NDArray[np.void]:
        """Return one endless row (1,) of dtype ROW, after the same number of draws each time."""
        yaw, radius, direction = rng.random(3)
        rows = new_rows(1)
        rows["end"] = math.inf
        rows["coefficients"][0, 2, 0] = self.height
        rows["coefficients"][0, 3, 0] = self.yaw * (2.0 * yaw - 1.0)
        rows["bend_magnitude"] = math.sqrt(radius)
        rows["bend_direction"] = 2.0 * math.pi * direction
        rows["bend_ramp_in"] = self.ramp
        return rows
