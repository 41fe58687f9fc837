"""Recordings of simulated vehicles, with noise that is known."""

import mujoco
import numpy as np

from tendon_gym.identification import Recording
from tendon_gym.model import Layout, build_model, rest_shape

NOISE = {
    "joint_angles": 2e-3, "base_position": 5e-4, "base_attitude": 1e-3, "tip": 1e-3,
    "tendon_lengths": 1e-4,
}  # fmt: skip


def record(parameters, signals, seconds=2.0, every=5, seed=0, noise=True):
    """Simulate a vehicle and return what was measured of it; an arm that is held begins at rest.

    The tensions swing at frequencies of their own; a base that flies does so by rotors that nearly
    carry it.
    """
    draws = np.random.default_rng(seed)
    model = build_model(parameters)
    data, layout = mujoco.MjData(model), Layout.of(model)
    time = np.arange(round(seconds / (every * model.opt.timestep)) + 1) * every * model.opt.timestep
    controls = np.zeros((len(time), model.nu))
    for k, column in enumerate(layout.tendon_actuators):
        controls[:, column] = 1.0 + np.sin(2.0 * np.pi * (0.5 + 0.4 * k) * time + 2.0 * k)
    hover = layout.mass * layout.gravity / 4.0
    for k, column in enumerate(layout.rotor_actuators):
        controls[:, column] = hover * (1.0 + 0.02 * np.sin(2.0 * np.pi * (2.0 + k) * time + k))
    data.qpos[layout.joint_qpos] = rest_shape(model, controls[0, layout.tendon_actuators])
    rows = {name: [] for name in signals}
    for control in controls:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        seen = {
            "joint_angles": data.qpos[layout.joint_qpos],
            "base_position": data.qpos[:3],
            "base_attitude": data.qpos[3:7],
            "tip": data.site("tip").xpos,
            "tendon_lengths": data.ten_length,
        }
        for name in signals:
            rows[name].append(_noisy(name, seen[name], draws, noise))
        data.ctrl[:] = control
        mujoco.mj_step(model, data, every)
    return Recording(time, controls, **{name: np.array(row) for name, row in rows.items()})


def _noisy(name, value, draws, noise):
    value = value.copy()
    if not noise:
        return value
    if name != "base_attitude":
        return value + NOISE[name] * draws.normal(size=value.shape)
    turned = np.empty(4)
    mujoco.mju_copy(turned, value)
    mujoco.mju_quatIntegrate(turned, NOISE[name] * draws.normal(size=3), 1.0)
    return turned
