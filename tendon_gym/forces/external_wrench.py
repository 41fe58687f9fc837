"""A constant force and torque on one body during a span of time: pushes, steps, loads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks, config
from tendon_gym.compiled import compiled
from tendon_gym.forces.term import BodyMotion, body_id, register

WRENCH = np.dtype(
    [("body", np.int64), ("wrench", np.float64, 6), ("start", np.float64), ("end", np.float64)]
)

# s; a sum of time steps may fall short of the time that a user writes down.
_ROUNDING = 1e-9


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
        checks.number("start", self.start, minimum=0.0)
        if self.duration is not None:
            checks.number("duration", self.duration, minimum=0.0)


class ExternalWrenchTerm:
    """The force term of an `ExternalWrench`; `set` changes it per simulation at any time."""

    needs_motion = False

    def __init__(self, model: mujoco.MjModel, n: int, wrench: ExternalWrench) -> None:
        """Resolve the body by name; the same wrench in all n simulations."""
        self._model = model
        self._start = np.zeros(n, WRENCH)
        self._rows = np.zeros(n, WRENCH)
        for i in range(n):
            self._start[i] = self._row(wrench)
        self._rows[:] = self._start

    def _row(self, wrench: ExternalWrench) -> tuple:
        body = body_id(self._model, wrench.body, "body")
        duration = math.inf if wrench.duration is None else wrench.duration
        return body, (*wrench.force, *wrench.torque), wrench.start, wrench.start + duration

    def set(self, i: int, wrench: ExternalWrench) -> None:
        """Give simulation `i` another wrench until its next reset."""
        self._rows[i] = self._row(wrench)

    def reset(self, ids: NDArray) -> None:
        """Put back the wrench that the term was made with."""
        self._rows[ids] = self._start[ids]

    def add(self, time: NDArray, motion: BodyMotion, wrench: NDArray, joint_force: NDArray) -> None:
        """Add the wrench where its time has come; see `ForceTerm.add`."""
        add_external_wrench(time, self._rows, wrench)


@compiled
def add_external_wrench(time: NDArray, rows: NDArray, wrench: NDArray) -> None:
    """Add each simulation's wrench (rows: WRENCH, (n,)) to `wrench` (n, nbody, 6) in its span."""
    for i in range(rows.shape[0]):
        now = time[i] + _ROUNDING
        if rows["start"][i] <= now < rows["end"][i]:
            for k in range(6):
                wrench[i, rows["body"][i], k] += rows["wrench"][i, k]


def _make(model: mujoco.MjModel, n: int, values: Mapping[str, Any]) -> ExternalWrenchTerm:
    wrench = config.from_dict(ExternalWrench, values, "forces.external_wrench")
    return ExternalWrenchTerm(model, n, wrench)


register("external_wrench", _make)
