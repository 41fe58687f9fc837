"""What tip control knows of an arm: where its tip rests for every bend, and how it swings.

Both are worked out with `chains.SoftArm`, once for each model in a process, so that a decision
only looks them up.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from tendon_gym.chains import SoftArm
from tendon_gym.control import TendonAllocation, allocate
from tendon_gym.model import Layout, ModelParameters, build_model

Array = NDArray[np.float64]

MAGNITUDES, DIRECTIONS = 13, 12
"""Bends of the table: evenly spaced magnitudes from 0 to 1, in evenly spaced directions."""

WIDTH = 9
"""Numbers of an entry: the tip (3), then its derivative by the bend (3, 2), row by row."""


class TipModel(NamedTuple):
    """An arm below a level base.

    Attributes:
        table: (MAGNITUDES, DIRECTIONS, WIDTH), the tip at rest in m, with axes turned about z so
            that the first is the bend's direction.
        reading: (tendons, 2), by which changes of the tendons' lengths, m, give the change of the
            bend at which a resting arm would have them.
        frequency: of the slowest swing, rad/s.
        split: kappa, see `tip_model`.
        share: of the bend that goes into the slowest swing and shows.
    """

    table: Array
    reading: Array
    frequency: float
    split: float
    share: float


@lru_cache(maxsize=16)
def tip_model(parameters: ModelParameters) -> TipModel:
    """Return what is known of an arm.

    The tip's motion and the tendons' lengths, both as bends of a resting arm, show the modes of the
    straight arm's swing to different degrees, p_i and c_i. The lengths show the slowest mode, where
    the arm swings as a pendulum, little, and the others well. So p - kappa c, with kappa between
    p_i / c_i of the second and the third mode, shows the slowest mode alone or nearly so, and can
    be fed back strongly without shaking the others (a modal filter: Meirovitch and Baruh 1985, "The
    implementation of modal filters for control of structures").

    Raises:
        ValueError: an arm that finds no rest, see `SoftArm.rest`.
    """
    model = build_model(replace(parameters, base="clamped"))
    layout, arm = Layout.of(model), SoftArm(model, "base", "tip")
    allocation = TendonAllocation.of(layout.tendon_angles, layout.tendon_radii, layout.tension_max)
    cosines, sines = np.cos(layout.tendon_angles), np.sin(layout.tendon_angles)
    moments = layout.tendon_radii * np.stack([cosines, sines])
    pull = np.asarray(np.linalg.pinv(moments) * allocation.authority, np.float64)
    return TipModel(_table(arm, allocation, pull), *_swing(model, arm, pull))


def _table(arm: SoftArm, allocation: TendonAllocation, pull: Array) -> Array:
    """Tabulate the tip at rest; `pull` (tendons, 2) are tensions per bend, of any sign."""
    table = np.empty((MAGNITUDES, DIRECTIONS, WIDTH))
    for column in range(DIRECTIONS):
        angle = 2.0 * math.pi * column / DIRECTIONS
        c, s = math.cos(angle), math.sin(angle)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        before, q = np.zeros(len(pull)), None
        bends = np.linspace(0.0, 1.0, MAGNITUDES)[:, None] * np.array([c, s])
        rows = np.zeros((MAGNITUDES, len(pull)))
        allocate(bends, allocation.tendons(), allocation.record(), rows)
        for row, tensions in enumerate(rows):
            q = arm.rest(tensions, q, before)
            before = tensions
            slope = arm.tip_by_tension(q, tensions)[:3] @ pull
            table[row, column, :3] = turn @ arm.tip(q).position
            table[row, column, 3:] = (turn @ slope @ turn[:2, :2].T).ravel()
    return table


def _swing(model: mujoco.MjModel, arm: SoftArm, pull: Array) -> tuple[Array, float, float, float]:
    """Return reading, frequency, split and share; the arm's two planes are alike, x is taken."""
    slack = np.zeros(len(pull))
    straight = arm.rest(slack)
    data, mass = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    data.qpos[arm.qpos_addresses] = straight
    mujoco.mj_forward(model, data)
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, mass[k], unit)
    # the hinges about y; links that twist or stretch as well have more than two joints
    plane = slice(1, None, arm.n_joints // len(Layout.of(model).link_bodies))
    stiffness = arm.stiffness(straight, slack)[plane, plane]
    mass = mass[np.ix_(arm.dof_addresses, arm.dof_addresses)][plane, plane]
    torque = -(arm.tendon_jacobian(straight).T @ pull)[plane, 0]
    reach = arm.tip_jacobian(straight)[0, plane]
    bent = np.linalg.solve(stiffness, torque)
    squares, modes = eigh(stiffness, mass)
    excited = modes.T @ torque
    tip = modes.T @ reach / (reach @ bent)
    lengths = excited / (torque @ bent)
    ratios = (tip[1:3] / lengths[1:3]).tolist()
    split = sum(ratios) / max(len(ratios), 1)
    share = (tip[0] - split * lengths[0]) * excited[0] / squares[0]
    return -pull / (torque @ bent), math.sqrt(squares[0]), split, float(share)
