"""The reference engine: MuJoCo itself, one MjData for one simulation, `mujoco.batch` for many."""

from __future__ import annotations

import contextlib
import copy
import functools
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
from mujoco.batch import Batch, SimulationError
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import bind, compiled
from tendon_gym.control.loops import Loops, run_loops
from tendon_gym.engines import threads as thread_pool
from tendon_gym.engines.engine import ControlLaw, available_threads, check_state
from tendon_gym.engines.fields import check_fields, write_field
from tendon_gym.engines.forking import keep_in_children
from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.forces import ForceTerm, Push, Pushes

# The warnings after which MuJoCo has put the simulation back to the model's default state.
FATAL = (
    int(mujoco.mjtWarning.mjWARN_BADQPOS),
    int(mujoco.mjtWarning.mjWARN_BADQVEL),
    int(mujoco.mjtWarning.mjWARN_BADQACC),
)

# What a simulation goes on from, its warm start included: mj_step depends on nothing else.
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)

# A thread costs as much as the control law of so many simulations takes.
_WORTH_A_THREAD = 64


class Clock(NamedTuple):
    """The times of n simulations: physics steps since the reset, and that times dt, in s."""

    dt: float
    steps: NDArray[np.int64]
    time: NDArray[np.float64]


class Controlled(NamedTuple):
    """What `control` works on: the states and controls of n simulations, loops and clocks."""

    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    ctrl: NDArray[np.float64]
    loops: Loops
    clock: Clock


class Outcome(NamedTuple):
    """What `end` works on.

    Attributes:
        qpos: (n, nq).
        qvel: (n, nv).
        good_qpos: (n, nq), the last one that was good.
        good_qvel: (n, nv), likewise.
        unstable: (n,), whose state MuJoCo gave up since its reset.
        warnings: (n, kinds), how often MuJoCo has warned since the reset.
        errors: (n,), whether it has given up with an error.
        clock: of the simulations.
    """

    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    good_qpos: NDArray[np.float64]
    good_qvel: NDArray[np.float64]
    unstable: NDArray[np.bool_]
    warnings: NDArray[np.int32]
    errors: NDArray[np.bool_]
    clock: Clock


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
        if n == 1:  # then fields are written to the model itself
            model = copy.copy(model)
        self.model, self.n = model, n
        self._threads = threads or available_threads(n)
        source = _OneData(model) if n == 1 else _ManyData(model, n, self._threads)
        self._simulations = source
        self.qpos, self.qvel, self.ctrl = source.qpos, source.qvel, source.ctrl
        self._clock = Clock(model.opt.timestep, np.zeros(n, np.int64), np.zeros(n))
        self.time = self._clock.time
        self._motion, self._moved = Kinematics(model, n), False
        self.unstable = np.zeros(n, bool)
        wind = source.wind() if terms else np.zeros((n, 3))
        self.pushes = Pushes(terms, Push(source.wrench, source.joint_force, wind), model)
        self._good_qpos, self._good_qvel = self.qpos.copy(), self.qvel.copy()
        self._law: ControlLaw | None = None
        self._ends: dict[int, Callable[[], Any]] = {}
        self._tick = bind(tick, 0, n, 1, self._clock)
        outcome = Outcome(
            self.qpos, self.qvel, self._good_qpos, self._good_qvel, self.unstable, source.warnings,
            source.errors, self._clock,
        )  # fmt: skip
        self._outcome = box(outcome, (self.qpos, self.qvel))

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
        self._simulations.reset(ids)
        self.qpos[ids], self.qvel[ids] = qpos, qvel
        self._clock.steps[ids], self.time[ids] = 0, 0.0
        self.unstable[ids] = False
        self.pushes.reset(ids)
        self._good_qpos[ids], self._good_qvel[ids] = qpos, qvel
        self._moved = False

    def step(self, substeps: int, law: ControlLaw | None = None) -> None:
        """Advance all simulations by `substeps` physics steps, `law` before each of them."""
        simulations, uncounted = self._simulations, 0
        if self.pushes:
            self._step_pushed(substeps, law)
        elif law is None:
            simulations.advance(substeps)
            uncounted = substeps
        else:
            control, advance = self._controller(law), simulations.advance
            for _ in range(substeps):
                control()
                advance(1)
        if self._end(uncounted)():
            ids = np.flatnonzero(self.unstable)
            simulations.reset(ids)
            self.qpos[ids], self.qvel[ids] = self._good_qpos[ids], self._good_qvel[ids]
        self._moved = False

    def _step_pushed(self, substeps: int, law: ControlLaw | None) -> None:
        """Advance with force terms, which are evaluated before every physics step."""
        for _ in range(substeps):
            if law is not None:
                law(self.time, self.qpos, self.qvel, self.ctrl)
            if self.pushes.needs_motion:
                self._motion.update(self.qpos, self.qvel)
            self.pushes.apply(self.time, self._motion.motion)
            self._simulations.advance(1)
            self._tick()

    def _controller(self, law: ControlLaw) -> Callable[[], Any]:
        """Return what runs `law` and then moves the clocks on by a physics step."""
        if law is not self._law:
            self._law, self._control = law, self._control_of(law)
        return self._control

    def _control_of(self, law: ControlLaw) -> Callable[[], Any]:
        arrays = (self.qpos, self.qvel, self.ctrl)
        loops = getattr(law, "loops", None)
        if loops is None:
            return lambda: (law(self.time, *arrays), self._tick())
        count = max(1, min(self._threads, self.n // _WORTH_A_THREAD))
        boxed = box(Controlled(*arrays, loops, self._clock), arrays)
        tasks = [bind(control, *each, boxed) for each in thread_pool.ranges(self.n, count)]
        return tasks[0] if count == 1 else functools.partial(thread_pool.run, tasks)

    def _end(self, steps: int) -> Callable[[], Any]:
        """Return what ends a step, see `end`; the clocks move on by `steps`."""
        if steps not in self._ends:
            self._ends[steps] = bind(end, steps, self._outcome)
        return self._ends[steps]

    def get_state(self) -> NDArray[np.float64]:
        """Return all that the simulations go on from, (n, width)."""
        steps = self._clock.steps[:, None].astype(np.float64)
        return np.hstack([self._simulations.get_state(), steps])

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        """Put the simulations `ids` (k,) to states (k, width) that `get_state` returned."""
        self._simulations.reset(ids)
        self._simulations.set_state(ids, rows[:, :-1])
        self._clock.steps[ids] = rows[:, -1]
        self.time[ids] = self._clock.steps[ids] * self._clock.dt
        self.unstable[ids] = False
        self._good_qpos[ids], self._good_qvel[ids] = self.qpos[ids], self.qvel[ids]
        self._moved = False

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Give the simulations `ids` (k,) values of their own of model fields, (k, ...) each.

        Raises:
            ValueError: see `engines.fields.check_fields`; nothing is changed then.
        """
        checked = check_fields(self.model, self.n, ids, values)
        self._simulations.set_model_fields(ids, checked)
        self._motion.set_model_fields(ids, checked)
        self.pushes.set_model_fields(ids, checked)
        self._moved = False

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData with everything derived at the present state.

        With one simulation it is the simulation itself: what is written to it counts, but for
        xfrc_applied and qfrc_applied where there are force terms, which own them.
        """
        simulations = self._simulations
        if isinstance(simulations, _ManyData):
            data = simulations.data(i)
            mujoco.mj_forward(simulations.model(i), data)
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
        self._size = mujoco.mj_stateSize(model, _STATE)
        self.warnings, self.errors = data.warning.number[None], np.zeros(1, bool)

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Write values (1, ...) to the model, and what follows from them."""
        for name, value in values.items():
            write_field(self.model, name, value[0])
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))

    def wind(self) -> NDArray[np.float64]:
        """Return the air's velocity (1, 3), live."""
        return self.model.opt.wind[None]

    def reset(self, ids: NDArray) -> None:
        if len(ids):
            mujoco.mj_resetData(self.model, self.data)
            self.errors[0] = False

    def advance(self, substeps: int) -> None:
        try:
            mujoco.mj_step(self.model, self.data, substeps)
        except mujoco.FatalError:
            self.errors[0] = True

    def get_state(self) -> NDArray[np.float64]:
        row = np.empty(self._size)
        mujoco.mj_getState(self.model, self.data, row, _STATE)
        return row[None]

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        if len(ids):
            mujoco.mj_setState(self.model, self.data, rows[0], _STATE)


class _ManyData:
    """Many simulations: the rows of a `mujoco.batch.Batch`."""

    def __init__(self, model: mujoco.MjModel, n: int, threads: int) -> None:
        self.batch = Batch(model, n, threads)
        field = self.batch.bind
        self.qpos, self.qvel, self.ctrl = field("qpos"), field("qvel"), field("ctrl")
        self.wrench, self.joint_force = field("xfrc_applied"), field("qfrc_applied")
        self.warnings, self.errors = self.batch.warning[:, :, 1], np.zeros(n, bool)
        keep_in_children(self.batch.state, self.wrench, self.joint_force, self.batch.warning)
        self._process = os.getpid()

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Write values (k, ...) of the simulations `ids`, and what follows from them."""
        for name, value in values.items():
            self.batch.expand(name)[ids] = value
        self.batch.set_const()

    def wind(self) -> NDArray[np.float64]:
        """Return the air's velocities (n, 3), live."""
        wind = self.batch.expand("opt.wind")
        keep_in_children(wind)
        return wind

    def reset(self, ids: NDArray) -> None:
        self._check_process()
        self.batch.reset(ids, stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self.errors[ids] = False

    def advance(self, substeps: int) -> None:
        self._check_process()
        try:
            self.batch.step(nstep=substeps)
        except SimulationError as error:
            self.errors[error.ids] = True

    def data(self, i: int) -> mujoco.MjData:
        self._check_process()
        return self.batch.get_data(i)

    def model(self, i: int) -> mujoco.MjModel:
        """Return the model of simulation `i`, with the fields of its own."""
        return self.batch.get_model(i)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                "this vector environment was made before a fork, and its threads did not come "
                "along: make it in the process that uses it"
            )

    def get_state(self) -> NDArray[np.float64]:
        return self.batch.state.copy()

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        self.batch.state[ids] = rows


@compiled
def tick(first: int, last: int, steps: int, clock: Any) -> None:
    """Move the clocks of the simulations first..last-1 on; the time is no sum, so it is exact."""
    for i in range(first, last):
        clock.steps[i] += steps
        clock.time[i] = clock.steps[i] * clock.dt


@compiled
def control(first: int, last: int, box: Any) -> None:
    """Run boxed inner loops before one physics step, and move the clocks on by that."""
    c = box.value
    run_loops(first, last, c.clock.time, c.qpos, c.qvel, c.ctrl, c.loops)
    tick(first, last, 1, c.clock)


@compiled
def end(steps: int, box: Any) -> bool:
    """End a step of the boxed `Outcome`: move the clocks on by `steps`, and find what failed.

    What is good is remembered as such, whatever is written to it from outside later.

    Returns:
        Whether any simulation failed.
    """
    o = box.value
    n, failed = o.qpos.shape[0], False
    tick(0, n, steps, o.clock)
    for i in range(n):
        bad = o.errors[i]
        for kind in FATAL:
            bad = bad or o.warnings[i, kind] > 0
        o.unstable[i] = bad
        failed = failed or bad
        if bad:
            continue
        for k in range(o.qpos.shape[1]):
            o.good_qpos[i, k] = o.qpos[i, k]
        for k in range(o.qvel.shape[1]):
            o.good_qvel[i, k] = o.qvel[i, k]
    return failed


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
