"""URDF files as MuJoCo reads them, with meshes found and inertials kept."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import mujoco

READABLE = (".msh", ".obj", ".stl")
"""Endings of mesh files that MuJoCo has decoders for."""
PACKAGE = "package://"
_SHELL = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL


def load_urdf(path: Path, packages: Sequence[str] = ()) -> mujoco.MjSpec:
    """Return the editable description of a URDF file.

    Every link is a body of its own, also behind fixed joints. A link's mass is that of its
    `<inertial>`, and none where it has none. Meshes are looked for beside the file or, for
    "package://name/rest", as name/rest in the folders given. Those that are missing or that MuJoCo
    can't read are dropped, with one warning that tells which and why.

    Args:
        path: the file.
        packages: folders that contain packages.

    Raises:
        ElementTree.ParseError: not an XML file.
        ValueError: not a URDF that MuJoCo takes.
    """
    robot = ElementTree.parse(path).getroot()
    dropped = _settle_meshes(robot, path.parent, [Path(folder) for folder in packages])
    _set_compiler(robot)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    for geom in spec.geoms:
        geom.density = 0.0
    for mesh in spec.meshes:
        mesh.inertia = _SHELL  # a flat mesh has no volume, and inertias are not taken from meshes
    if dropped:
        warnings.warn(f"{path}: {_words(dropped)}", stacklevel=2)
    return spec


def _words(dropped: dict[str, str]) -> str:
    """Return which meshes were dropped, and why."""
    reasons = dict.fromkeys(dropped.values())
    groups = ((reason, [name for name in dropped if dropped[name] == reason]) for reason in reasons)
    listed = (f"{', '.join(names)} ({reason})" for reason, names in groups)
    return f"{len(dropped)} meshes are left out: {'; '.join(listed)}"


def _set_compiler(robot: ElementTree.Element) -> None:
    """Ask MuJoCo to keep links behind fixed joints, visual geoms and the paths of meshes."""
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    compiler.attrib.pop("meshdir", None)
    compiler.set("fusestatic", "false")
    compiler.set("strippath", "false")
    compiler.set("discardvisual", "false")


def _settle_meshes(
    robot: ElementTree.Element, folder: Path, packages: list[Path]
) -> dict[str, str]:
    """Write absolute paths of meshes, and drop geometry whose mesh can't be read.

    Returns:
        Why a mesh was dropped, by its name in the file.
    """
    dropped: dict[str, str] = {}
    good: set[Path] = set()
    for link in robot.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            mesh = shape.find("geometry/mesh")
            if mesh is None:
                continue
            name = mesh.get("filename", "")
            path = None if name in dropped else _find(name, folder, packages)
            if path is None:
                dropped.setdefault(name, "no such file")
            elif path not in good:
                fault = _fault(path)
                if fault:
                    dropped[name] = fault
                good.add(path)
            if name in dropped:
                link.remove(shape)
            else:
                mesh.set("filename", str(path))
    return dropped


def _find(name: str, folder: Path, packages: list[Path]) -> Path | None:
    """Return the file that a URDF names, None if there is none."""
    if name.startswith(PACKAGE):
        rest = name.removeprefix(PACKAGE)
        candidates = [place / rest for place in packages]
    elif name.startswith("file://"):
        candidates = [Path(unquote(name.removeprefix("file://")))]
    else:
        candidates = [folder / name]
    return next((path.resolve() for path in candidates if path.is_file()), None)


def _fault(path: Path) -> str:
    """Return why MuJoCo can't read a mesh, an empty string if it can."""
    if path.suffix.lower() not in READABLE:
        return f"MuJoCo reads only {', '.join(READABLE)}"
    spec = mujoco.MjSpec()
    spec.add_mesh(name="mesh", file=str(path), inertia=_SHELL)
    try:
        spec.compile()
    except ValueError as error:
        return str(error).splitlines()[0]
    return ""
