"""A blow: a given momentum at once, on the base, a link, or a point such as the tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks, config
from tendon_gym.forces.built_in import IMPULSE, BuiltIn
from tendon_gym.forces.term import body_id, register

_PLACES = ("site_pos", "body_ipos")


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

    def row(self, model: mujoco.MjModel, own: Mapping[str, np.ndarray] | None = None) -> np.ndarray:
        """Return the parameters of the kernel for a model, some fields of which are `own`."""
        body, point = _point(model, self.target, own or {})
        dt = model.opt.timestep
        steps = max(1, round(self.duration / dt))
        first = np.ceil(self.start / dt - 1e-6) * dt
        force = np.array(self.impulse) / (steps * dt)
        return np.array([first, first + steps * dt, body, *point, *force])


def _point(
    model: mujoco.MjModel, target: str, own: Mapping[str, np.ndarray]
) -> tuple[int, np.ndarray]:
    """Return the body and the point on it from its centre of mass, in its own axes."""
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, target)
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, target)
    if body >= 0 or site < 0:
        return body_id(model, target, "target"), np.zeros(3)
    body = int(model.site_bodyid[site])
    places = own.get("site_pos", model.site_pos)
    return body, places[site] - own.get("body_ipos", model.body_ipos)[body]


class ImpulseTerm(BuiltIn):
    """The force term of an `Impulse`; `set` changes it per simulation at any time."""

    def __init__(self, model: mujoco.MjModel, n: int, impulse: Impulse) -> None:
        """Resolve the target by name; the same impulse in all n simulations."""
        super().__init__(IMPULSE, impulse.row(model), n, needs_motion=True)
        self._model, self._first, self._now = model, impulse, [impulse] * n
        self._own: dict[int, dict[str, np.ndarray]] = {}

    def set(self, i: int, impulse: Impulse) -> None:
        """Give simulation `i` another impulse until its next reset."""
        self.parameters[i] = impulse.row(self._model, self._own.get(i))
        self._now[i] = impulse

    def reset(self, ids: NDArray) -> None:
        """Put back the impulse that the term was made with."""
        super().reset(ids)
        for i in ids:
            self._now[i] = self._first

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Hit the same site, wherever it and the centre of mass are now."""
        for row, i in enumerate(ids):
            own = self._own.setdefault(int(i), {})
            own.update({name: values[name][row] for name in _PLACES if name in values})
            self._start[i] = self._first.row(self._model, own)
            self.parameters[i] = self._now[i].row(self._model, own)


def _make(model: mujoco.MjModel, n: int, values: Mapping[str, Any]) -> ImpulseTerm:
    return ImpulseTerm(model, n, config.from_dict(Impulse, values, "forces.impulse"))


register("impulse", _make)
