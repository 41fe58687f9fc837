"""What tendons of a `TendonWorld` ask of the MuJoCo engine beside the fields of its model."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.compiled import bind, compiled, inlined
from tendon_gym.engines import threads as thread_pool
from tendon_gym.engines.kinematics import Kinematics, Tree, update_one
from tendon_gym.engines.mujoco_data import ManyData, OneData
from tendon_gym.forces.term import Motion
from tendon_gym.spatial import Vector, add, cross, dot, norm, subtract, vector_at
from tendon_gym.tendons.embedding import Embedded
from tendon_gym.tendons.law import Limits, limit

_DERIVED = ("tendon_length0", "tendon_invweight0")
"""What MuJoCo derives anew when a model's fields change, but a tendon world has written."""

# A thread costs as much as looking ahead in so many simulations takes.
_WORTH_A_THREAD = 64


class Measured(NamedTuple):
    """What `measure` works on: n simulations with ntendon tendons.

    Attributes:
        limited: indices of the tendons that are measured.
        qpos: (n, nq).
        qvel: (n, nv).
        tree: of the kinematics.
        motion: of the kinematics; written, the lengths of all tendons among it.
        velocity: (n, ntendon), m/s; written.
    """

    limited: NDArray[np.int64]
    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    tree: Tree
    motion: Motion
    velocity: NDArray[np.float64]


class TendonLaws:
    """Limits that look ahead, in all simulations of an engine, and references that stay.

    The lengths that springs, locks and couplings refer to, and how hard their rows are, stay those
    of the world, whatever model fields simulations have for their own.
    """

    def __init__(
        self,
        embedded: Embedded,
        model: mujoco.MjModel,
        simulations: OneData | ManyData,
        motion: Kinematics,
        threads: int,
    ) -> None:
        """Take the laws of tendons that are embedded in `model`, which the simulations have."""
        self._simulations, self._motion, self._threads = simulations, motion, threads
        self._derived = {name: getattr(model, name).copy() for name in _DERIVED}
        self._law, self._first = embedded.law[None].copy(), embedded.first
        self._limited = self._first + np.flatnonzero(embedded.law["predictive"])
        self._timestep = float(model.opt.timestep)
        self._discrete = model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
        self._tree: Tree | None = None
        if self.ahead:
            fields = ("tendon_range", "tendon_solref_lim", "tendon_solimp_lim")
            self._rows = [simulations.own(name) for name in fields]
            self._velocity = np.zeros_like(motion.tendon_length)
            self._engaged = np.zeros(len(self._velocity), bool)

    @property
    def ahead(self) -> bool:
        """Whether there are limits that look ahead."""
        return len(self._limited) > 0

    def advance(self, steps: int) -> None:
        """Take physics steps, and look ahead before each of them."""
        for _ in range(steps):
            self.look()
            self._simulations.advance(1)

    def look(self) -> None:
        """Write the rows of the limits for the present states."""
        if self._tree is not self._motion.tree:
            self._tree, self._run = self._motion.tree, self._bind()
        self._run()

    def restore(self) -> None:
        """Write again what the world has written and MuJoCo derived anew."""
        for name, values in self._derived.items():
            self._simulations.own(name)[...] = values

    def _bind(self) -> Callable[[], Any]:
        """Return what looks ahead, bound to the arrays that it works on."""
        simulations, motion = self._simulations, self._motion
        n = len(self._velocity)
        states = (simulations.qpos, simulations.qvel)
        measured = Measured(self._limited, *states, motion.tree, motion.motion, self._velocity)
        tendon_range, solref, solimp = self._rows
        limits = Limits(
            self._law, self._timestep, self._discrete, self._first, motion.tendon_length,
            self._velocity, tendon_range, solref, solimp, self._engaged,
        )  # fmt: skip
        first, second = box(measured, states), box(limits, (motion.tendon_length, *self._rows))

        def task(start: int, stop: int) -> Callable[[], Any]:
            measuring, limiting = (
                bind(measure, start, stop, first),
                bind(limit, start, stop, second),
            )
            return lambda: (measuring(), limiting())

        count = max(1, min(self._threads, n // _WORTH_A_THREAD))
        tasks = [task(*each) for each in thread_pool.ranges(n, count)]
        return tasks[0] if count == 1 else functools.partial(thread_pool.run, tasks)


@compiled
def measure(first: int, last: int, box: Any) -> None:
    """Write lengths and velocities of the tendons with limits of the simulations first..last-1."""
    c = box.value
    tree, places = c.tree, c.motion.site_position
    for i in range(first, last):
        update_one(i, c.qpos[i], c.qvel[i], tree, c.motion)
        bodies = tree.sites[i % tree.sites.shape[0]]["body"]
        for k in range(c.limited.shape[0]):
            t, rate = c.limited[k], 0.0
            s = tree.path_sites[tree.path_start[t]]
            place, speed = vector_at(places, i, s), _site_velocity(i, s, bodies[s], c.motion)
            for p in range(tree.path_start[t] + 1, tree.path_start[t + 1]):
                s = tree.path_sites[p]
                there, faster = vector_at(places, i, s), _site_velocity(i, s, bodies[s], c.motion)
                way = subtract(there, place)
                length = norm(way)
                if length > 0.0:
                    rate += dot(way, subtract(faster, speed)) / length
                place, speed = there, faster
            c.velocity[i, t] = rate


@inlined
def _site_velocity(i: int, site: int, body: int, motion: Motion) -> Vector:
    """Return the velocity of a site of simulation i in world, m/s."""
    place = vector_at(motion.site_position, i, site)
    arm = subtract(place, vector_at(motion.body_position, i, body))
    spin = vector_at(motion.body_angular_velocity, i, body)
    return add(vector_at(motion.body_velocity, i, body), cross(spin, arm))
