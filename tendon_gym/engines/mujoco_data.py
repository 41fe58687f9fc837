"""The simulations of the reference engine: one MjData, or the rows of a batch, as arrays alike."""

from __future__ import annotations

import os
from collections.abc import Mapping

import mujoco
import numpy as np
from mujoco.batch import Batch, SimulationError
from numpy.typing import NDArray

from tendon_gym.engines.fields import live_field, write_field
from tendon_gym.engines.forking import keep_in_children

# What a simulation goes on from, its warm start included: mj_step depends on nothing else.
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class OneData:
    """One simulation: `mj_step` on an MjData, whose arrays get a batch axis of length 1."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Begin at the model's default state."""
        self.model, self.data = model, mujoco.MjData(model)
        data = self.data
        self.qpos, self.qvel, self.ctrl = data.qpos[None], data.qvel[None], data.ctrl[None]
        self.wrench, self.joint_force = data.xfrc_applied[None], data.qfrc_applied[None]
        self._size = mujoco.mj_stateSize(model, _STATE)
        self.warnings, self.errors = data.warning.number[None], np.zeros(1, bool)

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Write values (1, ...) to the model, and what follows from them."""
        for name, value in values.items():
            write_field(self.model, name, value[0])
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))

    def own(self, name: str) -> NDArray[np.float64]:
        """Return a field of the model (1, ...), live."""
        return live_field(self.model, name)[None]

    def reset(self, ids: NDArray) -> None:
        """Put the simulations `ids` (k,) to the model's default state."""
        if len(ids):
            mujoco.mj_resetData(self.model, self.data)
            self.errors[0] = False

    def advance(self, substeps: int) -> None:
        """Take physics steps; note in `errors` who has given up."""
        try:
            mujoco.mj_step(self.model, self.data, substeps)
        except mujoco.FatalError:
            self.errors[0] = True

    def get_state(self) -> NDArray[np.float64]:
        """Return all that MuJoCo goes on from, (n, width)."""
        row = np.empty(self._size)
        mujoco.mj_getState(self.model, self.data, row, _STATE)
        return row[None]

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        """Put the simulations `ids` (k,) to such states (k, width)."""
        if len(ids):
            mujoco.mj_setState(self.model, self.data, rows[0], _STATE)


class ManyData:
    """Many simulations: the rows of a `mujoco.batch.Batch`."""

    def __init__(self, model: mujoco.MjModel, n: int, threads: int) -> None:
        """Begin at the model's default state."""
        self.batch = Batch(model, n, threads)
        field = self.batch.bind
        self.qpos, self.qvel, self.ctrl = field("qpos"), field("qvel"), field("ctrl")
        self.wrench, self.joint_force = field("xfrc_applied"), field("qfrc_applied")
        self.warnings, self.errors = self.batch.warning[:, :, 1], np.zeros(n, bool)
        keep_in_children(self.batch.state, self.wrench, self.joint_force, self.batch.warning)
        self._process = os.getpid()

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Write values (k, ...) of the simulations `ids`, and what follows from them."""
        for name, value in values.items():
            self.batch.expand(name)[ids] = value
        self.batch.set_const()

    def own(self, name: str) -> NDArray[np.float64]:
        """Return a field of the model (n, ...), live, which simulations then have for their own."""
        values = self.batch.expand(name)
        keep_in_children(values)
        return values

    def reset(self, ids: NDArray) -> None:
        """Put the simulations `ids` (k,) to the model's default state."""
        self._check_process()
        self.batch.reset(ids, stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self.errors[ids] = False

    def advance(self, substeps: int) -> None:
        """Take physics steps; note in `errors` who has given up."""
        self._check_process()
        try:
            self.batch.step(nstep=substeps)
        except SimulationError as error:
            self.errors[error.ids] = True

    def data(self, i: int) -> mujoco.MjData:
        """Return a copy of simulation `i`."""
        self._check_process()
        return self.batch.get_data(i)

    def model(self, i: int) -> mujoco.MjModel:
        """Return the model of simulation `i`, with the fields of its own."""
        return self.batch.get_model(i)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                "this vector environment was made before a fork, and its threads did not come "
                "along: make it in the process that uses it"
            )

    def get_state(self) -> NDArray[np.float64]:
        """Return all that MuJoCo goes on from, (n, width)."""
        return self.batch.state.copy()

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        """Put the simulations `ids` (k,) to such states (k, width)."""
        self.batch.state[ids] = rows
