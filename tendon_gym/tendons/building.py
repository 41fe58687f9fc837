"""From a scene to a spec with its tendons: structure and looks, no parameters (see `filling`).

What is added is named after the prefix `PREFIX`, and comes after everything of the model's own:
sites and guides on its bodies, at the end of the tendons those of the scene in order and then the
rotors that carry the armature of some, actuators of driven tendons, equalities for locks,
rotors and couplings. A path that goes through a site of the model's own needs no other one there.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np

from tendon_gym.tendons.path import LEAST, Cylinder, PathElement, Pulley, Site, Sphere, Via
from tendon_gym.tendons.places import Places
from tendon_gym.tendons.plain import plain
from tendon_gym.tendons.scene import CouplingRecord, Scene, TendonRecord

PREFIX = "tendon:"
GUIDE_GROUP = 5
"""Group of the guides, which viewers don't show by themselves."""
ROTOR_MASS = 1e-6
ROTOR_INERTIA = 1e-12
"""Of the body of a rotor, kg and kg m^2: nothing beside its armature."""
CONTROLS = 7
"""The controls of a servo: position (1), velocity (2) and feed-forward (4), as MuJoCo's flags."""


def build(base: mujoco.MjSpec, places: Places, scene: Scene) -> mujoco.MjSpec:
    """Return a copy of a spec with the tendons and couplings of a scene; `base` is unchanged."""
    spec = base.copy()
    bodies = list(spec.bodies)
    for index, tendon in enumerate(scene.tendons):
        element = plain(spec.add_tendon(name=tendon.name))
        element.width, element.rgba = tendon.properties.width, tendon.properties.color
        element.armature = 0.0 if tendon.geared else tendon.properties.armature
        if tendon.type == "spatial":
            _Route(element, bodies, places, f"{PREFIX}{index}").add(tendon.path)
        else:
            for joint, coefficient in summed(tendon).items():
                element.wrap_joint(joint, coefficient)
    for tendon in scene.tendons:
        if tendon.geared:
            _add_rotor(spec, tendon)
        if tendon.drive is not None:
            _add_actuator(spec, tendon.name)
        if tendon.properties.locked:
            _add_equality(spec, lock_name(tendon.name), tendon.name, None)
        if tendon.geared:
            _add_equality(spec, rotor_name(tendon.name), rotor_name(tendon.name), tendon.name)
    for coupling in scene.couplings:
        _add_equality(spec, coupling_name(coupling), coupling.first, coupling.second)
    _widen_keys(spec, scene)
    return spec


def summed(tendon: TendonRecord) -> dict[str, float]:
    """Return the coefficients of a fixed tendon by joint: repeated terms add up.

    Terms that cancel leave nothing, not the rounding of their sum.
    """
    terms: dict[str, list[float]] = {}
    for term in tendon.joints:
        terms.setdefault(term.joint, []).append(term.coefficient)
    total = {joint: math.fsum(each) for joint, each in terms.items()}
    return {
        joint: 0.0 if abs(total[joint]) < LEAST * max(map(abs, each)) else total[joint]
        for joint, each in terms.items()
    }


def lock_name(tendon: str) -> str:
    """Return the name of the equality that locks a tendon."""
    return f"{PREFIX}lock:{tendon}"


def rotor_name(tendon: str) -> str:
    """Return the name of the rotor's body, joint, tendon and equality."""
    return f"{PREFIX}rotor:{tendon}"


def drive_name(tendon: str) -> str:
    """Return the name of the actuator of a tendon."""
    return f"{PREFIX}drive:{tendon}"


def coupling_name(coupling: CouplingRecord) -> str:
    """Return the name of the equality of a coupling."""
    return f"{PREFIX}coupling:{coupling.name}"


class _Route:
    """Adds the sites and guides of one spatial tendon."""

    def __init__(
        self,
        tendon: mujoco.MjsTendon,
        bodies: list[mujoco.MjsBody],
        places: Places,
        prefix: str,
    ) -> None:
        self._tendon, self._bodies, self._places, self._prefix = tendon, bodies, places, prefix

    def add(self, path: tuple[PathElement, ...]) -> None:
        for k, element in enumerate(path):
            name = f"{self._prefix}:{k}"
            if isinstance(element, Pulley):
                self._tendon.wrap_pulley(element.divisor)
            elif isinstance(element, Via):
                self._tendon.wrap_site(self._site(name, element.site))
            else:
                side = ""
                if element.side is not None:
                    side = self._site(f"{name}:side", element.side)
                self._guide(name, element)
                self._tendon.wrap_geom(name, side)

    def _site(self, name: str, site: Site) -> str:
        """Return the name of a site of the model's own, or of one that is added there."""
        if site.kind == "site" and site.position == (0.0, 0.0, 0.0):
            return str(site.name)
        place = self._places.of(site)
        added = plain(self._bodies[place.body].add_site(name=name))
        added.pos = place.position
        added.group = GUIDE_GROUP
        added.size = [1e-3, 0.0, 0.0]
        return name

    def _guide(self, name: str, element: Sphere | Cylinder) -> None:
        place = self._places.of(element.center)
        geom = plain(self._bodies[place.body].add_geom(name=name))
        geom.pos = place.position
        geom.contype = geom.conaffinity = 0
        geom.group, geom.mass, geom.density = GUIDE_GROUP, 0.0, 0.0
        geom.rgba = [0.0, 0.0, 0.0, 0.0]  # rays don't see it
        geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
        geom.size = [element.radius, 0.0, 0.0]
        if isinstance(element, Cylinder):
            geom.type = mujoco.mjtGeom.mjGEOM_CYLINDER
            geom.size = [element.radius, element.radius, 0.0]
            axis, turn, quaternion = np.array(element.axis), np.empty(4), np.empty(4)
            mujoco.mju_quatZ2Vec(turn, axis)
            mujoco.mju_mulQuat(quaternion, place.quaternion, turn)
            geom.quat = quaternion


def _add_rotor(spec: mujoco.MjSpec, tendon: TendonRecord) -> None:
    """Add a rotor whose angle in rad follows the tendon's length in m: its armature is that of it.

    It turns about its centre of mass, so that gravity doesn't act on it.
    """
    name = rotor_name(tendon.name)
    body = spec.worldbody.add_body(name=name)
    body.explicitinertial, body.ipos = True, [0.0, 0.0, 0.0]  # without it the XML has no inertia
    body.mass, body.inertia = ROTOR_MASS, [ROTOR_INERTIA] * 3
    rotor = plain(body.add_joint(name=name))
    rotor.type = mujoco.mjtJoint.mjJNT_HINGE
    rotor.armature = tendon.properties.armature
    plain(spec.add_tendon(name=name)).wrap_joint(name, 1.0)


def _add_actuator(spec: mujoco.MjSpec, tendon: str) -> None:
    """Add a servo with the controls target length, target velocity and feed-forward force."""
    actuator = plain(spec.add_actuator(name=drive_name(tendon), target=tendon))
    actuator.trntype = mujoco.mjtTrn.mjTRN_TENDON
    actuator.set_to_pid(kp=0.0, kv=0.0, ctrlspec=CONTROLS)
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
    actuator.forcerange = [-1.0, 1.0]


def _widen_keys(spec: mujoco.MjSpec, scene: Scene) -> None:
    """Give keyframes the positions and velocities of rotors, and the controls of drives."""
    rotors = np.zeros(sum(tendon.geared for tendon in scene.tendons))
    controls = np.zeros(3 * sum(tendon.drive is not None for tendon in scene.tendons))
    for key in spec.keys:
        for name, more in (("qpos", rotors), ("qvel", rotors), ("ctrl", controls)):
            values = np.array(getattr(key, name))
            if len(values):  # none: MuJoCo's defaults, whatever their number
                setattr(key, name, np.concatenate([values, more]))


def _add_equality(spec: mujoco.MjSpec, name: str, first: str, second: str | None) -> None:
    equality = plain(spec.add_equality(name=name))
    equality.type = mujoco.mjtEq.mjEQ_TENDON
    equality.objtype = mujoco.mjtObj.mjOBJ_TENDON
    equality.name1 = first
    if second is not None:
        equality.name2 = second
