"""The reference engine: MuJoCo itself, one MjData for one simulation, `mujoco.batch` for many."""

from __future__ import annotations

import contextlib
import copy
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import bind, compiled
from tendon_gym.control.loops import Loops, run_loops
from tendon_gym.engines import threads as thread_pool
from tendon_gym.engines.engine import ControlLaw, available_threads, check_state, steps_at
from tendon_gym.engines.fields import OwnFields, check_fields
from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.engines.mujoco_data import ManyData, OneData
from tendon_gym.engines.tendon_laws import TendonLaws
from tendon_gym.forces import ForceTerm, Push, Pushes
from tendon_gym.tendons.embedding import Embedded

# The warnings after which MuJoCo has put the simulation back to the model's default state.
FATAL = (
    int(mujoco.mjtWarning.mjWARN_BADQPOS),
    int(mujoco.mjtWarning.mjWARN_BADQVEL),
    int(mujoco.mjtWarning.mjWARN_BADQACC),
)

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
        failed: (n,), whether a force term has.
        clock: of the simulations.
    """

    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    good_qpos: NDArray[np.float64]
    good_qvel: NDArray[np.float64]
    unstable: NDArray[np.bool_]
    warnings: NDArray[np.int32]
    errors: NDArray[np.bool_]
    failed: NDArray[np.bool_]
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
        tendons: Embedded | None = None,
    ) -> None:
        """Make `n` simulations.

        Args:
            model: what is simulated.
            n: number of simulations.
            terms: what pushes.
            threads: None: as many as this process may use.
            tendons: the laws of tendons that a `TendonWorld` has embedded in `model`.
        """
        log_warnings()
        if n == 1:  # then fields are written to the model itself
            model = copy.copy(model)
        self.model, self.n = model, n
        self._own_fields = OwnFields(model, n)
        self._threads = threads or available_threads(n)
        source = OneData(model) if n == 1 else ManyData(model, n, self._threads)
        self._simulations = source
        self.qpos, self.qvel, self.ctrl = source.qpos, source.qvel, source.ctrl
        self._clock = Clock(model.opt.timestep, np.zeros(n, np.int64), np.zeros(n))
        self.time = self._clock.time
        self._motion, self._moved = Kinematics(model, n), False
        self._tendons, self._advance = None, source.advance
        if tendons is not None:
            self._tendons = TendonLaws(tendons, model, source, self._motion, self._threads)
            if self._tendons.ahead:
                self._advance = self._tendons.advance
        self.unstable = np.zeros(n, bool)
        wind = source.own("opt.wind") if terms else np.zeros((n, 3))
        self.pushes = Pushes(terms, Push(source.wrench, source.joint_force, wind), model)
        self._good_qpos, self._good_qvel = self.qpos.copy(), self.qvel.copy()
        self._law: ControlLaw | None = None
        self._ends: dict[int, Callable[[], Any]] = {}
        self._tick = bind(tick, 0, n, 1, self._clock)
        outcome = Outcome(
            self.qpos, self.qvel, self._good_qpos, self._good_qvel, self.unstable, source.warnings,
            source.errors, self.pushes.failed, self._clock,
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
        self.take_time()
        simulations, advance, uncounted = self._simulations, self._advance, 0
        if self.pushes:
            self._step_pushed(substeps, law)
        elif law is None:
            advance(substeps)
            uncounted = substeps
        else:
            control = self._controller(law)
            for _ in range(substeps):
                control()
                advance(1)
        if self._end(uncounted)():
            ids = np.flatnonzero(self.unstable)
            simulations.reset(ids)
            self.qpos[ids], self.qvel[ids] = self._good_qpos[ids], self._good_qvel[ids]
        self._tell_time()
        self._moved = False

    def take_time(self) -> None:
        """Go on from the time that a user has written to the only simulation, if so.

        Raises:
            ValueError: a time that cannot be gone on from.
        """
        simulations = self._simulations
        if isinstance(simulations, OneData) and simulations.data.time != self.time[0]:
            self._clock.steps[0] = steps_at(simulations.data.time, self._clock.dt)
            self.time[0] = self._clock.steps[0] * self._clock.dt

    def _tell_time(self) -> None:
        """Write the time to the only simulation, where MuJoCo has a sum of time steps."""
        if isinstance(self._simulations, OneData):
            self._simulations.data.time = self.time.item()

    def _step_pushed(self, substeps: int, law: ControlLaw | None) -> None:
        """Advance with force terms, which are evaluated before every physics step."""
        self.pushes.begin()
        for _ in range(substeps):
            if law is not None:
                law(self.time, self.qpos, self.qvel, self.ctrl)
            if self.pushes.needs_motion:
                self._motion.update(self.qpos, self.qvel)
            self.pushes.apply(self.time, self._motion.motion)
            self._advance(1)
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
        self.take_time()
        steps = self._clock.steps[:, None].astype(np.float64)
        return np.hstack([self._simulations.get_state(), steps])

    def set_state(self, ids: NDArray, rows: NDArray[np.float64]) -> None:
        """Put the simulations `ids` (k,) to states (k, width) that `get_state` returned."""
        self._simulations.reset(ids)
        self._simulations.set_state(ids, rows[:, :-1])
        self._clock.steps[ids] = rows[:, -1]
        self.time[ids] = self._clock.steps[ids] * self._clock.dt
        self._tell_time()
        self.unstable[ids] = False
        self._good_qpos[ids], self._good_qvel[ids] = self.qpos[ids], self.qvel[ids]
        self._moved = False

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Give the simulations `ids` (k,) values of their own of model fields, (k, ...) each.

        Raises:
            ValueError: see `engines.fields.check_fields`; nothing is changed then.
        """
        checked = check_fields(self.model, self.n, ids, values)
        if not len(ids):
            return
        self._own_fields.take(ids, checked)
        self._simulations.set_model_fields(ids, checked)
        if self._tendons is not None:
            self._tendons.restore()
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

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData with everything derived at the present state.

        With one simulation it is the simulation itself: what is written to it counts, see `Engine`,
        but for xfrc_applied and qfrc_applied where there are force terms, which own them.
        """
        simulations = self._simulations
        if self._tendons is not None and self._tendons.ahead:
            self._tendons.look()
        if isinstance(simulations, ManyData):
            data = simulations.data(i)
            data.time = self.time[i]
            mujoco.mj_forward(simulations.model(i), data)
            return data
        # leaves the state as it is, so the trajectory doesn't depend on who looks at it
        mujoco.mj_forward(self.model, simulations.data)
        return simulations.data


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
        bad = o.errors[i] or o.failed[i]
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
