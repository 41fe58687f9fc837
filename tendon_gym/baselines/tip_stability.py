"""How much of tip control's feedback a bent arm bears, by the damping of its linear motion.

The gains are those of the straight arm. A strongly bent arm shows its modes at the tip in other
shares, so that what damps the straight arm may drive the bent one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

Array = NDArray[np.float64]

MODES = 16
"""Slowest modes that count; what is faster is damped by the arm itself."""
ENOUGH = 0.05
"""Damping ratio with which the gains are left as they are."""
SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.0)
FILTERS = (1.0, 0.5, 0.0)
"""What is tried: factors of both gains, and of kappa."""


class Motion(NamedTuple):
    """Small motion of an arm about a rest, by the coordinates of its slowest modes."""

    squares: Array
    """(modes,) squared frequencies, 1/s^2."""
    friction: Array
    """(modes, modes), 1/s."""
    push: Array
    """(modes, 2) what a bend of the tendons' pull does."""
    shown: Array
    """(2, modes) the bend that the tip shows."""
    read: Array
    """(2, modes) the bend that the tendons' lengths show."""

    @classmethod
    def of(
        cls, mass: Array, stiffness: Array, friction: Array, shapes: tuple[Array, ...]
    ) -> Motion:
        """Return the motion of an arm.

        Args:
            mass: (n, n) of its joints.
            stiffness: (n, n).
            friction: (n,) of each joint.
            shapes: (n, 2) torques per bend, (2, n) and (2, n) what tip and lengths show.
        """
        squares, modes = eigh(stiffness, mass)
        squares, modes = squares[:MODES], modes[:, :MODES]
        push, shown, read = shapes
        rubbing = modes.T @ (friction[:, None] * modes)
        return cls(squares, rubbing, modes.T @ push, shown @ modes, read @ modes)

    def damping(self, rate: float, integral: float, split: float) -> float:
        """Return the least damping ratio under feedback; negative if a motion grows.

        Args:
            rate: gain of the swing's rate, s.
            integral: gain of the integral, 1/s.
            split: kappa.
        """
        n = len(self.squares)
        system = np.zeros((2 * n + 2, 2 * n + 2))
        system[:n, n : 2 * n] = np.eye(n)
        system[n : 2 * n, :n] = -np.diag(self.squares)
        system[n : 2 * n, n : 2 * n] = -self.friction
        system[n : 2 * n, n : 2 * n] -= rate * self.push @ (self.shown - split * self.read)
        system[n : 2 * n, 2 * n :] = self.push
        system[2 * n :, :n] = -integral * self.shown
        poles = np.linalg.eigvals(system)
        poles = poles[np.abs(poles) > 1e-9]  # an idle integral stands still
        return float((-poles.real / np.abs(poles)).min())

    def bearable(self, rate: float, integral: float, split: float) -> tuple[float, float]:
        """Return factors of both gains and of kappa: 1, or the best where damping is too low."""
        if self.damping(rate, integral, split) >= ENOUGH:
            return 1.0, 1.0
        return max(
            ((share, part) for share in SHARES for part in FILTERS),
            key=lambda tried: self.damping(tried[0] * rate, tried[0] * integral, tried[1] * split),
        )
