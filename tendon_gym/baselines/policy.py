"""What a policy is: Stable-Baselines3's `predict`, and the interface that it flies with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tendon_gym.envs.observations import Slice
from tendon_gym.envs.scalar import TendonEnv
from tendon_gym.envs.vector import TendonVectorEnv

Env = TendonEnv | TendonVectorEnv
Action = NDArray[np.float32]


class Policy(Protocol):
    """Turns observations into actions."""

    @property
    def name(self) -> str:
        """For tables and plots."""
        ...

    @property
    def interface(self) -> Mapping[str, Any]:
        """Settings of the environment that it needs: rotor_action, control_frequency, ..."""
        ...

    def predict(
        self,
        observation: NDArray[np.float32],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, Any]:
        """Return actions and the policy's own state for the next call.

        Args:
            observation: (size,) or (n, size).
            state: what the last call returned; None starts anew.
            episode_start: (n,), where a new episode begins, so that the state starts anew.
            deterministic: whether to choose the best action instead of drawing one.
        """
        ...


class View:
    """Reads observations by the names of their slices; what isn't observed is zero."""

    def __init__(self, layout: Mapping[str, Slice]) -> None:
        """Keep the layout of an environment."""
        self._layout = layout

    def __contains__(self, name: str) -> bool:
        """Say whether a slice is observed."""
        return name in self._layout

    def starts(self, names: Sequence[tuple[str, int]]) -> NDArray[np.int64]:
        """Return where the slices of (name, size) begin, -1 for what isn't observed."""
        found = [self._layout[name].start if name in self._layout else -1 for name, _ in names]
        return np.array(found, np.int64)

    def __call__(self, observation: NDArray, name: str, size: int) -> NDArray[np.float64]:
        """Return the slice `name` of observations (n, width) as (n, size) float64."""
        if name not in self._layout:
            return np.zeros((len(observation), size))
        part = self._layout[name]
        return observation[:, part.start : part.stop].astype(np.float64)


def as_batch(observation: NDArray) -> tuple[NDArray, bool]:
    """Return observations (n, size), and whether there was only one without a batch axis."""
    values = np.asarray(observation)
    return (values[None], True) if values.ndim == 1 else (values, False)
