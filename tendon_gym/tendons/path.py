"""The route of a tendon: sites, guides and pulleys, or joints with coefficients.

    path = (via(None, (0, 0, 3)), cylinder("drum", 0.2, axis=(0, 1, 0)), via("load", (0, 0, 0.1)))

Guides are frictionless and stop nothing but this tendon; they need no geom of the model's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tendon_gym import checks
from tendon_gym.tendons.naming import checked_name, items, of_kind

Point = tuple[float, float, float]
Kind = Literal["world", "body", "site", "frame", "flex"]
LEAST, MOST = 1e-6, 1e6
"""Magnitudes of a joint's coefficient."""
UNIT = 1e-15
"""How far from 1 the length of a direction may be that is left as it is."""
KINDS = ("world", "body", "site", "frame", "flex")


@dataclass(frozen=True)
class Site:
    """A point that moves with something.

    Attributes:
        name: of what it is attached to; None for the world.
        position: in the frame of that, m. On a flex: offset in the frame of the vertex's body.
        kind: what `name` names. "body": a body; "site" or "frame": a site or frame of the spec,
            which stands for its body and pose; "flex": a deformable, at its vertex `vertex`.
        vertex: of a flex.
    """

    name: str | None = None
    position: Point = (0.0, 0.0, 0.0)
    kind: Kind | None = None
    vertex: int = 0

    def __post_init__(self) -> None:
        kind = self.kind or ("world" if self.name is None else "body")
        if kind == "granular":
            raise ValueError(
                "a tendon cannot hold on to a granular system: MuJoCo has none; "
                f"kind must be one of {', '.join(KINDS)}"
            )
        object.__setattr__(self, "kind", checks.choice("kind", kind, KINDS))
        if (kind == "world") != (self.name is None):
            raise ValueError(f"a site of kind {kind} got the name {checks.shown(self.name)}")
        if self.name is not None:
            checked_name("name", self.name)
        point = checks.array("position", self.position, (3,))
        object.__setattr__(self, "position", tuple(point.tolist()))
        vertex = checks.integer("vertex", self.vertex, minimum=0)
        if vertex and kind != "flex":
            raise ValueError(f"a site of kind {kind} has no vertex, got {vertex}")
        object.__setattr__(self, "vertex", vertex)


@dataclass(frozen=True)
class Via:
    """A point that the tendon goes through, or is tied to."""

    site: Site

    def __post_init__(self) -> None:
        of_kind("site", self.site, Site)


@dataclass(frozen=True)
class Sphere:
    """A sphere that the tendon goes around.

    Attributes:
        center: of the sphere.
        radius: m, above 0.
        side: a point outside that picks the side it goes past; inside: the tendon goes through
            the inside of the sphere, by the nearest point of its surface.
    """

    center: Site
    radius: float
    side: Site | None = None

    def __post_init__(self) -> None:
        _check_guide(self)


@dataclass(frozen=True)
class Cylinder:
    """An infinite cylinder that the tendon goes around; `side` as for a sphere.

    Attributes:
        center: a point of its axis.
        radius: m, above 0.
        axis: direction in the frame of `center`, of any length but 0; becomes a unit vector.
        side: as for a sphere.
    """

    center: Site
    radius: float
    axis: Point = (0.0, 0.0, 1.0)
    side: Site | None = None

    def __post_init__(self) -> None:
        _check_guide(self)
        axis = checks.array("axis", self.axis, (3,))
        largest = np.abs(axis).max()
        if largest == 0.0:
            raise ValueError("axis must be a direction, got zeros")
        if largest > 1.0 or abs(np.linalg.norm(axis) - 1.0) > UNIT:
            axis = axis / largest  # its square would overflow or vanish for extreme lengths
            axis = axis / np.linalg.norm(axis)
        object.__setattr__(self, "axis", tuple(axis.tolist()))


@dataclass(frozen=True)
class Pulley:
    """Starts a new branch of the tendon, whose length counts by 1 / divisor.

    The divisor holds up to the next pulley, and is not multiplied with the one before.
    """

    divisor: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "divisor", checks.number("divisor", self.divisor, above=0.0))


PathElement = Via | Sphere | Cylinder | Pulley


@dataclass(frozen=True)
class JointTerm:
    """A term of a fixed tendon: coefficient times the coordinate of a hinge or slide joint.

    Attributes:
        joint: its name.
        coefficient: 0, or of a magnitude from 1e-6 to 1e6: the force of a limit on a tendon that
            hardly moves with its joints would be beyond all numbers.
    """

    joint: str
    coefficient: float = 1.0

    def __post_init__(self) -> None:
        checked_name("joint", self.joint)
        coefficient = checks.number("coefficient", self.coefficient)
        if coefficient != 0.0 and not LEAST <= abs(coefficient) <= MOST:
            legal = f"0 or of a magnitude from {LEAST:g} to {MOST:g}"
            checks.reject("coefficient", coefficient, legal)
        object.__setattr__(self, "coefficient", coefficient)


def via(name: str | None, position: ArrayLike = (0.0, 0.0, 0.0)) -> Via:
    """Return a via-point on the body `name`, or on the world with None."""
    return Via(Site(name, position))  # type: ignore[arg-type]


def sphere(
    name: str | None,
    radius: float,
    *,
    position: ArrayLike = (0.0, 0.0, 0.0),
    side: Site | None = None,
) -> Sphere:
    """Return a sphere guide on the body `name`, or on the world with None."""
    return Sphere(Site(name, position), radius, side)  # type: ignore[arg-type]


def cylinder(
    name: str | None,
    radius: float,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    *,
    position: ArrayLike = (0.0, 0.0, 0.0),
    side: Site | None = None,
) -> Cylinder:
    """Return a cylinder guide on the body `name`, or on the world with None."""
    return Cylinder(Site(name, position), radius, axis, side)  # type: ignore[arg-type]


def pulley(divisor: float) -> Pulley:
    """Return the start of a new branch."""
    return Pulley(divisor)


def checked_path(path: Iterable[PathElement]) -> tuple[PathElement, ...]:
    """Return the elements of a route after checking their order.

    Raises:
        TypeError: something that is no element of a path.
        ValueError: a branch without two sites, or that doesn't start and end with sites; guides
            that are not between sites.
    """
    elements = items("path", path)
    for k, element in enumerate(elements):
        if not isinstance(element, (Via, Sphere, Cylinder, Pulley)):
            raise TypeError(
                f"path[{k}] must be a Via, Sphere, Cylinder or Pulley, got {checks.shown(element)}"
            )
    if elements and isinstance(elements[-1], Pulley):
        raise ValueError(f"path[{len(elements) - 1}] is a pulley: a branch must follow it")
    for start, branch in _branches(elements):
        _check_branch(start, branch)
    return elements


def checked_joints(terms: Iterable[JointTerm]) -> tuple[JointTerm, ...]:
    """Return the terms of a fixed tendon, of which there must be at least one."""
    result = items("joint_terms", terms)
    for k, term in enumerate(result):
        of_kind(f"joint_terms[{k}]", term, JointTerm)
    if not result:
        raise ValueError("joint_terms must have at least one term")
    return result


def _branches(elements: tuple[PathElement, ...]) -> list[tuple[int, list[PathElement]]]:
    """Return the branches of a path, each with the index of its first element."""
    branches: list[tuple[int, list[PathElement]]] = [(0, [])]
    for k, element in enumerate(elements):
        if isinstance(element, Pulley):
            if k:
                branches.append((k + 1, []))
            else:
                branches = [(1, [])]
        else:
            branches[-1][1].append(element)
    return branches


def _check_branch(start: int, branch: list[PathElement]) -> None:
    sites = [isinstance(element, Via) for element in branch]
    if sum(sites) < 2:
        raise ValueError(f"the branch at path[{start}] has {sum(sites)} sites; it needs two")
    for k, is_site in enumerate(sites):
        if is_site:
            continue
        if k in (0, len(sites) - 1) or not (sites[k - 1] and sites[k + 1]):
            raise ValueError(
                f"path[{start + k}] is a guide, which needs a site right before and right after "
                "it in its branch: put a Via between two guides"
            )


def _check_guide(guide: Sphere | Cylinder) -> None:
    of_kind("center", guide.center, Site)
    if guide.side is not None:
        of_kind("side", guide.side, Site)
    object.__setattr__(guide, "radius", checks.number("radius", guide.radius, above=0.0))
