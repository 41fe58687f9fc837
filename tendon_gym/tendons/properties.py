"""What a tendon and a coupling are made of: the fields and defaults of RaiSim's tendon API.

Lengths are in m for spatial tendons; for fixed tendons in the unit that the coefficients give them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from tendon_gym import checks

Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class Properties:
    """Passive properties, limits and looks of a tendon, spatial or fixed alike.

    Attributes:
        stiffness: of the spring outside its rest interval, N/m; at least 0.
        damping: viscous resistance to the length's rate, everywhere, N s/m; at least 0.
        spring_lower: lower end of the spring's rest interval, m; -inf: no spring in compression.
        spring_upper: its upper end; +inf: no spring in tension. Both NaN: the reference length.
        lower_limit: least length, m; -inf: none.
        upper_limit: greatest length; +inf: none. Equal finite limits lock the length.
        limit_margin: how far inside the limits their boundaries lie, m; a lock ignores it.
        limit_compliance: softness of limits and locks, m/N; at least 0.
        friction_loss: dry friction, N; at least 0.
        friction_compliance: softness of dry friction, m/N: it creeps by compliance * force a step.
        armature: inertia along the tendon, kg; at least 0.
        position_correction: share of a length error that a step takes away, in [0, 1].
        actuation_lower: least force of the drive as a whole, N, positive lengthens.
        actuation_upper: its greatest force. The interval need not contain 0.
        width: radius that it is drawn with, m; above 0. No collisions.
        color: red, green, blue, alpha.
    """

    stiffness: float = 0.0
    damping: float = 0.0
    spring_lower: float = math.nan
    spring_upper: float = math.nan
    lower_limit: float = -math.inf
    upper_limit: float = math.inf
    limit_margin: float = 0.0
    limit_compliance: float = 0.0
    friction_loss: float = 0.0
    friction_compliance: float = 0.0
    armature: float = 0.0
    position_correction: float = 0.2
    actuation_lower: float = -math.inf
    actuation_upper: float = math.inf
    width: float = 0.004
    color: Color = (0.9, 0.35, 0.08, 1.0)

    def __post_init__(self) -> None:
        for name in _NOT_NEGATIVE:
            _set(self, name, checks.number(name, getattr(self, name), minimum=0.0))
        _set(self, "position_correction", _share("position_correction", self.position_correction))
        _set(self, "width", checks.number("width", self.width, above=0.0))
        _set(self, "color", tuple(checks.array("color", self.color, (4,)).tolist()))
        _check_rest_interval(self)
        _check_interval(self, "lower_limit", "upper_limit")
        _check_interval(self, "actuation_lower", "actuation_upper")

    @property
    def locked(self) -> bool:
        """Whether the limits lock the length."""
        return self.lower_limit == self.upper_limit

    @property
    def limited(self) -> bool:
        """Whether there is a unilateral limit, below or above."""
        bounded = self.lower_limit > -math.inf or self.upper_limit < math.inf
        return bounded and not self.locked


@dataclass(frozen=True)
class CouplingProperties:
    """How a coupling ties the change of one tendon's length to that of another.

    With x the change of the second tendon's length since its reference, the first one's is
    c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4; without a second tendon x is 0.

    Attributes:
        coefficients: c0 .. c4.
        compliance: softness, m/N; at least 0.
        position_correction: share of an error that a step takes away, in [0, 1].
        enabled: whether it acts; both tendons have to be enabled too.
    """

    coefficients: tuple[float, float, float, float, float] = (0.0, 1.0, 0.0, 0.0, 0.0)
    compliance: float = 0.0
    position_correction: float = 0.2
    enabled: bool = True

    def __post_init__(self) -> None:
        coefficients = checks.array("coefficients", self.coefficients, (5,))
        _set(self, "coefficients", tuple(coefficients.tolist()))
        _set(self, "compliance", checks.number("compliance", self.compliance, minimum=0.0))
        _set(self, "position_correction", _share("position_correction", self.position_correction))
        _set(self, "enabled", checks.flag("enabled", self.enabled))


_NOT_NEGATIVE = (
    "stiffness",
    "damping",
    "limit_margin",
    "limit_compliance",
    "friction_loss",
    "friction_compliance",
    "armature",
)


def _set(config: object, name: str, value: object) -> None:
    """Store a checked value in a frozen dataclass that is being made."""
    object.__setattr__(config, name, value)


def _share(name: str, value: object) -> float:
    return checks.number(name, value, minimum=0.0, maximum=1.0)


def _is_nan(value: object) -> bool:
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def _check_rest_interval(config: Properties) -> None:
    """Check the ends of the spring's rest interval, which may both be NaN."""
    names = "spring_lower", "spring_upper"
    ends = [getattr(config, name) for name in names]
    for name, end in zip(names, ends, strict=True):
        if isinstance(end, bool) or not isinstance(end, Real):
            checks.number(name, end)
    if all(map(_is_nan, ends)):
        return
    if any(map(_is_nan, ends)):
        shown = " and ".join(map(checks.shown, ends))
        raise ValueError(f"spring_lower and spring_upper must both be NaN or neither, got {shown}")
    _check_interval(config, *names)


def _end(name: str, value: object, open_end: float) -> float:
    """Return an end of an interval, which is finite or unbounded outwards."""
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        if value != open_end:
            checks.reject(name, value, f"finite or {open_end:g}")
        return open_end
    return checks.number(name, value)


def _check_interval(config: Properties, lower: str, upper: str) -> None:
    """Check that two fields are ordered bounds, unbounded outwards at most, and store them."""
    ends = []
    for name, open_end in ((lower, -math.inf), (upper, math.inf)):
        ends.append(_end(name, getattr(config, name), open_end))
        _set(config, name, ends[-1])
    if ends[0] > ends[1]:
        raise ValueError(f"{lower} must be at most {upper}, got {ends[0]:g} and {ends[1]:g}")
