"""Force terms: the one hook for everything that pushes on a simulation besides MuJoCo itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks


class BodyMotion(Protocol):
    """What a force term sees of the motion: see `engines.kinematics.Kinematics`."""

    body_position: NDArray
    body_rotation: NDArray
    body_velocity: NDArray
    body_angular_velocity: NDArray
    site_position: NDArray
    tendon_length: NDArray


class ForceTerm(Protocol):
    """Something that pushes: wrenches on bodies and forces on joints, for all simulations at once.

    A term adds to what the other terms gave, at every physics step. State of its own, where it
    has any, is per simulation and goes back to its start with `reset`.
    """

    needs_motion: bool
    """Whether `add` reads the motion, which then is brought up to date at every physics step."""

    def reset(self, ids: NDArray) -> None:
        """Put the term's own state of the simulations `ids` (k,) back to its start."""

    def add(self, time: NDArray, motion: BodyMotion, wrench: NDArray, joint_force: NDArray) -> None:
        """Add to `wrench` (n, nbody, 6) and `joint_force` (n, nv) at `time` (n,), in s.

        A wrench is a force (N) at the body's centre of mass and a torque (N m), in world axes.
        """


Maker = Callable[[mujoco.MjModel, int, Mapping[str, Any]], ForceTerm]
_MAKERS: dict[str, Maker] = {}


def register(name: str, maker: Maker) -> None:
    """Make a force term known by name: `maker(model, n, values)` builds it for n simulations.

    Raises:
        ValueError: the name is taken.
    """
    if name in _MAKERS:
        raise ValueError(f"force term {name!r} is registered already")
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
    return int(np.flatnonzero([name == other for other in names])[0]) + 1
