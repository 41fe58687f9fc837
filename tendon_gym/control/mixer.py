"""From the wrench that a law asks for to the rotors' thrusts, by the geometry of the model."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined

_AXES = ("thrust along z", "torque about x", "torque about y", "torque about z")


@dataclass(frozen=True, eq=False)
class Mixer:
    """The rotors of one model: what their controls do, and its inverse.

    Attributes:
        wrench: (4, n_rotors), [f, tau_x, tau_y, tau_z] = wrench @ u in the base's axes.
        inverse: (n_rotors, 4), its inverse; for more than four rotors the pseudo-inverse, the
            controls of least norm.
        low: (n_rotors,), smallest controls.
        high: (n_rotors,), largest controls.
    """

    wrench: NDArray[np.float64]
    inverse: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, model: mujoco.MjModel) -> Mixer:
        """Return the mixer of a compiled model with actuators "rotor_1" ... on body "base".

        Raises:
            ValueError: what `wrench_matrix` refuses, or rotors that leave an axis uncontrolled.
        """
        wrench = wrench_matrix(model)
        left, singular, _ = np.linalg.svd(wrench)
        rank = int((singular > 1e-9 * singular[0]).sum())
        if rank < 4:
            missing = np.abs(left[:, rank:]).max(axis=1) > 1e-6
            names = ", ".join(name for name, lost in zip(_AXES, missing, strict=True) if lost)
            raise ValueError(f"{wrench.shape[1]} rotors cannot control independently: {names}")
        inverse = np.linalg.inv(wrench) if wrench.shape[1] == 4 else np.linalg.pinv(wrench)
        rotors = _rotor_actuators(model)
        limited = model.actuator_ctrllimited[rotors].astype(bool)
        limits = model.actuator_ctrlrange[rotors]
        low = np.where(limited, limits[:, 0], -np.inf)
        high = np.where(limited, limits[:, 1], np.inf)
        return cls(wrench, np.ascontiguousarray(inverse, np.float64), low, high)


def wrench_matrix(model: mujoco.MjModel) -> NDArray[np.float64]:
    """Return A (4, n_rotors) of [f, tau_x, tau_y, tau_z] = A u, about the base body's origin.

    u are the controls of the actuators "rotor_1", "rotor_2" ...; f is the force along the base's
    z axis in N, tau the torque in its axes in N m. Sites, gears and gains are the compiled
    model's; the lateral force of a tilted rotor is no part of A.

    Raises:
        ValueError: no body "base", no rotors, or one that is not a motor on a site of "base".
    """
    base = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "base")
    if base < 0:
        raise ValueError('the model has no body "base"')
    columns = [_column(model, actuator, base) for actuator in _rotor_actuators(model)]
    return np.stack(columns, axis=1)


def _rotor_actuators(model: mujoco.MjModel) -> list[int]:
    """Return the ids of the actuators "rotor_1", "rotor_2" ... in this order."""
    found: list[int] = []
    while True:
        name = f"rotor_{len(found) + 1}"
        actuator = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
        if actuator < 0:
            break
        found.append(actuator)
    if not found:
        raise ValueError('the model has no actuator "rotor_1"')
    return found


def _column(model: mujoco.MjModel, actuator: int, base: int) -> NDArray[np.float64]:
    """Return what one unit of control adds to [f, tau_x, tau_y, tau_z]."""
    name = model.actuator(actuator).name
    site, reference = model.actuator_trnid[actuator]
    on_site = model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_SITE
    if not on_site or reference >= 0 or model.site_bodyid[site] != base:
        raise ValueError(f'actuator "{name}" must act on a site of the body "base"')
    fixed = model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_FIXED
    if not fixed or model.actuator_biastype[actuator] != mujoco.mjtBias.mjBIAS_NONE:
        raise ValueError(f'actuator "{name}" must be a motor: fixed gain and no bias')
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, model.site_quat[site])
    gear = model.actuator_gainprm[actuator, 0] * model.actuator_gear[actuator]
    force, torque = axes.reshape(3, 3) @ gear[:3], axes.reshape(3, 3) @ gear[3:]
    return np.concatenate([force[2:], np.cross(model.site_pos[site], force) + torque])


@inlined
def mix_one(
    inverse: NDArray[np.float64],
    force: float,
    torque: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write clip(A^-1 [force; torque], low, high) of one simulation to `out` (n_rotors,)."""
    for k in range(out.shape[0]):
        row = inverse[k]
        u = row[0] * force + row[1] * torque[0] + row[2] * torque[1] + row[3] * torque[2]
        out[k] = min(max(u, low[k]), high[k])


@compiled
def mix(
    inverse: NDArray[np.float64],
    force: NDArray[np.float64],
    torque: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write the rotor controls clip(A^-1 [f; tau], low, high) of n simulations to `out`.

    Args:
        inverse: (n_rotors, 4), the mixer's inverse.
        force: (n,), N along the base's z axis.
        torque: (n, 3), N m in the base's axes.
        low: (n_rotors,), smallest controls.
        high: (n_rotors,), largest controls.
        out: (n, n_rotors), N.
    """
    for i in range(force.shape[0]):
        mix_one(inverse, force[i], torque[i], low, high, out[i])
