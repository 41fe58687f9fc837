"""How the model looks: materials, lights, cameras and massless geoms that touch nothing."""

from __future__ import annotations

import colorsys

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.model.parameters import ModelParameters

VISUAL_GROUP = 2
"""Group of the geoms that are only seen."""
HIDDEN_GROUP = 3
"""Group of the geoms that only weigh; MuJoCo leaves it hidden until asked."""
SITE_GROUP = 4
"""Group of the sites; MuJoCo leaves it hidden until asked."""
TENDON_RADIUS = 0.0025
"""Drawn radius of a tendon, m."""
ROTOR_HEIGHT = 0.026
"""Height at which a rotor's disc is drawn over its hub, m."""
CAMERAS = {
    "chase": ([-0.85, -0.62, 0.3], [0, 0, -0.26]),
    "side": ([0.0, -1.15, 0.12], [0, 0, -0.27]),
}
"""Place and target of each camera, relative to the base's origin, m."""
WIDE_CAMERAS = {
    "chase": ([-1.1, -2.6, 0.6], [0.65, 0, -0.55]),
    "side": ([0.65, -3.2, -0.2], [0.65, 0, -0.6]),
}
"""The same where there is a load."""
Colour = list[float]
LOAD_COLOUR = [0.75, 0.25, 0.2, 1.0]
ARM_TOP = np.array([0.15, 0.65, 0.70])
ARM_END = np.array([0.98, 0.93, 0.70])


def arm_colour(fraction: float) -> Colour:
    """Return the colour of the arm at a fraction of its length from the flange, RGBA."""
    return [*(float(c) for c in ARM_TOP + fraction * (ARM_END - ARM_TOP)), 1.0]


def tendon_colours(count: int) -> list[Colour]:
    """Return `count` colours that are easy to tell apart, RGBA."""
    hues = (0.01 + 0.85 * i / count for i in range(count))
    return [[*colorsys.hsv_to_rgb(hue, 0.85, 0.95), 1.0] for hue in hues]


def dress_world(spec: mujoco.MjSpec) -> None:
    """Add sky, floor material, the other materials, and the quality of pictures."""
    sky = spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX)
    sky.builtin = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT
    sky.rgb1, sky.rgb2 = [0.42, 0.60, 0.82], [0.90, 0.94, 0.98]
    sky.width, sky.height = 64, 384
    floor = spec.add_texture(name="floor", type=mujoco.mjtTexture.mjTEXTURE_2D)
    floor.builtin = mujoco.mjtBuiltin.mjBUILTIN_CHECKER
    floor.mark = mujoco.mjtMark.mjMARK_EDGE
    floor.rgb1, floor.rgb2, floor.markrgb = [0.78, 0.80, 0.82], [0.70, 0.73, 0.76], [0.9, 0.9, 0.9]
    floor.width, floor.height = 128, 128
    ground = spec.add_material(name="floor", texuniform=True, texrepeat=[2, 2])
    ground.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    for name, rgba, shine in (
        ("frame", [0.16, 0.17, 0.20, 1.0], 0.5),
        ("nose", [0.95, 0.45, 0.10, 1.0], 0.4),
        ("rotor_left", [0.20, 0.45, 0.85, 0.45], 0.6),
        ("rotor_right", [0.90, 0.35, 0.20, 0.45], 0.6),
        ("arm", [1.0, 1.0, 1.0, 1.0], 0.3),
        ("tip", [0.98, 0.75, 0.15, 1.0], 0.6),
    ):
        spec.add_material(name=name, rgba=rgba, specular=shine, shininess=shine)
    look = spec.visual
    look.global_.offwidth, look.global_.offheight = 640, 480  # a larger buffer slows every picture
    look.quality.shadowsize = 2048
    look.quality.numslices, look.quality.numstacks = 16, 8
    look.headlight.ambient = [0.35, 0.35, 0.35]
    look.headlight.diffuse = [0.25, 0.25, 0.25]
    look.headlight.specular = [0.1, 0.1, 0.1]
    look.rgba.haze = [0.93, 0.95, 0.98, 1.0]
    sun = spec.worldbody.add_light(name="sun", pos=[0, 0, 10], dir=[0.3, 0.5, -1.0])
    sun.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    sun.castshadow = False
    sun.diffuse, sun.specular = [0.4, 0.4, 0.4], [0.1, 0.1, 0.1]
    # MuJoCo scales clipping planes and shadows by the model's size, which N would change: fix it.
    spec.stat.extent = 1.0
    spec.stat.center = [0.0, 0.0, 0.8]


def dress_base(base: mujoco.MjsBody, parameters: ModelParameters) -> None:
    """Add motors, rotor discs, a nose, the flange, the light that follows, and the cameras."""
    depth = parameters.arm.flange_offset
    flange = _visual(base, "flange", mujoco.mjtGeom.mjGEOM_CYLINDER, "frame")
    flange.fromto = [0, 0, 0, 0, 0, -max(depth, 0.001)]
    flange.size = [float(np.max(parameters.tendons.radii)) + 0.006, 0, 0]
    nose = _visual(base, "nose", mujoco.mjtGeom.mjGEOM_BOX, "nose")
    nose.pos, nose.size = [0.045, 0, 0.014], [0.022, 0.022, 0.012]
    for k, (hub, sign) in enumerate(
        zip(parameters.airframe.hubs, parameters.airframe.spin, strict=True), start=1
    ):
        _dress_rotor(base, k, hub, sign, parameters)
    light = base.add_light(name="lamp", pos=[0.5, -0.4, 2.5], dir=[-0.2, 0.16, -1.0])
    light.mode = mujoco.mjtCamLight.mjCAMLIGHT_TRACK
    light.type = mujoco.mjtLightType.mjLIGHT_SPOT
    light.cutoff, light.exponent = 60, 8
    light.castshadow = True
    light.diffuse, light.specular = [0.35, 0.35, 0.35], [0.3, 0.3, 0.3]
    cameras = CAMERAS if parameters.load is None else WIDE_CAMERAS
    for name, (place, target) in cameras.items():
        _camera(base, name, place, target)


def _dress_rotor(
    base: mujoco.MjsBody, k: int, hub: NDArray[np.float64], sign: int, parameters: ModelParameters
) -> None:
    x, y, z = (float(value) for value in hub)
    motor = _visual(base, f"motor_{k}", mujoco.mjtGeom.mjGEOM_CYLINDER, "frame")
    motor.fromto = [x, y, z - 0.012, x, y, z + ROTOR_HEIGHT]
    motor.size = [0.014, 0, 0]
    material = "rotor_left" if sign > 0 else "rotor_right"
    disc = _visual(base, f"disc_{k}", mujoco.mjtGeom.mjGEOM_CYLINDER, material)
    disc.pos = [x, y, z + ROTOR_HEIGHT]
    disc.size = [0.6 * parameters.airframe.arm_length, 0.0015, 0]


def _visual(body: mujoco.MjsBody, name: str, kind: mujoco.mjtGeom, material: str) -> mujoco.MjsGeom:
    geom = body.add_geom(name=name, type=kind, material=material, group=VISUAL_GROUP)
    geom.contype, geom.conaffinity, geom.mass = 0, 0, 0
    return geom


def _camera(base: mujoco.MjsBody, name: str, place: list[float], target: list[float]) -> None:
    """Add a camera that keeps its place and heading relative to the base's origin in the world."""
    backward = np.subtract(place, target)
    backward /= np.linalg.norm(backward)
    right = np.cross([0.0, 0.0, 1.0], backward)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(backward, right), backward], axis=1)
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, axes.ravel())
    camera = base.add_camera(name=name, pos=place, quat=quaternion, fovy=45)
    camera.mode = mujoco.mjtCamLight.mjCAMLIGHT_TRACK
