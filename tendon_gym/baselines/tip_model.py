"""What tip control knows of an arm: where its tip rests for every bend, and how it swings.

Both are worked out with `chains.SoftArm`, once for each model in a process, so that a decision
only looks them up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from tendon_gym import checks
from tendon_gym.baselines.tip_stability import Motion
from tendon_gym.chains import SoftArm
from tendon_gym.control import TendonAllocation, allocate
from tendon_gym.model import Layout, ModelParameters, build_model

Array = NDArray[np.float64]

MAGNITUDES, DIRECTIONS = 13, 12
"""Bends of the table: evenly spaced magnitudes from 0 to 1, in evenly spaced directions."""

WIDTH = 11
"""Numbers of an entry: the tip (3), its derivative by the bend (3, 2), row by row, and the factors
of the gains and of kappa that the arm bears there."""


@dataclass(frozen=True)
class TipGains:
    """Gains, in terms of the arm's slowest swing.

    Attributes:
        damping: ratio of that swing.
        integral: rate of the integral over the swing's frequency.
        error: of the tip, as a bend: what is more counts as much in the integral, so that a start
            far away does not wind it up.
        rate: of b, 1/s, so that a far goal does not set the arm swinging.
        swing: most that is fed back of the swing, as a bend: a strong pull all at once would curl
            the arm up.
    """

    damping: float = 0.5
    integral: float = 0.3
    error: float = 0.05
    rate: float = 2.0
    swing: float = 0.5

    def __post_init__(self) -> None:
        """Reject gains that are negative."""
        for name in ("damping", "integral", "error", "swing"):
            checks.number(f"TipGains.{name}", getattr(self, name), minimum=0.0)
        checks.number("TipGains.rate", self.rate, above=0.0)


class TipModel(NamedTuple):
    """An arm below a level base.

    Attributes:
        table: (MAGNITUDES, DIRECTIONS, WIDTH), the tip at rest in m, with axes turned about z so
            that the first is the bend's direction, and what of the gains the arm bears there.
        reading: (tendons, 2), by which changes of the tendons' lengths, m, give the change of the
            bend at which a resting arm would have them.
        frequency: of the slowest swing, rad/s.
        split: kappa, see `tip_model`.
        damping: gain of the swing's rate, s.
        integral: gain of the integral, 1/s.
    """

    table: Array
    reading: Array
    frequency: float
    split: float
    damping: float
    integral: float


@lru_cache(maxsize=16)
def tip_model(parameters: ModelParameters, gains: TipGains | None = None) -> TipModel:
    """Return what is known of an arm.

    The tip's motion and the tendons' lengths, both as bends of a resting arm, show the modes of the
    straight arm's swing to different degrees, p_i and c_i. The lengths show the slowest mode, where
    the arm swings as a pendulum, little, and the others well. So p - kappa c, with kappa between
    p_i / c_i of the second and the third mode, shows the slowest mode alone or nearly so, and can
    be fed back strongly without shaking the others (a modal filter: Meirovitch and Baruh 1985, "The
    implementation of modal filters for control of structures"). How much of that a bent arm bears
    is found out for each entry of the table, see `tip_stability`.

    Raises:
        ValueError: an arm that finds no rest, see `SoftArm.rest`.
    """
    gains = gains or TipGains()
    arm = _Arm.of(parameters)
    reading, frequency, split, share = arm.swing()
    damping = 2.0 * gains.damping / (frequency * share)
    integral = gains.integral * frequency
    table = arm.table(reading, damping, integral, split)
    return TipModel(table, reading, frequency, split, damping, integral)


class _Arm(NamedTuple):
    """An arm below a clamped base, with what its tendons pull."""

    model: mujoco.MjModel
    arm: SoftArm
    allocation: TendonAllocation
    pull: Array
    """(tendons, 2) tensions per bend, of any sign."""

    @classmethod
    def of(cls, parameters: ModelParameters) -> _Arm:
        model = build_model(replace(parameters, base="clamped"))
        layout, arm = Layout.of(model), SoftArm(model, "base", "tip")
        allocation = TendonAllocation.of(
            layout.tendon_angles, layout.tendon_radii, layout.tension_max
        )
        cosines, sines = np.cos(layout.tendon_angles), np.sin(layout.tendon_angles)
        moments = layout.tendon_radii * np.stack([cosines, sines])
        pull = np.asarray(np.linalg.pinv(moments) * allocation.authority, np.float64)
        return cls(model, arm, allocation, pull)

    def table(self, reading: Array, damping: float, integral: float, split: float) -> Array:
        """Tabulate the tip at rest, and what of the gains the arm bears."""
        table = np.empty((MAGNITUDES, DIRECTIONS, WIDTH))
        for column in range(DIRECTIONS):
            angle = 2.0 * math.pi * column / DIRECTIONS
            c, s = math.cos(angle), math.sin(angle)
            turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
            before, q = np.zeros(len(self.pull)), None
            bends = np.linspace(0.0, 1.0, MAGNITUDES)[:, None] * np.array([c, s])
            rows = np.zeros((MAGNITUDES, len(self.pull)))
            allocate(bends, self.allocation.tendons(), self.allocation.record(), rows)
            for row, tensions in enumerate(rows):
                q = self.arm.rest(tensions, q, before)
                before = tensions
                slope = self.arm.tip_by_tension(q, tensions)[:3] @ self.pull
                entry = table[row, column]
                entry[:3] = turn @ self.arm.tip(q).position
                entry[3:9] = (turn @ slope @ turn[:2, :2].T).ravel()
                motion = self.motion(q, tensions, slope, reading)
                entry[9:] = motion.bearable(damping, integral, split)
        return table

    def motion(self, q: Array, tensions: Array, slope: Array, reading: Array) -> Motion:
        """Return how the arm moves about a rest, with what shows of it as bends."""
        jacobian = self.arm.tendon_jacobian(q)
        friction = self.model.dof_damping[self.arm.dof_addresses]
        shown = np.linalg.pinv(slope) @ self.arm.tip_jacobian(q)[:3]
        shapes = (-jacobian.T @ self.pull, shown, reading.T @ jacobian)
        return Motion.of(self.mass(q), self.arm.stiffness(q, tensions), friction, shapes)

    def mass(self, q: Array) -> Array:
        """Return the mass matrix of the joints."""
        data, mass = mujoco.MjData(self.model), np.zeros((self.model.nv, self.model.nv))
        data.qpos[self.arm.qpos_addresses] = q
        mujoco.mj_forward(self.model, data)
        for k, unit in enumerate(np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, data, mass[k], unit)
        return mass[np.ix_(self.arm.dof_addresses, self.arm.dof_addresses)]

    def swing(self) -> tuple[Array, float, float, float]:
        """Return reading, frequency, kappa and share of the straight arm, in one of its planes.

        The share is that of a bend which goes into the slowest swing and shows.
        """
        slack = np.zeros(len(self.pull))
        straight = self.arm.rest(slack)
        # the hinges about y; links that twist or stretch as well have more than two joints
        plane = slice(1, None, self.arm.n_joints // len(Layout.of(self.model).link_bodies))
        stiffness = self.arm.stiffness(straight, slack)[plane, plane]
        torque = -(self.arm.tendon_jacobian(straight).T @ self.pull)[plane, 0]
        reach = self.arm.tip_jacobian(straight)[0, plane]
        bent = np.linalg.solve(stiffness, torque)
        squares, modes = eigh(stiffness, self.mass(straight)[plane, plane])
        excited = modes.T @ torque
        tip = modes.T @ reach / (reach @ bent)
        lengths = excited / (torque @ bent)
        ratios = (tip[1:3] / lengths[1:3]).tolist()
        split = sum(ratios) / max(len(ratios), 1)
        share = (tip[0] - split * lengths[0]) * excited[0] / squares[0]
        return -self.pull / (torque @ bent), math.sqrt(squares[0]), split, float(share)
