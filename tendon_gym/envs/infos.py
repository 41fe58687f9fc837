"""What `info` tells: the same numbers for one simulation and for many."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import Prepared, compiled
from tendon_gym.envs.core import REASONS, UNSTABLE

if TYPE_CHECKING:
    from tendon_gym.envs.core import Core

NUMBERS = (
    "time",
    "position_error",
    "tip_error",
    "bend_error",
    "yaw_error",
    "tilt",
    "thrust_effort",
    "tension_effort",
    "action_rate",
    "tip_speed",
)
"""s; m; m; N m between the applied bending moment and the asked one; rad; rad; N; N; N/s; m/s."""


class Infos:
    """Builds the infos of a core."""

    def __init__(self, core: Core) -> None:
        """Make room for the numbers."""
        self._core = core
        self._numbers = np.zeros((core.n, len(NUMBERS)))
        layout = core.layout
        self._thrusts = np.zeros((core.n, len(layout.rotor_actuators)))
        self._tensions = np.zeros((core.n, len(layout.tendon_actuators)))
        self._summarise = Prepared(
            _summarise,
            core.engine.time,
            core.engine.ctrl,
            core.signals,
            core.interface.full_moment,
            layout.rotor_actuators,
            layout.tendon_actuators,
            self._numbers,
            self._thrusts,
            self._tensions,
        ).bound()
        self._reasons = np.array(REASONS, object)

    def scalar(self) -> dict[str, Any]:
        """Return the info of the only simulation."""
        core = self._core
        self._summarise()
        info: dict[str, Any] = dict(zip(NUMBERS, self._numbers[0].tolist(), strict=True))
        reason = int(core.reason[0])
        info["thrusts"], info["tensions"] = self._thrusts[0].copy(), self._tensions[0].copy()
        info["action_clipped"] = bool(core.clipped[0])
        info["sim_unstable"] = reason == UNSTABLE
        info["termination_reason"] = REASONS[reason]
        info["reward_terms"] = core.reward_parts(0)
        if reason or core.truncated[0]:
            info["is_success"] = bool(core.success[0])
        return info

    def vector(self, present: NDArray | None = None) -> dict[str, Any]:
        """Return the infos of all simulations in Gymnasium's form: arrays, with masks `_key`."""
        core = self._core
        self._summarise()
        numbers = self._numbers
        infos: dict[str, Any] = {
            name: numbers[:, column].copy() for column, name in enumerate(NUMBERS)
        }
        infos["thrusts"], infos["tensions"] = self._thrusts.copy(), self._tensions.copy()
        infos["action_clipped"] = core.clipped.copy()
        infos["sim_unstable"] = core.reason == UNSTABLE
        infos["termination_reason"] = self._reasons[core.reason]
        mask = np.ones(core.n, bool) if present is None else present
        terms = {name: values.copy() for name, values in core.reward_terms.items()}
        masks = {f"_{name}": mask for name in terms}
        infos["reward_terms"] = {**terms, **masks}
        infos.update({f"_{name}": mask for name in list(infos)})
        ended = ((core.reason > 0) | core.truncated) & mask
        if ended.any():
            infos["is_success"], infos["_is_success"] = core.success.copy(), ended
        return infos


@compiled
def _summarise(
    time: NDArray,
    ctrl: NDArray,
    signals: NDArray,
    full_moment: float,
    rotors: NDArray,
    tendons: NDArray,
    out: NDArray,
    thrusts: NDArray,
    tensions: NDArray,
) -> None:
    """Write NUMBERS of every simulation to out (n, 10), and the controls by kind."""
    for i in range(out.shape[0]):
        for k in range(rotors.shape[0]):
            thrusts[i, k] = ctrl[i, rotors[k]]
        for k in range(tendons.shape[0]):
            tensions[i, k] = ctrl[i, tendons[k]]
        out[i, 0] = time[i]
        out[i, 1] = _length(signals["position_error"][i])
        out[i, 2] = _length(signals["tip_error"][i])
        out[i, 3] = full_moment * _length(signals["bend_error"][i])
        out[i, 4] = signals["yaw_error"][i]
        out[i, 5] = signals["tilt"][i]
        out[i, 6] = signals["thrust_effort"][i]
        out[i, 7] = signals["tension_effort"][i]
        out[i, 8] = signals["action_rate"][i]
        out[i, 9] = _length(signals["tip_velocity"][i])


@compiled
def _length(v: NDArray) -> float:
    square = 0.0
    for k in range(v.shape[0]):
        square += v[k] * v[k]
    return math.sqrt(square)
