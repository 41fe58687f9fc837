"""A constant force and torque on one body during a span of time: pushes, steps, loads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tendon_gym import checks, config
from tendon_gym.forces import bounds
from tendon_gym.forces.built_in import EXTERNAL_WRENCH, BuiltIn
from tendon_gym.forces.term import body_id, register


@dataclass(frozen=True)
class ExternalWrench:
    """A force (N) at a body's centre of mass and a torque (N m), in world axes, for a while.

    It acts while start <= t < start + duration (s); no duration: for good.
    """

    body: str
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start: float = 0.0
    duration: float | None = None

    def __post_init__(self) -> None:
        """Reject values that are not finite."""
        checks.array("force", self.force, (3,))
        checks.array("torque", self.torque, (3,))
        bounds.check_span(self.start, self.duration)

    def row(self, model: mujoco.MjModel) -> np.ndarray:
        """Return the parameters of the kernel for a model.

        Raises:
            ValueError: no such body, or more than `forces.bounds` allow.
        """
        bounds.check_force(self.force, model)
        bounds.check_torque(self.torque, model)
        body = body_id(model, self.body, "body")
        duration = math.inf if self.duration is None else self.duration
        return np.array([self.start, self.start + duration, body, *self.force, *self.torque])


class ExternalWrenchTerm(BuiltIn):
    """The force term of an `ExternalWrench`; `set` changes it per simulation at any time."""

    def __init__(self, model: mujoco.MjModel, n: int, wrench: ExternalWrench) -> None:
        """Resolve the body by name; the same wrench in all n simulations."""
        super().__init__(EXTERNAL_WRENCH, wrench.row(model), n)
        self._model = model

    def set(self, i: int, wrench: ExternalWrench) -> None:
        """Give simulation `i` another wrench until its next reset."""
        self.put(i, wrench.row(self._model))


def _make(model: mujoco.MjModel, n: int, values: Mapping[str, Any]) -> ExternalWrenchTerm:
    wrench = config.from_dict(ExternalWrench, values, "forces.external_wrench")
    return ExternalWrenchTerm(model, n, wrench)


register("external_wrench", _make)
