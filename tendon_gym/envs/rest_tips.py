"""Where the tip should be: where the asked bend holds it at rest, or where the user wants it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.compiled import inlined
from tendon_gym.control import TendonAllocation, allocate
from tendon_gym.model import Layout, ModelParameters, build_model
from tendon_gym.model.statics import rest_lengths, rest_tips

POINTS = 33
DIRECTIONS, CHECKED = 12, 5
"""Bends by which `check_goals` looks at an arm: directions, and magnitudes from 0 to 1."""

UNLIKE = 0.01
"""So far, m, a tip may rest from its goal."""


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
    angle = float(layout.tendon_angles[0])
    tips = rest_tips(model, _tensions(layout, angle, POINTS))
    table = np.stack([tips[:, 0] * math.cos(angle) + tips[:, 1] * math.sin(angle), tips[:, 2]], 1)
    table.flags.writeable = False
    return table


@lru_cache(maxsize=16)
def check_goals(parameters: ModelParameters) -> None:
    """Raise if the arm's tendons keep its tip from the goals that bends stand for.

    Springs are in the rest shapes that goals are made of, but these are taken to be alike in all
    directions. Limits may be there as long as no rest shape touches them.

    Raises:
        ValueError: dry friction or couplings, of which rest shapes know nothing; limits and locks
            that rest shapes would pass; springs that bend the arm unlike in different directions.
    """
    tendons = parameters.tendons
    if tendons.plain:
        return
    for name in ("properties.friction_loss", "couplings"):
        if name in tendons.more:
            raise ValueError(
                f'goal="tip" goes with model.tendons without {name}: goals are rest shapes, which '
                'know springs alone; goal="bend" goes with all'
            )
    model = build_model(parameters)
    layout, table = Layout.of(model), rest_tip_table(parameters)
    for k in range(DIRECTIONS):
        angle = 2.0 * math.pi * k / DIRECTIONS
        tensions = _tensions(layout, angle, CHECKED)
        _check_lengths(parameters, rest_lengths(model, tensions))
        lateral, height = table[:: (POINTS - 1) // (CHECKED - 1)].T
        goals = np.stack([lateral * math.cos(angle), lateral * math.sin(angle), height], 1)
        apart = np.linalg.norm(rest_tips(model, tensions) - goals, axis=1).max()
        if apart > UNLIKE:
            raise ValueError(
                'goal="tip" needs model.tendons.properties that bend the arm alike in all '
                f"directions, to {UNLIKE:g} m of the tip at rest, got {apart:.3g} m at "
                f"{math.degrees(angle):.0f} degrees: the same springs on all tendons would"
            )


def _check_lengths(parameters: ModelParameters, lengths: NDArray[np.float64]) -> None:
    """Raise if lengths at rest (m, n) are beyond limits of the tendons."""
    tendons = parameters.tendons
    for name, own, column in zip(tendons.names, tendons.each, lengths.T, strict=True):
        shortest, longest, margin = float(column.min()), float(column.max()), own.limit_margin
        for field, inside in (
            ("lower_limit", own.lower_limit is None or own.lower_limit + margin <= shortest),
            ("upper_limit", own.upper_limit is None or own.upper_limit - margin >= longest),
        ):
            if not inside:
                checks.reject(
                    f"model.tendons.properties.{field} of {name}",
                    getattr(own, field),
                    f'beyond the {shortest:.4g} to {longest:.4g} m of goal="tip"\'s rest shapes',
                )


def _tensions(layout: Layout, angle: float, points: int) -> NDArray[np.float64]:
    """Return the tensions (points, tendons), N, of bends by 0 to 1 in a direction, rad."""
    allocation = TendonAllocation.of(layout.tendon_angles, layout.tendon_radii, layout.tension_max)
    tensions = np.zeros((points, len(layout.tendon_angles)))
    direction = np.array([[math.cos(angle), math.sin(angle)]])
    bends = np.linspace(0.0, 1.0, points)[:, None] * direction
    allocate(bends, allocation.tendons(), allocation.record(), tensions)
    return tensions


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
