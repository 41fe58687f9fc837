"""The physical parameters of a quadrotor with a tendon-driven soft arm, in SI units.

The defaults are reconstructed from the text of "An Open MuJoCo Simulation Framework for a
Quadrotor Carrying a Tendon-Driven Soft Continuum Arm", with Euler as the integrator.
The arm's parameters are those of the whole rod, so that another number of links is another
resolution of the same rod.

The ranges are far wider than any vehicle, and end where MuJoCo's arithmetic would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.model.ranges import floats, set_within
from tendon_gym.model.tendons import Tendons

MAX_LINKS = 48
"""The finest arm that is tested to fly at a timestep of 2 ms."""

GRAVITY = 9.81
"""MuJoCo's own, m/s^2."""

LARGEST = 10.0
"""Largest length and largest coordinate of a rotor, m."""

GYRATION = (1e-3, 1.0)
"""Smallest and largest radius of gyration of the base, m."""

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Airframe:
    """The quadrotor: a rigid body with four rotors that push along its z axis.

    Attributes:
        mass: mass of the base without the arm, kg, 0.001 to 1000.
        inertia: principal moments of inertia about the base's x, y, z axes, kg m^2, each at most
            the sum of the others, with radii of gyration from 1 mm to 1 m.
        arm_length: distance from the base's axis to a rotor hub, m, 0.01 to 10.
        rotor_positions: the four hubs in the base frame, m; None puts them on the diagonals,
            `arm_length` away from the axis, in the order (+,+), (-,+), (-,-), (+,-) of (x, y). No
            coordinate exceeds 10 m.
        spin: +1 or -1 per rotor: the sign of its reaction torque about the base's z axis.
        torque_coefficient: reaction torque per thrust, m, 1e-5 to 1.
        thrust_max: largest thrust of one rotor, N, 0.001 to 1e5.
    """

    mass: float = 1.06
    inertia: Vector = (6.7e-3, 6.7e-3, 1.2e-2)
    arm_length: float = 0.17
    rotor_positions: tuple[Vector, Vector, Vector, Vector] | None = None
    spin: tuple[int, int, int, int] = (1, -1, 1, -1)
    torque_coefficient: float = 0.016
    thrust_max: float = 8.0

    def __post_init__(self) -> None:
        """Check every field."""
        set_within(self, 1e-3, 1e3, "mass")
        set_within(self, 1e-2, LARGEST, "arm_length")
        set_within(self, 1e-5, 1.0, "torque_coefficient")
        set_within(self, 1e-3, 1e5, "thrust_max")
        self._check_inertia()
        if self.rotor_positions is not None:
            hubs = checks.array(
                "Airframe.rotor_positions", self.rotor_positions, (4, 3),
                minimum=-LARGEST, maximum=LARGEST,
            )  # fmt: skip
            object.__setattr__(self, "rotor_positions", tuple(floats(hub) for hub in hubs))
        spin = checks.array("Airframe.spin", self.spin, (4,))
        for k in range(4):
            if abs(spin[k]) != 1.0:
                checks.reject(f"Airframe.spin[{k}]", float(spin[k]), "1 or -1")
        object.__setattr__(self, "spin", tuple(int(sign) for sign in spin))
        self._check_authority()

    @property
    def hubs(self) -> NDArray[np.float64]:
        """Rotor hubs in the base frame, m, shape (4, 3)."""
        if self.rotor_positions is not None:
            return np.array(self.rotor_positions)
        d = self.arm_length / math.sqrt(2.0)
        return np.array([[d, d, 0.0], [-d, d, 0.0], [-d, -d, 0.0], [d, -d, 0.0]])

    def _check_inertia(self) -> None:
        """Raise if no rigid body of this mass has these moments of inertia; store them."""
        inertia = checks.array("Airframe.inertia", self.inertia, (3,))
        least, most = (self.mass * radius**2 for radius in GYRATION)
        for k in range(3):
            if not least <= inertia[k] <= most:
                legal = (
                    f"from {least:g} to {most:g} kg m^2, with a radius of gyration from "
                    f"{GYRATION[0]:g} to {GYRATION[1]:g} m of the mass of {self.mass:g} kg"
                )
                checks.reject(f"Airframe.inertia[{k}]", inertia[k], legal)
        for k in range(3):
            others = float(inertia.sum() - inertia[k])
            if inertia[k] > others:
                legal = f"at most the sum of the other two, {others:g}"
                checks.reject(f"Airframe.inertia[{k}]", inertia[k], legal)
        object.__setattr__(self, "inertia", floats(inertia))

    def _check_authority(self) -> None:
        """Raise if the rotors can't produce force and torques independently."""
        x, y = self.hubs[:, 0], self.hubs[:, 1]
        size = max(float(np.abs(self.hubs[:, :2]).max()), 1e-3)
        wrench = np.array([np.ones(4), y / size, -x / size, self.spin])
        if np.linalg.matrix_rank(wrench, tol=1e-6) < 4:
            raise ValueError(
                "Airframe.rotor_positions and Airframe.spin must give thrust and the three torques "
                f"independently of each other, got {self.rotor_positions!r} and {self.spin!r}"
            )


@dataclass(frozen=True)
class Arm:
    """The soft arm: a rod in links on two orthogonal hinges; by default it only bends.

    Attributes:
        n_links: number of links, 1 to 48.
        length: length of the rod from the flange to the end of the last link, m, 0.01 to 10.
        mass: mass of all links, without the tip, kg, 0.001 to 1000.
        radius: radius of the rod, m, 0.0001 to 0.5.
        bending_stiffness: EI, N m^2, 1e-6 to 1e4; a hinge has EI / link length. The timestep must
            be short enough for it, see `model.stability`.
        bending_damping: the same for the rate, N m^2 s, at most 100.
        torsional_stiffness: GJ, N m^2, 1e-6 to 1e4; None: the rod does not twist. A link then turns
            about its own axis by GJ / link length, after its two hinges.
        torsional_damping: the same for the rate, N m^2 s, at most 100.
        axial_stiffness: EA, N, 0.001 to 1e7; None: the rod does not stretch. A link then slides
            along its own axis by EA / link length.
        axial_damping: the same for the rate, N s, at most 1e5.
        discretisation: how the links stand for the rod. "chain", as in the paper: all hinges alike,
            and the links' inertia that of capsules. "consistent": the first hinge, which stands for
            the half link between the flange and the first link's middle, is twice as stiff and as
            damped (and so with twist and stretch), and a link has the inertia of a piece of the
            rod; modes and shapes then come nearer to the rod's with the square of the number of
            links.
        flange_offset: distance of the flange, where the rod begins, below the base's origin, m, at
            most 10.
        tip_mass: mass of the sphere at the tip, kg, at most 1000.
        tip_radius: radius of that sphere, m, 0.0001 to 1.
        tip_offset: distance of its centre, which is the tip point, beyond the end of the rod, m, at
            most 10.
    """

    n_links: int = 12
    length: float = 0.48
    mass: float = 0.18
    radius: float = 0.012
    bending_stiffness: float = 2.4e-3
    bending_damping: float = 2.4e-4
    torsional_stiffness: float | None = None
    torsional_damping: float = 1.6e-4
    axial_stiffness: float | None = None
    axial_damping: float = 6.7
    discretisation: Literal["chain", "consistent"] = "chain"
    flange_offset: float = 0.024
    tip_mass: float = 0.02
    tip_radius: float = 0.016
    tip_offset: float = 0.022

    def __post_init__(self) -> None:
        """Check every field."""
        n_links = checks.integer("Arm.n_links", self.n_links, minimum=1, maximum=MAX_LINKS)
        object.__setattr__(self, "n_links", n_links)
        set_within(self, 1e-2, LARGEST, "length")
        set_within(self, 1e-3, 1e3, "mass")
        set_within(self, 1e-4, 0.5, "radius")
        set_within(self, 1e-6, 1e4, "bending_stiffness")
        set_within(self, 0.0, 1e2, "bending_damping")
        if self.torsional_stiffness is not None:
            set_within(self, 1e-6, 1e4, "torsional_stiffness")
        set_within(self, 0.0, 1e2, "torsional_damping")
        if self.axial_stiffness is not None:
            set_within(self, 1e-3, 1e7, "axial_stiffness")
        set_within(self, 0.0, 1e5, "axial_damping")
        checks.choice("Arm.discretisation", self.discretisation, ("chain", "consistent"))
        set_within(self, 0.0, LARGEST, "flange_offset", "tip_offset")
        set_within(self, 0.0, 1e3, "tip_mass")
        set_within(self, 1e-4, 1.0, "tip_radius")

    @property
    def link_length(self) -> float:
        """Length of one link, m."""
        return self.length / self.n_links

    @property
    def link_mass(self) -> float:
        """Mass of one link, kg."""
        return self.mass / self.n_links

    @property
    def joint_stiffness(self) -> float:
        """Stiffness of a hinge, N m/rad: the rod's bending stiffness over a link's length."""
        return self.bending_stiffness / self.link_length

    @property
    def joint_damping(self) -> float:
        """Damping of a hinge, N m s/rad."""
        return self.bending_damping / self.link_length

    @property
    def joint_shares(self) -> NDArray[np.float64]:
        """By how much every link's joints are stiffer and more damped than a hinge, (n_links,)."""
        shares = np.ones(self.n_links)
        if self.discretisation == "consistent":
            shares[0] = 2.0
        return shares

    @property
    def tip_depth(self) -> float:
        """Distance of the straight arm's tip below the base's origin, m."""
        return self.flange_offset + self.length + self.tip_offset

    @property
    def sag(self) -> float:
        """By how much the hanging rod is longer than without gravity, m; 0 if it can't stretch."""
        if self.axial_stiffness is None:
            return 0.0
        return GRAVITY * (0.5 * self.mass + self.tip_mass) * self.length / self.axial_stiffness

    @property
    def reach(self) -> float:
        """Largest distance of the tip at rest from the flange, m."""
        return self.length + self.tip_offset + self.sag

    def check_tip(self, name: str, tip: ArrayLike) -> NDArray[np.float64]:
        """Return places of the tip (..., 3), m in the base's axes, or raise where it cannot be.

        All that the arm can reach at rest is a ball around the flange: nothing but its weight
        stretches it.
        """
        places = checks.array(name, tip, (None,) * (np.ndim(tip) - 1) + (3,))
        away = np.linalg.norm(places + np.array([0.0, 0.0, self.flange_offset]), axis=-1)
        if (away > self.reach * (1.0 + 1e-9)).any():
            index = np.unravel_index(int(away.argmax()), away.shape)
            where = name + "".join(f"[{k}]" for k in index)
            legal = (
                f"in the tip's reach of {self.reach:g} m around the flange at "
                f"(0, 0, {-self.flange_offset:g})"
            )
            checks.reject(where, places[index], legal)
        return places


@dataclass(frozen=True)
class Fluid:
    """The air, which MuJoCo's inertia-box model turns into drag.

    Attributes:
        density: kg/m^3, at most 2000.
        viscosity: Pa s, at most 1.
    """

    density: float = 1.2
    viscosity: float = 1.8e-5

    def __post_init__(self) -> None:
        """Check every field."""
        set_within(self, 0.0, 2e3, "density")
        set_within(self, 0.0, 1.0, "viscosity")


@dataclass(frozen=True)
class Solver:
    """How MuJoCo steps the model.

    Attributes:
        integrator: "Euler" (joint damping is implicit in it) or "implicitfast".
        timestep: s, 10 us to 10 ms.
    """

    integrator: Literal["Euler", "implicitfast"] = "Euler"
    timestep: float = 0.002

    def __post_init__(self) -> None:
        """Check every field."""
        checks.choice("Solver.integrator", self.integrator, ("Euler", "implicitfast"))
        set_within(self, 1e-5, 1e-2, "timestep")


@dataclass(frozen=True)
class Load:
    """A ball that moves freely beside the vehicle.

    Attributes:
        mass: kg, 0.001 to 1000.
        radius: m, 0.001 to 10.
        position: of its centre in the model's default pose, m.
    """

    mass: float = 0.3
    radius: float = 0.06
    position: Vector = (1.0, 0.0, 0.06)

    def __post_init__(self) -> None:
        """Check every field."""
        set_within(self, 1e-3, 1e3, "mass")
        set_within(self, 1e-3, LARGEST, "radius")
        place = checks.array("Load.position", self.position, (3,), minimum=-1e3, maximum=1e3)
        object.__setattr__(self, "position", floats(place))


@dataclass(frozen=True)
class ModelParameters:
    """All that the model is built from.

    Attributes:
        airframe: the quadrotor.
        arm: the soft arm.
        tendons: its tendons.
        fluid: the air.
        solver: integrator and timestep.
        base: "free" to fly; "clamped" holds the base level at `height`, without rotors: the
            tendons are then the only actuators.
        height: height of the base's origin above the floor at the start, m, at most 1000.
        load: a ball beside the vehicle, its joint after all others; None: there is none.
    """

    airframe: Airframe = field(default_factory=Airframe)
    arm: Arm = field(default_factory=Arm)
    tendons: Tendons = field(default_factory=Tendons)
    fluid: Fluid = field(default_factory=Fluid)
    solver: Solver = field(default_factory=Solver)
    base: Literal["free", "clamped"] = "free"
    height: float = 1.0
    load: Load | None = None

    def __post_init__(self) -> None:
        """Check every field, and that the straight arm starts above the floor."""
        parts = {
            "airframe": Airframe,
            "arm": Arm,
            "tendons": Tendons,
            "fluid": Fluid,
            "solver": Solver,
        }
        for name, cls in parts.items():
            part = getattr(self, name)
            if not isinstance(part, cls):
                raise TypeError(
                    f"ModelParameters.{name} must be {cls.__name__}, got {checks.shown(part)}"
                )
        if self.load is not None and not isinstance(self.load, Load):
            told = checks.shown(self.load)
            raise TypeError(f"ModelParameters.load must be Load or None, got {told}")
        checks.choice("ModelParameters.base", self.base, ("free", "clamped"))
        lowest = self.arm.tip_depth + self.arm.sag + self.arm.tip_radius
        height = checks.number("ModelParameters.height", self.height, above=lowest, maximum=1e3)
        object.__setattr__(self, "height", height)
        rigid = self.arm.axial_stiffness is None
        self.tendons.check_reach(self.arm.length, 0.0 if rigid else self.arm.length)
