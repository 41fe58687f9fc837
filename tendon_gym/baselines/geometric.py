"""The classical controllers: a geometric law for the base, the tendon allocation for the arm.

They fly as the paper's controller does, thrusts and tensions at every physics step, but see only
the observation, like every other policy.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.baselines.policy import Action, Env, View, as_batch
from tendon_gym.compiled import compiled
from tendon_gym.control import (
    LAW_FULL,
    LAW_PAPER,
    PAPER_GAINS,
    GeometricGains,
    Mixer,
    TendonAllocation,
    Vehicle,
    allocate,
    geometric_one,
    mix_one,
)
from tendon_gym.envs.rest_tips import bend_toward
from tendon_gym.references.setpoint import setpoints
from tendon_gym.registration import Entry

RATE = 500.0
"""Actions per second: one per physics step of the presets."""


def interface(entry: Entry) -> dict[str, Any]:
    """Return the settings that the controllers fly with."""
    rotor_action = "thrust" if "thrust" in entry.rotor_actions else "none"
    return {
        "rotor_action": rotor_action,
        "tendon_action": "tension",
        "control_frequency": RATE,
    }


READS = (
    ("position_error", 3),
    ("velocity", 3),
    ("velocity_error", 3),
    ("rotation", 9),
    ("angular_velocity", 3),
    ("yaw_error", 1),
    ("reference_acceleration", 3),
    ("reference_jerk", 3),
    ("reference_snap", 3),
    ("reference_yaw_rate", 1),
    ("reference_yaw_acceleration", 1),
)
"""The slices of the observation that the flight law reads, in the order of its kernel."""


class Geometric:
    """Tracks the reference with a law on SE(3), and bends the arm by the tendon allocation.

    The integral of the position error is the state that `predict` hands back.
    """

    def __init__(
        self,
        env: Env,
        name: str,
        law: int,
        gains: GeometricGains = PAPER_GAINS,
        allocation: TendonAllocation | None = None,
    ) -> None:
        """Read the vehicle from the environment's model, and the observation's layout.

        Args:
            env: flies with rotor_action "thrust" (or "none") and tendon_action "tension".
            name: for tables.
            law: LAW_PAPER or LAW_FULL.
            gains: of the law.
            allocation: from bends to tensions; None: the one that the model's tendons allow.
        """
        core, layout = env.core, env.core.layout
        self.name, self.interface = name, interface(env.task.entry)
        self._view = View(env.observation_layout)
        self._rest_tips = core.goals.table
        allocation = allocation or TendonAllocation.of(
            layout.tendon_angles, layout.tendon_radii, layout.tension_max
        )
        self._tendons, self._allocation = allocation.tendons(), allocation.record()
        self._rotors = len(layout.rotor_actuators)
        self._size, self._tendon_part = core.interface.size, core.interface.tendon_part
        if self._rotors:
            mixer = Mixer.of(core.model)
            self._law = (
                self._view.starts(READS),
                law,
                core.step_time,
                gains.record(),
                Vehicle.of(layout.mass, layout.inertia, layout.gravity).record(),
                mixer.inverse,
                mixer.low,
                mixer.high,
                layout.mass * layout.gravity / self._rotors,
            )

    def predict(
        self,
        observation: NDArray[np.float32],
        state: NDArray | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, NDArray]:
        """Return thrusts and tensions as actions; see `Policy.predict`."""
        rows, single = as_batch(observation)
        actions = np.zeros((len(rows), self._size), np.float32)  # a winch stands still
        integral = self._fly(rows, state, episode_start, actions)
        bend, tensions = self._bend(rows), np.empty((len(rows), len(self._tendons)))
        allocate(bend, self._tendons, self._allocation, tensions)
        actions[:, self._tendon_part] = 2.0 * tensions / self._tendons["tension_max"] - 1.0
        return (actions[0] if single else actions), integral

    def _fly(
        self,
        rows: NDArray,
        state: NDArray | None,
        episode_start: NDArray[np.bool_] | None,
        actions: NDArray,
    ) -> NDArray[np.float64]:
        """Write the rotors' part of the actions, and return the next integral (n, 3)."""
        integral = np.zeros((len(rows), 3)) if state is None else state.copy()
        if episode_start is not None:
            integral[episode_start] = 0.0
        if self._rotors:
            _thrust_actions(rows, *self._law, _scratch(self._rotors), integral, actions)
        return integral

    def _bend(self, observation: NDArray) -> NDArray[np.float64]:
        """Return the bend (n, 2) that is asked for, or that reaches the tip's goal."""
        if "tip_goal" in self._view:
            goals = self._view(observation, "tip_goal", 3)
            return np.array([bend_toward(goal, self._rest_tips) for goal in goals])
        return self._view(observation, "reference_bend", 2)


class _Scratch(NamedTuple):
    """What the flight law works in: a setpoint, zeros, four vectors, a rotation, thrusts."""

    setpoint: NDArray[np.void]
    still: NDArray[np.float64]
    vectors: NDArray[np.float64]
    rotation: NDArray[np.float64]
    thrust: NDArray[np.float64]


def _scratch(rotors: int) -> _Scratch:
    return _Scratch(setpoints(1), np.zeros(3), np.empty((4, 3)), np.empty((3, 3)), np.empty(rotors))


@compiled
def read(observation: NDArray, start: int, out: NDArray) -> None:
    """Copy a slice of one observation, or zeros where it isn't observed (start -1)."""
    for k in range(out.shape[0]):
        out[k] = observation[start + k] if start >= 0 else 0.0


@compiled
def _thrust_actions(
    observation: NDArray,
    starts: NDArray,
    law: int,
    dt: float,
    gains: NDArray,
    vehicle: NDArray,
    inverse: NDArray,
    low: NDArray,
    high: NDArray,
    hover: float,
    scratch: _Scratch,
    integral: NDArray,
    actions: NDArray,
) -> None:
    """Write the rotor part of the actions; the integral goes on."""
    setpoint, still, vectors, rotation, thrust = scratch
    velocity, spin, torque, scalars = vectors[0], vectors[1], vectors[2], vectors[3]
    for i in range(observation.shape[0]):
        o = observation[i]
        # errors are observed, so the base itself may stand for the origin
        read(o, starts[0], setpoint["position"][0])
        read(o, starts[1], velocity)
        read(o, starts[2], setpoint["velocity"][0])
        if starts[2] >= 0:
            for k in range(3):
                setpoint["velocity"][0, k] += velocity[k]
        for k in range(3):
            read(o, starts[3] + 3 * k, rotation[k])
        read(o, starts[4], spin)
        read(o, starts[5], scalars[:1])
        read(o, starts[6], setpoint["acceleration"][0])
        read(o, starts[7], setpoint["jerk"][0])
        read(o, starts[8], setpoint["snap"][0])
        read(o, starts[9], scalars[1:2])
        read(o, starts[10], scalars[2:])
        setpoint["yaw"][0] = scalars[0] + math.atan2(rotation[1, 0], rotation[0, 0])
        setpoint["yaw_rate"][0], setpoint["yaw_acceleration"][0] = scalars[1], scalars[2]
        force = geometric_one(
            still, velocity, rotation, spin, setpoint[0], still, integral[i], gains[0],
            vehicle[0], dt, law, torque,
        )  # fmt: skip
        mix_one(inverse, force, torque, low, high, thrust)
        for k in range(thrust.shape[0]):
            above = thrust[k] - hover
            actions[i, k] = above / (high[k] - hover) if above > 0.0 else above / hover


def geometric_paper(env: Env) -> Geometric:
    """Return the paper's controller: no desired angular velocity, no gyroscopic term."""
    return Geometric(env, "geometric_paper", LAW_PAPER)


def geometric_full(env: Env) -> Geometric:
    """Return the full law of Lee, Leok and McClamroch 2010 with the paper's gains."""
    return Geometric(env, "geometric_full", LAW_FULL)
