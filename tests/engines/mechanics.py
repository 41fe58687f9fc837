"""Momentum and energy of a flying vehicle from the numbers of its model, in numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tendon_gym.model import Layout


@dataclass(frozen=True)
class Mechanics:
    """What a state has of mass, momentum and energy, from the model's numbers alone."""

    momentum: np.ndarray
    spin: np.ndarray
    centre: np.ndarray
    energy: float


def mechanics(model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray) -> Mechanics:
    """Return momentum (N s), spin about the centre of mass (N m s), that centre (m), energy (J)."""
    layout = Layout.of(model)
    bodies = [layout.base_body, *layout.link_bodies]
    angles, rates = qpos[layout.joint_qpos].reshape(-1, 2), qvel[layout.joint_dofs].reshape(-1, 2)
    turn, place = Rotation.from_quat(qpos[3:7], scalar_first=True), qpos[:3]
    speed, spin = qvel[:3], turn.apply(qvel[3:6])
    mass, centres, speeds, spins, inertias = [], [], [], [], []
    for k, body in enumerate(bodies):
        if k:
            step = turn.apply(model.body_pos[body])
            place, speed = place + step, speed + np.cross(spin, step)
            x, y = angles[k - 1]
            about_x = turn.apply([1.0, 0.0, 0.0])
            turn = turn * Rotation.from_rotvec([x, 0.0, 0.0])
            about_y = turn.apply([0.0, 1.0, 0.0])
            turn = turn * Rotation.from_rotvec([0.0, y, 0.0])
            spin = spin + rates[k - 1, 0] * about_x + rates[k - 1, 1] * about_y
        offset = turn.apply(model.body_ipos[body])
        axes = (turn * Rotation.from_quat(model.body_iquat[body], scalar_first=True)).as_matrix()
        mass.append(model.body_mass[body])
        centres.append(place + offset)
        speeds.append(speed + np.cross(spin, offset))
        spins.append(spin)
        inertias.append(axes @ np.diag(model.body_inertia[body]) @ axes.T)
    m, centres, speeds = np.array(mass)[:, None], np.array(centres), np.array(speeds)
    centre, momentum = (m * centres).sum(axis=0) / m.sum(), (m * speeds).sum(axis=0)
    own = [inertia @ w for inertia, w in zip(inertias, spins, strict=True)]
    orbital = np.cross(centres - centre, m * speeds)
    kinetic = 0.5 * (m * speeds**2).sum() + 0.5 * np.sum(np.multiply(own, spins))
    joints = model.jnt_qposadr, model.jnt_stiffness
    stretch = (qpos - model.qpos_spring)[joints[0][1:]]
    elastic = 0.5 * (joints[1][1:] * stretch**2).sum()
    return Mechanics(
        momentum,
        np.sum(own, axis=0) + orbital.sum(axis=0),
        centre,
        float(kinetic + elastic - m.sum() * model.opt.gravity @ centre),
    )
