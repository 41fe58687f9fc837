"""Single bodies, grounds and systems as elements of native XML, both ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tendon_gym import checks
from tendon_gym.tendons.files.elements import Element, joined, shortest
from tendon_gym.tendons.files.shapes import BODY_TYPES, DIMENSIONS, GRAY, Ground, Numbers, Shape
from tendon_gym.tendons.files.sidecars import relative
from tendon_gym.tendons.files.systems import System

SYSTEMS = ("articulatedSystem", "articulated_system")
OBJECTS = ("ground", *DIMENSIONS, *SYSTEMS)
"""The elements of objects that MuJoCo can say."""
_GROUPS = ("collision_group", "collision_mask")
_COMMON = ("name", "mass", "appearance", "body_type", "com", "material", *_GROUPS)
_MESH = ("file_name", "scale", "collision_mode")
_INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
_VELOCITIES = ("lin_vel", "ang_vel")
_OLDER = {
    "linVel": "lin_vel",
    "angVel": "ang_vel",
    "collisionGroup": "collision_group",
    "collisionMask": "collision_mask",
    "fileName": "file_name",
    "urdfPath": "urdf_path",
    "resDir": "res_dir",
}
"""Names of attributes in older files."""
_SWITCHES = {0: False, 1: True, -1: True, 2**31: True, 2**32 - 1: True}
"""Whether something collides, by its group or mask; of finer ones MuJoCo has no equal."""
_STILL = (0.0, 0.0, 0.0)
_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


# -- reading


def modernise(element: Element) -> None:
    """Give the attributes of an object their present names."""
    for each in (element, *element.children):
        for older, name in _OLDER.items():
            if older in each.attributes:
                if name in each.attributes:
                    each.fail(f"{older} and {name} are the same attribute")
                each.attributes[name] = each.attributes.pop(older)


def is_base(element: Element) -> bool:
    """Say whether an object is the model that a scene stands on, whose names have no prefix."""
    return element.tag in SYSTEMS and element.attributes.get("prefix") == ""


def read_system(element: Element, folder: Path) -> System:
    """Return an articulated system; relative paths are from `folder`."""
    element.check(("name", "urdf_path", "mjcf_path", "res_dir", "prefix"), ["state"])
    if element.attributes.get("prefix", ""):
        element.fail('prefix can only be "", for the model that the scene stands on')
    given = [name for name in ("urdf_path", "mjcf_path") if name in element.attributes]
    if len(given) != 1:
        element.fail("it needs one of urdf_path and mjcf_path")
    resources = None
    if "res_dir" in element.attributes:
        resources = _path(element, "res_dir", folder)
    return System(element.text("name"), _path(element, given[0], folder), resources)


def read_ground(element: Element) -> Ground:
    """Return a ground."""
    element.check(("name", "height", "appearance", "material", "collision_mask"))
    return Ground(
        element.text("name"), element.number("height", 0.0), _color(element), _collides(element)
    )


def read_shape(element: Element, folder: Path) -> Shape:
    """Return a single body; relative paths are from `folder`."""
    element.check(
        (*_COMMON, *(_MESH if element.tag == "mesh" else ())), ("dim", "inertia", "state")
    )
    kind = checks.choice("body_type", element.text("body_type", "dynamic"), BODY_TYPES)
    state = element.only("state")
    if state is None:
        element.fail("it needs a <state> inside it")
    state.check(("pos", "quat", *_VELOCITIES))
    velocity = read_velocity(element)
    if any(velocity) and kind != "dynamic":
        state.fail(f"what is {kind} has no velocity in MuJoCo, got {checks.shown(velocity)}")
    mesh, scale = _read_mesh(element, folder) if element.tag == "mesh" else (None, 1.0)
    return Shape(
        element.text("name"),
        element.tag,
        _read_size(element),
        element.number("mass"),
        element.numbers("com", 3, _STILL),
        _read_inertia(element),
        kind,
        state.numbers("pos", 3),
        state.numbers("quat", 4, _UPRIGHT),
        _color(element),
        _collides(element),
        mesh,
        scale,
    )


def read_velocity(element: Element) -> Numbers:
    """Return the linear and the angular velocity of a single body, in the frame of the world."""
    state = element.only("state")
    if state is None:
        return _STILL * 2
    values: Numbers = ()
    with state.located():
        for name in _VELOCITIES:
            values += tuple(checks.array(name, state.numbers(name, 3, _STILL), (3,)).tolist())
    return values


def _read_size(element: Element) -> Numbers:
    names, dim = DIMENSIONS[element.tag], element.only("dim")
    if dim is None:
        if names:
            element.fail("it needs a <dim> inside it")
        return ()
    dim.check(names)
    with dim.located():
        return tuple(checks.number(name, dim.number(name), above=0.0) for name in names)


def _read_inertia(element: Element) -> Numbers | None:
    inertia = element.only("inertia")
    if inertia is None:
        return None
    inertia.check(_INERTIA)
    return tuple(inertia.number(name) for name in _INERTIA)


def _read_mesh(element: Element, folder: Path) -> tuple[Path, float]:
    """Return file and scale of a mesh."""
    scale = element.numbers("scale", None, (1.0,))
    if len(set(scale)) != 1 or len(scale) not in (1, 3):
        element.fail(f"scale must be one number, or three equal ones, got {checks.shown(scale)}")
    mode = element.integer("collision_mode", 1)
    if mode not in (0, 1):
        element.fail(f"collision_mode must be 0 or 1: both collide as convex hull, got {mode}")
    path = _path(element, "file_name", folder)
    if not path.is_file():
        element.fail(f"there is no file {str(path)!r}")
    return path, scale[0]


def _path(element: Element, name: str, folder: Path) -> Path:
    return folder / element.text(name).replace("[THIS_DIR]", str(folder))


def _color(element: Element) -> Numbers:
    if element.attributes.get("appearance", "default") in ("", "default"):
        return GRAY
    return element.numbers("appearance", 4)


def _collides(element: Element) -> bool:
    """Say whether an object takes part in contacts."""
    material = element.attributes.get("material", "default")
    if material not in ("", "default"):
        legal = "'default': MuJoCo has no properties of pairs"
        element.fail(f"material must be {legal}, got {checks.shown(material)}")
    collides = True
    for name in _GROUPS:
        value = element.integer(name, 1)
        if value not in _SWITCHES:
            element.fail(f"{name} must be 0 for no contacts, or 1 or -1 for all, got {value}")
        collides = collides and _SWITCHES[value]
    return collides


# -- writing


def ground_element(ground: Ground) -> Element:
    """Return the element of a ground."""
    attributes = {"name": ground.name, "height": shortest(ground.height)}
    return Element("ground", attributes | _looks(ground))


def shape_element(
    shape: Shape, positions: np.ndarray, velocities: np.ndarray, folder: Path
) -> Element:
    """Return the element of a single body.

    Args:
        shape: the body.
        positions: (7,), of one that is free, else empty: it is where its shape says.
        velocities: (6,), in the frame of the world, or empty.
        folder: that paths are relative to.
    """
    attributes = {"name": shape.name, "mass": shortest(shape.mass)}
    if shape.mesh is not None:
        attributes |= {"file_name": relative(shape.mesh, folder), "scale": shortest(shape.scale)}
        attributes |= {"collision_mode": "1"}
    if any(shape.com):
        attributes["com"] = joined(shape.com)
    if shape.body_type != "dynamic":
        attributes["body_type"] = shape.body_type
    element = Element(shape.kind, attributes | _looks(shape))
    if shape.size:
        sizes = zip(DIMENSIONS[shape.kind], map(shortest, shape.size), strict=True)
        element.children.append(Element("dim", dict(sizes)))
    if shape.inertia is not None:
        moments = zip(_INERTIA, map(shortest, shape.inertia), strict=True)
        element.children.append(Element("inertia", dict(moments)))
    pose = positions if positions.size else np.array([*shape.position, *shape.quaternion])
    state = {"pos": joined(pose[:3]), "quat": joined(pose[3:])}
    if velocities.size:
        state |= {"lin_vel": joined(velocities[:3]), "ang_vel": joined(velocities[3:])}
    element.children.append(Element("state", state))
    return element


def system_element(system: System, folder: Path) -> Element:
    """Return the element of an articulated system, without its state."""
    kind = "urdf_path" if system.path.suffix.lower() == ".urdf" else "mjcf_path"
    attributes = {"name": system.name, kind: relative(system.path, folder)}
    if system.resources is not None:
        attributes["res_dir"] = relative(system.resources, folder)
    return Element("articulatedSystem", attributes)


def _looks(thing: Shape | Ground) -> dict[str, str]:
    attributes = {}
    if thing.color != GRAY:
        attributes["appearance"] = joined(thing.color)
    if not thing.collides:
        attributes["collision_mask"] = "0"
    return attributes
