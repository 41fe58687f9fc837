"""The force that a tendon has carried in the last step, by its parts.

Positive forces lengthen the tendon; the tension is the negative of the sum. A part is what the step
used: h times the sum, along the tendon's Jacobian, is the change of momentum. The integrators
implicit and implicitfast keep that for tendons in one chain of joints: of others they drop the part
of dampers and servos that couples the chains, so that what acts is not along the Jacobian at all,
and what is told is the law's.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.tendons.simulation import Simulation

Array = NDArray[np.float64]

_ROWS = mujoco.mjtConstraint
_INTEGRATORS = mujoco.mjtIntegrator


class TendonForces(NamedTuple):
    """What one tendon has carried in the last step, N; positive forces lengthen it.

    Attributes:
        spring: of the spring.
        damper: of the viscous damping.
        actuator: of the drive.
        limit: of limits, or of the lock.
        friction: of dry friction.
        coupling: of all couplings that hold the tendon.
        total: the sum of them.
    """

    spring: float
    damper: float
    actuator: float
    limit: float
    friction: float
    coupling: float
    total: float


class Forces(NamedTuple):
    """Parts of the forces of tendons (t,), N; and of couplings (c,), each for its first tendon."""

    spring: Array
    damper: Array
    actuator: Array
    limit: Array
    friction: Array
    coupling: Array
    couplings: Array

    @property
    def total(self) -> Array:
        """(t,), N."""
        return np.sum(self[:6], axis=0)

    def of(self, k: int) -> TendonForces:
        """Return the parts of tendon k."""
        spring, damper, actuator, limit, friction, coupling = (float(part[k]) for part in self[:6])
        total = float(self.total[k])
        return TendonForces(spring, damper, actuator, limit, friction, coupling, total)


def no_forces(tendons: int, couplings: int) -> Forces:
    """Return zeros: before the first step nothing has been carried."""
    parts = np.zeros((6, tendons))
    return Forces(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], np.zeros(couplings))


def collect(simulation: Simulation) -> Forces:
    """Return the forces of the step that the data of a simulation holds.

    To be called before anything else is computed on that data.
    """
    model, data, wires = simulation.model, simulation.data, simulation.wires
    count = len(wires.actuators)
    ours = slice(wires.first, wires.first + count)
    before, after = data.ten_velocity.copy(), _velocities_after(simulation)
    spring, damper = _passive(simulation, before, after)
    equality = _equality_forces(model, data)
    limit, friction = _row_forces(model, data)
    coupling = _coupling_forces(simulation, equality)
    lock = np.where(wires.locks >= 0, equality[wires.locks] if model.neq else 0.0, 0.0)
    return Forces(
        spring[ours],
        damper[ours],
        _drive_forces(simulation, before, after),
        limit[ours] + lock,
        friction[ours],
        coupling[ours],
        equality[wires.couplings] if len(wires.couplings) else np.zeros(0),
    )


def _velocities_after(simulation: Simulation) -> Array:
    """Return the velocities (ntendon,) that the integrator's implicit terms have used, m/s."""
    model, data = simulation.model, simulation.data
    if model.opt.integrator == _INTEGRATORS.mjINT_EULER:
        return data.ten_velocity.copy()
    if model.opt.integrator == _INTEGRATORS.mjINT_DISCRETE:
        return data.ten_velocity + model.opt.timestep * simulation.rates(data.qacc)
    return simulation.rates(data.qvel)


def _passive(simulation: Simulation, before: Array, after: Array) -> tuple[Array, Array]:
    """Return the forces of springs and dampers (ntendon,), N.

    The discrete integrator takes the spring at the end of the step, but its activity at the start.
    """
    model, data = simulation.model, simulation.data
    lower, upper = model.tendon_lengthspring.T
    stretch = data.ten_length - np.clip(data.ten_length, lower, upper)
    spring = -model.tendon_stiffness * stretch
    if model.opt.integrator == _INTEGRATORS.mjINT_DISCRETE:
        spring -= model.opt.timestep * model.tendon_stiffness * (stretch != 0.0) * after
    return spring, -model.tendon_damping * after


def _drive_forces(simulation: Simulation, before: Array, after: Array) -> Array:
    """Return the forces of the drives (t,), N, with the implicit terms of servos.

    One that is at a bound is left alone; see `bounds`.
    """
    model, data, wires = simulation.model, simulation.data, simulation.wires
    result = np.zeros(len(wires.actuators))
    implicit = model.opt.integrator != _INTEGRATORS.mjINT_EULER
    discrete = model.opt.integrator == _INTEGRATORS.mjINT_DISCRETE
    for k in np.flatnonzero(wires.actuators >= 0):
        actuator, t = wires.actuators[k], wires.first + k
        force = data.actuator_force[model.actuator_outadr[actuator]]
        if implicit and force not in model.actuator_forcerange[actuator]:
            position_gain, velocity_gain = -model.actuator_biasprm[actuator, 1:3]
            force -= velocity_gain * (after[t] - before[t])
            if discrete:
                force -= position_gain * model.opt.timestep * after[t]
        result[k] = force
    return result


def _row_forces(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[Array, Array]:
    """Return the forces of limits and dry friction (ntendon,), N."""
    limit, friction = np.zeros(model.ntendon), np.zeros(model.ntendon)
    if data.nefc == 0:
        return limit, friction
    kinds, ids, forces = data.efc_type, data.efc_id, data.efc_force
    dry = kinds == int(_ROWS.mjCNSTR_FRICTION_TENDON)
    np.add.at(friction, ids[dry], forces[dry])
    rows = np.flatnonzero(kinds == int(_ROWS.mjCNSTR_LIMIT_TENDON))
    lower = data.ten_length - model.tendon_range[:, 0]
    for row in rows:
        t = ids[row]
        # the row of the lower limit has that distance, bit for bit, and comes before the other
        is_lower = data.efc_pos[row] == lower[t] and not (
            row > 0 and row - 1 in rows and ids[row - 1] == t
        )
        limit[t] += forces[row] if is_lower else -forces[row]
    return limit, friction


def _equality_forces(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return the multipliers of all equalities (neq,) between tendons, N."""
    result = np.zeros(model.neq)
    if data.nefc:
        rows = data.efc_type == int(_ROWS.mjCNSTR_EQUALITY)
        rows &= np.isin(data.efc_id, np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_TENDON))
        result[data.efc_id[rows]] = data.efc_force[rows]
    return result


def _coupling_forces(simulation: Simulation, multipliers: Array) -> Array:
    """Return what couplings put on the tendons (ntendon,): lambda, and -f'(x) lambda, N."""
    model, data = simulation.model, simulation.data
    result = np.zeros(model.ntendon)
    for equality in simulation.wires.couplings:
        first, second = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        result[first] += multipliers[equality]
        if second >= 0:
            x = data.ten_length[second] - model.tendon_length0[second]
            c = model.eq_data[equality, :5]
            slope = c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]))
            result[second] -= slope * multipliers[equality]
    return result
