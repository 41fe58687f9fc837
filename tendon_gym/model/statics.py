"""Rest shapes of the arm: where elasticity, gravity and tension balance."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from tendon_gym import checks
from tendon_gym.model.layout import Layout

Array = NDArray[np.float64]
TOLERANCE = 1e-10
"""Largest torque left at a hinge, N m."""
TENSION_STEP = 0.5
"""Largest change of a tension between two equilibria, N."""
ANGLE_STEP = 0.1
"""Largest change of a hinge between two iterations, rad."""
DIFFERENCE = 1e-6
"""Change of a hinge for finite differences, rad."""
ITERATIONS = 400
"""Iterations after which an equilibrium is given up."""


def rest_shape(model: mujoco.MjModel, tensions: ArrayLike) -> Array:
    """Return the hinge angles at rest, with the base held level and nothing touched.

    The tensions grow from zero to their values in small steps, and at each the arm settles: the
    torques (bias, passive and tendon forces of `mj_forward`'s stages at zero velocity) are the
    gradient of its energy, which Newton's method follows downhill. So the shape is a stable one,
    and where a strongly pulled arm snaps to another branch, it is the one that it falls to.

    Args:
        model: a model that `build_model` made.
        tensions: of the n tendons, N, shape (n,).

    Returns:
        Angles of the hinges x, y of link 1, x, y of link 2, ..., rad, shape (2N,).

    Raises:
        ValueError: tensions of a wrong shape, negative or not finite, or so large for this arm that
            it does not settle on the way to them.
    """
    arm = _HangingArm(model)
    target = checks.array("tensions", tensions, (len(arm.layout.tendon_actuators),), minimum=0.0)
    return arm.follow(np.zeros(len(arm.layout.joint_qpos)), np.zeros_like(target), target)


def rest_tips(model: mujoco.MjModel, tensions: ArrayLike) -> Array:
    """Return the tip at rest for rows of tensions, in the level base's frame, m, (m, 3).

    Each row starts from the shape of the row before it, so neighbouring rows are cheap.

    Args:
        model: a model that `build_model` made.
        tensions: of the n tendons, N, shape (m, n).

    Raises:
        ValueError: as in `rest_shape`.
    """
    arm = _HangingArm(model)
    rows = checks.array("tensions", tensions, (None, len(arm.layout.tendon_actuators)), minimum=0.0)
    shape, before = np.zeros(len(arm.layout.joint_qpos)), np.zeros(rows.shape[1])
    tips = np.empty((len(rows), 3))
    for k, row in enumerate(rows):
        shape = arm.follow(shape, before, row)
        before = row
        tips[k] = arm.tip(shape)
    return tips


class _HangingArm:
    """The arm under a level base at rest, evaluated by MuJoCo."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.layout = Layout.of(model)
        self._model = model
        self._data = mujoco.MjData(model)

    def follow(self, shape: Array, before: Array, after: Array) -> Array:
        """Follow the equilibrium from `shape` at tensions `before` to tensions `after`."""
        steps = max(1, int(np.ceil(np.abs(after - before).max() / TENSION_STEP)))
        for part in range(1, steps + 1):
            shape = self._settle(shape, before + part / steps * (after - before))
        return shape

    def _settle(self, shape: Array, tensions: Array) -> Array:
        """Return the stable equilibrium downhill from `shape`."""
        shape, plain, before = shape.copy(), False, 0.0
        stiffness = np.eye(len(shape))
        for _ in range(ITERATIONS):
            torques = self._torques(shape, tensions)
            left = float(np.abs(torques).max())
            if plain and left < TOLERANCE:
                return shape
            # A stiffness that takes nine tenths of the torques away is good for another step;
            # and one so near to positive definite ones says that the equilibrium is stable.
            if not plain or left > 0.1 * before:
                stiffness = self._stiffness(shape, tensions, torques)
            step, plain = _downhill(torques, stiffness)
            shape, before = shape + step, left
        shown = ", ".join(f"{tension:.3g}" for tension in tensions)
        raise ValueError(
            f"the arm does not settle at tensions of ({shown}) N: more than {TOLERANCE} N m are "
            f"left at a hinge after {ITERATIONS} iterations; smaller tendons.tension_max or "
            "tendons.radii, or a larger arm.bending_stiffness would let it"
        )

    def _stiffness(self, shape: Array, tensions: Array, torques: Array) -> Array:
        """Return the derivative of the torques by forward differences, N m/rad, (2N, 2N)."""
        matrix = np.empty((len(shape), len(shape)))
        for k in range(len(shape)):
            shifted = shape.copy()
            shifted[k] += DIFFERENCE
            matrix[:, k] = (self._torques(shifted, tensions) - torques) / DIFFERENCE
        return 0.5 * (matrix + matrix.T)

    def tip(self, shape: Array) -> Array:
        """Return the tip in the base's frame, m."""
        self._data.qpos[self.layout.joint_qpos] = shape
        mujoco.mj_kinematics(self._model, self._data)
        sites = self._data.site_xpos
        return sites[self.layout.tip_site] - sites[self.layout.base_site]

    def _torques(self, shape: Array, tensions: Array) -> Array:
        """Return the torques out of balance at the hinges, N m: the gradient of the energy."""
        model, data, layout = self._model, self._data, self.layout
        data.qpos[layout.joint_qpos] = shape
        # The stages of mj_forward that these forces need; mass matrix and contacts are not.
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_transmission(model, data)
        data.ctrl[layout.tendon_actuators] = tensions
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        forces = data.qfrc_bias - data.qfrc_passive - data.qfrc_actuator
        return forces[layout.joint_dofs]


def _downhill(torques: Array, stiffness: Array) -> tuple[Array, bool]:
    """Return a step that lowers the energy, and whether it is Newton's own.

    Where the stiffness is not positive definite, or Newton's step is long, a multiple of the
    identity is added (Levenberg's damping): the step then leans to steepest descent.
    """
    scale, damping = float(np.abs(stiffness).max()), 0.0
    while True:
        try:
            factor = cho_factor(stiffness + damping * np.eye(len(torques)))
        except np.linalg.LinAlgError:
            pass
        else:
            step = -cho_solve(factor, torques)
            if np.abs(step).max() <= ANGLE_STEP:
                return step, damping == 0.0
        damping = max(2.0 * damping, 1e-3 * scale)
