"""The seam between the environments and the physics: arrays in, arrays out, batch axis first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.forces.term import ForceTerm


class ControlLaw(Protocol):
    """A law that the engine runs before every physics step."""

    def __call__(self, time: NDArray, qpos: NDArray, qvel: NDArray, ctrl: NDArray) -> None:
        """Write ctrl (n, nu) from time (n,), qpos (n, nq) and qvel (n, nv)."""


class Engine(Protocol):
    """`n` simulations of one model.

    All arrays are live: qpos, qvel and ctrl may be read and written between steps.

    Attributes:
        model: the compiled model; read it, don't change it.
        n: number of simulations.
        time: (n,), seconds since each simulation's reset.
        qpos: (n, nq).
        qvel: (n, nv).
        ctrl: (n, nu), in newtons.
        motion: kinematics at the present state, brought up to date by `step` and `reset`.
        unstable: (n,), True where the last `step` failed; those simulations then hold the last
            state that was good, so that everything read from them is finite.
    """

    model: mujoco.MjModel
    n: int
    time: NDArray
    qpos: NDArray
    qvel: NDArray
    ctrl: NDArray
    motion: Kinematics
    unstable: NDArray

    def reset(self, ids: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Start the simulations `ids` (k,) at qpos (k, nq) and qvel (k, nv), controls at zero.

        The ids increase strictly.
        """

    def step(self, substeps: int, law: ControlLaw | None = None) -> None:
        """Advance all simulations by `substeps` physics steps, `law` before each of them."""

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData, all derived quantities computed."""


def available_threads(n: int) -> int:
    """Return how many threads pay off for `n` simulations: never more than this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, min(n, len(os.sched_getaffinity(0))))
    return max(1, min(n, os.cpu_count() or 1))


class Pushes:
    """The force terms of one engine, added up before a physics step."""

    def __init__(self, terms: Sequence[ForceTerm], wrench: NDArray, joint_force: NDArray) -> None:
        """Keep the terms and the arrays that the physics reads: (n, nbody, 6) and (n, nv)."""
        self.terms = tuple(terms)
        self._wrench, self._joint_force = wrench, joint_force
        self._needs_motion = any(term.needs_motion for term in terms)

    def __bool__(self) -> bool:
        """Say whether anything pushes at all."""
        return bool(self.terms)

    def reset(self, ids: NDArray) -> None:
        """Reset every term in the simulations `ids`."""
        for term in self.terms:
            term.reset(ids)

    def apply(self, time: NDArray, qpos: NDArray, qvel: NDArray, motion: Kinematics) -> None:
        """Write the sum of all terms at the present state."""
        if self._needs_motion:
            motion.update(qpos, qvel)
        self._wrench[...] = 0.0
        self._joint_force[...] = 0.0
        for term in self.terms:
            term.add(time, motion, self._wrench, self._joint_force)


def check_state(model: mujoco.MjModel, qpos: NDArray, qvel: NDArray) -> None:
    """Raise if a state to start from has a wrong shape or is not finite."""
    for name, values, width in (("qpos", qpos, model.nq), ("qvel", qvel, model.nv)):
        if values.ndim != 2 or values.shape[1] != width:
            raise ValueError(f"{name} must have shape (simulations, {width}), got {values.shape}")
        if not np.isfinite(values).all():
            column = int(np.argwhere(~np.isfinite(values))[0, 1])
            raise ValueError(f"{name}[{column}] must be finite, got {values[:, column]!r}")
