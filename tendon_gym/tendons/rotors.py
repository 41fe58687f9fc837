"""Rotors that carry the armature of tendons, kept at the angles and speeds of their tendons.

An equality gears them to the tendons while the simulation runs. Where somebody writes another
position or velocity to the state, they are put there too, or the equality would throw the bodies.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.tendons.filling import Wiring

Array = NDArray[np.float64]


class Rotors:
    """The rotors of a model, in n simulations of it."""

    def __init__(
        self, model: mujoco.MjModel, wires: Wiring, references: Array, qpos: Array, qvel: Array
    ) -> None:
        """Take the live states (n, nq), (n, nv) and reference lengths (t,), m."""
        ours = np.flatnonzero(wires.rotors >= 0)
        joints = wires.rotor_joints[ours]
        self._model, self._ours, self._references = model, ours, references
        self._tendons = wires.first + ours
        self._positions, self._speeds = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._qpos, self._qvel = qpos, qvel
        self._left = np.hstack([qpos, qvel])

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return len(self._ours) > 0

    def leave(self, which: NDArray[np.int64] | slice = slice(None)) -> None:
        """Remember states as those in which the rotors are where they belong."""
        self._left[which] = np.hstack([self._qpos[which], self._qvel[which]])

    def written(self) -> NDArray[np.int64]:
        """Return the simulations whose state has been written to since it was left."""
        now = np.hstack([self._qpos, self._qvel])
        return np.flatnonzero((now != self._left).any(axis=1))

    def follow(self, which: NDArray[np.int64], length: Array, jacobian: Array) -> None:
        """Put the rotors of simulations (k,) where their tendons are, at the same speed.

        Args:
            which: the simulations.
            length: (n, ntendon), of the tendons at the present positions, m.
            jacobian: (n, nJ), of these lengths.
        """
        model = self._model
        for k, t, position, speed in zip(
            self._ours, self._tendons, self._positions, self._speeds, strict=True
        ):
            row = slice(model.ten_J_rowadr[t], model.ten_J_rowadr[t] + model.ten_J_rownnz[t])
            rates = jacobian[which, row] * self._qvel[np.ix_(which, model.ten_J_colind[row])]
            self._qpos[which, position] = length[which, t] - self._references[k]
            self._qvel[which, speed] = rates.sum(axis=1)
        self.leave(which)
