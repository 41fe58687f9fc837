"""Names of a compiled model, resolved once to indices and constants."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
Array = NDArray[np.float64]


def _ids(model: mujoco.MjModel, kind: mujoco.mjtObj, names: list[str]) -> Indices:
    """Return the ids of `names`; raise if the model lacks one."""
    ids = np.array([mujoco.mj_name2id(model, kind, name) for name in names], dtype=np.int64)
    if (ids < 0).any():
        missing = names[int(np.flatnonzero(ids < 0)[0])]
        word = kind.name.removeprefix("mjOBJ_").lower()
        raise ValueError(f"model must have a {word} named {missing!r}, as built by build_model")
    return ids


def _numbered(model: mujoco.MjModel, kind: mujoco.mjtObj, prefix: str) -> list[str]:
    """Return prefix_1, prefix_2, ... as far as the model has them."""
    names: list[str] = []
    while mujoco.mj_name2id(model, kind, f"{prefix}_{len(names) + 1}") >= 0:
        names.append(f"{prefix}_{len(names) + 1}")
    return names


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the parts of a compiled model are, and what they are: N links, n tendons.

    Attributes:
        base_body: id of the base.
        link_bodies: ids of the links from the flange to the tip, (N,).
        base_site: id of the site at the base's origin.
        tip_site: id of the site at the tip.
        rotor_sites: ids of the rotor hubs, (4,).
        rotor_actuators: indices of the rotors' controls, (4,); (0,) if the base is clamped.
        tendon_actuators: indices of the tendons' controls, (n,).
        joint_qpos: addresses in qpos of the hinges x, y of link 1, x, y of link 2, ..., (2N,).
        joint_dofs: the same in qvel, (2N,).
        twist_qpos: addresses in qpos of the links' twists, (N,); (0,) if the arm doesn't twist.
        twist_dofs: the same in qvel.
        stretch_qpos: addresses in qpos of the links' stretches, (N,); (0,) if it doesn't stretch.
        stretch_dofs: the same in qvel.
        free: whether the base flies; then qpos[:7] and qvel[:6] are the base's.
        mass: of the whole vehicle, kg.
        gravity: m/s^2, positive.
        inertia: of the base alone about its origin, in base axes, kg m^2, (3, 3).
        thrust_max: N, (4,); (0,) if the base is clamped.
        tension_max: N, (n,).
        tendon_angles: rad in [0, 2 pi), from the base's x axis towards y, (n,).
        tendon_radii: m from the arm's axis, (n,).
        load_body: id of the load; -1 if there is none, as for the following two.
        load_qpos: address in qpos of its free joint.
        load_dof: the same in qvel.
    """

    base_body: int
    link_bodies: Indices
    base_site: int
    tip_site: int
    rotor_sites: Indices
    rotor_actuators: Indices
    tendon_actuators: Indices
    joint_qpos: Indices
    joint_dofs: Indices
    twist_qpos: Indices
    twist_dofs: Indices
    stretch_qpos: Indices
    stretch_dofs: Indices
    free: bool
    mass: float
    gravity: float
    inertia: Array
    thrust_max: Array
    tension_max: Array
    tendon_angles: Array
    tendon_radii: Array
    load_body: int = -1
    load_qpos: int = -1
    load_dof: int = -1

    @property
    def arm_qpos(self) -> Indices:
        """Addresses in qpos of all that the links move by, ascending: (2N,), (3N,) or (4N,)."""
        return np.sort(np.concatenate([self.joint_qpos, self.twist_qpos, self.stretch_qpos]))

    @property
    def arm_dofs(self) -> Indices:
        """The same in qvel."""
        return np.sort(np.concatenate([self.joint_dofs, self.twist_dofs, self.stretch_dofs]))

    @classmethod
    def of(cls, model: mujoco.MjModel) -> Layout:
        """Read the layout of a model that `build_model` made, changed in its values or not.

        Raises:
            ValueError: the model lacks one of the names.
        """
        kinds = mujoco.mjtObj
        base = int(_ids(model, kinds.mjOBJ_BODY, ["base"])[0])
        links = _numbered(model, kinds.mjOBJ_BODY, "link") or ["link_1"]
        tendons = _numbered(model, kinds.mjOBJ_TENDON, "tendon") or ["tendon_1"]
        hinges = [f"{link}_{axis}" for link in links for axis in "xy"]
        joints = _ids(model, kinds.mjOBJ_JOINT, hinges)
        twists, stretches = (
            _ids(model, kinds.mjOBJ_JOINT, [f"{link}_{kind}" for link in links])
            if mujoco.mj_name2id(model, kinds.mjOBJ_JOINT, f"link_1_{kind}") >= 0
            else np.zeros(0, np.int64)
            for kind in ("twist", "stretch")
        )
        free = mujoco.mj_name2id(model, kinds.mjOBJ_JOINT, "base") >= 0
        rotors = [f"rotor_{k}" for k in range(1, 5)]
        rotor_actuators = _ids(model, kinds.mjOBJ_ACTUATOR, rotors if free else [])
        tendon_actuators = _ids(model, kinds.mjOBJ_ACTUATOR, tendons)
        anchors = [f"anchor_{i}" for i in range(1, len(tendons) + 1)]
        x, y, _ = model.site_pos[_ids(model, kinds.mjOBJ_SITE, anchors)].T
        load = mujoco.mj_name2id(model, kinds.mjOBJ_JOINT, "load")
        return cls(
            base_body=base,
            link_bodies=_ids(model, kinds.mjOBJ_BODY, links),
            base_site=int(_ids(model, kinds.mjOBJ_SITE, ["base"])[0]),
            tip_site=int(_ids(model, kinds.mjOBJ_SITE, ["tip"])[0]),
            rotor_sites=_ids(model, kinds.mjOBJ_SITE, rotors),
            rotor_actuators=rotor_actuators,
            tendon_actuators=tendon_actuators,
            joint_qpos=model.jnt_qposadr[joints].astype(np.int64),
            joint_dofs=model.jnt_dofadr[joints].astype(np.int64),
            twist_qpos=model.jnt_qposadr[twists].astype(np.int64),
            twist_dofs=model.jnt_dofadr[twists].astype(np.int64),
            stretch_qpos=model.jnt_qposadr[stretches].astype(np.int64),
            stretch_dofs=model.jnt_dofadr[stretches].astype(np.int64),
            free=free,
            mass=float(model.body_subtreemass[base]),
            gravity=float(np.linalg.norm(model.opt.gravity)),
            inertia=_inertia_about_origin(model, base),
            thrust_max=model.actuator_ctrlrange[rotor_actuators, 1].copy(),
            tension_max=model.actuator_ctrlrange[tendon_actuators, 1].copy(),
            tendon_angles=np.arctan2(y, x) % (2.0 * np.pi),
            tendon_radii=np.hypot(x, y),
            load_body=-1 if load < 0 else int(model.jnt_bodyid[load]),
            load_qpos=-1 if load < 0 else int(model.jnt_qposadr[load]),
            load_dof=-1 if load < 0 else int(model.jnt_dofadr[load]),
        )


def _inertia_about_origin(model: mujoco.MjModel, body: int) -> Array:
    """Return a body's inertia about its origin, in its own axes, (3, 3)."""
    axes = np.empty(9)
    mujoco.mju_quat2Mat(axes, model.body_iquat[body])
    axes = axes.reshape(3, 3)
    offset = model.body_ipos[body]
    steiner = offset @ offset * np.eye(3) - np.outer(offset, offset)
    return axes @ np.diag(model.body_inertia[body]) @ axes.T + model.body_mass[body] * steiner
