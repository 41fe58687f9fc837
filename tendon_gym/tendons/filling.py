"""The parameters of a scene in a compiled model: everything that needs no other structure.

Written in one go after every change, so that a model holds what the scene says and nothing else.
MuJoCo's own checks would refuse some of it (bounds that exclude 0 or are equal, a rest length of
-1), and its XML cannot say it; its arrays take it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.tendons import rows
from tendon_gym.tendons.building import coupling_name, drive_name, lock_name, rotor_name
from tendon_gym.tendons.scene import Scene, TendonRecord

_AUTOMATIC = -1.0
"""The rest length that MuJoCo takes for "the length at qpos_spring"."""


class Wiring(NamedTuple):
    """Where the parts of a scene are in a compiled model; -1 where a tendon has no such part.

    Attributes:
        first: index of the first of the scene's tendons.
        actuators: (t,).
        locks: (t,), equalities.
        rotors: (t,), equalities.
        rotor_joints: (t,).
        couplings: (c,), equalities.
    """

    first: int
    actuators: NDArray[np.int64]
    locks: NDArray[np.int64]
    rotors: NDArray[np.int64]
    rotor_joints: NDArray[np.int64]
    couplings: NDArray[np.int64]


def wiring(model: mujoco.MjModel, scene: Scene) -> Wiring:
    """Return where the parts of a scene are in the model that was built from it."""
    objects = mujoco.mjtObj

    def ids(kind: mujoco.mjtObj, names: list[str]) -> NDArray[np.int64]:
        return np.array([mujoco.mj_name2id(model, kind, name) for name in names], np.int64)

    names = [tendon.name for tendon in scene.tendons]
    return Wiring(
        mujoco.mj_name2id(model, objects.mjOBJ_TENDON, names[0]) if names else model.ntendon,
        ids(objects.mjOBJ_ACTUATOR, [drive_name(name) for name in names]),
        ids(objects.mjOBJ_EQUALITY, [lock_name(name) for name in names]),
        ids(objects.mjOBJ_EQUALITY, [rotor_name(name) for name in names]),
        ids(objects.mjOBJ_JOINT, [rotor_name(name) for name in names]),
        ids(objects.mjOBJ_EQUALITY, [coupling_name(each) for each in scene.couplings]),
    )


class Filling:
    """Writes parameters of a scene to a model and to the records of the laws."""

    def __init__(
        self,
        model: mujoco.MjModel,
        wires: Wiring,
        references: NDArray[np.float64],
        inertias: NDArray[np.float64],
        native_limits: bool,
    ) -> None:
        """Write to `model`, with the reference lengths (t,), m, and inverse inertias (ntendon,)."""
        self._model, self._wires, self._references = model, wires, references
        self._inertias = inertias
        self._native = native_limits
        self._h = float(model.opt.timestep)
        self._discrete = model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
        self._implicit = model.opt.integrator != mujoco.mjtIntegrator.mjINT_EULER

    def fill(self, scene: Scene, law: NDArray, active: NDArray) -> None:
        """Write all parameters.

        Args:
            scene: what to write.
            law: LAW (t,), written.
            active: (neq,), MjData's eq_active or rows of a batch's; written.
        """
        self._weigh(scene)
        enabled = {tendon.name: tendon.enabled for tendon in scene.tendons}
        for k, tendon in enumerate(scene.tendons):
            self._fill_passive(k, tendon)
            self._fill_friction(k, tendon)
            self._fill_limits(k, tendon, law[k : k + 1])
            self._fill_drive(k, tendon, law[k : k + 1])
            self._fill_lock(k, tendon, active)
            self._fill_rotor(k, tendon, active)
        for k, coupling in enumerate(scene.couplings):
            p, equality = coupling.properties, int(self._wires.couplings[k])
            on = p.enabled and enabled[coupling.first]
            if coupling.second is not None:
                on = on and enabled[coupling.second]
            self._fill_equality(
                equality, p.coefficients, p.position_correction, p.compliance, on, active
            )

    def _weigh(self, scene: Scene) -> None:
        """Give the tendons inverse inertias with which their compliances are possible, 1/kg."""
        weights = self._model.tendon_invweight0
        weights[:] = self._inertias
        softest = [
            max(tendon.properties.limit_compliance, tendon.properties.friction_compliance)
            for tendon in scene.tendons
        ]
        numbers = {tendon.name: k for k, tendon in enumerate(scene.tendons)}
        for coupling in scene.couplings:
            k = numbers[coupling.first]
            softest[k] = max(softest[k], coupling.properties.compliance)
        for k, compliance in enumerate(softest):
            t = self._wires.first + k
            if weights[t] > 0.0:  # else MuJoCo drops its rows
                weights[t] = rows.inertia_for(weights[t], self._h, compliance, self._discrete)
        for equality in self._wires.rotors[self._wires.rotors >= 0]:
            rotor = self._ends(equality)[0]
            weights[rotor] = rows.inertia_for(weights[rotor], self._h, 0.0, self._discrete)

    def _ends(self, equality: int) -> tuple[int, int]:
        """Return the tendons of an equality; the second may be -1."""
        return int(self._model.eq_obj1id[equality]), int(self._model.eq_obj2id[equality])

    def _fill_passive(self, k: int, tendon: TendonRecord) -> None:
        model, t, p = self._model, self._wires.first + k, tendon.properties
        model.tendon_length0[t] = reference = self._references[k]
        automatic = math.isnan(p.spring_lower)
        rest = (reference, reference) if automatic else (p.spring_lower, p.spring_upper)
        if rest == (_AUTOMATIC, _AUTOMATIC):
            rest = (math.nextafter(_AUTOMATIC, -2.0),) * 2
        model.tendon_lengthspring[t] = rest
        on = float(tendon.enabled)
        model.tendon_stiffness[t] = on * p.stiffness
        model.tendon_damping[t] = on * p.damping
        model.tendon_armature[t] = 0.0 if tendon.geared else on * p.armature
        model.tendon_width[t] = p.width
        model.tendon_rgba[t] = p.color

    def _fill_friction(self, k: int, tendon: TendonRecord) -> None:
        model, t, p = self._model, self._wires.first + k, tendon.properties
        model.tendon_frictionloss[t] = p.friction_loss if tendon.enabled else 0.0
        row = rows.friction(self._inertia(t), self._h, p.friction_compliance, self._discrete)
        model.tendon_solref_fri[t] = row.solref
        model.tendon_solimp_fri[t] = row.solimp

    def _fill_limits(self, k: int, tendon: TendonRecord, law: NDArray) -> None:
        """Write the limits; predictive ones are open until `law.limit` narrows them."""
        model, t, p = self._model, self._wires.first + k, tendon.properties
        inertia = self._inertia(t)
        row = rows.bilateral(
            inertia, self._h, p.position_correction, p.limit_compliance, self._discrete
        )
        on = tendon.enabled and p.limited
        model.tendon_limited[t] = on
        model.tendon_margin[t] = p.limit_margin if self._native else 0.0
        bounds = (p.lower_limit, p.upper_limit) if self._native else (-math.inf, math.inf)
        model.tendon_range[t] = bounds
        model.tendon_solref_lim[t] = row.solref
        model.tendon_solimp_lim[t] = row.solimp
        law["predictive"] = on and not self._native
        law["lower"] = p.lower_limit + p.limit_margin
        law["upper"] = p.upper_limit - p.limit_margin
        law["correction"] = p.position_correction
        law["stiffness"], law["damping"], law["impedance"] = row
        law["ahead"] = d = rows.impedance(inertia, p.limit_compliance / self._h**2)
        law["softness"] = 0.0
        if p.limit_compliance == 0.0 and inertia > 0.0:
            softness = inertia * (1.0 - d) / d
            law["softness"] = softness / (self._inertias[t] + softness)

    def _fill_drive(self, k: int, tendon: TendonRecord, law: NDArray) -> None:
        model, p, actuator = self._model, tendon.properties, int(self._wires.actuators[k])
        law["control"], law["bounded"] = -1, 0
        if tendon.drive is None:
            return
        drive, on = tendon.drive, float(tendon.enabled)
        model.actuator_biasprm[actuator, 1:3] = -on * drive.position_gain, -on * drive.velocity_gain
        bounds = (p.actuation_lower, p.actuation_upper) if tendon.enabled else (0.0, 0.0)
        model.actuator_forcerange[actuator] = bounds
        law["least"], law["most"] = bounds
        law["position_gain"], law["velocity_gain"] = drive.position_gain, drive.velocity_gain
        law["actuator"], law["output"] = actuator, model.actuator_outadr[actuator]
        servo = drive.position_gain > 0.0 or drive.velocity_gain > 0.0
        open_ended = bounds == (-math.inf, math.inf)
        law["bounded"] = self._implicit and servo and not open_ended and bounds[0] < bounds[1]
        law["force"] = drive.force
        law["target_length"], law["target_velocity"] = drive.target_length, drive.target_velocity
        time = drive.activation_time
        law["decay"] = math.exp(-self._h / time) if time > 0.0 else 0.0
        if tendon.enabled:
            law["control"] = model.actuator_ctrladr[actuator]

    def _fill_lock(self, k: int, tendon: TendonRecord, active: NDArray) -> None:
        if (equality := int(self._wires.locks[k])) < 0:
            return
        p = tendon.properties
        shift = (p.lower_limit - float(self._references[k]), 0.0, 0.0, 0.0, 0.0)
        self._fill_equality(
            equality, shift, p.position_correction, p.limit_compliance, tendon.enabled, active
        )

    def _fill_rotor(self, k: int, tendon: TendonRecord, active: NDArray) -> None:
        if (equality := int(self._wires.rotors[k])) < 0:
            return
        one_to_one = (0.0, 1.0, 0.0, 0.0, 0.0)
        self._fill_equality(equality, one_to_one, 0.2, 0.0, tendon.enabled, active)

    def _fill_equality(
        self,
        equality: int,
        coefficients: tuple[float, float, float, float, float],
        correction: float,
        compliance: float,
        on: bool,
        active: NDArray,
    ) -> None:
        model = self._model
        first, second = self._ends(equality)
        inertia = self._inertia(first) + (self._inertia(second) if second >= 0 else 0.0)
        row = rows.bilateral(inertia, self._h, correction, compliance, self._discrete)
        model.eq_data[equality, :5] = coefficients
        model.eq_solref[equality], model.eq_solimp[equality] = row.solref, row.solimp
        model.eq_active0[equality] = on
        active[..., equality] = on

    def _inertia(self, tendon: int) -> float:
        """Return the inverse inertia of a tendon of the model, 1/kg."""
        return float(self._model.tendon_invweight0[tendon])
