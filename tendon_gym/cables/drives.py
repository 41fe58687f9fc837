"""What gives a cable its tension: a constant pull, its own stretch, or a winch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tendon_gym import checks

DRIVE = np.dtype(
    [
        ("elastic", "i8"),  # whether stretch makes the tension
        ("tension", "f8"),  # N, of a cable that is not
        ("stiffness", "f8"),  # N/m
        ("damping", "f8"),  # N s/m
        ("rest_length", "f8"),  # to begin with, m
        ("target", "f8"),  # of the rest length, m
        ("speed", "f8"),  # most, of the rest length, m/s; 0 without a winch
        ("grip_stiffness", "f8"),  # of an obstacle's hold on the cable, N/m
    ]
)
"""The drive of a cable, for kernels."""

LARGEST = 1e6
"""Largest tension (N), stiffness (N/m), damping (N s/m) and length (m) of a drive."""


@dataclass(frozen=True)
class ConstantTension:
    """A cable that is drawn in at its origin with `tension` N, whatever its length is."""

    tension: float

    def __post_init__(self) -> None:
        """Reject a tension that would push."""
        checks.number("tension", self.tension, minimum=0.0, maximum=LARGEST)

    def write(self, record: Any) -> None:
        """Write the DRIVE."""
        record["elastic"], record["tension"] = 0, self.tension


@dataclass(frozen=True)
class Elastic:
    """A cable that pulls when it is longer than its rest length, and is slack else.

    Stretched by s it has the tension max(0, stiffness s + damping ds/dt).

    Attributes:
        rest_length: m.
        stiffness: N/m.
        damping: N s/m.
    """

    rest_length: float
    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        """Reject what is not positive, a damping of zero excepted."""
        checks.number("rest_length", self.rest_length, minimum=0.0, maximum=LARGEST)
        checks.number("stiffness", self.stiffness, above=0.0, maximum=LARGEST)
        checks.number("damping", self.damping, minimum=0.0, maximum=LARGEST)

    def write(self, record: Any) -> None:
        """Write the DRIVE."""
        record["elastic"], record["stiffness"], record["damping"] = 1, self.stiffness, self.damping
        record["rest_length"] = record["target"] = self.rest_length


@dataclass(frozen=True)
class Winch(Elastic):
    """An elastic cable whose rest length a winch at the origin takes to a target.

    Attributes:
        speed: most, of the rest length, m/s.
        target: of the rest length, m; None: the rest length that it begins with.
    """

    speed: float = 1.0
    target: float | None = None

    def __post_init__(self) -> None:
        """Reject a winch that can't move, and targets that are no lengths."""
        super().__post_init__()
        checks.number("speed", self.speed, above=0.0, maximum=LARGEST)
        if self.target is not None:
            checks.number("target", self.target, minimum=0.0, maximum=LARGEST)

    def write(self, record: Any) -> None:
        """Write the DRIVE."""
        super().write(record)
        record["speed"] = self.speed
        if self.target is not None:
            record["target"] = self.target


Drive = ConstantTension | Elastic
