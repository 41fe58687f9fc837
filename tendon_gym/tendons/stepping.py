"""One physics step of one simulation with the laws of the tendons in it."""

from __future__ import annotations

import functools
from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import bind
from tendon_gym.tendons.law import Drives, Limits, Motion, drive, limit, velocities

_LIMIT_SENSORS = (
    int(mujoco.mjtSensor.mjSENS_TENDONLIMITPOS),
    int(mujoco.mjtSensor.mjSENS_TENDONLIMITVEL),
)


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
        # The discrete integrator's step cannot be taken apart once its rows are made; sensors of
        # limits and sleeping bodies are seen to in the first half of a step.
        sleeps = bool(model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP))
        self._whole = discrete or sleeps or bool(np.isin(model.sensor_type, _LIMIT_SENSORS).any())

    def chosen(self) -> Callable[[int], None]:
        """Return the cheapest way to step with the laws as they are now."""
        self._driven = bool((self._law["control"] >= 0).any())
        if self._law["predictive"].any():
            return self._advance_ahead if self._whole else self._advance_split
        if self._driven:
            return self._advance_driven
        return functools.partial(mujoco.mj_step, self._model, self._data)

    def _advance_driven(self, steps: int) -> None:
        """Step with drives, without limits that look ahead."""
        model, data = self._model, self._data
        for left in range(steps, 0, -1):
            if not self._drive():
                mujoco.mj_step(model, data, left)
                return
            mujoco.mj_step(model, data)

    def _advance_ahead(self, steps: int) -> None:
        """Step with limits: find the lengths and velocities, and then do all of the step."""
        model, data = self._model, self._data
        for _ in range(steps):
            if self._driven:
                self._drive()
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_tendon(model, data)
            self._velocities()
            self._limit()
            mujoco.mj_step(model, data)

    def _advance_split(self, steps: int) -> None:
        """Step with limits in two halves; rows are made anew if a limit has any.

        Equal to `_advance_ahead` bit for bit, without doing anything twice.
        """
        model, data = self._model, self._data
        for _ in range(steps):
            if self._driven:
                self._drive()
            mujoco.mj_step1(model, data)
            self._velocities()
            if self._limit():
                mujoco.mj_makeConstraint(model, data)
                mujoco.mj_island(model, data)
                mujoco.mj_projectConstraint(model, data)
                mujoco.mj_referenceConstraint(model, data)
            mujoco.mj_step2(model, data)
