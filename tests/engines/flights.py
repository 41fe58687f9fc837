"""Flights of many simulations, all different, for the tests of lanes and faults."""

from __future__ import annotations

import mujoco
import numpy as np

from tendon_gym import engines
from tendon_gym.model import ModelParameters, build_model
from tests.engines.random_models import EDITS, finish, random_states

MOST = 64
"""Number of simulations that there are starts and controls for."""
STEPS, SUBSTEPS = 12, 5


def uneven(parameters: ModelParameters) -> mujoco.MjModel:
    """Return a vehicle whose every number is odd, in wind."""
    model, rng = build_model(parameters), np.random.default_rng(2)
    for name in (
        "body_ipos",
        "body_iquat",
        "body_inertia",
        "site_pos",
        "actuator_gear",
        "opt.wind",
    ):
        EDITS[name](model, rng)
    finish(model)
    return model


def starts(model: mujoco.MjModel, n: int) -> tuple[np.ndarray, np.ndarray]:
    qpos, qvel = random_states(model, np.random.default_rng(3), MOST)
    if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        qpos[:, 2] += 50.0
    return qpos[:n], qvel[:n]


def controls(model: mujoco.MjModel, n: int, steps: int = STEPS) -> np.ndarray:
    low, high = model.actuator_ctrlrange.T
    draws = np.random.default_rng(4).uniform(size=(steps, MOST, model.nu))
    return (low + draws * (0.3 * high - low))[:, :n]


class Swinging:
    """A control law in Python, one simulation at a time: vectorised sums may round otherwise."""

    def __call__(self, time, qpos, qvel, ctrl):
        for i in range(len(ctrl)):
            ctrl[i] = 0.3 + np.sin(7.0 * time[i] + np.arange(ctrl.shape[1])) ** 2
            ctrl[i] += 0.01 * qvel[i, -1] + 0.01 * qpos[i, -1]


def state(engine: engines.Engine) -> np.ndarray:
    """Return a copy of all that is to be equal, one row per simulation."""
    motion = engine.motion
    parts = (
        engine.time, engine.qpos, engine.qvel, engine.ctrl, motion.body_position,
        motion.body_rotation, motion.body_velocity, motion.body_angular_velocity,
        motion.site_position, motion.tendon_length,
    )  # fmt: skip
    return np.concatenate([part.reshape(engine.n, -1) for part in parts], axis=1)
