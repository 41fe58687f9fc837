"""MJCF to a tendon world, with RaiSim's reading of it.

Tendons and their equalities become tendons and couplings of the world; their sol* parameters have
no meaning there, and what the model has on its tendons beside them (actuators, sensors) goes.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tendon_gym import checks
from tendon_gym.tendons.files.native_reader import add_tendon
from tendon_gym.tendons.files.objects import name_bodies
from tendon_gym.tendons.files.sidecars import SceneWarning
from tendon_gym.tendons.files.systems import load_spec, make_absolute
from tendon_gym.tendons.naming import about
from tendon_gym.tendons.path import Cylinder, JointTerm, PathElement, Pulley, Site, Sphere, Via
from tendon_gym.tendons.properties import CouplingProperties, Properties
from tendon_gym.tendons.scene import TendonRecord
from tendon_gym.tendons.world import TendonWorld

_AUTO = mujoco.mjtLimited.mjLIMITED_AUTO
_TRUE = mujoco.mjtLimited.mjLIMITED_TRUE
_WRAPS = mujoco.mjtWrap
_TENDON = mujoco.mjtObj.mjOBJ_TENDON
_SOLVER = ("solref_limit", "solimp_limit", "solref_friction", "solimp_friction")


def load_mjcf(path: str | Path, *, limits: str = "predictive") -> TendonWorld:
    """Return the world of an MJCF file, its tendons made the world's.

    A warning tells what of the file is left out or means something else: sol* parameters of
    tendons, polynomial springs and dampers, and actuators and sensors on tendons, which are removed:
    give the tendons drives instead.

    Args:
        path: of the file.
        limits: as for `TendonWorld`.

    Raises:
        OSError: the file cannot be read.
        ValueError: MuJoCo refuses the file, or a tendon of it makes no sense.
    """
    spec = load_spec(Path(path))
    make_absolute(spec)
    return import_spec(spec, limits=limits)


def import_spec(spec: mujoco.MjSpec, *, limits: str = "predictive") -> TendonWorld:
    """Return the world of a spec, its tendons made the world's, as `load_mjcf` does for a file."""
    spec = spec.copy()
    tendons, equalities = list(spec.tendons), _tendon_equalities(spec)
    _name_all("tendon", tendons)
    _name_all("coupling", equalities)
    for body in spec.bodies:
        if not body.name:
            name_bodies(spec)
            break
    routes = _Routes(spec)
    records = [routes.record(tendon) for tendon in tendons]
    couplings = [(e.name, e.name1, e.name2, _coupling(e)) for e in equalities]
    _warn(spec, equalities)
    _strip(spec)
    world = TendonWorld(spec, limits=limits)
    for record in records:
        add_tendon(world, record)
    for name, first, second, properties in couplings:
        ends = []
        for end in (first, second):
            tendon = world.get_tendon(end)
            if end and tendon is None:
                raise ValueError(f"coupling {name}: there is no tendon {checks.shown(end)}")
            ends.append(tendon)
        world.add_coupling(name, ends[0], ends[1], properties)
    return world


class _Routes:
    """Reads the tendons of a spec."""

    def __init__(self, spec: mujoco.MjSpec) -> None:
        bare = spec.copy()
        _strip(bare)
        self._model = bare.compile()

    def record(self, tendon: mujoco.MjsTendon) -> TendonRecord:
        """Return what a tendon is as one of a world."""

        def read() -> TendonRecord:
            steps = list(tendon.path)
            joints = tuple(
                JointTerm(wrap.target.name, float(wrap.coef))
                for wrap in steps
                if wrap.type == _WRAPS.mjWRAP_JOINT
            )
            path = () if joints else tuple(map(self._step, steps))
            return TendonRecord(tendon.name, _properties(tendon), path, joints)

        return about(f"tendon {tendon.name}", read)

    def _step(self, wrap: mujoco.MjsWrap) -> PathElement:
        if wrap.type == _WRAPS.mjWRAP_PULLEY:
            return Pulley(float(wrap.divisor))
        if wrap.type == _WRAPS.mjWRAP_SITE:
            return Via(_site(wrap.target))
        model = self._model
        geom = model.geom(wrap.target.name)
        body = int(geom.bodyid[0])
        name = model.body(body).name if body else None
        center, radius = Site(name, tuple(geom.pos.tolist())), float(geom.size[0])
        side = None if wrap.sidesite is None else _site(wrap.sidesite)
        if geom.type[0] == int(mujoco.mjtGeom.mjGEOM_SPHERE):
            return Sphere(center, radius, side)
        if geom.type[0] != int(mujoco.mjtGeom.mjGEOM_CYLINDER):
            raise ValueError(f"the guide {geom.name} is neither sphere nor cylinder")
        axis = np.empty(3)
        mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), geom.quat)
        return Cylinder(center, radius, tuple(axis.tolist()), side)


def _site(site: mujoco.MjsSite) -> Site:
    return Site(site.name, kind="site")


def _properties(tendon: mujoco.MjsTendon) -> Properties:
    """Return the properties of a tendon; a rest length of -1 means that of its creation."""
    lower, upper = (float(end) for end in tendon.springlength)
    if lower == upper == -1.0:
        lower = upper = math.nan
    least, greatest = _bounds(tendon.limited, tendon.range)
    pull, push = _bounds(tendon.actfrclimited, tendon.actfrcrange)
    return Properties(
        stiffness=float(tendon.stiffness[0]),
        damping=float(tendon.damping[0]),
        spring_lower=lower,
        spring_upper=upper,
        lower_limit=least,
        upper_limit=greatest,
        limit_margin=float(tendon.margin),
        friction_loss=float(tendon.frictionloss),
        armature=float(tendon.armature),
        actuation_lower=pull,
        actuation_upper=push,
        width=float(tendon.width),
        color=tuple(float(str(value)) for value in tendon.rgba),  # type: ignore[arg-type]
    )


def _bounds(limited: Any, bounds: Any) -> tuple[float, float]:
    """Return bounds that count if they are switched on, or given and not switched off."""
    lower, upper = (float(end) for end in bounds)
    given = limited == _TRUE or (limited == _AUTO and (lower, upper) != (0.0, 0.0))
    return (lower, upper) if given else (-math.inf, math.inf)


def _coupling(equality: mujoco.MjsEquality) -> CouplingProperties:
    def read() -> CouplingProperties:
        coefficients = tuple(float(value) for value in equality.data[:5])
        return CouplingProperties(coefficients, enabled=bool(equality.active))  # type: ignore[arg-type]

    return about(f"coupling {equality.name}", read)


def _tendon_equalities(spec: mujoco.MjSpec) -> list[mujoco.MjsEquality]:
    return [each for each in spec.equalities if each.type == mujoco.mjtEq.mjEQ_TENDON]


def _users(spec: mujoco.MjSpec) -> list[Any]:
    """Return the actuators and sensors of a spec that are on its tendons, and sensors of those."""
    actuators = [a for a in spec.actuators if a.trntype == mujoco.mjtTrn.mjTRN_TENDON]
    names = {actuator.name for actuator in actuators}
    sensors = [
        sensor
        for sensor in spec.sensors
        if sensor.objtype == _TENDON
        or (sensor.objtype == mujoco.mjtObj.mjOBJ_ACTUATOR and sensor.objname in names)
    ]
    return [*sensors, *actuators]


def _strip(spec: mujoco.MjSpec) -> None:
    """Take the tendons out of a spec, and all that is on them; controls of keyframes go too."""
    users = _users(spec)
    for element in [*users, *_tendon_equalities(spec), *spec.tendons]:
        spec.delete(element)
    for key in spec.keys if users else ():
        key.ctrl = key.act = []


def _name_all(what: str, elements: list[Any]) -> None:
    """Give names to those that have none."""
    taken = {element.name for element in elements}
    for index, element in enumerate(elements):
        if not element.name:
            name = f"{what}_{index}"
            while name in taken:
                name += "_"
            element.name = name
            taken.add(name)


def _warn(spec: mujoco.MjSpec, equalities: list[mujoco.MjsEquality]) -> None:
    """Tell what of a file is left out or means something else in a world."""
    if users := _users(spec):
        names = ", ".join(user.name or type(user).__name__ for user in users)
        _tell(f"actuators and sensors on tendons are left out: {names}")
    plain_spec = mujoco.MjSpec()
    plain = plain_spec.add_tendon()
    for tendon in spec.tendons:
        solver = [n for n in _SOLVER if not np.array_equal(getattr(tendon, n), getattr(plain, n))]
        more = [name for name in ("stiffness", "damping") if np.any(getattr(tendon, name)[1:])]
        if tendon.springyield:
            more.append("springyield")
        names = ", ".join(name.replace("_", "") for name in solver)
        if solver:
            _tell(f"tendon {tendon.name}: {names} is left out: limits and friction are hard here")
        if more:
            _tell(f"tendon {tendon.name}: the higher terms of {', '.join(more)} are left out")
    plain_equality = plain_spec.add_equality()
    for equality in equalities:
        if not np.array_equal(equality.solref, plain_equality.solref) or not np.array_equal(
            equality.solimp, plain_equality.solimp
        ):
            _tell(f"coupling {equality.name}: solref and solimp are left out: it is hard here")


def _tell(message: str) -> None:
    warnings.warn(message, SceneWarning, stacklevel=5)
