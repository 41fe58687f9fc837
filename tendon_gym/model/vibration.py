"""How the vehicle's arm swings: natural frequencies, mode shapes and damped poles at rest.

Near a position of rest the arm's motion is M d2q/dt2 + D dq/dt + K q = 0, with MuJoCo's mass matrix
M, and with K and D the derivatives by positions and velocities of what must vanish at rest:

    r = bias (gravity) - passive forces (springs, dampers, air) - actuators (rotors, tensions).

A clamped arm swings with the frequencies of the generalised eigenproblem K v = w^2 M v (Meirovitch
2001, "Fundamentals of Vibrations", chapter 7). In free flight the rotors push along the axes of a
base that swings too. Such a follower force has no potential, so that K is not symmetric. But a
vehicle whose base is moved or turned as a whole accelerates as a whole, and the arm doesn't notice:
the joints' block of M^-1 K alone decides how the arm swings, and the base follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from tendon_gym import checks
from tendon_gym.model.layout import Layout
from tendon_gym.model.statics import rest_shape

Array = NDArray[np.float64]
DIFFERENCE = 1e-5
"""Change of a position or a velocity for central differences, rad or rad/s, m or m/s."""


@dataclass(frozen=True, eq=False)
class Linearised:
    """The motion of a model near rest: mass d2q/dt2 + damping dq/dt + stiffness q = 0.

    Attributes:
        qpos: the position of rest, (nq,).
        ctrl: the controls that hold it there, (nu,).
        mass: (nv, nv), kg, kg m or kg m^2.
        damping: (nv, nv), the derivative of the forces that are missing by velocities.
        stiffness: (nv, nv), the same by positions; a base's are moves along the world's axes and
            turns about its own, as in qvel.
    """

    qpos: Array
    ctrl: Array
    mass: Array
    damping: Array
    stiffness: Array


@dataclass(frozen=True, eq=False)
class Modes:
    """The m = n_joints modes of an arm; a straight arm has each twice, in its two planes.

    Attributes:
        frequencies: natural frequencies without damping, ascending, Hz, (m,).
        shapes: the modes as velocities in qvel, (m, nv); their modal mass shape @ M @ shape is
            1 kg m^2.
        poles: the 2m roots s of the damped motion exp(s t), slowest first, 1/s, complex. One with a
            positive real part grows: a hovering vehicle's rotors can feed a swing.
    """

    frequencies: Array
    shapes: Array
    poles: NDArray[np.complex128]


def linearise(model: mujoco.MjModel, tensions: ArrayLike | None = None) -> Linearised:
    """Return the motion near rest, with the base level and, if it flies, carried by its rotors.

    Contacts, limits and friction are left out, and so are the laws of tendons that MuJoCo does not
    know, see `model.build`. The gravity is the model's; without it the rotors rest.

    Args:
        model: a model that `build_model` made, changed in its values or not.
        tensions: of the n tendons, N, (n,); None: they are slack.

    Raises:
        ValueError: tensions that `rest_shape` refuses.
    """
    layout, data = Layout.of(model), mujoco.MjData(model)
    tension = np.zeros(len(layout.tendon_actuators)) if tensions is None else tensions
    data.qpos[layout.arm_qpos] = rest_shape(model, tension)
    data.ctrl[layout.tendon_actuators] = tension
    if layout.free:
        _hover(model, data, layout)
    rest, nv = data.qpos.copy(), model.nv

    def missing(offset: Array, velocity: Array) -> Array:
        data.qpos[:] = rest
        mujoco.mj_integratePos(model, data.qpos, offset, 1.0)
        data.qvel[:] = velocity
        return _missing(model, data)

    none, mass = np.zeros(nv), np.empty((nv, nv))
    stiffness = _slope(lambda offset: missing(offset, none), nv)
    damping = _slope(lambda velocity: missing(none, velocity), nv)
    missing(none, none)
    for row, unit in zip(mass, np.eye(nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)  # mj_fullM takes other arguments in MuJoCo 3
    return Linearised(rest, data.ctrl.copy(), mass, damping, stiffness)


def modes(model: mujoco.MjModel, tensions: ArrayLike | None = None) -> Modes:
    """Return how the arm swings about its rest, clamped or carried by a hovering base.

    Args:
        model: a model that `build_model` made, changed in its values or not.
        tensions: of the n tendons, N, (n,); None: they are slack.

    Raises:
        ValueError: tensions that `rest_shape` refuses.
    """
    near, layout = linearise(model, tensions), Layout.of(model)
    joints = layout.arm_dofs
    arm = np.ix_(joints, joints)
    restoring = np.linalg.solve(near.mass, near.stiffness)
    braking = np.linalg.solve(near.mass, near.damping)[arm]
    shapes = np.zeros((len(joints), model.nv))
    if layout.free:
        squares, vectors = np.linalg.eig(restoring[arm])
        order = np.abs(squares).argsort()
        squares = np.abs(squares[order])
        shapes[:, joints] = np.real(vectors).T[order]
        for square, shape in zip(squares, shapes, strict=True):
            pull = restoring[:6] @ shape
            shape[:6] = np.linalg.solve(square * np.eye(6) - restoring[:6, :6], pull)
            shape /= np.sqrt(shape @ near.mass @ shape)
    else:
        stiffness = near.stiffness[arm]
        squares, vectors = eigh(0.5 * (stiffness + stiffness.T), near.mass[arm])
        shapes[:, joints] = vectors.T
    identity, none = np.eye(len(joints)), np.zeros((len(joints), len(joints)))
    poles = np.linalg.eigvals(np.block([[none, identity], [-restoring[arm], -braking]]))
    poles = np.asarray(poles[np.abs(poles).argsort()], np.complex128)
    return Modes(np.sqrt(squares) / (2.0 * np.pi), shapes, poles)


def _hover(model: mujoco.MjModel, data: mujoco.MjData, layout: Layout) -> None:
    """Set the rotors to what carries the vehicle, and check that it then is at rest."""
    missing = _missing(model, data)
    moments = np.zeros((model.nu, model.nv))
    mujoco.mju_sparse2dense(
        moments, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
    )
    by_rotors = moments[layout.rotor_actuators, :6].T
    thrusts = np.linalg.lstsq(by_rotors, missing[:6])[0]
    largest = layout.thrust_max
    if (thrusts < -1e-9).any() or (thrusts > largest).any():
        legal = f"such that thrusts from 0 to {largest.max():g} N let the vehicle hover"
        checks.reject("model", thrusts, legal)
    data.ctrl[layout.rotor_actuators] = np.maximum(thrusts, 0.0)


def _missing(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return the forces (nv,) that are missing for rest."""
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    mujoco.mj_fwdActuation(model, data)
    return data.qfrc_bias - data.qfrc_passive - data.qfrc_actuator


def _slope(function: Callable[[Array], Array], n: int) -> Array:
    """Return the derivative (n, n) of a function of (n,) at zero, by central differences."""
    steps = DIFFERENCE * np.eye(n)
    columns = [(function(step) - function(-step)) / (2.0 * DIFFERENCE) for step in steps]
    return np.stack(columns, axis=1)
