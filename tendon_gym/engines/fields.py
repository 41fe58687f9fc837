"""Model fields that may differ between the simulations of an engine, compiled or MuJoCo's."""

from __future__ import annotations

import math
from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks

Array = NDArray[np.float64]

FIELDS = (
    "body_mass",
    "body_inertia",
    "body_ipos",
    "body_iquat",
    "body_pos",
    "body_quat",
    "jnt_stiffness",
    "qpos_spring",
    "dof_damping",
    "dof_armature",
    "site_pos",
    "site_quat",
    "actuator_gear",
    "actuator_gainprm",
    "opt.gravity",
    "opt.wind",
    "opt.density",
    "opt.viscosity",
)
"""Their names, as in MjModel; those of MjOption after "opt."."""


def read_field(model: mujoco.MjModel, name: str) -> Array:
    """Return a copy of a field."""
    owner, field = (model.opt, name[4:]) if name.startswith("opt.") else (model, name)
    return np.array(getattr(owner, field), np.float64)


def write_field(model: mujoco.MjModel, name: str, value: NDArray) -> None:
    """Write a field."""
    owner, field = (model.opt, name[4:]) if name.startswith("opt.") else (model, name)
    if np.ndim(value):
        getattr(owner, field)[:] = value
    else:
        setattr(owner, field, float(value))


def check_fields(
    model: mujoco.MjModel, n: int, ids: NDArray, values: Mapping[str, NDArray]
) -> dict[str, Array]:
    """Return values (k, ...) for the simulations `ids` (k,) of n as arrays.

    Raises:
        ValueError: a simulation that isn't there, a field that can't differ, values of another
            shape, not finite, a mass or moment of inertia below zero, or a quaternion of zeros.
    """
    for i in ids:
        checks.integer("simulation", i, minimum=0, maximum=n - 1)
    checked = {}
    for name, value in values.items():
        checks.choice("model field", name, FIELDS)
        shape = (len(ids), *read_field(model, name).shape)
        lowest = 0.0 if name in ("body_mass", "body_inertia") else -math.inf
        checked[name] = checks.array(name, value, shape, minimum=lowest)
        if name.endswith("quat"):
            lengths = np.linalg.norm(checked[name], axis=-1)
            checks.number(f"shortest quaternion of {name}", float(lengths.min()), above=1e-9)
    return checked
