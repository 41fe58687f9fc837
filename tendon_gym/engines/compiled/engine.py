"""The compiled engine: contact-free flight in time linear in the links, MuJoCo near contacts."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.control.loops import Loops, idle_loops
from tendon_gym.engines import threads as thread_pool
from tendon_gym.engines.compiled.fallback import Fallback
from tendon_gym.engines.compiled.lanes import UNIT
from tendon_gym.engines.compiled.parameters import Parameters
from tendon_gym.engines.compiled.stepping import (
    FAILED,
    NEAR,
    RUNNING,
    Given,
    Rows,
    advance,
    command_one,
    new_memories,
)
from tendon_gym.engines.engine import ControlLaw, available_threads, check_state
from tendon_gym.engines.fields import check_fields, write_field
from tendon_gym.engines.kinematics import Kinematics
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
        self._motion, self._moved = Kinematics(model, n), False
        self.unstable = np.zeros(n, bool)
        push = self._make_push()
        self.pushes = Pushes(terms, push, model)
        self._good_qpos, self._good_qvel = self.qpos.copy(), self.qvel.copy()
        self._idle = idle_loops(n)
        self._boxed: tuple[Loops | None, Any] = None, None
        setup, width = self._parameters.setup, self._parameters.width
        blocks = self._parameters.blocks
        ranges = thread_pool.ranges(blocks, min(blocks, threads or available_threads(n)))
        self._tasks = [(*each, new_memories(setup, width)) for each in ranges]

    def _make_push(self) -> Push:
        """Return what pushes; with one simulation also what is written to its MjData."""
        model, n = self.model, self.n
        wind = np.tile(model.opt.wind, (n, 1))
        if n == 1:
            data = self._fallback.data
            return Push(data.xfrc_applied[None], data.qfrc_applied[None], wind)
        return Push(np.zeros((n, model.nbody, 6)), np.zeros((n, model.nv)), wind)

    @property
    def motion(self) -> Kinematics:
        """The kinematics, brought up to date when they are asked for after a step or a reset."""
        if not self._moved:
            self._motion.update(self.qpos, self.qvel)
            self._moved = True
        return self._motion

    def reset(self, ids: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Start the simulations `ids` (k,) at qpos (k, nq) and qvel (k, nv)."""
        check_state(self.model, qpos, qvel)
        self.qpos[ids], self.qvel[ids], self.ctrl[ids] = qpos, qvel, 0.0
        self.time[ids], self._ticks[ids] = 0.0, 0
        self.unstable[ids] = False
        self._fallback.warm[ids] = 0.0
        self.pushes.reset(ids)
        self._good_qpos[ids], self._good_qvel[ids] = qpos, qvel
        self._moved = False

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
        self._good_qpos[...], self._good_qvel[...] = self.qpos, self.qvel
        self._moved = False

    def _step_once(self, law: ControlLaw | None) -> None:
        """Take one physics step, with whatever is Python alone before it."""
        if law is not None:
            law(self.time, self.qpos, self.qvel, self.ctrl)
        if self.pushes:
            if self.pushes.needs_motion:
                self._motion.update(self.qpos, self.qvel)
            self.pushes.apply(self.time, self._motion.motion)
        self._advance(1, None, False)

    def _advance(self, substeps: int, loops: Loops | None, pushing: bool) -> None:
        """Take physics steps on all threads, then those that MuJoCo must take."""
        self._done[:] = 0
        looping, given = loops is not None, self._box(loops or self._idle)
        width = self._parameters.width
        how = (width, 1.0 if width == 1 else UNIT, substeps, looping, pushing, given)
        thread_pool.run(
            [
                functools.partial(advance, first, last, *how, memory)
                for first, last, memory in self._tasks
            ]
        )
        for i in np.flatnonzero(self._outcome == NEAR):
            self._step_by_mujoco(int(i), substeps, looping, pushing, given)

    def _box(self, loops: Loops) -> Any:
        """Return the box of all that a step works on, made once for each loops."""
        if self._boxed[0] is not loops:
            parameters, motion = self._parameters, self._motion
            everything = Given(
                loops,
                self.pushes.built_in,
                motion.tree,
                motion.motion,
                self.pushes.push,
                parameters.setup,
                parameters.constants,
                parameters.pull,
                self._rows,
            )
            self._boxed = loops, box(everything)
        return self._boxed[1]

    def _step_by_mujoco(
        self, i: int, substeps: int, looping: bool, pushing: bool, given: Any
    ) -> None:
        """Take the rest of a control step in which simulation i may touch something."""
        fallback, rows = self._fallback, self._rows
        fallback.enter(i, self.time[i], self.qpos[i], self.qvel[i], self._parameters.fields)
        fallback.push(i, self.ctrl[i], self.pushes.push)

        def load() -> None:
            command_one(i, looping, pushing, given)
            fallback.push(i, self.ctrl[i], self.pushes.push)

        def keep() -> None:
            self.qpos[i], self.qvel[i] = fallback.data.qpos, fallback.data.qvel
            rows.ticks[i] += 1
            rows.time[i] = rows.ticks[i] * self.model.opt.timestep

        held = fallback.run(i, substeps - int(self._done[i]), load, keep)
        self._outcome[i] = RUNNING if held else FAILED

    def get_state(self) -> NDArray[np.float64]:
        """Return all that the simulations go on from, (n, width)."""
        ticks = self._ticks[:, None].astype(np.float64)
        return np.hstack([self.qpos, self.qvel, self.ctrl, self._fallback.warm, ticks])

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        """Put the simulations `ids` (k,) to states (k, width) that `get_state` returned."""
        widths = np.cumsum([self.model.nq, self.model.nv, self.model.nu, self.model.nv])
        qpos, qvel, ctrl, warm, ticks = np.split(rows, widths, axis=1)
        self.qpos[ids], self.qvel[ids], self.ctrl[ids] = qpos, qvel, ctrl
        self._fallback.warm[ids] = warm
        self._ticks[ids] = ticks[:, 0]
        self.time[ids] = self._ticks[ids] * self.model.opt.timestep
        self.unstable[ids] = False
        self._good_qpos[ids], self._good_qvel[ids] = qpos, qvel
        self._moved = False

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData with everything derived at the present state.

        With one simulation its qpos, qvel, ctrl, xfrc_applied and qfrc_applied are the
        simulation's: what is written to them counts, but for the last two where there are force
        terms, which own them. With more simulations it is a copy.
        """
        fallback = self._fallback
        fallback.enter(i, self.time[i], self.qpos[i], self.qvel[i], self._parameters.fields)
        fallback.push(i, self.ctrl[i], self.pushes.push)
        mujoco.mj_forward(fallback.model, fallback.data)
        if self.n == 1:
            return fallback.data
        return copy.copy(fallback.data)

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Give the simulations `ids` (k,) values of their own of model fields, (k, ...) each.

        Raises:
            ValueError: see `engines.fields.check_fields`; nothing is changed then.
        """
        checked = check_fields(self.model, self.n, ids, values)
        self._parameters.check(checked)
        if self.n == 1:
            for name, value in checked.items():
                write_field(self.model, name, value[0])
            mujoco.mj_setConst(self.model, mujoco.MjData(self.model))
        self._parameters.set(ids, checked)
        self._motion.set_model_fields(ids, checked)
        self._boxed = None, None
        self.pushes.set_model_fields(ids, checked)
        self._moved = False
