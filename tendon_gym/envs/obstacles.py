"""One obstacle per simulation: its row of numbers, the distance to it, and its picture."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.cables import Surface
from tendon_gym.compiled import inlined
from tendon_gym.forces.cable import KINDS, Obstacle
from tendon_gym.spatial import Vector, subtract, vector

OBSTACLE = np.dtype(
    [
        ("kind", np.float64, len(KINDS)),  # 1 for its own kind, 0 for the others
        ("size", np.float64, 3),  # radii, 0 for those that the kind doesn't have, m
        ("position", np.float64, 3),  # in the world, m
        ("quaternion", np.float64, 4),
        ("axes", np.float64, (3, 3)),  # rows: its x, y and z axis in the world
    ]
)
"""An obstacle in the world, all in floats, so that it can be observed as they are."""

NAMES = tuple(KINDS)
SPHERE, CYLINDER, ELLIPSOID, TORUS = range(4)
HALF_LENGTH = 1.5
"""Of a cylinder in pictures, m: it has no end."""
COLOUR = np.array([0.45, 0.35, 0.25, 1.0], np.float32)
PIECES = 24
"""Of a drawn torus."""


def write_obstacle(row: Any, obstacle: Obstacle) -> None:
    """Write an obstacle that stands in the world to a row of OBSTACLE."""
    row["kind"] = np.arange(len(NAMES)) == NAMES.index(obstacle.kind)
    row["size"] = (*obstacle.size, 0.0, 0.0, 0.0)[:3]
    row["position"] = obstacle.position
    quaternion = np.array(obstacle.quaternion)
    row["quaternion"] = quaternion / np.linalg.norm(quaternion)
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, row["quaternion"])
    row["axes"] = matrix.reshape(3, 3).T


def surface_of(row: Any) -> Surface:
    """Return the surface of a row of OBSTACLE."""
    kind: Any = NAMES[int(np.argmax(row["kind"]))]
    return Obstacle(kind, tuple(row["size"][: KINDS[kind]])).surface


@inlined
def distance(obstacle: Any, point: Vector) -> float:
    """Return how far a point (world, m) is from the surface, negative inside.

    It is exact but for ellipsoids, where it is the first order of the distance: the implicit
    function |(x/a, y/b, z/c)| - 1 over its gradient's length.
    """
    axes, size = obstacle["axes"], obstacle["size"]
    away = subtract(point, vector(obstacle["position"]))
    x = axes[0, 0] * away[0] + axes[0, 1] * away[1] + axes[0, 2] * away[2]
    y = axes[1, 0] * away[0] + axes[1, 1] * away[1] + axes[1, 2] * away[2]
    z = axes[2, 0] * away[0] + axes[2, 1] * away[1] + axes[2, 2] * away[2]
    if obstacle["kind"][SPHERE] == 1.0:
        return math.sqrt(x * x + y * y + z * z) - size[0]
    across = math.sqrt(x * x + y * y)
    if obstacle["kind"][CYLINDER] == 1.0:
        return across - size[0]
    if obstacle["kind"][TORUS] == 1.0:
        return math.hypot(across - size[0], z) - size[1]
    x, y, z = x / size[0], y / size[1], z / size[2]
    level = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / size[0], y / size[1], z / size[2]
    slope = math.sqrt(x * x + y * y + z * z) / max(level, 1e-9)
    return (level - 1.0) / max(slope, 1e-9)


def draw_obstacle(scene: mujoco.MjvScene, row: Any) -> None:
    """Add an obstacle to a scene, as far as that has room."""
    kind, size, axes = int(np.argmax(row["kind"])), row["size"], row["axes"]
    if kind == TORUS:
        angles = np.linspace(0.0, 2.0 * math.pi, PIECES + 1)
        ring = np.outer(np.cos(angles), axes[0]) + np.outer(np.sin(angles), axes[1])
        points = row["position"] + size[0] * ring
        for start, end in itertools.pairwise(points):
            _connect(scene, mujoco.mjtGeom.mjGEOM_CAPSULE, size[1], start, end)
    elif kind == CYLINDER:
        ends = (row["position"] + side * HALF_LENGTH * axes[2] for side in (-1.0, 1.0))
        _connect(scene, mujoco.mjtGeom.mjGEOM_CYLINDER, size[0], *ends)
    else:
        radii = size if kind == ELLIPSOID else np.full(3, size[0])
        _add(scene, radii, row["position"], axes.T, COLOUR)


def draw_ball(scene: mujoco.MjvScene, place: NDArray, radius: float, rgba: Any) -> None:
    """Add a ball to a scene, if that has room."""
    colour = np.array(rgba, np.float32)
    _add(scene, np.full(3, radius), place, np.eye(3), colour)


def _add(
    scene: mujoco.MjvScene, radii: NDArray, place: NDArray, axes: NDArray, colour: NDArray
) -> None:
    if scene.ngeom < scene.maxgeom:
        geom, kind = scene.geoms[scene.ngeom], mujoco.mjtGeom.mjGEOM_ELLIPSOID
        mujoco.mjv_initGeom(geom, kind, radii, np.array(place), axes.ravel(), colour)
        scene.ngeom += 1


def _connect(
    scene: mujoco.MjvScene, kind: mujoco.mjtGeom, radius: float, start: NDArray, end: NDArray
) -> None:
    if scene.ngeom < scene.maxgeom:
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), COLOUR)
        mujoco.mjv_connector(geom, kind, radius, start, end)
        scene.ngeom += 1
