"""Many simulations of one world, on threads, with limits, commands and activations of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.boxes import box
from tendon_gym.compiled import bind, entry
from tendon_gym.tendons.bounds import Bounds, judge
from tendon_gym.tendons.law import Drives, Limits, Motion, drive, limit, velocities
from tendon_gym.tendons.rotors import Rotors

if TYPE_CHECKING:
    from tendon_gym.tendons.world import TendonWorld

_POSITIONS = int(mujoco.mjtStage.mjSTAGE_POS)


class TendonBatch:
    """n simulations that start from the present state of a world, and go their own ways.

    Each gives the same bits as the world itself would. Later changes of the world don't reach it.

    Attributes:
        n: number of simulations.
        batch: the `mujoco.batch.Batch`, whose fields can be bound and expanded as usual; those
            that hold the range, solref and solimp of predictive limits, and the force range of
            drives, are written every step.
        qpos: (n, nq), live, as are the following.
        qvel: (n, nv).
        ctrl: (n, nu); the controls of drives are written every step.
        force: (n, t), commanded feed-forward forces of the drives, N.
        target_length: (n, t), m.
        target_velocity: (n, t), m/s.
        activation: (n, t), N.
    """

    def __init__(self, world: TendonWorld, n: int, threads: int = 1) -> None:
        """Make n simulations on so many threads."""
        self.n = checks.integer("n", n, minimum=1)
        threads = checks.integer("threads", threads, minimum=1)
        simulation = world.simulation
        model = simulation.model
        self._names = [tendon.name for tendon in world.tendons]
        self._margins = [tendon.properties.limit_margin for tendon in world.tendons]
        self.batch = Batch(model, n, threads)
        self.batch.state[:] = world.get_state().physics
        field = self.batch.bind
        self.qpos, self.qvel, self.ctrl = field("qpos"), field("qvel"), field("ctrl")
        self._law = np.repeat(simulation.law, n, axis=0)
        self.activation = np.repeat(simulation.activation[None], n, axis=0)
        self.force = self._law["force"]
        self.target_length = self._law["target_length"]
        self.target_velocity = self._law["target_velocity"]
        drives = Drives(self._law, self.activation, self.ctrl)
        self._driven = bool((self._law["control"] >= 0).any())
        self._drive = bind(drive, 0, n, box(drives, (self.ctrl,)))
        self._rotors = Rotors(
            model, simulation.wires, simulation.references.copy(), self.qpos, self.qvel
        )
        if self._rotors:
            self._lengths, self._jacobian = field("ten_length"), field("ten_J")
        self._bounded = bool(self._law["bounded"].any())
        if self._bounded:
            self._bind_bounds(model, simulation.wires.first)
        self._predictive = bool(self._law["predictive"].any())
        if self._predictive:
            self._bind_limits(model, simulation.wires.first)

    def _bind_limits(self, model: mujoco.MjModel, first: int) -> None:
        field, expand = self.batch.bind, self.batch.expand
        velocity = np.zeros((self.n, model.ntendon))
        motion = Motion(
            model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind, field("ten_J"), self.qvel,
            velocity,
        )  # fmt: skip
        discrete = model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
        limits = Limits(
            self._law, float(model.opt.timestep), discrete, first, field("ten_length"), velocity,
            expand("tendon_range"), expand("tendon_solref_lim"), expand("tendon_solimp_lim"),
            np.zeros(self.n, bool),
        )  # fmt: skip
        strided = (
            motion.jacobian, motion.qvel, limits.length, limits.range, limits.solref,
            limits.solimp,
        )  # fmt: skip
        self._velocities = bind(velocities, 0, self.n, box(motion, strided))
        self._limit = bind(limit, 0, self.n, box(limits, strided))

    def _bind_bounds(self, model: mujoco.MjModel, first: int) -> None:
        field = self.batch.bind
        bounds = Bounds(
            self._law, float(model.opt.timestep),
            model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE, first,
            model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind, field("ten_J"), self.qvel,
            field("qacc"), field("ten_length"), field("ten_velocity"), self.ctrl,
            field("actuator_force"), self.batch.expand("actuator_forcerange"),
            np.zeros(self._law.shape, np.int64), np.zeros(self.n, bool),
        )  # fmt: skip
        self._again = bounds.again
        strided = (
            bounds.jacobian, bounds.qvel, bounds.qacc, bounds.length, bounds.velocity, bounds.ctrl,
            bounds.force, bounds.range,
        )  # fmt: skip
        self._bounds = box(bounds, strided)
        self._judge = entry(judge, 0, self._bounds)

    def step(self, steps: int = 1) -> None:
        """Advance all simulations by so many steps.

        Raises:
            mujoco.batch.SimulationError: simulations that MuJoCo has given up.
        """
        for _ in range(checks.integer("steps", steps, minimum=0)):
            if self._rotors and len(written := self._rotors.written()):
                self.batch.forward(written, stage=_POSITIONS)
                self._rotors.follow(written, self._lengths, self._jacobian)
            if self._driven:
                self._drive()
            if self._predictive:
                self.batch.forward(stage=_POSITIONS)
                self._velocities()
                self._limit()
            if self._bounded:
                self._step_within_bounds()
            else:
                self.batch.step()
            if self._rotors:
                self._rotors.leave()

    def _step_within_bounds(self) -> None:
        """Step, and do it again where drives were not what they should be; see `bounds`."""
        before = self.batch.state.copy()
        self.batch.step()
        tries = 0
        while self._judge(tries, self._bounds):
            tries += 1
            which = np.flatnonzero(self._again)
            self.batch.state[which] = before[which]
            self.batch.step(which)

    def get_state(self) -> NDArray[np.float64]:
        """Return the states (n, width): MuJoCo's, and the activations."""
        return np.hstack([self.batch.state, self.activation])

    def set_state(self, ids: ArrayLike, rows: ArrayLike) -> None:
        """Put the simulations `ids` (k,) to states (k, width)."""
        which = self._checked(ids)
        width = self.batch.nstate
        values = checks.array("rows", rows, (len(which), width + self.activation.shape[1]))
        self.batch.reset(np.unique(which), stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self.batch.state[which] = values[:, :width]
        self.activation[which] = values[:, width:]
        self._rotors.leave(which)

    def set_limits(self, tendon: str, ids: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Give a tendon with predictive limits others in the simulations `ids` (k,): (k,), m.

        Raises:
            ValueError: a tendon without predictive limits; limits that aren't ordered, are equal,
                are NaN, or are infinite inwards.
        """
        which = self._checked(ids)
        k = self._names.index(checks.choice("tendon", tendon, self._names))
        if not self._law["predictive"][:, k].all():
            raise ValueError(f"tendon {tendon} has no predictive limits")
        low, high = (
            _ends(f"{name} of {tendon}", end, len(which))
            for name, end in (("lower", lower), ("upper", upper))
        )
        if not ((low < high) & (low < np.inf) & (high > -np.inf)).all():
            checks.reject(f"limits of {tendon}", (low.tolist(), high.tolist()), "lower < upper")
        self._law["lower"][which, k] = low + self._margins[k]
        self._law["upper"][which, k] = high - self._margins[k]

    def _checked(self, ids: ArrayLike) -> NDArray[np.int64]:
        which = [
            checks.integer("simulation", i, minimum=0, maximum=self.n - 1)
            for i in np.atleast_1d(np.asarray(ids)).tolist()
        ]
        if len(set(which)) < len(which):
            checks.reject("ids", ids, "of different simulations")
        return np.array(which, np.int64)


def _ends(name: str, value: ArrayLike, count: int) -> NDArray[np.float64]:
    """Return (count,) ends of intervals, which may be infinite, from one or as many."""
    given = np.asarray(value)
    if given.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got {checks.shown(value)}")
    if given.shape not in ((), (count,)):
        checks.reject(name, value, f"one number, or one for each of {count} simulations")
    return np.broadcast_to(given.astype(float), count)
