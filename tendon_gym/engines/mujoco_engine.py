"""The reference engine: MuJoCo itself, one MjData for one simulation, `mujoco.batch` for many."""

from __future__ import annotations

import contextlib
import copy
import logging
import os
from collections.abc import Sequence

import mujoco
import numpy as np
from mujoco.batch import Batch, SimulationError
from numpy.typing import NDArray

from tendon_gym.engines.engine import ControlLaw, available_threads, check_state
from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.forces import ForceTerm, Push, Pushes

# The warnings after which MuJoCo has put the simulation back to the model's default state.
FATAL = [
    int(mujoco.mjtWarning.mjWARN_BADQPOS),
    int(mujoco.mjtWarning.mjWARN_BADQVEL),
    int(mujoco.mjtWarning.mjWARN_BADQACC),
]

_NONE, _ONLY = np.zeros(0, np.int64), np.zeros(1, np.int64)


class MujocoEngine:
    """MuJoCo's own physics; see `engines.engine.Engine` for the attributes.

    The trajectories are equal bit for bit whatever `n` and `threads` are.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        n: int,
        terms: Sequence[ForceTerm] = (),
        threads: int | None = None,
    ) -> None:
        """Make `n` simulations; `threads` defaults to as many as this process may use."""
        log_warnings()
        if terms and n == 1:  # then the wind is written to the model itself
            model = copy.copy(model)
        self.model, self.n = model, n
        self._dt = model.opt.timestep
        if n == 1:
            source = _OneData(model)
        else:
            source = _ManyData(model, n, threads or available_threads(n))
        self._simulations = source
        self.qpos, self.qvel, self.ctrl = source.qpos, source.qvel, source.ctrl
        self.time = np.zeros(n)
        self.motion = Kinematics(model, n)
        self.unstable = np.zeros(n, bool)
        wind = source.wind() if terms else np.zeros((n, 3))
        self.pushes = Pushes(terms, Push(source.wrench, source.joint_force, wind), model)
        self._good_qpos, self._good_qvel = self.qpos.copy(), self.qvel.copy()

    def reset(self, ids: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Start the simulations `ids` (k,) at qpos (k, nq) and qvel (k, nv)."""
        check_state(self.model, qpos, qvel)
        self._simulations.reset(ids)
        self.qpos[ids], self.qvel[ids] = qpos, qvel
        self.time[ids] = 0.0
        self.unstable[ids] = False
        self.pushes.reset(ids)
        self._keep()

    def step(self, substeps: int, law: ControlLaw | None = None) -> None:
        """Advance all simulations by `substeps` physics steps, `law` before each of them."""
        simulations = self._simulations
        if self.pushes:
            self._step_pushed(substeps, law)
        elif law is None:
            simulations.advance(substeps)
            self.time += substeps * self._dt
        else:
            advance, dt = simulations.advance, self._dt
            time, qpos, qvel, ctrl = self.time, self.qpos, self.qvel, self.ctrl
            for _ in range(substeps):
                law(time, qpos, qvel, ctrl)
                advance(1)
                time += dt
        ids = simulations.failed()
        self.unstable[...] = False
        if len(ids):
            self.unstable[ids] = True
            simulations.reset(ids)
            self.qpos[ids], self.qvel[ids] = self._good_qpos[ids], self._good_qvel[ids]
        self._keep()

    def _step_pushed(self, substeps: int, law: ControlLaw | None) -> None:
        """Advance with force terms, which are evaluated before every physics step."""
        for _ in range(substeps):
            if law is not None:
                law(self.time, self.qpos, self.qvel, self.ctrl)
            if self.pushes.needs_motion:
                self.motion.update(self.qpos, self.qvel)
            self.pushes.apply(self.time, self.motion.motion)
            self._simulations.advance(1)
            self.time += self._dt

    def _keep(self) -> None:
        """Remember the present state as good, whatever is written to it from outside later."""
        self._good_qpos[...], self._good_qvel[...] = self.qpos, self.qvel
        self.motion.update(self.qpos, self.qvel)

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData with everything derived at the present state.

        With one simulation it is the simulation itself: what is written to it counts, but for
        xfrc_applied and qfrc_applied where there are force terms, which own them.
        """
        simulations = self._simulations
        if isinstance(simulations, _ManyData):
            data = simulations.data(i)
            mujoco.mj_forward(self.model, data)
            return data
        # leaves the state as it is, so the trajectory doesn't depend on who looks at it
        mujoco.mj_forward(self.model, simulations.data)
        return simulations.data


class _OneData:
    """One simulation: `mj_step` on an MjData, whose arrays get a batch axis of length 1."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        data = self.data
        self.qpos, self.qvel, self.ctrl = data.qpos[None], data.qvel[None], data.ctrl[None]
        self.wrench, self.joint_force = data.xfrc_applied[None], data.qfrc_applied[None]
        self._fatal = [data.warning[k] for k in FATAL]
        self._error = False

    def wind(self) -> NDArray[np.float64]:
        """Return the air's velocity (1, 3), live."""
        return self.model.opt.wind[None]

    def reset(self, ids: NDArray) -> None:
        if len(ids):
            mujoco.mj_resetData(self.model, self.data)
            self._error = False

    def advance(self, substeps: int) -> None:
        try:
            mujoco.mj_step(self.model, self.data, substeps)
        except mujoco.FatalError:
            self._error = True

    def failed(self) -> NDArray:
        """Return the indices (k,) of simulations whose state MuJoCo gave up since their reset."""
        for warning in self._fatal:
            if warning.number:
                return _ONLY
        return _ONLY if self._error else _NONE


class _ManyData:
    """Many simulations: the rows of a `mujoco.batch.Batch`."""

    def __init__(self, model: mujoco.MjModel, n: int, threads: int) -> None:
        self.batch = Batch(model, n, threads)
        bind = self.batch.bind
        self.qpos, self.qvel, self.ctrl = bind("qpos"), bind("qvel"), bind("ctrl")
        self.wrench, self.joint_force = bind("xfrc_applied"), bind("qfrc_applied")
        self._errors = np.zeros(n, bool)
        self._process = os.getpid()

    def wind(self) -> NDArray[np.float64]:
        """Return the air's velocities (n, 3), live."""
        return self.batch.expand("opt.wind")

    def reset(self, ids: NDArray) -> None:
        self._check_process()
        self.batch.reset(ids, stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self._errors[ids] = False

    def advance(self, substeps: int) -> None:
        self._check_process()
        try:
            self.batch.step(nstep=substeps)
        except SimulationError as error:
            self._errors[error.ids] = True

    def data(self, i: int) -> mujoco.MjData:
        self._check_process()
        return self.batch.get_data(i)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                "this vector environment was made before a fork, and its threads did not come "
                "along: make it in the process that uses it"
            )

    def failed(self) -> NDArray:
        """Return the indices (k,) of simulations whose state MuJoCo gave up since their reset."""
        return np.flatnonzero(self.batch.warning[:, FATAL, 1].any(axis=1) | self._errors)


def log_warnings() -> None:
    """Send MuJoCo's warnings to Python's logging instead of a MUJOCO_LOG.TXT in the user's folder.

    A handler that the user has installed stays.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_log_warning)


def _log_warning(message: str) -> None:
    # an exception that leaves this function would end the process: MuJoCo calls it from C
    with contextlib.suppress(BaseException):
        logging.getLogger("tendon_gym.mujoco").warning(message)
