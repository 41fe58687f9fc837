"""Cables on the bodies of a MuJoCo model: poses and velocities in, forces out, N = 1."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tendon_gym import checks
from tendon_gym.cables.elements import Array
from tendon_gym.cables.span import CableSpan
from tendon_gym.cables.state import CableState


def read_bodies(state: CableState, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Take over all bodies' poses and velocities from what `mj_forward` left in `data`.

    Raises:
        ValueError: the state is a batch, or its bodies are not those of the model.
    """
    _check(state, model)
    state.position[0] = data.xpos
    state.rotation[0] = data.xmat.reshape(-1, 3, 3)
    turning, moving = data.cvel[:, :3], data.cvel[:, 3:]
    arm = data.xpos - data.subtree_com[model.body_rootid]  # cvel is about the tree's centre
    state.velocity[0] = moving + np.cross(turning, arm)
    state.angular_velocity[0] = turning
    state.mark_unsolved()


def _check(state: CableState, model: mujoco.MjModel) -> None:
    if state.n != 1 or state.system.bodies.count != model.nbody:
        raise ValueError(
            f"state must be of one simulation with the model's {model.nbody} bodies, "
            f"got {state.n} with {state.system.bodies.count}"
        )


def body_jacobians(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return (b, 6, nv): the velocities of all bodies' origins, and their angular ones, by qvel."""
    result = np.zeros((model.nbody, 6, model.nv))
    for body in range(model.nbody):
        mujoco.mj_jacBody(model, data, result[body, :3], result[body, 3:], body)
    return result


def apply_tension(
    cable: CableSpan,
    state: CableState,
    tension: ArrayLike,
    model: mujoco.MjModel,
    data: mujoco.MjData,
) -> None:
    """Add what a cable under tension (N) does to `data.xfrc_applied`.

    The state must be of the poses in `data` (see `read_bodies`).

    Raises:
        ValueError: tension is not finite, or the state is not of this model.
    """
    _check(state, model)
    apply_body_forces(cable.body_forces(state, tension).reshape(-1, 6), model, data)


def apply_body_forces(forces: ArrayLike, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Add forces and moments about the bodies' own origins (b, 6) to `data.xfrc_applied`.

    The moments are carried over to the bodies' centres of mass, where MuJoCo takes them.
    """
    forces = _wrenches(forces, model)
    data.xfrc_applied[:, :3] += forces[:, :3]
    shift = np.cross(data.xipos - data.xpos, forces[:, :3])
    data.xfrc_applied[:, 3:] += forces[:, 3:] - shift


def generalised_forces(forces: ArrayLike, model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return what forces and moments about the bodies' origins (b, 6) do to coordinates, (nv,).

    It is what `data.qfrc_applied` takes.
    """
    forces = _wrenches(forces, model)
    return np.einsum("bi,biv->v", forces, body_jacobians(model, data))


def _wrenches(forces: ArrayLike, model: mujoco.MjModel) -> Array:
    return checks.array("forces", forces, (model.nbody, 6))
