"""The bare physics of a peer that runs on MuJoCo: `mj_step` through its own flights."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

PIECE = 5
"""Environment steps of a piece that a thread steps through."""


@dataclass(frozen=True)
class Flight:
    """A start, and the controls (steps, nu) that were applied from there on."""

    qpos: NDArray
    qvel: NDArray
    controls: NDArray


class Replay:
    """Steps MuJoCo alone, in as many threads as the environment it is the yardstick of.

    Several threads are MuJoCo's own `rollout`, since Python's would wait for each other.
    """

    def __init__(self, model: mujoco.MjModel, substeps: int, threads: int = 1) -> None:
        """Make one simulation per thread."""
        self._model, self._substeps = model, substeps
        self._data = [mujoco.MjData(model) for _ in range(threads)]
        self._rollout = rollout.Rollout(nthread=threads) if threads > 1 else None

    def __call__(self, flights: Sequence[Flight]) -> float:
        """Step through all flights; return us per environment step."""
        if self._rollout is None:
            begin = time.perf_counter()
            steps = sum(self._fly(flight) for flight in flights)
            return 1e6 * (time.perf_counter() - begin) / steps
        starts, warm, controls = self._pieces(flights)
        begin = time.perf_counter()
        self._rollout.rollout(self._model, self._data, starts, controls, initial_warmstart=warm)
        seconds = time.perf_counter() - begin
        return 1e6 * seconds / (len(starts) * PIECE)

    def _fly(self, flight: Flight) -> int:
        model, data, substeps = self._model, self._data[0], self._substeps
        begin_at(data, flight)
        for control in flight.controls:
            data.ctrl[:] = control
            mujoco.mj_step(model, data, substeps)
        return len(flight.controls)

    def _pieces(self, flights: Sequence[Flight]) -> tuple[NDArray, NDArray, NDArray]:
        """Cut flights into pieces of equal length: states, warm starts, controls per substep."""
        model, data, spec = self._model, self._data[0], mujoco.mjtState.mjSTATE_FULLPHYSICS
        starts, warm, controls = [], [], []
        for flight in flights:
            begin_at(data, flight)
            for first in range(0, len(flight.controls) - PIECE + 1, PIECE):
                piece = flight.controls[first : first + PIECE]
                starts.append(np.zeros(mujoco.mj_stateSize(model, spec)))
                mujoco.mj_getState(model, data, starts[-1], spec)
                warm.append(data.qacc_warmstart.copy())
                controls.append(np.repeat(piece, self._substeps, axis=0))
                for control in piece:
                    data.ctrl[:] = control
                    mujoco.mj_step(model, data, self._substeps)
        return np.array(starts), np.array(warm), np.array(controls)


def begin_at(data: mujoco.MjData, flight: Flight) -> None:
    """Put a simulation to the start of a flight."""
    data.qpos[:], data.qvel[:] = flight.qpos, flight.qvel
    data.qacc_warmstart[:] = 0.0


def actions_of(seed: int, steps: int, *shape: int, scale: float = 1.0) -> NDArray[np.float64]:
    """Return uniformly random actions (steps, *shape) in [-scale, scale]."""
    return np.random.default_rng(seed).uniform(-scale, scale, (steps, *shape))
