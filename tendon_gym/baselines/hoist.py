"""The classical controller of Hoist: the winch lifts, the vehicle's place along the beam aims."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_continuous_are

from tendon_gym.baselines.policy import Action, Env, View, as_batch
from tendon_gym.envs.obstacles import CYLINDER, ELLIPSOID, NAMES, TORUS
from tendon_gym.registration import Entry

RATE = 50.0
"""Actions per second."""
STIFFNESS, DAMPING = 6.0, 4.5
"""Of the vehicle's place across the beam and in height, 1/s^2 and 1/s."""
LIFT, FASTEST = 1.5, 0.35
"""Rate of the winch per height that the load lacks, 1/s, and its most, m/s."""
TURN = 2.0
"""Rate of the yaw per error, 1/s."""
PENDULUMS = {CYLINDER: (4.0, 1.0), ELLIPSOID: (4.0, 1.4), TORUS: (7.0, 0.3)}
"""The swing along the middle one of the beams of each kind: square of its frequency, 1/s^2, and how
far the load follows the vehicle."""
COSTS = (1.0, 0.5, 20.0, 10.0, 10.0)
"""Of the square of the vehicle's displacement and velocity along the beam, of the load's error, its
velocity and its error's integral, to that of an acceleration."""
LONGEST = 2.0
"""Largest integral of the load's error, m s."""


def interface(entry: Entry) -> dict[str, Any]:
    """Return the settings that the controller flies with."""
    return {
        "rotor_action": "acceleration",
        "tendon_action": "reference",
        "control_frequency": RATE,
    }


def swing_gains(square: float, share: float) -> NDArray[np.float64]:
    """Return the linear-quadratic regulator (5,) of a load along the beam, as COSTS tells.

    The load's displacement x is that of a pendulum whose middle follows the vehicle's y:
    x'' = -square (x - share y). The vehicle's acceleration is the input.
    """
    a = np.zeros((5, 5))
    a[0, 1] = a[2, 3] = a[4, 2] = 1.0
    a[3, 2], a[3, 0] = -square, square * share
    b = np.zeros((5, 1))
    b[1] = 1.0
    return (b.T @ solve_continuous_are(a, b, np.diag(COSTS), np.eye(1)))[0]


class Hoist:
    """Holds the vehicle against the cable's pull, lifts by the winch, and calms the swing.

    A load on a taut cable over a beam is a pendulum whose middle follows the vehicle along the
    beam, which is what can be done about its place and its swing there. The integral of its error
    is the state that `predict` hands back.
    """

    name = "hoist"

    def __init__(self, env: Env) -> None:
        """Read the vehicle and the scales of its actions."""
        core, config = env.core, env.core.config
        if core.rig is None:
            raise ValueError(f"hoist flies tasks with a load, and {env.task.entry.name} has none")
        self.interface = interface(env.task.entry)
        self._view, self._size = View(env.observation_layout), core.interface.size
        self._mass, self._time = core.layout.mass, core.step_time
        self._acceleration = np.array(config.action.acceleration)
        self._yaw_rate, self._winch = config.action.yaw_rate, core.rig.rig.winch.speed
        self._gains = np.zeros((len(NAMES), 5))
        for kind, pendulum in PENDULUMS.items():
            self._gains[kind] = swing_gains(*pendulum)

    def predict(
        self,
        observation: NDArray[np.float32],
        state: NDArray | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, NDArray]:
        """Return accelerations, the yaw rate and the winch's rate; see `Policy.predict`."""
        rows, single = as_batch(observation)
        view = self._view
        integral = np.zeros(len(rows)) if state is None else state.copy()
        if episode_start is not None:
            integral[episode_start] = 0.0
        kind, along = np.argmax(view(rows, "obstacle_kind", len(NAMES)), axis=1), self._along(rows)
        lacking, moving = view(rows, "position_error", 3), view(rows, "velocity", 3)
        load = view(rows, "load_error", 3)
        swing = np.stack([-lacking, moving, -load, view(rows, "load_velocity", 3)], axis=1)
        swing = np.einsum("nkc,nc->nk", swing, along)
        integral = np.clip(integral + self._time * swing[:, 2], -LONGEST, LONGEST)
        aim = -np.sum(self._gains[kind] * np.column_stack([swing, integral]), axis=1)
        wanted = STIFFNESS * lacking - DAMPING * moving
        wanted += (aim - np.sum(wanted * along, axis=1))[:, None] * along
        wanted -= view(rows, "cable_pull", 3) / self._mass
        actions = np.zeros((len(rows), self._size), np.float32)
        actions[:, :3] = wanted / self._acceleration
        actions[:, 3] = TURN * view(rows, "yaw_error", 1)[:, 0] / self._yaw_rate
        actions[:, -1] = np.clip(-LIFT * load[:, 2], -FASTEST, FASTEST) / self._winch
        actions = np.clip(actions, -1.0, 1.0)
        return (actions[0] if single else actions), integral

    def _along(self, rows: NDArray) -> NDArray[np.float64]:
        """Return the level directions (n, 3) along the beams: across the axis of a torus."""
        axis = self._view(rows, "obstacle_axis", 3)
        torus = self._view(rows, "obstacle_kind", len(NAMES))[:, TORUS] == 1.0
        axis[torus] = np.cross([0.0, 0.0, 1.0], axis[torus])
        return axis
