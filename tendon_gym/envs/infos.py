"""What `info` tells: the same numbers for one simulation and for many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.envs.ends import REASONS, UNSTABLE

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

CARRIED = ("load_error", "cable_tension", "turns")
"""m; N; of the cable on the obstacle: of tasks with a rig alone."""


class Summary(NamedTuple):
    """What `summarise_one` writes: NUMBERS (10, n), thrusts (n, rotors), tensions (n, tendons)."""

    numbers: NDArray[np.float64]
    thrusts: NDArray[np.float64]
    tensions: NDArray[np.float64]


def make_summary(n: int, rotors: int, tendons: int) -> Summary:
    """Return room for the numbers of n simulations."""
    return Summary(np.zeros((len(NUMBERS), n)), np.zeros((n, rotors)), np.zeros((n, tendons)))


class Infos:
    """Builds the infos of a core."""

    def __init__(self, core: Core) -> None:
        """Look up what is asked for again and again."""
        self._core, self._summary = core, core.summary
        self._numbers = core.summary.numbers[:, 0]
        self._thrusts, self._tensions = core.summary.thrusts[0], core.summary.tensions[0]
        self._terms, self._parts = core.rewarder.names, core.rewarder.parts[0]
        self._reasons, self._none = np.array(REASONS, object), np.full(core.n, "", object)
        self._all = np.ones(core.n, bool)
        kinds = ("thrusts", "tensions", "action_clipped", "sim_unstable", "termination_reason")
        carried = () if core.rig is None else CARRIED
        self._names = _with_masks((*NUMBERS, *kinds, "reward_terms", *carried))
        self._term_names = _with_masks(self._terms)

    def scalar(self) -> dict[str, Any]:
        """Return the info of the only simulation."""
        core = self._core
        reason = core.reason.item()
        info: dict[str, Any] = dict(zip(NUMBERS, self._numbers.tolist(), strict=True))
        info["thrusts"], info["tensions"] = self._thrusts.copy(), self._tensions.copy()
        info["action_clipped"] = core.clipped.item()
        info["sim_unstable"] = reason == UNSTABLE
        info["termination_reason"] = REASONS[reason]
        info["reward_terms"] = dict(zip(self._terms, self._parts.tolist(), strict=True))
        if core.rig is not None:
            info |= zip(CARRIED, (each.item() for each in self._carried()), strict=True)
        if reason or core.truncated.item():
            info["is_success"] = core.success.item()
        return info

    def _carried(self) -> list[NDArray[np.float64]]:
        """Return CARRIED, (n,) each."""
        signals = self._core.signals
        x, y, z = signals["load_error"].T
        away = np.sqrt(x * x + y * y + z * z)
        return [away, signals["cable_tension"].copy(), signals["turns"].copy()]

    def vector(self, present: NDArray | None = None) -> dict[str, Any]:
        """Return the infos of all simulations in Gymnasium's form: arrays, with masks `_key`.

        Args:
            present: (n,), the simulations that have an info; None: all.
        """
        core, summary = self._core, self._summary
        mask, reason = self._all.copy(), core.reason
        ended = (reason > 0) | core.truncated
        some = ended.any()
        parts = core.rewarder.parts.T.copy()
        terms = dict(zip(self._term_names, (*parts, *[mask] * len(parts)), strict=True))
        values = (
            *summary.numbers.copy(),
            summary.thrusts.copy(),
            summary.tensions.copy(),
            core.clipped.copy(),
            reason == UNSTABLE,
            self._reasons[reason] if some else self._none.copy(),
            terms,
            *([] if core.rig is None else self._carried()),
        )
        masks = [mask] * len(values)
        infos: dict[str, Any] = dict(zip(self._names, (*values, *masks), strict=True))
        if present is not None:
            infos, ended = only(infos, present), ended & present
            some = ended.any()
        if some:
            infos["is_success"], infos["_is_success"] = core.success & ended, ended
        return infos


def _with_masks(names: Sequence[str]) -> tuple[str, ...]:
    """Return names, and then those of their masks."""
    return (*names, *(f"_{name}" for name in names))


def only(infos: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return infos that are there for `mask` (n,) alone: zero or None elsewhere, as Gymnasium's."""
    result: dict[str, Any] = {}
    for key, value in infos.items():
        if isinstance(value, dict):
            result[key] = only(value, mask)
        elif key.startswith("_"):
            result[key] = value & mask
        else:
            result[key] = value.copy()
            result[key][~mask] = None if value.dtype == object else 0
    return result


@inlined
def summarise_one(i: int, time: float, sensing: Any, summary: Any) -> None:
    """Write the numbers of simulation i at `time`, and its controls by kind, in N."""
    signals, ctrl, out = sensing.signals, sensing.ctrl[i], summary.numbers
    for k in range(sensing.rotors.shape[0]):
        summary.thrusts[i, k] = ctrl[sensing.rotors[k]]
    for k in range(sensing.tendons.shape[0]):
        summary.tensions[i, k] = ctrl[sensing.tendons[k]]
    out[0, i] = time
    out[1, i] = _length(signals["position_error"][i])
    out[2, i] = _length(signals["tip_error"][i])
    out[3, i] = sensing.full_moment * _length(signals["bend_error"][i])
    out[4, i] = signals["yaw_error"][i]
    out[5, i] = signals["tilt"][i]
    out[6, i] = signals["thrust_effort"][i]
    out[7, i] = signals["tension_effort"][i]
    out[8, i] = signals["action_rate"][i]
    out[9, i] = _length(signals["tip_velocity"][i])


@inlined
def _length(v: NDArray) -> float:
    square = 0.0
    for k in range(v.shape[0]):
        square += v[k] * v[k]
    return math.sqrt(square)
