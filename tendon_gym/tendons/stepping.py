"""One physics step of one simulation with the laws of the tendons in it."""

from __future__ import annotations

import functools
from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import bind, entry
from tendon_gym.tendons.bounds import Bounds, judge
from tendon_gym.tendons.law import Drives, Limits, Motion, drive, limit, velocities

_LIMIT_SENSORS = (
    int(mujoco.mjtSensor.mjSENS_TENDONLIMITPOS),
    int(mujoco.mjtSensor.mjSENS_TENDONLIMITVEL),
)


_ALL = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class Stepper:
    """Steps an MjData, with the activations (1, t) of its drives."""

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        law: NDArray,
        activation: NDArray[np.float64],
        first: int,
    ) -> None:
        """Step `data` with the laws (1, t) of the tendons from index `first` on, both live."""
        self._model, self._data, self._law = model, data, law
        discrete = model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
        self._drive = bind(drive, 0, 1, box(Drives(law, activation, data.ctrl[None])))
        speed = np.zeros((1, model.ntendon))
        motion = Motion(
            model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind, data.ten_J[None],
            data.qvel[None], speed,
        )  # fmt: skip
        self._velocities = bind(velocities, 0, 1, box(motion))
        limits = Limits(
            law, float(model.opt.timestep), discrete, first, data.ten_length[None], speed,
            model.tendon_range[None], model.tendon_solref_lim[None],
            model.tendon_solimp_lim[None], np.zeros(1, bool),
        )  # fmt: skip
        self._limit = bind(limit, 0, 1, box(limits))
        self._bounds = box(
            Bounds(
                law, float(model.opt.timestep), discrete, first, *motion[:4], data.qvel[None],
                data.qacc[None], data.ten_length[None], data.ten_velocity[None], data.ctrl[None],
                data.actuator_force[None], model.actuator_forcerange[None],
                np.zeros(law.shape, np.int64), np.zeros(1, bool),
            )
        )  # fmt: skip
        self._before = np.empty(mujoco.mj_stateSize(model, _ALL))
        # The discrete integrator's step cannot be taken apart once its rows are made; sensors of
        # limits and sleeping bodies are seen to in the first half of a step.
        sleeps = bool(model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP))
        self._whole = discrete or sleeps or bool(np.isin(model.sensor_type, _LIMIT_SENSORS).any())

    def chosen(self) -> Callable[[int], None]:
        """Return the cheapest way to step with the laws as they are now."""
        plain = functools.partial(mujoco.mj_step, self._model, self._data)
        driven = bool((self._law["control"] >= 0).any())
        bounded = bool(self._law["bounded"].any())
        if not self._law["predictive"].any():
            if not driven:
                return plain
            if not bounded:
                return self._advance_driven
            physics = plain
        else:
            physics = self._step_ahead if self._whole else self._step_split
        if bounded:
            self._judge = entry(judge, 0, self._bounds)
            physics = functools.partial(self._step_within_bounds, physics)
        return functools.partial(self._advance, physics, driven)

    def _advance(self, physics: Callable[[], None], driven: bool, steps: int) -> None:
        """Step so many times, one by one."""
        for _ in range(steps):
            if driven:
                self._drive()
            physics()

    def _advance_driven(self, steps: int) -> None:
        """Step with drives, without limits that look ahead."""
        model, data = self._model, self._data
        for left in range(steps, 0, -1):
            if not self._drive():
                mujoco.mj_step(model, data, left)
                return
            mujoco.mj_step(model, data)

    def _step_within_bounds(self, physics: Callable[[], None]) -> None:
        """Step, and again until all drives are what the end of the step says; see `bounds`."""
        model, data = self._model, self._data
        mujoco.mj_getState(model, data, self._before, _ALL)
        physics()
        tries = 0
        while self._judge(tries, self._bounds):
            tries += 1
            mujoco.mj_setState(model, data, self._before, _ALL)
            physics()

    def _step_ahead(self) -> None:
        """Step with limits: find the lengths and velocities, and then do all of the step."""
        model, data = self._model, self._data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        self._velocities()
        self._limit()
        mujoco.mj_step(model, data)

    def _step_split(self) -> None:
        """Step with limits in two halves; rows are made anew if a limit has any.

        Equal to `_step_ahead` bit for bit, without doing anything twice.
        """
        model, data = self._model, self._data
        mujoco.mj_step1(model, data)
        self._velocities()
        if self._limit():
            mujoco.mj_makeConstraint(model, data)
            mujoco.mj_island(model, data)
            mujoco.mj_projectConstraint(model, data)
            mujoco.mj_referenceConstraint(model, data)
        mujoco.mj_step2(model, data)
