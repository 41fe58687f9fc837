"""The compiled engine: contact-free flight in time linear in the links, MuJoCo near contacts."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.control.loops import idle_loops, run_loops
from tendon_gym.engines.compiled.fallback import Fallback
from tendon_gym.engines.compiled.parameters import Parameters
from tendon_gym.engines.compiled.stepping import (
    FAILED,
    NEAR,
    RUNNING,
    Rows,
    advance_blocks,
    advance_one,
    load_push,
    new_memories,
)
from tendon_gym.engines.engine import ControlLaw, available_threads, check_state
from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.engines.workers import Workers, split
from tendon_gym.forces import ForceTerm, Push, Pushes


class CompiledEngine:
    """`n` simulations of one model; see `engines.engine.Engine` for the attributes.

    Equal to MuJoCo's "Euler" to rounding. The trajectories are equal bit for bit whatever `n` and
    `threads` are. A simulation that may touch something is stepped by MuJoCo for the rest of its
    control step.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        n: int,
        terms: Sequence[ForceTerm] = (),
        threads: int | None = None,
    ) -> None:
        """Make `n` simulations; `threads` defaults to as many as this process may use.

        Raises:
            ValueError: the model has something that this engine doesn't represent.
        """
        if n == 1:  # then the wind is written to the model itself
            model = copy.copy(model)
        self.model, self.n = model, n
        self._parameters = Parameters(model, n, pushed=bool(terms))
        self._fallback = Fallback(model, n)
        if n == 1:  # the state of the MjData is the simulation's
            data = self._fallback.data
            self.qpos, self.qvel, self.ctrl = data.qpos[None], data.qvel[None], data.ctrl[None]
        else:
            self.qpos = np.tile(model.qpos0, (n, 1))
            self.qvel, self.ctrl = np.zeros((n, model.nv)), np.zeros((n, model.nu))
        self.time, self._ticks = np.zeros(n), np.zeros(n, np.int64)
        self._outcome, self._done = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._rows = Rows(
            self.time, self._ticks, self.qpos, self.qvel, self.ctrl, self._outcome, self._done
        )
        self.motion = Kinematics(model, n)
        self.unstable = np.zeros(n, bool)
        push = Push(
            np.zeros((n, model.nbody, 6)),
            np.zeros((n, model.nv)),
            np.tile(model.opt.wind, (n, 1)),
        )
        self.pushes = Pushes(terms, push, model)
        self._good_qpos, self._good_qvel = self.qpos.copy(), self.qvel.copy()
        self._idle = idle_loops(n)
        self._workers = Workers(threads or available_threads(n))
        setup, width = self._parameters.setup, self._parameters.width
        ranges = split(self._parameters.blocks, self._workers.count)
        self._tasks = [(*each, new_memories(setup, width)) for each in ranges]

    def reset(self, ids: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Start the simulations `ids` (k,) at qpos (k, nq) and qvel (k, nv)."""
        check_state(self.model, qpos, qvel)
        self.qpos[ids], self.qvel[ids], self.ctrl[ids] = qpos, qvel, 0.0
        self.time[ids], self._ticks[ids] = 0.0, 0
        self.unstable[ids] = False
        self._fallback.forget(ids)
        self.pushes.reset(ids)
        self._keep()

    def step(self, substeps: int, law: ControlLaw | None = None) -> None:
        """Advance all simulations by `substeps` physics steps, `law` before each of them.

        A law with an attribute `loops` (see `control.loops`) runs within the compiled step, any
        other one, and force terms in Python, between steps of one physics step each.
        """
        loops = getattr(law, "loops", None)
        self._outcome[:] = RUNNING
        ticks = self._ticks + substeps
        if self.pushes.own or (law is not None and loops is None):
            for _ in range(substeps):
                self._step_once(law)
        else:
            self._advance(substeps, loops, bool(self.pushes))
        failed = self._outcome == FAILED
        self.unstable[:] = failed
        if failed.any():
            self.qpos[failed], self.qvel[failed] = self._good_qpos[failed], self._good_qvel[failed]
            self._ticks[failed] = ticks[failed]
            self.time[failed] = ticks[failed] * self.model.opt.timestep
        self._keep()

    def _step_once(self, law: ControlLaw | None) -> None:
        """Take one physics step, with whatever is Python alone before it."""
        if law is not None:
            law(self.time, self.qpos, self.qvel, self.ctrl)
        if self.pushes:
            if self.pushes.needs_motion:
                self.motion.update(self.qpos, self.qvel)
            self.pushes.apply(self.time, self.motion.motion)
        self._advance(1, None, False)

    def _advance(self, substeps: int, loops: tuple | None, pushing: bool) -> None:
        """Take physics steps on all threads, then those that MuJoCo must take."""
        self._done[:] = 0
        inputs = (
            substeps, loops is not None, self._idle if loops is None else loops, pushing,
            self.pushes.built_in, self.motion.tree, self.motion.motion, self.pushes.push,
            self._parameters.setup, self._parameters.constants, self._parameters.pull,
        )  # fmt: skip
        if self._parameters.width == 1:
            for k in range(self.n):
                advance_one(k, *inputs, self._tasks[0][2], self._rows)
        else:
            self._workers.run(
                lambda task: advance_blocks(task[0], task[1], *inputs, task[2], self._rows),
                self._tasks,
            )
        for i in np.flatnonzero(self._outcome == NEAR):
            self._step_by_mujoco(int(i), substeps, loops, pushing)

    def _step_by_mujoco(self, i: int, substeps: int, loops: tuple | None, pushing: bool) -> None:
        """Take the rest of a control step in which simulation i may touch something."""
        fallback, rows, pushes = self._fallback, self._rows, self.pushes
        fallback.enter(i, self.time[i], self.qpos[i], self.qvel[i], self._parameters.fields)
        fallback.push(i, self.ctrl[i], pushes.push)

        def load() -> None:
            if loops is not None:
                run_loops(i, i + 1, self.time, self.qpos, self.qvel, self.ctrl, loops)
            if pushing:
                load_push(
                    i, self.time[i], self.qpos, self.qvel, pushes.built_in, self.motion.tree,
                    self.motion.motion, pushes.push,
                )  # fmt: skip
            fallback.push(i, self.ctrl[i], pushes.push)

        def keep() -> None:
            self.qpos[i], self.qvel[i] = fallback.data.qpos, fallback.data.qvel
            rows.ticks[i] += 1
            rows.time[i] = rows.ticks[i] * self.model.opt.timestep

        held = fallback.run(i, substeps - int(self._done[i]), load, keep)
        self._outcome[i] = RUNNING if held else FAILED

    def _keep(self) -> None:
        """Remember the present state as good, whatever is written to it from outside later."""
        self._good_qpos[...], self._good_qvel[...] = self.qpos, self.qvel
        self.motion.update(self.qpos, self.qvel)

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData with everything derived at the present state.

        With one simulation its qpos, qvel and ctrl are the simulation's: what is written to them
        counts. With more it is a copy.
        """
        fallback = self._fallback
        fallback.enter(i, self.time[i], self.qpos[i], self.qvel[i], self._parameters.fields)
        fallback.push(i, self.ctrl[i], self.pushes.push)
        mujoco.mj_forward(fallback.model, fallback.data)
        if self.n == 1:
            return fallback.data
        return mujoco.MjData.__copy__(fallback.data)

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Give the simulations `ids` (k,) values of their own of model fields, (k, ...) each.

        Raises:
            ValueError: a field that can't differ, or values of another shape or not finite.
        """
        self._parameters.set(ids, values)
