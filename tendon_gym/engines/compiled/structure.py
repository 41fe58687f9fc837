"""What the compiled engine can step: a base with one arm of hinges, tendons, rotors, and a load.

`Structure.of` reads a compiled model and refuses whatever the engine would not represent, by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import mujoco
import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

_AXES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
# what is computed on top, and changes no trajectory
_HARMLESS = int(mujoco.mjtEnableBit.mjENBL_ENERGY) | int(mujoco.mjtEnableBit.mjENBL_FWDINV)
_ADVICE = 'engine="mujoco" steps every model'


@dataclass(frozen=True, eq=False)
class Structure:
    """The parts of a model, as indices: N links, n tendons, r rotors.

    Attributes:
        base: body of the base.
        free: whether it flies on a free joint; else it is fixed in the world.
        links: bodies from the base to the tip, (N,).
        hinges: joints, (N, 2): about x and about y.
        rotors: actuators that push on sites of the base, (r,).
        rotor_sites: those sites, (r,).
        tendons: actuators of the tendons in the order of the tendons, -1 where there is none, (n,).
        guides: sites of the tendons: on the base, then on every link, (n, N + 1).
        hinge_qpos: addresses of the hinges in qpos, (N, 2).
        hinge_dofs: addresses of the hinges in qvel, (N, 2).
        load: body of the free ball, -1 for none.
    """

    base: int
    free: bool
    links: Indices
    hinges: Indices
    rotors: Indices
    rotor_sites: Indices
    tendons: Indices
    guides: Indices
    hinge_qpos: Indices
    hinge_dofs: Indices
    load: int

    @classmethod
    def of(cls, model: mujoco.MjModel) -> Structure:
        """Read a model.

        Raises:
            ValueError: something that the engine can't step; the message names it.
        """
        for fault in _faults(model):
            refuse(fault)
        base, links, load = _chain(model)
        hinges = model.body_jntadr[links][:, None].astype(np.int64) + np.arange(2)
        rotors = _rotors(model, base)
        return cls(
            base=base,
            free=bool(model.body_jntnum[base]),
            links=links,
            hinges=hinges,
            hinge_qpos=model.jnt_qposadr[hinges].astype(np.int64),
            hinge_dofs=model.jnt_dofadr[hinges].astype(np.int64),
            rotors=rotors,
            rotor_sites=model.actuator_trnid[rotors, 0].astype(np.int64),
            tendons=_winches(model),
            guides=_guides(model, np.concatenate([[base], links])),
            load=load,
        )


def refuse(what: str) -> NoReturn:
    """Raise: the compiled engine can't step the model, for the reason that ends the sentence."""
    raise ValueError(f"the compiled engine {what}; {_ADVICE}")


def _faults(model: mujoco.MjModel) -> Iterator[str]:
    """Yield what the engine doesn't represent, as the end of a sentence."""
    if model.opt.integrator != mujoco.mjtIntegrator.mjINT_EULER:
        name = mujoco.mjtIntegrator(model.opt.integrator).name.removeprefix("mjINT_").lower()
        yield (
            f'integrates by "Euler" alone, got "{name}": choose model={{"solver": '
            '{"integrator": "Euler"}}, which differs by a hundredth of its own error'
        )
    for name in ("neq", "nflex", "nmocap", "nplugin", "na"):
        count = getattr(model, name)
        if count:
            yield (
                "knows no equality constraints, flexes, mocap bodies, plugins or activations, got "
                f"{name} = {count}"
            )
    if model.opt.disableflags & ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET):
        yield f"takes no disable flags, got {model.opt.disableflags}"
    if model.opt.enableflags & ~_HARMLESS:
        yield f"takes no enable flags, got {model.opt.enableflags}"
    for name, values in _zero(model).items():
        wrong = np.ravel(values)[np.flatnonzero(values)]
        if len(wrong):
            yield f"takes {name} as zero, got {wrong[0]:g}"


def _zero(model: mujoco.MjModel) -> dict[str, Any]:
    """Return, by name, what the engine takes as zero."""
    hinges = model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
    free = model.jnt_type == mujoco.mjtJoint.mjJNT_FREE
    free_dofs = free[model.dof_jntid]
    return {
        "dof_frictionloss": model.dof_frictionloss,
        "jnt_limited": model.jnt_limited,
        "jnt_stiffnesspoly": getattr(model, "jnt_stiffnesspoly", np.zeros(1)),
        "dof_dampingpoly": getattr(model, "dof_dampingpoly", np.zeros(1)),
        "jnt_pos": model.jnt_pos[hinges],
        "jnt_actgravcomp": model.jnt_actgravcomp,
        "dof_damping of the free joint": model.dof_damping[free_dofs],
        "dof_armature of the free joint": model.dof_armature[free_dofs],
        "jnt_stiffness of the free joint": model.jnt_stiffness[free],
        "qpos0 of the hinges": model.qpos0[model.jnt_qposadr[hinges]],
        "body_gravcomp": model.body_gravcomp,
        "geom_fluid": model.geom_fluid[:, 0],
        "tendon_stiffness": model.tendon_stiffness,
        "tendon_damping": model.tendon_damping,
        "tendon_frictionloss": model.tendon_frictionloss,
        "tendon_limited": model.tendon_limited,
        "tendon_armature": model.tendon_armature,
        "tendon_actfrclimited": model.tendon_actfrclimited,
        "jnt_actfrclimited": model.jnt_actfrclimited,
        "opt.disableactuator": model.opt.disableactuator,
        "actuator_forcelimited": model.actuator_forcelimited,
        "actuator_damping": getattr(model, "actuator_damping", 0.0),
        "actuator_armature": getattr(model, "actuator_armature", 0.0),
        "jnt_springyield": getattr(model, "jnt_springyield", 0.0),
        "actuator_delay": getattr(model, "actuator_delay", 0.0),
        "actuator_dyntype": model.actuator_dyntype,
        "actuator_gaintype": model.actuator_gaintype,
        "actuator_biastype": model.actuator_biastype,
    }


def _chain(model: mujoco.MjModel) -> tuple[int, Indices, int]:
    """Return the base, the links and the load (-1 for none), or refuse another tree."""
    moving = np.flatnonzero(model.body_weldid > 0)
    jointed = [b for b in moving if model.body_jntnum[b]]
    if not jointed or len(jointed) != len(moving):
        refuse("needs a joint on every body that moves")
    load = int(jointed.pop()) if len(jointed) > 1 and _is_loose(model, int(jointed[-1])) else -1
    if load >= 0 and not _is_ball(model, load):
        name = model.body(load).name
        refuse(f"takes a load whose inertia is a centred ball's, and that of {name!r} is not")
    first = jointed[0]
    free = model.jnt_type[model.body_jntadr[first]] == mujoco.mjtJoint.mjJNT_FREE
    base, links = (first, jointed[1:]) if free else (int(model.body_parentid[first]), jointed)
    if base == 0 or not links:
        refuse("needs a base with at least one link")
    if model.body_parentid[base] != 0:
        refuse(f"needs a base in the world itself, and {model.body(base).name!r} is elsewhere")
    parent = base
    for link in links:
        name = model.body(link).name
        joints = np.arange(model.body_jntnum[link]) + model.body_jntadr[link]
        if model.body_parentid[link] != parent:
            refuse(f"needs one unbranched arm, and body {name!r} is not on the end of it")
        kinds, axes = model.jnt_type[joints], model.jnt_axis[joints]
        hinged = len(joints) == 2 and (kinds == mujoco.mjtJoint.mjJNT_HINGE).all()
        if not hinged or not np.allclose(axes, _AXES, atol=1e-12):
            refuse(f"needs hinges about x, then y on every link, and body {name!r} has others")
        parent = link
    return int(base), np.array(links, np.int64), load


def _is_loose(model: mujoco.MjModel, body: int) -> bool:
    """Say whether a body moves freely in the world."""
    free = model.jnt_type[model.body_jntadr[body]] == mujoco.mjtJoint.mjJNT_FREE
    return bool(free and model.body_parentid[body] == 0)


def _is_ball(model: mujoco.MjModel, body: int) -> bool:
    """Say whether a body's inertia is the same about all axes through its origin."""
    inertia, turn = model.body_inertia[body], model.body_iquat[body, 1:]
    return not (np.ptp(inertia) > 1e-12 * inertia[0] or model.body_ipos[body].any() or turn.any())


def _rotors(model: mujoco.MjModel, base: int) -> Indices:
    """Return the actuators on sites of the base; refuse those that are on anything else."""
    rotors = []
    for i in range(model.nu):
        name, target = model.actuator(i).name, model.actuator_trnid[i]
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_TENDON:
            continue
        on_site = model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_SITE and target[1] < 0
        if not on_site or model.site_bodyid[target[0]] != base:
            refuse(f"takes actuators of tendons and on sites of the base, and {name!r} is neither")
        rotors.append(i)
    return np.array(rotors, np.int64)


def _winches(model: mujoco.MjModel) -> Indices:
    """Return each tendon's actuator, -1 for none."""
    winches = np.full(model.ntendon, -1, np.int64)
    for i in np.flatnonzero(model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON):
        tendon = model.actuator_trnid[i, 0]
        if winches[tendon] >= 0:
            refuse(f"takes one actuator per tendon, and {model.tendon(tendon).name!r} has more")
        winches[tendon] = i
    return winches


def _guides(model: mujoco.MjModel, bodies: Indices) -> Indices:
    """Return the tendons' sites, which must be one on each of the bodies, in order."""
    guides = np.zeros((model.ntendon, len(bodies)), np.int64)
    for t in range(model.ntendon):
        first, count = model.tendon_adr[t], model.tendon_num[t]
        path = slice(first, first + count)
        plain = (model.wrap_type[path] == mujoco.mjtWrap.mjWRAP_SITE).all()
        if not plain or not np.array_equal(model.site_bodyid[model.wrap_objid[path]], bodies):
            refuse(
                f"needs tendons with one site on the base and on every link in order, and "
                f"{model.tendon(t).name!r} takes another path"
            )
        guides[t] = model.wrap_objid[path]
    return guides
