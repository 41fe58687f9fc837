"""From a scene's specification to MuJoCo's editable one: files read, put together, furnished."""

from __future__ import annotations

import os
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import mujoco

from tendon_gym import checks
from tendon_gym.chains.furniture import add_floor, add_object, add_table
from tendon_gym.chains.specs import ActuatorSpec, AttachmentSpec, RobotSpec, SceneSpec
from tendon_gym.chains.urdf import load_urdf

_HINGE, _SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
_FORCE, _TORQUE = mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE


class Part(NamedTuple):
    """What a robot brought into the scene: which bodies, joints and actuators, in their order."""

    robot: RobotSpec
    bodies: slice
    joints: slice
    actuators: slice
    key: int
    """The keyframe of the scene that was keyframe 0 of the robot's file; 0 if it has none."""


def assemble(scene: SceneSpec) -> tuple[mujoco.MjSpec, list[Part]]:
    """Return the scene's editable description, and what each robot brought.

    A keyframe 0 named "scene" is there, still without values. Objects are the last bodies.

    Raises:
        ValueError: a file that is missing or not MuJoCo's, an unknown body or joint, or names that
            occur twice.
    """
    spec = mujoco.MjSpec()
    spec.modelname = "scene"
    spec.compiler.degree = False
    spec.compiler.conflict = mujoco.mjtConflict.mjCONFLICT_MERGE  # what is left: sizes
    spec.add_key(name="scene")
    parts = []
    for k, robot in enumerate(scene.robots):
        where = f"SceneSpec.robots[{k}]"
        child = _load_robot(robot, where)
        if k == 0:
            spec.option = child.option
        before = [len(spec.bodies), len(spec.joints), len(spec.actuators)]
        keys = len(spec.keys)
        spec = _attach(spec, child, robot, spec.worldbody, where)
        after = [len(spec.bodies), len(spec.joints), len(spec.actuators)]
        own = [slice(*ends) for ends in zip(before, after, strict=True)]
        parts.append(Part(robot, *own, key=keys if len(spec.keys) > keys else 0))
    spec.option.timestep = scene.timestep
    spec.option.gravity = scene.gravity
    if scene.floor:
        add_floor(spec)
    if scene.table is not None:
        add_table(spec, scene.table)
    for k, item in enumerate(scene.objects):
        with about(f"SceneSpec.objects[{k}]"):
            add_object(spec, item)
    return spec, parts


@contextmanager
def about(where: str) -> Iterator[None]:
    """Say which part of the scene it is that MuJoCo refuses."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _load_robot(robot: RobotSpec, where: str) -> mujoco.MjSpec:
    """Return a robot with its attachments, actuators and sensors, all still without its prefix."""
    spec = load_file(f"{where}.path", robot.path, robot.packages)
    joints = [joint.name for joint in spec.joints if joint.type in (_HINGE, _SLIDE)]
    for k, attachment in enumerate(robot.attachments):
        inner = f"{where}.attachments[{k}]"
        child = load_file(f"{inner}.path", attachment.path, attachment.packages)
        for key in child.keys:  # of no use to the robot
            child.delete(key)
        body = _named(f"{inner}.attach_to", attachment.attach_to, spec.body, spec.bodies)
        spec = _attach(spec, child, attachment, body, inner)
    for k, attachment in enumerate(robot.attachments):
        for pair in attachment.exclusions:
            inner = f"{where}.attachments[{k}].exclusions"
            first, second = (_named(inner, name, spec.body, spec.bodies).name for name in pair)
            spec.add_exclude(bodyname1=first, bodyname2=second)
    for k, actuators in enumerate(robot.actuators):
        _add_actuators(spec, actuators, joints, f"{where}.actuators[{k}]")
    for name in robot.force_torque:
        body = _named(f"{where}.force_torque", name, spec.body, spec.bodies)
        with about(f"{where}.force_torque"):
            _add_force_torque(spec, body)
    return spec


def load_file(what: str, path: str, packages: Sequence[str] = ()) -> mujoco.MjSpec:
    """Return the editable description of an MJCF or URDF file, its assets by absolute paths.

    Args:
        what: how messages call the file.
        path: the file.
        packages: folders with packages, for URDF.
    """
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"{what} must be an MJCF or URDF file, and there is no {path!r}")
    try:
        root = ElementTree.parse(file).getroot().tag
        if root == "robot":
            return load_urdf(file, packages)
        if root != "mujoco":
            raise ValueError(f"its root is <{root}>, not <mujoco> or <robot>")
        spec = mujoco.MjSpec.from_file(str(file))
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"{what}: {path!r} can't be read: {error}") from error
    if spec.compiler.settotalmass > 0.0:
        warnings.warn(
            f"{what}: settotalmass of {path!r} is left out, bodies have the masses that they give",
            stacklevel=2,
        )
    _make_absolute(spec, file.parent.resolve())
    return spec


def _make_absolute(spec: mujoco.MjSpec, folder: Path) -> None:
    """Write absolute paths of assets, which hold wherever the scene is saved."""
    meshes, textures = folder / spec.meshdir, folder / spec.texturedir
    for asset in (*spec.meshes, *spec.hfields, *spec.skins):
        if asset.file:
            asset.file = os.path.normpath(meshes / asset.file)
    for texture in spec.textures:
        if texture.file:
            texture.file = os.path.normpath(textures / texture.file)
        for k, face in enumerate(texture.cubefiles):
            if face:
                texture.cubefiles[k] = os.path.normpath(textures / face)


def _attach(
    parent: mujoco.MjSpec,
    child: mujoco.MjSpec,
    placed: RobotSpec | AttachmentSpec,
    body: mujoco.MjsBody,
    where: str,
) -> mujoco.MjSpec:
    """Return the parent with a child attached to one of its bodies."""
    child.option = parent.option
    if not placed.prefix:  # else "main" would be two classes of the parent's
        child.default.name = f"main_of_{child.modelname}_{len(parent.bodies)}"
    frame = body.add_frame(pos=placed.position, quat=placed.quaternion)
    try:
        child.compile()  # by itself, so that faults are its own; keyframes get its size
        with _unprefixed_allowed():
            parent.attach(child, prefix=placed.prefix, frame=frame)
    except ValueError as error:
        raise ValueError(f"{where}: {placed.path!r} can't be attached: {error}") from error
    return parent.copy()  # which MuJoCo compiles without the warning


@contextmanager
def _unprefixed_allowed() -> Iterator[None]:
    """Keep MuJoCo from warning of attaching without a prefix: that is a scene's only such robot."""
    before = mujoco.get_mju_user_warning()

    def pass_on(text: str) -> None:
        if "empty prefix" in text:
            return
        if before is None:
            warnings.warn(text, stacklevel=2)
        else:
            before(text)

    mujoco.set_mju_user_warning(pass_on)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _named(what: str, name: str, find: Any, elements: Iterable[Any]) -> Any:
    """Return the element of a name, or raise and tell the names that there are."""
    element = find(name)
    if element is None:
        legal = ", ".join(sorted(element.name for element in elements if element.name))
        raise ValueError(f"{what}: there is no {name!r}, only {checks.shown(legal)}")
    return element


def _add_force_torque(spec: mujoco.MjSpec, body: mujoco.MjsBody) -> None:
    site = body.add_site(name=f"{body.name}_ft")
    for word, kind in (("force", _FORCE), ("torque", _TORQUE)):
        sensor = spec.add_sensor(name=f"{site.name}_{word}", type=kind)
        sensor.objtype = mujoco.mjtObj.mjOBJ_SITE
        sensor.objname = site.name


def _add_actuators(spec: mujoco.MjSpec, added: ActuatorSpec, joints: list[str], where: str) -> None:
    """Add actuators to joints that have none for the mode yet."""
    present = {(actuator.target, _mode(actuator)) for actuator in spec.actuators}
    for name in joints if added.joints is None else added.joints:
        joint = _named(f"{where}.joints", name, spec.joint, spec.joints)
        if joint.type not in (_HINGE, _SLIDE):
            raise ValueError(f"{where}.joints: {name!r} is neither a hinge nor a slide")
        for mode in added.modes:
            if (name, mode) not in present:
                with about(where):
                    _add_actuator(spec, joint, mode, added)


def _mode(actuator: Any) -> str:
    """Return the mode that an actuator of a joint serves, an empty string for others."""
    if actuator.trntype != mujoco.mjtTrn.mjTRN_JOINT:
        return ""
    if actuator.gaintype != mujoco.mjtGain.mjGAIN_FIXED:
        return ""
    if actuator.biastype == mujoco.mjtBias.mjBIAS_NONE:
        return "torque"
    return "position" if actuator.biasprm[1] else "velocity"


def _add_actuator(spec: mujoco.MjSpec, joint: Any, mode: str, added: ActuatorSpec) -> None:
    actuator = spec.add_actuator(name=f"{joint.name}_{mode}", target=joint.name)
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    most = joint.actfrcrange
    limited = most[0] < most[1]
    if limited:
        actuator.forcerange = most
    if mode == "position":
        actuator.set_to_position(kp=added.stiffness, dampratio=added.damping_ratio)
        if joint.range[0] < joint.range[1]:
            actuator.inheritrange = 1.0
    elif mode == "velocity":
        actuator.set_to_velocity(kv=added.velocity_gain)
    else:
        actuator.set_to_motor()
        if limited:
            actuator.ctrlrange = most
