"""Carrying the state of a simulation from one model to another that has other free objects."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.chains.paths import find_body

QPOS_WIDTHS = np.array([7, 4, 1, 1])
"""Numbers in qpos per type of joint: free, ball, slide, hinge."""
_PER_ACTUATOR = ("ctrl", "act")
_WHOLE = ("eq_active", "userdata", "plugin_state", "history")


class Survivors:
    """Which bodies of a model, and which of its numbers per body, dof and qpos, are carried over.

    MuJoCo numbers bodies depth first, and joints and dofs in the order of their bodies. So two
    models that differ by whole objects have all else in the same order.
    """

    def __init__(self, model: mujoco.MjModel, without: Sequence[str]) -> None:
        gone = [find_body(model, "object", name) for name in without]
        self.bodies = ~np.isin(model.body_rootid, gone)
        self.dofs = self.bodies[model.dof_bodyid]
        bodies = np.repeat(model.jnt_bodyid, QPOS_WIDTHS[model.jnt_type])
        self.qpos = self.bodies[bodies]
        moved = model.body_mocapid[self.bodies]
        self.mocaps: NDArray[np.intp] = moved[moved >= 0]


def carry_state(
    old: mujoco.MjData, source: Survivors, new: mujoco.MjData, target: Survivors
) -> None:
    """Copy time, positions, velocities, controls and applied forces of what both models have.

    Derived quantities are left to a forward pass. What only the new model has stays as it is.
    """
    new.time = old.time
    new.qpos[target.qpos] = old.qpos[source.qpos]
    for name in ("qvel", "qfrc_applied", "qacc_warmstart"):
        getattr(new, name)[target.dofs] = getattr(old, name)[source.dofs]
    new.xfrc_applied[target.bodies] = old.xfrc_applied[source.bodies]
    new.mocap_pos[target.mocaps] = old.mocap_pos[source.mocaps]
    new.mocap_quat[target.mocaps] = old.mocap_quat[source.mocaps]
    for name in (*_PER_ACTUATOR, *_WHOLE):
        if hasattr(old, name):  # the oldest MuJoCo has no history
            getattr(new, name)[:] = getattr(old, name)
