"""From parameters to a MuJoCo model: base, arm, tendons, actuators, contacts.

Names: bodies "base", "link_1" .. "link_N"; free joint "base"; hinges "link_k_x", "link_k_y", and of
arms that twist "link_k_twist", slides "link_k_stretch" of those that stretch;
sites "base", "tip", "rotor_1" .. "rotor_4", "anchor_i", "via_k_i" (link k, tendon i); tendons
"tendon_i"; actuators "rotor_1" .. "rotor_4", then "tendon_1" .. "tendon_n"; if there is a load, a
body with a free joint and a geom, all "load".
"""

from __future__ import annotations

import copy
import math
from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from tendon_gym.model import appearance
from tendon_gym.model.parameters import Arm, Load, ModelParameters, Solver
from tendon_gym.model.routing import route
from tendon_gym.tendons import TendonWorld
from tendon_gym.tendons.base import LINE_SEARCH, TOLERANCE
from tendon_gym.tendons.embedding import Embedded, embed, structure

INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
# Two geoms meet if one's contype shares a bit with the other's conaffinity. The arm is hit by the
# floor (1) and the frame (2), never by itself (4), and a load (8) is hit by all of them; geoms of
# MuJoCo's default type 1 hit all.
FLOOR = {"contype": 1, "conaffinity": 6}
FRAME = {"contype": 2, "conaffinity": 5}
ARM = {"contype": 4, "conaffinity": 3}
LOAD = {"contype": 8, "conaffinity": 7}
HUB = (0.055, 0.055, 0.016)
"""Half sizes of the box at the middle of the frame, m."""
BOOM_RADIUS = 0.009
"""Radius of the tubes that carry the rotors, m."""
ARENA_BYTES = 1 << 20
"""MuJoCo's arena per simulation for up to 12 links: five times what a heap on the floor takes."""


class Built(NamedTuple):
    """A compiled model, and what the laws of its tendons need to know; None: they have none."""

    model: mujoco.MjModel
    tendons: Embedded | None


def build_spec(parameters: ModelParameters) -> mujoco.MjSpec:
    """Return the editable description of the model.

    The base is a body with an explicit inertia and massless geoms; every link hangs on a hinge
    about its local x, then one about y, at its upper end. Rotors are motors on sites that push
    along the base's z axis with a reaction torque; tendons are motors with gear -1, so that a
    control is a tension in N. A clamped base has the rotors' sites, but no rotor actuators.

    Springs, limits, friction and couplings of tendons are in it as far as they are structure; what
    they are like is written to the compiled model, see `build_model`.
    """
    return _assemble(parameters)[1]


def _assemble(parameters: ModelParameters) -> tuple[TendonWorld, mujoco.MjSpec]:
    """Return the world of the arm's tendons, and the spec with those and all else in it."""
    spec = mujoco.MjSpec()
    spec.modelname = "quad_continuum"
    spec.compiler.autolimits = True
    # Contacts grow with the number of links, and each takes room for every degree of freedom.
    spec.memory = ARENA_BYTES * max(1, math.ceil((parameters.arm.n_links / 12) ** 2))
    _set_options(spec, parameters)
    appearance.dress_world(spec)
    floor = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, **FLOOR)
    floor.size = [0, 0, 0.05]
    floor.material = "floor"
    base = _add_base(spec, parameters)
    _add_arm(spec, base, parameters)
    if parameters.load is not None:
        _add_load(spec, parameters.load)
    if parameters.base == "free":
        _add_rotors(spec, parameters)
    world = route(spec, parameters)
    spec = structure(world)
    for name in parameters.tendons.names:
        _add_winch(spec, name, parameters.tendons.tension_max)
    return world, spec


@lru_cache(maxsize=16)
def _compiled_once(parameters: ModelParameters) -> Built:
    world, spec = _assemble(parameters)
    model = spec.compile()
    return Built(model, None if parameters.tendons.plain else embed(world, model))


def build_model(parameters: ModelParameters) -> mujoco.MjModel:
    """Return a compiled model of the caller's own: changing it changes no other."""
    return copy.copy(_compiled_once(parameters).model)


def build(parameters: ModelParameters) -> Built:
    """Return a compiled model of the caller's own with the laws of its tendons.

    Tendons with limits that look ahead need them: the model alone has none for these.
    """
    return _compiled_once(parameters)._replace(model=build_model(parameters))


def _set_options(spec: mujoco.MjSpec, parameters: ModelParameters) -> None:
    solver: Solver = parameters.solver
    spec.option.integrator = INTEGRATORS[solver.integrator]
    spec.option.timestep = solver.timestep
    spec.option.density = parameters.fluid.density
    spec.option.viscosity = parameters.fluid.viscosity
    if parameters.tendons.bound:
        spec.option.tolerance, spec.option.ls_iterations = TOLERANCE, LINE_SEARCH
    # From 60 degrees of freedom on MuJoCo would choose sparse, where 4.0.0 diverges.
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE


def _add_base(spec: mujoco.MjSpec, parameters: ModelParameters) -> mujoco.MjsBody:
    airframe = parameters.airframe
    base = spec.worldbody.add_body(name="base", pos=[0, 0, parameters.height])
    base.explicitinertial = True
    base.mass = airframe.mass
    base.ipos = [0, 0, 0]
    base.inertia = list(airframe.inertia)
    if parameters.base == "free":
        base.add_freejoint(name="base")
    base.add_site(name="base", group=appearance.SITE_GROUP)
    hub = base.add_geom(name="hub", type=mujoco.mjtGeom.mjGEOM_BOX, mass=0, **FRAME)
    hub.size = list(HUB)
    hub.material = "frame"
    for k, position in enumerate(airframe.hubs, start=1):
        base.add_site(name=f"rotor_{k}", pos=position, group=appearance.SITE_GROUP)
        if np.linalg.norm(position) <= HUB[0]:
            continue
        boom = base.add_geom(name=f"boom_{k}", mass=0, **FRAME)
        boom.type = mujoco.mjtGeom.mjGEOM_CAPSULE
        boom.fromto = [0, 0, 0, *position]
        boom.size = [BOOM_RADIUS, 0, 0]
        boom.material = "frame"
    appearance.dress_base(base, parameters)
    return base


def _add_arm(spec: mujoco.MjSpec, base: mujoco.MjsBody, parameters: ModelParameters) -> None:
    arm = parameters.arm
    parent, origin = base, [0.0, 0.0, -arm.flange_offset]
    for k, share in enumerate(arm.joint_shares, start=1):
        link = parent.add_body(name=f"link_{k}", pos=origin)
        _add_joints(link, k, arm, float(share))
        _add_link_geoms(link, k, arm)
        if _touches_hub(arm, k):
            spec.add_exclude(name=f"base_link_{k}", bodyname1="base", bodyname2=f"link_{k}")
        parent, origin = link, [0.0, 0.0, -arm.link_length]
    point = [0, 0, -arm.link_length - arm.tip_offset]
    tip = parent.add_geom(name="tip", type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=point, **ARM)
    tip.size = [arm.tip_radius, 0, 0]
    tip.mass = arm.tip_mass
    tip.material = "tip"
    parent.add_site(name="tip", pos=point, group=appearance.SITE_GROUP)


def _add_joints(link: mujoco.MjsBody, k: int, arm: Arm, share: float) -> None:
    """Add what a link moves by, in this order: bend about x and y, twist, stretch."""
    hinge, slide = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
    bending, torsion, axial = arm.bending_stiffness, arm.torsional_stiffness, arm.axial_stiffness
    for name, kind, direction, stiffness, damping in (
        ("x", hinge, [1, 0, 0], bending, arm.bending_damping),
        ("y", hinge, [0, 1, 0], bending, arm.bending_damping),
        ("twist", hinge, [0, 0, 1], torsion, arm.torsional_damping),
        ("stretch", slide, [0, 0, -1], axial, arm.axial_damping),
    ):
        if stiffness is not None:
            joint = link.add_joint(name=f"link_{k}_{name}", type=kind)
            joint.axis = direction
            # Stiffness and damping are polynomials: linear, quadratic, cubic.
            joint.stiffness = [share * (stiffness / arm.link_length), 0, 0]
            joint.damping = [share * (damping / arm.link_length), 0, 0]


def _add_link_geoms(link: mujoco.MjsBody, k: int, arm: Arm) -> None:
    """Add the capsule that touches and is seen, and the piece of rod that weighs, if another."""
    ends = [0, 0, 0, 0, 0, -arm.link_length]
    capsule = link.add_geom(name=f"link_{k}", type=mujoco.mjtGeom.mjGEOM_CAPSULE, **ARM)
    capsule.fromto = ends
    capsule.size = [arm.radius, 0, 0]
    capsule.mass = arm.link_mass
    capsule.material = "arm"
    capsule.rgba = appearance.arm_colour((k - 1) / max(arm.n_links - 1, 1))
    if arm.discretisation == "consistent":
        capsule.mass = 0
        piece = link.add_geom(name=f"piece_{k}", type=mujoco.mjtGeom.mjGEOM_CYLINDER)
        piece.fromto, piece.size, piece.mass = ends, [arm.radius, 0, 0], arm.link_mass
        piece.contype, piece.conaffinity, piece.group = 0, 0, appearance.HIDDEN_GROUP


def _add_load(spec: mujoco.MjSpec, load: Load) -> None:
    body = spec.worldbody.add_body(name="load", pos=load.position)
    body.add_freejoint(name="load")
    ball = body.add_geom(name="load", type=mujoco.mjtGeom.mjGEOM_SPHERE, **LOAD)
    ball.size = [load.radius, 0, 0]
    ball.mass = load.mass
    ball.rgba = appearance.LOAD_COLOUR


def _touches_hub(arm: Arm, k: int) -> bool:
    """Say whether link k is so near the hub that touching it is part of plain bending.

    MuJoCo never lets a child touch its parent, but takes a clamped base for the world.
    """
    top = -arm.flange_offset - (k - 1) * arm.link_length + arm.radius
    if k == arm.n_links:
        top = max(top, arm.tip_radius - arm.tip_depth)
    return k == 1 or top > -HUB[2] - arm.radius


def _add_rotors(spec: mujoco.MjSpec, parameters: ModelParameters) -> None:
    airframe = parameters.airframe
    for k, sign in enumerate(airframe.spin, start=1):
        rotor = spec.add_actuator(name=f"rotor_{k}", target=f"rotor_{k}")
        rotor.trntype = mujoco.mjtTrn.mjTRN_SITE
        rotor.gear = np.array([0, 0, 1, 0, 0, sign * airframe.torque_coefficient])
        rotor.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
        rotor.ctrlrange = [0, airframe.thrust_max]


def _add_winch(spec: mujoco.MjSpec, name: str, tension_max: float) -> None:
    winch = spec.add_actuator(name=name, target=name)
    winch.trntype = mujoco.mjtTrn.mjTRN_TENDON
    winch.gear = np.array([-1, 0, 0, 0, 0, 0])
    winch.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
    winch.ctrlrange = [0, tension_max]
