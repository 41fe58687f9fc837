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
from tendon_gym.tendons.files.paths import given_path
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
    tendons, polynomial springs and dampers, and actuators and sensors on tendons, which are
    removed: give the tendons drives instead.

    Args:
        path: of the file.
        limits: as for `TendonWorld`.

    Raises:
        OSError: the file cannot be read.
        ValueError: MuJoCo refuses the file, or a tendon of it makes no sense.
    """
    spec = load_spec(given_path(path))
    make_absolute(spec)
    world, told = _import(spec, limits)
    for message in told:
        warnings.warn(message, SceneWarning, stacklevel=2)
    return world


def import_spec(spec: mujoco.MjSpec, *, limits: str = "predictive") -> TendonWorld:
    """Return the world of a spec, its tendons made the world's, as `load_mjcf` does for a file."""
    world, told = _import(spec, limits)
    for message in told:
        warnings.warn(message, SceneWarning, stacklevel=2)
    return world


def _import(spec: mujoco.MjSpec, limits: str) -> tuple[TendonWorld, list[str]]:
    """Return a world, and what it leaves out."""
    tendons, equalities = list(spec.tendons), _tendon_equalities(spec)
    base = spec.copy()  # which leaves out tendons that MuJoCo finds no sense in
    _strip(base)
    base.compile()
    name_bodies(base)
    routes = _Routes(base.compile())
    records = [
        routes.record(name, tendon)
        for name, tendon in zip(_names("tendon", tendons), tendons, strict=True)
    ]
    couplings = [
        (name, each.name1, each.name2, _coupling(name, each))
        for name, each in zip(_names("coupling", equalities), equalities, strict=True)
    ]
    told = _left_out(spec, records, couplings)
    world = TendonWorld(base, limits=limits)
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
    return world, told


class _Routes:
    """Reads the routes of tendons, in the model of a spec without them."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model

    def record(self, name: str, tendon: mujoco.MjsTendon) -> TendonRecord:
        """Return what a tendon is as one of a world."""

        def read() -> TendonRecord:
            steps = list(tendon.path)
            if any(wrap.target is None and wrap.type != _WRAPS.mjWRAP_PULLEY for wrap in steps):
                raise ValueError("its path has something that the model hasn't")
            joints = tuple(
                JointTerm(wrap.target.name, float(wrap.coef))
                for wrap in steps
                if wrap.type == _WRAPS.mjWRAP_JOINT
            )
            path = () if joints else tuple(map(self._step, steps))
            return TendonRecord(name, _properties(tendon), path, joints)

        return about(f"tendon {name}", read)

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
        x, y, z = axis.tolist()
        return Cylinder(center, radius, (x, y, z), side)


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


def _coupling(name: str, equality: mujoco.MjsEquality) -> CouplingProperties:
    def read() -> CouplingProperties:
        coefficients = tuple(float(value) for value in equality.data[:5])
        return CouplingProperties(coefficients, enabled=bool(equality.active))  # type: ignore[arg-type]

    return about(f"coupling {name}", read)


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


def _names(what: str, elements: list[Any]) -> list[str]:
    """Return the names of elements, new ones for those that have none."""
    names = [element.name for element in elements]
    for index, name in enumerate(names):
        if not name:
            fresh = f"{what}_{index}"
            while fresh in names:
                fresh += "_"
            names[index] = fresh
    return names


def _left_out(
    spec: mujoco.MjSpec, records: list[TendonRecord], couplings: list[tuple[Any, ...]]
) -> list[str]:
    """Tell what of a spec is left out of a world."""
    told = []
    if users := _users(spec):
        names = ", ".join(user.name or type(user).__name__ for user in users)
        told.append(f"actuators and sensors on tendons are left out: {names}")
    fresh = mujoco.MjSpec()
    usual, usual_equality = fresh.add_tendon(), fresh.add_equality()
    for record, tendon in zip(records, spec.tendons, strict=True):
        if solver := _changed(tendon, usual, _SOLVER):
            names = ", ".join(name.replace("_", "") for name in solver)
            told.append(
                f"tendon {record.name}: {names} is left out: limits and friction are hard here"
            )
        more = [name for name in ("stiffness", "damping") if np.any(getattr(tendon, name)[1:])]
        more += _changed(tendon, usual, ("springyield",))
        if more:
            told.append(f"tendon {record.name}: the higher terms of {', '.join(more)} are left out")
    for coupling, equality in zip(couplings, _tendon_equalities(spec), strict=True):
        if solver := _changed(equality, usual_equality, ("solref", "solimp")):
            names = ", ".join(solver)
            told.append(f"coupling {coupling[0]}: {names} is left out: couplings are hard here")
    return told


def _changed(element: Any, usual: Any, names: tuple[str, ...]) -> list[str]:
    """Return which attributes of an element, of those that MuJoCo has, are not its usual ones."""
    known = [name for name in names if hasattr(usual, name)]
    return [n for n in known if not np.array_equal(getattr(element, n), getattr(usual, n))]
