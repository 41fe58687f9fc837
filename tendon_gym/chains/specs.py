"""What a scene is made of, as frozen dataclasses: robots, attachments, actuators, table, objects.

Positions are in m. Orientations are quaternions (w, x, y, z) of any length but zero. Paths name
MJCF or URDF files. Names of bodies and joints are those of the robot's own files, without the
robot's prefix; what an attachment brings has the attachment's prefix in front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tendon_gym import checks

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Colour = tuple[float, float, float, float]
Mode = Literal["position", "velocity", "torque"]
Shape = Literal["box", "sphere", "cylinder", "capsule"]

MODES: tuple[Mode, ...] = ("position", "velocity", "torque")
SIZES: dict[Shape, int] = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2}
"""How many numbers give the size of a shape: half sides; radius; radius and half length."""

UPRIGHT: Quaternion = (1.0, 0.0, 0.0, 0.0)


def _set(config: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(config, name, value)


def _where(config: object, name: str) -> str:
    return f"{type(config).__name__}.{name}"


def _set_text(config: object, *names: str, empty: bool = False) -> None:
    for name in names:
        value = getattr(config, name)
        if not isinstance(value, str):
            kind = type(value).__name__
            raise TypeError(f"{_where(config, name)} must be a string, got {kind}")
        if not value and not empty:
            checks.reject(_where(config, name), value, "a name that is not empty")


def _set_texts(config: object, name: str) -> None:
    values = getattr(config, name)
    if isinstance(values, str) or not isinstance(values, (list, tuple)):
        raise TypeError(f"{_where(config, name)} must be a list of names, got {values!r}")
    for k, value in enumerate(values):
        if not isinstance(value, str) or not value:
            raise TypeError(f"{_where(config, name)}[{k}] must be a name, got {value!r}")
    _set(config, **{name: tuple(values)})


def _set_numbers(config: object, name: str, size: int, **limits: float) -> None:
    values = checks.array(_where(config, name), getattr(config, name), (size,), **limits)
    _set(config, **{name: tuple(values.tolist())})


def _set_pose(config: Any) -> None:
    _set_numbers(config, "position", 3)
    _set_numbers(config, "quaternion", 4)
    if math.hypot(*config.quaternion) < 1e-12:
        checks.reject(_where(config, "quaternion"), config.quaternion, "longer than zero")


def _set_items(config: object, name: str, kind: type) -> None:
    values = getattr(config, name)
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{_where(config, name)} must be a list, got {checks.shown(values)}")
    for k, value in enumerate(values):
        if not isinstance(value, kind):
            where = f"{_where(config, name)}[{k}]"
            raise TypeError(f"{where} must be a {kind.__name__}, got {checks.shown(value)}")
    _set(config, **{name: tuple(values)})


@dataclass(frozen=True)
class AttachmentSpec:
    """A tool, mount or sensor on a robot.

    Attributes:
        path: MJCF or URDF file of the attachment.
        attach_to: the body that it is fixed to: one of the robot or of an attachment before it.
        prefix: put in front of all names of the attachment.
        position: of the attachment's origin in that body's frame, m.
        quaternion: of its axes in that frame.
        exclusions: pairs of bodies that shall not touch each other.
        packages: as in `RobotSpec`.
    """

    path: str
    attach_to: str
    prefix: str = ""
    position: Vector = (0.0, 0.0, 0.0)
    quaternion: Quaternion = UPRIGHT
    exclusions: tuple[tuple[str, str], ...] = ()
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every field."""
        _set_text(self, "path", "attach_to")
        _set_text(self, "prefix", empty=True)
        _set_pose(self)
        _set_texts(self, "packages")
        if not isinstance(self.exclusions, (list, tuple)):
            raise TypeError(f"AttachmentSpec.exclusions must be a list, got {self.exclusions!r}")
        for k, pair in enumerate(self.exclusions):
            names = isinstance(pair, (list, tuple)) and all(isinstance(name, str) for name in pair)
            if not names or len(pair) != 2:
                where = f"AttachmentSpec.exclusions[{k}]"
                raise TypeError(f"{where} must be two names of bodies, got {pair!r}")
        _set(self, exclusions=tuple((first, second) for first, second in self.exclusions))


@dataclass(frozen=True)
class ActuatorSpec:
    """Actuators that a scene adds to hinges and slides, named "<joint>_<mode>".

    A joint that has an actuator of a mode already keeps it and gets no second one. All are limited
    to the force that the joint may take, where it is limited; position actuators also to the
    joint's range.

    Attributes:
        modes: any of "position", "velocity", "torque".
        joints: which joints; None for all hinges and slides of the robot's own file.
        stiffness: of position actuators, N m/rad or N/m.
        damping_ratio: of position actuators, 1 for critical damping of the joint's inertia in the
            model's reference position.
        velocity_gain: of velocity actuators, N m s/rad or N s/m.
    """

    modes: tuple[Mode, ...]
    joints: tuple[str, ...] | None = None
    stiffness: float = 1000.0
    damping_ratio: float = 1.0
    velocity_gain: float = 100.0

    def __post_init__(self) -> None:
        """Check every field."""
        _set_texts(self, "modes")
        for k, mode in enumerate(self.modes):
            checks.choice(f"ActuatorSpec.modes[{k}]", mode, MODES)
        if self.joints is not None:
            _set_texts(self, "joints")
        for name in ("stiffness", "velocity_gain"):
            _set(self, **{name: checks.number(_where(self, name), getattr(self, name), above=0.0)})
        ratio = checks.number("ActuatorSpec.damping_ratio", self.damping_ratio, minimum=0.0)
        _set(self, damping_ratio=ratio)


@dataclass(frozen=True)
class RobotSpec:
    """A robot of a scene.

    Attributes:
        path: MJCF or URDF file.
        prefix: put in front of all its names; robots of one scene need different ones.
        position: of its origin in the world, m.
        quaternion: of its axes in the world.
        attachments: fixed to it in this order, each perhaps to one before it.
        actuators: added to those that its file has.
        force_torque: bodies (of attachments too) whose joint or weld to their parent gets a force
            and a torque sensor, read by `Scene.wrench(prefix + body)`.
        home: positions of joints in the scene's keyframe 0, rad or m; None takes the file's own
            keyframe 0 where it has one. Joints that are not named stay in their reference position.
        packages: folders with packages, for "package://" in URDF files.
    """

    path: str
    prefix: str = ""
    position: Vector = (0.0, 0.0, 0.0)
    quaternion: Quaternion = UPRIGHT
    attachments: tuple[AttachmentSpec, ...] = ()
    actuators: tuple[ActuatorSpec, ...] = ()
    force_torque: tuple[str, ...] = ()
    home: Mapping[str, float] | None = None
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every field."""
        _set_text(self, "path")
        _set_text(self, "prefix", empty=True)
        _set_pose(self)
        _set_items(self, "attachments", AttachmentSpec)
        _set_items(self, "actuators", ActuatorSpec)
        _set_texts(self, "force_torque")
        _set_texts(self, "packages")
        if self.home is None:
            return
        if not isinstance(self.home, Mapping):
            raise TypeError(f"RobotSpec.home must be a dict, got {checks.shown(self.home)}")
        for name in self.home:
            if not isinstance(name, str):
                raise TypeError(
                    f"RobotSpec.home must have names of joints as keys, got {checks.shown(name)}"
                )
        home = {
            name: checks.number(f"RobotSpec.home[{name!r}]", value)
            for name, value in self.home.items()
        }
        _set(self, home=home)


@dataclass(frozen=True)
class TableSpec:
    """A table on four legs that stand on z = 0: the body "table".

    Attributes:
        position: of the middle of its top surface, m; z above the thickness.
        half_size: half of the top's sides in x and y, m.
        thickness: of the top, m.
        leg_radius: m.
        rgba: colour of the top.
        leg_rgba: colour of the legs.
    """

    position: Vector = (0.5, 0.0, 0.4)
    half_size: tuple[float, float] = (0.4, 0.6)
    thickness: float = 0.04
    leg_radius: float = 0.02
    rgba: Colour = (0.55, 0.4, 0.25, 1.0)
    leg_rgba: Colour = (0.3, 0.3, 0.3, 1.0)

    def __post_init__(self) -> None:
        """Check every field."""
        _set_numbers(self, "position", 3)
        _set_numbers(self, "half_size", 2, minimum=1e-3)
        for name in ("thickness", "leg_radius"):
            value = checks.number(_where(self, name), getattr(self, name), minimum=1e-4)
            _set(self, **{name: value})
        for name in ("rgba", "leg_rgba"):
            _set_numbers(self, name, 4, minimum=0.0, maximum=1.0)
        legal = f"greater than the thickness of {self.thickness:g}"
        if self.position[2] <= self.thickness:
            checks.reject("TableSpec.position[2]", self.position[2], legal)
        if self.leg_radius > min(self.half_size):
            checks.reject("TableSpec.leg_radius", self.leg_radius, "within the table's top")


@dataclass(frozen=True)
class SceneObject:
    """A rigid object: the body and the geom of this name, and unless it is fixed the free joint.

    Attributes:
        name: unlike all other names of bodies in the scene.
        shape: "box", "sphere", "cylinder" or "capsule".
        size: half sides of a box; radius of a sphere; radius and half length of the others, m.
        position: of its middle in the world, m.
        quaternion: of its axes in the world.
        rgba: its colour.
        fixed: whether it is part of the world instead of moving freely.
        mass: kg.
        condim: dimension of its contacts: 1, 3, 4 or 6.
        friction: sliding (no unit), torsional (m), rolling (m).
    """

    name: str
    shape: Shape
    size: tuple[float, ...]
    position: Vector = (0.0, 0.0, 0.0)
    quaternion: Quaternion = UPRIGHT
    rgba: Colour = (0.8, 0.3, 0.2, 1.0)
    fixed: bool = False
    mass: float = 0.1
    condim: int = 3
    friction: Vector = (1.0, 0.005, 0.0001)

    def __post_init__(self) -> None:
        """Check every field."""
        _set_text(self, "name")
        checks.choice("SceneObject.shape", self.shape, SIZES)
        _set_numbers(self, "size", SIZES[self.shape], minimum=1e-5)
        _set_pose(self)
        _set_numbers(self, "rgba", 4, minimum=0.0, maximum=1.0)
        checks.flag("SceneObject.fixed", self.fixed)
        _set(self, mass=checks.number("SceneObject.mass", self.mass, above=0.0))
        checks.choice("SceneObject.condim", self.condim, (1, 3, 4, 6))
        _set_numbers(self, "friction", 3, minimum=0.0)


@dataclass(frozen=True)
class SceneSpec:
    """A whole scene.

    The physics options (integrator, solver, flags) are those of the first robot's file, all but
    timestep and gravity.

    Attributes:
        robots: in the order in which their joints come in the model.
        table: None for no table.
        objects: after the robots.
        timestep: s.
        gravity: m/s^2, in the world.
        floor: whether there is one, at z = 0.
    """

    robots: tuple[RobotSpec, ...] = ()
    table: TableSpec | None = None
    objects: tuple[SceneObject, ...] = ()
    timestep: float = 0.002
    gravity: Vector = (0.0, 0.0, -9.81)
    floor: bool = True

    def __post_init__(self) -> None:
        """Check every field, and that names differ."""
        _set_items(self, "robots", RobotSpec)
        _set_items(self, "objects", SceneObject)
        if self.table is not None and not isinstance(self.table, TableSpec):
            raise TypeError(f"SceneSpec.table must be a TableSpec, got {checks.shown(self.table)}")
        timestep = checks.number("SceneSpec.timestep", self.timestep, minimum=1e-6, maximum=0.1)
        _set(self, timestep=timestep)
        _set_numbers(self, "gravity", 3)
        checks.flag("SceneSpec.floor", self.floor)
        _reject_repeated("SceneSpec.robots", "prefix", [robot.prefix for robot in self.robots])
        _reject_repeated("SceneSpec.objects", "name", [item.name for item in self.objects])


def _reject_repeated(where: str, what: str, values: list[str]) -> None:
    for k, value in enumerate(values):
        if value in values[:k]:
            first = values.index(value)
            raise ValueError(
                f"{where}[{k}].{what} must differ from that of [{first}], got {value!r}"
            )
