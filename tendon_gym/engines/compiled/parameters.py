"""What the simulations of a compiled engine are made of: shared, or each simulation's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numba.core import config
from numpy.typing import NDArray

from tendon_gym.engines.compiled.constants import constants, load_constants, model_fields, pulls
from tendon_gym.engines.compiled.contacts import Bounds
from tendon_gym.engines.compiled.dynamics import PUSHED, ROTATED, TURNED
from tendon_gym.engines.compiled.lanes import WIDTH
from tendon_gym.engines.compiled.rows import Setup
from tendon_gym.engines.compiled.structure import Structure, refuse

Floats = NDArray[np.float64]

_settings: Any = config


class Parameters:
    """The parameters of n simulations, as the compiled step reads them.

    Attributes:
        structure: of the model.
        fields: {name: (1 or n, ...)}, the model's fields.
        width: simulations per block: 1, or WIDTH lanes.
        blocks: number of blocks.
        setup: see `rows.Setup`.
        constants: (1 or blocks, slots * width).
        pull: (1 or n, tendons), tension per control.
        load: (1 or n, 13), see `constants.load_constants`.
    """

    def __init__(self, model: mujoco.MjModel, n: int, pushed: bool) -> None:
        """Read a model; `pushed` tells whether there are force terms.

        Raises:
            ValueError: the model has something that the engine doesn't represent.
        """
        self.structure = Structure.of(model)
        self._bounds = Bounds.of(model, self.structure)
        self._model, self._n, self._pushed = model, n, pushed
        # plain Python has no lanes
        self.width = 1 if n == 1 or _settings.DISABLE_JIT else WIDTH
        self.blocks = -(-n // self.width)
        self.fields = model_fields(model)
        self.constants = np.zeros((1, 0))
        self._write(np.zeros(1, np.int64))
        self._finish()

    def check(self, values: Mapping[str, NDArray]) -> None:
        """Raise if fields (k, ...) have something on a free joint, which has only its inertia."""
        joints = np.flatnonzero(self._model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
        dofs = (self._model.jnt_dofadr[joints][:, None] + np.arange(6)).ravel()
        for name, columns in (
            ("dof_damping", dofs),
            ("dof_armature", dofs),
            ("jnt_stiffness", joints),
        ):
            wrong = values[name][:, columns] if name in values else np.zeros((1, 1))
            if wrong.any():
                refuse(f"takes {name} of the free joint as zero, got {wrong[wrong != 0.0][0]:g}")
        load = self.structure.load
        for name, usual in (("body_ipos", np.zeros(3)), ("body_iquat", np.array([1.0, 0, 0, 0]))):
            if load >= 0 and name in values and (values[name][:, load] != usual).any():
                refuse(f"takes {name} of the load as it is, got {values[name][0, load]}")
        inertia = values.get("body_inertia")
        if load >= 0 and inertia is not None and np.ptp(inertia[:, load], axis=1).any():
            refuse(f"takes a load with the inertia of a ball, got {inertia[0, load]}")

    def set(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Give the simulations `ids` (k,) values of their own of some fields, (k, ...) each."""
        for name, array in values.items():
            if len(self.fields[name]) < self._n:
                self.fields[name] = np.tile(self.fields[name], (self._n, *[1] * (array.ndim - 1)))
            self.fields[name][ids] = array
        self._write(np.asarray(ids))
        self._finish()

    def _write(self, ids: NDArray) -> None:
        """Compute the constants of simulations, in lanes where there are any."""
        own = any(len(values) > 1 for values in self.fields.values())
        fields = {
            name: values[ids] if len(values) > 1 else values for name, values in self.fields.items()
        }
        timestep = self._model.opt.timestep
        table = constants(self.structure, fields, self._bounds.ends, timestep)
        if not own:
            self.constants = np.repeat(table, self.width, axis=1)
            return
        if len(self.constants) < self.blocks:
            self.constants = np.tile(self.constants, (self.blocks, 1))
        lanes = self.constants.reshape(self.blocks, -1, self.width)
        lanes[ids // self.width, :, ids % self.width] = table

    def _finish(self) -> None:
        """Compute what depends on all simulations together."""
        self.pull = pulls(self.structure, self.fields)
        self.load = load_constants(self.structure, self.fields)
        self._bounds.set_reach(self.structure, self.fields["body_pos"])
        bodies = bodies_of(self.structure)
        flags = PUSHED if self._pushed else 0
        if _any_turn(self.fields["body_iquat"][:, bodies]):
            flags |= ROTATED
        if _any_turn(self.fields["body_quat"][:, self.structure.links]):
            flags |= TURNED
        self.setup = self._setup(flags)

    def _setup(self, flags: int) -> Setup:
        model, structure, bounds = self._model, self.structure, self._bounds
        limited = model.actuator_ctrllimited.astype(bool)
        limits = model.actuator_ctrlrange
        return Setup(
            shape=(
                len(structure.links),
                len(structure.rotors),
                len(structure.tendons),
                flags,
                bounds.first,
            ),
            free=structure.free,
            timestep=float(model.opt.timestep),
            rotors=structure.rotors,
            tendons=structure.tendons,
            bodies=np.array(bodies_of(structure), np.int64),
            hinge_dofs=structure.hinge_dofs,
            low=np.where(limited, limits[:, 0], -np.inf),
            high=np.where(limited, limits[:, 1], np.inf),
            obstacles=bounds.obstacles,
            planes=bounds.planes,
            bounds=bounds.values,
            load=_load_addresses(model, structure),
            load_bounds=bounds.load,
        )


def _load_addresses(model: mujoco.MjModel, structure: Structure) -> tuple[int, int, int]:
    """Return the load's body and its addresses in qpos and qvel; -1 for none."""
    if structure.load < 0:
        return -1, -1, -1
    joint = model.body_jntadr[structure.load]
    return structure.load, int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])


def bodies_of(structure: Structure) -> list[int]:
    """Return the base and the links."""
    return [structure.base, *structure.links.tolist()]


def _any_turn(quaternions: Floats) -> bool:
    """Say whether any quaternion (..., 4) turns anything."""
    return bool((quaternions[..., 1:] != 0.0).any())
