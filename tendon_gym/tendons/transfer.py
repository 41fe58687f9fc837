"""The state of a simulation, taken over by another one whose model has other tendons."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


class Kept(NamedTuple):
    """For every element of the new base model, its index in the old one.

    What a tendon world adds comes after these, or has no state: sites and geoms.
    """

    bodies: Indices
    joints: Indices
    actuators: Indices
    equalities: Indices

    def then(self, later: Kept) -> Kept:
        """Return what is left if `later` comes after this."""
        return Kept(*(mine[theirs] for mine, theirs in zip(self, later, strict=True)))


def all_kept(model: mujoco.MjModel) -> Kept:
    """Return the identity for the base model of a world."""
    return Kept(*map(np.arange, (model.nbody, model.njnt, model.nactuator, model.neq)))


def without_body(spec: mujoco.MjSpec, body: mujoco.MjsBody) -> Kept:
    """Delete a body, all below it, and what refers to them, from a spec; return what stays.

    Keyframes go too: they are states of another size.
    """

    def lists() -> tuple[list, ...]:
        return (list(spec.bodies), list(spec.joints), list(spec.actuators), list(spec.equalities))

    notes = []
    for elements in lists():
        notes.append([element.info for element in elements])
        for index, element in enumerate(elements):
            element.info = str(index)
    spec.delete(body)
    for key in list(spec.keys):
        spec.delete(key)
    kept = []
    for elements, texts in zip(lists(), notes, strict=True):
        indices = [int(element.info) for element in elements]
        kept.append(np.array(indices, np.int64))
        for element, index in zip(elements, indices, strict=True):
            element.info = texts[index]
    return Kept(*kept)


def transfer(
    old: tuple[mujoco.MjModel, mujoco.MjData], new: tuple[mujoco.MjModel, mujoco.MjData], kept: Kept
) -> None:
    """Copy time, positions, velocities, activations, controls, applied forces and mocap poses."""
    (m, d), (model, data) = old, new
    data.time = d.time
    for k, joint in enumerate(kept.joints):
        _copy(d.qpos, m.jnt_qposadr[joint], data.qpos, model.jnt_qposadr[k], _width(m, joint, 0))
        for field in ("qvel", "qacc_warmstart", "qfrc_applied"):
            source, target = getattr(d, field), getattr(data, field)
            width = _width(m, joint, 1)
            _copy(source, m.jnt_dofadr[joint], target, model.jnt_dofadr[k], width)
    for k, body in enumerate(kept.bodies):
        data.xfrc_applied[k] = d.xfrc_applied[body]
        if (mocap := m.body_mocapid[body]) >= 0:
            data.mocap_pos[model.body_mocapid[k]] = d.mocap_pos[mocap]
            data.mocap_quat[model.body_mocapid[k]] = d.mocap_quat[mocap]
    for k, actuator in enumerate(kept.actuators):
        _copy(
            d.ctrl, m.actuator_ctrladr[actuator], data.ctrl, model.actuator_ctrladr[k],
            m.actuator_ctrlnum[actuator],
        )  # fmt: skip
        if m.actuator_actnum[actuator]:
            _copy(
                d.act, m.actuator_actadr[actuator], data.act, model.actuator_actadr[k],
                m.actuator_actnum[actuator],
            )  # fmt: skip
    data.eq_active[: len(kept.equalities)] = d.eq_active[kept.equalities]
    for field in ("userdata", "plugin_state", "history"):
        source, target = getattr(d, field, None), getattr(data, field, None)
        if source is not None and target is not None and source.shape == target.shape:
            target[:] = source


_WIDTHS = {
    int(mujoco.mjtJoint.mjJNT_FREE): (7, 6),
    int(mujoco.mjtJoint.mjJNT_BALL): (4, 3),
    int(mujoco.mjtJoint.mjJNT_SLIDE): (1, 1),
    int(mujoco.mjtJoint.mjJNT_HINGE): (1, 1),
}


def _width(model: mujoco.MjModel, joint: int, kind: int) -> int:
    """Return how many positions (kind 0) or velocities (kind 1) a joint has."""
    return _WIDTHS[int(model.jnt_type[joint])][kind]


def _copy(source: NDArray, a: int, target: NDArray, b: int, width: int) -> None:
    target[b : b + width] = source[a : a + width]
