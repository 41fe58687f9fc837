"""Recorded flights, and the yardstick of everything: bare `mj_step` through their states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from tendon_gym.evaluation.bench.timing import Contestant

STEPS = 200
"""Control steps of a recorded flight."""

SEGMENT = 10
"""Control steps after which a replay is put back onto the recorded states, lest it strays."""

Settings = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Flight:
    """What a scalar environment flew.

    Attributes:
        model: of the simulation.
        substeps: physics steps per control step.
        qpos: (STEPS, nq), before each control step.
        qvel: (STEPS, nv), likewise.
        ctrl: (STEPS, nu), at the end of each control step.
        fresh: (STEPS,), whether an episode began before the step.
    """

    model: mujoco.MjModel
    substeps: int
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    fresh: NDArray[np.bool_]

    @property
    def about(self) -> dict[str, Any]:
        """What a row tells of the physics."""
        return {
            "substeps": self.substeps,
            "timestep": self.model.opt.timestep,
            "nv": int(self.model.nv),
        }


def record(env_id: str, settings: Settings, random: bool = False) -> Flight:
    """Fly a scalar environment on MuJoCo with no action at all, or with random ones."""
    env: Any = gymnasium.make(env_id, **{**settings, "engine": "mujoco"}).unwrapped
    core, engine = env.core, env.core.engine
    actions = make_actions(random, STEPS, core.interface.size)
    rows = {"qpos": [], "qvel": [], "ctrl": []}
    fresh = np.zeros(STEPS, bool)
    ended = True
    for k, action in enumerate(actions):
        if ended:
            env.reset(seed=k)
            fresh[k] = True
        rows["qpos"].append(engine.qpos[0].copy())
        rows["qvel"].append(engine.qvel[0].copy())
        _, _, terminated, truncated, _ = env.step(action)
        rows["ctrl"].append(engine.ctrl[0].copy())
        ended = terminated or truncated
    env.close()
    arrays = {name: np.array(values) for name, values in rows.items()}
    return Flight(core.model, core.substeps, **arrays, fresh=fresh)


def make_actions(random: bool, steps: int, *shape: int) -> NDArray[np.float32]:
    """Return actions (steps, *shape): zeros, which hover, or random ones."""
    if not random:
        return np.zeros((steps, *shape), np.float32)
    return np.random.default_rng(0).uniform(-1.0, 1.0, (steps, *shape)).astype(np.float32)


class _Bare:
    """MuJoCo alone, one simulation, stepped from Python: that adds 1 %."""

    def __init__(self, flight: Flight) -> None:
        self._model, self._substeps = flight.model, flight.substeps
        starts = [
            (flight.qpos[k], flight.qvel[k]) if flight.fresh[k] or k % SEGMENT == 0 else None
            for k in range(STEPS)
        ]
        self._steps = list(zip(starts, flight.ctrl, strict=True))
        self._data = mujoco.MjData(flight.model)
        self._at = 0

    def run(self, count: int) -> int:
        model, data, substeps, steps = self._model, self._data, self._substeps, self._steps
        for k in range(self._at, self._at + count):
            start, ctrl = steps[k % STEPS]
            if start is not None:
                data.qpos[:], data.qvel[:] = start
            data.ctrl[:] = ctrl
            mujoco.mj_step(model, data, substeps)
        self._at = (self._at + count) % STEPS
        return count


class _BareThreads:
    """MuJoCo alone on several threads, by its own `rollout`: Python's would wait for each other."""

    def __init__(self, flight: Flight, threads: int) -> None:
        model, starts = flight.model, range(0, STEPS, SEGMENT)
        self._model, self._data = model, [mujoco.MjData(model) for _ in range(threads)]
        self._rollout = rollout.Rollout(nthread=threads)
        spec, data = mujoco.mjtState.mjSTATE_FULLPHYSICS, self._data[0]
        self._start = np.zeros((len(starts), mujoco.mj_stateSize(model, spec)))
        for row, k in zip(self._start, starts, strict=True):
            data.qpos[:], data.qvel[:] = flight.qpos[k], flight.qvel[k]
            mujoco.mj_getState(model, data, row, spec)
        steps = SEGMENT * flight.substeps
        self._ctrl = np.repeat(flight.ctrl, flight.substeps, axis=0).reshape(
            len(starts), steps, model.nu
        )
        self._states = np.zeros((len(starts), steps, self._start.shape[1]))

    def run(self, count: int) -> int:
        calls = max(1, round(count * len(self._data) / STEPS))
        for _ in range(calls):
            self._rollout.rollout(
                self._model, self._data, self._start, self._ctrl, state=self._states
            )
        return calls * STEPS


def bare(name: str, flight: Flight, threads: int = 1) -> Contestant:
    """Return the yardstick: `mj_step` with the recorded controls, on so many threads."""
    about = {**flight.about, "case": name, "engine": "mujoco"}
    about |= {"num_envs": threads, "threads": threads}
    stepper = _Bare(flight) if threads == 1 else _BareThreads(flight, threads)
    return Contestant(name, stepper.run, about)
