"""Articulated systems of a scene: models of their own files, in frames of the scene's spec.

A frame's `info` notes which file its system came from, so that a scene can refer to it again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import mujoco

_SIZES = ("memory", "njmax", "nconmax", "nstack", "nuserdata")
_SIZES += tuple(f"nuser_{kind}" for kind in "body jnt geom site cam tendon actuator sensor".split())
"""Sizes, of which those of the whole scene count, as of options."""

_MARK = "articulated system from "


class System(NamedTuple):
    """An articulated system.

    Attributes:
        name: of the object, its frame, and with a slash the prefix of its parts' names.
        path: of its file.
        resources: folder of its meshes, if not its file's own choice.
    """

    name: str
    path: Path
    resources: Path | None = None

    @property
    def prefix(self) -> str:
        """What the names of its parts begin with in the scene."""
        return f"{self.name}/"

    def load(self) -> mujoco.MjSpec:
        """Return the spec of its file, without keyframes and sky, which are a scene's."""
        spec = load_spec(self.path)
        if self.resources is not None:
            spec.meshdir = str(self.resources)
        make_absolute(spec)
        skies = [texture for texture in spec.textures if not texture.name]
        for element in [*spec.keys, *skies]:
            spec.delete(element)
        return spec


def load_spec(path: Path) -> mujoco.MjSpec:
    """Return the spec of an MJCF or URDF file; what MuJoCo refuses is told with the path."""
    if not path.is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    try:
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is no model that MuJoCo reads: {error}") from error


def attach(spec: mujoco.MjSpec, system: System) -> None:
    """Add a system to a spec, in a frame of its name."""
    child = system.load()
    for name in dir(spec.option):
        if not name.startswith("_"):
            setattr(child.option, name, getattr(spec.option, name))
    for name in _SIZES:
        setattr(child, name, getattr(spec, name))
    frame = spec.worldbody.add_frame(name=system.name)
    frame.info = _MARK + os.pathsep.join(map(str, filter(None, system[1:])))
    spec.attach(child, frame=frame, prefix=system.prefix)


def attached(spec: mujoco.MjSpec) -> list[System]:
    """Return the systems of a spec that still are what their files say, in their order."""
    found = []
    for frame in spec.worldbody.frames:
        if not frame.info.startswith(_MARK):
            continue
        path, _, resources = frame.info.removeprefix(_MARK).partition(os.pathsep)
        system = System(frame.name, Path(path), Path(resources) if resources else None)
        if system.path.is_file():
            whole = len(system.load().bodies) - 1
            if len(bodies_of(spec, system)) == whole:
                found.append(system)
    return found


def bodies_of(spec: mujoco.MjSpec, system: System) -> list[int]:
    """Return the indices of the bodies of a system in a spec that has been compiled."""
    inside: list[int] = []
    for index, body in enumerate(spec.bodies):
        if index and (body.parent.id in inside or (not body.parent.id and _in(body, system.name))):
            inside.append(index)
    return inside


def without(spec: mujoco.MjSpec, systems: list[System]) -> mujoco.MjSpec:
    """Return a copy of a spec without some systems and all that came with them."""
    rest = spec.copy()
    for system in systems:
        rest.delete(rest.frame(system.name))
        groups = (rest.meshes, rest.materials, rest.textures, rest.hfields, rest.skins)
        groups += (rest.numerics, rest.texts, rest.tuples)
        for element in [element for group in groups for element in list(group)]:
            if element.name.startswith(system.prefix):
                rest.delete(element)
        if (default := rest.find_default(f"{system.prefix}main")) is not None:
            rest.delete(default)
    return rest


def make_absolute(spec: mujoco.MjSpec) -> None:
    """Give the assets of a spec absolute paths, so that they are found from any other place.

    Raises:
        ValueError: an asset from memory, which no path leads to.
    """
    folders = {"mesh": spec.meshdir, "texture": spec.texturedir}
    for group, folder in (
        (spec.meshes, folders["mesh"]),
        (spec.hfields, folders["mesh"]),
        (spec.skins, folders["mesh"]),
        (spec.textures, folders["texture"]),
    ):
        for asset in group:
            if asset.file:
                asset.file = _absolute(spec, folder, asset.file)
            if isinstance(asset, mujoco.MjsTexture):
                for k, file in enumerate(asset.cubefiles):
                    if file:
                        asset.cubefiles[k] = _absolute(spec, folder, file)
    spec.meshdir = spec.texturedir = ""
    spec.strippath = False


def _absolute(spec: mujoco.MjSpec, folder: str, file: str) -> str:
    if file in spec.assets:
        raise ValueError(f"the asset {file!r} comes from memory: no file can refer to it")
    if spec.strippath:
        file = Path(file).name
    return os.path.abspath(os.path.join(spec.modelfiledir, folder, file))


def _in(body: mujoco.MjsBody, name: str) -> bool:
    """Say whether a body of the world is in the frame of a name, or in one inside that."""
    frame = body.frame
    while frame is not None and frame.name != name:
        frame = frame.frame
    return frame is not None
