"""Rest shapes of the vehicle's arm: where elasticity, gravity and tension balance."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains.soft_arm import NoRest, SoftArm
from tendon_gym.model.layout import Layout

Array = NDArray[np.float64]


def rest_shape(model: mujoco.MjModel, tensions: ArrayLike) -> Array:
    """Return what the links moved by at rest, with the base held level and nothing touched.

    The tensions grow from zero to their values in small steps, see `chains.SoftArm.rest`: where a
    strongly pulled arm snaps to another branch, it is the one that it falls to.

    Args:
        model: a model that `build_model` made.
        tensions: of the n tendons, N, shape (n,).

    Returns:
        Angles of the hinges x, y of link 1, x, y of link 2, ..., rad, shape (2N,). Where the arm
        twists or stretches, those are between: rad or m, in the order of `Layout.arm_qpos`.

    Raises:
        ValueError: tensions of a wrong shape, negative or not finite, or so large for this arm that
            it does not settle on the way to them.
    """
    arm = _arm(model)
    rows = checks.array("tensions", tensions, (len(arm.tendons),), minimum=0.0)[None]
    return next(_shapes(arm, rows))


def hanging(model: mujoco.MjModel) -> Array:
    """Return qpos0, (nq,), but for an arm that can stretch: that hangs at rest there."""
    layout, qpos = Layout.of(model), model.qpos0.copy()
    if len(layout.stretch_qpos):
        qpos[layout.arm_qpos] = rest_shape(model, np.zeros(len(layout.tendon_actuators)))
    return qpos


def rest_tips(model: mujoco.MjModel, tensions: ArrayLike) -> Array:
    """Return the tip at rest for rows of tensions, in the level base's frame, m, (m, 3).

    Each row starts from the shape of the row before it, so neighbouring rows are cheap.

    Args:
        model: a model that `build_model` made.
        tensions: of the n tendons, N, shape (m, n).

    Raises:
        ValueError: as in `rest_shape`.
    """
    arm = _arm(model)
    rows = checks.array("tensions", tensions, (None, len(arm.tendons)), minimum=0.0)
    return np.array([arm.tip(shape).position for shape in _shapes(arm, rows)]).reshape(-1, 3)


def rest_lengths(model: mujoco.MjModel, tensions: ArrayLike) -> Array:
    """Return the lengths of the n tendons at rest for rows of tensions (m, n), m, (m, n).

    Raises:
        ValueError: as in `rest_shape`.
    """
    arm = _arm(model)
    rows = checks.array("tensions", tensions, (None, len(arm.tendons)), minimum=0.0)
    lengths = [arm.tendon_lengths(shape) for shape in _shapes(arm, rows)]
    return np.array(lengths).reshape(rows.shape)


def _arm(model: mujoco.MjModel) -> SoftArm:
    """Return the arm of a model, or raise if `build_model` didn't make it."""
    tendons = len(Layout.of(model).tendon_actuators)
    return SoftArm(model, "base", "tip", [f"tendon_{k}" for k in range(1, tendons + 1)])


def _shapes(arm: SoftArm, rows: Array) -> Iterator[Array]:
    """Yield the shapes at rest under rows of tensions, one after the other."""
    shape, before = None, None
    for row in rows:
        try:
            shape = arm.rest(row, shape, before)
        except NoRest as error:
            shown = ", ".join(f"{tension:.3g}" for tension in error.tensions)
            raise ValueError(
                f"the arm does not settle at tensions of ({shown}) N: smaller tendons.tension_max "
                "or tendons.radii, or a larger arm.bending_stiffness would let it"
            ) from error
        before = row
        yield shape
