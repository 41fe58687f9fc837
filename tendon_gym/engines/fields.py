"""Model fields that may differ between the simulations of an engine, compiled or MuJoCo's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

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


_NOT_NEGATIVE = (
    "body_mass", "body_inertia", "jnt_stiffness", "dof_damping", "dof_armature", "opt.density",
    "opt.viscosity",
)  # fmt: skip


def live_field(model: mujoco.MjModel, name: str) -> Any:
    """Return a field as the model has it."""
    owner, field = (model.opt, name[4:]) if name.startswith("opt.") else (model, name)
    return getattr(owner, field)


def read_field(model: mujoco.MjModel, name: str) -> Array:
    """Return a copy of a field."""
    return np.array(live_field(model, name), np.float64)


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

    Quaternions get unit length: MuJoCo would take some of another length as they are.

    Raises:
        ValueError: a simulation that isn't there, a field that can't differ, values of another
            shape, not finite, below zero where that has no meaning, or a quaternion of zeros.
    """
    for i in ids:
        checks.integer("simulation", i, minimum=0, maximum=n - 1)
    checked = {}
    for name, value in values.items():
        checks.choice("model field", name, FIELDS)
        shape = (len(ids), *read_field(model, name).shape)
        lowest = 0.0 if name in _NOT_NEGATIVE else -math.inf
        checked[name] = checks.array(name, value, shape, minimum=lowest)
        if name.endswith("quat"):
            lengths = np.linalg.norm(checked[name], axis=-1, keepdims=True)
            shortest = float(lengths.min(initial=math.inf))
            if shortest <= 1e-9:
                checks.reject(f"shortest quaternion of {name}", shortest, "longer than 1e-9")
            # those that have it keep their bits
            checked[name] /= np.where(np.abs(lengths - 1.0) > 1e-14, lengths, 1.0)
    return checked


class OwnFields:
    """What `n` simulations have of fields of their own, whatever the engine has made of them."""

    def __init__(self, model: mujoco.MjModel, n: int) -> None:
        """Begin with a model that all simulations share; it may be written to afterwards."""
        self._shared = {name: read_field(model, name) for name in FIELDS}
        self._n = n
        self._values: dict[str, Array] = {}

    def take(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Note values (k, ...) of the simulations `ids` (k,)."""
        for name, value in values.items():
            if name not in self._values:
                self._values[name] = self._of_all(name)
            self._values[name][ids] = value

    def _of_all(self, name: str) -> Array:
        """Return the shared model's field for all simulations, (n, ...)."""
        shared = self._shared[name]
        return np.tile(shared, (self._n, *[1] * shared.ndim))

    def copies(self) -> dict[str, Array]:
        """Return the fields (n, ...) that were ever set, by name."""
        return {name: values.copy() for name, values in self._values.items()}

    def changes_to(self, wanted: Mapping[str, NDArray]) -> dict[str, Array]:
        """Return what must be set for all simulations to have `wanted`, (n, ...) each.

        A field that is not in `wanted` is the shared model's.
        """
        changes = {}
        for name in dict.fromkeys((*self._values, *wanted)):
            target = np.asarray(wanted[name]) if name in wanted else self._of_all(name)
            if name not in self._values or not np.array_equal(self._values[name], target):
                changes[name] = target
        return changes
