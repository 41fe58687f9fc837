"""MuJoCo for single simulations of the compiled engine: near contacts, and to be looked at."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.engines.fields import write_field
from tendon_gym.engines.mujoco_engine import FATAL, log_warnings
from tendon_gym.forces import Push

Floats = NDArray[np.float64]
Fields = Mapping[str, Floats]


class Fallback:
    """One MjData, lent to one simulation after another.

    Attributes:
        model: with the fields of the simulation that has it.
        data: its data; with one simulation in all, its state is the simulation's.
        warm: (n, nv), where each simulation's solver starts.
    """

    def __init__(self, model: mujoco.MjModel, n: int) -> None:
        """Make room; `n` simulations may come."""
        log_warnings()
        self._single = n == 1
        # with many simulations the model is written to for each that comes
        self.model = model if n == 1 else copy.copy(model)
        self.data = mujoco.MjData(self.model)
        self.warm: Floats = np.zeros((n, model.nv))

    def enter(self, i: int, time: float, qpos: Floats, qvel: Floats, fields: Fields) -> None:
        """Take the state (nq,), (nv,) and the fields of simulation i."""
        if not self._single:
            self._take_fields(i, fields)
        data = self.data
        data.time = time
        data.qpos[:], data.qvel[:] = qpos, qvel
        data.qacc_warmstart[:] = self.warm[i]

    def _take_fields(self, i: int, fields: Fields) -> None:
        """Give the model the fields of simulation i, where simulations differ."""
        own = {name: values[i] for name, values in fields.items() if len(values) > 1}
        if not own:
            return
        for name, value in own.items():
            write_field(self.model, name, value)
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))

    def run(self, i: int, steps: int, load: Callable[[], None], keep: Callable[[], None]) -> bool:
        """Take physics steps of the simulation that has the data; say whether all of them held.

        `load` is called before every step but the first, when everything is there; `keep` after.
        """
        for k in range(steps):
            if k:
                load()
            if not self._step():
                mujoco.mj_resetData(self.model, self.data)
                return False
            keep()
        self.warm[i] = self.data.qacc_warmstart
        return True

    def _step(self) -> bool:
        """Take one physics step; say whether it held."""
        try:
            mujoco.mj_step(self.model, self.data)
        except mujoco.FatalError:
            return False
        return not any(self.data.warning[fault].number for fault in FATAL)

    def push(self, i: int, ctrl: Floats, push: Push) -> None:
        """Take what drives simulation i: ctrl (nu,) and what force terms give."""
        self.data.ctrl[:] = ctrl
        self.data.xfrc_applied[:], self.data.qfrc_applied[:] = push.wrench[i], push.joint_force[i]
        self.model.opt.wind[:] = push.wind[i]
