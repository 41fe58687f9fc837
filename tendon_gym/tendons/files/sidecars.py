"""The text of MJCF files: MuJoCo's own, with all digits and with paths from where it will be."""

from __future__ import annotations

import ctypes
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco
import numpy as np

from tendon_gym.tendons.files.elements import Element, parse_bytes, render, shortest
from tendon_gym.tendons.files.systems import make_absolute
from tendon_gym.tendons.world import TendonWorld

_LONG = re.compile(r"-?[0-9]+\.[0-9]{14,}(?:e[+-]?[0-9]+)?")
"""Numbers that MuJoCo writes with all their digits."""
_ALL_DIGITS = 17


class SceneWarning(UserWarning):
    """Something of a scene that a file cannot say, or that means something else there."""


def mjcf_text(spec: mujoco.MjSpec, folder: Path) -> str:
    """Return a spec as an MJCF file in a folder: exact numbers, and relative paths of assets.

    Raises:
        ValueError: the spec does not compile, or has assets from memory.
    """
    spec = spec.copy()
    make_absolute(spec)
    place_inertias(spec)
    spec.compile()
    with _all_digits():
        text = spec.to_xml()
    root = parse_bytes(text.encode(), "model")
    _tidy(root, folder)
    return render(root)


def frozen(world: TendonWorld) -> mujoco.MjSpec:
    """Return the spec of a world with those parts of its state that have no coordinates."""
    spec, model, data = world.spec, world.model, world.data
    make_absolute(spec)
    place_inertias(spec)
    spec.compiler.fusestatic = False
    for index, equality in enumerate(spec.equalities):
        equality.active = bool(data.eq_active[index])
    compiled = spec.compile()
    for index in np.flatnonzero(compiled.body_mocapid >= 0):
        body, mocap = spec.bodies[index], int(model.body_mocapid[index])
        body.pos, body.quat = data.mocap_pos[mocap], data.mocap_quat[mocap]
    return spec


def place_inertias(spec: mujoco.MjSpec) -> None:
    """Say where given inertias are: MuJoCo writes none of which only the default place is known."""
    for body in spec.bodies:
        if body.explicitinertial:
            body.ipos = np.nan_to_num(body.ipos)


def relative(path: Path | str, folder: Path) -> str:
    """Return a path as seen from a folder, with forward slashes."""
    return Path(os.path.relpath(path, os.path.abspath(folder))).as_posix()


def _tidy(root: Element, folder: Path) -> None:
    """Shorten numbers as far as they stay the same, and make paths relative."""
    todo = [root]
    while todo:
        element = todo.pop()
        todo += element.children
        for name, value in element.attributes.items():
            if name.startswith("file") and os.path.isabs(value):
                value = relative(value, folder)
            single = name.startswith("rgba")  # colours have single precision
            element.attributes[name] = _LONG.sub(
                lambda found, single=single: _short(float(found[0]), single), value
            )


def _short(value: float, single: bool) -> str:
    return shortest(float(str(np.float32(value))) if single else value)


@contextmanager
def _all_digits() -> Iterator[None]:
    """Have MuJoCo write numbers with all digits, as only a function outside its headers does."""
    library = next(Path(mujoco.__file__).parent.glob("libmujoco.*"), None)
    functions = ctypes.CDLL(str(library)) if library is not None else None
    set_precision = getattr(functions, "_mjPRIVATE__set_xml_precision", None)
    get_precision = getattr(functions, "_mjPRIVATE__get_xml_precision", None)
    if set_precision is None or get_precision is None:
        warnings.warn("this MuJoCo writes numbers with six digits", SceneWarning, stacklevel=4)
        yield
        return
    before = get_precision()
    set_precision(_ALL_DIGITS)
    try:
        yield
    finally:
        set_precision(before)
