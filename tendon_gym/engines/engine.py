"""The seam between the environments and the physics: arrays in, arrays out, batch axis first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.engines.kinematics import Kinematics

LONGEST = 1e6
"""Latest time that a simulation may be put to, s."""


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
        unstable: (n,), True where the last `step` failed; those simulations then hold the last
            state that was good, so that everything read from them is finite.
    """

    model: mujoco.MjModel
    n: int
    time: NDArray
    qpos: NDArray
    qvel: NDArray
    ctrl: NDArray
    unstable: NDArray

    @property
    def motion(self) -> Kinematics:
        """The kinematics at the present state, brought up to date by then."""
        ...

    def reset(self, ids: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Start the simulations `ids` (k,) at qpos (k, nq) and qvel (k, nv), controls at zero.

        The ids increase strictly.
        """

    def take_time(self) -> None:
        """Go on from the time that a user has written to the MjData of the only simulation.

        `step` does so too; who has something to do before asks first whether it will.

        Raises:
            ValueError: a time that cannot be gone on from.
        """

    def step(self, substeps: int, law: ControlLaw | None = None) -> None:
        """Advance all simulations by `substeps` physics steps, `law` before each of them."""

    def get_state(self) -> NDArray:
        """Return all that the simulations go on from, (n, width)."""
        ...

    def set_state(self, ids: NDArray, rows: NDArray) -> None:
        """Put the simulations `ids` (k,) to states (k, width) that `get_state` returned."""

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Give the simulations `ids` (k,) values of their own of model fields, (k, ...) each.

        The names are those of `engines.fields.FIELDS`. They stay through resets.
        """

    def get_model_fields(self) -> dict[str, NDArray]:
        """Return copies (n, ...) of the fields that simulations have had for their own, by name."""
        ...

    def put_model_fields(self, values: Mapping[str, NDArray]) -> None:
        """Give all simulations what `get_model_fields` returned, and the model's own otherwise."""

    def data(self, i: int) -> mujoco.MjData:
        """Return simulation `i` as MjData, all derived quantities computed.

        With one simulation it is the simulation itself: what is written to its qpos, qvel, ctrl,
        xfrc_applied, qfrc_applied and time counts from the next step on; the time, which is what
        references and force terms go by, as the nearest whole number of physics steps.
        """
        ...


def available_threads(n: int) -> int:
    """Return how many threads pay off for `n` simulations: never more than this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, min(n, len(os.sched_getaffinity(0))))
    return max(1, min(n, os.cpu_count() or 1))


def steps_at(time: float, timestep: float) -> int:
    """Return the physics steps until a time that was written to an MjData, the nearest number.

    Raises:
        ValueError: a time that cannot be gone on from.
    """
    return round(checks.number("data.time", time, minimum=0.0, maximum=LONGEST) / timestep)


def check_state(model: mujoco.MjModel, qpos: NDArray, qvel: NDArray) -> None:
    """Raise if a state to start from has a wrong shape or is not finite."""
    for name, values, width in (("qpos", qpos, model.nq), ("qvel", qvel, model.nv)):
        if values.ndim != 2 or values.shape[1] != width:
            raise ValueError(f"{name} must have shape (simulations, {width}), got {values.shape}")
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            checks.reject(f"{name}[{bad[0, 1]}]", values[tuple(bad[0])], "finite")
