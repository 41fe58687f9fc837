"""A distribution of smooth, endless references for training.

Each sample is one row: a closed figure in a tilted plane, turned by any angle about the vertical,
with a vertical oscillation, a yaw motion and a turning bend. What is drawn can be flown: where the
figure could exceed the acceleration limit its period is stretched, and where the arm could come too
close to the floor the figure is lifted. Both bounds add up the harmonics' peaks, whatever their
phases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.references import bounds
from tendon_gym.references.table import new_rows

# name: frequency of the figure's long and wide axis in figures per period, and the wide axis'
# lead in phase; 0 is an axis that the figure does not use
SHAPES: dict[str, tuple[int, int, float]] = {
    "figure_eight": (1, 2, 0.0),
    "circle": (1, 1, 0.5 * math.pi),
    "line": (1, 0, 0.0),
    "lissajous_2_3": (2, 3, 0.0),
    "lissajous_3_2": (3, 2, 0.0),
    "vertical": (0, 0, 0.0),
    "hover": (0, 0, 0.0),
}
YAW_MODES = ("fixed", "turning", "swinging")
DRAWS = 22

Range = tuple[float, float]


@dataclass(frozen=True)
class SmoothDistribution:
    """Ranges (low, high) from which the figures are drawn, evenly.

    Attributes:
        shapes: names of SHAPES, each equally likely. "vertical" oscillates up and down only,
            "hover" does not move at all.
        amplitude: m, half the figure's length, at most 100.
        width_ratio: the figure's width over its length.
        period: s, of the whole figure, before it is stretched, at least 0.1.
        tilt: rad, of the figure's plane against the horizontal, in any direction.
        vertical: m, amplitude of the vertical oscillation, at most 100.
        height: m, of the figure's centre, before it is lifted.
        max_acceleration: m/s^2, of the base, 0.01 to 10000; 4.5 keeps the tilt below
            asin(4.5/9.81) = 27 degrees.
        min_height: m, of the lowest point of the base: the arm hangs 0.53 m below it.
        yaw_modes: names of YAW_MODES, each equally likely; every mode starts at any yaw.
        yaw_rate: rad/s, of the turning mode.
        yaw_swing: rad, amplitude of the swinging mode, with the figure's period.
        slack: probability of slack tendons.
        bend_magnitude: mu, from 0 to 1, of the others.
        bend_rate: rad/s, at which beta turns, from any direction.
        bend_ramp: s, in which mu rises from 0 at the start.
    """

    shapes: tuple[str, ...] = tuple(SHAPES)
    amplitude: Range = (0.2, 1.8)
    width_ratio: Range = (0.3, 1.0)
    period: Range = (4.0, 12.0)
    tilt: Range = (0.0, 0.3)
    vertical: Range = (0.0, 0.3)
    height: Range = (1.0, 2.2)
    max_acceleration: float = 4.5
    min_height: float = 0.75
    yaw_modes: tuple[str, ...] = YAW_MODES
    yaw_rate: Range = (-0.8, 0.8)
    yaw_swing: Range = (0.0, 0.8)
    slack: float = 0.3
    bend_magnitude: Range = (0.0, 1.0)
    bend_rate: Range = (-0.4 * math.pi, 0.4 * math.pi)
    bend_ramp: float = 1.0

    def __post_init__(self) -> None:
        """Check every range."""
        _check_names("shapes", self.shapes, tuple(SHAPES))
        _check_names("yaw_modes", self.yaw_modes, YAW_MODES)
        _check_range("height", self.height, -bounds.FARTHEST, bounds.FARTHEST)
        for name in ("yaw_rate", "bend_rate"):
            _check_range(name, getattr(self, name), -bounds.SPINNING, bounds.SPINNING)
        for name in ("amplitude", "vertical"):
            _check_range(name, getattr(self, name), 0.0, 100.0)
        _check_range("yaw_swing", self.yaw_swing, 0.0, bounds.TURNED)
        _check_range("width_ratio", self.width_ratio, 0.0, 1.0)
        _check_range("tilt", self.tilt, 0.0, 0.5 * math.pi)
        _check_range("bend_magnitude", self.bend_magnitude, 0.0, 1.0)
        _check_range("period", self.period, 0.1, bounds.LONGEST)
        checks.number("max_acceleration", self.max_acceleration, minimum=0.01, maximum=1e4)
        bounds.coordinate("min_height", self.min_height)
        checks.number("slack", self.slack, minimum=0.0, maximum=1.0)
        bounds.ramp("bend_ramp", self.bend_ramp)

    def sample(self, rng: np.random.Generator) -> NDArray[np.void]:
        """Return one endless row (1,) of dtype ROW, after the same number of draws each time."""
        draws = iter(rng.random(DRAWS).tolist())
        rows = new_rows(1)
        rows["end"] = math.inf
        turn = self._figure(rows, draws)
        self._yaw(rows, draws, turn)
        self._bend(rows, draws)
        return rows

    def _figure(self, rows: NDArray[np.void], draws: Iterator[float]) -> float:
        """Fill position; return the figure's angular frequency in rad/s."""
        shape = _pick(self.shapes, next(draws))
        n_long, n_wide, lead = SHAPES[shape]
        n_vertical = _pick((1, 2), next(draws))
        long = _within(self.amplitude, next(draws)) * (n_long > 0)
        wide = _within(self.width_ratio, next(draws)) * long * (n_wide > 0)
        wide *= _pick((-1.0, 1.0), next(draws))
        vertical = _within(self.vertical, next(draws)) * (shape != "hover")
        tilt, azimuth, heading = _within(self.tilt, next(draws)), _angle(draws), _angle(draws)
        start, vertical_start = _angle(draws), _angle(draws)
        multiples = np.array([n_long, n_wide, n_vertical])
        axes = np.array([[long], [wide], [vertical]]) * _plane(azimuth, tilt, heading)

        turn = 2.0 * math.pi / _within(self.period, next(draws))
        peak = np.abs(axes).T @ (multiples * turn) ** 2
        turn *= math.sqrt(min(1.0, self.max_acceleration / max(math.hypot(*peak), 1e-9)))
        depth = float(np.abs(axes[:, 2]).sum())
        height = max(_within(self.height, next(draws)), self.min_height + depth)

        rows["coefficients"][0, 2, 0] = height
        rows["frequency"][0, :3] = multiples * turn
        rows["phase"][0, :3] = n_long * start, n_wide * start + lead, vertical_start
        rows["amplitude"][0, :3, :3] = axes
        return turn

    def _yaw(self, rows: NDArray[np.void], draws: Iterator[float], turn: float) -> None:
        """Fill yaw."""
        mode = _pick(self.yaw_modes, next(draws))
        rows["coefficients"][0, 3, 0] = _angle(draws) - math.pi
        rows["coefficients"][0, 3, 1] = _within(self.yaw_rate, next(draws)) * (mode == "turning")
        rows["amplitude"][0, 3, 3] = _within(self.yaw_swing, next(draws)) * (mode == "swinging")
        rows["frequency"][0, 3] = turn
        rows["phase"][0, 3] = _angle(draws)

    def _bend(self, rows: NDArray[np.void], draws: Iterator[float]) -> None:
        """Fill the bend."""
        bends = next(draws) >= self.slack
        rows["bend_magnitude"] = _within(self.bend_magnitude, next(draws)) * bends
        rows["bend_direction"] = _angle(draws)
        rows["bend_rate"] = _within(self.bend_rate, next(draws))
        rows["bend_ramp_in"] = self.bend_ramp


def _within(limits: Range, draw: float) -> float:
    return limits[0] + draw * (limits[1] - limits[0])


def _pick(options: tuple[Any, ...], draw: float) -> Any:
    return options[int(draw * len(options))]


def _angle(draws: Iterator[float]) -> float:
    return 2.0 * math.pi * next(draws)


def _plane(azimuth: float, tilt: float, heading: float) -> NDArray[np.float64]:
    """Return rows (3, 3): axes of a plane turned about z, x and z again; the world's vertical."""
    ca, sa = math.cos(azimuth), math.sin(azimuth)
    ct, st = math.cos(tilt), math.sin(tilt)
    ch, sh = math.cos(heading), math.sin(heading)
    return np.array(
        [
            [ca * ch - sa * ct * sh, sa * ch + ca * ct * sh, st * sh],
            [-ca * sh - sa * ct * ch, -sa * sh + ca * ct * ch, st * ch],
            [0.0, 0.0, 1.0],
        ]
    )


def _check_range(
    name: str, limits: Range, minimum: float = -math.inf, maximum: float = math.inf
) -> None:
    low, high = checks.array(name, limits, (2,), minimum=minimum, maximum=maximum)
    if low > high:
        checks.reject(name, limits, "(low, high) with low <= high")


def _check_names(name: str, names: tuple[str, ...], legal: tuple[str, ...]) -> None:
    if isinstance(names, str) or not names:
        checks.reject(name, names, "a tuple of at least one name")
    for k, item in enumerate(names):
        checks.choice(f"{name}[{k}]", item, legal)
