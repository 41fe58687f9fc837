"""The compiled engine: contact-free flight in time linear in the links, MuJoCo near contacts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import bind
from tendon_gym.control.loops import Loops, idle_loops
from tendon_gym.engines import threads as thread_pool
from tendon_gym.engines.compiled.fallback import Fallback
from tendon_gym.engines.compiled.lanes import UNIT
from tendon_gym.engines.compiled.parameters import Parameters
from tendon_gym.engines.compiled.rows import (
    BEGINS,
    ENDS,
    FAILED,
    LOOPING,
    NEAR,
    PUSHING,
    RUNNING,
    Given,
    Memories,
    Rows,
    new_memories,
)
from tendon_gym.engines.compiled.stepping import advance, command_one, settle, tick
from tendon_gym.engines.engine import ControlLaw, available_threads, check_state, steps_at
from tendon_gym.engines.fields import OwnFields, check_fields, write_field
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
        self._own_fields = OwnFields(model, n)
        self._parameters = Parameters(model, n, pushed=bool(terms))
        self._fallback = Fallback(model, n)
        if n == 1:  # the state of the MjData is the simulation's
            data = self._fallback.data
            self.qpos, self.qvel, self.ctrl = data.qpos[None], data.qvel[None], data.ctrl[None]
        else:
            self.qpos = np.tile(model.qpos0, (n, 1))
            self.qvel, self.ctrl = np.zeros((n, model.nv)), np.zeros((n, model.nu))
        self.time, self._ticks = np.zeros(n), np.zeros(n, np.int64)
        self.unstable = np.zeros(n, bool)
        self.pushes = Pushes(terms, self._make_push(), model)
        self._rows = Rows(
            self.time,
            self._ticks,
            self.qpos,
            self.qvel,
            self.ctrl,
            outcome=np.zeros(n, np.int64),
            due=np.zeros(n, np.int64),
            good_qpos=self.qpos.copy(),
            good_qvel=self.qvel.copy(),
            unstable=self.unstable,
            refused=self.pushes.failed,
        )
        self._motion, self._moved = Kinematics(model, n), False
        self._idle = idle_loops(n)
        self._loops: Loops | None = None
        self._bound: dict[tuple[int, int], list[Callable[[], Any]]] = {}
        self._boxes: list[Any] = []
        setup, width = self._parameters.setup, self._parameters.width
        blocks = self._parameters.blocks
        count = min(blocks, threads or available_threads(n))
        self._ranges = thread_pool.ranges(blocks, count)
        self._memories = [new_memories(setup, width) for _ in self._ranges]

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
        self._rows.good_qpos[ids], self._rows.good_qvel[ids] = qpos, qvel
        self._fallback.warm[ids] = 0.0
        self.pushes.push.wrench[ids], self.pushes.push.joint_force[ids] = 0.0, 0.0
        self._tell_time()
        self.pushes.reset(ids)
        self._moved = False

    def step(self, substeps: int, law: ControlLaw | None = None) -> None:
        """Advance all simulations by `substeps` physics steps, `law` before each of them.

        A law with an attribute `loops` (see `control.loops`) runs within the compiled step, any
        other one, and force terms in Python, between steps of one physics step each.
        """
        self.take_time()
        self._step(substeps, law)
        self._tell_time()

    def _tell_time(self) -> None:
        """Write the time to the MjData of the only simulation."""
        if self.n == 1:
            self._fallback.data.time = self.time.item()

    def take_time(self) -> None:
        """Go on from the time that a user has written to the only simulation, if so.

        Raises:
            ValueError: a time that cannot be gone on from.
        """
        if self.n == 1 and self._fallback.data.time != self.time[0]:
            timestep = self.model.opt.timestep
            self._ticks[0] = steps_at(self._fallback.data.time, timestep)
            self.time[0] = self._ticks[0] * timestep

    def _step(self, substeps: int, law: ControlLaw | None) -> None:
        """Advance; the time is known."""
        loops = getattr(law, "loops", None)
        self._moved = False
        self.pushes.begin()
        if self.pushes.own or (law is not None and loops is None):
            for k in range(substeps):
                self._prepare(law)
                ends = ENDS if k == substeps - 1 else 0
                self._advance(1, (BEGINS if k == 0 else 0) | ends, self._idle)
            return
        how = BEGINS | ENDS | (PUSHING if self.pushes else 0)
        if loops is None:
            self._advance(substeps, how, self._idle)
        else:
            self._advance(substeps, how | LOOPING, loops)

    def _prepare(self, law: ControlLaw | None) -> None:
        """Do what is Python alone before a physics step."""
        if law is not None:
            law(self.time, self.qpos, self.qvel, self.ctrl)
        if self.pushes:
            if self.pushes.needs_motion:
                self._motion.update(self.qpos, self.qvel)
            self.pushes.apply(self.time, self._motion.motion)

    def _advance(self, substeps: int, how: int, loops: Loops) -> None:
        """Take physics steps on all threads, then those that MuJoCo must take."""
        bound = self._bound.get((substeps, how))
        if bound is None or loops is not self._loops:
            bound = self._bind(substeps, how, loops)
        thread_pool.run(bound)
        for memory in self._memories:
            if memory.report[0]:
                for i in np.flatnonzero(self._rows.outcome == NEAR):
                    self._step_by_mujoco(int(i), how)
                return

    def _bind(self, substeps: int, how: int, loops: Loops) -> list[Callable[[], Any]]:
        """Return what the threads run, bound to all that it works on."""
        if loops is not self._loops:
            self._boxes = [box(self._given(loops, memory)) for memory in self._memories]
            self._bound = {}
            self._loops = loops  # last: after an interrupt on the way all is bound anew
        width = self._parameters.width
        kind = (width, 1.0 if width == 1 else UNIT, substeps, how)
        self._bound[substeps, how] = [
            bind(advance, first, last, *kind, each)
            for (first, last), each in zip(self._ranges, self._boxes, strict=True)
        ]
        return self._bound[substeps, how]

    def _given(self, loops: Loops, memory: Memories) -> Given:
        parameters, motion, pushes = self._parameters, self._motion, self.pushes
        return Given(
            loops,
            pushes.built_in,
            motion.tree,
            motion.motion,
            pushes.push,
            parameters.setup,
            parameters.constants,
            parameters.pull,
            parameters.load,
            self._rows,
            memory,
        )

    def _step_by_mujoco(self, i: int, how: int) -> None:
        """Take the rest of the steps in which simulation i may touch something."""
        fallback, rows, timestep = self._fallback, self._rows, self.model.opt.timestep
        fallback.enter(i, self.time[i], self.qpos[i], self.qvel[i], self._parameters.fields)
        fallback.push(i, self.ctrl[i], self.pushes.push)

        def load() -> None:
            command_one(i, how, self._boxes[0])
            fallback.push(i, self.ctrl[i], self.pushes.push)

        def keep() -> None:
            self.qpos[i], self.qvel[i] = fallback.data.qpos, fallback.data.qvel
            tick(i, timestep, rows)

        held = fallback.run(i, int(rows.due[i] - rows.ticks[i]), load, keep)
        rows.outcome[i] = RUNNING if held else FAILED
        if how & ENDS:
            settle(i, timestep, rows, self.pushes.push)

    def get_state(self) -> NDArray[np.float64]:
        """Return all that the simulations go on from, (n, width)."""
        self.take_time()
        ticks = self._ticks[:, None].astype(np.float64)
        push, n = self.pushes.push, self.n
        pushed = (push.wrench.reshape(n, -1), push.joint_force)
        return np.hstack([self.qpos, self.qvel, self.ctrl, self._fallback.warm, *pushed, ticks])

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        """Put the simulations `ids` (k,) to states (k, width) that `get_state` returned."""
        model, push = self.model, self.pushes.push
        widths = np.cumsum([model.nq, model.nv, model.nu, model.nv, 6 * model.nbody, model.nv])
        qpos, qvel, ctrl, warm, wrench, joint_force, ticks = np.split(rows, widths, axis=1)
        push.wrench[ids] = wrench.reshape(-1, model.nbody, 6)
        push.joint_force[ids] = joint_force
        self.qpos[ids], self.qvel[ids], self.ctrl[ids] = qpos, qvel, ctrl
        self._fallback.warm[ids] = warm
        self._ticks[ids] = ticks[:, 0]
        self.time[ids] = self._ticks[ids] * self.model.opt.timestep
        self._tell_time()
        self.unstable[ids] = False
        self._rows.good_qpos[ids], self._rows.good_qvel[ids] = qpos, qvel
        self._moved = False

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData with everything derived at the present state.

        With one simulation its qpos, qvel, ctrl, xfrc_applied, qfrc_applied and time are the
        simulation's: what is written to them counts, see `Engine`, but for the two forces where
        there are force terms, which own them. With more simulations it is a copy.
        """
        fallback = self._fallback
        time = fallback.data.time if self.n == 1 else self.time[i]
        fallback.enter(i, time, self.qpos[i], self.qvel[i], self._parameters.fields)
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
        if not len(ids):
            return
        self._parameters.check(checked)
        self._loops = None  # what is bound holds the old ones
        self._own_fields.take(ids, checked)
        if self.n == 1:
            for name, value in checked.items():
                write_field(self.model, name, value[0])
            mujoco.mj_setConst(self.model, mujoco.MjData(self.model))
        self._parameters.set(ids, checked)
        self._motion.set_model_fields(ids, checked)
        self.pushes.set_model_fields(ids, checked)
        self._moved = False

    def get_model_fields(self) -> dict[str, NDArray[np.float64]]:
        """Return copies (n, ...) of the fields that simulations have had for their own, by name."""
        return self._own_fields.copies()

    def put_model_fields(self, values: Mapping[str, NDArray]) -> None:
        """Give all simulations what `get_model_fields` returned, and the model's own otherwise."""
        changes = self._own_fields.changes_to(values)
        if changes:
            self.set_model_fields(np.arange(self.n), changes)
