"""Action interfaces: what the numbers of an action mean, and the loops that run below them.

An action is an array in [-1, 1]: a rotor part, then a tendon part. It is decoded once per
control step; the inner loops of all rotor actions but "thrust" run before every physics step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.compiled import Prepared, compiled
from tendon_gym.control import (
    LAW_FULL,
    LAW_PAPER,
    GeometricGains,
    TendonAllocation,
    Vehicle,
)
from tendon_gym.control.allocation import allocate_one
from tendon_gym.control.laws import acceleration_one, attitude_command_one, geometric_one, rate_one
from tendon_gym.control.mixer import Mixer, mix_one
from tendon_gym.control.setpoint import setpoints
from tendon_gym.envs.schedule import Schedule
from tendon_gym.model import Layout
from tendon_gym.references.table import evaluate_one
from tendon_gym.spatial import frame_of, quaternion, store_columns

THRUST, BODY_RATE, ATTITUDE, ACCELERATION, RESIDUAL, NO_ROTORS = range(6)
ROTOR_ACTIONS = {
    "thrust": THRUST,
    "body_rate": BODY_RATE,
    "attitude": ATTITUDE,
    "acceleration": ACCELERATION,
    "residual": RESIDUAL,
    "none": NO_ROTORS,
}
TENSION, BEND, REFERENCE = range(3)
TENDON_ACTIONS = {"tension": TENSION, "bend": BEND, "reference": REFERENCE}
LAWS = {"paper": LAW_PAPER, "full": LAW_FULL}

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class ActionConfig:
    """What full deflection means, and the law of the inner loops.

    Attributes:
        body_rate: rad/s about the body's x, y, z.
        tilt: rad, of roll and of pitch.
        yaw_rate: rad/s.
        acceleration: m/s^2, along the world's x, y, z.
        residual: m/s^2, added to what the tracking law commands.
        law: "full" (Lee et al. 2010) or "paper" (without the desired angular velocity).
        gains: of the inner loops.
    """

    body_rate: Triple = (6.0, 6.0, 3.0)
    tilt: float = math.radians(35.0)
    yaw_rate: float = 2.0
    acceleration: Triple = (6.0, 6.0, 6.0)
    residual: Triple = (4.0, 4.0, 4.0)
    law: str = "full"
    gains: GeometricGains = GeometricGains()

    def __post_init__(self) -> None:
        """Reject scales that are not positive."""
        for name in ("body_rate", "acceleration", "residual"):
            checks.array(f"action.{name}", getattr(self, name), (3,), minimum=0.0)
        checks.number("action.tilt", self.tilt, above=0.0, below=math.pi / 2)
        checks.number("action.yaw_rate", self.yaw_rate, minimum=0.0)
        checks.choice("action.law", self.law, LAWS)


class ActionInterface:
    """Turns actions into controls for n simulations; call it as the engine's control law.

    Attributes:
        size: length of an action.
        held: whether the controls stay constant during a control step, so that no loop runs.
        command: (n, 4 + tendons): the rotor part in physical units (thrusts in N; collective in
            N and rad/s; collective in N, rad and rad/s; m/s^2 and rad/s), then tensions in N.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        layout: Layout,
        schedule: Schedule,
        rotor_action: str,
        tendon_action: str,
        config: ActionConfig,
        n: int,
    ) -> None:
        """Prepare the inner loops; the names must be legal for the task."""
        self._rotor, self._tendon = ROTOR_ACTIONS[rotor_action], TENDON_ACTIONS[tendon_action]
        self._layout = layout
        rotor_size = 0 if self._rotor == NO_ROTORS else 4
        tendons = len(layout.tendon_actuators)
        tendon_size = {TENSION: tendons, BEND: 2, REFERENCE: 0}[self._tendon]
        self.size = rotor_size + tendon_size
        self.held = self._rotor in (THRUST, NO_ROTORS) and self._tendon != REFERENCE
        allocation = TendonAllocation.of(
            layout.tendon_angles, layout.tendon_radii, layout.tension_max
        )
        self.full_moment = allocation.authority
        self._tendons, self._allocation = allocation.tendons(), allocation.record()
        self._set_up_rotors(model, config)
        self.command = np.zeros((n, 4 + tendons))
        self._integral, self._heading = np.zeros((n, 3)), np.zeros(n)
        self._prepare(model.opt.timestep, schedule)

    def _set_up_rotors(self, model: mujoco.MjModel, config: ActionConfig) -> None:
        layout = self._layout
        self._law, self._gains = LAWS[config.law], config.gains.record()
        self._vehicle = Vehicle.of(layout.mass, layout.inertia, layout.gravity).record()
        self._low = self._high = np.zeros(0)
        self._inverse, self._hover = np.zeros((0, 4)), 0.0
        self._scale = np.zeros(4)
        if self._rotor == NO_ROTORS:
            return
        rotors = Mixer.of(model)
        self._inverse, self._low, self._high = rotors.inverse, rotors.low, rotors.high
        self._hover = layout.mass * layout.gravity / len(rotors.low)
        self._scale = np.array(
            {
                THRUST: (0.0, 0.0, 0.0, 0.0),
                BODY_RATE: (0.0, *config.body_rate),
                ATTITUDE: (0.0, config.tilt, config.tilt, config.yaw_rate),
                ACCELERATION: (*config.acceleration, config.yaw_rate),
                RESIDUAL: (*config.residual, config.yaw_rate),
            }[self._rotor]
        )

    def _prepare(self, timestep: float, schedule: Schedule) -> None:
        """Bring the kernels together with all that they work on."""
        layout = self._layout
        self._bound_ctrl = self._bound_qpos = None
        self.decode = Prepared(
            _decode,
            self._rotor,
            self._tendon,
            self._hover,
            self._high,
            self._scale,
            self._tendons,
            self._allocation,
            layout.rotor_actuators,
            layout.tendon_actuators,
            self.command,
        )
        """Turn actions (n, size) in [-1, 1] into commands; write what is held to ctrl (n, nu), and
        what ctrl was before to a third array."""
        self._control = Prepared(
            _control,
            self._rotor,
            self._tendon,
            self._law,
            timestep,
            schedule.phase,
            schedule.rows,
            schedule.first,
            schedule.count,
            setpoints(1),
            self.command,
            self._integral,
            self._heading,
            self._gains,
            self._vehicle,
            self._inverse,
            self._low,
            self._high,
            self._tendons,
            self._allocation,
            layout.rotor_actuators,
            layout.tendon_actuators,
        )

    def reset(self, ids: NDArray, rotation: NDArray) -> None:
        """Clear the integrals of the simulations `ids` and take their heading from `rotation`."""
        self._integral[ids] = 0.0
        self._heading[ids] = np.arctan2(rotation[ids, 1, 0], rotation[ids, 0, 0])

    def __call__(self, time: NDArray, qpos: NDArray, qvel: NDArray, ctrl: NDArray) -> None:
        """Run the inner loops at one physics step; see `engines.engine.ControlLaw`."""
        if ctrl is not self._bound_ctrl or qpos is not self._bound_qpos:
            self._bound_ctrl, self._bound_qpos = ctrl, qpos
            self._run = self._control.bound(time, qpos, qvel, ctrl)
        self._run()


@compiled
def thrust_of(a: float, hover: float, high: float) -> float:
    """Return the thrust, N, of an action: -1 gives 0, 0 the hover thrust, +1 the largest."""
    if a < 0.0:
        return hover * (1.0 + a)
    return hover + a * (high - hover)


@compiled
def _decode(
    action: NDArray,
    ctrl: NDArray,
    last_ctrl: NDArray,
    rotor: int,
    tendon: int,
    hover: float,
    high: NDArray,
    scale: NDArray,
    tendons: NDArray,
    allocation: NDArray,
    rotor_actuators: NDArray,
    tendon_actuators: NDArray,
    command: NDArray,
) -> None:
    first = 0 if rotor == NO_ROTORS else 4
    for i in range(action.shape[0]):
        a = action[i]
        for k in range(ctrl.shape[1]):
            last_ctrl[i, k] = ctrl[i, k]
        if rotor == THRUST:
            for k in range(4):
                command[i, k] = thrust_of(a[k], hover, high[k])
                ctrl[i, rotor_actuators[k]] = command[i, k]
        elif rotor != NO_ROTORS:
            for k in range(4):
                command[i, k] = scale[k] * a[k]
            if rotor != ACCELERATION and rotor != RESIDUAL:
                command[i, 0] = thrust_of(a[0], 4.0 * hover, high.sum())
        if tendon == TENSION:
            for k in range(tendons.shape[0]):
                command[i, 4 + k] = 0.5 * (a[first + k] + 1.0) * tendons["tension_max"][k]
        elif tendon == BEND:
            allocate_one(a[first : first + 2], tendons, allocation[0], command[i, 4:])
        if tendon != REFERENCE:
            for k in range(tendons.shape[0]):
                ctrl[i, tendon_actuators[k]] = command[i, 4 + k]


@compiled
def _control(
    time: NDArray,
    qpos: NDArray,
    qvel: NDArray,
    ctrl: NDArray,
    rotor: int,
    tendon: int,
    law: int,
    dt: float,
    phase: NDArray,
    rows: NDArray,
    first: NDArray,
    count: NDArray,
    setpoint: NDArray,
    command: NDArray,
    integral: NDArray,
    heading: NDArray,
    gains: NDArray,
    vehicle: NDArray,
    inverse: NDArray,
    low: NDArray,
    high: NDArray,
    tendons: NDArray,
    allocation: NDArray,
    rotor_actuators: NDArray,
    tendon_actuators: NDArray,
) -> None:
    rotation, torque, thrust = np.empty((3, 3)), np.empty(3), np.empty(rotor_actuators.shape[0])
    for i in range(ctrl.shape[0]):
        if rotor == RESIDUAL or tendon == REFERENCE:
            evaluate_one(rows, first[i], count[i], time[i] + phase[i], setpoint, 0)
        if tendon == REFERENCE:
            allocate_one(setpoint["bend"][0], tendons, allocation[0], command[i, 4:])
            for k in range(tendons.shape[0]):
                ctrl[i, tendon_actuators[k]] = command[i, 4 + k]
        if rotor == THRUST or rotor == NO_ROTORS:
            continue
        store_columns(frame_of(quaternion(qpos[i, 3:7])), rotation)
        force = _flight_law(
            rotor, law, dt, command[i], setpoint, qpos[i, :3], qvel[i, :3], rotation,
            qvel[i, 3:6], integral[i], heading[i], gains[0], vehicle[0], torque,
        )  # fmt: skip
        if rotor == ATTITUDE or rotor == ACCELERATION:
            heading[i] += dt * command[i, 3]
        mix_one(inverse, force, torque, low, high, thrust)
        for k in range(thrust.shape[0]):
            ctrl[i, rotor_actuators[k]] = thrust[k]


@compiled
def _flight_law(
    rotor: int,
    law: int,
    dt: float,
    command: NDArray,
    setpoint: NDArray,
    position: NDArray,
    velocity: NDArray,
    rotation: NDArray,
    angular_velocity: NDArray,
    integral: NDArray,
    heading: float,
    gains: np.void,
    vehicle: np.void,
    torque: NDArray,
) -> float:
    """Write the torque of one simulation's flight law; return the collective thrust."""
    if rotor == BODY_RATE:
        rate_one(command[1:4], angular_velocity, gains, vehicle, torque)
        return command[0]
    if rotor == ATTITUDE:
        attitude_command_one(
            command[1], command[2], heading, command[3], rotation, angular_velocity, gains,
            vehicle, law, torque,
        )  # fmt: skip
        return command[0]
    if rotor == ACCELERATION:
        return acceleration_one(
            command[:3], heading, command[3], rotation, angular_velocity, gains, vehicle, law,
            torque,
        )  # fmt: skip
    # the residual turns the vehicle through the damping of the law, on top of the reference's turn
    setpoint["yaw_rate"][0] += command[3]
    return geometric_one(
        position, velocity, rotation, angular_velocity, setpoint[0], command[:3], integral, gains,
        vehicle, dt, law, torque,
    )  # fmt: skip
