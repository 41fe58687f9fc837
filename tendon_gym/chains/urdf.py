"""URDF files as MuJoCo reads them, with meshes found and inertials kept."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import mujoco

READABLE = (".msh", ".obj", ".stl")
"""Endings of mesh files that MuJoCo has decoders for."""
_SHELL = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL


def load_urdf(path: str | Path, packages: Sequence[str] = ()) -> mujoco.MjSpec:
    """Return the editable description of a URDF file.

    Every link is a body of its own, also behind fixed joints. A link's mass is that of its
    `<inertial>`, and none where it has none. Meshes are looked for beside the file, in
    the `meshdir` of its `<mujoco>` element, or, for "package://name/rest", as name/rest in the
    folders given. Those that are missing or that MuJoCo
    can't read are dropped, with one warning that tells which and why.

    Args:
        path: the file.
        packages: folders that contain packages.

    Raises:
        ElementTree.ParseError: not an XML file.
        ValueError: not a URDF that MuJoCo takes.
    """
    robot = ElementTree.parse(path).getroot()
    path = Path(path)
    folders = _mesh_folders(robot, path.parent)
    meshes, dropped = _settle_meshes(robot, folders, [Path(folder) for folder in packages])
    _set_compiler(robot)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    for geom in spec.geoms:
        geom.density = 0.0
    for mesh in spec.meshes:
        mesh.file = str(meshes[mesh.file])
        mesh.inertia = _SHELL  # a flat mesh has no volume, and inertias are not taken from meshes
    if dropped:
        warnings.warn(f"{path}: {_words(dropped)}", stacklevel=2)
    return spec


def _mesh_folders(robot: ElementTree.Element, folder: Path) -> list[Path]:
    """Return where meshes are looked for: beside the file, and in MuJoCo's own `meshdir` of it."""
    compiler = robot.find("mujoco/compiler")
    meshdir = None if compiler is None else compiler.get("meshdir")
    return [folder] if meshdir is None else [folder, folder / meshdir]


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
    robot: ElementTree.Element, folders: list[Path], packages: list[Path]
) -> tuple[dict[str, Path], dict[str, str]]:
    """Give each mesh a name of its own, and drop geometry whose mesh can't be read.

    MuJoCo calls a mesh by its file's name without the folder, and takes two of one name for one.

    Returns:
        The files by the names that stand for them now, and why a mesh was dropped by its name in
        the URDF.
    """
    meshes: dict[str, Path] = {}
    dropped: dict[str, str] = {}
    faults: dict[tuple[Path, str], str] = {}
    for link in robot.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            mesh = shape.find("geometry/mesh")
            if mesh is None:
                continue
            name = mesh.get("filename", "")
            path = _find(name, folders, packages)
            fault = "no such file"
            if path is not None:
                use = (path, shape.tag)
                fault = faults[use] = faults[use] if use in faults else _fault(*use)
            if path is None or fault:
                dropped[name] = fault
                link.remove(shape)
                continue
            unique = f"{path.stem}_{list(faults).index((path, shape.tag))}{path.suffix}"
            meshes[unique] = path
            mesh.set("filename", unique)
    return meshes, dropped


def _find(name: str, folders: list[Path], packages: list[Path]) -> Path | None:
    """Return the file that a URDF names, None if there is none."""
    parts = urlsplit(name)
    if parts.scheme == "package":
        candidates = [place / (parts.netloc + parts.path) for place in packages]
    elif parts.scheme == "file":
        candidates = [Path(unquote(parts.path))]
    else:
        candidates = [folder / name for folder in folders]
    return next((path.resolve() for path in candidates if path.is_file()), None)


def _fault(path: Path, use: str) -> str:
    """Return why MuJoCo can't use a mesh as "visual" or "collision", empty if it can."""
    if path.suffix.lower() not in READABLE:
        return f"MuJoCo reads only {', '.join(READABLE)}"
    spec = mujoco.MjSpec()
    spec.add_mesh(name="mesh", file=str(path), inertia=_SHELL)
    touches = int(use == "collision")  # a convex hull is needed, which flat meshes don't have
    geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    geom.contype = geom.conaffinity = touches
    try:
        spec.compile()
    except ValueError as error:
        return str(error).splitlines()[0]
    return ""
