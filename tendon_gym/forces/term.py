"""Force terms: the one hook for whatever pushes on a simulation besides the engine itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks

Array = NDArray[np.float64]


class Motion(NamedTuple):
    """What a force term sees of n simulations.

    Attributes:
        body_position: (n, nbody, 3), origins of the body frames in world, m.
        body_rotation: (n, nbody, 3, 3), body to world.
        body_velocity: (n, nbody, 3), of those origins in world, m/s.
        body_angular_velocity: (n, nbody, 3), in world axes, rad/s.
        site_position: (n, nsite, 3), in world, m.
        tendon_length: (n, ntendon), m.
    """

    body_position: Array
    body_rotation: Array
    body_velocity: Array
    body_angular_velocity: Array
    site_position: Array
    tendon_length: Array


class Push(NamedTuple):
    """What force terms add to.

    Attributes:
        wrench: (n, nbody, 6), force (N) at each body's centre of mass and torque (N m), in world
            axes.
        joint_force: (n, nv), on the degrees of freedom, N or N m.
        wind: (n, 3), velocity of the air in world axes, m/s; the bodies' drag depends on it.
    """

    wrench: Array
    joint_force: Array
    wind: Array


class ForceTerm(Protocol):
    """Something that pushes, for all simulations at once.

    A term adds to what the other terms gave, at every physics step. State of its own, where it
    has any, is per simulation, lies in a live array `state` (n, s), so that it can be saved, and
    goes back to its start with `reset`.

    A term may also have `failed` (n,), True where `add` found no way to go on: that simulation
    then ends as unstable, at its last good state; `set_model_fields(ids, values)`, which is told
    of model fields that simulations have for their own; `seed(ids, keys)`, which is told the keys
    (k,) of the noise of episodes that begin, after `reset`, see `noise`; and
    `draw(i, motion, scene)`, which adds what it looks like to an mjvScene.
    """

    needs_motion: bool
    """Whether `add` reads the motion, which then is brought up to date at every physics step."""

    def reset(self, ids: NDArray) -> None:
        """Put the term's own state of the simulations `ids` (k,) back to its start."""

    def add(self, time: NDArray, motion: Motion | None, push: Push) -> None:
        """Add to `push` what the term gives at `time` (n,), in s."""


Maker = Callable[[mujoco.MjModel, int, Mapping[str, Any]], ForceTerm]
_MAKERS: dict[str, Maker] = {}


def register(name: str, maker: Maker) -> None:
    """Make a force term known by name: `maker(model, n, values)` builds it for n simulations.

    Raises:
        ValueError: the name is taken.
    """
    if name in _MAKERS:
        raise ValueError(f"force term {checks.shown(name)} is registered already")
    _MAKERS[name] = maker


def make(
    name: str, model: mujoco.MjModel, n: int, values: Mapping[str, Any] | None = None
) -> ForceTerm:
    """Build the force term `name` with its plain configuration values."""
    checks.choice("force term", name, sorted(_MAKERS))
    return _MAKERS[name](model, n, values or {})


def body_id(model: mujoco.MjModel, name: str, where: str) -> int:
    """Return the index of the body `name`, or raise and list the model's bodies."""
    names = [model.body(b).name for b in range(1, model.nbody)]
    checks.choice(where, name, names)
    return names.index(name) + 1
