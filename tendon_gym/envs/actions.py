"""Action interfaces: what the numbers of an action mean, and the loops that run below them.

An action is an array in [-1, 1]: a rotor part, then a tendon part, then the rate of the winch for
tasks that have one. It is decoded once per
control step; the inner loops of all rotor actions but "thrust" run before every physics step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.compiled import compiled
from tendon_gym.control import LAW_FULL, LAW_PAPER, GeometricGains, TendonAllocation, Vehicle
from tendon_gym.control.allocation import allocate_one
from tendon_gym.control.loops import (
    ACCELERATION,
    ATTITUDE,
    BEND,
    BODY_RATE,
    NO_ROTORS,
    REFERENCE,
    RESIDUAL,
    TENSION,
    THRUST,
    Loops,
    run_loops,
)
from tendon_gym.control.mixer import Mixer
from tendon_gym.envs.rig import Rigging
from tendon_gym.envs.schedule import Schedule
from tendon_gym.model import Layout
from tendon_gym.references.setpoint import setpoints

ROTOR_ACTIONS = {
    "thrust": THRUST,
    "body_rate": BODY_RATE,
    "attitude": ATTITUDE,
    "acceleration": ACCELERATION,
    "residual": RESIDUAL,
    "none": NO_ROTORS,
}
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


class Orders(NamedTuple):
    """What `decode` works on: actions, controls, and what `ActionInterface` and `Loops` know.

    Attributes:
        given: (n, size), numbers as they come.
        action: (n, size), the same clipped to [-1, 1].
        clipped: (n,), whether that changed anything.
        ctrl: (n, nu), N.
        last_ctrl: (n, nu), N, what ctrl was before.
        hover: N, of one rotor.
        scale: (4,), of the rotor part.
        winch: (n,), m/s, rate of the cable's rest length; (0,) without a winch.
        winch_speed: m/s, the most.
    """

    given: NDArray[np.float64]
    action: NDArray[np.float64]
    clipped: NDArray[np.bool_]
    ctrl: NDArray[np.float64]
    last_ctrl: NDArray[np.float64]
    rotor: int
    tendon: int
    hover: float
    scale: NDArray[np.float64]
    high: NDArray[np.float64]
    tendons: NDArray[np.void]
    allocation: NDArray[np.void]
    rotor_actuators: NDArray[np.int64]
    tendon_actuators: NDArray[np.int64]
    command: NDArray[np.float64]
    winch: NDArray[np.float64]
    winch_speed: float


class ActionInterface:
    """Turns actions into controls for n simulations; call it as the engine's control law.

    Attributes:
        size: length of an action.
        tendon_part: of an action.
        held: whether the controls stay constant during a control step, so that no loop runs.
        loops: what `run_loops` works on; an engine may call that itself.
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
        rig: Rigging | None = None,
    ) -> None:
        """Prepare the inner loops; the names must be legal for the task."""
        self._rotor, self._tendon = ROTOR_ACTIONS[rotor_action], TENDON_ACTIONS[tendon_action]
        self._layout = layout
        rotor_size = 0 if self._rotor == NO_ROTORS else 4
        tendons = len(layout.tendon_actuators)
        tendon_size = {TENSION: tendons, BEND: 2, REFERENCE: 0}[self._tendon]
        self.tendon_part = slice(rotor_size, rotor_size + tendon_size)
        self.size = self.tendon_part.stop + (rig is not None)
        self._winch = np.zeros(0) if rig is None else rig.rate
        self._winch_speed = 0.0 if rig is None else rig.rig.winch.speed
        self.held = self._rotor in (THRUST, NO_ROTORS) and self._tendon != REFERENCE
        allocation = TendonAllocation.of(
            layout.tendon_angles, layout.tendon_radii, layout.tension_max
        )
        self.full_moment = allocation.authority
        self._tendons, self._allocation = allocation.tendons(), allocation.record()
        self._set_up_rotors(model, config)
        self.command = np.zeros((n, 4 + tendons))
        self.loops = self._loops(config, schedule, model.opt.timestep)

    def _set_up_rotors(self, model: mujoco.MjModel, config: ActionConfig) -> None:
        layout = self._layout
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

    def _loops(self, config: ActionConfig, schedule: Schedule, timestep: float) -> Loops:
        """Bring together what the loops work on."""
        layout, n = self._layout, len(self.command)
        return Loops(
            rotor=self._rotor,
            tendon=self._tendon,
            law=LAWS[config.law],
            dt=timestep,
            phase=schedule.phase,
            rows=schedule.rows,
            first_row=schedule.first,
            row_count=schedule.count,
            command=self.command,
            integral=np.zeros((n, 3)),
            heading=np.zeros(n),
            gains=config.gains.record(),
            vehicle=Vehicle.of(layout.mass, layout.inertia, layout.gravity).record(),
            inverse=self._inverse,
            low=self._low,
            high=self._high,
            tendons=self._tendons,
            allocation=self._allocation,
            rotor_actuators=layout.rotor_actuators,
            tendon_actuators=layout.tendon_actuators,
            setpoint=setpoints(n),
            rotation=np.zeros((n, 3, 3)),
            torque=np.zeros((n, 3)),
            thrust=np.zeros((n, len(self._low))),
        )

    def orders(self, ctrl: NDArray, last_ctrl: NDArray) -> Orders:
        """Return what `decode` works on to write controls (n, nu)."""
        n, loops = len(ctrl), self.loops
        return Orders(
            np.zeros((n, self.size)), np.zeros((n, self.size)), np.zeros(n, bool), ctrl, last_ctrl,
            self._rotor, self._tendon, self._hover, self._scale, loops.high, loops.tendons,
            loops.allocation, loops.rotor_actuators, loops.tendon_actuators, self.command,
            self._winch, self._winch_speed,
        )  # fmt: skip

    def reset(self, ids: NDArray, rotation: NDArray) -> None:
        """Clear the integrals of the simulations `ids` and take their heading from `rotation`."""
        self.loops.integral[ids] = 0.0
        self.loops.heading[ids] = np.arctan2(rotation[ids, 1, 0], rotation[ids, 0, 0])

    def __call__(self, time: NDArray, qpos: NDArray, qvel: NDArray, ctrl: NDArray) -> None:
        """Run the inner loops at one physics step; see `engines.engine.ControlLaw`."""
        run_loops(0, len(ctrl), time, qpos, qvel, ctrl, self.loops)


@compiled
def thrust_of(a: float, hover: float, high: float) -> float:
    """Return the thrust, N, of an action: -1 gives 0, 0 the hover thrust, +1 the largest."""
    if a < 0.0:
        return hover * (1.0 + a)
    return hover + a * (high - hover)


@compiled
def decode(box: Any) -> int:
    """Turn the given actions of boxed `Orders` into commands, and write what is held to ctrl.

    Returns:
        -1, or where in `given`, read row by row, a number is not finite: then nothing is written.
    """
    orders = box.value
    given, action, clipped, ctrl = orders.given, orders.action, orders.clipped, orders.ctrl
    n, size = given.shape
    for i in range(n):
        for k in range(size):
            if not math.isfinite(given[i, k]):
                return i * size + k
    for i in range(n):
        clipped[i] = False
        for k in range(size):
            action[i, k] = min(max(given[i, k], -1.0), 1.0)
            clipped[i] = clipped[i] or action[i, k] != given[i, k]
        for k in range(ctrl.shape[1]):
            orders.last_ctrl[i, k] = ctrl[i, k]
        _decode_one(action[i], orders.command[i], ctrl[i], orders)
        if i < orders.winch.shape[0]:
            orders.winch[i] = orders.winch_speed * action[i, size - 1]
    return -1


@compiled
def _decode_one(a: NDArray, command: NDArray, ctrl: NDArray, orders: Any) -> None:
    rotor, tendon, tendons = orders.rotor, orders.tendon, orders.tendons
    if rotor == THRUST:
        for k in range(4):
            command[k] = thrust_of(a[k], orders.hover, orders.high[k])
            ctrl[orders.rotor_actuators[k]] = command[k]
    elif rotor != NO_ROTORS:
        for k in range(4):
            command[k] = orders.scale[k] * a[k]
        if rotor != ACCELERATION and rotor != RESIDUAL:
            command[0] = thrust_of(a[0], 4.0 * orders.hover, orders.high.sum())
    first = 0 if rotor == NO_ROTORS else 4
    if tendon == TENSION:
        for k in range(tendons.shape[0]):
            command[4 + k] = 0.5 * (a[first + k] + 1.0) * tendons["tension_max"][k]
    elif tendon == BEND:
        allocate_one(a[first : first + 2], tendons, orders.allocation[0], command[4:])
    if tendon != REFERENCE:
        for k in range(tendons.shape[0]):
            ctrl[orders.tendon_actuators[k]] = command[4 + k]
