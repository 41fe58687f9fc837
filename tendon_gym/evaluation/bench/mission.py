"""The paper's mission of 36 s with its controller at every physics step of 2 ms.

The paper runs a controller in Python around every `mj_step`, and so does `NumpyController`. Here
the environment's inner loop flies the same law below 50 actions per second. All take turns in
blocks, with Euler's integrator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import mujoco
import numpy as np

from tendon_gym import config, references
from tendon_gym.evaluation.bench.settings import Scope
from tendon_gym.evaluation.bench.timing import Contestant, Protocol, race
from tendon_gym.evaluation.paper.cost import BLOCK, STEPS, NumpyController
from tendon_gym.evaluation.paper.flights import REST
from tendon_gym.model import build_model, preset
from tendon_gym.registration import ENTRIES

MODEL = {"preset": "paper", "solver": {"integrator": "Euler"}}
PARAMETERS = config.override(preset("paper"), {"solver": MODEL["solver"]}, "model")

SUBSTEPS = 10
"""Physics steps per action."""


class _Numpy:
    """MuJoCo with a controller in NumPy; remembers what it flew, for bare MuJoCo to repeat."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._begin()
        self.controls = np.zeros((BLOCK, model.nu))
        self.start = self._data.qpos.copy(), self._data.qvel.copy()

    def _begin(self) -> None:
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:3] = references.mission().at([0.0])["position"][0]
        self._law = NumpyController(self._model)
        self._done = 0

    def run(self, count: int) -> int:
        model, data = self._model, self._data
        for _ in range(count):
            if self._done == STEPS:
                self._begin()
            now = model.opt.timestep * np.arange(self._done, self._done + BLOCK)
            setpoints = references.mission().at(now)
            self.start = data.qpos.copy(), data.qvel.copy()
            for k in range(BLOCK):
                self.controls[k] = data.ctrl[:] = self._law(data, setpoints[k])
                mujoco.mj_step(model, data)
            self._done += BLOCK
        return count * BLOCK


class _Bare:
    """MuJoCo alone through the last block of the NumPy controller's flight."""

    def __init__(self, model: mujoco.MjModel, flown: _Numpy) -> None:
        self._model, self._data, self._flown = model, mujoco.MjData(model), flown

    def run(self, count: int) -> int:
        model, data = self._model, self._data
        for _ in range(count):
            data.qpos[:], data.qvel[:] = self._flown.start
            for control in self._flown.controls:
                data.ctrl[:] = control
                mujoco.mj_step(model, data)
        return count * BLOCK


class _Env:
    """The scalar environment, whose inner loop flies the paper's law."""

    def __init__(self, engine: str) -> None:
        self.env: Any = gymnasium.make(
            ENTRIES["Track"].id,
            engine=engine,
            model=MODEL,
            reference="mission",
            start=REST,
            rotor_action="residual",
            tendon_action="reference",
            action={"law": "paper"},
            control_frequency=50,
        ).unwrapped
        self._nothing = np.zeros(self.env.action_space.shape, np.float32)
        self.env.reset(seed=0)

    def run(self, count: int) -> int:
        for _ in range(count * BLOCK // SUBSTEPS):
            if self.env.step(self._nothing)[3]:
                self.env.reset(seed=0)
        return count * BLOCK


def mission(scope: Scope, engines: Sequence[str]) -> list[dict[str, Any]]:
    """Fly it; the rows' times are those of one physics step."""
    model = build_model(PARAMETERS)
    about = {"substeps": 1, "timestep": model.opt.timestep, "nv": int(model.nv)}
    about |= {"num_envs": 1, "threads": 1, "engine": "mujoco"}
    numpy, name = _Numpy(model), "mj_step and a controller in NumPy"
    contestants = [
        Contestant(name, numpy.run, {**about, "case": name}, "mj_step"),
        Contestant("mj_step", _Bare(model, numpy).run, {**about, "case": "mj_step"}),
    ]
    envs = [_Env(engine) for engine in engines]
    for engine, env in zip(engines, envs, strict=True):
        more = {**about, "engine": engine, "case": "scalar, law inside"}
        contestants.append(Contestant(f"scalar, {engine}", env.run, more, "mj_step"))
    rows = race("mission", contestants, Protocol(max(5, scope.mission // BLOCK), 0.0))
    for env in envs:
        env.env.close()
    return rows
