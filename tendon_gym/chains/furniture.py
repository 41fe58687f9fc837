"""What stands around robots in a scene: floor and sky, a table, objects."""

from __future__ import annotations

import mujoco
import numpy as np

from tendon_gym.chains.specs import SceneObject, TableSpec

_SHAPES = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
}
_GREY = (0.35, 0.37, 0.4, 1.0)
_SKY = ((0.4, 0.55, 0.7), (0.05, 0.07, 0.1))


def add_floor(spec: mujoco.MjSpec) -> None:
    """Add the plane z = 0, a sky above it and a light."""
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(name="floor", type=plane, size=[0, 0, 0.05], rgba=_GREY)
    sky = spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX)
    sky.builtin = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT
    sky.rgb1, sky.rgb2 = _SKY
    sky.width, sky.height = 128, 768
    light = spec.worldbody.add_light(name="sun", pos=[0, 0, 4], dir=[0, 0, -1])
    light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL


def add_table(spec: mujoco.MjSpec, table: TableSpec) -> None:
    """Add the fixed body "table": a top and four legs down to z = 0."""
    x, y, top = table.position
    body = spec.worldbody.add_body(name="table", pos=[x, y, 0])
    plate = body.add_geom(name="table_top", type=_SHAPES["box"], rgba=table.rgba)
    plate.size = [*table.half_size, 0.5 * table.thickness]
    plate.pos = [0, 0, top - 0.5 * table.thickness]
    height = top - table.thickness
    inset = np.array(table.half_size) - table.leg_radius
    for k, (right, back) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)), start=1):
        leg = body.add_geom(name=f"table_leg_{k}", type=_SHAPES["cylinder"], rgba=table.leg_rgba)
        leg.size = [table.leg_radius, 0.5 * height, 0]
        leg.pos = [right * inset[0], back * inset[1], 0.5 * height]


def add_object(spec: mujoco.MjSpec, item: SceneObject) -> None:
    """Add an object after all bodies that there are."""
    body = spec.worldbody.add_body(name=item.name, pos=item.position, quat=item.quaternion)
    if not item.fixed:
        body.add_freejoint(name=item.name)
    geom = body.add_geom(name=item.name, type=_SHAPES[item.shape], rgba=item.rgba)
    geom.size = [*item.size, 0, 0][:3]
    geom.mass = item.mass
    geom.condim = item.condim
    geom.friction = item.friction
