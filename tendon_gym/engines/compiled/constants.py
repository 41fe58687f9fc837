"""From model fields to the constants of the compiled engine, for any number of simulations."""

from __future__ import annotations

import math
from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.engines.compiled import slots
from tendon_gym.engines.compiled.structure import Structure
from tendon_gym.engines.fields import FIELDS, read_field

Array = NDArray[np.float64]
Fields = Mapping[str, Array]

_TINY = 1e-15  # mjMINVAL


def model_fields(model: mujoco.MjModel) -> dict[str, Array]:
    """Return all fields that may differ, with a batch axis of length 1."""
    return {name: read_field(model, name)[None] for name in FIELDS}


def constants(structure: Structure, fields: Fields, ends: Array, timestep: float) -> Array:
    """Return the constants (m, slots) of simulations whose fields have a batch axis of m or 1.

    `ends` (N, 3) are the far ends of what may touch on each link, in its frame.
    """
    m = max(len(values) for values in fields.values())
    wide = {name: np.broadcast_to(v, (m, *v.shape[1:])) for name, v in fields.items()}
    tendons, rotors = len(structure.tendons), len(structure.rotors)
    out = np.zeros((m, slots.constants_size(len(structure.links), rotors, tendons)))
    _put_body(wide, structure.base, out)
    out[:, slots.GRAVITY : slots.GRAVITY + 3] = wide["opt.gravity"]
    out[:, slots.POSE : slots.POSE + 3] = wide["body_pos"][:, structure.base]
    out[:, slots.POSE + 3 : slots.POSE + 7] = wide["body_quat"][:, structure.base]
    for i, actuator in enumerate(structure.rotors):
        at = slots.BASE + 6 * i
        out[:, at : at + 6] = _rotor(wide, int(actuator), structure)
    at, stride = slots.BASE + 6 * rotors, slots.link_constants(tendons)
    for k in range(len(structure.links)):
        _put_link(wide, structure, k, ends[k], timestep, out[:, at : at + stride])
        at += stride
    return out


def _put_body(fields: Fields, body: int, out: Array) -> None:
    """Write a rigid body: inertia about its origin, centre of mass, drag."""
    mass, centre = fields["body_mass"][:, body], fields["body_ipos"][:, body]
    principal = fields["body_inertia"][:, body]
    axes = rotations(fields["body_iquat"][:, body])
    inertia = np.einsum("mij,mj,mkj->mik", axes, principal, axes)
    square = np.einsum("mi,mi->m", centre, centre)
    steiner = square[:, None, None] * np.eye(3) - centre[:, :, None] * centre[:, None, :]
    inertia = inertia + mass[:, None, None] * steiner
    out[:, slots.MASS] = mass
    out[:, slots.MOMENT : slots.MOMENT + 3] = mass[:, None] * centre
    out[:, slots.INERTIA : slots.INERTIA + 6] = inertia[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    out[:, slots.CENTRE : slots.CENTRE + 3] = centre
    out[:, slots.AXES : slots.AXES + 9] = axes.transpose(0, 2, 1).reshape(-1, 9)
    density, viscosity = fields["opt.density"], fields["opt.viscosity"]
    out[:, slots.DRAG : slots.DRAG + 8] = _drag(mass, principal, density, viscosity)


def _drag(mass: Array, inertia: Array, density: Array, viscosity: Array) -> Array:
    """Return the drag coefficients (m, 8) of the box with the same inertia.

    Source: MuJoCo documentation, Computation, Fluid forces, Inertia model.
    """
    density, viscosity = (np.broadcast_to(part, mass.shape) for part in (density, viscosity))
    others = inertia.sum(axis=1, keepdims=True) - 2.0 * inertia
    box = np.sqrt(6.0 * np.maximum(others, _TINY) / np.maximum(mass, _TINY)[:, None])
    mean = box.mean(axis=1)
    fourth = box**4
    sides = box[:, [1, 0, 0]] * box[:, [2, 2, 1]]
    blades = box * (fourth.sum(axis=1, keepdims=True) - fourth)
    drag = np.empty((len(mass), 8))
    drag[:, 0] = 3.0 * math.pi * mean * viscosity
    drag[:, 1] = math.pi * mean**3 * viscosity
    drag[:, 2:5] = 0.5 * density[:, None] * sides
    drag[:, 5:8] = density[:, None] * blades / 64.0
    drag[mass < _TINY] = 0.0
    return drag


def _rotor(fields: Fields, actuator: int, structure: Structure) -> Array:
    """Return force and torque about the base's origin, in its axes, per unit of control (m, 6)."""
    site = int(structure.rotor_sites[list(structure.rotors).index(actuator)])
    axes = rotations(fields["site_quat"][:, site])
    gear = fields["actuator_gainprm"][:, actuator, :1] * fields["actuator_gear"][:, actuator]
    force = np.einsum("mij,mj->mi", axes, gear[:, :3])
    torque = np.einsum("mij,mj->mi", axes, gear[:, 3:])
    torque = torque + np.cross(fields["site_pos"][:, site], force)
    return np.concatenate([force, torque], axis=1)


def _put_link(
    fields: Fields, structure: Structure, k: int, end: Array, timestep: float, out: Array
) -> None:
    """Write link k: its body, its place on its parent, its hinges and the tendons' guides."""
    body = int(structure.links[k])
    _put_body(fields, body, out)
    turn = rotations(fields["body_quat"][:, body])
    offset = fields["body_pos"][:, body]
    out[:, slots.OFFSET : slots.OFFSET + 3] = offset
    out[:, slots.TURN : slots.TURN + 9] = turn.transpose(0, 2, 1).reshape(-1, 9)
    joints, dofs = structure.hinges[k], structure.hinge_dofs[k]
    damping = fields["dof_damping"][:, dofs]
    out[:, slots.STIFFNESS : slots.STIFFNESS + 2] = fields["jnt_stiffness"][:, joints]
    out[:, slots.REST : slots.REST + 2] = fields["qpos_spring"][:, structure.hinge_qpos[k]]
    out[:, slots.DAMPING : slots.DAMPING + 2] = damping
    resistance = fields["dof_armature"][:, dofs] + timestep * damping
    out[:, slots.RESISTANCE : slots.RESISTANCE + 2] = resistance
    out[:, slots.END : slots.END + 3] = end
    for t, guides in enumerate(structure.guides):
        at = slots.PATH + 6 * t
        before = fields["site_pos"][:, guides[k]] - offset
        out[:, at : at + 3] = np.einsum("mji,mj->mi", turn, before)
        out[:, at + 3 : at + 6] = fields["site_pos"][:, guides[k + 1]]


def pulls(structure: Structure, fields: Fields) -> Array:
    """Return the tension of each tendon per unit of its control, (m, n)."""
    gain, gear = fields["actuator_gainprm"], fields["actuator_gear"]
    actuators = structure.tendons
    per_control = -gain[:, actuators, 0] * gear[:, actuators, 0]
    return np.where(actuators >= 0, per_control, 0.0)


def load_constants(structure: Structure, fields: Fields) -> Array:
    """Return the load's mass, moment of inertia, gravity (3) and drag (8), (m, 13)."""
    body = structure.load
    if body < 0:
        return np.zeros((1, 13))
    mass, inertia = fields["body_mass"][:, body], fields["body_inertia"][:, body]
    drag = _drag(mass, inertia, fields["opt.density"], fields["opt.viscosity"])
    parts = (mass[:, None], inertia[:, :1], fields["opt.gravity"], drag)
    m = max(len(part) for part in parts)
    return np.concatenate([np.broadcast_to(part, (m, part.shape[1])) for part in parts], axis=1)


def rotations(quaternions: Array) -> Array:
    """Return the rotation matrices (m, 3, 3) of quaternions (m, 4)."""
    w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
