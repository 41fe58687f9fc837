"""Surfaces that cables wrap over.

Each is closed by its own frame: spheres, ellipsoids and tori about its origin, cylinders about its
z axis. What lies inside must not be entered by a cable's end or via point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.cables import height_map
from tendon_gym.cables.records import (
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_MAP,
    IMPLICIT,
    SPHERE,
    TORUS,
)
from tendon_gym.cables.user_function import Jet, address_of

NO_TABLE: NDArray[np.float64] = np.zeros(0)


class Surface:
    """What all surfaces tell the kernels; `kind` is the code by which they know each."""

    kind: ClassVar[int]

    @property
    def sizes(self) -> tuple[float, ...]:
        """Up to three radii, m."""
        return ()

    @property
    def scale(self) -> float:
        """A typical length, m."""
        return 1.0

    @property
    def table(self) -> NDArray[np.float64]:
        """Coefficients of a height map, empty for others."""
        return NO_TABLE

    @property
    def address(self) -> int:
        """Where a user's function is, 0 for others."""
        return 0


@dataclass(frozen=True)
class _Round(Surface):
    """What is given by one radius (m)."""

    radius: float

    def __post_init__(self) -> None:
        """Reject a radius that is not positive."""
        checks.number("radius", self.radius, above=0.0)

    @property
    def sizes(self) -> tuple[float, ...]:
        """The radius."""
        return (float(self.radius),)

    @property
    def scale(self) -> float:
        """The radius."""
        return float(self.radius)


@dataclass(frozen=True)
class Sphere(_Round):
    """A sphere about the origin, of `radius` m."""

    kind = SPHERE


@dataclass(frozen=True)
class Cylinder(_Round):
    """A cylinder without ends about the z axis, of `radius` m."""

    kind = CYLINDER


@dataclass(frozen=True)
class Ellipsoid(Surface):
    """An ellipsoid about the origin with `radii` (3) along x, y and z, in m."""

    radii: tuple[float, float, float]
    kind = ELLIPSOID

    def __post_init__(self) -> None:
        """Reject radii that are not positive, and keep them from changing."""
        checks.array("radii", self.radii, (3,))
        radii = [checks.number(f"radii[{k}]", r, above=0.0) for k, r in enumerate(self.radii)]
        object.__setattr__(self, "radii", tuple(radii))

    @property
    def sizes(self) -> tuple[float, ...]:
        """The radii."""
        return self.radii

    @property
    def scale(self) -> float:
        """The largest radius."""
        return max(self.sizes)


@dataclass(frozen=True)
class Torus(Surface):
    """A torus: a tube of `tube_radius` m about the circle of `ring_radius` m in the xy plane."""

    ring_radius: float
    tube_radius: float
    kind = TORUS

    def __post_init__(self) -> None:
        """Reject a tube that is not thinner than the ring."""
        checks.number("ring_radius", self.ring_radius, above=0.0)
        checks.number("tube_radius", self.tube_radius, above=0.0, below=float(self.ring_radius))

    @property
    def sizes(self) -> tuple[float, ...]:
        """The ring's and the tube's radius."""
        return (float(self.ring_radius), float(self.tube_radius))

    @property
    def scale(self) -> float:
        """The tube's radius."""
        return float(self.tube_radius)


@dataclass(frozen=True)
class HalfSpace(Surface):
    """All that has x > 0. A cable between two points outside never touches it."""

    kind = HALF_SPACE


class HeightMap(Surface):
    """The ground below z = f(x, y), a natural bicubic spline through heights on a grid.

    It is defined between the outermost grid lines; a cable that slides beyond them is a fault.
    """

    kind = HEIGHT_MAP

    def __init__(self, x: ArrayLike, y: ArrayLike, height: ArrayLike) -> None:
        """Fit the spline.

        Args:
            x: (k,), k >= 4, increasing, m.
            y: (l,), l >= 4, increasing, m.
            height: (k, l), m.
        """
        self.x, self.y = checks.increasing("x", x), checks.increasing("y", y)
        for name, grid in (("x", self.x), ("y", self.y)):
            if len(grid) < 4:
                checks.reject(f"length of {name}", len(grid), "at least 4")
        self.height = checks.array("height", height, (len(self.x), len(self.y)))
        self._table = height_map.table(self.x, self.y, self.height)
        for values in (self.x, self.y, self.height, self._table):
            values.flags.writeable = False

    @property
    def table(self) -> NDArray[np.float64]:
        """Coefficients of the spline."""
        return self._table

    @property
    def scale(self) -> float:
        """The shorter side of the patch."""
        return float(min(np.ptp(self.x), np.ptp(self.y)))


class ImplicitSurface(Surface):
    """Any smooth surface: phi(x, y, z) = 0, with phi < 0 inside."""

    kind = IMPLICIT

    def __init__(self, function: Callable[[float, float, float], Jet], scale: float) -> None:
        """Take a function and the surface's size.

        Args:
            function: of x, y and z (m), returning phi, its gradient (x, y, z) and its Hessian
                (xx, yy, zz, xy, xz, yz), ten floats; compiled by Numba, or able to be. Where it
                raises an exception or returns NaN, there is no surface.
            scale: a typical length of the surface, such as a radius, in m.

        Raises:
            TypeError: no function that Numba compiles.
            ValueError: the function doesn't return ten finite numbers near the surface, or the
                scale is no length.
        """
        self._scale = checks.number("scale", scale, above=0.0)
        if not callable(function):
            raise TypeError(f"function must be callable, got {checks.shown(function)}")
        jet = function(self._scale, 0.5 * self._scale, 0.25 * self._scale)
        checks.array("what function returns", np.asarray(jet), (10,))
        self.function = function
        self._address = address_of(function)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the function: in another process its address is another."""
        return ImplicitSurface, (self.function, self._scale)

    @property
    def scale(self) -> float:
        """The typical length that was given."""
        return self._scale

    @property
    def address(self) -> int:
        """Where the function is."""
        return self._address


def surface(value: object) -> Surface:
    """Return `value`, which must be a surface."""
    if not isinstance(value, Surface):
        legal = "Sphere, Cylinder, Ellipsoid, Torus, HeightMap, HalfSpace, ImplicitSurface"
        raise TypeError(
            f"surface must be one of {legal}, got {checks.shown(value)}; "
            "meshes and boxes have edges, over which no geodesic is smooth"
        )
    return value
