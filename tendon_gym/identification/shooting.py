"""Roll-outs of a recording's windows, and how far they end up from what was measured.

Where the recording knows the whole state, it is cut into short windows. Each is simulated from a
start of its own, the measured one plus an offset that is found together with the parameters: a
noisy start would otherwise be taken for a wrong parameter (multiple shooting: Bock 1983, "Recent
advances in parameter identification techniques for ODE"). Otherwise the recording is one window,
and begins at rest.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tendon_gym import checks
from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.identification.recording import Recording
from tendon_gym.identification.unknowns import Unknowns
from tendon_gym.model import Layout, build_model, rest_shape

Array = NDArray[np.float64]
FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS
NEIGHBOURS = 3
"""Samples on either side that a start's velocity is taken from."""


class Shooting:
    """W windows of K samples, of which the last window may lack some.

    Attributes:
        recording: what was measured.
        unknowns: what is to be found.
        free: numbers of a window's offset, 2 nv: positions, then velocities; 0 from rest.
        windows: W.
        samples: which samples of the recording are compared, (W K,) without what is lacking.
        window_of: the window of each of them.
        speeds: typical velocities, (nv,); what offsets of velocities are likely to be.
    """

    def __init__(self, recording: Recording, unknowns: Unknowns, window: float) -> None:
        """Cut the recording into windows of `window` seconds.

        Raises:
            ValueError: signals or steps that are not the model's, a recording that neither knows
                the state nor can begin at rest, or tendons that do more than pull.
        """
        self.recording, self.unknowns = recording, unknowns
        self._check()
        self._model = build_model(unknowns.model(unknowns.start))
        self._layout = Layout.of(self._model)
        self._check_signals()
        count, every = len(recording.time), len(recording.time)
        self.free = 0
        if self._knows_state():
            self.free = 2 * self._model.nv
            seconds = checks.number("window", window, minimum=3.0 * recording.step)
            every = min(round(seconds / recording.step), count)
        self.windows = math.ceil((count - 1) / (every - 1)) if every < count else 1
        first = np.arange(self.windows) * (every - 1)
        places = first[:, None] + np.arange(every)
        # A sample between two windows ends one and starts the next, so that both are held to it.
        self._there = (places < count).ravel()
        self.samples = places.ravel()[self._there]
        self.window_of = np.repeat(np.arange(self.windows), every)[self._there]
        self._controls = recording.controls[np.minimum(places[:, :-1], count - 2)]
        self._starts = self._measured_starts(first)

    def differences(self, values: Array, offsets: Array) -> dict[str, Array]:
        """Return simulated minus measured signals by name, (len(samples), width) each.

        Args:
            values: of the unknowns, (p,).
            offsets: of the windows' starts, (W, free).

        Raises:
            ValueError: a simulation that does not stay finite.
        """
        model = build_model(self.unknowns.model(values))
        controls = self._controls.copy()
        gains = self.unknowns.gains(values)
        for columns, gain in zip(
            (self._layout.rotor_actuators, self._layout.tendon_actuators), gains, strict=True
        ):
            controls[..., columns] *= gain
        starts = self._starts_of(model, controls, offsets)
        substeps = self._substeps
        data = mujoco.MjData(model)
        states, _ = rollout.rollout(
            model, data, starts, np.repeat(controls, substeps, axis=1), skip_checks=False
        )
        sampled = np.concatenate([starts[:, None], states[:, substeps - 1 :: substeps]], axis=1)
        sampled = sampled.reshape(-1, sampled.shape[2])[self._there]
        if not np.isfinite(sampled).all():
            raise ValueError(f"the simulation must stay finite at {self._told(values)}")
        qpos = sampled[:, 1 : 1 + model.nq]
        return self._compared(model, qpos, sampled[:, 1 + model.nq : 1 + model.nq + model.nv])

    @property
    def speeds(self) -> Array:
        """Typical velocities, (nv,), rad/s or m/s: those of the starts, alike for all joints."""
        speeds = np.sqrt(np.mean(self._starts[1] ** 2, axis=0))
        joints = self._layout.joint_dofs
        speeds[joints] = speeds[joints].max()
        if self._layout.free:
            speeds[:3], speeds[3:6] = speeds[:3].max(), speeds[3:6].max()
        return np.maximum(speeds, 1e-3)

    def _told(self, values: Array) -> str:
        return ", ".join(f"{n} = {v:g}" for n, v in zip(self.unknowns.names, values, strict=True))

    def _check(self) -> None:
        parameters = self.unknowns.parameters
        if parameters.load is not None:
            checks.reject("model.load", parameters.load, "None: a load's motion is not recorded")
        if not parameters.tendons.plain:
            more = ", ".join(parameters.tendons.more)
            raise ValueError(f"model.tendons must do nothing but pull here, got {more}")
        timestep, step = parameters.solver.timestep, self.recording.step
        self._substeps = round(step / timestep)
        if self._substeps < 1 or abs(self._substeps * timestep - step) > 1e-6 * step:
            legal = f"a multiple of the model's timestep of {timestep:g} s"
            checks.reject("the step of Recording.time", step, legal)

    def _check_signals(self) -> None:
        """Raise if the recording's arrays are not as wide as the model's."""
        widths = {
            "controls": self._model.nu,
            "joint_angles": self._model.nq - 7 * self._layout.free,
            "tendon_lengths": len(self._layout.tendon_actuators),
        }
        for name, width in widths.items():
            values = getattr(self.recording, name)
            if values is not None and values.shape[1] != width:
                legal = f"{width} columns, as the model has it"
                checks.reject(f"Recording.{name}", values.shape, legal)
        if not self._layout.free:
            for name in ("base_position", "base_attitude"):
                if getattr(self.recording, name) is not None:
                    checks.reject(f"Recording.{name}", "values", "None for a clamped base")
        elif not self._knows_state():
            raise ValueError(
                "Recording must have joint_angles, base_position and base_attitude for a base that "
                f"flies, which cannot begin at rest, got {', '.join(self.recording.signals)}"
            )

    def _knows_state(self) -> bool:
        needed = ["joint_angles", "base_position", "base_attitude"][: 3 if self._layout.free else 1]
        return set(needed) <= set(self.recording.signals)

    def _measured_starts(self, first: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return measured positions (W, nq) and velocities (W, nv) of the windows' starts."""
        model, recording = self._model, self.recording
        if not self.free:
            return np.zeros((1, model.nq)), np.zeros((1, model.nv))
        parts = [recording.base_position, recording.base_attitude, recording.joint_angles]
        qpos = np.concatenate([part for part in parts if part is not None], axis=1)
        velocities = np.zeros((len(first), model.nv))
        for w, k in enumerate(first):
            near = np.arange(max(0, k - NEIGHBOURS), min(len(qpos), k + NEIGHBOURS + 1))
            away = np.zeros((len(near), model.nv))
            for row, sample in zip(away, near, strict=True):
                mujoco.mj_differentiatePos(model, row, 1.0, qpos[k], qpos[sample])
            since = recording.time[near] - recording.time[k]
            velocities[w] = np.polyfit(since, away, min(2, len(near) - 1))[-2]
        return qpos[first], velocities

    def _starts_of(self, model: mujoco.MjModel, controls: Array, offsets: Array) -> Array:
        """Return full states (W, size) that the windows start from."""
        data = mujoco.MjData(model)
        states = np.empty((self.windows, mujoco.mj_stateSize(model, FULL)))
        for w, (qpos, qvel) in enumerate(zip(*self._starts, strict=True)):
            data.qpos[:], data.qvel[:] = qpos, qvel
            if self.free:
                mujoco.mj_integratePos(model, data.qpos, offsets[w, : model.nv], 1.0)
                data.qvel += offsets[w, model.nv :]
            else:
                tensions = controls[0, 0, self._layout.tendon_actuators]
                most = self._layout.tension_max
                data.qpos[self._layout.arm_qpos] = rest_shape(model, np.clip(tensions, 0.0, most))
            mujoco.mj_getState(model, data, states[w], FULL)
        return states

    def _compared(self, model: mujoco.MjModel, qpos: Array, qvel: Array) -> dict[str, Array]:
        recording, found = self.recording, {}
        free, rows = self._layout.free, self.samples
        if recording.joint_angles is not None:
            found["joint_angles"] = qpos[:, 7 * free :] - recording.joint_angles[rows]
        if recording.base_position is not None and recording.base_attitude is not None:
            found["base_position"] = qpos[:, :3] - recording.base_position[rows]
            seen = Rotation.from_quat(recording.base_attitude[rows], scalar_first=True)
            is_at = Rotation.from_quat(qpos[:, 3:7], scalar_first=True)
            found["base_attitude"] = (seen.inv() * is_at).as_rotvec()
        if recording.tip is not None or recording.tendon_lengths is not None:
            places = Kinematics(model, len(qpos))
            places.update(np.ascontiguousarray(qpos), np.ascontiguousarray(qvel))
            if recording.tip is not None:
                found["tip"] = places.site_position[:, self._layout.tip_site] - recording.tip[rows]
            if recording.tendon_lengths is not None:
                found["tendon_lengths"] = places.tendon_length - recording.tendon_lengths[rows]
        return found
