"""The two policies that every other one must beat: doing nothing, and anything at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.baselines.policy import Action, Env, as_batch
from tendon_gym.registration import Entry


def direct(entry: Entry) -> dict[str, str]:
    """Return the interface that commands the actuators themselves, as far as the task has them."""
    return {"rotor_action": entry.rotor_actions[0], "tendon_action": "tension"}


class Zero:
    """Hover thrust, slack tendons and a winch that stands still, whatever happens."""

    name = "zero"

    def __init__(self, env: Env) -> None:
        """Prepare the one action for `env`."""
        self.interface = direct(env.task.entry)
        self._action = np.zeros(env.core.action_space.shape, np.float32)
        self._action[env.core.interface.tendon_part] = -1.0

    def predict(
        self,
        observation: NDArray[np.float32],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, Any]:
        """Return the same action for every observation; see `Policy.predict`."""
        rows, single = as_batch(observation)
        actions = np.tile(self._action, (len(rows), 1))
        return (actions[0] if single else actions), None


class Random:
    """Actions drawn evenly from the action space, the same ones for the same seed."""

    name = "random"

    def __init__(self, env: Env, seed: int = 0) -> None:
        """Seed the draws with an integer of at least 0."""
        self.interface = direct(env.task.entry)
        self._size = env.core.interface.size
        self._rng = np.random.default_rng(checks.integer("seed", seed, minimum=0))

    def predict(
        self,
        observation: NDArray[np.float32],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, Any]:
        """Return drawn actions; see `Policy.predict`."""
        rows, single = as_batch(observation)
        actions = self._rng.uniform(-1.0, 1.0, (len(rows), self._size)).astype(np.float32)
        return (actions[0] if single else actions), None
