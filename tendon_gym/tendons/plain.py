"""New elements of a spec as MuJoCo makes them, whatever the defaults of the spec are."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

import mujoco
import numpy as np

Element = TypeVar("Element")

_KEPT = {"name", "info", "id", "signature", "meshname", "objtype", "file", "target", "plugin"}
"""What says which element it is, not what it is like."""


def plain(element: Element) -> Element:
    """Undo what the default class of a spec has done to a new element; return the element."""
    for name, value in _attributes(type(element)).items():
        setattr(element, name, value)
    return element


@functools.cache
def _attributes(kind: type) -> dict[str, Any]:
    """Return what a new element has in a spec without defaults."""
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body()
    makers = {
        mujoco.MjsActuator: spec.add_actuator,
        mujoco.MjsEquality: spec.add_equality,
        mujoco.MjsGeom: body.add_geom,
        mujoco.MjsJoint: body.add_joint,
        mujoco.MjsMesh: spec.add_mesh,
        mujoco.MjsSite: body.add_site,
        mujoco.MjsTendon: spec.add_tendon,
    }
    element = makers[kind]()
    values: dict[str, Any] = {}
    for name in dir(element):
        if name.startswith("_") or name in _KEPT:
            continue
        value = getattr(element, name)
        if isinstance(value, np.ndarray):
            values[name] = value.copy()
        elif isinstance(value, (int, float, str)) or type(value).__name__.startswith("mjt"):
            values[name] = value
    return values
