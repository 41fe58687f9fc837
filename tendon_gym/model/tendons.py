"""The tendons of the arm: where they run, and what they do beside being pulled, in SI units."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.model.ranges import floats, set_within
from tendon_gym.tendons import CouplingProperties, Properties

MAX_TENDONS = 24

TENDON_RADII = (1e-4, 0.5)
"""Smallest and largest distance of a tendon from the rod's axis, m."""

LONGEST = 100.0
"""Greatest length that a rest length or a limit may be, m."""


@dataclass(frozen=True)
class TendonProperties:
    """What a tendon of the arm does by itself, whatever the tension of its winch.

    The laws are those of `tendon_gym.tendons`. Lengths are from the flange to the end of the rod;
    the reference length is that of the straight arm. Tendons whose limits, locks and couplings no
    shape of the arm meets together make the simulation unstable.

    Attributes:
        stiffness: of a spring along the tendon, outside its rest interval, N/m, at most 1e6.
        damping: resistance to the length's rate, N s/m, at most 1e4.
        spring_lower: lower end of the spring's rest interval, m, 0 to 100; None: no spring in
            compression.
        spring_upper: its upper end; None: no spring in tension. Both None: the reference length.
        lower_limit: least length, m, 0 to 100, at most what a bend by half a turn makes of it;
            None: none. Limits look ahead, so that the length comes to rest at them; equal ones
            lock it.
        upper_limit: greatest length, in the same way; None: none.
        limit_margin: how far inside the limits their boundaries lie, m, at most half of what is
            between them.
        limit_compliance: softness of limits and locks, m/N, at most 1000.
        friction_loss: dry friction, N, at most 1e4.
        friction_compliance: softness of dry friction, m/N, at most 1000.
        armature: inertia along the tendon, kg, at most 1000.
        position_correction: share of a violation that a physics step takes away, 0 to 1.
    """

    stiffness: float = 0.0
    damping: float = 0.0
    spring_lower: float | None = None
    spring_upper: float | None = None
    lower_limit: float | None = None
    upper_limit: float | None = None
    limit_margin: float = 0.0
    limit_compliance: float = 0.0
    friction_loss: float = 0.0
    friction_compliance: float = 0.0
    armature: float = 0.0
    position_correction: float = 0.2

    def __post_init__(self) -> None:
        """Check every field."""
        set_within(self, 0.0, 1e6, "stiffness")
        set_within(self, 0.0, 1e4, "damping", "friction_loss")
        compliances = ("limit_compliance", "friction_compliance")
        set_within(self, 0.0, 1e3, "armature", *compliances)
        set_within(self, 0.0, 1.0, "position_correction")
        set_within(self, 0.0, LONGEST, "limit_margin")
        self._check_interval("spring_lower", "spring_upper")
        self._check_interval("lower_limit", "upper_limit")
        if self.lower_limit is None or self.upper_limit is None:
            return
        room = self.upper_limit - self.lower_limit
        if room > 0.0:
            name = "TendonProperties.limit_margin"
            checks.number(name, self.limit_margin, minimum=0.0, maximum=0.5 * room)

    def _check_interval(self, lower: str, upper: str) -> None:
        """Check that two fields are None or lengths in order."""
        given = [name for name in (lower, upper) if getattr(self, name) is not None]
        set_within(self, 0.0, LONGEST, *given)
        if len(given) == 2 and getattr(self, lower) > getattr(self, upper):
            legal = f"at most {upper}, {getattr(self, upper):g} m"
            checks.reject(f"TendonProperties.{lower}", getattr(self, lower), legal)

    @property
    def bound(self) -> bool:
        """Whether MuJoCo's solver has to see to it: limits, locks and dry friction."""
        limited = self.lower_limit is not None or self.upper_limit is not None
        return limited or self.friction_loss > 0.0

    def of_a_world(self, width: float, color: tuple[float, float, float, float]) -> Properties:
        """Return these as a `tendon_gym.tendons.TendonWorld` takes them, with looks."""
        spring = (self.spring_lower, self.spring_upper)
        automatic = spring == (None, None)
        low, high = (math.nan, math.nan) if automatic else _opened(*spring)
        lower, upper = _opened(self.lower_limit, self.upper_limit)
        return Properties(
            stiffness=self.stiffness, damping=self.damping, spring_lower=low, spring_upper=high,
            lower_limit=lower, upper_limit=upper, limit_margin=self.limit_margin,
            limit_compliance=self.limit_compliance, friction_loss=self.friction_loss,
            friction_compliance=self.friction_compliance, armature=self.armature,
            position_correction=self.position_correction, width=width, color=color,
        )  # fmt: skip


@dataclass(frozen=True)
class TendonCoupling:
    """A law that ties the length of one tendon of the arm to that of another.

    With x the second tendon's length beyond its reference length, the first one's is
    c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4 beyond its own. The reference lengths are those of the
    straight arm.

    Attributes:
        first: name of the tendon that follows, "tendon_1" and so on.
        second: name of the one that it follows; None: x is 0.
        coefficients: c0 .. c4, m, 1, 1/m, 1/m^2, 1/m^3, each from -1e6 to 1e6; c0 not beyond a bend
            by half a turn.
        compliance: softness, m/N, at most 1000.
        position_correction: share of an error that a physics step takes away, 0 to 1.
    """

    first: str
    second: str | None = None
    coefficients: tuple[float, float, float, float, float] = (0.0, 1.0, 0.0, 0.0, 0.0)
    compliance: float = 0.0
    position_correction: float = 0.2

    def __post_init__(self) -> None:
        """Check every field but the names, which are those of an arm."""
        where = "TendonCoupling.coefficients"
        values = checks.array(where, self.coefficients, (5,), minimum=-1e6, maximum=1e6)
        object.__setattr__(self, "coefficients", floats(values))
        set_within(self, 0.0, 1e3, "compliance")
        set_within(self, 0.0, 1.0, "position_correction")

    def of_a_world(self) -> CouplingProperties:
        """Return this as a `tendon_gym.tendons.TendonWorld` takes it."""
        return CouplingProperties(self.coefficients, self.compliance, self.position_correction)


@dataclass(frozen=True)
class Tendons:
    """Tendons from the flange along the whole rod, through a site at the end of each link.

    Attributes:
        n_tendons: number of tendons, 3 to 24.
        angles: angle of each tendon about the rod's axis, rad, from the base's x axis towards y,
            strictly increasing in [0, 2 pi), every gap less than pi (else no tension bends the
            arm into the gap); None spaces them equally from 0.
        radii: distance of the tendons from the rod's axis, m, 0.0001 to 0.5: one number, or one per
            tendon.
        tension_max: largest tension of one tendon, N, 0.001 to 1000.
        properties: springs, limits, friction and inertia along the tendons: one for all, or one per
            tendon.
        couplings: of tendons with each other.
    """

    n_tendons: int = 3
    angles: tuple[float, ...] | None = None
    radii: float | tuple[float, ...] = 0.015
    tension_max: float = 6.0
    properties: TendonProperties | tuple[TendonProperties, ...] = TendonProperties()
    couplings: tuple[TendonCoupling, ...] = ()

    def __post_init__(self) -> None:
        """Check every field."""
        n = checks.integer("Tendons.n_tendons", self.n_tendons, minimum=3, maximum=MAX_TENDONS)
        object.__setattr__(self, "n_tendons", n)
        if self.angles is not None:
            self._check_angles(self.angles)
        if isinstance(self.radii, (list, tuple, np.ndarray)):
            low, high = TENDON_RADII
            radii = checks.array("Tendons.radii", self.radii, (n,), minimum=low, maximum=high)
            object.__setattr__(self, "radii", floats(radii))
        else:
            set_within(self, *TENDON_RADII, "radii")
        set_within(self, 1e-3, 1e3, "tension_max")
        if not isinstance(self.properties, TendonProperties):
            self._check_all("properties", TendonProperties)
            if len(self.properties) != n:
                got = len(self.properties)
                raise ValueError(
                    f"Tendons.properties must be one for all, or one for each of {n} tendons, "
                    f"got {got}"
                )
        self._check_all("couplings", TendonCoupling)
        for k, coupling in enumerate(self.couplings):
            self._check_ends(f"Tendons.couplings[{k}]", coupling)

    def _check_all(self, name: str, kind: type) -> None:
        """Check that a field is a sequence of instances of a class, and store it as a tuple."""
        values = getattr(self, name)
        if not isinstance(values, (list, tuple)) or not all(isinstance(v, kind) for v in values):
            shown = checks.shown(values)
            raise TypeError(f"Tendons.{name} must be a list of {kind.__name__}, got {shown}")
        object.__setattr__(self, name, tuple(values))

    def _check_ends(self, where: str, coupling: TendonCoupling) -> None:
        checks.choice(f"{where}.first", coupling.first, self.names)
        if coupling.second is not None:
            others = [name for name in self.names if name != coupling.first]
            checks.choice(f"{where}.second", coupling.second, others)

    def _check_angles(self, values: tuple[float, ...]) -> None:
        angles = checks.array("Tendons.angles", values, (self.n_tendons,), minimum=0.0)
        angles = checks.increasing("Tendons.angles", angles)
        checks.number(f"Tendons.angles[{len(angles) - 1}]", angles[-1], below=2.0 * math.pi)
        gaps = np.diff(angles, append=angles[0] + 2.0 * math.pi)
        if gaps.max() >= math.pi:
            i = int(gaps.argmax())
            legal = f"less than pi away from the next angle (radians) in {floats(angles)}"
            checks.reject(f"Tendons.angles[{i}]", float(angles[i]), legal)
        object.__setattr__(self, "angles", floats(angles))

    def check_reach(self, straight: float, give: float = 0.0) -> None:
        """Raise if a tendon would have to be where no bend by up to half a turn takes it.

        A bend by an angle a towards a tendon at the distance r from the axis takes r a of it.

        Args:
            straight: length of the straight arm, m.
            give: by how much the arm can be stretched or pressed together, m.

        Raises:
            ValueError: names the limit or the coupling.
        """
        reaches = math.pi * np.hypot(*self.positions.T) + give
        for name, own, reach in zip(self.names, self.each, reaches, strict=True):
            low, high = straight - reach, straight + reach
            if own.lower_limit is not None:
                where = f"tendons.properties.lower_limit of {name}"
                checks.number(where, own.lower_limit, maximum=high)
            if own.upper_limit is not None:
                where = f"tendons.properties.upper_limit of {name}"
                checks.number(where, own.upper_limit, minimum=low)
        for k, coupling in enumerate(self.couplings):
            reach = reaches[self.names.index(coupling.first)]
            where = f"tendons.couplings[{k}].coefficients[0]"
            checks.number(where, coupling.coefficients[0], minimum=-reach, maximum=reach)

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where the tendons cross a section of the rod, m, shape (n_tendons, 2)."""
        angles = np.arange(self.n_tendons) * (2.0 * math.pi / self.n_tendons)
        if self.angles is not None:
            angles = np.array(self.angles)
        radii = np.broadcast_to(self.radii, angles.shape)
        return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)

    @property
    def names(self) -> list[str]:
        """Their names in the model."""
        return [f"tendon_{i}" for i in range(1, self.n_tendons + 1)]

    @property
    def each(self) -> tuple[TendonProperties, ...]:
        """The properties of every tendon, (n_tendons,)."""
        if isinstance(self.properties, TendonProperties):
            return (self.properties,) * self.n_tendons
        return self.properties

    @property
    def plain(self) -> bool:
        """Whether the tendons do nothing but pull."""
        return not self.more

    @property
    def more(self) -> list[str]:
        """The names of the parameters by which they do more than pull, such as couplings."""
        usual = TendonProperties()
        changed = [
            f"properties.{field.name}"
            for field in fields(usual)
            if any(getattr(each, field.name) != getattr(usual, field.name) for each in self.each)
        ]
        return changed + ["couplings"] * bool(self.couplings)

    @property
    def bound(self) -> bool:
        """Whether MuJoCo's solver has to see to them."""
        return bool(self.couplings) or any(each.bound for each in self.each)


def _opened(lower: float | None, upper: float | None) -> tuple[float, float]:
    """Return bounds with infinite ones for None."""
    return -math.inf if lower is None else lower, math.inf if upper is None else upper
