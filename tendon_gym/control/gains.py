"""What a flight controller knows: its gains and the vehicle it believes to fly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks

Triple = tuple[float, float, float]

GAINS = np.dtype(
    [
        ("kp", np.float64, 3),
        ("kd", np.float64, 3),
        ("ki", np.float64, 3),
        ("k_rotation", np.float64, 3),
        ("k_omega", np.float64, 3),
        ("k_rate", np.float64, 3),
        ("max_slope", np.float64),
        ("integral_limit", np.float64),
    ]
)
"""One `GeometricGains` as the kernels read it; max_slope is the tangent of the largest tilt."""

VEHICLE = np.dtype([("mass", np.float64), ("inertia", np.float64, (3, 3)), ("gravity", np.float64)])
"""One `Vehicle` as the kernels read it."""


@dataclass(frozen=True)
class GeometricGains:
    """Gains of the geometric laws; the defaults are the paper's nominal ones.

    The paper: "An Open MuJoCo Simulation Framework for a Quadrotor Carrying a Tendon-Driven Soft
    Continuum Arm". The triples are per axis, x y z: of the world for the position, of the body
    for the attitude.

    Attributes:
        kp: position error to acceleration, 1/s^2.
        kd: velocity error to acceleration, 1/s.
        ki: integral of the position error to acceleration, 1/s^3.
        k_rotation: rotation error to torque, N m/rad.
        k_omega: angular velocity error to torque, N m s/rad.
        k_rate: angular velocity error to angular acceleration, 1/s, where body rates are
            commanded and nothing else.
        max_tilt: largest commanded tilt, rad, less than pi/2.
        integral_limit: largest magnitude of each component of the integral, m s.
    """

    kp: Triple = (6.0, 6.0, 10.0)
    kd: Triple = (4.0, 4.0, 6.0)
    ki: Triple = (1.0, 1.0, 2.0)
    k_rotation: Triple = (4.0, 4.0, 0.8)
    k_omega: Triple = (0.4, 0.4, 0.15)
    k_rate: Triple = (20.0, 20.0, 10.0)
    max_tilt: float = math.radians(35.0)
    integral_limit: float = 1.0

    def __post_init__(self) -> None:
        """Reject gains that are negative or not finite, and tilts outside (0, pi/2)."""
        for name in ("kp", "kd", "ki", "k_rotation", "k_omega", "k_rate"):
            checks.array(name, getattr(self, name), (3,), minimum=0.0)
        checks.number("max_tilt", self.max_tilt, above=0.0, below=math.pi / 2)
        checks.number("integral_limit", self.integral_limit, minimum=0.0)

    def record(self) -> NDArray[np.void]:
        """Return the gains as a GAINS array of length 1."""
        triples = (self.kp, self.kd, self.ki, self.k_rotation, self.k_omega, self.k_rate)
        return np.array([(*triples, math.tan(self.max_tilt), self.integral_limit)], GAINS)


@dataclass(frozen=True)
class Vehicle:
    """The vehicle that a law believes to fly.

    Attributes:
        mass: of everything the rotors lift, kg.
        inertia: (3, 3) about the base's origin in its axes, kg m^2; only the full law and the
            rate law use it.
        gravity: m/s^2, positive.
    """

    mass: float
    inertia: tuple[Triple, Triple, Triple]
    gravity: float = 9.81

    def __post_init__(self) -> None:
        """Reject a mass, an inertia or a gravity that no vehicle has."""
        checks.number("mass", self.mass, above=0.0)
        checks.number("gravity", self.gravity, minimum=0.0)
        inertia = checks.array("inertia", self.inertia, (3, 3))
        if not np.allclose(inertia, inertia.T) or np.linalg.eigvalsh(inertia)[0] <= 0.0:
            checks.reject("inertia", self.inertia, "symmetric and positive definite")

    @classmethod
    def of(cls, mass: float, inertia: ArrayLike, gravity: float) -> Vehicle:
        """Return the vehicle with an inertia given as any array (3, 3)."""
        x, y, z = checks.array("inertia", inertia, (3, 3)).tolist()
        return cls(mass, (tuple(x), tuple(y), tuple(z)), gravity)

    def record(self) -> NDArray[np.void]:
        """Return the vehicle as a VEHICLE array of length 1."""
        return np.array([(self.mass, self.inertia, self.gravity)], VEHICLE)


PAPER_GAINS = GeometricGains()
"""The paper's nominal gains."""

PAPER_ATTITUDE_SETS: Mapping[str, GeometricGains] = MappingProxyType(
    {
        "softest": replace(PAPER_GAINS, k_rotation=(0.35, 0.35, 0.2), k_omega=(0.1, 0.1, 0.05)),
        "soft": replace(PAPER_GAINS, k_rotation=(1.0, 1.0, 0.4), k_omega=(0.2, 0.2, 0.1)),
        "medium": replace(PAPER_GAINS, k_rotation=(2.0, 2.0, 0.6), k_omega=(0.3, 0.3, 0.1)),
        "nominal": PAPER_GAINS,
    }
)
"""The paper's gains with its four attitude sets, softest first; the first three reconstructed
from its text."""
