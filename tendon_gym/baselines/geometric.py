"""The classical controllers: a geometric law for the base, the tendon allocation for the arm.

They fly as the paper's controller does, thrusts and tensions at every physics step, but see only
the observation, like every other policy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym.baselines.policy import Action, Env, View, as_batch
from tendon_gym.control import (
    LAW_FULL,
    LAW_PAPER,
    PAPER_GAINS,
    GeometricGains,
    TendonAllocation,
    Vehicle,
    allocate,
    geometric_law,
    setpoints,
)
from tendon_gym.control.mixer import Mixer, mix
from tendon_gym.envs.rest_tips import bend_toward
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
        core = env.core
        self.name, self.interface = name, interface(env.task.entry)
        self._law, self._gains, self._dt = law, gains.record(), core.step_time
        layout = core.layout
        self._view = View(env.observation_layout)
        self._allocation = allocation or TendonAllocation.of(
            layout.tendon_angles, layout.tendon_radii, layout.tension_max
        )
        self._rest_tips, self._tension_max = core.rest_tips, layout.tension_max
        self._mixer = Mixer.of(core.model) if layout.free else None
        self._vehicle = Vehicle.of(layout.mass, layout.inertia, layout.gravity).record()
        self._hover = layout.mass * layout.gravity / max(len(layout.rotor_actuators), 1)

    def predict(
        self,
        observation: NDArray[np.float32],
        state: NDArray | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, NDArray]:
        """Return thrusts and tensions as actions; see `Policy.predict`."""
        rows, single = as_batch(observation)
        integral = np.zeros((len(rows), 3)) if state is None else state.copy()
        if episode_start is not None:
            integral[episode_start] = 0.0
        parts = [self._tensions(rows)]
        if self._mixer is not None:
            parts.insert(0, self._thrusts(rows, integral))
        actions = np.concatenate(parts, axis=1).astype(np.float32)
        return (actions[0] if single else actions), integral

    def _thrusts(self, observation: NDArray, integral: NDArray) -> NDArray:
        """Return the rotor part of the actions; the integral goes on."""
        n, view = len(observation), self._view
        setpoint = setpoints(n)
        # errors are observed, so the base itself may stand for the origin
        velocity = view(observation, "velocity", 3)
        setpoint["position"] = view(observation, "position_error", 3)
        if "velocity_error" in view:
            setpoint["velocity"] = velocity + view(observation, "velocity_error", 3)
        for name in ("acceleration", "jerk", "snap"):
            setpoint[name] = view(observation, "reference_" + name, 3)
        rotation = view(observation, "rotation", 9).reshape(n, 3, 3)
        heading = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
        setpoint["yaw"] = heading + view(observation, "yaw_error", 1)[:, 0]
        setpoint["yaw_rate"] = view(observation, "reference_yaw_rate", 1)[:, 0]
        setpoint["yaw_acceleration"] = view(observation, "reference_yaw_acceleration", 1)[:, 0]
        force, torque = np.empty(n), np.empty((n, 3))
        geometric_law(
            np.zeros((n, 3)), velocity, rotation, view(observation, "angular_velocity", 3),
            setpoint, np.zeros((1, 3)), integral, self._gains, self._vehicle, self._dt, self._law,
            force, torque,
        )  # fmt: skip
        mixer = self._mixer
        assert mixer is not None
        thrust = np.empty((n, len(mixer.low)))
        mix(mixer.inverse, force, torque, mixer.low, mixer.high, thrust)
        above = (thrust - self._hover) / (mixer.high - self._hover)
        return np.where(thrust < self._hover, thrust / self._hover - 1.0, above)

    def _tensions(self, observation: NDArray) -> NDArray:
        """Return the tendon part: the bend that is asked for, or that reaches the tip."""
        bend = self._view(observation, "reference_bend", 2)
        if "tip_goal" in self._view:
            goals = self._view(observation, "tip_goal", 3)
            bend = np.array([bend_toward(goal, self._rest_tips) for goal in goals])
        tensions = np.empty((len(observation), len(self._tension_max)))
        allocate(bend, self._allocation.tendons(), self._allocation.record(), tensions)
        return 2.0 * tensions / self._tension_max - 1.0


def geometric_paper(env: Env) -> Geometric:
    """Return the paper's controller: no desired angular velocity, no gyroscopic term."""
    return Geometric(env, "geometric_paper", LAW_PAPER)


def geometric_full(env: Env) -> Geometric:
    """Return the full law of Lee, Leok and McClamroch 2010 with the paper's gains."""
    return Geometric(env, "geometric_full", LAW_FULL)
