"""A tendon world to plain MJCF, which MuJoCo steps by itself, as nearly as that can say it."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import mujoco
import numpy as np

from tendon_gym.tendons import rows
from tendon_gym.tendons.building import (
    PREFIX,
    build,
    coupling_name,
    drive_name,
    lock_name,
    rotor_name,
)
from tendon_gym.tendons.files.paths import output_path
from tendon_gym.tendons.files.sidecars import SceneWarning, frozen, mjcf_text
from tendon_gym.tendons.naming import of_kind
from tendon_gym.tendons.places import Places
from tendon_gym.tendons.scene import CouplingRecord, Scene, TendonRecord
from tendon_gym.tendons.world import TendonWorld

KEY = "state"
"""The keyframe of the present state, with the commands of the drives as controls."""
_FAR = 1e9
"""What stands for infinity, m or N."""
_NARROW = 1e-12
"""The width of an interval that MuJoCo takes and its XML can tell from none, N or share."""
_AUTOMATIC, _NEAREST = -1.0, -1.000000000000001
"""The rest length that MuJoCo takes for that at qpos_spring, and the nearest that it writes."""
_TRUE, _FALSE = mujoco.mjtLimited.mjLIMITED_TRUE, mujoco.mjtLimited.mjLIMITED_FALSE


def save_mjcf(world: TendonWorld, path: str | Path) -> None:
    """Write a world to an MJCF file that MuJoCo alone can step, with its state as a keyframe.

    What MJCF cannot say is left out, or said as nearly as it can be, with a warning for each:
    predictive limits (MuJoCo's own are passed by up to v h), infinite ends of intervals (1e9 is
    put for them), bounds of servos (MuJoCo's hold at the start of a step), activation times,
    disabled tendons (they get no forces), repeated joints (which are summed), compliances too
    great for MuJoCo's rows, and equal actuation bounds (put 1e-12 apart). Rows without compliance
    are as hard as MuJoCo's hardest, which give way by 1e-4. The rotors of wrapped armatures and
    locks are a tendon and equalities of their own, and are read as such.

    Raises:
        OSError: the file cannot be written.
        ValueError: the world has assets from memory, or names with characters that XML hasn't.
    """
    of_kind("world", world, TendonWorld)
    path = output_path(path)
    exporter = _Exporter(world)
    text = mjcf_text(exporter.spec(), path.parent)
    for message in exporter.told:
        warnings.warn(message, SceneWarning, stacklevel=2)
    path.write_text(_without_prefix(text), encoding="utf-8")


class _Exporter:
    """Says one world in MuJoCo's own terms.

    Attributes:
        told: what MJCF cannot say.
    """

    def __init__(self, world: TendonWorld) -> None:
        self._world = world
        self.told: list[str] = []
        self._scene: Scene = world.simulation.records(world.scene)
        base = frozen(world)
        self._spec = build(base, Places(base, base.compile()), self._scene)
        for tendon in self._scene.tendons:  # the weights depend on it
            if not tendon.enabled:
                self._spec.tendon(tendon.name).armature = 0.0
        model = self._spec.compile()
        self._weights = {model.tendon(t).name: w for t, w in enumerate(model.tendon_invweight0)}
        self._lengths = {model.tendon(t).name: x for t, x in enumerate(model.tendon_length0)}
        self._h = float(model.opt.timestep)
        self._discrete = model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE

    def spec(self) -> mujoco.MjSpec:
        """Return the spec, complete."""
        enabled = {tendon.name: tendon.enabled for tendon in self._scene.tendons}
        for tendon in self._scene.tendons:
            self._fill(tendon)
        for coupling in self._scene.couplings:
            ends = (coupling.first, coupling.second or coupling.first)
            self._couple(coupling, all(enabled[name] for name in ends))
        self._add_key()
        return self._spec

    def _fill(self, tendon: TendonRecord) -> None:
        p, on = tendon.properties, float(tendon.enabled)
        element = self._spec.tendon(tendon.name)
        element.stiffness[0], element.damping[0] = on * p.stiffness, on * p.damping
        element.springlength = self._rest(tendon)
        element.frictionloss = on * p.friction_loss
        if p.friction_loss > 0.0:
            weight = self._weight(p.friction_compliance, tendon.name)
            row = rows.friction(weight, self._h, p.friction_compliance, self._discrete)
            element.solref_friction, element.solimp_friction = row.solref, row.solimp
        element.width, element.rgba = p.width, p.color
        if not tendon.enabled:
            self._tell(
                tendon.name, "is disabled: it is left without forces, and cannot be enabled again"
            )
        if len({term.joint for term in tendon.joints}) < len(tendon.joints):
            self._tell(tendon.name, "repeated joints are summed")
        if p.limited and tendon.enabled:
            self._limit(tendon, element)
        if p.locked:
            shift = p.lower_limit - self._lengths[tendon.name]
            self._equal(
                lock_name(tendon.name), (shift, 0.0, 0.0, 0.0, 0.0), (tendon.name, None),
                (p.position_correction, p.limit_compliance), tendon.enabled,
            )  # fmt: skip
        if tendon.geared:
            ends = (rotor_name(tendon.name), tendon.name)
            line = (self._lengths[tendon.name] - self._reference(tendon), 1.0, 0.0, 0.0, 0.0)
            self._equal(ends[0], line, ends, (0.2, 0.0), tendon.enabled)
        if tendon.drive is not None:
            self._drive(tendon)

    def _rest(self, tendon: TendonRecord) -> tuple[float, float]:
        """Return the rest interval of a tendon's spring."""
        p = tendon.properties
        rest = (p.spring_lower, p.spring_upper)
        if math.isnan(rest[0]):
            rest = self._reference(tendon), self._reference(tendon)
        if rest == (_AUTOMATIC, _AUTOMATIC):
            return _NEAREST, _NEAREST
        return self._finite(tendon, "spring", rest)

    def _limit(self, tendon: TendonRecord, element: mujoco.MjsTendon) -> None:
        p = tendon.properties
        element.limited = _TRUE
        element.range = self._interval(tendon, "limit", (p.lower_limit, p.upper_limit))
        element.margin = p.limit_margin
        row = self._bilateral((p.position_correction, p.limit_compliance), tendon.name)
        element.solref_limit, element.solimp_limit = row.solref, row.solimp
        if self._world.limits == "predictive":
            self._tell(tendon.name, "its limits don't look ahead: a step passes them by up to v h")

    def _drive(self, tendon: TendonRecord) -> None:
        p, drive, on = tendon.properties, tendon.drive, float(tendon.enabled)
        assert drive is not None
        actuator = self._spec.actuator(drive_name(tendon.name))
        actuator.biasprm[1:3] = -drive.position_gain, -drive.velocity_gain
        actuator.gear[0] = on
        bounds = (p.actuation_lower, p.actuation_upper)
        actuator.forcelimited = _FALSE
        if bounds != (-math.inf, math.inf):
            actuator.forcelimited = _TRUE
            actuator.forcerange = self._interval(tendon, "actuation", bounds)
            if drive.position_gain > 0.0 or drive.velocity_gain > 0.0:
                self._tell(
                    tendon.name, "the bounds of its servo are those of the force at a step's start"
                )
        if drive.activation_time > 0.0:
            self._tell(
                tendon.name, "its activation time is left out: a feed-forward force acts at once"
            )

    def _couple(self, coupling: CouplingRecord, on: bool) -> None:
        """Say a coupling from the reference lengths by one from MuJoCo's own."""
        tendons = {tendon.name: tendon for tendon in self._scene.tendons}
        first, p = tendons[coupling.first], coupling.properties
        curve = np.polynomial.Polynomial(p.coefficients)
        if coupling.second is not None:
            second = tendons[coupling.second]
            shift = self._lengths[second.name] - self._reference(second)
            curve = curve(np.polynomial.Polynomial([shift, 1.0]))
        data = np.zeros(5)
        data[: len(curve.coef)] = curve.coef
        data[0] += self._reference(first) - self._lengths[first.name]
        self._equal(
            coupling_name(coupling), data, (first.name, coupling.second),
            (p.position_correction, p.compliance), on and p.enabled,
        )  # fmt: skip

    def _equal(
        self,
        name: str,
        data: np.ndarray | tuple[float, ...],
        ends: tuple[str, str | None],
        law: tuple[float, float],
        on: bool,
    ) -> None:
        """Fill an equality between two tendons, with correction and compliance."""
        equality = self._spec.equality(name)
        equality.data[:5] = data
        row = self._bilateral(law, *filter(None, ends))
        equality.solref, equality.solimp, equality.active = row.solref, row.solimp, on

    def _bilateral(self, law: tuple[float, float], *names: str) -> rows.Row:
        """Return the row between tendons with a correction and a compliance."""
        weight = self._weight(law[1], *names)
        return rows.bilateral(weight, self._h, law[0], law[1], self._discrete)

    def _weight(self, compliance: float, *names: str) -> float:
        """Return the inverse inertia that MuJoCo will find for a row between tendons, 1/kg."""
        weight = sum(self._weights[name] for name in names)
        if 0.0 < weight < rows.inertia_for(0.0, self._h, compliance, self._discrete):
            self._tell(
                " and ".join(names), f"a compliance of {compliance:g} is cut to MuJoCo's greatest"
            )
        return weight

    def _reference(self, tendon: TendonRecord) -> float:
        assert tendon.reference is not None  # records of a simulation have it
        return tendon.reference

    def _interval(
        self, tendon: TendonRecord, what: str, bounds: tuple[float, float]
    ) -> tuple[float, float]:
        """Return bounds as MuJoCo takes them: finite, and not equal."""
        lower, upper = self._finite(tendon, what, bounds)
        least = lower + _NARROW * max(1.0, abs(lower))
        if upper < least:
            self._tell(tendon.name, f"equal ends of its {what} interval are put 1e-12 apart")
        return lower, max(upper, least)

    def _finite(
        self, tendon: TendonRecord, what: str, bounds: tuple[float, float]
    ) -> tuple[float, float]:
        """Return bounds with a great number for an infinite end, which MuJoCo's XML cannot say."""
        lower, upper = bounds
        if math.isfinite(lower) and math.isfinite(upper):
            return bounds
        great = _FAR + 2.0 * max(abs(end) for end in (*bounds, 0.0) if math.isfinite(end))
        self._tell(tendon.name, f"{great:g} stands for the infinite end of its {what} interval")
        return max(lower, -great), min(upper, great)

    def _tell(self, name: str, message: str) -> None:
        self.told.append(f"tendon {name}: {message}")

    def _add_key(self) -> None:
        data, model = self._world.data, self._world.model
        ctrl = data.ctrl.copy()
        for tendon in self._scene.tendons:
            if tendon.drive is not None:
                start = model.actuator_ctrladr[model.actuator(drive_name(tendon.name)).id]
                d = tendon.drive
                force = tendon.activation if d.activation_time > 0.0 else d.force
                ctrl[start : start + 3] = d.target_length, d.target_velocity, force
        self._spec.add_key(
            name=KEY, time=data.time, qpos=data.qpos, qvel=data.qvel, act=data.act, ctrl=ctrl,
            mpos=data.mocap_pos.ravel(), mquat=data.mocap_quat.ravel(),
        )  # fmt: skip


def _without_prefix(text: str) -> str:
    """Return MJCF with other names for what a world added, so that a world can be made of it."""
    fresh = "added_"
    while f'"{fresh}' in text:
        fresh += "_"
    return re.sub(rf"""(=["']){PREFIX}""", rf"\g<1>{fresh}", text)
