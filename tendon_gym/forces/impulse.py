"""A blow: a given momentum at once, on the base, a link, or a point such as the tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks, config
from tendon_gym.forces import bounds
from tendon_gym.forces.built_in import FIRST, IMPULSE, BuiltIn
from tendon_gym.forces.term import body_id, register

_BODY, _POINT, _SITE = FIRST, slice(FIRST + 1, FIRST + 4), FIRST + 7
"""Columns of a row of parameters."""


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
        checks.number("duration", self.duration)
        bounds.check_span(self.start, self.duration)

    def row(self, model: mujoco.MjModel) -> np.ndarray:
        """Return the parameters of the kernel for a model; the last one is the site, or -1.

        Raises:
            ValueError: no such target, or more momentum than `forces.bounds` allow.
        """
        bounds.check_impulse(self.impulse, model)
        body, site = _place(model, self.target)
        point = np.zeros(3) if site < 0 else model.site_pos[site] - model.body_ipos[body]
        dt = model.opt.timestep
        steps = max(1, round(self.duration / dt))
        first = np.ceil(self.start / dt - 1e-6) * dt
        force = np.array(self.impulse) / (steps * dt)
        return np.array([first, first + steps * dt, body, *point, *force, site])


def _place(model: mujoco.MjModel, target: str) -> tuple[int, int]:
    """Return the body that is hit and the site on it, -1 for its centre of mass."""
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, target)
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, target)
    if body >= 0 or site < 0:
        return body_id(model, target, "target"), -1
    return int(model.site_bodyid[site]), site


class ImpulseTerm(BuiltIn):
    """The force term of an `Impulse`; `set` changes it per simulation at any time."""

    def __init__(self, model: mujoco.MjModel, n: int, impulse: Impulse) -> None:
        """Resolve the target by name; the same impulse in all n simulations."""
        super().__init__(IMPULSE, impulse.row(model), n, needs_motion=True)
        self._model = model
        # where the sites and the centres of mass of each simulation are
        self._sites = np.tile(model.site_pos, (n, 1, 1))
        self._centres = np.tile(model.body_ipos, (n, 1, 1))

    def set(self, i: int, impulse: Impulse) -> None:
        """Give simulation `i` another impulse until its next reset."""
        self.put(i, impulse.row(self._model))
        self._aim(i, self.parameters[i])

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Hit the same site, wherever it and the centre of mass are now."""
        for name, places in (("site_pos", self._sites), ("body_ipos", self._centres)):
            if name in values:
                places[ids] = values[name]
        for i in ids:
            self._aim(i, self._start[i])
            self._aim(i, self.parameters[i])

    def _aim(self, i: int, row: NDArray) -> None:
        """Write to a row where on its body simulation `i` is hit."""
        body, site = int(row[_BODY]), int(row[_SITE])
        if site >= 0:
            row[_POINT] = self._sites[i, site] - self._centres[i, body]


def _make(model: mujoco.MjModel, n: int, values: Mapping[str, Any]) -> ImpulseTerm:
    return ImpulseTerm(model, n, config.from_dict(Impulse, values, "forces.impulse"))


register("impulse", _make)
