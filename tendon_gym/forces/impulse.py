"""A blow: a given momentum at once, on the base, a link, or a point such as the tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tendon_gym import checks, config
from tendon_gym.forces.built_in import IMPULSE, BuiltIn
from tendon_gym.forces.term import body_id, register


@dataclass(frozen=True)
class Impulse:
    """A momentum (N s, in world axes) that hits a body's centre of mass, or a site.

    The force is constant over `duration`, rounded to whole physics steps, at least one, so that
    exactly this momentum goes over, from the first step at or after `start` (s).
    """

    target: str
    impulse: tuple[float, float, float]
    start: float = 0.0
    duration: float = 0.0

    def __post_init__(self) -> None:
        """Reject values that are not finite."""
        checks.array("impulse", self.impulse, (3,))
        checks.number("start", self.start, minimum=0.0)
        checks.number("duration", self.duration, minimum=0.0)

    def row(self, model: mujoco.MjModel) -> np.ndarray:
        """Return the parameters of the kernel for a model."""
        body, point = _point(model, self.target)
        dt = model.opt.timestep
        steps = max(1, round(self.duration / dt))
        first = np.ceil(self.start / dt - 1e-6) * dt
        force = np.array(self.impulse) / (steps * dt)
        return np.array([first, first + steps * dt, body, *point, *force])


def _point(model: mujoco.MjModel, target: str) -> tuple[int, np.ndarray]:
    """Return the body and the point on it from its centre of mass, in its own axes."""
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, target)
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, target)
    if body >= 0 or site < 0:
        return body_id(model, target, "target"), np.zeros(3)
    body = int(model.site_bodyid[site])
    return body, model.site_pos[site] - model.body_ipos[body]


class ImpulseTerm(BuiltIn):
    """The force term of an `Impulse`; `set` changes it per simulation at any time."""

    def __init__(self, model: mujoco.MjModel, n: int, impulse: Impulse) -> None:
        """Resolve the target by name; the same impulse in all n simulations."""
        super().__init__(IMPULSE, impulse.row(model), n, needs_motion=True)
        self._model = model

    def set(self, i: int, impulse: Impulse) -> None:
        """Give simulation `i` another impulse until its next reset."""
        self.parameters[i] = impulse.row(self._model)


def _make(model: mujoco.MjModel, n: int, values: Mapping[str, Any]) -> ImpulseTerm:
    return ImpulseTerm(model, n, config.from_dict(Impulse, values, "forces.impulse"))


register("impulse", _make)
