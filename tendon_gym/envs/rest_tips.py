"""Where the tip should be: where the asked bend holds it at rest, or where the user wants it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import inlined
from tendon_gym.control import TendonAllocation, allocate
from tendon_gym.model import Layout, ModelParameters, build_model
from tendon_gym.model.statics import rest_tips

POINTS = 33


class Goals(NamedTuple):
    """The goals of n simulations as kernels take them; see `TipGoals`."""

    table: NDArray[np.float64]
    fixed: NDArray[np.bool_]
    values: NDArray[np.float64]


class TipGoals:
    """Goals of the tip in n simulations.

    Attributes:
        table: see `rest_tip_table`.
        arrays: all of these as kernels take them.
        values: (n, 3), in the base's axes, m.
        fixed: (n,), where the goal was given and doesn't follow the bend.
    """

    def __init__(self, parameters: ModelParameters, n: int) -> None:
        """Compute the table, or take it from an earlier environment of the same model."""
        self.table = rest_tip_table(parameters)
        self.values, self.fixed = np.zeros((n, 3)), np.zeros(n, bool)
        # not the cached table itself: a read-only array would be a type of its own
        self.arrays = Goals(np.array(self.table), self.fixed, self.values)

    def fix(self, i: int, tip: NDArray) -> NDArray[np.float64]:
        """Fix the goal of simulation `i`; return the bend (2,) that points to it."""
        self.values[i], self.fixed[i] = tip, True
        return bend_toward(tip, self.table)


@lru_cache(maxsize=16)
def rest_tip_table(parameters: ModelParameters) -> NDArray[np.float64]:
    """Return rows (distance from the base's axis, height over the base), m, (33, 2), mu 0 to 1.

    Computed once for each set of parameters in a process, along the first tendon's direction.
    """
    model = build_model(parameters)
    layout = Layout.of(model)
    allocation = TendonAllocation.of(layout.tendon_angles, layout.tendon_radii, layout.tension_max)
    angle = layout.tendon_angles[0]
    magnitudes = np.linspace(0.0, 1.0, POINTS)[:, None]
    tensions = np.zeros((POINTS, len(layout.tendon_angles)))
    bends = magnitudes * np.array([[math.cos(angle), math.sin(angle)]])
    allocate(bends, allocation.tendons(), allocation.record(), tensions)
    tips = rest_tips(model, tensions)
    table = np.stack([tips[:, 0] * math.cos(angle) + tips[:, 1] * math.sin(angle), tips[:, 2]], 1)
    table.flags.writeable = False
    return table


@inlined
def aim_one(i: int, bend: NDArray, goals: Any) -> None:
    """Let simulation i's goal be where a bend (2,) comes to rest, unless it is fixed."""
    if goals.fixed[i]:
        return
    table, out = goals.table, goals.values[i]
    last = table.shape[0] - 1
    magnitude = math.sqrt(bend[0] * bend[0] + bend[1] * bend[1])
    place = min(magnitude, 1.0) * last
    k = min(int(place), last - 1)
    share = place - k
    lateral = (1.0 - share) * table[k, 0] + share * table[k + 1, 0]
    scale = lateral / magnitude if magnitude > 0.0 else 0.0
    out[0], out[1] = scale * bend[0], scale * bend[1]
    out[2] = (1.0 - share) * table[k, 1] + share * table[k + 1, 1]


def bend_toward(tip: NDArray, table: NDArray) -> NDArray[np.float64]:
    """Return the bend (2,) whose rest tip is as far from the axis as `tip` (3,), towards it."""
    lateral = math.hypot(tip[0], tip[1])
    if lateral == 0.0:
        return np.zeros(2)
    magnitude = np.interp(lateral, table[:, 0], np.linspace(0.0, 1.0, len(table)))
    return magnitude / lateral * np.asarray(tip[:2])
