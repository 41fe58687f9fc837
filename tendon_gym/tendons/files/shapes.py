"""The single bodies of native XML, and the ground: what one element says, as a body of a spec.

A body of a spec is such an object if building what it would be written as gives the same body: same
geom, same joint, same inertia. What has anything more to it goes to the model's own file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tendon_gym import checks
from tendon_gym.tendons.plain import plain

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "sphere": ("radius",),
    "box": ("x", "y", "z"),
    "capsule": ("radius", "height"),
    "cylinder": ("radius", "height"),
    "mesh": (),
}
"""The kinds of single bodies, with the dimensions of each, m."""
BODY_TYPES = ("dynamic", "static", "kinematic")
Numbers = tuple[float, ...]

_GEOMS = {
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}
_KINDS = {int(geom): kind for kind, geom in _GEOMS.items()}
GRAY: Numbers = (0.5, 0.5, 0.5, 1.0)
_LEAST_NORM = 1e-15
"""Of a quaternion."""


@dataclass(frozen=True)
class Shape:
    """A single rigid body.

    Attributes:
        name: of the object, its body, geom and joint.
        kind: a key of DIMENSIONS.
        size: its dimensions, m; heights of capsules without the caps.
        mass: kg, above 0.
        com: centre of mass in the frame of the body, m.
        inertia: about it, xx, yy, zz, xy, xz, yz, kg m^2; None: of uniform density.
        body_type: dynamic, static or kinematic (a mocap body).
        position: m, world.
        quaternion: w, x, y, z.
        color: red, green, blue, alpha.
        collides: whether it takes part in contacts.
        mesh: file of a mesh.
        scale: of the mesh, above 0.
    """

    name: str
    kind: str
    size: Numbers
    mass: float
    com: Numbers = (0.0, 0.0, 0.0)
    inertia: Numbers | None = None
    body_type: str = "dynamic"
    position: Numbers = (0.0, 0.0, 0.0)
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)
    color: Numbers = GRAY
    collides: bool = True
    mesh: Path | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        for name, value in zip(DIMENSIONS[self.kind], self.size, strict=True):
            checks.number(name, value, above=0.0)
        checks.number("mass", self.mass, above=0.0)
        checks.number("scale", self.scale, above=0.0)
        checks.array("com", self.com, (3,))
        checks.array("pos", self.position, (3,))
        checks.array("appearance", self.color, (4,), minimum=0.0, maximum=1.0)
        object.__setattr__(self, "quaternion", unit_quaternion("quat", self.quaternion))
        if self.inertia is not None:
            _check_inertia(self.inertia)
        elif any(self.com):
            raise ValueError("an inertia must be given with a com that is not 0")


@dataclass(frozen=True)
class Ground:
    """An infinite floor at a height, m."""

    name: str
    height: float = 0.0
    color: Numbers = GRAY
    collides: bool = True

    def __post_init__(self) -> None:
        checks.number("height", self.height)
        checks.array("appearance", self.color, (4,), minimum=0.0, maximum=1.0)


def unit_quaternion(name: str, value: Iterable[float]) -> Numbers:
    """Return a quaternion as it is if its length is 1 to rounding, else divided by its length."""
    result = checks.array(name, tuple(value), (4,))
    norm = float(np.linalg.norm(result))
    if not norm > _LEAST_NORM or not math.isfinite(norm):
        raise ValueError(f"{name} must be a rotation, got {checks.shown(result)}")
    mujoco.mju_normalize4(result)
    return tuple(result.tolist())


def add_ground(spec: mujoco.MjSpec, ground: Ground) -> None:
    """Add a floor to a spec."""
    geom = plain(spec.worldbody.add_geom(name=ground.name))
    geom.type = mujoco.mjtGeom.mjGEOM_PLANE
    geom.size = [0.0, 0.0, 1.0]
    geom.pos = [0.0, 0.0, ground.height]
    geom.rgba = ground.color
    geom.contype = geom.conaffinity = int(ground.collides)


def add_shape(spec: mujoco.MjSpec, shape: Shape) -> mujoco.MjsBody:
    """Add a single body to a spec."""
    body = spec.worldbody.add_body(name=shape.name, pos=shape.position, quat=shape.quaternion)
    if shape.body_type == "dynamic":
        body.add_freejoint(name=shape.name)
    body.mocap = shape.body_type == "kinematic"
    geom = plain(body.add_geom(name=shape.name))
    geom.type = _GEOMS[shape.kind]
    geom.rgba = shape.color
    geom.contype = geom.conaffinity = int(shape.collides)
    if shape.mesh is not None:
        mesh = plain(spec.add_mesh(name=shape.name, file=str(shape.mesh)))
        mesh.scale = [shape.scale] * 3
        geom.meshname = shape.name
    elif shape.kind in ("capsule", "cylinder"):
        geom.size = [shape.size[0], 0.5 * shape.size[1], 0.0]
    elif shape.kind == "box":
        geom.size = [0.5 * side for side in shape.size]
    else:
        geom.size = [shape.size[0], 0.0, 0.0]
    if shape.inertia is None:
        geom.mass = shape.mass
    else:
        body.explicitinertial = True
        body.mass, body.ipos, body.fullinertia = shape.mass, shape.com, shape.inertia
    return body


def ground_of(geom: mujoco.MjsGeom) -> Ground | None:
    """Return the ground that a geom of the world is, or None."""
    if geom.type != mujoco.mjtGeom.mjGEOM_PLANE or not geom.name or geom.frame is not None:
        return None
    ground = Ground(geom.name, float(geom.pos[2]), plain_color(geom.rgba), bool(geom.contype))
    again = mujoco.MjSpec()
    add_ground(again, ground)
    return ground if _same(geom, again.geoms[0]) else None


def shape_of(spec: mujoco.MjSpec, model: mujoco.MjModel, body: mujoco.MjsBody) -> Shape | None:
    """Return the single body that a body of a spec is, or None; `spec` compiles to `model`."""
    alone = not (body.bodies or body.sites or body.cameras or body.lights or body.frames)
    if not body.name or body.frame is not None or not alone or len(body.geoms) != 1:
        return None
    geom = body.geoms[0]
    kind = _KINDS.get(int(geom.type))
    if kind is None or spec.plugins or (body.joints and body.mocap):
        return None
    try:
        shape = _read(kind, spec, model, body)
    except ValueError:  # such as a body without mass
        return None
    return shape if _is(shape, spec, body) else None


def _read(kind: str, spec: mujoco.MjSpec, model: mujoco.MjModel, body: mujoco.MjsBody) -> Shape:
    """Return what a body with one geom looks like as a single body."""
    geom = body.geoms[0]
    mesh = spec.mesh(geom.meshname) if kind == "mesh" else None
    shape = Shape(
        body.name,
        kind,
        _size(kind, geom),
        float(model.body_mass[body.id]),
        body_type="dynamic" if body.joints else "kinematic" if body.mocap else "static",
        position=tuple(model.body_pos[body.id].tolist()),
        quaternion=tuple(model.body_quat[body.id].tolist()),
        color=plain_color(geom.rgba),
        collides=bool(geom.contype),
        mesh=None if mesh is None else Path(mesh.file),
        scale=1.0 if mesh is None else float(mesh.scale[0]),
    )
    if not body.explicitinertial:
        return shape
    inertia = body.fullinertia
    if math.isnan(inertia[0]):  # given by its principal axes, which are to be the body's
        inertia = np.append(body.inertia, [0.0, 0.0, 0.0])
    return replace(shape, com=tuple(body.ipos.tolist()), inertia=tuple(inertia.tolist()))


def plain_color(rgba: Any) -> Numbers:
    """Return MuJoCo's single-precision colours as the numbers that a user wrote."""
    return tuple(float(str(value)) for value in np.asarray(rgba, np.float32))


def _size(kind: str, geom: mujoco.MjsGeom) -> Numbers:
    size = [float(value) for value in geom.size]
    if kind == "mesh":
        return ()
    if kind == "box":
        return tuple(2.0 * value for value in size)
    return (size[0],) if kind == "sphere" else (size[0], 2.0 * size[1])


def _is(shape: Shape, spec: mujoco.MjSpec, body: mujoco.MjsBody) -> bool:
    """Say whether building `shape` gives `body`."""
    again = mujoco.MjSpec()
    other = add_shape(again, shape)
    if len(body.joints) != len(other.joints):
        return False
    pairs = [*zip(body.joints, other.joints, strict=True), (body.geoms[0], other.geoms[0])]
    pairs.append((body, other))
    if shape.kind == "mesh":
        users = [geom for geom in spec.geoms if geom.meshname == shape.name]
        if len(users) != 1 or shape.mesh is None or not shape.mesh.is_file():
            return False
        pairs.append((spec.mesh(shape.name), again.mesh(shape.name)))
    return all(_same(mine, built) for mine, built in pairs)


_APART = {"bodies", "cameras", "frames", "geoms", "joints", "lights", "sites"}
_FREE = {"classname", "childclass", "compiler", "content_type", "default", "frame", "id", "info"}
_FREE |= {"parent", "plugin", "signature", "simple", "fuse"}
_SEEN = {
    mujoco.MjsBody: {"pos", "quat", "mass", "inertia", "fullinertia", "iquat"},
    mujoco.MjsGeom: {"mass", "density"},
}
"""What is compared otherwise, or says nothing about the thing itself."""


def _same(mine: Any, built: Any) -> bool:
    """Say whether two elements of specs have the same attributes."""
    skipped = _APART | _FREE | _SEEN.get(type(mine), set())
    for name in dir(mine):
        value = getattr(mine, name)
        if name.startswith("_") or name in skipped or callable(value):
            continue
        other = getattr(built, name)
        if name == "name":
            if value not in ("", other):
                return False
        elif type(value).__name__.startswith("Mjs"):
            if not _same(value, other):
                return False
        elif not _equal(value, other):
            return False
    return _inertial(mine) == _inertial(built) if isinstance(mine, mujoco.MjsBody) else True


def _inertial(body: mujoco.MjsBody) -> tuple[object, ...]:
    """Return what an explicit inertia of a body is turned by."""
    return (tuple(body.iquat.tolist()),) if body.explicitinertial else ()


def _equal(value: Any, other: Any) -> bool:
    if isinstance(value, np.ndarray):
        return np.array_equal(value, other, equal_nan=value.dtype.kind == "f")
    if type(value).__name__.startswith("Mj"):  # one of the bindings' vectors
        return list(value) == list(other)
    return value == other or (value != value and other != other)


def _check_inertia(inertia: Numbers) -> None:
    """Raise unless six numbers are those of an inertia that a body can have."""
    xx, yy, zz, xy, xz, yz = checks.array("inertia", inertia, (6,)).tolist()
    moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if moments[0] <= 0.0 or moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
        raise ValueError(
            "inertia must be positive definite, and no principal moment more than the sum of the "
            f"others, got the principal moments {checks.shown(moments)}"
        )
