"""What a cable is made of, as its owner configures it, and the records that kernels read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.cables.bodies import rotation, unit_quaternion
from tendon_gym.cables.records import (
    ELEMENT,
    MINIMUM_LENGTH,
    OBSTACLE,
    SCHOLZ_2015,
)
from tendon_gym.cables.surfaces import Surface

Array = NDArray[np.float64]

ALGORITHMS = {"minimum_length": MINIMUM_LENGTH, "scholz_2015": SCHOLZ_2015}


@dataclass
class Point:
    """An end (role END) or a via point (VIA): a station (3,), in m, in the frame of a body."""

    role: int
    body: int
    station: Array

    def write(self, record: Any) -> None:
        """Write the ELEMENT."""
        record["role"], record["body"] = self.role, self.body
        record["position"], record["rotation"] = self.station, np.eye(3)


@dataclass
class Obstacle:
    """A surface with its pose in a body, and the hint where a cable touches it, if any.

    Attributes:
        body: index of the body.
        pose: (7,), position (m) and quaternion (w, x, y, z) of the surface's frame in the body.
        surface: what is wrapped.
        hint: (3,), in the surface's frame, m.
    """

    body: int
    pose: Array
    surface: Surface
    hint: Array | None

    def write(self, record: Any) -> None:
        """Write the ELEMENT, except for where its table begins."""
        record["role"], record["body"] = OBSTACLE, self.body
        record["position"] = self.pose[:3]
        record["rotation"] = rotation("pose", self.pose[3:])
        record["surface"], record["scale"] = self.surface.kind, self.surface.scale
        sizes = self.surface.sizes
        record["size"] = (*sizes, *[0.0] * (3 - len(sizes)))
        record["address"] = self.surface.address
        record["hinted"] = self.hint is not None
        record["hint"] = 0.0 if self.hint is None else self.hint


@dataclass
class Settings:
    """How a cable is solved.

    Attributes:
        accuracy: of a step of the integrator along a geodesic, in m and rad.
        tolerance: largest angle between a line and a curve, rad.
        max_iterations: corrections of one path between two fixed points.
        algorithm: "minimum_length" or "scholz_2015".
        warm_start: whether a solve begins at the path of the last one.
    """

    accuracy: float = 1e-9
    tolerance: float = float(np.radians(0.1))
    max_iterations: int = 50
    algorithm: str = "minimum_length"
    warm_start: bool = True


def station(name: str, value: ArrayLike) -> Array:
    """Return a point (3,), which must be finite."""
    return checks.array(name, value, (3,))


def pose(value: ArrayLike) -> Array:
    """Return a pose (7,): position and quaternion (w, x, y, z), made of unit length."""
    result = checks.array("pose", value, (7,))
    result[3:] = unit_quaternion("pose[3:]", result[3:])
    return result


def hint(value: ArrayLike | None) -> Array | None:
    """Return a hint (3,), or None; three NaN mean none, too."""
    if value is None:
        return None
    if isinstance(value, Sequence | np.ndarray) and len(value) == 3:
        if all(isinstance(part, float) and math.isnan(part) for part in value):
            return None
    return checks.array("contact_point_hint", value, (3,))


def records(paths: Sequence[Sequence[Point | Obstacle]]) -> tuple[NDArray, Array]:
    """Return the elements of all cables (1, e) and the tables of their height maps."""
    elements = np.zeros((1, sum(map(len, paths))), ELEMENT)
    tables: list[Array] = [np.zeros(1)]
    filled = 1
    for record, element in zip(elements[0], (e for path in paths for e in path), strict=True):
        element.write(record)
        if isinstance(element, Obstacle) and len(element.surface.table):
            record["table"] = filled
            tables.append(element.surface.table)
            filled += len(element.surface.table)
    return elements, np.concatenate(tables)
