"""When a simulation may touch something: bounds that are never wrong when they say "no".

Within them the engine has no contacts to know of; beyond them MuJoCo steps the simulation.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.engines.compiled.structure import Structure, refuse

Floats = NDArray[np.float64]

MARGIN = 1e-3
"""m, on top of the model's own contact margins, for rounding."""

_NEVER = 1e9


@dataclass(frozen=True, eq=False)
class Bounds:
    """Where contacts may be.

    Attributes:
        first: the first link that may touch the base; N for none.
        ends: (N, 3), the far ends of the links' axes, in their own frames, m.
        values: see `rows.Setup.bounds`.
        obstacles: (k, 4), spheres around what stands in the world, m.
        planes: (k, 4), that are not level, m.
        beyond: how far anything reaches from the base, or from the last link's origin, m.
        load: how far the load reaches, and how low its origin may come, m.
    """

    first: int
    ends: Floats
    values: Floats
    obstacles: Floats
    planes: Floats
    beyond: float
    load: Floats

    @classmethod
    def of(cls, model: mujoco.MjModel, structure: Structure) -> Bounds:
        """Read the geoms that the model lets collide.

        Raises:
            ValueError: links that may touch each other, or explicit contact pairs.
        """
        if model.npair:
            refuse(f"knows no explicit contact pairs, got {model.npair}")
        links = [_geoms(model, int(body)) for body in structure.links]
        base = _geoms(model, structure.base)
        _refuse_self_contact(model, links)
        margin = MARGIN + 2.0 * float(np.max(model.geom_margin, initial=0.0))
        ends, radii = _axes(model, structure, links)
        beyond = _beyond(model, structure, base, radii) + margin
        first = next(
            (k for k, geoms in enumerate(links) if _may_touch(model, base, geoms)), len(links)
        )
        lowest_of_frame = min((_low(model, geom) for geom in base), default=_NEVER)
        floor, obstacles, planes = _world(model, structure)
        moving = [g for geoms in links for g in geoms] + (base if structure.free else [])
        level = floor if _may_touch(model, _plane_geoms(model), moving) else -_NEVER
        radius = float(np.max(radii)) + margin
        base_reach = max((_reach(model, geom) for geom in base), default=0.0) + margin
        values = np.array(
            [
                lowest_of_frame - radius if first < len(links) else _NEVER,
                level + radius,
                level + base_reach if structure.free else -_NEVER,
                0.0,
            ]
        )
        load = _load_bounds(model, structure, margin, floor)
        bounds = cls(first, ends, values, obstacles, planes, beyond, load)
        bounds.set_reach(structure, model.body_pos[None])
        return bounds

    def set_reach(self, structure: Structure, body_pos: Floats) -> None:
        """Note how far the vehicle reaches with links at these places (m, nbody, 3)."""
        lengths = np.linalg.norm(body_pos[:, structure.links], axis=2)
        self.values[3] = float(lengths.sum(axis=1).max()) + self.beyond


def _load_bounds(
    model: mujoco.MjModel, structure: Structure, margin: float, floor: float
) -> Floats:
    """Return how far the load reaches, and the height below which it may touch the floor, m."""
    reach = max((_reach(model, g) for g in _geoms(model, structure.load)), default=0.0) + margin
    return np.array([reach, floor + reach])


def _geoms(model: mujoco.MjModel, body: int) -> list[int]:
    """Return the geoms of a body that may collide with anything."""
    first, count = model.body_geomadr[body], model.body_geomnum[body]
    geoms = range(first, first + count) if count else range(0)
    return [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]]


def _may_touch(model: mujoco.MjModel, some: list[int], others: list[int]) -> bool:
    """Say whether the model lets any of some geoms collide with any of the others."""
    excluded = set(model.exclude_signature.tolist())
    for a in some:
        for b in others:
            one, two = model.geom_bodyid[a], model.geom_bodyid[b]
            match = (model.geom_contype[a] & model.geom_conaffinity[b]) or (
                model.geom_contype[b] & model.geom_conaffinity[a]
            )
            signature = (min(one, two) << 16) + max(one, two)
            parent = (
                one and two and (model.body_parentid[one] == two or model.body_parentid[two] == one)
            )
            welded = model.body_weldid[model.body_parentid[max(one, two)]] == 0
            if match and signature not in excluded and not (parent and not welded):
                return True
    return False


def _refuse_self_contact(model: mujoco.MjModel, links: list[list[int]]) -> None:
    for k, geoms in enumerate(links):
        later = [g for others in links[k + 1 :] for g in others]
        if _may_touch(model, geoms, later):
            name = model.body(model.geom_bodyid[geoms[0]]).name
            refuse(f"takes links that don't touch each other, and those of {name!r} may")


def _extents(model: mujoco.MjModel, geom: int) -> Floats:
    """Return points and a radius that hold a geom, in its body's frame: rows (x, y, z, radius)."""
    place, size = model.geom_pos[geom], model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
        axes = np.empty(9)
        mujoco.mju_quat2Mat(axes, model.geom_quat[geom])
        half = size[1] * axes.reshape(3, 3)[:, 2]
        return np.array([[*(place - half), size[0]], [*(place + half), size[0]]])
    return np.array([[*place, model.geom_rbound[geom]]])


def _axes(
    model: mujoco.MjModel, structure: Structure, links: list[list[int]]
) -> tuple[Floats, Floats]:
    """Return each link's far end, and a radius about the axis to it that holds its geoms."""
    ends, radii = np.zeros((len(links), 3)), np.zeros(len(links))
    for k, geoms in enumerate(links):
        points = np.concatenate([_extents(model, g) for g in geoms] or [np.zeros((1, 4))])
        far = points[np.argmax(np.linalg.norm(points[:, :3], axis=1)), :3]
        ends[k] = far
        along = np.clip(points[:, :3] @ far / max(float(far @ far), 1e-12), 0.0, 1.0)
        away = np.linalg.norm(points[:, :3] - along[:, None] * far, axis=1)
        radii[k] = float(np.max(away + points[:, 3]))
    return ends, radii


def _reach(model: mujoco.MjModel, geom: int) -> float:
    points = _extents(model, geom)
    return float(np.max(np.linalg.norm(points[:, :3], axis=1) + points[:, 3]))


def _low(model: mujoco.MjModel, geom: int) -> float:
    """Return the lowest point of a geom in its body's frame."""
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, model.geom_quat[geom])
    down = axes.reshape(3, 3)[2]
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    return float(model.geom_pos[geom, 2] + down @ centre - np.abs(down) @ half)


def _beyond(model: mujoco.MjModel, structure: Structure, base: list[int], radii: Floats) -> float:
    """Return how far the base reaches from its origin, or the last link from its own, m."""
    last = _geoms(model, int(structure.links[-1]))
    return max(*(_reach(model, geom) for geom in (*base, *last)), float(np.max(radii)), 0.0)


def _plane_geoms(model: mujoco.MjModel) -> list[int]:
    planes = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    return [int(g) for g in np.flatnonzero(planes) if _collides(model, int(g))]


def _collides(model: mujoco.MjModel, geom: int) -> bool:
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def _world(model: mujoco.MjModel, structure: Structure) -> tuple[float, Floats, Floats]:
    """Return the height of the highest level plane, spheres around the rest, other planes."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    floor, spheres, planes = -_NEVER, [], []
    for geom in range(model.ngeom):
        body = model.geom_bodyid[geom]
        if model.body_weldid[body] or body == structure.base or not _collides(model, geom):
            continue
        place, normal = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)[:, 2]
        if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE:
            spheres.append([*place, model.geom_rbound[geom]])
        elif normal[2] > 1.0 - 1e-12:
            floor = max(floor, float(place[2]))
        else:
            planes.append([*normal, float(normal @ place)])
    return floor, np.array(spheres).reshape(-1, 4), np.array(planes).reshape(-1, 4)
