"""Checks of what users give: chains, robots, poses and rotations."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains.segments import Pose

Array = NDArray[np.float64]
Kind = TypeVar("Kind")
ROUNDING = 1e-6
"""How far the columns of a rotation may be from unit length and from each other's normals."""


def of_kind(name: str, value: Any, kind: type[Kind]) -> Kind:
    """Return a value, which must be an instance of a class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {checks.shown(value)}")
    return value


def rotations(name: str, value: ArrayLike, shape: tuple[int | None, ...] = (3, 3)) -> Array:
    """Return rotation matrices (..., 3, 3), columns the axes of what is turned."""
    axes = checks.array(name, value, shape)
    product = np.swapaxes(axes, -1, -2) @ axes
    off = np.abs(product - np.eye(3)).max(axis=(-1, -2)) > ROUNDING
    bad = np.argwhere(off | (np.linalg.det(axes) < 0.0))
    if len(bad):
        where = name + "".join(f"[{k}]" for k in bad[0])
        checks.reject(where, axes[tuple(bad[0])], "a rotation matrix")
    return axes


def pose(name: str, value: Any) -> Pose:
    """Return a pose of finite numbers, whose rotation is one."""
    given = of_kind(name, value, Pose)
    position = checks.array(f"{name}.position", given.position, (3,))
    return Pose(position, rotations(f"{name}.rotation", given.rotation))
