"""MuJoCo for single simulations of the compiled engine: near contacts, and to be looked at."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.engines.mujoco_engine import FATAL, log_warnings
from tendon_gym.forces import Push

Floats = NDArray[np.float64]
Fields = Mapping[str, Floats]


class Fallback:
    """One MjData, lent to one simulation after another.

    Attributes:
        model: with the fields of the simulation that has it.
        data: its data; with one simulation in all, its state is the simulation's.
    """

    def __init__(self, model: mujoco.MjModel, n: int) -> None:
        """Make room; `n` simulations may come."""
        log_warnings()
        self._shared, self._single = model, n == 1
        self.model, self.data = model, mujoco.MjData(model)
        self._warm: Floats = np.zeros((n, model.nv))

    def forget(self, ids: NDArray) -> None:
        """Let the solver start anew in the simulations `ids`."""
        self._warm[ids] = 0.0

    def enter(self, i: int, time: float, qpos: Floats, qvel: Floats, fields: Fields) -> None:
        """Take the state (nq,), (nv,) and the fields of simulation i."""
        if not self._single:
            self._take_fields(i, fields)
        data = self.data
        data.time = time
        data.qpos[:], data.qvel[:] = qpos, qvel
        data.qacc_warmstart[:] = self._warm[i]

    def _take_fields(self, i: int, fields: Fields) -> None:
        """Give the model the fields of simulation i, where simulations differ."""
        own = {name: values[i] for name, values in fields.items() if len(values) > 1}
        if not own:
            return
        if self.model is self._shared:
            self.model = copy.copy(self._shared)
        for name, value in own.items():
            write_field(self.model, name, value)
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))

    def run(self, i: int, steps: int, load: Callable[[], None], keep: Callable[[], None]) -> bool:
        """Take physics steps of the simulation that has the data; say whether all of them held.

        `load` is called before every step but the first, when everything is there; `keep` after.
        """
        data = self.data
        for k in range(steps):
            if k:
                load()
            mujoco.mj_step(self.model, data)
            if any(data.warning[fault].number for fault in FATAL):
                mujoco.mj_resetData(self.model, data)
                return False
            keep()
        self._warm[i] = data.qacc_warmstart
        return True

    def push(self, i: int, ctrl: Floats, push: Push) -> None:
        """Take what drives simulation i: ctrl (nu,) and what force terms give."""
        self.data.ctrl[:] = ctrl
        self.data.xfrc_applied[:], self.data.qfrc_applied[:] = push.wrench[i], push.joint_force[i]
        self.model.opt.wind[:] = push.wind[i]


def write_field(model: mujoco.MjModel, name: str, value: Floats) -> None:
    """Write a field of a model, or one of its options "opt.name"."""
    owner, field = (model.opt, name[4:]) if name.startswith("opt.") else (model, name)
    if np.ndim(value):
        getattr(owner, field)[:] = value
    else:
        setattr(owner, field, float(value))
